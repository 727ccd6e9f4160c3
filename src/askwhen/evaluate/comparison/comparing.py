"""Runs many algorithms over one stream, at the same shares of labels, repeatedly with different seeds.

As in the papers, the scale of each algorithm is found by bisection so that it asks for the wanted share of the whole
stream; then it is run with that scale and other seeds. The rounds are compiled and run on all cores.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...algorithms import algorithm
from ...engine.inputs.argument_checks import check_classes
from ...errors import InputError
from ...prepare import Prepare
from ...validation import check_count, check_flag, check_number, check_seed
from ..estimation.estimate import Estimate
from ..estimation.said_right import SaidRight
from .baselines import EVERYTHING, LAST, MAJORITY, WITHOUT_ADVICE
from .cluster import workers_of
from .label_order import order_warning
from .plans import WINDOWS, CellRun, ComparisonWork, RunPlan
from .refitted_runs import RefittedWork
from .workers import Watch


@dataclass(frozen=True, eq=False)
class Cell:
    """Results of one algorithm at one share of labels.

    Attributes
    ----------
    algorithm : str
        Its name.
    letters : dict
        Its hyperparameters, with the one that was tuned to the share.
    share : float
        The share of labels that was wanted; 1 for an algorithm that asks for every label.
    asked, accuracy : array of float
        The share of labels asked for, and the accuracy, in each repeat.
    windows : array of float
        The accuracy in each window of rounds: a row for each repeat.
    seconds : float
        Mean duration of a repeat.
    refits : float or None
        Mean number of fits of a model that is refitted; None for others.
    """

    algorithm: str
    letters: dict[str, Any]
    share: float
    asked: np.ndarray
    accuracy: np.ndarray
    windows: np.ndarray
    seconds: float
    refits: float | None = None

    @property
    def mean(self) -> float:
        """The mean accuracy."""
        return float(self.accuracy.mean())

    @property
    def margin_of_error(self) -> float:
        """Half of the 95 % confidence interval of the mean accuracy; NaN for a single repeat."""
        return float(half_width(self.accuracy))


class AdviserEstimate(NamedTuple):
    """What an algorithm's asked labels told of an adviser, at one share of labels.

    Attributes
    ----------
    algorithm : str
        The algorithm that asked.
    share : float
        The share of labels that was wanted.
    value, low, high : float
        The estimated accuracy and the ends of its interval, means over the repeats; the value is that of the repeats in
        which it was known, NaN if there was none.
    held : int
        Number of repeats in which the interval held the accuracy.
    """

    algorithm: str
    share: float
    value: float
    low: float
    high: float
    held: int


@dataclass(frozen=True, eq=False)
class AdviserCell:
    """How good an adviser is by itself, all labels counted, and what would be known of it from the asked labels.

    Attributes
    ----------
    name : str
        The adviser.
    accuracy : float
        Share of the rows in which it said something that it was right in.
    silent : float
        Share of the rows in which it said nothing.
    windows : array of float
        The accuracy in each window of rows, in the order of the first repeat; NaN where it said nothing.
    estimates : list of AdviserEstimate
        One for each algorithm that takes advice and each share of labels.
    """

    name: str
    accuracy: float
    silent: float
    windows: np.ndarray
    estimates: list[AdviserEstimate]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Results of a comparison: cells in the order of the shares, then of the algorithms.

    ``baselines`` are cells of rules that are not among the algorithms: "majority so far", which knows every label
    before its round (share 1); "last label told", for each share with the questions of the algorithm that made it most
    accurate; with ``everything=True``, learners that are given every label, such as "default, all labels"; and with
    advice, the first algorithm that takes it without it, as "default, without advice".

    Attributes
    ----------
    cells : list of Cell
        Results of each algorithm at each share.
    algorithms : list of str
        Their names.
    shares : list of float
        The shares of labels.
    rounds : array of int
        Number of rounds played at the end of each window.
    repeats : int
        Number of runs of each algorithm.
    baselines : list of Cell
        Results of simple rules.
    order_warning : str or None
        A warning if the labels come sorted or in blocks, None otherwise.
    refitted : list of Cell
        With ``baselines=True``, results of models that are refitted again and again, at each share: what one would have
        had otherwise.
    left_out : list of str
        Which of these models were left out, and why.
    advisers : list of AdviserCell
        With advice, each adviser by itself, the best first.
    """

    cells: list[Cell]
    algorithms: list[str]
    shares: list[float]
    rounds: np.ndarray
    repeats: int
    baselines: list[Cell] = field(default_factory=list)
    order_warning: str | None = None
    refitted: list[Cell] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    advisers: list[AdviserCell] = field(default_factory=list)

    @property
    def best(self) -> Cell:
        """The most accurate algorithm at the largest share of labels below 100%."""
        share = max((cell.share for cell in self.cells if cell.share < 1), default=1.0)
        return max((cell for cell in self.cells if cell.share == share), key=lambda cell: cell.mean)

    @property
    def majority(self) -> float | None:
        """Mean accuracy of predicting the most frequent label so far; None where it was not computed."""
        return next((cell.mean for cell in self.baselines if cell.algorithm == MAJORITY), None)


def half_width(values: np.ndarray) -> Any:
    """Half of Student's 95 % interval for the mean over the first axis; NaN for a single value."""
    n = len(values)
    if n < 2:
        return np.full(np.shape(values)[1:], np.nan)
    from scipy.stats import t as student  # imported here, since it takes half of the import time of the package

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
    windows: int | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    everything: bool = False,
    classes: Any = None,
    cluster: str | None = None,
    baselines: bool = False,
    advice: Mapping[str, Any] | None = None,
) -> Comparison:
    """Run algorithms at the same shares of labels, and measure the accuracy of each.

    Parameters
    ----------
    X, y : array or CSR matrix, array
        The stream.
    algorithms : iterable of str
        Names, as ``askwhen algorithms`` lists them. One that asks for every label is run once, for reference.
    shares : iterable of float
        The shares of labels, above 0 and below 1.
    repeats : int, default 20
        Number of runs of each algorithm, each with another seed.
    letters : dict, optional
        Hyperparameters of algorithms, by name, that differ from their usual values.
    prepare : Prepare, optional
        Scaling of the instances, for all algorithms.
    shuffle : bool, default False
        Whether every repeat takes the stream in another order, the same for all algorithms.
    windows : int, optional
        Largest number of windows of rounds for which the accuracy is reported. By default 50, or as many as have 50
        rounds each, since the accuracy of fewer rounds is mostly noise.
    seed : int, default 0
        Seed of the random draws and of the orders.
    watch : callable, optional
        Called with the number of finished runs, the number of all runs, and the name of the last one.
    everything : bool, default False
        Whether to run each learner a second time, given every label, as a baseline.
    classes : list, optional
        The labels, where they are not -1 and +1; every algorithm then asks one question for all classes.
    cluster : str, optional
        Run on a Ray cluster instead of on the cores of this machine: ``host:port`` or "auto", from one of its machines,
        or "local" to start one here. The numbers are the same to the bit; if a worker dies, only its run is repeated.
    baselines : bool, default False
        Whether to play what one would have done otherwise, as ``refitted``: logistic regression and gradient boosting
        (of scikit-learn), refitted whenever their labels have grown by about 15 %, with as many labels as each share
        allows, asked for at random and by margin.
    advice : dict, optional
        What advisers say of the instances, as for ``Sampler.run``. The algorithms that take it are given it, as
        "default" and "random", and the first of them is also run without it.

    Examples
    --------
    >>> import askwhen as aw
    >>> X, y = aw.data.switching(2000, 10, seed=1)[:2]
    >>> found = aw.evaluate.compare(X, y, ["sel-p", "sel-p-fixed"], [0.2], repeats=3)
    >>> [cell.algorithm for cell in found.cells], [round(float(cell.asked.mean()), 1) for cell in found.cells]
    (['sel-p', 'sel-p-fixed'], [0.2, 0.2])
    >>> [(cell.algorithm, cell.share) for cell in found.baselines]
    [('last label told', 0.2), ('majority so far', 1.0)]
    """
    # The parameters are public; ComparisonWork bundles them for the work itself.
    chosen = list({found.name: found for found in map(algorithm, algorithms)}.values())
    wanted = list(dict.fromkeys(float(share) for share in shares))
    check_count("compare", "repeats", repeats)
    check_count("compare", "windows", WINDOWS if windows is None else windows)
    check_flag("compare", "everything", everything)
    check_flag("compare", "baselines", baselines)
    check_seed("compare", seed)
    for share in wanted:
        check_number("compare", "share", share, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    if not chosen or not wanted:
        raise InputError("give at least one algorithm and one share of labels.", owner="compare")
    given = {name.lower(): values for name, values in (letters or {}).items()}
    plans = [RunPlan(each, share) for share in wanted for each in chosen if each.scale is not None]
    plans += [RunPlan(each, 1.0) for each in chosen if each.scale is None]
    names = None if classes is None else check_classes("compare", classes)
    work = ComparisonWork(X, np.asarray(y), prepare, shuffle, windows, int(seed), given, names, advice)
    for plan in plans:  # invalid hyperparameters must raise before any run begins
        work.check(plan.algorithm)
    number = len(plans)
    if everything:
        plans += work.fully_labelled_plans(plans)
    advised, right = [plan for plan in plans if work.takes_advice(plan)], work.said_right()
    if advice and not advised:
        raise InputError('no algorithm here takes advice; add "default".', owner="compare", parameter="advice")
    first = [plan for plan in advised if plan.algorithm is advised[0].algorithm and not plan.everything]
    plans += [plan._replace(without_advice=True) for plan in first]
    again = int(repeats)
    otherwise = RefittedWork.of(work, wanted, again) if baselines else None
    total = len(plans) * (1 + again) + (0 if otherwise is None else len(otherwise.pieces))
    with workers_of(cluster, watch, total) as workers:
        tuned = workers.all([(plan.name, partial(work.match, plan)) for plan in plans])
        pairs = list(zip(plans, tuned, strict=True))
        runs = workers.all(
            [(plan.name, partial(work.run, plan, found, k)) for plan, found in pairs for k in range(again)]
        )
        refitted = [] if otherwise is None else otherwise.play(workers)
    groups = [runs[at : at + again] for at in range(0, len(runs), again)]
    cells = [_cell(plan, found, group) for (plan, found), group in zip(pairs, groups, strict=True)]
    return Comparison(
        cells[:number],
        [each.name for each in chosen],
        wanted,
        work.ends,
        again,
        _simple(cells[:number], groups[:number]) + cells[number:],
        None if shuffle else order_warning(work.y, names),
        [_cell_of(model.name, {}, share, runs) for model, share, runs in refitted],
        [] if otherwise is None else otherwise.left_out,
        _advisers(work, right, list(zip(plans, groups, strict=True))),
    )


def _advisers(
    work: ComparisonWork, right: dict[str, SaidRight], runs: list[tuple[RunPlan, list[CellRun]]]
) -> list[AdviserCell]:
    """Each adviser by itself, the best first."""
    found, order = [], work.order(0)
    for name, (spoke, is_right) in right.items():
        here = slice(None) if order is None else order
        spoken, good = work.windowed(spoke[here]), work.windowed((spoke & is_right)[here])
        windows = np.divide(good, spoken, out=np.full(len(spoken), math.nan), where=spoken > 0.0)
        accuracy = float(is_right[spoke].mean()) if spoke.any() else math.nan
        estimates = [
            _estimate(plan, [run.advisers[name] for run in group if run.advisers is not None], accuracy)
            for plan, group in runs
            if work.takes_advice(plan)
        ]
        found.append(AdviserCell(name, accuracy, 1.0 - float(spoke.mean()), windows, estimates))
    return sorted(found, key=lambda each: -each.accuracy if each.accuracy == each.accuracy else math.inf)


def _estimate(plan: RunPlan, found: list[Estimate], accuracy: float) -> AdviserEstimate:
    known = [each.value for each in found if each.is_known]
    held = sum(each.low <= accuracy <= each.high for each in found)
    low, high = (float(np.mean([getattr(each, end) for each in found])) for end in ("low", "high"))
    value = float(np.mean(known)) if known else math.nan
    return AdviserEstimate(plan.algorithm.name, plan.share, value, low, high, held)


def _cell(plan: RunPlan, hyperparameters: dict[str, Any], runs: list[CellRun]) -> Cell:
    name = f"{plan.algorithm.name}, {EVERYTHING}" if plan.everything else plan.algorithm.name
    name = f"{name}, {WITHOUT_ADVICE}" if plan.without_advice else name
    return _cell_of(name, hyperparameters, plan.share, runs)


def _cell_of(name: str, hyperparameters: dict[str, Any], share: float, runs: list[CellRun]) -> Cell:
    asked, accuracy, windows, seconds = (np.array([run[at] for run in runs]) for at in range(4))
    fits = [run.refits for run in runs if run.refits is not None]
    refits = float(np.mean(fits)) if fits else None
    return Cell(name, hyperparameters, share, asked, accuracy, windows, float(seconds.mean()), refits)


def _simple(cells: list[Cell], groups: list[list[CellRun]]) -> list[Cell]:
    """The simple rules as cells: the last label given, at each share, and the majority."""

    def rule(name: str, share: float, asked: np.ndarray, runs: list[CellRun]) -> Cell:
        accuracy, windows = (np.array([run.simple[name][at] for run in runs]) for at in range(2))
        return Cell(name, {}, share, asked, accuracy, windows, math.nan)

    found: dict[float, Cell] = {}
    for cell, runs in zip(cells, groups, strict=True):
        last = rule(LAST, cell.share, cell.asked, runs)
        if cell.share not in found or last.mean > found[cell.share].mean:
            found[cell.share] = last
    return [*found.values(), rule(MAJORITY, 1.0, np.ones(len(groups[0])), groups[0])]
