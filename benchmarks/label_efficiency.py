"""What accuracy do so many labels buy? Every algorithm at the same share of the labels, on every stream.

    python benchmarks/label_efficiency.py                 the default beside every selective algorithm of the papers
    python benchmarks/label_efficiency.py --default       beside its first release, and asking at random
    python benchmarks/label_efficiency.py --versions      beside the learner of release 0.1
    python benchmarks/label_efficiency.py --levels        AutoLasec beside every single drift level
    python benchmarks/label_efficiency.py --rules         the ways of asking that were tried, over one learner

All see the same prepared instances, ``Prepare()``. Scales of the papers' rules are tuned on each stream to the share of
labels, by bisection (they need that; the default does not). Seeds shuffle the streams that have no order. Settings of
the default were chosen on seeds below 100; ``--first-seed 100`` reports others.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np

import askwhen as aw
from streams import DRIFTING, STILL

STREAMS = DRIFTING | STILL
SPARSE = ("spam", "rcv1", "reuters")
"""Where almost every instance is new to BBQ, which would ask about all of them: it is left out there."""

Builder = Callable[[float, int], aw.Sampler]


def _sampler(learner: Any, rule: Callable[[float], Any]) -> Builder:
    return lambda scale, seed: aw.Sampler(learner, rule(scale), prepare=aw.Prepare(), seed=seed)


def _bbq(scale: float) -> aw.BBQRule:
    return aw.BBQRule(min(max(scale / (1.0 + scale), 1e-6), 1.0 - 1e-6))


TUNED: dict[str, Builder] = {
    "random": _sampler(aw.Mixture(), lambda scale: aw.FixedRate(min(scale, 1.0))),
    "LASEC-SS": _sampler(aw.Lasec(0.1, 100.0), aw.MarginRule),
    "LASEC-SS, queried": _sampler(aw.Lasec(0.1, 100.0, update="queried"), aw.MarginRule),
    "SOP-SS": _sampler(aw.SecondOrderPerceptron(0.1), aw.MarginRule),
    "SEL-2ND": _sampler(aw.SecondOrderPerceptron(1.0), aw.MarginRule),
    "BBQ": _sampler(aw.LeastSquares(), _bbq),
    "BBQ-I": _sampler(aw.SecondOrderPerceptron(1.0), _bbq),
    "PERCEPTRON-SS": _sampler(aw.Perceptron(), aw.MarginRule),
    "SEL-ADA": _sampler(aw.Perceptron(), aw.AdaptiveMarginRule),
    "SEL-WINNOW": _sampler(aw.Winnow(0.3), aw.MarginRule),
    "PA-ACTIVE": _sampler(aw.PassiveAggressive(), aw.MarginRule),
    "PA-I-ACTIVE": _sampler(aw.PassiveAggressive1(1.0), aw.MarginRule),
    "PA-II-ACTIVE": _sampler(aw.PassiveAggressive2(1.0), aw.MarginRule),
}
DEFAULT = "default"

LEVELS: dict[str, Any] = {"AutoLasec": aw.AutoLasec()} | {
    f"c = {c:g}": aw.Lasec(1.0, c, update="queried") for c in (math.inf, 1e4, 1e3, 1e2, 1e1, 2e0)
}

RULES: dict[str, Builder] = {
    "BudgetRule": lambda share, seed: aw.Sampler(rule=aw.BudgetRule(share), seed=seed),
    "BudgetRule, spread=False": lambda share, seed: aw.Sampler(rule=aw.BudgetRule(share, spread=False), seed=seed),
    "BudgetRule, no floor": lambda share, seed: aw.Sampler(rule=aw.BudgetRule(share, floor=0.0), seed=seed),
    "BudgetRule by uncertainty": lambda share, seed: aw.Sampler(rule=aw.BudgetRule(share, by="uncertainty"), seed=seed),
    "FocusedRule": _sampler(aw.Mixture(), aw.FocusedRule),
    "MarginRule": _sampler(aw.Mixture(), aw.MarginRule),
    "random": TUNED["random"],
}


GENERATIONS: dict[str, Builder] = {
    "default": lambda share, seed: aw.Sampler(rule=aw.BudgetRule(share), seed=seed),
    "first release": _sampler(aw.AutoLasec(), lambda share: aw.BudgetRule(share, spread=False)),
    "random": TUNED["random"],
}

VERSIONS: dict[str, Builder] = {
    "default": GENERATIONS["default"],
    "release 0.1": lambda share, seed: aw.Sampler(
        aw.Mixture(version=1), aw.BudgetRule(share), prepare=aw.Prepare(), seed=seed
    ),
}


def tuned(build: Builder, stream: Any, share: float) -> float:
    """The scale at which the sampler asks for this share of the labels: up from a small one, then bisection."""

    def asks_more(scale: float) -> bool:
        X, y = stream
        return bool(build(scale, 0).run(X, y, margins=False, trace=False).questions > share * len(y))

    low = high = 1e-4
    while not asks_more(high) and high < 1e4:
        low, high = high, 4.0 * high
    for _ in range(6):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if asks_more(middle) else (middle, high)
    return math.sqrt(low * high)


def cell(kind: str, name: str, stream: str, share: float, seeds: range) -> tuple[float, float, float]:
    """Accuracy in percent with its standard error, and the share of labels, of one algorithm on one stream."""
    accuracies, shares, scale = [], [], math.nan
    for seed in range(seeds.start, seeds.start + max(len(seeds), 10)) if stream == "usenet2" else seeds:
        X, y = STREAMS[stream](np.random.default_rng(1000 + seed))
        if kind == "levels":
            level = LEVELS[name]
            sampler = aw.Sampler(level, aw.BudgetRule(share), prepare=aw.Prepare(), seed=seed)
        elif kind in ("default", "versions"):
            sampler = (GENERATIONS if kind == "default" else VERSIONS)[name](share, seed)
        elif name == DEFAULT:
            sampler = aw.Sampler(rule=aw.BudgetRule(share), seed=seed)
        else:
            build = RULES[name] if kind == "rules" else TUNED[name]
            if name == "random" or name.startswith("Budget"):
                scale = share  # these take the share itself
            elif math.isnan(scale):
                scale = tuned(build, (X, y), share)
            sampler = build(scale, seed)
        trace = sampler.run(X, y, margins=False, trace=False)
        accuracies.append(100.0 * (1.0 - trace.mistakes / trace.rounds))
        shares.append(100.0 * trace.questions / trace.rounds)
    spread = np.std(accuracies) / math.sqrt(len(accuracies))
    return float(np.mean(accuracies)), float(spread), float(np.mean(shares))


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy for labels, by algorithm and stream.")
    parser.add_argument("--default", action="store_true", help="beside its first release, and asking at random")
    parser.add_argument("--versions", action="store_true", help="beside the learner of release 0.1")
    parser.add_argument("--levels", action="store_true", help="AutoLasec beside every single drift level")
    parser.add_argument("--rules", action="store_true", help="ways of asking, over one learner")
    parser.add_argument("--shares", default="0.05,0.1,0.2", help="shares of the labels")
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    chosen = [kind for kind in ("default", "versions", "levels", "rules") if getattr(options, kind)]
    kind = chosen[0] if chosen else "algorithms"
    tables = {"default": GENERATIONS, "versions": VERSIONS, "levels": LEVELS, "rules": RULES}
    tables["algorithms"] = {DEFAULT: None} | TUNED
    names, seeds = list(tables[kind]), range(options.first_seed, options.first_seed + options.seeds)
    streams, shares = options.streams.split(","), [float(share) for share in options.shares.split(",")]
    with ProcessPoolExecutor(options.jobs) as pool:
        work = {
            (name, stream, share): pool.submit(cell, kind, name, stream, share, seeds)
            for share in shares
            for name in names
            for stream in streams
            if not (name.startswith("BBQ") and stream in SPARSE)
        }
        for i, (key, future) in enumerate(work.items()):
            future.result()
            print(f"\r{i + 1} of {len(work)} cells, last {key[0]} on {key[1]}" + 20 * " ", end="", file=sys.stderr)
        print(file=sys.stderr)
    for share in shares:
        print(
            f"\nAccuracy in percent at {share:.0%} of the labels (standard error), and the labels where they differ\n"
        )
        print("| | " + " | ".join(streams) + " | mean |")
        print("|---" * (len(streams) + 2) + "|")
        for name in names:
            cells, accuracies = [], []
            for stream in streams:
                if (name, stream, share) not in work:
                    cells.append("-")
                    continue
                accuracy, spread, used = work[name, stream, share].result()
                differs = f" at {used:.1f} %" if abs(used - 100 * share) > 5 * share else ""
                cells.append(f"{accuracy:.1f} ({spread:.1f}){differs}")
                accuracies.append(accuracy)
            print(f"| {name} | " + " | ".join(cells) + f" | {np.mean(accuracies):.2f} |")


if __name__ == "__main__":
    main()
