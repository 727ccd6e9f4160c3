"""Notes how a promise on delivered labels stands while a labelled stream is played, chunk by chunk."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...rules import PromiseRule
from ...sampler import Sampler
from ...trace.trace import Trace
from ..progress import PromiseHistory

_FEWEST, _PART = 50, 64


def rows_until_next(played: int) -> int:
    """Number of rows in the next chunk, so that a curve has some 60 points in every doubling of the stream."""
    return max(_FEWEST, played // _PART)


class PromiseRecorder:
    """What a sampler promises after every chunk; :meth:`of` gives None where its rule is another one."""

    def __init__(self, sampler: Sampler) -> None:
        self._sampler = sampler
        self._counts = np.zeros(4, np.int64)
        self._lines: list[tuple[float, ...]] = []

    @classmethod
    def of(cls, sampler: Sampler) -> PromiseRecorder | None:
        """The recorder of a sampler that promises."""
        return cls(sampler) if isinstance(sampler.rule, PromiseRule) and not sampler.tasks else None

    def add(self, trace: Trace, y: Any) -> None:
        """Note the rounds of a chunk, which were just played, and where the promise stands now."""
        within, promise = self._sampler.rule.within, self._sampler.promise
        wrong = trace.mistaken if within is None else np.abs(trace.margin - np.asarray(y, float)) > within
        delivered = ~trace.withheld
        counts = (trace.rounds, trace.questions, delivered.sum(), (wrong & delivered & ~trace.queried).sum())
        self._counts += np.array(counts, np.int64)
        estimated = promise.estimated
        self._lines.append((*self._counts.tolist(), promise.certified, np.nan if estimated is None else estimated))

    def history(self) -> PromiseHistory:
        """What was noted."""
        table = np.array(self._lines, float).reshape(-1, 6)
        rounds, questions, delivered, wrong = table[:, :4].astype(np.int64).T
        promise = self._sampler.promise
        return PromiseHistory(
            promise.error, promise.confidence, rounds, questions, delivered, wrong, table[:, 4], table[:, 5]
        )
