"""CapyMOA: forests of MOA that ask by margin, and two semi-supervised methods, which also learn from what is not asked.

The semi-supervised ones bring no way of asking: at random, as CapyMOA's own evaluation gives them labels, or by margin,
whichever is better in hindsight. They are given every instance without its label, unless that is there before the next
round, and again with the label when it is delivered. OSNN needs PyTorch, and knows
two classes. Ten trees, as river's have.
"""

from __future__ import annotations

import os
from functools import partial
from typing import Any

import numpy as np

from ..askers import AtRandom, ByMargin
from ..contract import Method, Stream, Task, dense_only

RANDOM, MARGIN = "at random", "by margin"
TREES = 10
LIMITS = "-Xmx3g -Xss10M -XX:+UseSerialGC"
"""Options of Java: one thread collects garbage, so that processor time is comparable."""


class Moa:
    """A classifier of CapyMOA over the rows of a stream."""

    schemas: tuple[Stream | None, Any] = (None, None)

    def __init__(self, stream: Stream, build: Any, semi_supervised: bool = False) -> None:
        os.environ.setdefault("CAPYMOA_JVM_ARGS", LIMITS)
        from capymoa.core import LabeledInstance
        from capymoa.stream import Schema

        if Moa.schemas[0] is not stream:
            names, labels = [f"x{j}" for j in range(stream.prepared.shape[1])], [str(c) for c in range(stream.k)]
            Moa.schemas = stream, Schema.from_custom([*names, "y"], "y", {"y": labels})
        self.schema = Moa.schemas[1]
        self.stream, self.model, self.made = (
            stream,
            build(self.schema),
            partial(LabeledInstance.from_array, self.schema),
        )
        self.known, self.semi_supervised = set[int](), semi_supervised
        self.last: tuple[int, Any] | None = None
        self.equal = np.full(stream.k, 1.0 / stream.k)

    def chances(self, t: int) -> np.ndarray:
        """Its probabilities, or all equal as long as it knows fewer than two classes."""
        if self.semi_supervised and self.last is not None and self.known:  # SLEADE is made by its first label
            self.model.train_on_unlabeled(self.last[1])
        instance = self.made(self.stream.dense[t], 0)  # neither looks at the label
        self.last = t, instance
        p = self.model.predict_proba(instance) if len(self.known) > 1 else None
        return self.equal if p is None else np.asarray(p, float).ravel()

    def learn(self, t: int, c: int) -> None:
        """One label."""
        self.known.add(c)
        if self.last is not None and self.last[0] == t:
            self.last = None
        self.model.train(self.made(self.stream.dense[t], c))


def forest(which: str, stream: Stream, task: Task) -> ByMargin:
    def build(schema: Any) -> Any:
        from capymoa import classifier

        return getattr(classifier, which)(schema, random_seed=task.seed + 1, ensemble_size=TREES)

    return ByMargin(Moa(stream, build), stream, task)


def semi_supervised(which: str, stream: Stream, task: Task) -> AtRandom | ByMargin:
    def build(schema: Any) -> Any:
        from capymoa import ssl

        if which == "OSNN":
            return ssl.OSNN(schema, optim_steps=20, seed=task.seed + 1)
        return ssl.SLEADE(schema, random_seed=task.seed + 1)

    return (AtRandom if task.setting == RANDOM else ByMargin)(Moa(stream, build, True), stream, task)


def osnn_only(stream: Stream) -> str:
    """Why a stream is left out."""
    return "two labels only" if stream.k > 2 else dense_only(stream)


CAPYMOA, BOTH = ("capymoa",), (RANDOM, MARGIN)
METHODS = [
    Method(
        "CapyMOA, adaptive random forest",
        "CapyMOA",
        partial(forest, "AdaptiveRandomForestClassifier"),
        CAPYMOA,
        refuses=dense_only,
        needs_own_process=True,
    ),
    Method(
        "CapyMOA, streaming random patches",
        "CapyMOA",
        partial(forest, "StreamingRandomPatches"),
        CAPYMOA,
        refuses=dense_only,
        needs_own_process=True,
    ),
    Method(
        "CapyMOA, SLEADE",
        "CapyMOA",
        partial(semi_supervised, "SLEADE"),
        CAPYMOA,
        BOTH,
        refuses=dense_only,
        needs_own_process=True,
    ),
    Method(
        "CapyMOA, OSNN",
        "CapyMOA",
        partial(semi_supervised, "OSNN"),
        ("capymoa", "torch"),
        BOTH,
        refuses=osnn_only,
        needs_own_process=True,
    ),
]
