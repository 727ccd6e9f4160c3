"""What accuracy do so many labels buy here, and with the peers? Every stream, the same features, the same labels.

    python benchmarks/peer_labels.py [--shares 0.05,0.1,0.2] [--streams ...] [--seeds 5] [--jobs 2] [--json OUT]
    python benchmarks/peer_labels.py --lend

The peers see the instances that ``Prepare()`` makes, in the order in which askwhen sees them raw. With ``--lend`` they
are given what the default makes of dense ones besides: the deviation, and (but for Vowpal Wabbit, which reads a file)
the labels given in the last few rounds.

The peers bring a linear model each: river its
LogisticRegression under EntropySampler, Vowpal Wabbit its own under --active --simulation, and scikit-activeml's
strategies, which bring none, the same logistic regression as river's. The peers are tuned in hindsight, on the first
seed of each stream and share: what decides how much they ask is brought to the share of labels by bisection, for each
of some learning rates, and the rate with the best accuracy is taken. The default of askwhen is told the share and
nothing else. Seeds shuffle the streams that have no order. A peer that is not installed is left out with a line.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

import askwhen as aw
import classes
from field.results import Played, leading, text_of
from field.search import tuned
from field.vw_simulation import simulated
from streams import DRIFTING, STILL

STREAMS = DRIFTING | STILL
RATES = (0.1, 1.0, 10.0)
"""Learning rates of the peers' models; instances have about unit length."""

VW_RATES = (0.05, 0.5, 5.0, -0.05, -0.5, -5.0)
"""Those of Vowpal Wabbit; a negative one is without --adaptive."""

DEFAULT = "askwhen, default"
RANDOM = "askwhen, at random"
STRATEGIES = ("FixedUncertainty", "VariableUncertainty", "Split", "StreamProbabilisticAL")
ORDERED = ("elec2", "usenet2", "spam", "rcv1", "reuters")
STILL_ROWS = 5_000
"""Streams that do not drift are cut here: some peers take milliseconds for a round."""


LENT = "ASKWHEN_LENT"
"""Set in the environment, for all processes: the peers are given the features of the default."""

FADES = np.exp([-1 / 3, -1 / 30])


def deviations(Z: np.ndarray) -> np.ndarray:
    """Distance of each row from the recent running mean."""
    mean, found = np.zeros(Z.shape[1]), np.zeros_like(Z)
    for i, z in enumerate(Z):
        found[i] = z - mean if i else 0.0
        mean += max(1 / 20, 1 / (i + 1)) * (z - mean)
    return found


@lru_cache(2)
def raw(name: str, seed: int) -> tuple[Any, np.ndarray]:
    """The instances of a stream as they are, and their labels."""
    X, y = STREAMS[name](np.random.default_rng(1000 + seed))
    return (X[:STILL_ROWS], y[:STILL_ROWS]) if name in STILL else (X, y)


@lru_cache(2)
def stream(name: str, seed: int) -> tuple[Any, np.ndarray]:
    """The prepared instances of a stream, and their labels."""
    X, y = raw(name, seed)
    seen: Any = classes.prepared(X)
    if os.environ.get(LENT) and not sp.issparse(X):
        seen = np.hstack([seen, deviations(seen[:, : X.shape[1]])])
    return seen, np.asarray(y, float)


class Logistic:
    """Logistic regression by stochastic gradient steps: the formula of river's, over arrays."""

    def __init__(self, X: Any, rate: float) -> None:
        self.sparse = sp.issparse(X)
        self.lent = bool(os.environ.get(LENT)) and not self.sparse
        self.X, self.rate, self.w = X, rate, np.zeros(X.shape[1] + 2 * self.lent)
        self.labels, self.told, self.now = np.zeros(2), np.zeros(2), 0

    def row(self, i: int) -> tuple[Any, Any]:
        """Where the values of row i are, and what they are."""
        if self.lent:
            fade = FADES ** (i - self.now)
            self.labels, self.told, self.now = fade * self.labels, fade * self.told, i
            return slice(None), np.append(self.X[i], self.labels / (self.told + 0.5))
        if not self.sparse:
            return slice(None), self.X[i]
        first, last = self.X.indptr[i], self.X.indptr[i + 1]
        return self.X.indices[first:last], self.X.data[first:last]

    def chance(self, i: int) -> float:
        """The probability that row i is positive."""
        places, x = self.row(i)
        return 1.0 / (1.0 + math.exp(-min(max(float(self.w[places] @ x), -500.0), 500.0)))

    def learn(self, i: int, label: float) -> None:
        """One gradient step."""
        places, x = self.row(i)
        self.w[places] += self.rate * ((label > 0) - self.chance(i)) * x
        self.hear(label)

    def hear(self, label: float) -> None:
        """Note a label that is given."""
        self.labels, self.told = self.labels + label, self.told + 1


def askwhen(who: str, name: str, seed: int, share: float) -> Played:
    X, y = raw(name, seed)
    rule = aw.BudgetRule(share) if who == DEFAULT else aw.FixedRate(share)
    trace = aw.Sampler(rule=rule, seed=seed).run(X, y, margins=False, trace=False)
    return Played(1.0 - trace.mistakes / trace.rounds, trace.questions / trace.rounds)


def entropy_sampler(name: str, seed: int, rate: float, knob: float) -> Played:
    from river.active import EntropySampler
    from river.linear_model import LogisticRegression
    from river.optim import SGD

    X, y = stream(name, seed)
    rows = Logistic(X, rate)
    model: Any = EntropySampler(LogisticRegression(SGD(rate), intercept_lr=0.0), discount_factor=1.0 / knob, seed=seed)
    wrong = asked = 0
    for i, label in enumerate(y.tolist()):
        places, values = rows.row(i)
        keys = range(len(values)) if isinstance(places, slice) else places.tolist()
        x = dict(zip(keys, values.tolist(), strict=True))
        prediction, ask = model.predict_one(x)
        wrong += bool(prediction) != (label > 0)
        if ask:
            asked += 1
            model.learn_one(x, label > 0)
            rows.hear(label)
    return Played(1.0 - wrong / len(y), asked / len(y))


def frequency(X: np.ndarray) -> Callable[[int, list[int]], float]:
    """How often something like row i was told: scikit-activeml's kernel estimate with gamma="mean", kept up to date."""
    kept, total, squares = np.empty((1024, X.shape[1])), np.zeros(X.shape[1]), np.zeros(X.shape[1])
    taken = 0

    def near(i: int, told: list[int]) -> float:
        nonlocal kept, taken
        while taken < len(told):
            if taken == len(kept):
                kept = np.concatenate([kept, np.empty_like(kept)])
            x = X[told[taken]]
            kept[taken] = x
            total[:] += x
            squares[:] += x * x
            taken += 1
        if taken == 0:
            return 0.0
        n = max(2, taken)
        spread = float(np.sum(squares / taken - (total / taken) ** 2))
        gamma = (n - 1) * math.log((n - 1) / 2e-12) / (4.0 * n * spread) if spread > 1e-12 else 1.0 / X.shape[1]
        difference = kept[:taken] - X[i]
        return float(np.exp(-gamma * np.einsum("ij,ij->i", difference, difference)).sum())

    return near


def classifier_of(model: Logistic, near: Callable[[int, list[int]], float] | None, told: list[int]) -> Any:
    """The model as scikit-activeml's strategies want it; an instance goes by its number."""
    from skactiveml.base import ClassFrequencyEstimator

    class Numbered(ClassFrequencyEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002, what all have
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            p = model.chance(int(X[0, 0]))
            return np.array([[1.0 - p, p]])

        def predict_freq(self, X: Any) -> np.ndarray:
            assert near is not None
            return near(int(X[0, 0]), told) * self.predict_proba(X)

    return Numbered(classes=[0, 1])


def utility(clf: Any, candidate: np.ndarray, probabilistic: bool) -> np.ndarray:
    """How useful a label is to the strategies: uncertainty, or the expected reduction of cost."""
    if probabilistic:
        from skactiveml.pool import cost_reduction

        return np.asarray(cost_reduction(clf.predict_freq(candidate), prior=1e-3, m_max=2))
    return np.asarray(1.0 - clf.predict_proba(candidate).max(axis=1))


def strategy(which: str, name: str, seed: int, rate: float, knob: float) -> Played:
    from skactiveml import stream as strategies

    X, y = stream(name, seed)
    model = Logistic(X, rate)
    told: list[int] = []
    probabilistic = which == "StreamProbabilisticAL"
    clf = classifier_of(model, frequency(X) if probabilistic else None, told)
    needed: dict[str, Any] = {"classes": [0, 1]} if which == "FixedUncertainty" else {}
    asks = getattr(strategies, which)(budget=knob, random_state=seed, **needed)
    wrong = 0
    for i, label in enumerate(y):
        wrong += (model.chance(i) > 0.5) != (label > 0)
        candidate = np.array([[float(i)]])
        if i == 0:
            chosen, utilities = asks.query(candidate, clf, return_utilities=True)
        else:  # what query comes to, without checking its arguments again, which takes three times as long
            utilities = utility(clf, candidate, probabilistic)
            chosen = asks.budget_manager_.query_by_utility(utilities)
        more = {"utilities": utilities} if probabilistic else {}
        asks.budget_manager_.update(candidate, chosen, **more)
        if len(chosen) > 0:
            told.append(i)
            model.learn(i, label)
    return Played(1.0 - wrong / len(y), len(told) / len(y))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@lru_cache(1)
def vw_file(name: str, seed: int) -> Path:
    """The stream as Vowpal Wabbit's text, in a folder that goes with the process."""
    X, y = stream(name, seed)
    rows, path = Logistic(X, 0.0), Path(_folder().name) / "stream.vw"
    with path.open("w") as file:
        for i, label in enumerate(y):
            places, values = rows.row(i)
            keys = range(len(values)) if isinstance(places, slice) else places.tolist()
            pairs = " ".join(f"{j}:{v:.7g}" for j, v in zip(keys, values.tolist(), strict=True) if v != 0.0)
            file.write(f"{label:.0f} | {pairs}\n")
    return path


def vowpal_wabbit(name: str, seed: int, rate: float, knob: float) -> Played:
    """A negative rate is one without --adaptive, which is on by default and makes --simulation sure of its mistakes."""
    path, y = vw_file(name, seed), stream(name, seed)[1]
    updates = "--invariant --normalized" if rate < 0.0 else ""
    asked, lines = simulated(
        f"--active --mellowness {knob:.9g} --loss_function logistic -b 18 -l {abs(rate)} "
        f"{updates} --random_seed {seed}",
        path,
    )
    margins = np.array([float(line.split()[0]) for line in lines])
    return Played(float(((margins > 0.0) == (y > 0.0)).mean()), asked / len(y))


class Peer(NamedTuple):
    """A way of asking: play(stream, seed, rate, knob), where it comes from, and what is tuned."""

    play: Callable[[str, int, float, float], Played]
    package: str
    rates: tuple[float, ...]
    knobs: tuple[float, float]
    tosses: bool = True


PEERS = {
    "river, EntropySampler": Peer(entropy_sampler, "river", RATES, (1e-4, 1e2)),
    "VW, --active": Peer(vowpal_wabbit, "vowpalwabbit", VW_RATES, (1e-12, 1e4)),
} | {
    f"scikit-activeml, {which}": Peer(partial(strategy, which), "skactiveml", RATES, (0.005, 1.0), which == "Split")
    for which in STRATEGIES
}


def cell(who: str, name: str, share: float, seeds: int) -> list[Played]:
    """One way of asking on one stream."""
    if who in (DEFAULT, RANDOM):
        return [askwhen(who, name, seed, share) for seed in range(seeds)]
    peer = PEERS[who]
    rate, knob = tuned(partial(peer.play, name, 0), peer.rates, peer.knobs, share)
    if name in ORDERED and not peer.tosses:
        seeds = 1  # every seed is the same
    return [peer.play(name, seed, rate, knob) for seed in range(seeds)]


def has_cell(who: str, name: str) -> bool:
    """StreamProbabilisticAL estimates densities with dense arrays only."""
    return not who.endswith("StreamProbabilisticAL") or not sp.issparse(stream(name, 0)[0])


def show(share: float, names: list[str], who: list[str], found: dict[tuple[str, str, float], list[Played]]) -> None:
    """A table of one share: mean accuracy with its standard error; bold is the best that keeps to the share."""
    print(f"\nAccuracy in percent with {share:.0%} of the labels (standard error), and the labels where they differ\n")
    print("| | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    leads = {
        name: leading({person: found[person, name, share] for person in who if (person, name, share) in found}, share)
        for name in names
    }
    for person in who:
        texts = []
        for name in names:
            cells = found.get((person, name, share))
            texts.append("-" if cells is None else text_of(cells, share, person in leads[name]))
        print(f"| {person} | " + " | ".join(texts) + " |")


def chosen(parser: argparse.ArgumentParser, options: Any) -> tuple[list[str], list[float]]:
    """The streams and the shares, or an error that says what is wrong with them."""
    names = options.streams.split(",")
    for name in names:
        if name not in STREAMS:
            parser.error(f"there is no stream {name!r}; there are {', '.join(STREAMS)}")
    try:
        shares = [float(share) for share in options.shares.split(",")]
    except ValueError:
        parser.error(f"--shares must be numbers with commas between them, got {options.shares!r}")
    if not all(0.0 < share <= 1.0 for share in shares):
        parser.error(f"--shares must be above 0 and at most 1, got {options.shares!r}")
    if options.seeds < 1 or options.jobs < 1:
        parser.error("--seeds and --jobs must be at least 1")
    if not os.environ.get("ASKWHEN_DATA"):
        parser.error("ASKWHEN_DATA must name the folder of the data sets")
    return names, shares


def kept(parser: argparse.ArgumentParser, options: Any) -> dict[tuple[str, str, float], list[Played]]:
    """The cells of an earlier run with the same number of seeds."""
    if options.json is None or not options.json.exists():
        keep(options, {})  # an hour is too long to find out that it cannot be written
        return {}
    try:
        saved = json.loads(options.json.read_text())
        if saved["seeds"] != options.seeds:
            parser.error(f"{options.json} is of {saved['seeds']} seeds; name another file")
        cells = saved["cells"]
        return {(c["who"], c["stream"], c["share"]): [Played(*played) for played in c["played"]] for c in cells}
    except (ValueError, TypeError, KeyError):
        parser.error(f"{options.json} holds no cells that can be read; name another file")


def keep(options: Any, found: dict[tuple[str, str, float], list[Played]]) -> None:
    """Write the number of seeds and the finished cells: who, stream, share, and [accuracy, asked] of every seed."""
    if options.json is not None:
        cells = [{"who": k[0], "stream": k[1], "share": k[2], "played": v} for k, v in found.items()]
        whole = options.json.with_suffix(".part")
        whole.write_text(json.dumps({"seeds": options.seeds, "cells": cells}))
        whole.replace(options.json)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shares", default="0.05,0.1,0.2", help="shares of the labels")
    parser.add_argument("--streams", default=",".join(STREAMS))
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", type=Path, help="keep finished cells in this file, and go on from it")
    parser.add_argument("--ours", action="store_true", help="no peers: the default, and its learner asking at random")
    parser.add_argument("--lend", action="store_true", help="give the peers the features of the default")
    options = parser.parse_args()
    if options.lend:
        os.environ[LENT] = "1"
    names, shares = chosen(parser, options)
    who = [DEFAULT, RANDOM]
    for name, peer in () if options.ours else PEERS.items():
        if importlib.util.find_spec(peer.package) is None:
            print(f"{name} is left out: {peer.package} is not installed", file=sys.stderr)
        else:
            who.append(name)
    found = kept(parser, options)
    wanted = [key for key in itertools.product(who, names, shares) if key not in found and has_cell(*key[:2])]
    with ProcessPoolExecutor(options.jobs) as pool:
        work = {pool.submit(cell, *key, options.seeds): key for key in wanted}
        for done, future in enumerate(as_completed(work), 1):
            key = work[future]
            found[key] = future.result()
            print(f"\r{done} of {len(work)} cells, last {key[0]} on {key[1]}" + 20 * " ", end="", file=sys.stderr)
            keep(options, found)
    print(file=sys.stderr)
    for share in shares:
        show(share, names, who, found)


if __name__ == "__main__":
    main()
