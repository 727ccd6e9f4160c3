"""The tallies of classes and labels in a snapshot: names of the stored arrays, and how they are read back."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contracts.learner import is_sound
from ..engine.tally.class_tally import STORED, ClassTally
from ..engine.tally.label_tally import STORED as STORED_OF_LABELS
from ..engine.tally.label_tally import LabelTally
from ..errors import SnapshotError
from .header import CONTRADICTION


def stored_arrays(tally: ClassTally | LabelTally) -> tuple[str, ...]:
    """Names of the arrays of a tally that are stored in files."""
    return STORED if isinstance(tally, ClassTally) else STORED_OF_LABELS


def with_stored_arrays(tally: Any, arrays: dict[str, np.ndarray]) -> Any:
    """The same tally of classes or labels, with the arrays of a snapshot."""
    names = stored_arrays(tally)
    found = tally._replace(**{name: arrays[f"classes.{name}"].copy() for name in names})
    shapes = [getattr(found, name).shape == getattr(tally, name).shape for name in names]
    if not all(shapes) or not all(getattr(found, name).dtype == float for name in names) or not is_sound(found):
        raise SnapshotError(CONTRADICTION, owner="load")
    return found
