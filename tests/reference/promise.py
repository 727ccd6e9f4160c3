"""A promise on delivered labels, round by round: every sum in full, from the list of all rounds so far.

S' wrong labels were delivered without asking. For each stake c, ln W = c S' + L, with a in unasked rounds and b_x in
asked ones, b_1 while an answer waits. S' is a whole number, so that a promise of a share of errors is broken only at
N = floor(error D) + 1.

With a budget, a round whose question could not be paid is withheld before its draw. Where the length is not known,
tokens arrive at the rate and a question takes one. Where it is known, questions are asked as they come until three
fifths of them are spent; then rounds with P(e) above a threshold are withheld, so that the rest lasts to the end.
"""

import math
from dataclasses import dataclass

import numpy as np

from .interval import best

STAKES = [2.0**-j for j in range(16)]
LEAST, RAISED, SHRINK = 0.002, 1.3, 10.0
VARIANCES = [4.0, 16.0, 1.0, 4.0]
LARGEST_LOG_MU, NEAR = 14.0, 0.5
EDGES = np.exp(np.linspace(math.log(1e-4), math.log(0.5), 49))
CENTRES = np.sqrt(EDGES[1:] * EDGES[:-1])
MOST_TOKENS, EARLY = 20.0, 0.6
WAITS, LOST = "waits", "lost"


def weights(error, length):
    """One-sided, adding up to one: largest at 2^-5 and 2^-6, or where a known length needs it."""
    raw = [(1.0 + max(5.0 - j, 0.5 * (j - 6.0), 0.0)) ** -3.5 for j in range(16)]
    if length < math.inf:
        raw = [(1.0 + abs(j - min(max(math.log2(error * length / 25.0), 0.0), 15.0))) ** -3.0 for j in range(16)]
    return [w / sum(raw) for w in raw]


def b(P, e, c, x):
    return math.log(max(1.0 - (1.0 - P) * math.exp(best(P, e, c) + c * x), 1e-200) / P)


@dataclass
class Round:
    """One round; ``answer`` is None if it was not asked, else whether the prediction was wrong, or WAITS, or LOST."""

    number: int
    p: float
    P: float
    e: float
    asked: bool
    withheld: bool
    answer: object = None

    def log(self, c):
        """What it adds to L."""
        if self.withheld:
            return 0.0
        if not self.asked:
            return best(self.P, self.e, c)
        return b(self.P, self.e, c, 1 if self.answer in (WAITS, LOST) else int(self.answer))


class Promise:
    """Plays rounds, given margins, random draws and answers."""

    def __init__(self, error=0.05, alpha=0.05, length=math.inf, most=math.inf, rate=1.0):
        self.error, self.alpha, self.length = error, alpha, length
        if length < math.inf:
            most = min(most, math.ceil(rate * length - 1e-9))
            rate = min(rate, most / length)
        self.most, self.rate, self.tokens, self.threshold = most, rate, MOST_TOKENS, math.inf
        self.rounds = []
        self.theta, self.S, self.labels = np.array([-2.0, 1.0, 0.0, 0.0]), np.diag(VARIANCES), 0
        self.mean, self.seen = 0.0, 0
        self.log_mu, self.nu, self.owed = LARGEST_LOG_MU, 1.0, 0.0
        self.log_scale, self.mean_chance = 0.0, 0.5

    def taken(self):
        return [each for each in self.rounds if not each.withheld]

    def delivered(self):
        return sum(1 for each in self.taken() if not each.asked or isinstance(each.answer, bool))

    def logs(self, hopeful=False):
        found = []
        for c in STAKES:
            L = 0.0
            for each in self.rounds:
                hopes = hopeful and each.answer == WAITS and self.on_the_way(each)
                L += b(each.P, each.e, c, 0) if hopes else each.log(c)
            found.append(L)
        return found

    def on_the_way(self, each):
        return each.answer == WAITS and (len(self.rounds) + 1) // 128 - (each.number + 1) // 128 < 16

    def coming(self):
        return sum(1 for each in self.rounds if self.on_the_way(each))

    def wealth(self, S, logs):
        found = weights(self.error, self.length)
        return sum(w * math.exp(c * S + L) for w, c, L in zip(found, STAKES, logs, strict=True))

    def certified(self):
        unasked, logs = sum(1 for each in self.taken() if not each.asked), self.logs()
        S = 0
        while unasked > S and self.wealth(S + 1, logs) <= 1.0 / self.alpha:
            S += 1
        return S / self.delivered() if self.delivered() else 1.0

    def N(self, D):
        return math.floor(self.error * D + 1e-9) + 1

    def keeps(self, P, e, logs, D):
        unasked = [L + best(P, e, c) for c, L in zip(STAKES, logs, strict=True)]
        wrong = [L + b(P, e, c, 1) for c, L in zip(STAKES, logs, strict=True)]
        least = (1.0 + 1e-6) / self.alpha
        return self.wealth(self.N(D + 1), unasked) >= least and self.wealth(self.N(D), wrong) >= least

    def z(self, p):
        return np.clip(math.log(max(abs(p) / self.mean, 1e-30)), -8, 8) if self.mean > 0 else 0.0

    def features(self, p):
        return np.array([1.0, -self.z(p), 1.0 if p > 0 else -1.0, max(self.z(p), 0.0)])

    def predicted(self, p):
        s = 1.0 / (1.0 + math.exp(-self.theta @ self.features(p)))
        return float(np.clip((s * self.labels + 0.5 * SHRINK) / (self.labels + SHRINK), 1e-4, 0.5))

    def learn(self, p, wrong, P):
        x = self.features(p)
        s = 1.0 / (1.0 + math.exp(-self.theta @ x))
        self.S = 0.99999 * self.S + 0.00001 * np.diag(VARIANCES)
        n = min(1.0 / P, 10.0)
        self.S = np.linalg.inv(np.linalg.inv(self.S) + n * max(s * (1 - s), 1e-3) * np.outer(x, x))
        self.theta = self.theta + n * self.S @ x * (wrong - s)
        self.theta[1] = max(self.theta[1], 0.0)
        self.labels += 1

    def P(self, e, log_mu=None):
        mu = math.exp(self.log_mu if log_mu is None else log_mu)
        if mu * e >= 1.0:
            return 1.0
        return min(max(math.sqrt(self.nu * mu * e * (1 - e) / (1 - mu * e)), LEAST), 1.0)

    def focused(self, p, P, e):
        if self.labels < 20 or not self.mean > 0:
            return P
        G = math.exp(-((abs(p) / self.mean / math.exp(self.log_scale)) ** 2))
        self.mean_chance += 0.005 * (max(P, 0.7 * e) - self.mean_chance)
        self.log_scale += 0.05 * (0.8 * self.mean_chance - G)
        return max(P, G)

    def recent(self):
        """The e of the last rounds, each rounded to the middle of its bin."""
        found = [each.e for each in self.rounds[-2000:]]
        return CENTRES[[min(max(int(math.log(e / 1e-4) / math.log(5000.0) * 48), 0), 47) for e in found]]

    def bounds(self):
        """The wrong labels that the bets of each stake alone do not exclude, if all answers on their way agree."""
        found = zip(weights(self.error, self.length), STAKES, self.logs(hopeful=True), strict=True)
        return [-(math.log(self.alpha * w) + L) / c for w, c, L in found]

    def foreseen(self, log_mu, ahead, bounds):
        """How many wrong labels too many are not excluded so many rounds later, and by which stake."""
        recent = self.recent()
        share, D = ahead / max(len(recent), 1), self.delivered() + self.coming() + ahead
        wrong = V = K = 0.0
        for e in recent:
            P = self.P(e, log_mu)
            if self.threshold < P:
                D -= share
                continue
            wrong += share * (1 - P) * e
            V += share * e * (1 - e) * (1 - P) / P
            K += share * e * (1 - e) * (1 - P) / P**2
        U, c = min((U + 0.7 * c * V + 0.5 * c**2 * K, c) for U, c in zip(bounds, STAKES, strict=True))
        return U + wrong - self.error * D, c

    def is_paced(self):
        return self.rate < 1.0 and self.length < math.inf

    def asked(self):
        return sum(1 for each in self.rounds if each.asked)

    def largest_paid(self, ahead):
        """The threshold: the likeliest questions are given up until the others are no more than can be paid."""
        if self.asked() < EARLY * self.most:
            return math.inf
        chances = sorted(self.P(e) for e in self.recent())
        left = max(self.most - self.asked(), 0.0) * len(chances) / ahead
        for P in sorted(set(chances)):
            left -= P * chances.count(P)
            if left < 0.0:
                return P
        return math.inf

    def look_ahead(self):
        t = len(self.rounds) + 1
        ahead, left, bounds = max(t, 500.0), max(self.length - t, 1.0), self.bounds()
        if self.length < math.inf:
            ahead = min(4.0 * ahead, left)
        self.find_mu(ahead, bounds)
        if self.is_paced():
            for _ in range(2):
                self.threshold = self.largest_paid(left)
                self.find_mu(ahead, bounds)
            self.threshold = self.largest_paid(left)

    def find_mu(self, ahead, bounds):
        low, high = self.log_mu - NEAR, self.log_mu + NEAR
        while low > -LARGEST_LOG_MU and self.foreseen(low, ahead, bounds)[0] <= 0:
            low, high = low - 4 * NEAR, low
        while high < LARGEST_LOG_MU and self.foreseen(high, ahead, bounds)[0] > 0:
            low, high = high, high + 4 * NEAR
        for _ in range(7):
            middle = (low + high) / 2
            low, high = (middle, high) if self.foreseen(middle, ahead, bounds)[0] > 0 else (low, middle)
        self.log_mu = min(max(high, -LARGEST_LOG_MU), LARGEST_LOG_MU)
        self.nu = self.foreseen(self.log_mu, ahead, bounds)[1] / 2

    def pays(self, P, logs):
        """Whether the budget lets this round be taken."""
        if self.asked() >= self.most:
            return False
        if self.rate >= 1.0:
            return True
        kept = self.alpha * self.wealth(self.N(self.delivered()), logs) >= 1.0 + 1e-6
        if self.is_paced():
            return not kept or self.threshold >= P
        return self.tokens >= (1.0 + (MOST_TOKENS - 1.0) * P if kept else 1.0)

    def ask(self, p, u):
        """Play a round: (P or 0 where it is withheld, whether it asks)."""
        number = len(self.rounds)
        self.tokens = min(self.tokens + self.rate, MOST_TOKENS)
        if number % 50 == 0 and (number < 999 or number % 200 == 0):
            self.look_ahead()
        e, logs, D = self.predicted(p), self.logs(), self.delivered()
        P = self.focused(p, self.P(e), e)
        coming = self.coming()
        hopeful = self.logs(True) if coming else logs
        while P < 1.0 and not self.keeps(P, e, hopeful, D + coming):
            P = min(RAISED * P, 1.0)
        in_time = P
        while P < 1.0 and not self.keeps(P, e, logs, D):
            P = min(RAISED * P, 1.0)
        answered = sum(1 for each in self.rounds if isinstance(each.answer, bool))
        if coming > 0 and (self.owed >= 1.0 or coming > 7.0 / self.error + 0.25 * answered):
            withheld = True
            self.owed -= in_time
        else:
            withheld = not self.pays(P, logs)
            self.owed += 0.0 if withheld else 2.0 * (P - in_time)
        asked = u < P and not withheld
        self.tokens -= 1.0 if asked else 0.0
        self.rounds.append(Round(number, p, P, e, asked, withheld, WAITS if asked else None))
        self.seen += 1
        self.mean += (abs(p) - self.mean) / min(self.seen, 2000)
        return 0.0 if withheld else P, asked

    def tell(self, number, wrong):
        self.rounds[number].answer = bool(wrong)
        self.learn(self.rounds[number].p, bool(wrong), self.rounds[number].P)

    def forget(self, number):
        self.rounds[number].answer = LOST
