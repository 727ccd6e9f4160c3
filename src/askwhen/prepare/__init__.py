"""Preparation of raw features for a learner: scaling and views, one instance at a time and without labels."""

from .standardise import (
    NONE,
    STANDARD,
    UNIT,
    K,
    Prepare,
    PrepareState,
    absorb_row,
    moved,
    transform_row,
    transform_rows,
)
from .views import (
    ViewsState,
    as_always,
    empty_output,
    entries_of,
    held_rows,
    is_sparse_after,
    let_go,
    start_views,
    statistics_of,
    width_of,
)

__all__ = [
    "NONE",
    "STANDARD",
    "UNIT",
    "K",
    "Prepare",
    "PrepareState",
    "ViewsState",
    "absorb_row",
    "as_always",
    "empty_output",
    "entries_of",
    "held_rows",
    "is_sparse_after",
    "let_go",
    "moved",
    "start_views",
    "statistics_of",
    "transform_row",
    "transform_rows",
    "width_of",
]
