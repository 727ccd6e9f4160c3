"""Many algorithms over one stream, each at the same shares of labels, again and again with other coins.

As the papers do it: the scale of each algorithm is found by bisection, so that it asks for the wanted share of the
whole stream; then it is run with that scale and other coins. The rounds are compiled and run on all cores.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.stats import t as student

from ..algorithms import Algorithm, algorithm
from ..errors import InputError
from ..prepare import Prepare
from ..validation import check_count, check_number, check_seed
from .matching import matched
from .workers import Watch, Workers


@dataclass(frozen=True, eq=False)
class Cell:
    """One algorithm at one share of labels.

    Attributes
    ----------
    algorithm : str
        Its name.
    letters : dict
        Its parameters, with the one that was tuned to the share.
    share : float
        The share of labels that was wanted; 1 for an algorithm that asks for every label.
    asked, accuracy : array of float
        The share of labels asked for, and the accuracy, in each repeat.
    windows : array of float
        The accuracy in each window of rounds: a row for each repeat.
    seconds : float
        How long a repeat took, on average.
    """

    algorithm: str
    letters: dict[str, Any]
    share: float
    asked: np.ndarray
    accuracy: np.ndarray
    windows: np.ndarray
    seconds: float

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(self.accuracy.mean())

    @property
    def margin_of_error(self) -> float:
        """Half of the 95 % confidence interval of the mean accuracy; NaN for a single repeat."""
        return float(half_width(self.accuracy))


@dataclass(frozen=True, eq=False)
class Comparison:
    """What came of a comparison: cells in the order of the shares, then of the algorithms.

    ``rounds`` says how many rounds had been played at the end of each window.
    """

    cells: list[Cell]
    algorithms: list[str]
    shares: list[float]
    rounds: np.ndarray
    repeats: int


def half_width(values: np.ndarray) -> Any:
    """Half of Student's 95 % interval for the mean over the first axis; NaN for a single value."""
    n = len(values)
    if n < 2:
        return np.full(np.shape(values)[1:], np.nan)
    return student.ppf(0.975, n - 1) * values.std(axis=0, ddof=1) / np.sqrt(n)


def compare(
    X: Any,
    y: Any,
    algorithms: Iterable[str] = ("default", "random"),
    shares: Iterable[float] = (0.1,),
    *,
    repeats: int = 20,
    letters: dict[str, dict[str, Any]] | None = None,
    prepare: Prepare | None = None,
    shuffle: bool = False,
    windows: int = 50,
    seed: int = 0,
    watch: Watch | None = None,
) -> Comparison:
    """Run algorithms at the same shares of labels, and say how accurate each is.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        The stream.
    algorithms : iterable of str
        Names, as ``askwhen algorithms`` lists them. One that asks for every label is run once, for reference.
    shares : iterable of float
        The shares of labels, above 0 and below 1.
    repeats : int, default 20
        How often each is run, every time with other coins.
    letters : dict, optional
        For each name, letters that are not to have their usual values.
    prepare : Prepare, optional
        How the instances are scaled for all of them.
    shuffle : bool, default False
        Whether every repeat takes the stream in another order, the same for all algorithms.
    windows : int, default 50
        In how many windows of rounds the accuracy is told, at most.
    seed : int, default 0
        Seeds coins and orders.
    watch : callable, optional
        Is told how many runs are done, of how many, and which was the last.

    Examples
    --------
    >>> import askwhen as aw
    >>> X, y = aw.data.switching(2000, 10, seed=1)[:2]
    >>> found = aw.evaluate.compare(X, y, ["sel-p", "sel-p-fixed"], [0.2], repeats=3)
    >>> [cell.algorithm for cell in found.cells], [round(float(cell.asked.mean()), 1) for cell in found.cells]
    (['sel-p', 'sel-p-fixed'], [0.2, 0.2])
    """
    chosen = list({found.name: found for found in map(algorithm, algorithms)}.values())
    wanted = list(dict.fromkeys(float(share) for share in shares))
    check_count("compare", "repeats", repeats)
    check_count("compare", "windows", windows)
    check_seed("compare", seed)
    for share in wanted:
        check_number("compare", "share", share, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    if not chosen or not wanted:
        raise InputError("compare: give at least one algorithm and one share of labels.")
    given = {name.lower(): values for name, values in (letters or {}).items()}
    plans = [(each, share) for share in wanted for each in chosen if each.scale is not None]
    plans += [(each, 1.0) for each in chosen if each.scale is None]
    work = _Work(X, np.asarray(y), prepare, shuffle, int(windows), int(seed))
    for each, _ in plans:  # whatever is refused is refused before the work begins
        work.check(each, given.get(each.name, {}))
    again = int(repeats)
    with Workers(watch, len(plans) * (1 + again)) as workers:
        tuned = workers.all(
            [(_label(*plan), partial(work.match, *plan, given.get(plan[0].name, {}))) for plan in plans]
        )
        pairs = list(zip(plans, tuned, strict=True))
        runs = workers.all(
            [(_label(*plan), partial(work.run, plan[0], found, k)) for plan, found in pairs for k in range(again)]
        )
    cells = []
    for at, ((each, share), found) in enumerate(pairs):
        asked, accuracy, windowed, seconds = map(np.array, zip(*runs[at * again : (at + 1) * again], strict=True))
        cells.append(Cell(each.name, found, share, asked, accuracy, windowed, float(seconds.mean())))
    return Comparison(cells, [each.name for each in chosen], wanted, work.ends, again)


def _label(each: Algorithm, share: float) -> str:
    return f"{each.name} at {share:.3g}"


@dataclass(frozen=True, eq=False)
class _Work:
    """A stream, and what is done with every algorithm on it."""

    X: Any
    y: np.ndarray
    prepare: Prepare | None
    shuffle: bool
    windows: int
    seed: int

    @property
    def ends(self) -> np.ndarray:
        """Where windows end."""
        n = len(self.y)
        return np.unique(np.linspace(0, n, min(self.windows, n) + 1).astype(int)[1:])

    def check(self, each: Algorithm, letters: dict[str, Any]) -> None:
        """Refuse letters that the algorithm does not take, and a regressor."""
        if each.scale in letters:
            raise InputError(f"compare: {each.scale} of {each.name} is found here, from the share of labels.")
        share = None if each.scale is None else 0.5
        if each.build(letters, share=share).learner.regression:
            raise InputError(f"compare: {each.name} is a regressor, and accuracy is for classifiers.")

    def match(self, each: Algorithm, share: float, letters: dict[str, Any]) -> dict[str, Any]:
        if each.scale is None:
            return each.usual() | letters
        X, y = self._stream(0)
        return matched(each, X, y, share, letters, prepare=self.prepare, seed=self.seed)

    def run(self, each: Algorithm, letters: dict[str, Any], k: int) -> tuple[float, float, np.ndarray, float]:
        X, y = self._stream(k)
        started = time.perf_counter()
        trace = each.build(letters, prepare=self.prepare, seed=self.seed + k).run(X, y, margins=False)
        seconds = time.perf_counter() - started
        wrong = np.add.reduceat(trace.mistaken, np.r_[0, self.ends[:-1]], dtype=float)
        return trace.questions / len(y), 1 - trace.mistakes / len(y), 1 - wrong / np.diff(self.ends, prepend=0), seconds

    def _stream(self, k: int) -> tuple[Any, np.ndarray]:
        if not self.shuffle:
            return self.X, self.y
        order = np.random.default_rng([self.seed, k]).permutation(len(self.y))
        return self.X[order], self.y[order]
