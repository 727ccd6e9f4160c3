"""What a sampler is made of, and what it provides: all that labelling, evaluation and services need to know of one."""

from __future__ import annotations

from typing import Any, NamedTuple


class Parts(NamedTuple):
    """The parameters that a sampler is made of."""

    learner: Any
    rule: Any
    drift: Any = None
    prepare: Any = None
    audit: Any = None
