"""The bets behind the interval of the accuracy, round by round: logarithms in full, no cells and no blocks."""

import math
from types import SimpleNamespace

import numpy as np

STAKES = [2.0**-j for j in range(16)] + [-(2.0**-j) for j in range(16)]
LEVELS = [1 / 256, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 0.7, 0.9]


def rounded_down(P):
    """The largest of 1, 2^-1/2, 1/2, .. 2^-16, 0 that is not above P."""
    return max([2.0 ** (-i / 2) for i in range(33) if 2.0 ** (-i / 2) <= P * (1 + 1e-15)], default=0.0)


def nearest(e):
    """The level whose ratio to e is nearest to 1."""
    return min(LEVELS, key=lambda level: abs(math.log(level / max(e, 1e-9))))


def best(P, e, c):
    """a: the root that is given, B in full."""
    k = math.exp(c)
    B = (1 - P) * (1 + k) + P * (1 - e + e * k)
    return math.log(2 / (B + math.sqrt(max(B * B - 4 * k * (1 - P), 0.0))))


def wealth(trace):
    """What each round adds to A, for every stake, and to the estimate of the mistakes."""
    theta, V = np.array([0.0, 3.0, 0.0]), np.diag([4.0, 16.0, 1.0])
    S, labels = V, 0
    A, estimate = np.zeros((trace.rounds, 32)), np.zeros(trace.rounds)
    for t in range(trace.rounds):
        p, P, x = trace.margin[t], trace.probability[t], bool(trace.mistaken[t])
        if t < 64 or t % 64 == 0:  # mean and deviation are looked at now and then
            seen = trace.margin[: t + 1]
            mean, deviation = seen.mean(), np.sqrt(seen.var() + (seen**2).mean() / (t + 1)) or 1.0
            trust = (t + 1) / (t + 17)
        z = np.clip((p - mean) / deviation, -8, 8) * trust
        features = np.array([1.0, z, 1.0 if p > 0 else -1.0])
        positive = 1 / (1 + math.exp(-theta @ features))
        s = 1 - positive if p > 0 else positive
        # Levels keep the shrinking of every sixteenth label, after the first 64.
        n = labels if labels <= 64 else labels - labels % 16
        e = nearest(s * n / (n + 60)) if P < 1 else LEVELS[0]
        estimate[t] = e
        for j, c in enumerate(STAKES):
            a = best(rounded_down(P), e, c)
            A[t, j] = -a
            if trace.queried[t]:
                A[t, j] = -(math.log((1 - (1 - P) * math.exp(a + c * x)) / P) - c * x)
        if trace.queried[t]:
            estimate[t] += (x - e) / P
            labels += 1
            S = 0.9995 * S + 0.0005 * V
            curve = max(positive * (1 - positive), 1e-3)
            # The posterior of a Gaussian prior and one observation of that precision.
            S = np.linalg.inv(np.linalg.inv(S) + curve * np.outer(features, features))
            theta = theta + S @ features * (((p > 0) != x) - positive)
            theta[1] = max(theta[1], 0.0)
    return SimpleNamespace(A=A, estimate=estimate, side=(trace.margin > 0).astype(int))
