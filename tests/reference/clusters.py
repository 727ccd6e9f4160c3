"""The default for several classes on vectors, naively: least squares, and linear discriminants from scratch."""

import numpy as np

from tests.reference.kinds import DIRECTION_LEVELS, direction
from tests.reference.views import Expert


class Clusters:
    """Every class as a cluster: the matrix and the means are computed from all labelled rows again and again."""

    def __init__(self, k):
        self.rows = [[] for _ in range(k)]
        self.scatter = None

    def p(self, x):
        n, D = sum(map(len, self.rows)), len(x)
        if n == 0:
            return np.zeros(len(self.rows))
        scatter = 2.0 * np.eye(D)
        for rows in self.rows:
            if rows:
                off = np.array(rows) - np.mean(rows, axis=0)
                scatter += off.T @ off
        weights = np.zeros(len(self.rows))
        for j, rows in enumerate(self.rows):
            if rows:
                off = x - np.mean(rows, axis=0)
                weights[j] = (1.0 + off @ np.linalg.solve(scatter, off)) ** (-n / 2)
        return 2.0 * weights / weights.sum() - 1.0

    def learn(self, x, c):
        self.rows[c].append(x)


def play(k, vectors, y):
    """p_j by round and class, and the weights of experts in every round, for labels 0, 1, .. that are all learnt."""
    D = vectors.shape[1] + 1
    experts = [[Expert("direction", D, c) for _ in range(k)] for c in DIRECTION_LEVELS]
    clusters, mix, means, weights = Clusters(k), np.array([0.125] * 4 + [0.5]), [], []
    for row, c in zip(vectors, y, strict=True):
        x = direction([row])
        for each in experts:
            for learner in each:
                learner.see(x)
        p = [[np.clip(learner.m / (1 + learner.q), -1, 1) for learner in each] for each in experts]
        p = np.array([*p, clusters.p(x)])
        scored = mix >= 0.05 * mix.max()
        weights.append(mix)
        means.append(mix[scored] @ p[scored] / mix[scored].sum())
        for each in experts:
            for j, learner in enumerate(each):
                learner.learn(1.0 if j == c else -1.0)
        clusters.learn(x, c)
        known = np.array([bool(rows) for rows in clusters.rows])
        target = np.where(np.arange(k) == c, 1.0, -1.0)
        mix = mix * np.exp(-0.5 * 0.5 * ((p - target) ** 2)[:, known].sum(axis=1))
        mix = 0.99 * mix / mix.sum() + 0.01 / len(mix)
    return np.array(means), np.array(weights)
