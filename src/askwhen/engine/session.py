"""The compiled side of an engine: its states in one frame, and the functions that are compiled for their types."""

from __future__ import annotations

from typing import Any, Protocol, cast

import numpy as np

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.drift import NoDrift
from ..contracts.learner import State
from ..contracts.sampler import Parts
from ..linalg.rows import Row, SparseRow, example_rows, in_order, row
from ..prepare import absorb_row, transform_row
from ..rules.audit import AuditState
from .round.each_class import EachState, calls_of
from .round.live_row import LiveRow
from .round.rounds import Board, ask_round, tell_round
from .round.step_table import drift_calls

_NO_FORMS = np.zeros(0)
_FLOAT64, _INT32 = np.dtype(np.float64), np.dtype(np.int32)
_new = tuple.__new__  # makes a NamedTuple without the cost of its keywords


class Stateful(Protocol):
    """What a session reads of an engine."""

    parts: Parts
    regression: bool
    audit: AuditState

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
        """What is counted in every round."""

    @property
    def prepare(self) -> State:
        """The state of what prepares instances, or None."""

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
        """Whether instances are sparse as they come."""


class Session:
    """What rounds one by one are played with.

    ``frame`` holds the states in a block of memory, with its address; it is None where a state was replaced since.
    ``ask`` and ``tell`` are compiled rounds, ``live`` is the memory for the instance of a round, and ``preparing``,
    ``transform`` and ``absorb`` prepare it where that is needed.
    """

    def __init__(self) -> None:
        self.frame: tuple[Any, int] | None = None
        self.live: Any = None
        self.ask: Any = None
        self.tell: Any = None
        self.preparing: Any = None
        self.transform: Any = None
        self.absorb: Any = None
        self._board: Any = None
        self._alone: Any = None
        self._kind: Any = None
        self._in_order: Any = None

    def invalidate(self) -> None:
        """Drop the frame, because a state was replaced; what is compiled stays."""
        self.frame = self._board = self._alone = None

    def compile(self, engine: Stateful) -> tuple[Any, int]:
        """Make the frame of the states as they are, and the rounds for them, which take a while to compile."""
        learner, sparse = engine.parts.learner, engine.takes_sparse
        frame, kind = self.board(engine)
        if kind is not self._kind:
            self._kind = None
            self.live = LiveRow(engine.dimension, engine.sees_sparse)
            self.tell = entry_point(tell_round, kind, 0, 1.0, True, 0, 1, 1.0, True, 1.0, what=learner)
            if sparse:
                self._in_order = entry_point(in_order, row(example_rows(sparse), 0), 1)
            self.ask = entry_point(ask_round, kind, 0, 0, 0.0, 0.5, what=learner)
            self._kind = kind
        if engine.prepare is not None:
            x, seen = (row(example_rows(form), 0) for form in (sparse, engine.sees_sparse))
            self.preparing, preparing = new_frame(engine.prepare)
            self.transform = entry_point(transform_row, preparing, x, seen)
            self.absorb = entry_point(absorb_row, preparing, x)
        self.frame = frame
        return frame

    def board(self, engine: Stateful) -> tuple[tuple[Any, int], Any]:
        """A frame of the states as they are, with all that must be held as long as it is used; and its kind."""
        if self._board is None:
            sparse, detector = engine.sees_sparse, engine.drift
            if engine.classes is not None and not isinstance(detector, NoDrift):  # it reads the learner's last margins
                each = engine.learner.q if isinstance(engine.learner, EachState) else _NO_FORMS
                detector = detector._replace(margins=engine.learner.mean, forms=each)
            drift, watching = drift_calls(detector, sparse, engine.parts.drift)
            learner, learning = calls_of(engine.learner, sparse, drift.state != 0, engine.parts.learner)
            board = Board(learner, engine.rule, engine.audit, drift, engine.tally, engine.regression)
            (block, address), kind = new_frame(board)
            self._board = ((block, learning, watching, new_frame(engine.tally)), address), kind
        return cast(tuple[tuple[Any, int], Any], self._board)

    def learner_alone(self, engine: Stateful) -> tuple[int, Any]:
        """The address of the learner without a round around it, and the type of that address."""
        if self._alone is None:
            calls, block = calls_of(engine.learner, engine.sees_sparse, False, engine.parts.learner)
            (held, address), kind = new_frame(calls)
            self._alone = (address, kind), (held, block)
        return cast(tuple[int, Any], self._alone[0])

    def plain_row(self, x: Any, d: int) -> SparseRow | None:
        """A row of a CSR matrix as it is, or None where its form or its order must be checked."""
        data, indices, pointers = x.data, x.indices, x.indptr.tolist()
        if data.dtype is not _FLOAT64 or indices.dtype is not _INT32 or len(pointers) != 2:
            return None
        if not (data.flags.carray and indices.flags.carray):
            return None
        found: SparseRow = _new(SparseRow, (data, indices.view(np.uint32), *pointers))
        return found if self._in_order(found, d) else None

    def room_for(self, x: Row, more: int) -> Row:
        """Memory for what the learner sees of x, with so many entries more where it is sparse."""
        seen = self.live.row
        return cast(Row, self.live.room(x.stop - x.start + more) if isinstance(x, SparseRow) and seen is None else seen)
