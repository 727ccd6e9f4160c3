"""What a method and a stream are, and the one loop that plays every method through every stream.

Labels may be late: what is asked for in round t is delivered before round t + delay is predicted, in the order in which
it was asked for, whatever the method. Delivered at once means before the next round is predicted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

import classes

from .results import Played

WIDEST = 2_000
"""Wider streams are not made dense."""

SPARE = 10
"""So many labels a purse has before the first round."""


@dataclass
class Stream:
    """The rows of a stream in their order, each label as its place among the classes."""

    name: str
    X: Any
    y: np.ndarray
    labels: list[Any]
    ordered: bool

    @property
    def k(self) -> int:
        """How many classes there are."""
        return len(self.labels)

    @cached_property
    def prepared(self) -> sp.csr_matrix:
        """The instances as ``Prepare()`` makes them, which all but askwhen see: a column for each that occurs."""
        rows = sp.csr_matrix(classes.prepared(self.X))
        rows.sum_duplicates()
        return rows[:, np.unique(rows.indices)]

    @cached_property
    def dense(self) -> np.ndarray:
        """The same as an array."""
        return np.asarray(self.prepared.toarray())

    def row(self, t: int) -> dict[int, float]:
        """The prepared instance of a round as a dictionary, without zeros."""
        part = slice(self.prepared.indptr[t], self.prepared.indptr[t + 1])
        return dict(zip(self.prepared.indices[part].tolist(), self.prepared.data[part].tolist(), strict=True))


@dataclass(frozen=True)
class Source:
    """A stream that can be had: ``rows(rng)`` gives its instances and labels.

    *ordered* streams are the same for every seed. *needs_data* says that files of ``ASKWHEN_DATA`` are read.
    """

    name: str
    about: str
    rows: Callable[[np.random.Generator], tuple[Any, np.ndarray]]
    ordered: bool = False
    needs_data: bool = True

    def stream(self, seed: int, most: int) -> Stream:
        """Its first rounds, in the order of this seed."""
        X, y = self.rows(np.random.default_rng(1000 + (0 if self.ordered else seed)))
        labels, places = np.unique(np.asarray(y)[:most], return_inverse=True)
        return Stream(self.name, X[:most], places, labels.tolist(), self.ordered)


class Task(NamedTuple):
    """What a learner is told before the first round."""

    share: float
    seed: int
    setting: Any = None
    knob: float = 0.0


class Learner(Protocol):
    """A method at work on one stream."""

    def predict(self, t: int) -> tuple[int, bool]:
        """The predicted place among the classes in round t, and whether to ask for the label."""

    def learn(self, t: int, c: int) -> None:
        """The label of round t has come: its place among the classes."""


def takes_all(stream: Stream) -> str:
    """No reason to leave a stream out."""
    return ""


def dense_only(stream: Stream) -> str:
    """Why a wide stream is left out by a method that needs every value of every row."""
    width = stream.prepared.shape[1]
    return f"dense rows only, and {width:,} columns" if width > WIDEST else ""


@dataclass(frozen=True)
class Method:
    """A method: ``start(stream, task)`` makes a learner for one run.

    *settings* are tried in hindsight. *knobs* are the ends of what decides how much is asked, for methods that are not
    told the share. *purse* says when it may ask only while it has asked for less than the share of the rounds so far,
    plus ten: methods with a budget of their own never need that, others ask about everything as long as their first
    labels have not come. *refuses* says why a stream is left out. *draws* says whether seeds differ where the stream
    is the same. *whole* plays a run by itself, for what cannot be played round by round: only labels at once.
    *needs_own_process* is for packages that must not be imported before a process is copied, such as those that start
    Java.
    """

    name: str
    package: str
    start: Callable[[Stream, Task], Learner] | None = None
    needs: tuple[str, ...] = ()
    settings: tuple[Any, ...] = (None,)
    knobs: tuple[float, float] | None = None
    purse: str = "never"
    refuses: Callable[[Stream], str] = takes_all
    draws: bool = True
    whole: Callable[[Stream, Task], Played] | None = None
    needs_own_process: bool = False


def play(method: Method, stream: Stream, task: Task, delay: int) -> Played:
    """One run through a stream."""
    if method.start is None:
        assert method.whole is not None
        return method.whole(stream, task)
    learner, y = method.start(stream, task), stream.y.tolist()
    has_purse = method.purse == "always" or (method.purse == "late" and delay > 1)
    waiting: deque[int] = deque()
    right = asked = 0
    for t, c in enumerate(y):
        while waiting and waiting[0] + max(delay, 1) <= t:
            there = waiting.popleft()
            learner.learn(there, y[there])
        predicted, asks = learner.predict(t)
        right += predicted == c
        if asks and (not has_purse or asked < min(task.share * (t + 1) + SPARE, task.share * len(y))):
            asked += 1
            waiting.append(t)
    return Played(right / len(y), asked / len(y))
