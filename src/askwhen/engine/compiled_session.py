"""The compiled side of an engine: its states in one block of memory, and the functions compiled for their types."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.drift import NoDrift
from ..contracts.learner import State
from ..contracts.sampler import Parts
from ..linalg.rows import Row, SparseRow, example_rows, in_order, row
from ..prepare import PrepareState, ViewsState, absorb_row, entries_of, transform_row
from ..rules.audit import AuditState
from .round.ahead import ahead_context
from .round.each_class import EachState, calls_of
from .round.live_row import LiveRow
from .round.rounds import RoundContext, ask_round, tell_round
from .round.step_table import drift_calls

_NO_FORMS = np.zeros(0)
_FLOAT64, _INT32 = np.dtype(np.float64), np.dtype(np.int32)
_new = tuple.__new__  # makes a NamedTuple without the cost of its keywords


class Stateful(Protocol):
    """The attributes of an engine that a session reads."""

    parts: Parts
    regression: bool
    audit: AuditState
    known: np.ndarray

    @property
    def learner(self) -> State:
        """The state of the learner."""

    @property
    def rule(self) -> State:
        """The state of the rule."""

    @property
    def drift(self) -> State:
        """The state of the drift detector."""

    @property
    def tally(self) -> State:
        """The counts and sums of every round."""

    @property
    def prepare(self) -> State:
        """The state of the preparation of instances, or None."""

    @property
    def classes(self) -> list[Any] | None:
        """The classes, or None."""

    @property
    def dimension(self) -> int:
        """The dimension of what the learner sees."""

    @property
    def sees_sparse(self) -> bool:
        """Whether the learner sees sparse rows."""

    @property
    def takes_sparse(self) -> bool:
        """Whether instances are sparse before they are prepared."""


class CompiledSession:
    """Compiled functions and memory for playing rounds one by one.

    ``frame`` is a block of memory with all states, and its address; it is None after a state was replaced. ``ask`` and
    ``tell`` are the compiled rounds, and ``live`` is the memory for the instance of a round; ``held`` is the number of
    the round whose instance is there as its question stores it, or -1. ``is_plain`` says that nothing but the learner,
    the rule and the drift detector takes part in a round: neither classes nor costs, numbers, a promise or advisers;
    ``labels_vary`` that the number of labels may change from one round to the next. ``preparing``, ``transform`` and
    ``absorb`` prepare instances; they are None where nothing is prepared.
    """

    def __init__(self) -> None:
        self.frame: tuple[Any, int] | None = None
        self.live: Any = None
        self.held = -1
        self.is_plain = self.labels_vary = False
        self.ask: Any = None
        self.tell: Any = None
        self.preparing: Any = None
        self.transform: Any = None
        self.absorb: Any = None
        self._context: Any = None
        self._ahead: Any = None
        self._alone: Any = None
        self._kind: Any = None
        self._in_order: Any = None

    def invalidate(self) -> None:
        """Drop the frame, because a state was replaced; compiled functions stay."""
        self.frame = self._context = self._ahead = self._alone = None

    def compile(self, engine: Stateful) -> tuple[Any, int]:
        """Make the frame of the current states, and compile the rounds for their types, which may take seconds."""
        learner, sparse = engine.parts.learner, engine.takes_sparse
        frame, kind = self.context(engine)
        if kind is not self._kind:
            self._kind = None  # until everything below is compiled: an interrupt must not leave half of it in use
            self.live, self.held = LiveRow(engine.dimension, engine.sees_sparse), -1
            self.tell = entry_point(tell_round, kind, 0, 1.0, True, 0, 1, 1.0, True, 1.0, what=learner)
            if sparse and engine.prepare is not None:
                self._in_order = entry_point(in_order, row(example_rows(sparse), 0), 1)
            self.ask = entry_point(ask_round, kind, 0, 0, 0.0, 0.5, 0, 0.5, what=learner)
            self._kind = kind
        if engine.prepare is not None:
            x, seen = (row(example_rows(form), 0) for form in (sparse, engine.sees_sparse))
            self.preparing, preparing = new_frame(engine.prepare)
            self.transform = entry_point(transform_row, preparing, x, seen)
            self.absorb = entry_point(absorb_row, preparing, x)
        self.frame = frame
        return frame

    def context(self, engine: Stateful) -> tuple[tuple[Any, int], Any]:
        """A frame of the current states, with everything that must stay alive while it is used; and its type."""
        if self._context is None:
            sparse, detector = engine.sees_sparse, engine.drift
            if engine.classes is not None and not isinstance(detector, NoDrift):  # it reads the learner's last margins
                each = engine.learner.q if isinstance(engine.learner, EachState) else _NO_FORMS
                detector = detector._replace(margins=engine.learner.mean, forms=each)
            drift, watching = drift_calls(detector, sparse, engine.parts.drift)
            learner, learning = calls_of(engine.learner, sparse, drift.state != 0, engine.parts.learner)
            states = (learner, engine.rule, engine.audit, drift, engine.tally)
            context = RoundContext(*states, engine.known, engine.regression)
            (block, address), kind = new_frame(context)
            self._context = ((block, learning, watching, new_frame(engine.tally)), address), kind
        return cast(tuple[tuple[Any, int], Any], self._context)

    def ahead(self, engine: Stateful) -> tuple[int, Any]:
        """The address of the states for rounds that are played ahead, and the type of that address."""
        if self._ahead is None:
            states = (engine.learner, engine.rule, engine.tally)
            held, address, kind = ahead_context(*states, engine.sees_sparse, engine.parts.learner)
            self._ahead = (address, kind), held
        return cast(tuple[int, Any], self._ahead[0])

    def learner_alone(self, engine: Stateful) -> tuple[int, Any]:
        """The address of the learner for use without a round, and the type of that address."""
        if self._alone is None:
            calls, block = calls_of(engine.learner, engine.sees_sparse, False, engine.parts.learner)
            (held, address), kind = new_frame(calls)
            self._alone = (address, kind), (held, block)
        return cast(tuple[int, Any], self._alone[0])

    def plain_row(self, x: Any, d: int) -> SparseRow | None:
        """A row of a CSR matrix without a copy, or None where it must be converted or sorted first."""
        data, indices, pointers = x.data, x.indices, x.indptr.tolist()
        if data.dtype is not _FLOAT64 or indices.dtype is not _INT32 or len(pointers) != 2:
            return None
        if not (data.flags.carray and indices.flags.carray):
            return None
        found: SparseRow = _new(SparseRow, (data, indices.view(np.uint32), *pointers))
        is_sound = self.live.store(found) if self.preparing is None else self._in_order(found, d)
        return found if is_sound else None

    def buffer_for(self, x: Row, prepare: PrepareState | ViewsState) -> Row:
        """Memory for the prepared form of x."""
        seen = self.live.row
        if isinstance(x, SparseRow) and seen is None:
            return cast(Row, self.live.buffer(entries_of(prepare, x)))
        return cast(Row, seen)
