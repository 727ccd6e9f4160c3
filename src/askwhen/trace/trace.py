"""The result of one round (:class:`Ask`) and a record of many rounds (:class:`Trace`)."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..system.atomic_file import whole_file
from ..system.extras import optional

_PROCESS = os.urandom(8)
_NUMBERS = itertools.count()


class Origin:
    """The sampler that asked a question.

    Copies of a sampler, and pickled ones, have the same origin. A file holds only the seed, so that equal samplers have
    equal files: the questions of a loaded sampler have an origin without a number.
    """

    __slots__ = ("number", "seed")

    def __init__(self, seed: int | None, loaded: bool = False) -> None:
        self.seed = seed
        self.number = None if loaded else (_PROCESS, next(_NUMBERS))

    def differs(self, other: Any) -> bool:
        """Whether the other origin is known to be another sampler's."""
        if not isinstance(other, Origin):
            return False
        if self.number is None or other.number is None:
            return self.seed != other.seed
        return self.number != other.number

    def __copy__(self) -> Origin:
        return self

    def __deepcopy__(self, memo: Any) -> Origin:
        return self


class _AskFields(NamedTuple):
    round: int
    prediction: Any
    margin: float
    uncertainty: float | None
    probability: float
    query: bool
    certainty: float | None = None


class Ask(_AskFields):
    """The result of one round: a prediction, and whether to ask for the label.

    If ``query`` is true, answer with ``sampler.tell(ask, y)``.

    Attributes
    ----------
    round : int
        The number of the round, which ``tell`` and ``forget`` take too.
    prediction : label
        One of the two labels, as they are written (-1 or +1 until that is known), a class, or the margin itself for a
        regressor.
    margin : float
        The signed margin p.
    uncertainty : float or None
        The uncertainty r; None where the learner does not estimate one.
    probability : float
        Probability with which the label was asked for.
    query : bool
        Whether the label is worth asking for.
    certainty : float or None
        Probability that the prediction is right, learnt from the labels given so far; of two labels at least one half,
        unless costs move the boundary. None for a regressor.
    origin : Origin or None
        The sampler that asked for the label, so that another sampler refuses the answer. It is not part of the tuple:
        asks are compared without it.
    withheld : bool
        With a ``PromiseRule``: whether the label is withheld, since it could be neither asked for nor certified. It is
        not part of the tuple, and neither is the next one.
    expected : float or None
        With a ``PromiseRule``: the probability that the prediction is wrong, on which its account has bet.
    advice : dict or None
        What those advisers said that were given as :class:`askwhen.advisers.Called`, by name; None where they were not
        called. Log it, and give it to ``ask`` to play the round again. It is not part of the tuple.
    """

    origin: Origin | None = None
    withheld: bool = False
    expected: float | None = None
    advice: dict[str, Any] | None = None

    @property
    def delivered(self) -> Any:
        """The label to use now: the prediction, or None while the question is open and where the label is withheld."""
        return None if self.query or self.withheld else self.prediction

    def _replace(self, /, **changes: Any) -> Ask:
        made = super()._replace(**changes)
        made.origin, made.withheld, made.expected = self.origin, self.withheld, self.expected
        made.advice = self.advice
        return made


class RoundResult(NamedTuple):
    """A round as a log stores it: the answer, and what :class:`askwhen.Ask` leaves out.

    Attributes
    ----------
    ask : Ask
        The prediction, and whether a label is asked for.
    coin : float
        The random draw that was compared with ``ask.probability``.
    switched : bool
        Whether a switch was declared in this round.
    level : int
        How certain the tally took the prediction to be; a correction of the answer needs it. 0 where nothing is asked.
    """

    ask: Ask
    coin: float
    switched: bool
    level: int


@dataclass(frozen=True, eq=False)
class Trace:
    """A record of every round of a run.

    Attributes
    ----------
    start : int
        The number of the first round; rounds count from 0 over the life of the sampler.
    rounds, questions, updates, mistakes : int
        Number of each.
    margin : array of float
        The signed margin p. NaN where ``margins=False`` made it unnecessary.
    prediction : array
        One of the two labels, as they were written in ``y``; a class; or the margin itself for a regressor.
    probability : array of float
        The probability with which the label was asked for. NaN where the margin is.
    coin : array of float
        The random draw u, uniform on [0, 1): the label is asked for if it is below the probability.
    queried, updated : array of bool
        Whether the label was asked for; whether the learner was updated.
    mistaken : array of bool
        Whether the prediction was wrong, also where the label was not asked for, since a simulation knows it. Always
        False for a regressor.
    switches : array of int
        The rounds in which a switch was declared.
    drift_weights : array of float
        For a mixture (``Mixture``, ``AutoLasec``), the weight of each expert (columns) in each round; no columns for
        other learners.
    experts : tuple of str
        Names of these experts: for ``Mixture`` the view and its drift level, as in "deviation, c = 100".
    floor : float
        Lower bound on the probabilities that were not computed.
    blind : bool
        Whether the random draws determined which margins were computed, since ``margins=False`` skipped some.
    costs : (float, float) or None
        Costs of a false positive and of a false negative, where they moved the decision boundary.
    several : bool
        Whether predictions are classes.
    pair : (negative, positive) or None
        The two labels, as predictions give them; None where they are -1 and +1, classes or numbers.
    delivered : array
        With a ``PromiseRule``: the label of every round, the person's where it was asked for, and else the prediction;
        None, or NaN for numbers, where it is withheld. Empty with other rules.
    withheld : array of bool
        With a ``PromiseRule``: whether the label is withheld, since it could be neither asked for nor certified.
    advice : dict
        What advisers said that were given as objects of :mod:`askwhen.advisers`, by name: give it to ``run`` as advice
        to play the rounds again, without fitting or calling anything.

    With ``run(..., trace=False)`` the arrays are empty and only ``start``, ``switches`` and the counts are set.
    """

    start: int
    rounds: int
    questions: int
    updates: int
    mistakes: int
    margin: np.ndarray
    prediction: np.ndarray
    probability: np.ndarray
    coin: np.ndarray
    queried: np.ndarray
    updated: np.ndarray
    mistaken: np.ndarray
    switches: np.ndarray
    drift_weights: np.ndarray
    floor: float = 0.0
    several: bool = False
    experts: tuple[str, ...] = ()
    blind: bool = False
    costs: tuple[float, float] | None = None
    pair: tuple[Any, Any] | None = None
    delivered: np.ndarray = field(default_factory=lambda: np.zeros(0))
    withheld: np.ndarray = field(default_factory=lambda: np.zeros(0, np.bool_))
    advice: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Trace({self.rounds} rounds from {self.start}: {self.questions} questions, {self.updates} updates, "
            f"{self.mistakes} mistakes, {len(self.switches)} switches)"
        )

    @property
    def switched(self) -> np.ndarray:
        """Whether each round declared a switch."""
        found = np.zeros(self.rounds, np.bool_)
        found[self.switches - self.start] = True
        return found

    @property
    def signs(self) -> np.ndarray:
        """The predictions of one of two labels as -1 and +1, however the labels are written."""
        if self.pair is None:
            return self.prediction
        return np.where(self.prediction == self.pair[1], 1, -1).astype(np.int8)

    def columns(self) -> dict[str, np.ndarray]:
        """The columns of tables and files, with one entry for each round."""
        if len(self.queried) != self.rounds:
            raise InputError("this trace holds only counts; run with trace=True.", owner="columns")
        names = ["margin", "prediction", "probability", "coin", "queried", "updated", "mistaken"]
        names += ["delivered", "withheld"] if len(self.withheld) else []
        found = {"round": np.arange(self.start, self.start + self.rounds)}
        found |= {name: getattr(self, name) for name in names} | {"switched": self.switched}
        if self.prediction.ndim == 2:  # several labels at once
            del found["prediction"]
            found |= {f"prediction_{j}": column for j, column in enumerate(self.prediction.T)}
            if len(self.withheld):
                del found["delivered"]
                found |= {f"delivered_{j}": column for j, column in enumerate(self.delivered.T)}
        return found | {f"drift_weight_{e}": self.drift_weights[:, e] for e in range(self.drift_weights.shape[1])}

    def to_pandas(self) -> Any:
        """A pandas data frame with one row for each round."""
        return needed("to_pandas", "pandas").DataFrame(self.columns())

    def to_polars(self) -> Any:
        """A polars data frame with one row for each round."""
        return needed("to_polars", "polars").DataFrame(self.columns())

    def to_arrow(self) -> Any:
        """An Arrow table with one row for each round."""
        arrow, columns = needed("to_arrow", "pyarrow"), self.columns()
        table = arrow.table(columns)
        if "delivered" in columns and table.column("delivered").type == arrow.null():  # all of them are withheld
            types, at = table.schema.field("prediction").type, table.schema.get_field_index("delivered")
            table = table.set_column(at, "delivered", table.column("delivered").cast(types))
        return table

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write a Parquet file with one row for each round."""
        table = self.to_arrow()
        _write("to_parquet", needed("to_parquet", "pyarrow.parquet").write_table, table, path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write a CSV file with one row for each round, numbers in full."""
        table = self.to_arrow()
        _write("to_csv", needed("to_csv", "pyarrow.csv").write_csv, table, path)


def needed(owner: str, name: str) -> Any:
    """Import an optional module: pyarrow is in an extra, pandas and polars are not."""
    return optional(name, "this", owner, "data" if name.startswith("pyarrow") else None)


def _write(owner: str, write: Any, table: Any, path: str | os.PathLike[str]) -> None:
    try:
        with whole_file(path) as file:
            write(table, file)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.", owner=owner) from error


def _by_name(trace: Trace, experts: tuple[str, ...]) -> np.ndarray:
    """The weights of these experts; those that came later, as with a new adviser, had none."""
    if trace.experts == experts:
        return trace.drift_weights
    found = np.zeros((len(trace.drift_weights), len(experts)))
    found[:, [experts.index(name) for name in trace.experts]] = trace.drift_weights
    return found


def join(traces: list[Trace]) -> Trace:
    """One trace of rounds that followed each other."""
    if len(traces) == 1:
        return traces[0]
    names = (
        "margin",
        "prediction",
        "probability",
        "coin",
        "queried",
        "updated",
        "mistaken",
        "switches",
        "delivered",
        "withheld",
    )
    arrays: dict[str, Any] = {name: np.concatenate([getattr(trace, name) for trace in traces]) for name in names}
    experts = traces[-1].experts
    arrays["drift_weights"] = np.concatenate([_by_name(trace, experts) for trace in traces])
    pair = traces[-1].pair
    if any(trace.pair != pair for trace in traces):  # the first rounds came before it was known how labels are written
        arrays["prediction"] = np.array((-1, 1) if pair is None else pair)[
            np.concatenate([(trace.signs > 0).astype(int) for trace in traces])
        ]
    return Trace(
        start=traces[0].start,
        rounds=sum(trace.rounds for trace in traces),
        questions=sum(trace.questions for trace in traces),
        updates=sum(trace.updates for trace in traces),
        mistakes=sum(trace.mistakes for trace in traces),
        floor=traces[0].floor,
        experts=experts,
        blind=any(trace.blind for trace in traces),
        costs=traces[0].costs,
        several=traces[0].several,
        pair=pair,
        **arrays,
    )
