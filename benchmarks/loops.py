"""The loops whose instructions are counted: each plays so many rounds, or reads so many lines. See check.py.

python benchmarks/loops.py            play each once, so that it is compiled
python benchmarks/loops.py MARKS.so   under callgrind: count each separately
"""

from __future__ import annotations

import ctypes
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import askwhen as aw
from workloads import text_like, unit_norm


class Loop(NamedTuple):
    """Something to be counted, and how many rounds, or lines, it does."""

    call: Callable[[], Any]
    rounds: int


def plays(build: Callable[[], aw.Sampler], X: Any, y: np.ndarray, **more: bool) -> Loop:
    return Loop(lambda: build().run(X, y, **more), len(y))


def one_by_one(X: np.ndarray, y: np.ndarray) -> Loop:
    rows, labels = list(X), y.tolist()

    def call() -> None:
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
        for x, label in zip(rows, labels, strict=True):
            sampler.tell(sampler.ask(x), label)

    return Loop(call, len(y))


def reads(folder: Path, X: Any, y: np.ndarray) -> Loop:
    path = folder / "rows.svm"
    lines = []
    for i in range(len(y)):
        pairs = zip(X[i].indices.tolist(), X[i].data.tolist(), strict=True)
        lines.append(f"{y[i]:.0f} " + " ".join(f"{j + 1}:{v:.6f}" for j, v in pairs))
    path.write_text("\n".join(lines) + "\n")
    return Loop(lambda: [len(labels) for _, labels in aw.data.read(path, n_features=X.shape[1])], len(y))


def loops(folder: Path) -> dict[str, Loop]:
    """All of them, by name."""
    W1, W3, tall = unit_norm(4_000, 50), text_like(4_000), unit_norm(1_000, 256)
    return {
        "Perceptron, CSR": plays(lambda: aw.Sampler(aw.Perceptron(), aw.Always(), seed=0), *W3),
        "SEL-P, CSR": plays(lambda: aw.paper("SEL-P", b=0.1, seed=0), *W3),
        "Perceptron, d = 50": plays(lambda: aw.Sampler(aw.Perceptron(), aw.Always(), seed=0), *W1),
        "Perceptron, d = 5, hardly asked": plays(
            lambda: aw.Sampler(aw.Perceptron(), aw.MarginRule(1e-9), seed=0), *unit_norm(20_000, 5)
        ),
        "PA-I, d = 50": plays(lambda: aw.Sampler(aw.PassiveAggressive1(1.0), aw.Always(), seed=0), *W1),
        "LASEC-SS, d = 50": plays(lambda: aw.paper("LASEC-SS", b=1.0, c=300.0, a=0.01, seed=0), *W1),
        "LASEC-SS, d = 50, margins=False": plays(
            lambda: aw.paper("LASEC-SS", b=1.0, c=300.0, a=0.01, seed=0), *W1, margins=False
        ),
        "SEL-2ND, d = 256": plays(lambda: aw.paper("SEL-2ND", b=0.1, seed=0), *tall),
        "the default, d = 50": plays(lambda: aw.Sampler(seed=0), *W1, margins=False),
        "kernel Perceptron, d = 50, budget 200": plays(
            lambda: aw.Sampler(aw.Perceptron(kernel=aw.Gaussian(1.0), budget=200), aw.Always(), seed=0), *W1
        ),
        "ask and tell, Perceptron, d = 50": one_by_one(*W1),
        "svmlight lines of 76 pairs": reads(folder, *W3),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        found = loops(Path(folder))
        if len(sys.argv) == 1:
            for loop in found.values():
                loop.call()
            return
        marks = ctypes.CDLL(sys.argv[1])
        for name, loop in found.items():
            loop.call()  # whatever happens only once
            marks.begin()
            loop.call()
            marks.end(f"{name}|{loop.rounds}".encode())
            print(f"counted {name}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
