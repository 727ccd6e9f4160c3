"""Two labels as people write them: -1 and +1 inside, and what was written in predictions.

The labels themselves say which pair they are, and a pair once known stays:

======================  ============================================================
0 and 1                 1 is the positive label
False and True          True is the positive label
-1 and +1               stand for themselves
two strings             the second in sorted order is the positive label, as in scikit-learn; of "yes" and "no",
                        "true" and "false", "-1" and "+1", "x" and "not x" the one that says so
any two                 where they are given beforehand, the second
======================  ============================================================

0, -1 and False alone show their pair. 1 alone shows only that it is positive: which label is the other one is known
when it comes. A string alone is refused, since it may be either.
"""

from __future__ import annotations

import numbers
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from ...data.labels import in_order
from ...errors import InputError
from ...validation import as_float
from .argument_checks import check_classes, check_label_vector, shortened, warn_of_spelling
from .instance_checks import as_numbers

LARGEST_LABEL = 1e100

_NUMBER = f"a number between -{LARGEST_LABEL:g} and {LARGEST_LABEL:g}"
_PART = 1 << 14
"""Number of labels that are checked at once."""

_SOME = 12
"""Number of different labels that a message lists."""
_GIVE = "give Sampler the pair, the positive label second, as labels="


class Pair(NamedTuple):
    """The negative and the positive label, and how many of the two are known: while only 1 has come, one.

    As long as not both are known, they are -1 and +1.
    """

    negative: Any
    positive: Any
    known: int = 2

    @property
    def labels(self) -> list[Any]:
        """The two labels, as predictions give them."""
        return [self.negative, self.positive]

    @property
    def written(self) -> tuple[Any, Any] | None:
        """The two labels; None where they are -1 and +1."""
        return None if self.labels == _SIGNS else (self.negative, self.positive)

    @property
    def names(self) -> list[str]:
        """The two labels in a message."""
        return ["-1", "+1"] if self.labels == _SIGNS else [shortened(label) for label in self.labels]

    def decode(self, signs: np.ndarray) -> np.ndarray:
        """The labels of -1 and +1."""
        return signs if self.labels == _SIGNS else np.array(self.labels)[(signs > 0).astype(int)]

    def allows(self, label: Any) -> bool:
        """Whether this is one of the labels; True and False are 1 and 0, where these are the labels."""
        if isinstance(label, bool) and not set(self.labels) <= {0, 1}:
            return False
        return label in self.labels

    def may_predict(self, label: Any) -> bool:
        """Whether a question may hold this prediction: it may be older than the knowledge of the labels."""
        return label in self.labels or label in _SIGNS


_SIGNS = [-1, 1]
SIGNS = Pair(-1, 1)
NO_PAIR = Pair(-1, 1, known=0)
_ONLY_1 = Pair(-1, 1, known=1)


def check_pair(owner: str, labels: Any) -> Pair:
    """A pair of labels that was given beforehand, the negative one first."""
    found = check_classes(owner, labels, "labels")
    if len(found) != 2:
        raise InputError(
            f"labels must be two, the negative one first, got {shortened(labels)}; for more give classes=.",
            owner=owner,
        )
    return Pair(*map(_plain, found))


def written_pair(pair: Pair, learnt: bool) -> list[Any] | None:
    """A pair for a file: its known labels, or None where they are those that a file without them has."""
    return None if pair == _unwritten(learnt) else pair.labels[2 - pair.known :]


def read_pair(labels: Any, learnt: bool) -> Pair:
    """The pair of a file; ``learnt`` says whether any label was learnt."""
    if labels is None:
        return _unwritten(learnt)
    return check_pair("load", labels) if len(labels) == 2 else {0: NO_PAIR, 1: _ONLY_1}[len(labels)]


def _unwritten(learnt: bool) -> Pair:
    """The pair of a file that does not say it, as all earlier ones: their labels were -1 and +1."""
    return SIGNS if learnt else NO_PAIR


def signs_of(owner: str, y: Any, n: int, pair: Pair = NO_PAIR) -> tuple[np.ndarray, Pair]:
    """Labels as -1.0 and +1.0, and the pair as it is known with them."""
    labels = check_label_vector(owner, _with_objects(y), n)
    found = _of_arrays(labels, pair)
    if found is not None:
        return found
    first = _first_rows(owner, labels)
    if pair.known == 2:
        for label, row in first.items():
            if not pair.allows(label):
                raise _outside(owner, pair, label, row)
    else:
        pair = _pair_of(owner, first, labels, pair)
    return np.where(labels == pair.positive, 1.0, -1.0), pair


def _of_arrays(labels: np.ndarray, pair: Pair) -> tuple[np.ndarray, Pair] | None:
    """What ``signs_of`` returns for a valid array of numbers or truth values, without sorting it; None for others."""
    if labels.dtype.kind not in "fiub":
        return None
    codings = [pair] if pair.known == 2 else [Pair(False, True)] if labels.dtype.kind == "b" else [SIGNS, Pair(0, 1)]
    for coding in codings:
        if (labels.dtype.kind != "b" or coding.allows(True)) and _holds(labels, coding.positive, coding.negative):
            only_1 = pair.known != 2 and labels.dtype.kind != "b" and _holds(labels, coding.positive)
            return _as_signs(labels, coding), _ONLY_1 if only_1 else coding
    return None


def _holds(labels: np.ndarray, *values: Any) -> bool:
    """Whether all labels are one of the values; a part at a time, which stays in the processor's first cache."""
    for first in range(0, len(labels), _PART):
        part = labels[first : first + _PART]
        found = part == values[0]
        for value in values[1:]:
            found |= part == value
        if not found.all():
            return False
    return True


def _as_signs(labels: np.ndarray, pair: Pair) -> np.ndarray:
    """Labels as -1.0 and +1.0; the array itself, which is only read, if it holds these already."""
    if pair == SIGNS and labels.dtype == np.float64 and labels.flags.carray and labels.dtype.isnative:
        return labels
    return np.where(labels == pair.positive, 1.0, -1.0)


def sign_of(owner: str, y: Any, pair: Pair) -> tuple[float, Pair]:
    """One label as -1.0 or +1.0, and the pair as it is known with it."""
    label = _plain(y)
    if pair.known == 2 and not (_is_label(label) and pair.allows(label)):
        raise InputError(f"y must be {' or '.join(pair.names)}, got {shortened(y)}.", owner=owner, parameter="y", got=y)
    if pair.known != 2:
        if not _is_label(label):
            raise InputError(f"y must be a label, got {shortened(y)}.", owner=owner, parameter="y", got=y)
        pair = _pair_of(owner, {label: None}, np.array([label], object), pair)
    return 1.0 if label == pair.positive else -1.0, pair


def check_numbers(owner: str, y: Any, n: int) -> np.ndarray:
    """The labels of a regressor: finite numbers, as float64."""
    labels = as_numbers(owner, "y", y)
    if labels.dtype == np.bool_:
        raise InputError("y must hold numbers, got True and False; use y.astype(float).", owner=owner)
    labels = np.ascontiguousarray(check_label_vector(owner, labels, n), np.float64)
    wrong = ~(np.abs(labels) <= LARGEST_LABEL)
    if wrong.any():
        row = int(np.argmax(wrong))
        expected, got = f"numbers between -{LARGEST_LABEL:g} and {LARGEST_LABEL:g}", float(labels[row])
        sentence = f"y must hold {expected}, got {got:g} in row {row}."
        raise InputError(sentence, owner=owner, parameter="y", expected=expected, got=got, row=row)
    return labels


def check_number(owner: str, y: Any) -> float:
    """One label of a regressor."""
    if isinstance(y, numbers.Real) and not isinstance(y, bool) and abs(as_float(y)) <= LARGEST_LABEL:
        return as_float(y)
    raise InputError(f"y must be {_NUMBER}, got {y!r}.", owner=owner)


def _with_objects(y: Any) -> Any:
    """A list that holds strings as an array of objects: numpy would make strings of all else in it."""
    if isinstance(y, (list, tuple)) and any(isinstance(label, str) for label in y):
        return np.array(y, object)
    return y


def _plain(label: Any) -> Any:
    """A label as Python has it; whole numbers without a fraction."""
    label = label.item() if isinstance(label, np.generic) else label
    return int(label) if isinstance(label, float) and label.is_integer() else label


def _is_label(label: Any) -> bool:
    if isinstance(label, str):
        return "\0" not in label  # numpy would cut it off
    return isinstance(label, (int, float)) and label == label  # NaN is not itself


def _first_rows(owner: str, labels: np.ndarray) -> dict[Any, int]:
    """The first row of each label, in the order of their appearance; a row without a label is refused."""
    if labels.dtype.kind in "fiub":
        values, rows = np.unique(labels, return_index=True)
        order = np.argsort(rows)
        found = {_plain(values[k]): int(rows[k]) for k in order.tolist()}
    else:
        found = {}
        for row, label in enumerate(labels.tolist()):
            if not _is_hashable(label):
                raise _no_label(owner, label, row)
            found.setdefault(_plain(label), row)
    for label, row in found.items():
        if not _is_label(label):
            raise _no_label(owner, label, row)
    return found


def _is_hashable(label: Any) -> bool:
    try:
        hash(label)
    except TypeError:
        return False
    return True


def _pair_of(owner: str, first: dict[Any, Any], labels: np.ndarray, before: Pair) -> Pair:
    """The pair that labels show, which was not known before; ``first`` has the first row of each."""
    words = [label for label in first if isinstance(label, str)]
    if words and (len(words) < len(first) or before.known):
        others = [label for label in first if label not in words] or [before.positive]
        found = f"has the string {shortened(words[0])} beside {_joined([shortened(label) for label in others[:_SOME]])}"
        raise _refused(owner, first, words[0], f"{found}; labels are all strings or all numbers.")
    if len(first) > 2:
        raise _too_many(owner, first, labels)
    if words:
        if len(words) == 2:
            warn_of_spelling(words)
            return Pair(*in_order(*words))
        found = f"is {shortened(words[0])} only, and which label is the other one is not known"
        raise _refused(owner, first, words[0], f"{found}; {_GIVE}('other', {shortened(words[0])}).")
    truths = any(isinstance(label, bool) for label in first)
    if set(first) <= {0, 1}:
        return Pair(False, True) if truths else Pair(0, 1) if 0 in first else _ONLY_1
    if set(first) <= {-1, 1} and not truths:
        return SIGNS
    raise _no_coding(owner, first, labels)


def _no_coding(owner: str, first: dict[Any, Any], labels: np.ndarray) -> InputError:
    """The error for one or two numbers that do not show which of them is positive."""
    strange = next((label for label in first if label not in (-1, 0, 1)), next(iter(first)))
    found, given = f"is {shortened(strange)} only, which does not say whether it is positive", "(negative, positive)"
    if len(first) == 2:
        found = f"has the labels {_counted(labels)}, which do not say which of them is positive"
        given = f"({', '.join(map(repr, sorted(first)))})"
    return _refused(owner, first, strange, f"{found}; {_GIVE}{given}, or regression=True to predict numbers.")


def _too_many(owner: str, first: dict[Any, Any], labels: np.ndarray) -> InputError:
    """The error for more than two labels, with how often each occurs."""
    figures = not any(isinstance(label, str) for label in first)
    named = f"classes={sorted(first)!r} or " if len(first) <= _SOME else ""
    regression = ", or regression=True to predict numbers" if figures else ""
    sentence = (
        f'has {len(first):,} different labels, {_counted(labels)}; give {named}classes="open" to predict one of them'
    )
    return _refused(owner, first, list(first)[2], f"{sentence}{regression}.")


def _refused(owner: str, first: dict[Any, Any], label: Any, sentence: str) -> InputError:
    return InputError(f"y {sentence}", owner=owner, parameter="y", got=label, row=first[label])


def _outside(owner: str, pair: Pair, label: Any, row: int) -> InputError:
    """The error for a label that is not one of the known pair."""
    expected = f"{' and '.join(pair.names)} only"
    sentence = f"y must hold {expected}, got {shortened(label)} in row {row}."
    return InputError(sentence, owner=owner, parameter="y", expected=expected, got=label, row=row)


def _no_label(owner: str, label: Any, row: int) -> InputError:
    """The error for a row whose label is missing, or is nothing that can be a label."""
    sentence = (
        f"y must hold a label in every row, a string, a number or a truth value, got {shortened(label)} in row {row}."
    )
    return InputError(sentence, owner=owner, parameter="y", got=label, row=row)


def _counted(labels: np.ndarray) -> str:
    """Labels with how often each occurs, the most frequent first."""
    counts = Counter(map(_plain, labels.tolist()))
    some = [f"{shortened(label)} ({count:,})" for label, count in counts.most_common(_SOME)]
    return _joined(some + ([f"{len(counts) - _SOME:,} more"] if len(counts) > _SOME else []))


def _joined(parts: list[str]) -> str:
    return " and ".join(part for part in (", ".join(parts[:-1]), parts[-1]) if part)
