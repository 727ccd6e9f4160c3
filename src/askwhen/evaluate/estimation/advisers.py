"""How good each adviser of a sampler is, from the labels that the sampler asked for.

Every adviser has an account of its own, over the rounds in which it said something before the random draw; see
:mod:`askwhen.engine.tally.advice_account`. The estimates and intervals are those of :func:`askwhen.evaluate.accuracy`.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...engine.advisers import Question, Said
from ...engine.engine import Engine, Waiting
from ...engine.state_arrays import copy_state
from ...engine.tally.advice_account import ANSWERED, BINS, RIGHT, ROUNDS, STATED, WEIGHT, Account, Comparison
from ...engine.tally.class_tally import ClassTally, doubt_class
from ...engine.tally.round_tally import ANSWERED as SUM_ANSWERED
from ...engine.tally.round_tally import FORGOTTEN as SUM_FORGOTTEN
from ...engine.tally.round_tally import Tally
from ...errors import InputError
from ...validation import check_number
from .accuracy import RECENT, Accuracy, accuracy
from .alarms import Alarm, alarm
from .by_class import ClassAccuracy
from .difference import Difference, difference_of
from .estimate import FEWEST_ANSWERS, Estimate
from .sample_size import random_labels
from .tally_views import sides_of

TOO_GOOD, TOO_GOOD_AFTER = 0.995, 200
"""An adviser whose accuracy is above this, after so many answers, may know the label."""


@dataclass(frozen=True)
class Stated:
    """How often an adviser is right where it states a probability within a range.

    Attributes
    ----------
    low, high : float
        The range of stated probabilities of the label that is named.
    rounds : int
        Number of rounds in which the stated probability was in it.
    stated : float
        The mean of what was stated.
    right : float
        Estimated share of these rounds in which it was right; NaN with fewer than 20 answers.
    answered : int
        Number of these rounds whose label was given.
    """

    low: float
    high: float
    rounds: int
    stated: float
    right: float
    answered: int


@dataclass(frozen=True)
class AdviserAccuracy:
    """The estimated accuracy of one adviser, over the rounds in which it said something.

    Attributes
    ----------
    name : str
        The adviser.
    accuracy : Accuracy
        All estimates, as of a sampler: also by window, with precision and recall, and of every class.
    silent : float
        Share of the rounds, since it was known, in which it said nothing; of its calls, if it is called only sometimes.
    calibration : list of Stated
        How often it was right, by what it stated; empty where it states no probabilities.
    gain : Difference
        The accuracy of the sampler less that of the adviser, over these rounds.
    random_labels : int or None
        Number of labels, asked at random over these rounds, whose interval would be as narrow; None where not known.
    calls : int or None
        Number of rounds in which a :class:`askwhen.advisers.Called` was called: all numbers are about those, which were
        chosen because its advice was needed, and are mostly harder than others. None for other advisers.
    against : dict
        Its accuracy less that of each other adviser, as :class:`Difference` by name, the best first: over the rounds in
        which both said something, for the first ten advisers.
    """

    name: str
    accuracy: Accuracy
    silent: float
    calibration: list[Stated]
    gain: Difference
    random_labels: int | None
    calls: int | None = None
    source: Any = field(default=None, repr=False, compare=False)
    against: dict[str, Difference] = field(default_factory=dict, repr=False, compare=False)

    @property
    def overall(self) -> Estimate:
        """The accuracy over all rounds in which it said something."""
        return self.accuracy.overall

    @property
    def recent(self) -> Estimate:
        """The accuracy over the last of these rounds."""
        return self.accuracy.recent

    @property
    def classes(self) -> dict[Any, ClassAccuracy]:
        """Precision, recall and F of every class, where all classes are known from the start."""
        return self.accuracy.classes

    @property
    def rounds(self) -> int:
        """Number of rounds in which it said something."""
        return self.accuracy.rounds

    @property
    def warning(self) -> str:
        """Why its accuracy should not be believed, in a sentence; empty where there is no reason."""
        if self.overall.low <= TOO_GOOD or self.accuracy.answered < TOO_GOOD_AFTER:
            return ""
        return (
            f"{self.name} is right in more than {TOO_GOOD:.1%} of its answers; check that it does not know the label."
        )

    @property
    def change(self) -> str:
        """That it was better or worse in the last rounds than over all, in a sentence; empty where that is not known.

        It compares the interval of each window with that of all rounds. For a test with a given probability of a false
        alarm, see ``alarm``.
        """
        for length, late in sorted(self.accuracy.windows.items()):
            last = f"its last {length:,} answers"
            if late.high < self.overall.low:
                worse = f"right in at most {late.high:.1%} of {last}, and in {self.overall.low:.1%} or more of all"
                return f"{self.name} has become worse: {worse}."
            if late.low > self.overall.high:
                better = f"right in at least {late.low:.1%} of {last}, and in {self.overall.high:.1%} or less of all"
                return f"{self.name} has become better: {better}."
        return ""

    def alarm(self, level: float, recent: int = RECENT, *, confidence: float = 0.95) -> Alarm:
        """Whether its accuracy has fallen below a level, as :func:`askwhen.evaluate.alarm` tells it of a sampler.

        Parameters
        ----------
        level : float
            The accuracy that every window should reach.
        recent : int, default 5000
            Number of rounds in a window: 1,000, 5,000 or 20,000.
        confidence : float, default 0.95
            One minus the probability of a false alarm.
        """
        return alarm(self.source, level, recent, confidence=confidence)

    def __str__(self) -> str:
        as_good = f", as good as {self.random_labels:,} random labels" if self.random_labels else ""
        rounds = "rounds" if self.calls is None else "rounds in which it was called"
        return f"{self.name}: accuracy {self.overall} over {self.rounds:,} {rounds}{as_good}"


class Advisers(Mapping[str, AdviserAccuracy]):
    """The advisers of a sampler by name, the best first; those whose accuracy is not known yet come last."""

    def __init__(self, found: list[AdviserAccuracy], compared: dict[tuple[str, str], Difference]) -> None:
        known = sorted(found, key=lambda each: -each.overall.value if each.overall.is_known else math.inf)
        self._compared = compared
        self._found = {each.name: replace(each, against=self._against(each.name, known)) for each in known}

    def _against(self, name: str, found: list[AdviserAccuracy]) -> dict[str, Difference]:
        """The differences between an adviser and the others, for those that are compared."""
        others = {a if b == name else b for a, b in self._compared if name in (a, b)}
        return {each.name: self.compare(name, each.name) for each in found if each.name in others}

    def __getitem__(self, name: str) -> AdviserAccuracy:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"<Advisers {', '.join(map(str, self.values()))}>"

    def compare(self, a: str, b: str) -> Difference:
        """The accuracy of a less that of b, over the rounds in which both said something.

        Only the first ten advisers are compared with each other.

        Parameters
        ----------
        a, b : str
            The names of two advisers.
        """
        if (a, b) in self._compared:
            return self._compared[a, b]
        found = self._compared.get((b, a))
        if found is None:
            raise InputError(f"{a!r} and {b!r} are not two of the first ten advisers.", owner="compare")
        value, low, high, unbiased = -found.value, -found.high, -found.low, -found.unbiased
        return replace(found, value=value, low=low, high=high, unbiased=unbiased, names=(a, b))

    def __str__(self) -> str:
        return "\n".join(map(str, self.values()))


def advisers(sampler: Any, *, confidence: float = 0.95, recent: int = RECENT) -> Advisers:
    """Estimate how good each adviser of a sampler is, from the labels that were asked for.

    Each interval is for one adviser. For a ranking of k advisers that holds as a whole with 95 %, give a confidence of
    1 - 0.05 / k.

    Parameters
    ----------
    sampler : Sampler
        A sampler with advisers that predicts labels.
    confidence : float, default 0.95
        Probability that an interval covers the true value at all times, however often you look.
    recent : int, default 5000
        Number of last rounds for the recent accuracy: 1,000, 5,000 or 20,000.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((4000, 5))
    >>> y = np.where(X[:, 0] > 0, "spam", "ham")
    >>> says = np.where(rng.random(4000) < 0.8, y, np.where(y == "spam", "ham", "spam"))
    >>> sampler = aw.Sampler(advisers=["gpt"], seed=7)
    >>> trace = sampler.run(X, y, advice={"gpt": says})
    >>> found = aw.evaluate.advisers(sampler)["gpt"]
    >>> bool(found.overall.low < (says == y).mean() < found.overall.high), found.gain.value > 0
    (True, True)
    """
    check_number("advisers", "confidence", confidence, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    return CountedAdvisers(sampler).estimated(confidence, recent)


class CountedAdvisers:
    """A copy of what a sampler has counted of its advisers, from which another thread can estimate.

    Parameters
    ----------
    sampler : Sampler
        A sampler with advisers that predicts labels.
    """

    def __init__(self, sampler: Any) -> None:
        engine = getattr(sampler, "engine", None)
        if not isinstance(engine, Engine) or engine.advisers is None:
            raise InputError("sampler must have advisers; give Sampler advisers=.", owner="advisers")
        if engine.regression:
            raise InputError("advisers that give numbers have no accuracy; it is for classifiers.", owner="advisers")
        with sampler.turn:
            self.kept = copy.deepcopy(engine.advisers)
            self.classes = list(engine.classes) if engine.classes is not None else engine.pair.labels
            self.is_pair, self.is_open, self.questions = engine.classes is None, engine.most > 0, engine.questions
            self.chances = {number: float(engine.pending[number][0].probability) for number in self.kept.waiting}

    def sources(self) -> dict[str, _Source]:
        """The account of each adviser, as a source for an estimate."""
        kept = self.kept
        return {name: _Source(self, kept.accounts[a], _open_of(self, a)) for a, name in enumerate(kept.names)}

    def estimated(self, confidence: float = 0.95, recent: int = RECENT) -> Advisers:
        """How good each adviser is."""
        kept, sources = self.kept, self.sources()
        found = [_of_one(self, sources[name], a, confidence, recent) for a, name in enumerate(kept.names)]
        compared = {
            (kept.names[a], kept.names[b]): _compared(
                self, each, _open_between(self, a, b), confidence, (kept.names[a], kept.names[b])
            )
            for (a, b), each in kept.between.items()
        }
        return Advisers(found, compared)


class _Source:
    """The account of one adviser, as estimates read that of a sampler."""

    costs = None

    def __init__(self, counted: CountedAdvisers, account: Account, waiting: list[tuple[Question, Said, float]]) -> None:
        self.classes = counted.classes
        self._tally, self._by_class = account.tally, account.classes
        self._waiting, self._two = waiting, counted.is_pair

    def _open(self) -> list[Waiting]:
        count = int(self._tally.count[0])
        return [
            (count - said.at + 1, P, said.level, said.statement.label == 1 if self._two else True)
            for _, said, P in self._waiting
        ]

    def tally(self) -> tuple[Tally, int, int, list[Waiting]]:
        """Sums, rounds, questions, and the open questions, as copies."""
        tally, waiting = copy_state(self._tally), self._open()
        counted = tally.sums.sum(axis=0) + tally.fresh.sum(axis=0)
        questions = int(counted[SUM_ANSWERED] + counted[SUM_FORGOTTEN]) + len(waiting)
        return tally, int(tally.count[0]), questions, waiting

    def class_tally(self) -> ClassTally | None:
        """The sums of every class; open questions count as the worst case."""
        if self._by_class is None:
            return None
        found: ClassTally = copy_state(self._by_class)
        for _, said, P in self._waiting:
            doubt_class(found, said.statement.label, P, said.level)
        return found


def _of_one(counted: CountedAdvisers, source: _Source, a: int, confidence: float, recent: int) -> AdviserAccuracy:
    kept = counted.kept
    account, name = kept.accounts[a], kept.names[a]
    found = accuracy(source, confidence=confidence, recent=recent)
    if counted.is_open:
        unknown = Estimate(math.nan, 0.0, 1.0, math.nan, found.rounds)
        found = replace(found, precision=unknown, recall=unknown, f_measure=unknown)
    bets = [
        bet
        for _, said, P in _open_of(counted, a)
        if said.place >= 0
        for bet in kept.against[a].bets(said.place, said.levels, P)
    ]
    gain = _compared(counted, kept.against[a], bets, confidence, ("the sampler", name))
    called = kept.calls.get(name)
    since = kept.rounds - kept.since[a] if called is None else called.calls
    spoke = found.rounds if called is None else called.calls - called.silent
    silent = 1.0 - spoke / since if since else math.nan
    width = found.overall.high - found.overall.low
    as_good = None
    if found.overall.is_known and found.counted is not None:
        as_good = random_labels(found.counted, width, 1.0 - confidence)
    calls = None if called is None else called.calls
    return AdviserAccuracy(name, found, silent, _calibration(account), gain, as_good, calls, source)


def _open_of(counted: CountedAdvisers, a: int) -> list[tuple[Question, Said, float]]:
    """The open questions about which an adviser said something, and the probabilities of asking them."""
    return [
        (question, said, counted.chances[number])
        for number, question in counted.kept.waiting.items()
        for said in question.said
        if said.adviser == a
    ]


def _open_between(counted: CountedAdvisers, a: int, b: int) -> list[Waiting]:
    kept = counted.kept
    return [
        bet
        for number, question in kept.waiting.items()
        for first, second, place, levels in question.pairs
        if (first, second) == (a, b) and place >= 0
        for bet in kept.between[a, b].bets(place, levels, counted.chances[number])
    ]


def _compared(
    counted: CountedAdvisers, comparison: Comparison, waiting: list[Waiting], confidence: float, names: tuple[str, str]
) -> Difference:
    other, first = sides_of(copy_state(comparison.tally), waiting)
    rounds = comparison.rounds
    return difference_of(first, other, rounds, counted.questions, comparison.several, confidence, names)


def _calibration(account: Account) -> list[Stated]:
    found = []
    for i, row in enumerate(account.stated):
        if row[ROUNDS]:
            right = float(row[RIGHT] / row[WEIGHT]) if row[ANSWERED] >= FEWEST_ANSWERS else math.nan
            mean = float(row[STATED] / row[ROUNDS])
            found.append(Stated(i / BINS, (i + 1) / BINS, int(row[ROUNDS]), mean, right, int(row[ANSWERED])))
    return found
