"""Does the interval keep its word? 500 streams that drift, each looked at in every round.

A 95 % sequence must cover the true running accuracy in all rounds of at least 463 of them: a correct one falls below
that in one try of a hundred. Beside it, the width of the interval for the same number of labels asked at random.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import askwhen as aw
from askwhen.evaluate import accuracy, accuracy_curve

RULES: dict[str, Any] = {
    "BudgetRule(0.1), the default": aw.BudgetRule(0.1),
    "FocusedRule(0.1, floor=0.02)": aw.FocusedRule(0.1, floor=0.02),
    "FixedRate(0.1), at random": aw.FixedRate(0.1),
}


def stream(seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features; the target turns slowly and jumps now and then, and one label in twenty is wrong."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((rounds, 5))
    targets = np.cumsum(0.03 * rng.standard_normal((rounds, 5)), axis=0) + rng.standard_normal(5)
    jumps = np.cumsum(rng.random(rounds) < 3.0 / rounds)
    targets += 3.0 * rng.standard_normal((jumps[-1] + 1, 5))[jumps]
    y = np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.05, -y, y)


def one(name: str, seed: int, rounds: int) -> tuple[bool, float, float, float]:
    """Whether all rounds are covered; the final width; the share of labels; the error of the estimate."""
    X, y = stream(seed, rounds)
    trace = aw.Sampler(rule=RULES[name], seed=seed).run(X, y)
    curve = accuracy_curve(trace, points=rounds)
    true = 1.0 - np.cumsum(trace.mistaken) / np.arange(1, rounds + 1)
    covered = bool(((curve.low <= true + 1e-12) & (true <= curve.high + 1e-12)).all())
    found = accuracy(trace).overall
    return covered, found.high - found.low, trace.questions / rounds, found.unbiased - true[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the honest accuracy.")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(f"{options.streams} streams of {options.rounds} rounds, 95 % confidence\n")
    print("| rule | streams covered in every round | mean width at the end | labels | mean error of the estimate |")
    print("|---|---|---|---|---|")
    with ProcessPoolExecutor(options.jobs) as pool:
        for name in RULES:
            work = [pool.submit(one, name, seed, options.rounds) for seed in range(options.streams)]
            found = []
            for future in work:
                found.append(future.result())
                print(f"\r{name}: {len(found)} of {len(work)}", end="", file=sys.stderr)
            print(file=sys.stderr)
            covered, width, share, error = np.array(found, float).T
            print(
                f"| {name} | {int(covered.sum())} of {len(work)} | {width.mean():.3f} | {share.mean():.1%} | "
                f"{error.mean():+.4f} ({error.std() / np.sqrt(len(work)):.4f}) |"
            )


if __name__ == "__main__":
    main()
