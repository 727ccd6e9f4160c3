"""Validation of arguments before they reach an engine: times, labels, classes, costs, and which question is answered.

Each function returns the validated value in the form that the engine needs, or raises an ``InputError``.
"""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.sparse as sp

from ...contracts.learner import State
from ...contracts.rule import last_time, period_length
from ...contracts.sampler import Parts
from ...data.label_spelling import Spellings
from ...errors import InputError, QuestionError
from ...linalg.rows import DenseRows, Rows, SparseRow, SparseRows
from ...trace.trace import Ask, Origin
from ...validation import LARGEST_TIME, as_float, short
from .instance_checks import all_canonical, check_instance, check_instances

T = TypeVar("T", bound=tuple[Any, ...])


class Timed(Protocol):
    """The attributes of an engine that the checks of times read."""

    parts: Parts
    needs_time: bool

    @property
    def rule(self) -> State:
        """The state of the rule, which knows the last time and the length of a period."""


def round_time(engine: Timed, owner: str, time: Any) -> float:
    """The time of the next round: a number that does not go back, or 0 where none is needed and none is given."""
    if time is None and not engine.needs_time:
        return 0.0
    if time is None:
        raise InputError(
            f"time must be given, since {short(engine.parts.rule)} has a budget per period of time.", owner=owner
        )
    now = check_time(owner, time)
    _check(engine, owner, "time", now, abs(now))
    return now


def check_decision(decision: Any) -> None:
    """Refuse what is neither "certain" nor an earlier decision with a probability that it can have had."""
    if decision is None or decision == "certain":
        return
    if isinstance(decision, tuple) and len(decision) == 2 and isinstance(decision[0], bool):
        asked, chance = decision
        if isinstance(chance, (int, float)) and 0.0 <= chance <= 1.0 and not (asked and chance == 0.0):
            return
    raise InputError.about(
        "play", "decision", '"certain", or whether it was asked and with which probability', decision
    )


def round_times(engine: Timed, owner: str, times: Any, n: int) -> np.ndarray:
    """The times of the next n rounds, or an empty array where none are needed and none are given."""
    if times is None and engine.needs_time:
        raise InputError(
            f"times must be given, since {short(engine.parts.rule)} has a budget per period of time.", owner=owner
        )
    if times is None:
        return np.zeros(0)
    found = check_times(owner, times, n)
    _check(engine, owner, "times", float(found[0]), float(np.abs(found).max()))
    return found


def _check(engine: Timed, owner: str, name: str, first: float, largest: float) -> None:
    """Refuse a time before the last one, and one so large that a float cannot resolve a period."""
    per, last = float(period_length(engine.rule)), float(last_time(engine.rule))
    if per > 0.0 and largest / per > 1e12:
        raise InputError(f"a period of {per!r} is too short to be resolved at time {largest!r}.", owner=owner)
    if first < last:
        raise InputError(f"{name} must not go back, got {first!r} after {last!r}.", owner=owner)


def open_question(owner: str, waiting: Mapping[int, T], ask: Ask | int) -> T:
    """The open question of an Ask, or of the number of its round; each item of ``waiting`` begins with its Ask."""
    number = ask[0] if type(ask) is Ask else ask
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise QuestionError(f"ask must be an Ask or the number of its round, got {ask!r}.", owner=owner)
    found = waiting.get(int(number))
    if found is None:
        raise QuestionError(
            f"round {number!r} has no open question; it never asked, or was answered or forgotten.", owner=owner
        )
    if isinstance(ask, Ask) and found[0] is not ask:
        check_origin(owner, getattr(found[0], "origin", None), ask)
        if found[0] != ask:
            raise _of_another(owner, ask)
    return found


def check_origin(owner: str, origin: Origin | None, ask: object) -> None:
    """Refuse a question of another sampler; a question of unknown origin is accepted."""
    if isinstance(ask, Ask) and origin is not None and origin.differs(ask.origin):
        raise _of_another(owner, ask)


def _of_another(owner: str, ask: Ask) -> QuestionError:
    return QuestionError(
        f"this question of round {ask.round} was asked by another sampler; answer it there.", owner=owner
    )


def check_costs(owner: str, costs: Any) -> tuple[float, float]:
    """The costs of a false positive and of a false negative, as two numbers."""
    given = list(costs) if isinstance(costs, (tuple, list, np.ndarray)) else []
    numbers_ = [as_float(cost) for cost in given if isinstance(cost, numbers.Real) and not isinstance(cost, bool)]
    if len(numbers_) != 2 or len(given) != 2 or not all(1e-9 <= cost <= 1e9 for cost in numbers_):
        raise InputError(
            "costs must be two positive numbers between 1e-9 and 1e9, of a false positive and of a false negative, got "
            f"{costs!r}.",
            owner=owner,
        )
    return numbers_[0], numbers_[1]


def check_classes(owner: str, classes: Any, name: str = "classes") -> list[Any]:
    """At least two different labels, strings or numbers."""
    ordered = isinstance(classes, Iterable) and not isinstance(classes, (str, bytes, set, frozenset))
    found = [label.item() if isinstance(label, np.generic) else label for label in classes] if ordered else []
    words = [isinstance(label, str) and "\0" not in label for label in found]
    figures = [isinstance(label, (int, float)) and label == label for label in found]  # NaN is not itself
    if len(found) < 2 or not (all(words) or all(figures)) or len(set(found)) < len(found):
        raise InputError(
            f"{name} must be a list of at least two different strings or numbers, not both, got {shortened(classes)}.",
            owner=owner,
        )
    return found


LONGEST_LABEL = 200
"""Largest number of characters of a label; longer ones are most likely free text."""


def shortened(value: object) -> str:
    """The representation of a value in an error message, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= 100 else f"{text[:90]}..."


def check_label_vector(owner: str, y: Any, n: int) -> np.ndarray:
    """One label of any type for each of n instances."""
    if isinstance(y, np.ma.MaskedArray):
        raise InputError("y must be a plain array, got a masked one; fill it first.", owner=owner)
    try:
        labels = np.asarray(one_column(y))
    except ValueError:
        raise InputError("y must hold one label for each row, got rows of different lengths.", owner=owner) from None
    if labels.shape != (n,):
        raise InputError(f"y must hold {n} labels, one for each row of X, got shape {labels.shape}.", owner=owner)
    return labels


def numbered(owner: str, labels: np.ndarray, number: Callable[[Any], int]) -> np.ndarray:
    """The numbers of labels, as floats; an error names the first row with the label that is refused."""
    plain = labels.tolist()
    known: dict[Any, float] = {}
    found = np.empty(len(plain))
    for i, label in enumerate(plain):
        try:
            found[i] = known[label]
        except (KeyError, TypeError):
            try:
                found[i] = known[label] = float(number(label))
            except InputError as error:
                sentence = error.sentence.removesuffix(".")
                raise InputError(f"{sentence} in row {i}.", owner=owner, parameter="y", row=i) from None
    return found


def check_most(owner: str, most: Any) -> int:
    """Largest number of open classes."""
    if isinstance(most, bool) or not isinstance(most, (int, np.integer)) or not 3 <= most <= 1000:
        raise InputError.about(owner, "most_classes", "a whole number from 3 to 1,000", most)
    return int(most)


def check_label_set(owner: str, places: Mapping[Any, int], labels: Any) -> int:
    """The number of a set of labels: a bit for each."""
    if isinstance(labels, (str, bytes)) or not isinstance(labels, Iterable):
        raise InputError(f"labels must be a list or a set of those that apply, got {labels!r}.", owner=owner)
    return sum(1 << place for place in {check_class(owner, places, label) for label in labels})


def check_label_sets(owner: str, places: Mapping[Any, int], Y: Any) -> np.ndarray:
    """The numbers of many sets of labels, given as lists of labels, or as a matrix of truth values."""
    Y = Y.toarray() if sp.issparse(Y) else Y
    k = len(places)
    matrix = Y if isinstance(Y, np.ndarray) else np.asarray(Y) if hasattr(Y, "__array__") else None
    if matrix is None and isinstance(Y, Iterable):
        given = list(Y)
        if given and all(isinstance(row, (list, tuple, np.ndarray)) and len(row) == k for row in given):
            flags = [value for row in given for value in row]
            if all(isinstance(value, (bool, int, float, np.generic)) and value in (0, 1) for value in flags):
                matrix = np.array(given)
        if matrix is None:
            return np.array([check_label_set(owner, places, row) for row in given], np.int64)
    if matrix is None or matrix.ndim != 2 or matrix.shape[1] != k or not np.isin(matrix, (0, 1)).all():
        raise InputError(
            f"Y must have a column of 0 and 1 for each of the {k} labels, or list the labels that apply to each row.",
            owner=owner,
        )
    return np.asarray((matrix.astype(np.int64) << np.arange(k)).sum(axis=1))


def check_new_label(owner: str, known: list[Any], label: Any) -> Any:
    """A label that may open a class: a string or a number, of the same type as the others."""
    found = label.item() if isinstance(label, np.generic) else label
    word = isinstance(found, str)
    figure = isinstance(found, (int, float)) and found == found
    if not (word or figure) or (known and isinstance(known[0], str) != word):
        kind = "a string or a number" if not known else f"a {'string' if isinstance(known[0], str) else 'number'}"
        like = ", as those before" if known else ""
        raise InputError(f"the label must be {kind}{like}, got {shortened(label)}.", owner=owner)
    if word and (len(found) > LONGEST_LABEL or "\0" in found):
        raise InputError(
            f"the label must have at most {LONGEST_LABEL} characters, and no NUL character, got {shortened(label)}.",
            owner=owner,
        )
    return found


def check_open_labels(owner: str, places: Mapping[Any, int], y: Any, n: int) -> tuple[np.ndarray, list[Any]]:
    """The class numbers of labels, as floats, and a list of new labels, which are numbered after the classes."""
    every: dict[Any, int] = dict(places)
    new: list[Any] = []

    def number(given: Any) -> int:
        label = check_new_label(owner, list(places)[:1] or new, given)
        if label not in every:
            every[label] = len(every)
            new.append(label)
        return every[label]

    found = numbered(owner, check_label_vector(owner, y, n), number)
    warn_of_spelling(new, places)
    return found, new


def warn_of_spelling(labels: Iterable[Any], known: Iterable[Any] = ()) -> None:
    """Warn of labels that differ from others, or from known ones, only by case or blanks."""
    cure = "write them alike, as [label.strip().lower() for label in y] does, or data.read(..., fold_labels=True)"
    Spellings(known).warn("y", labels, f"{cure}, or --fold-labels for a command")


def check_class(owner: str, places: Mapping[Any, int], label: Any) -> int:
    """The number of the class that a label names."""
    found = label.item() if isinstance(label, np.generic) else label
    if not isinstance(found, (str, int, float)) or found not in places:
        classes = list(places)
        listed = ", ".join(map(shortened, classes[:8])) + (f" and {len(classes) - 8} more" if len(classes) > 8 else "")
        raise InputError(f"the label must be one of the classes {listed}, got {shortened(label)}.", owner=owner)
    return places[found]


def check_class_labels(owner: str, places: Mapping[Any, int], y: Any, n: int) -> np.ndarray:
    """The class numbers of labels, as floats."""
    return numbered(owner, check_label_vector(owner, y, n), lambda label: check_class(owner, places, label))


def check_time(owner: str, time: Any) -> float:
    """A point in time as a number: a finite number as it is, a date as its seconds since 1970."""
    return float(check_times(owner, [time], 1, "time")[0])


def check_times(owner: str, times: Any, n: int, name: str = "times") -> np.ndarray:
    """Points in time as numbers, one for each instance, none earlier than its predecessor."""
    if isinstance(times, np.ma.MaskedArray):
        raise InputError(f"{name} must be a plain array, got a masked one; fill it first.", owner=owner)
    array = np.asarray(times)
    if array.dtype == object:
        array = np.array([_moment(time) for time in array.ravel().tolist()]).reshape(array.shape)
    if array.dtype.kind == "M":
        gone = np.isnat(array)
        array = (array - np.datetime64(0, "s")) / np.timedelta64(1, "s")
        array[gone] = np.nan
    elif array.dtype.kind not in "fiu":
        raise InputError(
            f"{name} must be numbers, datetime or datetime64, got {array.ravel()[:1].tolist()}.", owner=owner
        )
    if array.shape != (n,):
        raise InputError(
            f"{name} must hold one time for each of the {n} instances, got shape {array.shape}.", owner=owner
        )
    array = np.ascontiguousarray(array, np.float64)
    if not (np.abs(array) <= LARGEST_TIME).all():
        raise InputError(f"{name} must be finite and at most {LARGEST_TIME:g} in size.", owner=owner)
    if (np.diff(array) < 0).any():
        late = int(np.argmax(np.diff(array) < 0)) + 1
        raise InputError(f"{name} must not go back, but time {late} is before the one before it.", owner=owner)
    return array


def _moment(time: Any) -> Any:
    """A datetime as datetime64, in UTC; anything else as it is."""
    if not isinstance(time, datetime.datetime):
        return time
    return np.datetime64(time if time.tzinfo is None else time.astimezone(datetime.UTC).replace(tzinfo=None))


def given_rows(owner: str, x: Any, y: Any, sparse: bool | None) -> tuple[Rows, Any]:
    """Instances and labels as rows; a single instance with a single label becomes one row and a list of one label."""
    if dimensions_of(owner, y) > 0:
        return all_canonical(owner, check_instances(owner, x, sparse)), y
    row, d = check_instance(owner, x, sparse)
    if not isinstance(row, SparseRow):
        return DenseRows(row.reshape(1, -1)), [y]
    ends = np.array([0, row.stop - row.start], np.int64)
    own = row.copy()
    return SparseRows(own.data, own.indices, ends, d), [y]


def check_flags(owner: str, name: str, values: Any, n: int) -> np.ndarray:
    """One truth value for each instance, or an empty array where nothing is given."""
    if values is None:
        return np.zeros(0, np.bool_)
    flags = np.asarray(values)
    if flags.dtype != np.bool_ or flags.shape != (n,):
        raise InputError(
            f"{name} must hold True or False for each of the {n} instances, got {flags.dtype} of shape {flags.shape}.",
            owner=owner,
        )
    return np.ascontiguousarray(flags)


def one_column(y: Any) -> Any:
    """The only column of a table (pandas, polars, Arrow) with one column; other labels unchanged."""
    names = getattr(y, "column_names", None) or getattr(y, "columns", None)
    if names is None or np.ndim(y) != 2 or len(names) != 1:
        return y
    return np.asarray(y)[:, 0]


def dimensions_of(owner: str, y: Any) -> int:
    """Number of dimensions of the labels."""
    if sp.issparse(y):
        raise InputError(f"y must be a dense array, got a sparse {y.format} matrix; use y.toarray().", owner=owner)
    try:
        return np.ndim(y)
    except ValueError:
        raise InputError("y must be an array of numbers, got rows of different lengths.", owner=owner) from None
