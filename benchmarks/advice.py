"""Advice from outside: what it brings, what bad advice costs, whether the intervals hold, and what a round costs.

    python benchmarks/advice.py --stance           GPT-4o beside vectors of the texts, five seeds; also by default
    python benchmarks/advice.py --bad              with a second adviser that is right half the time, and ones that turn
    python benchmarks/advice.py --called           GPT-4o called only where it is worth its price
    python benchmarks/advice.py --promise          few errors promised on stance: labels saved
    python benchmarks/advice.py --refit            gradient boosting, fitted again and again, as an adviser at 10 %
    python benchmarks/advice.py --coverage         intervals of two advisers in 500 simulated lives
    python benchmarks/advice.py --cost             time of a round at 50 features, without and with one adviser
    python benchmarks/advice.py --all              all of these

The texts of stance are in the folder that ASKWHEN_DATA names, with GPT-4o's answers and confidences; the order of the
rows is that of the file, the seeds are those of the random draws. In the simulated lives an adviser drifts, another one
speaks in some rounds only, and answers are told at once; an interval must hold the true value at forty moments of a
life, and that in at least 463 of 500 lives.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw

RATES = (0.02, 0.05, 0.1, 0.2)
GOALS = (75.8, 76.4, 77.0, 77.6)
SAVED = {0.05: 26.0, 0.1: 43.0}
SEEDS = 5

Advice = dict[str, Any] | None


def table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table as Markdown; all columns but the first are numbers."""
    print(f"\n{title}\n")
    print("| " + " | ".join(heads) + " |")
    print("| --- " + "| ---: " * (len(heads) - 1) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print(flush=True)


def stance() -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Vectors of the texts, labels, and GPT-4o's labels and confidences."""
    folder = Path(os.environ["ASKWHEN_DATA"])
    with gzip.open(folder / "stance.csv.gz", "rt") as file:
        rows = list(csv.DictReader(file))
    vectors = np.load(folder / "stance_minilm.npz")["vectors"].astype(float)
    said = np.array([row["gpt4o"] for row in rows]), np.array([float(row["gpt4o_confidence"]) for row in rows])
    return vectors, np.array([row["label"] for row in rows]), said


def sampler_of(rule: Any, X: Any, y: np.ndarray, advice: Advice, seed: int) -> aw.Sampler:
    """A sampler for stance."""
    kinds = None if X is None else aw.Kinds(vectors=(X.shape[1],))
    names = None if advice is None else list(advice)
    return aw.Sampler(rule=rule, classes=sorted(set(y.tolist())), kinds=kinds, seed=seed, advisers=names)


def accuracy(X: Any, y: np.ndarray, advice: Advice, rate: float, seed: int) -> float:
    """Share of right predictions, in per cent."""
    trace = sampler_of(aw.BudgetRule(rate), X, y, advice, seed).run(X, y, advice=advice)
    return 100.0 - 100.0 * trace.mistakes / trace.rounds


def half_right(y: np.ndarray, seed: int) -> np.ndarray:
    """An adviser that is right in half of its answers."""
    return right_in(y, 0.5, [seed, 5])


def right_in(y: np.ndarray, share: float, seed: Any) -> np.ndarray:
    """An adviser that is right in a share of its answers, and otherwise names any other class."""
    rng, classes = np.random.default_rng(seed), sorted(set(y.tolist()))
    other = np.array([rng.choice([label for label in classes if label != own]) for own in y.tolist()])
    return np.where(rng.random(len(y)) < share, y, other)


def turned(said: np.ndarray, y: np.ndarray) -> np.ndarray:
    """An adviser that names the next class instead of its own from half time on."""
    classes = sorted(set(y.tolist()))
    after = {label: classes[(i + 1) % len(classes)] for i, label in enumerate(classes)}
    late = np.arange(len(y)) >= len(y) // 2
    return np.where(late, [after[label] for label in said.tolist()], said)


def show_accuracies(
    title: str, y: np.ndarray, rows: dict[str, tuple[Any, Callable[[int], Advice]]], goals: bool
) -> None:
    """Mean accuracy over the seeds by the share of labels."""
    found = [["goal", *(f"{goal:.1f}" for goal in GOALS)]] if goals else []
    for name, (seen, advice) in rows.items():
        means = [np.mean([accuracy(seen, y, advice(seed), rate, seed) for seed in range(SEEDS)]) for rate in RATES]
        found.append([name, *(f"{mean:.1f}" for mean in means)])
    table(title, ["labels asked", *(f"{rate:.0%}" for rate in RATES)], found)


def show_stance() -> None:
    """What GPT-4o brings."""
    X, y, said = stance()
    alone = f"{100.0 * (said[0] == y).mean():.1f}"
    print(f"GPT-4o alone is right in {alone} %")
    rows: dict[str, Any] = {
        "text alone": (X, lambda seed: None),
        "advice alone": (None, lambda seed: {"gpt": said}),
        "text and advice": (X, lambda seed: {"gpt": said}),
    }
    show_accuracies("stance with GPT-4o, right predictions in per cent", y, rows, True)


def show_bad() -> None:
    """What bad advice costs."""
    X, y, said = stance()

    def second(seed: int) -> np.ndarray:
        return turned(right_in(y, 0.75, [seed, 6]), y)

    rows: dict[str, Any] = {
        "GPT-4o": (X, lambda seed: {"gpt": said}),
        "and a second one that is right half the time": (X, lambda seed: {"gpt": said, "poor": half_right(y, seed)}),
        "and a second one as good that turns at half time": (X, lambda seed: {"gpt": said, "second": second(seed)}),
        "only GPT-4o, which turns at half time": (X, lambda seed: {"gpt": (turned(said[0], y), said[1])}),
        "no advice": (X, lambda seed: None),
    }
    show_accuracies("stance with bad advice, right predictions in per cent", y, rows, False)


def show_called() -> None:
    """GPT-4o called only where it is worth its price."""
    X, y, said = stance()
    rows, answers = [], list(zip(*map(np.ndarray.tolist, said), strict=True))
    prices: list[dict[str, Any] | None] = [{"price": price} for price in (0.0, 0.02, 0.1, 0.3)]
    for name, rule in (("one label in ten", aw.BudgetRule(0.1)), ("10 % errors promised", aw.PromiseRule(0.1))):
        for terms in (*prices, {"price": 0.0, "rate": 0.3}, None):
            found = []
            for seed in range(SEEDS):
                called = aw.advisers.Called(answers.__getitem__, **(terms or {}))
                advice = {} if terms is None else {"gpt": called.about(range(len(y)))}
                trace = sampler_of(rule, X, y, {"gpt": None}, seed).run(X, y, advice=advice)
                found.append((called.calls, trace.questions, 100.0 - 100.0 * trace.mistakes / trace.rounds))
            calls, questions, right = np.mean(found, axis=0)
            price = "never called" if terms is None else ", ".join(f"{key} {value:g}" for key, value in terms.items())
            rows.append([f"{name}, {price}", f"{calls:,.0f}", f"{questions:,.0f}", f"{right:.1f}"])
    heads = ["2,299 rows", "calls", "labels asked", "right predictions, %"]
    table("GPT-4o called only where it is worth its price", heads, rows)


def show_promise() -> None:
    """Labels that a promise saves."""
    X, y, said = stance()
    rows = [["goal", *(f"{SAVED[error]:.0f}" for error in SAVED)]]
    advised = {"gpt": said}
    for name, (seen, advice) in {
        "text alone": (X, None),
        "advice alone": (None, advised),
        "text and advice": (X, advised),
    }.items():
        saved = []
        for error in SAVED:
            found = []
            for seed in range(SEEDS):
                sampler = sampler_of(aw.PromiseRule(error, length=len(y)), seen, y, advice, seed)
                trace = sampler.run(seen, y, advice=advice)
                assert (trace.delivered != y).mean() <= error
                found.append(100.0 - 100.0 * trace.questions / trace.rounds)
            saved.append(f"{np.mean(found):.1f}")
        rows.append([name, *saved])
    table("few errors promised on stance, labels saved in per cent", ["errors", *(f"{e:.0%}" for e in SAVED)], rows)


def stream(name: str, seed: int) -> tuple[Any, np.ndarray]:
    """A stream as it is read, shuffled where its order means nothing."""
    if name == "telco":
        X, y = aw.data.read(Path(os.environ["ASKWHEN_DATA"]) / "telco_churn.csv.gz", label="Churn").load()
    else:
        loaded = aw.data.load(name)
        X, y = loaded.X, loaded.y
    order = np.arange(len(y)) if name == "elec2" else np.random.default_rng(seed).permutation(len(y))
    return X[order], y[order]


def show_refit() -> None:
    """Gradient boosting, fitted again as the asked labels grow, as an adviser."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    rows = []
    for name, seeds in (("elec2", 2), ("spambase", SEEDS), ("telco", SEEDS)):
        without, advised, alone = [], [], []
        for seed in range(seeds):
            X, y = stream(name, seed)
            without.append(aw.Sampler(seed=seed).run(X, y).mistaken.mean())
            boosting = aw.advisers.Refit(HistGradientBoostingClassifier(random_state=0))
            trace = aw.Sampler(seed=seed, advisers=["boosting"]).run(X, y, advice={"boosting": boosting})
            advised.append(trace.mistaken.mean())
            said = np.asarray(trace.advice["boosting"])
            spoke = ~np.isnan(said[:, 0])
            alone.append(((said[:, 1] > 0.5) != (y > 0))[spoke].mean())
        shown = [100.0 - 100.0 * np.mean(wrong) for wrong in (without, advised, alone)]
        gain = f"{shown[1] - shown[0]:+.2f}"
        rows.append([name, f"{len(y):,}", *(f"{right:.2f}" for right in shown[:2]), gain, f"{shown[2]:.2f}"])
    heads = ["10 % labels", "rows", "default", "with boosting", "gain", "boosting alone"]
    table("gradient boosting, fitted again and again, as an adviser", heads, rows)


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
        kept = np.array(list(pool.map(life, range(lives), chunksize=10))).sum(axis=0)
    names = ("accuracy of one that falls", "accuracy of one that is often silent", "gain over the first", "difference")
    rows = [[name, f"{count} of {lives}"] for name, count in zip(names, kept.tolist(), strict=True)]
    table("intervals that held at forty moments of a life", ["interval", "lives in which it held"], rows)


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
    rows = [[name, f"{1e9 * took / rounds:,.0f}"] for name, took in best.items()]
    added = 100.0 * (best["with one"] / best["without"] - 1.0)
    rows.append(["one adviser adds, %", f"{added:.1f}"])
    table("time of a round of the default at 50 features", ["advisers", "ns"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("stance", "bad", "called", "promise", "refit", "coverage", "cost", "all"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--lives", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=1)
    given = parser.parse_args()
    parts: dict[str, Callable[[], None]] = {
        "stance": show_stance,
        "bad": show_bad,
        "called": show_called,
        "promise": show_promise,
        "refit": show_refit,
        "coverage": lambda: show_coverage(given.lives, given.jobs),
        "cost": show_cost,
    }
    chosen = [name for name in parts if given.all or getattr(given, name)] or ["stance"]
    for name in chosen:
        parts[name]()


if __name__ == "__main__":
    main()
