"""What do so many labels buy with several classes, here and with the peers? The streams of ``classes.py``.

    python -W ignore benchmarks/class_peers.py [--shares 0.05,0.1,0.2] [--streams ...] [--seeds 5] [--out OUT]
    python -W ignore benchmarks/class_peers.py --quick

The peers see the instances that ``Prepare()`` makes, in the order in which askwhen sees them raw, and are told the
classes, as it is: river's EntropySampler, which takes the certainty of knowing no class for one, asks nothing before.

river brings its logistic regression, one for each class, and its softmax regression, each with AdaGrad and with plain
gradient steps. scikit-activeml's strategies, which bring no model, are given that softmax regression. Vowpal Wabbit's
``--oaa k --active`` lets every class ask for itself and counts what they ask together, so that the rounds asked are
not known; its ``--cs_active k --baseline`` asks for all classes or none, and ``--oaa k --probabilities``, which asks
nothing, is asked for as river does: by entropy.

All peers are tuned in hindsight, which favours them: what decides how much they ask is brought to the share on every
seed, for each of some learning rates, and the rate with the best mean accuracy is taken (of scikit-activeml, which
takes long, the best on the first seed). A negative rate is one of plain gradient steps. river's formulas are compiled,
since it takes minutes for a search; it plays the first seed itself, and a difference from them is an error. The default
of askwhen is told the classes, the share and nothing else.
"""

from __future__ import annotations

import argparse
import importlib.util
import itertools
import json
import math
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numba
import numpy as np
import scipy.sparse as sp

import askwhen as aw
import classes
from field.results import Played
from field.search import tuned
from field.vw_simulation import simulated
from peer_labels import DEFAULT, RANDOM, Peer, frequency, show

RATES = (0.03, 0.1, 0.3, 1.0, 3.0, -0.3, -1.0, -3.0, -10.0)
"""Learning rates of river's models, of AdaGrad and, below zero, of plain steps; instances have about unit length."""

STRATEGY_RATES = (0.1, 0.3, 1.0, 3.0, -1.0, -3.0)
"""Those of the model under scikit-activeml's strategies, which take longer."""

VW_RATES = (0.15, 0.5, 1.5, 5.0, 15.0, 50.0)
COST_RATES = (0.005, 0.015, 0.05, 0.15, 0.5)
"""Those of Vowpal Wabbit's --cs_active, which likes them small."""

STRATEGIES = ("VariableUncertainty", "RandomVariableUncertainty", "Split", "StreamProbabilisticAL")
ORDERED = ("reuters", "reuters90", "rcv1")
GRID = 16
"""Values of a knob that --cs_active is tried with, and again around the best of them."""

HEAD = 500
"""Rounds of a quick look."""


@lru_cache(8)
def raw(name: str, seed: int) -> tuple[Any, np.ndarray]:
    """Instances as they are and labels; ``usps:500`` is the head of a stream."""
    which, _, head = name.partition(":")
    X, y = classes.STREAMS[which](np.random.default_rng(1000 + seed))
    n = int(head) if head else len(y)
    return X[:n], y[:n]


class Prepared(NamedTuple):
    """Prepared instances as rows of the columns that occur, and the place of each label among the k classes."""

    rows: Any
    y: np.ndarray
    k: int


@lru_cache(8)
def _stream(name: str, seed: int) -> Prepared:
    X, labels = raw(name, seed)
    rows = sp.csr_matrix(classes.prepared(X))
    rows.sum_duplicates()
    rows = rows[:, np.unique(rows.indices)]
    known, y = np.unique(labels, return_inverse=True)
    return Prepared(rows, y, len(known))


def order(name: str, seed: int) -> int:
    """The seed that the order of a stream comes from."""
    return 0 if name.partition(":")[0] in ORDERED else seed


def stream(name: str, seed: int) -> Prepared:
    """What the peers see."""
    return _stream(name, order(name, seed))


def _chances(places: Any, values: Any, W: Any, softmax: bool, own: Any, p: Any) -> None:
    """The probability of every class, and what each class has by itself, which is the same for softmax."""
    own[:] = 0.0
    for a in range(len(places)):
        for j in range(len(p)):
            own[j] += values[a] * W[places[a], j]
    top, total = own.max(), 0.0
    for j in range(len(p)):
        own[j] = np.exp(own[j] - top) if softmax else 1.0 / (1.0 + np.exp(-own[j]))
        total += own[j]
    for j in range(len(p)):
        p[j] = own[j] / total if total > 0.0 else 1.0 / len(p)
        if softmax:
            own[j] = p[j]


def _learn(places: Any, values: Any, W: Any, G: Any, own: Any, c: int, rate: float) -> None:
    """A step on a label of class c: of AdaGrad, or with a negative rate a plain one."""
    for a in range(len(places)):
        i, x = places[a], values[a]
        for j in range(len(own)):
            g = x * (own[j] - 1.0 if j == c else own[j])
            if rate > 0.0:
                G[i, j] += g * g
                W[i, j] -= rate / np.sqrt(G[i, j] + 1e-8) * g
            else:
                W[i, j] += rate * g


chances, learn = numba.njit(_chances), numba.njit(_learn)


def _wish(p: Any, discount: float) -> float:
    """The probability of asking: entropy, as a part of the largest there is, to the power of the discount factor."""
    entropy, count = 0.0, 0
    for j in range(len(p)):
        if p[j] > 0.0:
            entropy -= p[j] * np.log(p[j])
            count += 1
    return float((entropy / np.log(count)) ** discount) if entropy > 0.0 and count > 1 else 0.0


wish = numba.njit(_wish)


def _pass(
    ends: Any, places: Any, values: Any, y: Any, W: Any, G: Any, softmax: bool, rate: float, discount: float, draws: Any
) -> tuple[int, int]:
    """How many predictions were right and how many labels asked for."""
    right = asked = 0
    own, p = np.zeros(W.shape[1]), np.zeros(W.shape[1])
    for t in range(len(y)):
        row, x = places[ends[t] : ends[t + 1]], values[ends[t] : ends[t + 1]]
        chances(row, x, W, softmax, own, p)
        right += p.argmax() == y[t]
        if draws[t] < wish(p, discount):
            asked += 1
            learn(row, x, W, G, own, y[t], rate)
    return right, asked


whole_pass = numba.njit(_pass)


def draws(n: int, seed: int) -> np.ndarray:
    """The numbers that river tosses."""
    toss = random.Random(seed)
    return np.array([toss.random() for _ in range(n)])


def formulas(softmax: bool, name: str, seed: int, rate: float, knob: float) -> Played:
    """What river does, compiled."""
    Z, y, k = stream(name, seed)
    W, G = np.zeros((Z.shape[1], k)), np.zeros((Z.shape[1], k))
    right, asked = whole_pass(
        Z.indptr, Z.indices, Z.data, y, W, G, softmax, rate, 1.0 / knob, draws(len(y), seed)
    )  # fmt: skip
    return Played(right / len(y), asked / len(y))


def river(softmax: bool, name: str, seed: int, rate: float, knob: float) -> Played:
    """The same by river itself."""
    from river.active import EntropySampler
    from river.linear_model import LogisticRegression, SoftmaxRegression
    from river.multiclass import OneVsRestClassifier
    from river.optim import SGD, AdaGrad

    Z, y, k = stream(name, seed)
    optimizer = AdaGrad(rate) if rate > 0.0 else SGD(-rate)
    model: Any = SoftmaxRegression(optimizer)
    if softmax:
        for j in range(k):
            model.weights[j]  # a look opens a class
    else:
        model = OneVsRestClassifier(LogisticRegression(optimizer, intercept_lr=0.0))
        model.classifiers.update({j: model.classifier.clone() for j in range(k)})
    asks: Any = EntropySampler(model, discount_factor=1.0 / knob, seed=seed)
    right = asked = 0
    for (places, values), c in zip(classes.rows_of(Z)[0], y.tolist(), strict=True):
        x = dict(zip(places.tolist(), values.tolist(), strict=True))
        prediction, ask = asks.predict_one(x)
        right += prediction == c
        if ask:
            asked += 1
            asks.learn_one(x, c)
    return Played(right / len(y), asked / len(y))


class Linear:
    """Softmax regression over the rows of a stream, or logistic regression for each class."""

    def __init__(self, Z: Prepared, rate: float, softmax: bool = True) -> None:
        self.rows, self.k, self.rate, self.softmax = Z.rows, Z.k, rate, softmax
        self.W, self.G = np.zeros((Z.rows.shape[1], Z.k)), np.zeros((Z.rows.shape[1], Z.k))
        self.p, self.own = np.zeros(Z.k), np.zeros(Z.k)

    def chances(self, i: int) -> np.ndarray:
        """The probability of every class in row i."""
        part = slice(self.rows.indptr[i], self.rows.indptr[i + 1])
        chances(self.rows.indices[part], self.rows.data[part], self.W, self.softmax, self.own, self.p)
        return self.p

    def learn(self, i: int, c: int) -> None:
        """A step on the row that was looked at last."""
        part = slice(self.rows.indptr[i], self.rows.indptr[i + 1])
        learn(self.rows.indices[part], self.rows.data[part], self.W, self.G, self.own, c, self.rate)


@cache
def _tellings(k: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All that one and two labels more may say, and in how many orders."""
    one = np.eye(k)
    pairs = list(itertools.combinations_with_replacement(range(k), 2))
    two = np.array([one[i] + one[j] for i, j in pairs])
    return [(one, np.ones(k)), (two, np.array([1.0 if i == j else 2.0 for i, j in pairs]))]


def reduction(told: np.ndarray, prior: float = 1e-3) -> float:
    """By how much one or two labels more lower the expected cost: scikit-activeml's cost_reduction for one row."""
    alpha = told + prior
    total = alpha.sum()
    now, best = 1.0 - alpha[told.argmax()] / total, -np.inf
    for m, (more, orders) in enumerate(_tellings(len(told)), 1):
        rising = np.where(more == 2.0, alpha * (alpha + 1.0), np.where(more == 1.0, alpha, 1.0)).prod(axis=1)
        chance = orders * rising / (total if m == 1 else total * (total + 1.0))
        places = (told + more).argmax(axis=1)
        each = np.arange(len(more))
        cost = float(chance @ (1.0 - (alpha[places] + more[each, places]) / (total + m)))
        best = max(best, (now - cost) / m)
    return float(best)


def classifier_of(model: Linear, near: Callable[[int, list[int]], float] | None, told: list[int]) -> Any:
    """The model as scikit-activeml's strategies want it; an instance goes by its number."""
    from skactiveml.base import ClassFrequencyEstimator

    class Numbered(ClassFrequencyEstimator):  # type: ignore[misc]
        def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002, what all have
            return self

        def predict_proba(self, X: Any) -> np.ndarray:
            return model.chances(int(X[0, 0]))[None]

        def predict_freq(self, X: Any) -> np.ndarray:
            assert near is not None
            return near(int(X[0, 0]), told) * self.predict_proba(X)

    return Numbered(classes=list(range(model.k)))


def strategy(which: str, name: str, seed: int, rate: float, knob: float) -> Played:
    from skactiveml import stream as strategies

    Z = stream(name, seed)
    model, told, right = Linear(Z, rate), list[int](), 0
    near = frequency(Z.rows.toarray()) if which == "StreamProbabilisticAL" else None
    asks = getattr(strategies, which)(budget=knob, random_state=seed)
    for i, c in enumerate(Z.y.tolist()):
        p, candidate = model.chances(i), np.array([[float(i)]])
        right += int(p.argmax()) == c
        if i == 0:
            chosen, utilities = asks.query(candidate, classifier_of(model, near, told), return_utilities=True)
        else:  # what query comes to, without checking its arguments again
            utilities = np.array([1.0 - p.max() if near is None else reduction(near(i, told) * p)])
            chosen = asks.budget_manager_.query_by_utility(utilities)
        asks.budget_manager_.update(candidate, chosen, **({} if near is None else {"utilities": utilities}))
        if len(chosen) > 0:
            told.append(i)
            model.learn(i, c)
    return Played(right / len(Z.y), len(told) / len(Z.y))


def _bits(Z: Prepared) -> int:
    """Enough for a weight of every class and column."""
    return max(18, math.ceil(math.log2(Z.rows.shape[1] * Z.k)) + 1)


def _lines(Z: Prepared) -> list[str]:
    """The features of every row as Vowpal Wabbit's text."""
    found = (zip(places.tolist(), values.tolist(), strict=True) for places, values in classes.rows_of(Z.rows)[0])
    return ["| " + " ".join(f"{j}:{v:.7g}" for j, v in pairs) for pairs in found]


@lru_cache(1)
def _examples(name: str, seed: int) -> list[Any]:
    from vowpal_wabbit_next import TextFormatParser, Workspace

    Z = stream(name, seed)
    parser = TextFormatParser(Workspace(["--oaa", str(Z.k), "-b", str(_bits(Z)), "--noconstant", "--quiet"]))
    return [parser.parse_line(f"{c + 1} {line}") for c, line in zip(Z.y, _lines(Z), strict=True)]


def one_against_all(name: str, seed: int, rate: float, knob: float) -> Played:
    """Vowpal Wabbit's --oaa with probabilities, asked for by entropy."""
    from vowpal_wabbit_next import Workspace

    Z = stream(name, seed)
    options = f"--oaa {Z.k} --probabilities --loss_function logistic --noconstant -b {_bits(Z)} -l {rate} --quiet"
    model, right, asked = Workspace(options.split()), 0, 0
    tosses = draws(len(Z.y), seed)
    for i, (example, c) in enumerate(zip(_examples(name, order(name, seed)), Z.y.tolist(), strict=True)):
        p = np.array(model.predict_one(example))
        right += int(p.argmax()) == c
        if tosses[i] < wish(p, 1.0 / knob):
            asked += 1
            model.learn_one(example)
    return Played(right / len(Z.y), asked / len(Z.y))


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


@lru_cache(1)
def _costs(name: str, seed: int) -> Path:
    """The stream as text with a cost for every class, in a folder that goes with the process."""
    Z, path = stream(name, seed), Path(_folder().name) / "stream.vw"
    costs = [" ".join(f"{j + 1}:{int(j != c)}" for j in range(Z.k)) for c in range(Z.k)]
    path.write_text("".join(f"{costs[c]} {line}\n" for c, line in zip(Z.y, _lines(Z), strict=True)))
    return path


@cache
def cs_active(name: str, seed: int, rate: float, knob: float) -> Played:
    """Vowpal Wabbit's --cs_active, which with --baseline asks for the costs of all classes or of none."""
    Z, path = stream(name, seed), _costs(name, order(name, seed))
    asked, lines = simulated(
        f"--cs_active {Z.k} --baseline --global_only --adax --mellowness {knob:.9g} -b {_bits(Z)} -l {rate}", path
    )
    assert asked % Z.k == 0
    found = np.array([int(line) - 1 for line in lines])
    return Played(float((found == Z.y).mean()), asked / Z.k / len(Z.y))


def bisected(play: Callable[[float, float], Played], peer: Peer, share: float) -> tuple[float, float]:
    return tuned(play, peer.rates, peer.knobs, share)


def scanned(play: Callable[[float, float], Played], peer: Peer, share: float) -> tuple[float, float]:
    """As bisected, but by trying a grid: where what is asked for jumps, bisection is lost."""
    tries = []
    for rate, knob in itertools.product(peer.rates, np.geomspace(*peer.knobs, GRID).tolist()):
        accuracy, asked = play(rate, knob)
        tries.append((max(0.0, asked - 1.1 * share), -accuracy, rate, knob))
    return min(tries)[2:]


PEERS = {
    "river, one-vs-rest": Peer(partial(formulas, False), "river", RATES, (1e-5, 1e2)),
    "river, softmax": Peer(partial(formulas, True), "river", RATES, (1e-5, 1e2)),
    "VW, --oaa by entropy": Peer(one_against_all, "vowpal_wabbit_next", VW_RATES, (1e-5, 1e2)),
    "VW, --cs_active": Peer(cs_active, "vowpalwabbit", COST_RATES, (3e-5, 0.1), False),
} | {
    f"scikit-activeml, {which}": Peer(
        partial(strategy, which), "skactiveml", STRATEGY_RATES, (0.005, 1.0), which in STRATEGIES[1:3]
    )
    for which in STRATEGIES
}
ITSELF = {"river, one-vs-rest": partial(river, False), "river, softmax": partial(river, True)}
"""What plays the first seed, where others are played by formulas."""


class Cell(NamedTuple):
    """One way of asking on one stream: what came of every seed, the learning rate, and seconds with the search."""

    played: list[Played]
    rate: float
    seconds: float


Key = tuple[str, str, float]


def askwhen(who: str, name: str, seed: int, share: float) -> Played:
    X, y = raw(name, order(name, seed))
    rule = aw.BudgetRule(share) if who == DEFAULT else aw.FixedRate(share)
    trace = aw.Sampler(rule=rule, seed=seed, classes=sorted(set(y.tolist()))).run(X, y)
    return Played(1.0 - trace.mistakes / trace.rounds, trace.questions / trace.rounds)


def searched(who: str, name: str, share: float, seeds: int) -> tuple[float, list[float]]:
    """The rate with the best accuracy of those that keep to the share, and the knob that does so on every seed."""
    peer = PEERS[who]
    search = scanned if peer.play is cs_active else bisected
    looks = 1 if peer.package == "skactiveml" else seeds
    found: dict[float, list[tuple[float, Played]]] = {rate: [] for rate in peer.rates}
    for seed, rate in itertools.product(range(looks), peer.rates):
        once = cache(partial(peer.play, name, seed))
        _, knob = search(once, peer._replace(rates=(rate,)), share)
        found[rate].append((knob, once(rate, knob)))

    def worth(rate: float) -> tuple[float, float]:
        accuracy, asked = np.mean([played for _, played in found[rate]], axis=0)
        return -max(0.0, asked - 1.1 * share), accuracy

    rate = max(peer.rates, key=worth)
    knobs = [knob for knob, _ in found[rate]]
    if search is bisected and looks == seeds:
        return rate, knobs
    for seed in range(seeds):  # those not looked at, or once more between two values of the grid
        knob = knobs[min(seed, looks - 1)]
        near = peer._replace(rates=(rate,), knobs=(knob / 2.0, knob * 2.0))
        knobs[seed : seed + 1] = [search(cache(partial(peer.play, name, seed)), near, share)[1]]
    return rate, knobs


def cell(who: str, name: str, share: float, seeds: int) -> Cell:
    started, rate = time.perf_counter(), 0.0
    if who in (DEFAULT, RANDOM):
        played = [askwhen(who, name, seed, share) for seed in range(seeds)]
    else:
        rate, knobs = searched(who, name, share, seeds)
        played = [PEERS[who].play(name, seed, rate, knob) for seed, knob in enumerate(knobs)]
        if who in ITSELF:
            itself = ITSELF[who](name, 0, rate, knobs[0])
            if abs(itself.accuracy - played[0].accuracy) > 0.01:
                raise SystemExit(f"{who} does not do what its formulas do: {itself} and {played[0]}")
            played[0] = itself
    return Cell(played, rate, time.perf_counter() - started)


def seeds_of(who: str, name: str, seeds: int) -> int:
    """How many seeds there are to play: one where all are the same."""
    return 1 if who in PEERS and not PEERS[who].tosses and order(name, 1) == 0 else seeds


def has_cell(who: str, name: str) -> bool:
    """StreamProbabilisticAL estimates densities with dense arrays only."""
    return not who.endswith("StreamProbabilisticAL") or not sp.issparse(raw(name, 0)[0])


def kept(parser: argparse.ArgumentParser, path: Path | None) -> dict[Key, Cell]:
    """The cells of an earlier run."""
    if path is None or not path.exists():
        return {}
    try:
        return {
            (c["who"], c["stream"], c["share"]): Cell(
                [Played(*played) for played in c["played"]], c["rate"], c["seconds"]
            )
            for c in json.loads(path.read_text())
        }
    except (ValueError, TypeError, KeyError):
        parser.error(f"{path} holds no cells that can be read; name another file")


def keep(path: Path | None, found: dict[Key, Cell]) -> None:
    """Write the cells there are."""
    if path is not None:
        part = path.with_suffix(".part")
        part.write_text(
            json.dumps([{"who": k[0], "stream": k[1], "share": k[2]} | c._asdict() for k, c in found.items()])
        )
        part.replace(path)


def settings(names: list[str], who: list[str], shares: list[float], found: dict[Key, Cell]) -> None:
    """A table of the rates taken, by share, and of the seconds of a cell, its search included."""
    print("\nThe learning rate of each share (negative: plain steps), and seconds for all of them\n")
    print("| | " + " | ".join(names) + " |")
    print("|---" * (len(names) + 1) + "|")
    for person in who:
        texts = []
        for name in names:
            cells = [found[person, name, share] for share in shares if (person, name, share) in found]
            rates = " ".join(f"{cell.rate:g}" for cell in cells) + ", " if person in PEERS else ""
            texts.append(f"{rates}{sum(cell.seconds for cell in cells):.0f} s" if cells else "-")
        print(f"| {person} | " + " | ".join(texts) + " |")


def chosen(parser: argparse.ArgumentParser, options: Any) -> tuple[list[str], list[str], list[float]]:
    """Who, the streams and the shares, or an error that says what is wrong with them."""
    names, who = options.streams.split(","), [DEFAULT, RANDOM]
    for name in names:
        if name not in classes.STREAMS:
            parser.error(f"there is no stream {name!r}; there are {', '.join(classes.STREAMS)}")
    try:
        shares = [float(share) for share in options.shares.split(",")]
    except ValueError:
        parser.error(f"--shares must be numbers with commas between them, got {options.shares!r}")
    if not all(0.0 < share <= 1.0 for share in shares):
        parser.error(f"--shares must be above 0 and at most 1, got {options.shares!r}")
    if options.seeds < 1:
        parser.error("--seeds must be at least 1")
    if not os.environ.get("ASKWHEN_DATA"):
        parser.error("ASKWHEN_DATA must name the folder of the data sets")
    for name, peer in PEERS.items():
        if importlib.util.find_spec(peer.package) is None:
            print(f"{name} is left out: {peer.package} is not installed", file=sys.stderr)
        else:
            who.append(name)
    who = [person for person in who if any(part in person for part in options.who.split(";"))]
    return who, names, shares


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shares", default="0.05,0.1,0.2", help="shares of the labels")
    parser.add_argument("--streams", default=",".join(classes.STREAMS))
    parser.add_argument("--who", default="", help="only those with one of these in their names: river;VW")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="keep finished cells in this file, and go on from it")
    parser.add_argument("--quick", action="store_true", help=f"one seed, a tenth of the labels of {HEAD} rounds")
    options = parser.parse_args()
    who, names, shares = chosen(parser, options)
    if options.quick:
        names, shares, options.seeds = [f"{name}:{HEAD}" for name in names], [0.1], 1
    found = kept(parser, options.out)
    keep(options.out, found)  # an hour is too long to find out that it cannot be written
    wanted = [key for key in itertools.product(names, who, shares) if has_cell(key[1], key[0])]
    for done, (name, person, share) in enumerate(wanted, 1):
        seeds = seeds_of(person, name, options.seeds)
        if (person, name, share) not in found or len(found[person, name, share].played) < seeds:
            found[person, name, share] = cell(person, name, share, seeds)
            keep(options.out, found)
        print(f"\r{f'{done} of {len(wanted)} cells, last {person} on {name}':100}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for share in shares:
        show(share, names, who, {key: cell.played[: options.seeds] for key, cell in found.items()})
    settings(names, who, shares, found)


if __name__ == "__main__":
    main()
