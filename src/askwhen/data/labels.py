"""Labels as people write them, made -1 and +1."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError

_WORDS = {"true": 1.0, "false": -1.0, "yes": 1.0, "no": -1.0, "+1": 1.0, "1": 1.0, "-1": -1.0, "0": -1.0}


def check_positive(positive: Any, target: str) -> None:
    """Refuse a positive label where there is no such thing."""
    if positive is not None and target != "binary":
        raise InputError(f"read: positive is only for target='binary', got target={target!r}.")


def signs(y: np.ndarray, positive: Any, path: Any, before: int) -> np.ndarray:
    """-1 and +1: by the positive label, or of -1 and +1, 0 and 1, true and false."""
    y = np.asarray(y)
    if positive is not None:
        if y.dtype.kind == "b":
            positive = _WORDS.get(str(positive).lower(), positive) if isinstance(positive, str) else positive
            return np.where(y == (_as_number(positive, path) > 0), 1.0, -1.0)
        if y.dtype.kind in "iuf":
            return np.where(y.astype(float) == _as_number(positive, path), 1.0, -1.0)
        return np.where(y.astype(str) == str(positive), 1.0, -1.0)
    if y.dtype.kind in "biuf":
        found = np.where(y == 0, -1.0, y.astype(float))
    else:
        found = np.array([_WORDS.get(str(label).lower(), np.nan) for label in y])
    bad = np.flatnonzero((found != 1.0) & (found != -1.0))
    if len(bad):
        strange = y[bad[0]].item() if hasattr(y[bad[0]], "item") else y[bad[0]]
        raise InputError(
            f"read: {path} has the label {strange!r} in instance {before + bad[0]}; labels must be -1 and +1, or 0 and "
            "1, or name the one that is positive=."
        )
    return found


def _as_number(positive: Any, path: Any) -> float:
    try:
        return float(positive)
    except (TypeError, ValueError):
        raise InputError(
            f"read: the labels of {path} are numbers, so positive must be one, got {positive!r}."
        ) from None
