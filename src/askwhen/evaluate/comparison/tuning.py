"""Chooses an algorithm and its hyperparameters for a stream, by progressive validation on its head."""

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
"""Values that are tried for each hyperparameter of a learner."""

CANDIDATES = ("default", "lasec-ss", "sop-ss", "perceptron-ss", "pa-i-active", "bbq")
"""Algorithms that are tried by default."""


@dataclass(frozen=True)
class Tried:
    """An algorithm with hyperparameters: the share asked, the accuracy, and an upper bound on its expected error.

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
    """Try algorithms and hyperparameters on the head of a stream, at one share of labels; most accurate first.

    Progressive validation: every instance is predicted before its label is learnt, so the accuracy is that on new
    instances. It needs all labels of the head.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        The head of a stream.
    share : float, default 0.1
        Share of labels, above 0 and below 1; the scale of every algorithm is matched to it.
    algorithms : iterable of str, optional
        Names, as ``askwhen algorithms`` lists them.
    letters : dict, optional
        Hyperparameters with fixed values, which are not searched.
    prepare : Prepare, optional
        Scaling of the instances.
    repeats : int, default 3
        Number of runs of each algorithm, with different seeds.
    delta : float, default 0.05
        Probability that the error bound of a single algorithm fails.
    seed : int, default 0
        Random seed.
    watch : callable, optional
        Called with the number of finished algorithms, the number of all, and the name of the last one.
    classes : list, optional
        The labels, where they are not -1 and +1.
    cluster : str, optional
        Ray cluster to run on, as for :func:`askwhen.evaluate.compare`.

    Examples
    --------
    >>> import askwhen as aw
    >>> X, y = aw.data.noisy_linear(2000, 10, seed=1)
    >>> best = aw.evaluate.tune(X, y, 0.2, ["pa-i-active"])[0]
    >>> sorted(best.letters), best.accuracy > 0.8
    (['C', 'delta'], True)
    """
    # The parameters are public; _Head bundles them for the work itself.
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
    """The head of a stream, and how an algorithm is tried on it."""

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
        hyperparameters = matched(each, self.X, self.y, self.share, given, seed=self.seed, **same)
        runs = [
            each.build(hyperparameters, length=len(self.y), seed=self.seed + k, **same).run(
                self.X, self.y, margins=False, trace=False
            )
            for k in range(self.repeats)
        ]
        asked, wrong = (np.mean([getattr(run, count) for run in runs]) for count in ("questions", "mistakes"))
        n = len(self.y)
        bound = bounds.progressive_validation(wrong, n, self.delta)
        return Tried(each.name, hyperparameters, float(asked / n), float(1 - wrong / n), float(bound))


def _combinations(each: Algorithm, fixed: dict[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the hyperparameters that are searched."""
    given = {name: value for name, value in fixed.items() if name in each.letters}
    free = [name for name in each.letters if name in GRID and name not in given and name != each.scale]
    return [
        given | dict(zip(free, values, strict=True)) for values in itertools.product(*(GRID[name] for name in free))
    ]
