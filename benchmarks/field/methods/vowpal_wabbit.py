"""Vowpal Wabbit: one against all with probabilities, asked for by entropy; and for two labels its own ``--active``.

``--active`` without ``--simulation`` is a conversation between processes that Vowpal Wabbit's Python package does not
open, and the simulation reads a file whose labels are there at once: it has no late labels.
"""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from ..askers import ByEntropy
from ..contract import Method, Stream, Task
from ..results import Played
from ..vw_simulation import simulated

RATES = (0.15, 0.5, 1.5, 5.0, 15.0)
ACTIVE_RATES = (0.05, 0.5, 5.0, -0.05, -0.5, -5.0)
"""A negative rate is one without --adaptive, which is on by default and makes --simulation sure of its mistakes."""


def line_of(stream: Stream, t: int) -> str:
    """The features of a round as Vowpal Wabbit's text."""
    return "| " + " ".join(f"{j}:{v:.7g}" for j, v in stream.row(t).items())


def bits(stream: Stream) -> int:
    """Enough for a weight of every class and column."""
    return max(18, math.ceil(math.log2(stream.prepared.shape[1] * stream.k)) + 1)


class OneAgainstAll:
    """One model for each class, whose probabilities are normalised."""

    parsed: tuple[Stream | None, list[Any]] = (None, [])
    """The examples of the stream that was parsed last: searches play it many times."""

    def __init__(self, stream: Stream, rate: float) -> None:
        from vowpal_wabbit_next import TextFormatParser, Workspace

        options = f"--oaa {stream.k} --probabilities --loss_function logistic --noconstant -b {bits(stream)} --quiet"
        self.model = Workspace([*options.split(), "-l", str(rate)])
        if OneAgainstAll.parsed[0] is not stream:
            parser = TextFormatParser(self.model)
            lines = [f"{c + 1} {line_of(stream, t)}" for t, c in enumerate(stream.y.tolist())]
            OneAgainstAll.parsed = stream, [parser.parse_line(line) for line in lines]
        self.examples = OneAgainstAll.parsed[1]

    def chances(self, t: int) -> np.ndarray:
        """The probability of every class."""
        return np.array(self.model.predict_one(self.examples[t]))

    def learn(self, t: int, c: int) -> None:  # noqa: ARG002, what all take
        """One label, which is in the example; predictions do not look at it."""
        self.model.learn_one(self.examples[t])


def by_entropy(stream: Stream, task: Task) -> ByEntropy:
    return ByEntropy(OneAgainstAll(stream, task.setting), stream, task)


def active(stream: Stream, task: Task) -> Played:
    """A whole pass of --active --simulation over a file."""
    path = Path(tempfile.gettempdir()) / f"seed-{task.seed}.vw"
    if not path.exists():
        signs = np.where(stream.y > 0, 1, -1)
        path.write_text("".join(f"{sign} {line_of(stream, t)}\n" for t, sign in enumerate(signs)))
    updates = "--invariant --normalized" if task.setting < 0.0 else ""
    asked, lines = simulated(
        f"--active --mellowness {task.knob:.9g} --loss_function logistic -b {bits(stream)} -l {abs(task.setting)} "
        f"{updates} --random_seed {task.seed}",
        path,
    )
    margins = np.array([float(line.split()[0]) for line in lines])
    return Played(float(((margins > 0.0) == (stream.y > 0)).mean()), asked / len(stream.y))


def two_labels_only(stream: Stream) -> str:
    """Why a stream is left out."""
    return "two labels only" if stream.k > 2 else ""


METHODS = [
    Method("VW, by entropy", "Vowpal Wabbit", by_entropy, ("vowpal_wabbit_next",), RATES, (1e-5, 1e2), "late"),
    Method(
        "VW, --active",
        "Vowpal Wabbit",
        needs=("vowpalwabbit",),
        settings=ACTIVE_RATES,
        knobs=(1e-12, 1e4),
        refuses=two_labels_only,
        whole=active,
    ),
]
