"""The default learner on instances of several kinds, naively, and what lasts of it once nobody gives labels."""

import numpy as np

from tests.reference.views import LEVELS, Diagonal, Expert, Views

DIRECTION_LEVELS = (1e5, 1e2, 1e1, 1e0)


def direction(vectors):
    """Every vector scaled to length 1, and a 1."""
    return np.concatenate([v / np.linalg.norm(v) if v.any() else v for v in vectors] + [[1.0]])


class MixtureOfKinds:
    """``margin`` of an instance of (numbers, vectors, words), then ``tell`` its label, or not.

    ``numbers`` is how many there are, ``vectors`` the lengths of the vectors, and ``words`` the number of words.
    """

    def __init__(self, waves, seed, numbers, vectors, words):
        sizes = {"linear": numbers + 1, "curved": numbers + 65, "deviation": 2 * numbers + 1, "ranks": numbers + 67}
        self.views = Views(waves, seed) if numbers else None
        self.experts = [Expert(b, D, c) for b, D in sizes.items() if numbers for c in LEVELS[b]]
        counts = [len(self.experts), 0, 0]
        if vectors:
            self.experts += [Expert("direction", sum(vectors) + 1, c) for c in DIRECTION_LEVELS]
            counts[1] = 4
        self.words = Diagonal(words + 1) if words else None
        counts[2] = 4 if words else 0
        of_numbers = 0.0 if not numbers else 1.0 if not (vectors or words) else 0.05
        of_words = 0.0 if not words else (1 - of_numbers) * (0.3 if vectors else 1.0)
        shares = (of_numbers, 1 - of_numbers - of_words, of_words)
        self.mix = np.concatenate([np.full(n, share / max(n, 1)) for n, share in zip(counts, shares, strict=True)])
        lasts = [e.c == 1e5 and e.block != "deviation" for e in self.experts] + [True] * counts[2]
        self.lasts = np.array(lasts)
        self.lasting = np.where(self.lasts, self.mix, 0.0) / self.mix[self.lasts].sum()
        self.N, self.S = np.zeros(2), np.zeros(2)

    def see(self, numbers, vectors, words, f):
        blocks = {}
        if self.views is not None:
            z, delta, u = self.views.next(numbers)
            blocks |= {
                "linear": [z, [1]],
                "curved": [self.views.phi(z), z, [1]],
                "deviation": [delta, z, [1]],
                "ranks": [self.views.phi(u), u, [1], f],
            }
        if vectors:
            blocks["direction"] = [direction(vectors)]
        self.seen = {name: np.concatenate(parts) for name, parts in blocks.items()}
        for expert in self.experts:
            expert.see(self.seen[expert.block])
        if self.words is not None:
            self.words.margin(words)

    def margin(self, numbers, vectors, words):
        self.see(numbers, vectors, words, self.N / (self.S + 0.5))
        fade = np.exp([-1 / 3, -1 / 30])
        self.N, self.S = self.N * fade, self.S * fade
        scored = self.mix >= 0.05 * self.mix.max()
        if self.words is not None:
            scored[-4:] = scored[-4:].any()
        return self.p()[scored] @ self.mix[scored] / self.mix[scored].sum()

    def p(self):
        dense = [float(np.clip(e.m / (1 + e.q), -1, 1)) for e in self.experts]
        return np.array(dense + (list(self.words.p()) if self.words is not None else []))

    def tell(self, y):
        p = self.p()
        judged = np.concatenate([p[:-4], self.words.judged]) if self.words is not None else p
        self.mix = self.mix * np.exp(-0.5 * (judged - y) ** 2)
        self.mix = 0.99 * self.mix / self.mix.sum() + 0.01 / len(self.mix)
        for e, expert in enumerate(self.experts):
            if expert.block == "ranks":  # the last two features are recent labels
                judged[e] = np.clip((expert.m - expert.w[-2:] @ expert.x[-2:]) / (1 + expert.q), -1, 1)
        self.lasting = self.lasting * np.exp(-0.1 * (judged - y) ** 2)
        count = self.lasts.sum()
        self.lasting = np.where(self.lasts, 0.99 * self.lasting / self.lasting.sum() + 0.01 / count, 0.0)
        self.N, self.S = self.N + y, self.S + 1
        for expert in self.experts:
            expert.learn(y)
        if self.words is not None:
            self.words.learn(y)

    def lasting_margin(self, numbers, vectors, words):
        self.see(numbers, vectors, words, np.zeros(2))
        return self.lasting @ self.p()
