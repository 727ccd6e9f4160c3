"""How long does a first use wait for the compiler? CPU time from an empty cache, compared with another commit.

    python benchmarks/compile.py                HEAD against the files as they are
    python benchmarks/compile.py OLD NEW        two commits; "." is the files as they are
    python benchmarks/compile.py --rounds 3     interleaved, the best of so many

A figure is the CPU time of a first use over that of compiling one small function of no importance in the same process,
the mean of several: what else the machine does moves both alike.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from commits import sources

REFERENCES = 5


def reference(x: Any, c: float) -> float:
    """What every other compile is measured by."""
    total = 0.0
    for i in range(len(x)):
        if x[i] > c:
            total += x[i] * c
        else:
            total -= c
    return total


def compile_reference() -> None:
    """Compile the reference once more, as if it never had been."""
    import numba
    import numpy as np

    made: Any = numba.njit(reference)
    made(np.zeros(3), 1.0)


def play(learner: str) -> dict[str, float]:
    """The first run, then ask and tell, then CSR, of one kind of sampler; in units of the reference."""
    import numpy as np
    import scipy.sparse as sp

    import askwhen as aw

    X = np.random.default_rng(0).standard_normal((300, 5))
    y = np.where(X[:, 0] > 0, 1, -1)

    def made() -> Any:
        if learner == "the default":
            return aw.Sampler(seed=1)
        return aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=1)

    live = made()

    def ask() -> None:
        for i in range(len(X)):
            asked = live.ask(X[i])
            if asked.query:
                live.tell(asked, int(y[i]))

    def timed(work: Callable[[], Any]) -> float:
        begin = time.process_time()
        work()
        return time.process_time() - begin

    made().rule.start()  # imports what is imported late
    compile_reference()  # loads the compiler itself
    units = [timed(compile_reference) for _ in range(REFERENCES)]
    names = {"first run": lambda: made().run(X, y), "ask and tell": ask, "CSR": lambda: made().run(sp.csr_matrix(X), y)}
    found = {}
    for name, work in names.items():
        found[f"{learner}, {name}"] = timed(work)
        units += [timed(compile_reference) for _ in range(REFERENCES)]
    unit = sum(units) / len(units)
    return {name: seconds / unit for name, seconds in found.items()}


def played_by(source: Path) -> dict[str, float]:
    """What a fresh process with an empty cache waits for, with the package in this folder."""
    found: dict[str, float] = {}
    for learner in ("Perceptron", "the default"):
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"PYTHONPATH": str(source), "XDG_CACHE_HOME": folder}
            environment.pop("NUMBA_CACHE_DIR", None)
            command = [sys.executable, __file__, "--play", learner]
            done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
            found |= json.loads(done.stdout)
    return found


def main() -> None:
    """Compare two commits."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", nargs="?", default="HEAD")
    options.add_argument("new", nargs="?", default=".")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--play", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.play:
        print(json.dumps(play(given.play)))
        return
    best: list[dict[str, float]] = [{}, {}]
    with tempfile.TemporaryDirectory() as name:
        sides = [sources(each, Path(name) / f"side{i}") for i, each in enumerate((given.old, given.new))]
        for _ in range(given.rounds):
            for kept, side in zip(best, sides, strict=True):
                for what, cost in played_by(side).items():
                    kept[what] = min(cost, kept.get(what, cost))
    print(f"{'in units of one small function':32} {given.old[:10]:>10} {given.new[:10]:>10}")
    for what, old in best[0].items():
        print(f"{what:32} {old:10.1f} {best[1][what]:10.1f} {best[1][what] / old:7.0%}")


if __name__ == "__main__":
    main()
