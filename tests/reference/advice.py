"""The mixture of a learner with advice, naively: one vector and one explicit inverse for every expert."""

import numpy as np

LEVELS = (1e5, 1e2, 1e1)


def log_odds(p):
    with np.errstate(divide="ignore"):
        return np.clip(np.log(p) - np.log(1 - np.asarray(p, float)), -4, 4)


def code_of(said, k):
    """The code of a label or (label, confidence), or of all probabilities; k = 2 labels have one number."""
    if said is None:
        return None
    if isinstance(said, np.ndarray):
        code = log_odds(said)
    elif isinstance(said, tuple):
        label, p = said
        code = log_odds([p if j == label else (1 - p) / (k - 1) for j in range(k)])
    else:
        code = np.array([2.0 if j == said else -2.0 for j in range(k)])
    return code[1:] if k == 2 else code


class Expert:
    """Least squares from the start ``trust``, forgetting by adding 1/c to the inverse of A after every label."""

    def __init__(self, c):
        self.c, self.w, self.inverse, self.learnt = c, None, None, False

    def margin(self, v, trust):
        if self.w is None:
            self.w, self.inverse = np.zeros((len(trust), len(v))), np.eye(len(v))
        q = v @ self.inverse @ v if self.c == LEVELS[0] else 0.0  # the others correct without caution
        return np.clip(trust + self.w @ v / (1 + q), -1, 1)

    def learn(self, v, trust, target):
        self.learnt = True
        before = np.linalg.inv(self.inverse)
        after = np.linalg.inv(before + np.outer(v, v))
        self.w = np.array([w + after @ v * (y - t - w @ v) for w, t, y in zip(self.w, trust, target, strict=True)])
        self.inverse = after + np.eye(len(v)) / self.c


def loss(p, label):
    """The squared loss of one margin, or by the gap between the label's class and the best other one."""
    if len(p) == 1:
        return (p[0] - (1.0 if label else -1.0)) ** 2
    return ((p[label] - max(np.delete(p, label))) / 2 - 1) ** 2


class Advised:
    """``margins`` of a round from those of the learner and the codes of all advisers, then ``learn`` the label."""

    def __init__(self, advisers):
        self.own = [[Expert(c) for c in LEVELS] for _ in range(advisers)]
        self.together = [Expert(c) for c in LEVELS]
        E = len(LEVELS) * (advisers + 1)
        self.mix = np.array([1.0] + [np.exp(2.0) / E] * E) / (1.0 + np.exp(2.0))

    def margins(self, p, codes):
        said = [code is not None for code in codes]
        filled = [np.zeros(len(p)) if code is None else code for code in codes]
        self.seen = [(None, None, p)]
        for experts, code, speaks in zip(self.own, filled, said, strict=True):
            v = np.append(code, 1.0)
            self.seen += [(v, code / 4, e.margin(v, code / 4)) if speaks else None for e in experts]
        if any(said):
            trust = np.mean([code / 4 for code in codes if code is not None], axis=0)
            v = np.concatenate([p, *filled, np.array(said, float), [1.0]])
            self.seen += [(v, trust, e.margin(v, trust)) for e in self.together]
        else:
            self.seen += [None] * len(LEVELS)
        awake = [e for e, each in enumerate(self.seen) if each is not None]
        return sum(self.mix[e] * self.seen[e][2] for e in awake) / self.mix[awake].sum()

    def learn(self, label, k):
        target = np.array([1.0 if label else -1.0]) if k == 1 else np.where(np.arange(k) == label, 1.0, -1.0)
        awake = [e for e, each in enumerate(self.seen) if each is not None]
        every = [None, *(e for experts in self.own for e in experts), *self.together]
        waiting = [e for e in range(1, len(every)) if e not in awake and not every[e].learnt and self.mix[e] > 0.003]
        self.mix[waiting] *= 0.8
        self.mix /= self.mix.sum()
        if len(awake) == 1:
            return
        before = self.mix[awake].sum()
        found = self.mix[awake] * np.exp([-0.5 * loss(self.seen[e][2], label) for e in awake])
        self.mix[awake] = before * (0.99 * found / found.sum() + 0.01 / len(awake))
        for e in awake[1:]:
            every[e].learn(*self.seen[e][:2], target)
        for block in range(1, len(self.mix), len(LEVELS)):  # the stiller ones that lag go on from the best
            here = range(block, block + len(LEVELS))
            best = max(here, key=lambda e: self.mix[e])
            for e in range(block, best):
                if self.mix[e] < 0.05 * self.mix[best]:
                    every[e].w, every[e].inverse = every[best].w.copy(), every[best].inverse.copy()
                    self.mix[[e, best]] = (self.mix[e] + self.mix[best]) / 2
