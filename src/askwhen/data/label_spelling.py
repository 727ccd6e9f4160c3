"""Labels that differ only by case or blanks: one label written in several ways, most likely."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..errors import InputWarning

_MOST = 10_000
"""So many different labels are compared at most."""


def folded(label: Any) -> Any:
    """A label in lower case and with single blanks inside, none around it; what is not a text is unchanged."""
    return " ".join(label.split()).lower() if isinstance(label, str) else label


def fold(y: np.ndarray) -> np.ndarray:
    """Labels of which those that differ only by case or blanks are the same."""
    if y.dtype.kind not in "OUS":
        return y
    return np.array([folded(label) for label in y.tolist()], object if y.dtype.kind == "O" else None)


class Spellings:
    """Finds labels that are written like an earlier one but for case or blanks; of ``known`` ones nothing is said."""

    def __init__(self, known: Iterable[Any] = ()) -> None:
        self._first: dict[str, str] = {}
        self._known: set[str] = set()
        self.alike(known)

    def alike(self, labels: Iterable[Any]) -> list[tuple[str, str]]:
        """An earlier label and each new one that is written like it."""
        found = []
        for label in labels:
            if not isinstance(label, str) or label in self._known or len(self._known) >= _MOST:
                continue
            self._known.add(label)
            first = self._first.setdefault(folded(label), label)
            if first != label:
                found.append((first, label))
        return found

    def warn(self, what: str, labels: Iterable[Any], cure: str) -> None:
        """Warn of labels that are alike; ``cure`` says how to make one of them."""
        found = self.alike(labels)
        if not found:
            return
        some = ", ".join(f"{a!r} and {b!r}" for a, b in found[:3])
        more = f", and {len(found) - 3:,} more" if len(found) > 3 else ""
        warnings.warn(
            f"{what} has labels that differ only by case or blanks and are taken for different ones: {some}{more}; "
            f"{cure}.",
            InputWarning,
            stacklevel=3,
        )
