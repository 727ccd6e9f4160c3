"""The default learner, naively: views with plain loops, explicit inverses, one expert at a time, double precision.

Nothing here is shared with the package but the random numbers, which are read from a sampler before its first round.
"""

import math

import numpy as np

LEVELS = {
    "linear": (1e5, 1e2, 1e1, 1e0),
    "curved": (1e5, 1e2, 1e1),
    "deviation": (1e5, 1e2, 1e1),
    "ranks": (1e5, 1e2, 1e1),
}


class Standardise:
    """Running mean and standard deviation, this instance included; shortened to length 2."""

    def __init__(self, d):
        self.k, self.mean, self.var, self.reach = 0, np.zeros(d), np.zeros(d), np.zeros(d)

    def next(self, x):
        self.k += 1
        gap = x - self.mean
        if self.k > 10:
            most = np.where(self.reach > 0, 4 * self.reach, np.inf)
            gap = np.clip(gap, -most, most)
        step = 1 / min(self.k, 10_000)
        self.mean = self.mean + step * gap
        self.var = np.maximum(self.var + step * (gap * (gap - step * gap) - self.var), 0)
        self.reach = np.maximum(self.reach, np.abs(gap))
        spread = np.sqrt(self.var)
        varies = spread > 1e-14 * np.abs(self.mean)
        z = np.where(varies, (x - self.mean) / np.where(varies, spread, 1), 0)
        z = z / math.sqrt(max(varies.sum(), 1))
        return z * min(1, 2 / max(np.linalg.norm(z), 1e-300))


class Views:
    """phi(z), z, delta, u of one instance after the other."""

    def __init__(self, waves, seed):
        d = len(waves)
        self.waves, self.s, self.n = waves, int(seed), 0
        self.first, self.second = Standardise(d), Standardise(d)
        self.held, self.late = [], np.zeros(d)

    def phi(self, v):
        angles = v @ self.waves
        return math.sqrt(2 / 64) * np.concatenate([np.cos(angles), np.sin(angles)])

    def next(self, x):
        z = self.first.next(x)
        delta = z - self.late if self.n else np.zeros(len(x))
        held = np.array(self.held).reshape(-1, len(x))
        below, equal = (held < x).sum(axis=0), (held == x).sum(axis=0)
        u = self.second.next(2 * (below + equal / 2 + 1 / 2) / (len(held) + 1) - 1)
        self.n += 1
        self.late = self.late + max(1 / 20, 1 / self.n) * (z - self.late)
        if self.n <= 64:
            self.held.append(x)
        else:
            self.s = self.s * 48271 % (2**31 - 1)
            place = int(self.s / (2**31 - 1) * min(self.n, 10_000))
            if place < 64:
                self.held[place] = x
        return z, delta, u


class Expert:
    """LASEC with b = 1, by its definition."""

    def __init__(self, block, D, c):
        self.block, self.c = block, c
        self.A, self.w = np.eye(D), np.zeros(D)

    def see(self, x):
        self.x, self.m = x, self.w @ x
        self.q = x @ np.linalg.inv(self.A) @ x

    def learn(self, y):
        after = np.linalg.inv(self.A + np.outer(self.x, self.x))
        self.w = self.w + after @ self.x * (y - self.m)
        self.A = np.linalg.inv(after + np.eye(len(self.w)) / self.c)


class Mixture:
    """The default learner: ``margin`` of an instance, then ``tell`` its label, or not."""

    def __init__(self, waves, seed, regression=False):
        d = len(waves)
        sizes = {"linear": d + 1, "curved": d + 65, "deviation": 2 * d + 1 if d <= 64 else 0, "ranks": d + 67}
        self.views, self.regression = Views(waves, seed), regression
        self.experts = [Expert(b, D, c) for b, D in sizes.items() if D for c in LEVELS[b]]
        self.mix = np.full(len(self.experts), 1 / len(self.experts))
        self.N, self.S = np.zeros(2), np.zeros(2)
        self.weight = self.centre = self.variance = self.reach = 0.0
        self.count = 0
        if not regression:
            self.variance = self.reach = 1.0

    def margin(self, x):
        z, delta, u = self.views.next(x)
        f = self.N / (self.S + 0.5)
        fade = np.exp([-1 / 3, -1 / 30])
        self.N, self.S = self.N * fade, self.S * fade
        features = {
            "linear": [z, [1]],
            "curved": [self.views.phi(z), z, [1]],
            "deviation": [delta, z, [1]],
            "ranks": [self.views.phi(u), u, [1], f],
        }
        self.seen = {block: np.concatenate(stretches) for block, stretches in features.items()}
        for expert in self.experts:
            expert.see(self.seen[expert.block])
        scored = self.mix >= 0.05 * self.mix.max()
        v = self.mix * scored / self.mix[scored].sum()
        return self.centre + v @ self.p()

    def p(self):
        return np.clip([e.m / (1 + e.q) for e in self.experts], -self.reach, self.reach)

    def tell(self, y, chance=1.0):
        if self.regression:
            weight = 1 / chance
            self.weight = 0.999 * self.weight + weight
            share, gap = weight / self.weight, y - self.centre
            if self.count >= 10 and self.reach > 0:
                gap = float(np.clip(gap, -4 * self.reach, 4 * self.reach))
            y = self.centre + gap
            self.centre += share * gap
            self.variance = (1 - share) * (self.variance + share * gap**2)
            self.reach = max(self.reach, abs(y - self.centre))
            for expert in self.experts:  # the feature 1 is 1: the score moves as its weight does
                one = {"linear": -1, "curved": -1, "deviation": -1, "ranks": -3}[expert.block]
                expert.w[one] -= share * gap if self.count else 0
                expert.m -= share * gap if self.count else 0
            self.count += 1
        target = y - self.centre
        heard = target / math.sqrt(self.variance) if self.variance > 0 else 0.0
        self.N, self.S = self.N + heard, self.S + 1
        losses = np.minimum((self.p() - target) ** 2 / self.variance, 4) if self.variance > 0 else 0.0
        self.mix = self.mix * np.exp(-0.5 * losses)
        self.mix = 0.99 * self.mix / self.mix.sum() + 0.01 / len(self.mix)
        for expert in self.experts:
            expert.learn(target)


class Diagonal:
    """The default learner on wide instances: four experts, feature by feature."""

    def __init__(self, d):
        self.w, self.G, self.D = np.zeros((4, d)), np.full((2, d), 1e-8), np.full((2, d), 10.0)
        self.mix = np.full(4, 0.25)

    def margin(self, x):
        self.x = np.append(x / max(np.linalg.norm(x), 1e-300), 1.0)
        self.m = self.w @ self.x
        self.q = self.D @ self.x**2
        h = self.m[:2] / 4
        logistic = h / np.sqrt(1 + h**2)
        squares = np.clip(self.m[2:] / (1 + self.q), -1, 1)
        self.judged = np.concatenate([logistic, np.clip(self.m[2:], -1, 1)])
        self.margins = np.concatenate([logistic, squares])
        return self.mix @ self.margins

    def p(self):
        return self.margins

    def tell(self, y):
        self.mix = self.mix * np.exp(-0.5 * (self.judged - y) ** 2)
        self.mix = 0.99 * self.mix / self.mix.sum() + 0.01 / 4
        self.learn(y)

    def learn(self, y):
        v = self.x
        for k, rate in enumerate((0.5, 1.0)):
            g = y / (1 + math.exp(y * self.m[k])) * v
            self.G[k] += g**2
            self.w[k] += rate * g / np.sqrt(self.G[k])
        for k in range(2):
            self.w[2 + k] += self.D[k] * v * (y - self.m[2 + k]) / (1 + self.q[k])
            self.D[k] = self.D[k] / (1 + self.D[k] * v**2)
        self.D[1] = np.minimum(self.D[1] + 0.1 * (v != 0), 10)


class Spread:
    """``BudgetRule(rate)``: the probability of asking, fixed before the coin."""

    def __init__(self, rate, floor=None, by_margin=True):
        self.rate, self.floor, self.by_margin = rate, 0.2 * rate if floor is None else floor, by_margin
        self.log_s, self.debt, self.t, self.A = math.log(0.3), 0.0, 0, 0.0
        self.V = 20 / rate
        self.H = 0.75 * self.V

    def probability(self, p):
        self.t += 1
        self.debt -= self.rate
        B = max(240 * self.rate, 7) - 1
        D = self.debt - 200 * self.rate * math.exp(-self.t / 300)
        self.bell = math.exp(-((p / math.exp(self.log_s)) ** 2))
        if D >= B:
            return 0.0
        if D <= -B:
            return 1.0
        ignorance = min(max((0.7 - self.H / self.V) / 0.1, 0), 1) if self.by_margin else 0.0
        wish = (1 - ignorance) * 1.3 * (self.A + self.bell) * self.bell + ignorance * self.rate
        return max(min(1, ((B - D) / (B + D)) ** 1.5 * wish), self.floor)

    def end(self, asked):
        self.A = 0.0 if asked else self.A + self.bell
        self.log_s += 0.2 * (self.rate - self.bell)
        self.debt += asked

    def hear(self, right, chance):
        w = min(1 / chance, 20)
        self.H, self.V = 0.995 * self.H + w * right, 0.995 * self.V + w
