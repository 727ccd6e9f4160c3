"""Confusion matrices of two labels, in the same form as those of several, and the most confused pairs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...engine.engine import Waiting
from ...engine.tally.round_tally import Tally
from ...evaluate.estimation.by_class import ClassAccuracy
from ...evaluate.estimation.by_kind import by_kind
from ...evaluate.estimation.estimate import Estimate
from ...evaluate.estimation.tally_views import sides_of

MOST_PAIRS = 50


def of_two(tally: Tally, waiting: Iterable[Waiting], alpha: float) -> tuple[list[ClassAccuracy], list[list[Estimate]]]:
    """The accuracy of both labels of a binary sampler, and for each predicted label the shares of the true ones."""
    sides = sides_of(tally, waiting)
    found = []
    for other, side in ((sides[1], sides[0]), (sides[0], sides[1])):
        precision, recall, f_measure, _ = by_kind(other, side, alpha, None)
        found.append(ClassAccuracy(precision, recall, f_measure, int(side.rounds), int(side.answered)))
    first, second = (replace(each.precision, rounds=each.predicted) for each in found)
    return found, [[first, _rest(first)], [_rest(second), second]]


def _rest(share: Estimate) -> Estimate:
    """The complement of a share."""
    value, low, high, unbiased = (1.0 - each for each in (share.value, share.high, share.low, share.unbiased))
    return replace(share, value=value, low=low, high=high, unbiased=unbiased)


def most_confused(labels: Sequence[Any], rows: list[list[Estimate]], most: int = MOST_PAIRS) -> list[dict[str, Any]]:
    """The most frequent confusions: prediction, label, and its share of the instances with that prediction."""
    pairs = [
        (cell.value * cell.rounds, a, b)
        for a, row in enumerate(rows)
        for b, cell in enumerate(row)
        if a != b and not math.isnan(cell.value) and cell.value > 0.0
    ]
    worst = sorted(pairs, key=lambda pair: (-pair[0], pair[1:]))[:most]
    return [{"predicted": labels[a], "label": labels[b], "instances": n, "share": rows[a][b]} for n, a, b in worst]
