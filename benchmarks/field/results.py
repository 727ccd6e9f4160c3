"""What a run through a stream comes to, and which of several leads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

OVER = 1.1
"""A method keeps to a share if it asks for at most this many times as much."""


class Played(NamedTuple):
    """Results of one run through a stream: shares of all rounds."""

    accuracy: float
    asked: float


def mean_of(cells: Sequence[Played]) -> Played:
    """The means over the seeds."""
    return Played(*(float(value) for value in np.mean(cells, axis=0)))


def leading(found: Mapping[str, Sequence[Played]], share: float) -> set[str]:
    """The best of those that keep to the share; more than one if they are equal."""
    means = {who: mean_of(cells) for who, cells in found.items()}
    keeping = {who: mean.accuracy for who, mean in means.items() if mean.asked <= OVER * share}
    return {who for who, accuracy in keeping.items() if accuracy >= max(keeping.values())}


def text_of(cells: Sequence[Played], share: float, leads: bool) -> str:
    """Accuracy in percent with its standard error, and the share of labels where it differs by a twentieth."""
    accuracy, asked = mean_of(cells)
    values = [played.accuracy for played in cells]
    error = float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(set(values)) > 1 else 0.0
    text = f"**{100 * accuracy:.1f}**" if leads else f"{100 * accuracy:.1f}"
    text += f" ({100 * error:.1f})" if error > 0.0 else ""
    return text + (f" at {100 * asked:.1f} %" if abs(asked - share) > 0.05 * share else "")
