"""Does the interval cover the true value? Streams that drift, tested in every round, for every kind of estimate.

    python benchmarks/coverage.py [--streams 500] [--rounds 4000] [--jobs 2] [--adversaries 500]

A 95 % sequence must cover the true running value in all rounds of at least 463 of 500 streams: a correct one falls
below that in one try of a hundred. Windows are looked at where they end; precision, recall and F at forty rounds of
each stream; the difference of two samplers in every round. The widths are printed too, and that of as many labels asked
at random. ``--adversaries`` plays labels that see the wealth and want it to grow, wrong predictions of mistakes, and
probabilities that jump down to 1e-5, against the same bets.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import askwhen as aw
from askwhen.betting import HALVINGS, LEVELS, STANDARD, all_unasked, bet, log_weights, place_of
from askwhen.evaluate import accuracy, accuracy_curve
from askwhen.evaluate.estimation.accuracy import AccuracyCollector
from askwhen.evaluate.estimation.confidence import least, most

RULES: dict[str, Any] = {
    "BudgetRule(0.1), the default": aw.BudgetRule(0.1),
    "FocusedRule(0.1, floor=0.02)": aw.FocusedRule(0.1, floor=0.02),
    "FixedRate(0.1), at random": aw.FixedRate(0.1),
}
KINDS = ("overall", "last 1,000", "precision", "recall", "F", "difference")


def stream(seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features; the target turns slowly and jumps now and then, and one label in twenty is wrong."""
    rng = np.random.default_rng([seed, 1])  # other numbers than the random draws of a sampler with this seed
    X = rng.standard_normal((rounds, 5))
    targets = np.cumsum(0.03 * rng.standard_normal((rounds, 5)), axis=0) + rng.standard_normal(5)
    jumps = np.cumsum(rng.random(rounds) < 3.0 / rounds)
    targets += 3.0 * rng.standard_normal((jumps[-1] + 1, 5))[jumps]
    y = np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.05, -y, y)


def covers(low: Any, high: Any, true: Any) -> bool:
    return bool(((np.asarray(low) <= true + 1e-12) & (true <= np.asarray(high) + 1e-12)).all())


def by_kind(trace: aw.Trace) -> tuple[list[bool], list[float]]:
    """Whether windows, precision, recall and F are covered at forty rounds; and their widths at the end."""
    found, ends = AccuracyCollector(), np.linspace(0, trace.rounds, 41).astype(int)[1:]
    kept, before, widths = [True] * 4, 0, [0.0] * 4
    for end in ends.tolist():
        found.add(trace, before, end)
        before, report = end, found.report(0.05, 1000)
        positive, wrong = trace.prediction[:end] > 0, trace.mistaken[:end]
        n, fp, fn = positive.sum(), (positive & wrong).sum(), (~positive & wrong).sum()
        with np.errstate(invalid="ignore"):
            truths = (n - fp) / n, (n - fp) / (n - fp + fn), 2 * (n - fp) / (2 * n - fp + fn)
        recent = 1.0 - wrong[end - report.recent.rounds :].mean()
        estimates = (report.recent, report.precision, report.recall, report.f_measure)
        for i, (estimate, truth) in enumerate(zip(estimates, (recent, *truths), strict=True)):
            kept[i] &= bool(np.isnan(truth)) or covers(estimate.low, estimate.high, truth)
            widths[i] = estimate.high - estimate.low
    return kept, widths


def difference(seed: int, rule: Any, X: np.ndarray, y: np.ndarray) -> tuple[bool, float]:
    """Whether the difference between the default and a Perceptron is covered at forty rounds, and its width."""
    pair = aw.SideBySide(aw.Sampler(rule=rule, seed=seed), aw.Sampler(aw.Perceptron(), rule, seed=seed), seed=seed)
    kept, ahead = True, 0
    for part in np.array_split(np.arange(len(y)), 40):
        a, b = pair.run(X[part], y[part])
        ahead += int(b.mistaken.sum()) - int(a.mistaken.sum())
        found = pair.difference()
        kept &= covers(found.low, found.high, ahead / (part[-1] + 1))
    return kept, found.high - found.low


def one(name: str, seed: int, rounds: int, kinds: bool) -> list[float]:
    """Whether each kind is covered; the widths; the share of labels; the error of the estimate."""
    X, y = stream(seed, rounds)
    trace = aw.Sampler(rule=RULES[name], seed=seed).run(X, y)
    curve = accuracy_curve(trace, points=rounds)
    true = 1.0 - np.cumsum(trace.mistaken) / np.arange(1, rounds + 1)
    found = accuracy(trace)
    covered, widths = [covers(curve.low, curve.high, true)], [found.overall.high - found.overall.low]
    if kinds:
        more, wide = by_kind(trace)
        apart, width = difference(seed, RULES[name], X, y)
        covered, widths = [*covered, *more, apart], [*widths, *wide, width]
    recent = found.windows[5000].high - found.windows[5000].low
    return [*map(float, covered), *widths, trace.questions / rounds, found.overall.unbiased - true[-1], recent]


def played(choose: Callable[..., tuple[int, float, int]], rounds: int, seed: int) -> bool:
    """Whether the bounds hold in every round against an adversary who chooses labels, probabilities, predictions."""
    rng, A, S = np.random.default_rng(seed), np.zeros(2 * HALVINGS), 0
    table, k, loss, factors = all_unasked(STANDARD), np.exp(STANDARD), -np.expm1(STANDARD), np.zeros(2 * HALVINGS)
    weights = np.concatenate([log_weights(STANDARD[:HALVINGS]), log_weights(STANDARD[HALVINGS:])])
    logs = np.zeros((rounds, 2))
    for t in range(rounds):
        x, P, level = choose(rng, t, weights + STANDARD * S - A)
        if rng.random() < P:
            bet(factors, k, loss, P, place_of(P), level, bool(x), bool(x))
            A -= np.log(factors)
        else:
            A += table[place_of(P), level]
        S += x
        wealth = weights + STANDARD * S - A
        logs[t] = [np.logaddexp.reduce(half) for half in np.split(wealth, 2)]
    low, high = (bound(A, STANDARD, float(rounds), 0.025) for bound in (least, most))
    assert low <= S <= high or (logs[-1] > np.log(40) - 1e-9).any()
    return bool((logs <= np.log(40)).all())


LABELS: dict[str, Callable[..., int]] = {
    "always wrong": lambda rng, t, wealth: 1,
    "at random": lambda rng, t, wealth: int(rng.random() < 0.2),
    "wrong while the upper wealth is ahead": lambda rng, t, wealth: int(wealth[:16].max() > wealth[16:].max()),
    "right while the upper wealth is ahead": lambda rng, t, wealth: int(wealth[:16].max() <= wealth[16:].max()),
    "in blocks": lambda rng, t, wealth: t // 50 % 2,
}
CHANCES: dict[str, Callable[..., float]] = {
    "0.1": lambda rng, t: 0.1,
    "jumping": lambda rng, t: (1e-5, 0.02, 0.5, 1.0)[t % 4],
    "falling": lambda rng, t: max(1e-5, 1.0 / (t + 1)),
    "at random": lambda rng, t: float(10.0 ** -rng.uniform(0, 5)),
}
PREDICTIONS: dict[str, Callable[..., int]] = {
    "never wrong": lambda rng, t: 0,
    "always wrong": lambda rng, t: LEVELS - 1,
    "at random": lambda rng, t: int(rng.integers(LEVELS)),
}


def adversary(names: tuple[str, str, str], runs: int) -> int:
    """How many of so many runs are missed."""
    label, chance, prediction = LABELS[names[0]], CHANCES[names[1]], PREDICTIONS[names[2]]

    def choose(rng: Any, t: int, wealth: np.ndarray) -> tuple[int, float, int]:
        return label(rng, t, wealth), chance(rng, t), prediction(rng, t)

    return sum(not played(choose, 300, seed) for seed in range(runs))


def shown(done: int, of: int, what: str) -> None:
    print(f"\r{what}: {done} of {of}", end="" if done < of else "\n", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the estimated accuracy.")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--overall", action="store_true", help="only the overall accuracy, for long streams")
    parser.add_argument("--adversaries", type=int, default=0, metavar="RUNS", help="of each adversary")
    options = parser.parse_args()
    kinds = KINDS[:1] if options.overall else KINDS
    with ProcessPoolExecutor(options.jobs) as pool:
        if options.adversaries:
            names = list(itertools.product(LABELS, CHANCES, PREDICTIONS))
            missed = []
            for each in pool.map(adversary, names, [options.adversaries] * len(names)):
                missed.append(each)
                shown(len(missed), len(names), "adversaries")
            worst = int(np.argmax(missed))
            share = missed[worst] / options.adversaries
            print(f"{len(names)} adversaries, {options.adversaries} runs of 300 rounds each: the worst share of misses")
            print(f"is {share:.1%} (labels {names[worst][0]}, P {names[worst][1]}, predictions {names[worst][2]})\n")
        print(f"{options.streams} streams of {options.rounds} rounds, 95 % confidence: streams covered, mean width\n")
        print(f"| rule | {' | '.join(kinds)} | last 5,000 | labels | mean error of the estimate |")
        print("|" + "---|" * (len(kinds) + 4))
        for name in RULES:
            work = [
                pool.submit(one, name, seed, options.rounds, not options.overall) for seed in range(options.streams)
            ]
            found = []
            for future in work:
                found.append(future.result())
                shown(len(found), len(work), name)
            table = np.array(found, float)
            covered, widths = table[:, : len(kinds)].sum(axis=0), table[:, len(kinds) : 2 * len(kinds)].mean(axis=0)
            share, error, recent = table[:, -3:].T
            cells = [f"{int(c)}, {w:.3f}" for c, w in zip(covered, widths, strict=True)]
            spread = error.std() / np.sqrt(len(work))
            tail = f"{recent.mean():.3f} | {share.mean():.1%} | {error.mean():+.4f} ({spread:.4f})"
            print(f"| {name} | {' | '.join(cells)} | {tail} |")


if __name__ == "__main__":
    main()
