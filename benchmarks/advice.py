"""Advice from outside: what it brings, what bad advice costs, whether the intervals hold, and what a round costs.

    python benchmarks/advice.py                    stance: GPT-4o beside vectors of the texts, five seeds
    python benchmarks/advice.py --bad              with one that is right half the time, and with one that turns
    python benchmarks/advice.py --coverage         intervals of two advisers in 500 simulated lives
    python benchmarks/advice.py --cost             nanoseconds a round at 50 features, without and with one adviser

The texts of stance are in the folder that ASKWHEN_DATA names, with GPT-4o's answers and confidences. In the simulated
lives an adviser drifts, another one speaks in some rounds only, and answers are told at once; an interval must hold the
true value at forty moments of a life, and that in at least 463 of 500 lives.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw

RATES = (0.02, 0.05, 0.1, 0.2)
GOALS = (75.8, 76.4, 77.0, 77.6)


def stance() -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Vectors of the texts, labels, and GPT-4o's labels and confidences."""
    folder = Path(os.environ["ASKWHEN_DATA"])
    with gzip.open(folder / "stance.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    vectors = np.load(folder / "stance_minilm.npz")["vectors"].astype(float)
    said = np.array([row["gpt4o"] for row in rows]), np.array([float(row["gpt4o_confidence"]) for row in rows])
    return vectors, np.array([row["label"] for row in rows]), said


def accuracy(X: Any, y: np.ndarray, advice: dict[str, Any] | None, rate: float, seed: int) -> float:
    """Share of right predictions, in per cent."""
    names = None if advice is None else list(advice)
    kinds = None if X is None else aw.Kinds(vectors=(X.shape[1],))
    classes = sorted(set(y.tolist()))
    sampler = aw.Sampler(rule=aw.BudgetRule(rate), classes=classes, kinds=kinds, seed=seed, advisers=names)
    trace = sampler.run(X, y, advice=advice)
    return 100.0 - 100.0 * trace.mistakes / trace.rounds


def half_right(y: np.ndarray, seed: int) -> np.ndarray:
    """An adviser that is right in half of its answers."""
    rng, classes = np.random.default_rng([seed, 5]), sorted(set(y.tolist()))
    other = np.array([rng.choice([label for label in classes if label != own]) for own in y.tolist()])
    return np.where(rng.random(len(y)) < 0.5, y, other)


def turned(said: tuple[np.ndarray, np.ndarray], y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """GPT-4o, which names the next class instead from half time on."""
    classes = sorted(set(y.tolist()))
    after = {label: classes[(i + 1) % len(classes)] for i, label in enumerate(classes)}
    late = np.arange(len(y)) >= len(y) // 2
    return np.where(late, [after[label] for label in said[0].tolist()], said[0]), said[1]


def show_stance(bad: bool) -> None:
    """Mean accuracy over five seeds by the share of labels."""
    X, y, said = stance()
    print(f"GPT-4o alone {100.0 * (said[0] == y).mean():.1f}")
    rows: dict[str, Any] = {
        "text alone": (X, lambda seed: None),
        "advice alone": (None, lambda seed: {"gpt": said}),
        "text and advice": (X, lambda seed: {"gpt": said}),
    }
    if bad:
        rows["and one that is right half the time"] = (X, lambda seed: {"gpt": said, "poor": half_right(y, seed)})
        rows["GPT-4o turns at half time"] = (X, lambda seed: {"gpt": turned(said, y)})
    print(f"{'labels':38}" + "".join(f"{rate:>8.0%}" for rate in RATES))
    print(f"{'goal of text and advice':38}" + "".join(f"{goal:8.1f}" for goal in GOALS))
    for name, (seen, advice) in rows.items():
        means = [np.mean([accuracy(seen, y, advice(seed), rate, seed) for seed in range(5)]) for rate in RATES]
        print(f"{name:38}" + "".join(f"{mean:8.1f}" for mean in means), flush=True)


def life(seed: int) -> list[bool]:
    """Whether the intervals of both advisers, of what the sampler gains, and of their difference held in one life."""
    rng, rounds = np.random.default_rng([seed, 3]), 4000
    X = rng.standard_normal((rounds, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(rounds) > 0.0, 1, -1)
    falls = np.clip(0.9 - 0.3 * (np.arange(rounds) > rng.integers(rounds)), 0.0, 1.0)
    first, second = np.where(rng.random(rounds) < falls, y, -y), np.where(rng.random(rounds) < 0.75, y, -y)
    speaks = rng.random(rounds) < 0.6
    says = np.where(speaks, second, 0).astype(object)
    says[~speaks] = None
    stated = rng.choice([0.6, 0.8, 0.95], rounds)
    sampler = aw.Sampler(seed=seed, labels=(-1, 1), advisers=["first", "second"])
    kept, wrong = [True] * 4, np.zeros(0, np.bool_)
    for part in np.array_split(np.arange(rounds), 40):
        advice = {"first": (first[part], stated[part]), "second": says[part]}
        wrong = np.r_[wrong, sampler.run(X[part], y[part], advice=advice).mistaken]
        n, found = part[-1] + 1, aw.evaluate.advisers(sampler)
        here, right = speaks[:n], (first == y)[:n]
        others = (second == y)[:n][here]
        truths: tuple[tuple[Any, float], ...] = (
            (found["first"].overall, right.mean()),
            (found["second"].overall, others.mean()),
            (found["first"].gain, (~wrong).mean() - right.mean()),
            (found.compare("first", "second"), right[here].mean() - others.mean()),
        )
        for i, (estimate, truth) in enumerate(truths):
            kept[i] &= bool(estimate.low - 1e-12 <= truth <= estimate.high + 1e-12)
    return kept


def show_coverage(lives: int, jobs: int) -> None:
    """Number of lives in which every interval held."""
    with ProcessPoolExecutor(jobs) as pool:
        kept = np.array(list(pool.map(life, range(lives), chunksize=10)))
    for name, count in zip(("first", "second", "gain over first", "first less second"), kept.sum(axis=0), strict=True):
        print(f"{name:20} {count} of {lives}")


def show_cost(rounds: int = 20_000, repeats: int = 7) -> None:
    """Time of a round of ``run`` without an adviser and with one, one after the other, the best of some repeats."""
    X, y = aw.data.switching(rounds, 50, seed=0)
    says = np.where(np.random.default_rng(1).random(rounds) < 0.8, y, -y)
    best = {"without": np.inf, "with one": np.inf}
    for _ in range(repeats):
        for name in best:
            advised = name == "with one"
            sampler = aw.Sampler(seed=0, advisers=["a"] if advised else None)
            advice = {"a": says} if advised else None
            sampler.run(X[:500], y[:500], advice={"a": says[:500]} if advised else None)
            begun = time.perf_counter()
            sampler.run(X, y, advice=advice)
            best[name] = min(best[name], time.perf_counter() - begun)
    for name, took in best.items():
        print(f"{name:10} {1e9 * took / rounds:8.0f} ns a round")
    print(f"one adviser adds {100.0 * (best['with one'] / best['without'] - 1.0):.1f} %")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bad", action="store_true")
    parser.add_argument("--coverage", action="store_true")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--lives", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    if given.coverage:
        show_coverage(given.lives, given.jobs)
    elif given.cost:
        show_cost()
    else:
        show_stance(given.bad)


if __name__ == "__main__":
    main()
