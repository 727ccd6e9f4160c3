"""Raw features made ready for a learner, one instance at a time and without labels."""

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
from .views import ViewsState, let_go, room_for, start_views, statistics_of, width_of

__all__ = [
    "NONE",
    "STANDARD",
    "UNIT",
    "K",
    "Prepare",
    "PrepareState",
    "ViewsState",
    "absorb_row",
    "let_go",
    "moved",
    "room_for",
    "start_views",
    "statistics_of",
    "transform_row",
    "transform_rows",
    "width_of",
]
