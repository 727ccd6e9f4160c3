"""What advisers say of the rows of a stream that is played again and again, in the order of each time."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import numpy as np

from ...contracts.abilities import CalledAdviser, LearningAdviser, provides


def rows_at(values: Any, order: np.ndarray) -> Any:
    """Rows of an array, a matrix, a table or a list in this order."""
    if isinstance(values, (list, tuple)):
        return [values[i] for i in order.tolist()]
    return values.iloc[order] if hasattr(values, "iloc") else values[order]


def advice_of_run(advice: Mapping[str, Any], order: np.ndarray | None) -> dict[str, Any]:
    """Advice for one run in this order; advisers that learn are copied, so that they learn in no other run."""
    own = {name: deepcopy(said) if provides(said, LearningAdviser) else said for name, said in advice.items()}
    return own if order is None else {name: _said_at(said, order) for name, said in own.items()}


def _said_at(said: Any, order: np.ndarray) -> Any:
    """What an adviser says of rows in this order: labels, labels with confidences, or probabilities."""
    if provides(said, LearningAdviser):
        return said
    if provides(said, CalledAdviser):
        return said.at_rows(order)
    return tuple(rows_at(part, order) for part in said) if isinstance(said, tuple) else rows_at(said, order)
