"""What is taken for what: of two labels, as of several; and of very many labels, the pairs that matter."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from ...engine.engine import Waiting
from ...engine.tally.round_tally import Tally
from ...evaluate.estimation.by_class import ClassAccuracy
from ...evaluate.estimation.estimate import Estimate, by_kind
from ...evaluate.estimation.tally_views import sides_of

MOST_PAIRS = 50


def of_two(tally: Tally, waiting: Iterable[Waiting], alpha: float) -> tuple[list[ClassAccuracy], list[list[Estimate]]]:
    """Both labels of a sampler of two, and of the rounds with each predicted, the share that each label has."""
    sides = sides_of(tally, waiting)
    found = []
    for other, side in ((sides[1], sides[0]), (sides[0], sides[1])):
        precision, recall, f_measure, _ = by_kind(other, side, alpha, None)
        found.append(ClassAccuracy(precision, recall, f_measure, int(side.rounds), int(side.answered)))
    first, second = (replace(each.precision, rounds=each.predicted) for each in found)
    return found, [[first, _rest(first)], [_rest(second), second]]


def _rest(share: Estimate) -> Estimate:
    """What is left of all."""
    return Estimate(1.0 - share.value, 1.0 - share.high, 1.0 - share.low, 1.0 - share.unbiased, share.rounds)


def most_confused(labels: Sequence[Any], rows: list[list[Estimate]], most: int = MOST_PAIRS) -> list[dict[str, Any]]:
    """The pairs of two labels with most instances: what was predicted, what it was, and which share of them."""
    pairs = [
        (cell.value * cell.rounds, a, b)
        for a, row in enumerate(rows)
        for b, cell in enumerate(row)
        if a != b and not math.isnan(cell.value) and cell.value > 0.0
    ]
    worst = sorted(pairs, key=lambda pair: (-pair[0], pair[1:]))[:most]
    return [{"predicted": labels[a], "label": labels[b], "instances": n, "share": rows[a][b]} for n, a, b in worst]
