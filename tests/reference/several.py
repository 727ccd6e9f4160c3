"""The default for several classes, naively: k learners for each expert, each with a matrix and inverses of its own."""

from types import SimpleNamespace

import numpy as np

import askwhen as aw
from tests.reference.views import LEVELS, Expert, Views


def play(classes, X, y, asked, seed):
    """Half the gap, the prediction and the weights of the experts in every round; labels that were asked are learnt."""
    d, k = X.shape[1], len(classes)
    fresh = aw.Sampler(seed=seed, classes=classes).engine
    fresh.begin("ask", "x", d, False)
    views, T = Views(fresh.prepare.waves.copy(), fresh.prepare.counts[1]), min(k - 1, 9)
    sizes = {"linear": d + 1, "curved": d + 65, "deviation": 2 * d + 1, "ranks": d + 65 + 2 * T}
    experts = [[Expert(b, D, c) for _ in classes] for b, D in sizes.items() for c in LEVELS[b]]
    mix, N, S = np.full(len(experts), 1 / len(experts)), np.zeros((2, T)), np.zeros((2, 1))
    fade = np.exp([[-1 / 3], [-1 / 30]])
    gap, prediction, weights = np.zeros(len(X)), [], np.zeros((len(X), len(experts)))
    for i, x in enumerate(X):
        z, delta, u = views.next(x)
        f = (N / (S + 0.5)).ravel()
        N, S = N * fade, S * fade
        seen = {
            "linear": np.concatenate([z, [1]]),
            "curved": np.concatenate([views.phi(z), z, [1]]),
            "deviation": np.concatenate([delta, z, [1]]),
            "ranks": np.concatenate([views.phi(u), u, [1], f]),
        }
        for each in experts:
            for learner in each:
                learner.see(seen[learner.block])
        p = np.clip([[learner.m / (1 + learner.q) for learner in each] for each in experts], -1, 1)
        scored = mix >= 0.05 * mix.max()
        mean = mix * scored / mix[scored].sum() @ p
        weights[i] = mix
        prediction.append(classes[int(mean.argmax())])
        gap[i] = 0.5 * (np.sort(mean)[-1] - np.sort(mean)[-2])
        if asked[i]:
            c = list(classes).index(y[i])
            N, S = N + np.array([1.0 if j + 1 == c else -1.0 for j in range(T)]), S + 1
            others = np.delete(p, c, axis=1).max(axis=1)
            mix = mix * np.exp(-0.5 * (0.5 * (p[:, c] - others) - 1) ** 2)
            mix = 0.99 * mix / mix.sum() + 0.01 / len(mix)
            for each in experts:
                for j, learner in enumerate(each):
                    learner.learn(1.0 if j == c else -1.0)
    return SimpleNamespace(gap=gap, prediction=np.array(prediction), weights=weights)
