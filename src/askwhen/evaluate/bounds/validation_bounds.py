"""Bounds on the error of a classifier for independent examples, from "Batch learning via online prediction"."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import InputError
from ...validation import check_count, check_number


def progressive_validation(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """Upper bound on the error of a uniformly picked hypothesis; it fails with probability delta.

    "Batch learning via online prediction", Proposition 2.

    From the mistakes that were made in n rounds of predicting before learning, on independent examples.

    Parameters
    ----------
    mistakes : int or array of int
        Number of mistakes.
    rounds : int
        Number of rounds, or of examples.
    delta : float, default 0.05
        Probability that the bound fails.
    """
    return _validated("progressive_validation", mistakes, rounds, delta)


def hold_out(mistakes: Any, rounds: int, delta: float = 0.05) -> Any:
    """Upper bound on the error of a classifier; it fails with probability delta.

    "Batch learning via online prediction", Proposition 1.

    From its mistakes on so many examples that it was not made with.

    Parameters
    ----------
    mistakes : int or array of int
        Number of mistakes.
    rounds : int
        Number of rounds, or of examples.
    delta : float, default 0.05
        Probability that the bound fails.
    """
    return _validated("hold_out", mistakes, rounds, delta)


def _validated(owner: str, mistakes: Any, rounds: int, delta: float) -> Any:
    check_number(owner, "delta", delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count(owner, "rounds", rounds)
    try:
        found = np.asarray(mistakes, float)
    except (TypeError, ValueError):
        found = np.array(math.nan)
    if found.size == 0 or not ((found >= 0) & (found <= rounds)).all():
        raise InputError(f"mistakes must be between 0 and the rounds, {rounds}, got {mistakes!r}.", owner=owner)
    return (float(found) if found.ndim == 0 else found) / rounds + math.sqrt(math.log(1 / delta) / (2 * rounds))
