"""Which algorithm, with which letters, for a stream like this: progressive validation on its head."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from ...algorithms import Algorithm, algorithm
from ...engine.inputs.argument_checks import check_classes
from ...errors import InputError
from ...prepare import Prepare
from ...validation import check_count, check_number, check_seed
from .. import bounds
from .cluster import workers_of
from .rate_matching import matched
from .workers import Watch

GRID: dict[str, tuple[Any, ...]] = {
    "b": (0.1, 1.0, 10.0),
    "c": (1.0, 10.0, 100.0, 1000.0),
    "C": (0.01, 0.1, 1.0, 10.0),
    "eta": (0.01, 0.1, 0.5),
    "lam": (0.0001, 0.001, 0.01, 0.1),
    "B": (50, 200, 800),
}
"""What is tried for each letter of a learner."""

CANDIDATES = ("default", "lasec-ss", "sop-ss", "perceptron-ss", "pa-i-active", "bbq")
"""What is tried where no algorithm is named."""


@dataclass(frozen=True)
class Tried:
    """An algorithm with its letters: the share asked, the accuracy, and an upper bound on its expected error.

    Attributes
    ----------
    algorithm : str
        Its name.
    letters : dict
        Its hyperparameters.
    asked, accuracy : float
        Shares of the rounds of the head.
    error_bound : float
        Upper bound on its expected error, by progressive validation.
    """

    algorithm: str
    letters: dict[str, Any]
    asked: float
    accuracy: float
    error_bound: float


def tune(
    X: Any,
    y: Any,
    share: float = 0.1,
    algorithms: Iterable[str] = CANDIDATES,
    *,
    letters: dict[str, Any] | None = None,
    prepare: Prepare | None = None,
    repeats: int = 3,
    delta: float = 0.05,
    seed: int = 0,
    watch: Watch | None = None,
    classes: Any = None,
    cluster: str | None = None,
) -> list[Tried]:
    """Try algorithms and letters on the head of a stream, at one share of labels; the most accurate comes first.

    Progressive validation: every instance is predicted before its label is learnt, so that the accuracy is that on new
    instances. It looks at all labels of the head.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        The head of a stream.
    share : float, default 0.1
        The share of labels, above 0 and below 1; the scale of every algorithm is matched to it.
    algorithms : iterable of str, optional
        Names, as ``askwhen algorithms`` lists them.
    letters : dict, optional
        Letters that are not to be tried, with their values.
    prepare : Prepare, optional
        How the instances are scaled.
    repeats : int, default 3
        How often each is run, with other coins.
    delta : float, default 0.05
        The probability with which the error bound of a single one of them may fail.
    seed : int, default 0
        Seeds the coins.
    watch : callable, optional
        Is told how many are done, of how many, and which was the last.
    classes : list, optional
        The labels, where they are not -1 and +1.
    cluster : str, optional
        A Ray cluster to try them on, as for :func:`askwhen.evaluate.compare`.

    Examples
    --------
    >>> import askwhen as aw
    >>> X, y = aw.data.noisy_linear(2000, 10, seed=1)
    >>> best = aw.evaluate.tune(X, y, 0.2, ["pa-i-active"])[0]
    >>> sorted(best.letters), best.accuracy > 0.8
    (['C', 'delta'], True)
    """
    check_number("tune", "share", share, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_number("tune", "delta", delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count("tune", "repeats", repeats)
    check_seed("tune", seed)
    plans, names = [], None if classes is None else check_classes("tune", classes)
    for name in algorithms:
        found = algorithm(name)
        if found.scale is None:
            raise InputError(f"{found.name} asks for every label; name one that chooses.", owner="tune")
        if found.scale in (letters or {}):
            raise InputError(f"{found.scale} of {found.name} is found here, from the share of labels.", owner="tune")
        for given in _combinations(found, letters or {}):
            if given.get("b", 0.0) < given.get("c", math.inf):  # LASEC's condition
                plans.append((found, given))
                if found.build(given, share=0.5).learner.regression:
                    raise InputError(f"{found.name} is a regressor, and accuracy is for classifiers.", owner="tune")
    if not plans:
        raise InputError("give at least one algorithm.", owner="tune")

    head = _Head(X, y, float(share), prepare, int(repeats), float(delta), seed, names)
    with workers_of(cluster, watch, len(plans)) as workers:
        tried = workers.all([(each.name, partial(head.attempt, each, given)) for each, given in plans])
    return sorted(tried, key=lambda found: -found.accuracy)


@dataclass(frozen=True, eq=False)
class _Head:
    """The head of a stream, and what is done with every algorithm on it."""

    X: Any
    y: Any
    share: float
    prepare: Prepare | None
    repeats: int
    delta: float
    seed: int
    names: list[Any] | None

    def attempt(self, each: Algorithm, given: dict[str, Any]) -> Tried:
        """Match an algorithm to the share, and run it."""
        same: dict[str, Any] = {"prepare": self.prepare, "classes": self.names}
        letters = matched(each, self.X, self.y, self.share, given, seed=self.seed, **same)
        runs = [
            each.build(letters, length=len(self.y), seed=self.seed + k, **same).run(
                self.X, self.y, margins=False, trace=False
            )
            for k in range(self.repeats)
        ]
        asked, wrong = (np.mean([getattr(run, count) for run in runs]) for count in ("questions", "mistakes"))
        n = len(self.y)
        bound = bounds.progressive_validation(wrong, n, self.delta)
        return Tried(each.name, letters, float(asked / n), float(1 - wrong / n), float(bound))


def _combinations(each: Algorithm, fixed: dict[str, Any]) -> list[dict[str, Any]]:
    """Every choice of the letters that are tried."""
    given = {letter: value for letter, value in fixed.items() if letter in each.letters}
    free = [letter for letter in each.letters if letter in GRID and letter not in given and letter != each.scale]
    return [
        given | dict(zip(free, values, strict=True)) for values in itertools.product(*(GRID[name] for name in free))
    ]
