"""What is left of a budget."""

from __future__ import annotations

from ..domain.stream import Stream


def labels_left(stream: Stream, now: float) -> float | None:
    """How many labels may still be asked for, in this period or in all; None where only their share is bounded."""
    return stream.model.sampler.labels_left(now)
