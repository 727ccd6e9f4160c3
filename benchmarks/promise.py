"""Promises on delivered labels: how many labels they save, what they cost, and whether they hold.

    python benchmarks/promise.py [--seeds 5] [--quick]
    python benchmarks/promise.py --cost
    python benchmarks/promise.py --validity [--streams 500] [--rounds 4000] [--jobs 2]

The first needs the folder of ASKWHEN_DATA. Labels saved and delivered errors of streams, with the default learner:
elec2 has 20,000 rounds, the others up to 10,000; usps has ten classes. *One moment* is what the same policy would save
with a bound that holds at one moment only, the end, and not at all of them: the best single stake. imagenetv2_advice
and stance have a model's answers with its confidence. *Margins* are the odds of the confidence, and nothing is learnt;
*adviser* is a sampler without instances whose adviser says them. PAC Labels is what its authors' method saves, run once
over the whole pile.

``--cost`` is the processor time of a round, as ratios. ``--validity`` plays streams that drift, and labels of
adversaries who see the account before every round. A promise with 95 % confidence may be broken in at most 37 of 500
lives: one that holds is above that in one try of a hundred.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import math
import os
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import load
from askwhen.evaluate.comparison.known_margins import KnownMargins
from askwhen.rules.promise_account import stakes, wealth_logs

ERRORS = (0.02, 0.05, 0.1)
MAIN, OTHERS = ("elec2", "a9a"), ("w8a", "mushrooms", "spam", "usps")
PILES = {"imagenetv2_advice": (38.6, 51.3), "stance": (25.4, 38.3)}


def stream(name: str, seed: int, quick: bool) -> tuple[Any, np.ndarray]:
    data = load(name)
    X = data.X.toarray() if sp.issparse(data.X) and data.X.shape[1] < 400 else data.X
    rows, order = 20_000 if name == "elec2" else 10_000, np.arange(len(data.y))
    if name != "elec2":
        order = np.random.default_rng(seed).permutation(len(data.y))
    order = order[: rows // 10 if quick else rows]
    return X[order], data.y[order]


class Pile(NamedTuple):
    """A model's answers, its confidences, and the labels, in a random order."""

    said: np.ndarray
    sure: np.ndarray
    labels: np.ndarray

    @property
    def classes(self) -> list[str]:
        """All labels."""
        return sorted({*self.said.tolist(), *self.labels.tolist()})


def pile(name: str, seed: int) -> Pile:
    with gzip.open(Path(os.environ["ASKWHEN_DATA"]) / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    model = next(column for column in ("model", "gpt4o") if column in rows[0])
    order = np.random.default_rng(seed).permutation(len(rows))
    sure = np.clip([float(row[f"{model}_confidence"]) for row in rows], 1e-3, 1.0 - 1e-4)[order]
    said, labels = (np.array([row[column] for row in rows], object)[order] for column in (model, "label"))
    return Pile(said, sure, labels)


def played(sampler: aw.Sampler, X: Any, y: np.ndarray, **more: Any) -> list[float]:
    """Labels saved, delivered errors, the certificate, and right predictions."""
    trace = sampler.run(X, y, **more)
    promise = sampler.promise
    wrong = float((trace.delivered != y).mean())
    assert wrong <= promise.error
    assert promise.certified <= promise.error
    return [1.0 - trace.questions / trace.rounds, wrong, promise.certified, 1.0 - float(trace.mistaken.mean())]


def default(rule: aw.PromiseRule, seed: int, y: np.ndarray) -> aw.Sampler:
    """The default learner for these labels."""
    classes = np.unique(y).tolist()
    return aw.Sampler(rule=rule, seed=seed, classes=classes if len(classes) > 2 else None)


def one_moment(error: float, seed: int, X: Any, y: np.ndarray) -> float:
    """Labels saved by the largest promise after which the best single stake bounds the errors by the given share."""

    def run(promised: float) -> tuple[float, float]:
        sampler = default(aw.PromiseRule(promised, length=len(y)), seed, y)
        saved = 1.0 - sampler.run(X, y, trace=False).questions / len(y)
        bounds = (-math.log(0.05) - wealth_logs(sampler.engine.rule)) / stakes()
        return saved, max(float(bounds.min()), 0.0) / len(y)

    low, high, best = error, min(2.0 * error, 0.5), 0.0
    for _ in range(5):
        middle = 0.5 * (low + high)
        saved, bound = run(middle)
        low, high, best = (middle, high, saved) if bound <= error else (low, middle, best)
    return best or run(error)[0]


def shown(values: Any) -> str:
    return " | ".join(f"{100 * value:.1f}" for value in values)


def streams(names: tuple[str, ...], seeds: int, quick: bool) -> None:
    heads = "errors | length | labels saved | delivered errors | certified | right predictions | saved, one moment"
    print(f"| stream | {heads} |\n|---|---|---|---:|---:|---:|---:|---:|", flush=True)
    for name in names:
        for error in ERRORS:
            for known in (True, False):
                rows = []
                for seed in range(seeds):
                    X, y = stream(name, seed, quick)
                    rule = aw.PromiseRule(error, length=len(y) if known else None)
                    row = played(default(rule, seed, y), X, y)
                    rows.append([*row, one_moment(error, seed, X, y)] if known else row)
                found, length = np.mean(rows, axis=0), "known" if known else "not known"
                last = "" if known else " | "
                print(f"| {name} | {error:.0%} | {length} | {shown(found)}{last} |", flush=True)


def advised(of: Pile, rule: aw.PromiseRule, seed: int) -> list[float]:
    """A sampler without instances, whose adviser answers."""
    classes = of.classes
    sampler = aw.Sampler(classes=classes, advisers=["model"], rule=rule, seed=seed)
    return played(sampler, None, of.labels, advice={"model": (of.said, of.sure)})


def piles(seeds: int) -> None:
    heads = "errors | length | saved, margins | saved, adviser | PAC Labels, once"
    print(f"| pile | {heads} |\n|---|---|---|---:|---:|---:|")
    for name, theirs in PILES.items():
        for error, saved in zip(ERRORS[1:], theirs, strict=True):
            for known in (True, False):
                found = []
                for seed in range(seeds):
                    of = pile(name, seed)
                    y = np.where(of.said == of.labels, 1.0, -1.0)
                    rule = aw.PromiseRule(error, length=len(y) if known else None)
                    margins = (of.sure / (1.0 - of.sure))[:, None]
                    row = [played(aw.Sampler(KnownMargins(), rule, seed=seed), margins, y)[0]]
                    found.append([*row, advised(of, rule, seed)[0]])
                length = "known" if known else "not known"
                print(f"| {name} | {error:.0%} | {length} | {shown(np.mean(found, axis=0))} | {saved} |", flush=True)


def seconds(make: Any, X: np.ndarray, y: np.ndarray) -> float:
    """Processor time of a round, which other work on the machine disturbs least: the best of five runs."""
    times = []
    make().run(X[:200], y[:200])
    for _ in range(5):
        sampler = make()
        began = time.process_time()
        sampler.run(X, y, trace=False)
        times.append(time.process_time() - began)
    return min(times) / len(y)


def cost() -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((20_000, 50))
    y = np.where(X[:, 0] + 0.3 * rng.standard_normal(len(X)) > 0, 1.0, -1.0)
    print("\n## Processor time of a round, over that of BudgetRule(0.1)\n\n| learner | ratio |\n|---|---:|")
    for name, learner in (("Perceptron", aw.Perceptron()), ("the default", None)):
        promise, budget = (
            seconds(lambda rule=rule, learner=learner: aw.Sampler(learner, rule, seed=1), X, y)
            for rule in (aw.PromiseRule(0.05), aw.BudgetRule(0.1))
        )
        print(f"| {name}, 50 features | {promise / budget:.2f} |", flush=True)


def drifting(seed: int, rounds: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features; the target turns slowly and jumps now and then, and one label in twenty is wrong."""
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((rounds, 5))
    targets = np.cumsum(0.01 * rng.standard_normal((rounds, 5)), axis=0) + rng.standard_normal(5)
    jumps = np.cumsum(rng.random(rounds) < 2.0 / rounds)
    targets += 3.0 * rng.standard_normal((jumps[-1] + 1, 5))[jumps]
    y = np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)
    return X, np.where(rng.random(rounds) < 0.02, -y, y)


def room(sampler: aw.Sampler) -> float:
    """How far the account is from breaking the promise: above 1 where it is kept."""
    return float(sampler.engine.rule.standing.sum())


ADVERSARIES: dict[str, Any] = {
    "drifting labels": None,
    "wrong while there is room": lambda sampler, ask, rng: room(sampler) > 5.0,
    "wrong where it is sure": lambda sampler, ask, rng: ask.probability < 0.1,
    "wrong where it asks least, after a quiet time": lambda sampler, ask, rng: (
        ask.probability < 0.3 and sampler.round % 400 > 300
    ),
    "at random": lambda sampler, ask, rng: rng.random() < 0.1,
    "right while the wealth is low": lambda sampler, ask, rng: room(sampler) > 2.0 and rng.random() < 0.5,
}


def life(name: str, seed: int, rounds: int, error: float, late: int) -> tuple[bool, bool, float]:
    """Whether delivered errors ever exceed the promise; whether the certificate does; and the share of questions."""
    X, y = drifting(seed, rounds)
    rng, adversary = np.random.default_rng([seed, 2]), ADVERSARIES[name]
    sampler = aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(error), seed=seed)
    wrong, broken, above, waiting = 0, False, False, []
    for i in range(rounds):
        ask = sampler.ask(X[i])
        if adversary is None:
            is_wrong = ask.prediction != y[i]
        else:  # the label is a function of what was known before the draw: P, and the account
            is_wrong = bool(adversary(sampler, ask, rng))
        if ask.query:
            waiting.append((ask, -ask.prediction if is_wrong else ask.prediction))
        elif not ask.withheld:
            wrong += is_wrong
        if len(waiting) > late:
            number = int(rng.integers(len(waiting)))
            sampler.tell(*waiting.pop(number))
        delivered = sampler.promise.delivered
        broken |= wrong > error * delivered + 1e-9 and delivered > 0
        above |= i % 20 == 0 and delivered > 0 and not sampler.promise.is_met
    return broken, above, sampler.questions / rounds


def validity(streams: int, rounds: int, jobs: int) -> None:
    print(f"{streams} streams of {rounds} rounds, 10 % errors promised with 95 % confidence\n")
    print("| labels | answers | broken | certificate above it | questions |\n|---|---|---:|---:|---:|")
    with ProcessPoolExecutor(jobs) as pool:
        for name in ADVERSARIES:
            for late in (0, 10):
                work = [pool.submit(life, name, seed, rounds, 0.1, late) for seed in range(streams)]
                found = np.array([each.result() for each in work], float)
                broken, above, asked = found.mean(axis=0)
                when = f"up to {late} waiting, in any order" if late else "at once"
                print(f"| {name} | {when} | {broken:.1%} | {above:.1%} | {asked:.1%} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Promises on delivered labels.")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="a tenth of the rounds, two seeds")
    parser.add_argument("--cost", action="store_true")
    parser.add_argument("--validity", action="store_true")
    parser.add_argument("--streams", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=4000)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    if options.validity:
        validity(options.streams, options.rounds, options.jobs)
        return
    if options.cost:
        cost()
        return
    seeds = 2 if options.quick else options.seeds
    print("Per cent of the labels saved, elec2 and a9a\n")
    streams(MAIN, seeds, options.quick)
    print("\nPer cent of the labels saved, other streams\n")
    streams(OTHERS, min(seeds, 2), options.quick)
    print("\nPer cent of the labels saved, piles that a model has answered\n")
    piles(seeds)


if __name__ == "__main__":
    main()
