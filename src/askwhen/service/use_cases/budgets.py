"""Labels that are left of a budget."""

from __future__ import annotations

from ..domain.stream import ServiceStream


def labels_left(stream: ServiceStream, now: float) -> float | None:
    """Number of labels that may still be asked for, in this period or in all; None where only a share is given."""
    return stream.model.sampler.labels_left(now)
