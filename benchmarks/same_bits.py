"""Do two commits play the same rounds? Every algorithm of the tests' table, in every form, must give equal bits.

    python benchmarks/same_bits.py                 HEAD against the files as they are
    python benchmarks/same_bits.py OLD NEW         two commits; "." is the files as they are

Each side is played by a process of its own on its own sources: dense and sparse rows, ask and tell as well as run,
several tasks, several classes, and one classifier out of a run. What is compared is a digest of every column of the
traces, of margins, weights and stored instances, and of the further rounds of a saved and loaded sampler. Nothing is
timed.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from commits import ROOT, sources

ROUNDS, DIMENSION = 400, 6


def digest(*things: Any) -> str:
    """One short name for all bits of arrays, matrices and numbers."""
    import numpy as np
    import scipy.sparse as sp

    found = hashlib.sha256()
    for thing in things:
        array = thing.toarray() if sp.issparse(thing) else np.asarray(thing)
        found.update(f"{array.dtype.kind}{array.shape}".encode())
        found.update(
            repr(array.tolist()).encode() if array.dtype.kind in "OU" else np.ascontiguousarray(array).tobytes()
        )
    return found.hexdigest()[:16]


def of_trace(trace: Any) -> str:
    """The bits of a trace."""
    columns = trace.columns()
    return digest(*(columns[name] for name in sorted(columns)), trace.switches)


def of_sampler(sampler: Any, X: Any, y: Any) -> Iterator[tuple[str, str]]:
    """Run, go on from a snapshot, ask and tell, and look at what was learnt."""
    import askwhen as aw

    half = ROUNDS // 2
    yield "run", of_trace(sampler.run(X[:half], y[:half]))
    with tempfile.TemporaryDirectory() as folder:
        sampler.save(f"{folder}/half.askwhen")
        loaded = type(sampler).load(f"{folder}/half.askwhen")
    yield "loaded", of_trace(loaded.run(X[half:], y[half:]))
    late = []
    for t in range(half, ROUNDS):
        ask = sampler.ask(X[t])
        if ask.query:
            late.append((ask, y[t]))
        if len(late) > 3:
            sampler.tell(*late.pop(0))
        yield f"ask {t}", digest(ask.margin, ask.probability, ask.query)
    yield "margins", digest(sampler.margins(X[:50]))
    if isinstance(sampler, aw.Sampler):
        if sampler.classes in (None, [-1, 1]):  # with more classes it is refused
            yield "support", digest(*sampler.support)
        if not sampler.learner.regression:
            overall = aw.evaluate.accuracy(sampler).overall  # its bits: how it is written may change
            yield "accuracy", digest([overall.value, overall.low, overall.high, overall.unbiased])


def cases() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Everything that is played, by name."""
    import numpy as np
    import scipy.sparse as sp

    import askwhen as aw

    table = importlib.import_module("tests.table")
    X, y = aw.data.drifting(ROUNDS, DIMENSION, turn=0.01, seed=5)
    X[np.abs(X) < 0.3] = 0.0
    values = X @ np.arange(1.0, DIMENSION + 1) / 10
    Y = np.column_stack([y, -y, np.where(X[:, 0] > 0, 1, -1)])
    classes = np.array(["ant", "bee", "cat"])[np.arange(ROUNDS) % 3]
    for form, rows in {"dense": X, "sparse": sp.csr_matrix(X)}.items():
        for name, row in table.ROWS.items():
            yield f"{name}, {form}", partial(_one, row.build, rows, values if row.regression else y)
        for name in ("default", "PERCEPTRON-SS", "perceptron, gaussian", "auto, dual"):
            yield f"tasks, {name}, {form}", partial(_tasks, table.ROWS[name].build, rows, Y)
        for learner in (None, aw.Perceptron(), aw.Lasec(1.0, 100.0)):
            yield f"several classes, {learner}, {form}", partial(_several, learner, rows, classes)
        for name in ("PERCEPTRON", "SOP", "WINNOW", "perceptron, gaussian"):
            for how in ("average", "vote", "random", "last"):
                yield f"batch, {name}, {how}, {form}", partial(_batch, table.ROWS[name].build, rows, y, how)


def _one(build: Any, rows: Any, labels: Any) -> dict[str, str]:
    return dict(of_sampler(build(3), rows, labels))


def _tasks(build: Any, rows: Any, labels: Any) -> list[str]:
    return [of_trace(trace) for trace in build(3).run(rows, labels)]


def _several(learner: Any, rows: Any, labels: Any) -> dict[str, str]:
    import askwhen as aw

    return dict(of_sampler(aw.OneVsRest(["ant", "bee", "cat"], learner, seed=3), rows, labels))


def _batch(build: Any, rows: Any, labels: Any, how: str) -> str:
    import askwhen as aw

    made = aw.online_to_batch(build(3), rows, labels, how=how, seed=1)
    return digest(made.decision_function(rows[:50]))


def play(path: str) -> None:
    """Play everything with the sources of this process, and write what it gave."""
    found = {}
    for name, case in cases():
        try:
            found[name] = case()
        except Exception as error:  # a refusal is a result too, if both sides refuse alike
            found[name] = f"{type(error).__name__}"
    Path(path).write_text(json.dumps(found))


def played_by(source: Path) -> dict[str, Any]:
    """What the package in this folder gives."""
    environment = os.environ | {"PYTHONPATH": f"{source}{os.pathsep}{ROOT}"}
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/found.json"
        subprocess.run([sys.executable, __file__, "--play", path], env=environment, check=True)
        found: dict[str, Any] = json.loads(Path(path).read_text())
    return found


def main() -> None:
    """Compare two commits."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("old", nargs="?", default="HEAD")
    options.add_argument("new", nargs="?", default=".")
    options.add_argument("--play", help=argparse.SUPPRESS)
    given = options.parse_args()
    if given.play:
        play(given.play)
        return
    with tempfile.TemporaryDirectory() as name:
        old, new = (played_by(sources(each, Path(name) / f"side{i}")) for i, each in enumerate((given.old, given.new)))
    differ = [name for name in old | new if old.get(name) != new.get(name)]
    for each in differ:
        was, now = old.get(each), new.get(each)
        where = ""
        if isinstance(was, dict) and isinstance(now, dict):
            where = f" from {next(part for part in was if was[part] != now.get(part))!r} on"
        print(f"differs: {each}{where}")
    refused = [name for name, found in new.items() if isinstance(found, str) and found.endswith("Error")]
    print(f"{len(new)} cases played, {len(new) - len(differ)} alike, {len(refused)} of them refused: {refused}")
    sys.exit(1 if differ else 0)


if __name__ == "__main__":
    main()
