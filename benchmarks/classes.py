"""What do so many labels buy with several classes? Real streams, the default and its alternatives.

    python benchmarks/classes.py [--shares 0.05,0.1,0.2] [--seeds 3] [--streams digits,usps,...]

The default is ``Sampler(classes=...)``; *AutoLasec* is the same with that learner, the first release's. *Softmax* is
multinomial logistic regression with AdaGrad, river's formula over arrays, which asks by its entropy; it is brought to
the share by bisection for each of some learning rates, on the first seed: in hindsight. Everyone sees what
``Prepare()`` makes of instances. At the end, rounds in a second with ten classes and with two.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import load
from askwhen.engine.inputs.instance_checks import check_instances
from askwhen.prepare import empty_output, transform_rows

RATES = (0.03, 0.1, 0.3)


def digits(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    order = rng.permutation(len(y))
    return X[order], y[order]


def usps(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    found = load("usps")
    order = rng.permutation(len(found.y))
    return np.asarray(found.X)[order], np.asarray(found.y).astype(int)[order]


def switching(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """Five classes, 20 features, a new target every 1,000 rounds."""
    X, targets = rng.standard_normal((6000, 20)), rng.standard_normal((6, 20, 5))
    return X, np.array([(x @ targets[i // 1000]).argmax() for i, x in enumerate(X)])


def _topics(name: str, most: int) -> tuple[Any, np.ndarray]:
    """Documents with one of the most frequent topics, the most frequent that each has, at most 8,000 of them."""
    found = load(name)
    counts = (found.y > 0).sum(axis=0)
    top = [j for j in np.argsort(-counts, kind="stable") if found.names[j] not in ("MCAT", "M143") and counts[j]][:most]
    has = found.y[:, top] > 0
    rows = np.flatnonzero(has.any(axis=1))[:8000]
    return sp.csr_matrix(found.X[rows]), has[rows].argmax(axis=1)


def reuters(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """The ten most frequent topics, in order of date."""
    return _topics("reuters", 10)


def reuters90(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """The ninety most frequent topics."""
    return _topics("reuters", 90)


def rcv1(rng: np.random.Generator) -> tuple[Any, np.ndarray]:
    """The four most frequent topics."""
    return _topics("rcv1", 4)


STREAMS: dict[str, Callable[[np.random.Generator], tuple[Any, np.ndarray]]] = {
    each.__name__: each for each in (digits, usps, reuters, reuters90, rcv1, switching)
}
Row = tuple[np.ndarray, np.ndarray]


class Softmax:
    """Multinomial logistic regression by AdaGrad, over the places and values of a row."""

    def __init__(self, d: int, k: int, rate: float) -> None:
        self.W, self.G, self.rate = np.zeros((d, k)), np.full((d, k), 1e-8), rate

    def chances(self, x: Row) -> np.ndarray:
        """The probability of every class."""
        e = x[1] @ self.W[x[0]]
        e = np.exp(e - e.max())
        return np.asarray(e / e.sum())

    def learn(self, x: Row, p: np.ndarray, c: int) -> None:
        """One step on a label of class c, which was given the probabilities p."""
        p = p.copy()
        p[c] -= 1.0
        g = np.outer(x[1], p)
        self.G[x[0]] += g * g
        self.W[x[0]] -= self.rate * g / np.sqrt(self.G[x[0]])


def rows_of(Z: Any) -> tuple[list[Row], int]:
    """The places and values of every row, and the dimension."""
    Z = sp.csr_matrix(Z)
    ends = Z.indptr
    return [(Z.indices[a:b], Z.data[a:b]) for a, b in itertools.pairwise(ends)], Z.shape[1]


def softmax(
    Z: tuple[list[Row], int], y: np.ndarray, k: int, rate: float, knob: float, seed: int
) -> tuple[float, float]:
    """Accuracy, and the share of labels, of asking with probability exp(-knob (1 - entropy))."""
    model, rng, right, asked = Softmax(Z[1], k, rate), np.random.default_rng([seed, 9]), 0, 0
    for x, c in zip(Z[0], y, strict=True):
        p = model.chances(x)
        right += int(p.argmax() == c)
        entropy = -(p * np.log(np.maximum(p, 1e-12))).sum() / np.log(k)
        if rng.random() < np.exp(-knob * (1.0 - entropy)):
            asked += 1
            model.learn(x, p, int(c))
    return right / len(y), asked / len(y)


def tuned(Z: tuple[list[Row], int], y: np.ndarray, k: int, share: float) -> tuple[float, float]:
    """The rate and the knob that do best at this share, in hindsight."""
    best = (-1.0, 0.1, 1.0)
    for rate in RATES:
        low, high = 0.0, 200.0
        for _ in range(8):
            knob = 0.5 * (low + high)
            right, asked = softmax(Z, y, k, rate, knob, 0)
            low, high = (knob, high) if asked > share else (low, knob)
        if right > best[0] and asked < 1.1 * share:
            best = (right, rate, knob)
    return best[1], best[2]


def prepared(X: Any) -> Any:
    """What ``Prepare()`` makes of instances."""
    state, rows = aw.Prepare().start(X.shape[1], sp.issparse(X)), check_instances("stream", X, None)
    out: Any = empty_output(state, rows)
    transform_rows(state, rows, X.shape[0], out, True)
    if not sp.issparse(X):
        return out.X
    return sp.csr_matrix((out.data, out.indices.astype(np.int32), out.indptr), (X.shape[0], X.shape[1] + 1))


def main() -> None:
    parser = argparse.ArgumentParser(description="Accuracy for labels with several classes.")
    parser.add_argument("--shares", default="0.05,0.1,0.2")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--streams", default=",".join(STREAMS))
    options = parser.parse_args()
    shares = [float(share) for share in options.shares.split(",")]
    print("| stream | labels | default | at random | AutoLasec | softmax, in hindsight |\n|---|---|---|---|---|---|")
    for name in options.streams.split(","):
        for share in shares:
            found: dict[str, list[float]] = {}
            for seed in range(options.seeds):
                X, y = STREAMS[name](np.random.default_rng(1000 + seed))
                classes = sorted(set(y.tolist()))
                rule = aw.BudgetRule(share)
                made: dict[str, Any] = {
                    "default": aw.Sampler(rule=rule, seed=seed, classes=classes),
                    "at random": aw.Sampler(rule=aw.FixedRate(share), seed=seed, classes=classes),
                }
                if not sp.issparse(X):  # in dual form, with matrices for each of ten or ninety classes
                    settings: Any = {"prepare": aw.Prepare(), "seed": seed, "classes": classes}
                    made["AutoLasec"] = aw.Sampler(aw.AutoLasec(), rule, **settings)
                for who, sampler in made.items():
                    trace = sampler.run(X, y)
                    found.setdefault(who, []).append(1.0 - trace.mistakes / trace.rounds)
                Z, places = rows_of(prepared(X)), np.searchsorted(classes, y)
                if seed == 0:
                    letters = tuned(Z, places, len(classes), share)
                found.setdefault("softmax", []).append(softmax(Z, places, len(classes), *letters, seed)[0])
                print(f"\r{name} {share:g}: seed {seed}", end="", file=sys.stderr, flush=True)
            errors = [np.std(v, ddof=1) / np.sqrt(len(v)) if len(v) > 1 else 0.0 for v in found.values()]
            cells = [f"{100 * np.mean(v):.1f} ({100 * e:.1f})" for v, e in zip(found.values(), errors, strict=True)]
            if "AutoLasec" not in found:
                cells.insert(2, "")
            print(f"| {name} | {share:.0%} | {' | '.join(cells)} |", flush=True)
    speed()


def speed() -> None:
    """Rounds in a second with ten classes and with two, d = 50, 10 % asked, interleaved, best of five."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((10_000, 50))
    y = (X @ rng.standard_normal((50, 10))).argmax(axis=1)
    learners: dict[str, Any] = {"default": None, "Perceptron": aw.Perceptron(), "AutoLasec": aw.AutoLasec()}
    learners["Lasec, queried"] = aw.Lasec(1.0, 300.0, update="queried")
    print("\n| d = 50, 10 % asked | ten classes, rounds a second | two labels | ten classes take |\n|---|---|---|---|")
    for name, learner in learners.items():
        best = {"ten": np.inf, "two": np.inf}
        for _ in range(5):
            for kind, classes, labels in (("ten", range(10), y), ("two", None, np.where(y < 5, 1, -1))):
                sampler = aw.Sampler(learner, aw.BudgetRule(0.1), seed=1, classes=classes)
                started = time.perf_counter()
                sampler.run(X, labels)
                best[kind] = min(best[kind], time.perf_counter() - started)
        ten, two = len(y) / best["ten"], len(y) / best["two"]
        print(f"| {name} | {ten:,.0f} | {two:,.0f} | {two / ten:.2f} times as long |")


if __name__ == "__main__":
    main()
