"""The tallies of classes and labels in a snapshot: which of their arrays are stored, and how they are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contracts.learner import is_sound
from ..engine.tally.class_tally import KEPT, ClassTally
from ..engine.tally.label_tally import KEPT as KEPT_OF_LABELS
from ..engine.tally.label_tally import LabelTally
from ..errors import SnapshotError
from .header import CONTRADICTION


def kept_of(tally: ClassTally | LabelTally) -> tuple[str, ...]:
    """What of a tally is kept in files."""
    return KEPT if isinstance(tally, ClassTally) else KEPT_OF_LABELS


def with_kept(tally: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The same tally of classes, or labels, with the arrays of a snapshot."""
    names = kept_of(tally)
    found = tally._replace(**{name: arrays[f"classes.{name}"].copy() for name in names})
    shapes = [getattr(found, name).shape == getattr(tally, name).shape for name in names]
    if not all(shapes) or not all(getattr(found, name).dtype == float for name in names) or not is_sound(found):
        raise SnapshotError(CONTRADICTION, owner="load")
    return found
