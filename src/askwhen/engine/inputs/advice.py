"""Advice from outside, validated: what each adviser says of an instance, as the number of a label and a probability.

An adviser names a label, or a label with a confidence, or gives the probability of every label, or says nothing. Of two
labels a single probability is that of the positive one. A regressor's adviser gives a number.

==========  ==========================================================
label       the number of the label that is named, or that has the largest probability; of two labels 0 and 1; -1 if
            the adviser says nothing, -2 for a label that is no class so far, which only open classes allow
p           the stated probability of that label, NaN where only a label is named; a regressor's advice is this number
line        with several classes: the place of the stated probabilities among ``lines``, or -1
==========  ==========================================================
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...errors import InputError, at_row
from .argument_checks import check_class, check_new_label, shortened
from .two_labels import LARGEST_LABEL, Pair, sign_of

MOST_ADVISERS = 100
"""Largest number of advisers of a sampler."""

ANY = "any"
SILENT, UNKNOWN = -1, -2
_SUM_TOLERANCE = 0.02
"""Stated probabilities are often rounded to two digits."""

_WORDS = "a label, a label with a confidence from 0 to 1, or a dict with the probability of each label"


class Statement(NamedTuple):
    """What one adviser says of one instance; ``word`` is the label as it is written."""

    label: int
    p: float
    line: np.ndarray | None = None
    word: Any = None


SAYS_NOTHING = Statement(SILENT, 0.0)


class Labels(Protocol):
    """The labels that advisers may name, as an engine knows them."""

    pair: Pair
    regression: bool

    @property
    def classes(self) -> list[Any] | None:
        """The classes, or None."""

    @property
    def places(self) -> dict[Any, int]:
        """The number of each class."""

    @property
    def most(self) -> int:
        """Largest number of open classes, or 0."""


def check_advisers(owner: str, names: Any) -> tuple[list[str], bool]:
    """The names of advisers, and whether further ones may appear."""
    if names is None:
        return [], False
    if isinstance(names, str):
        if names == ANY:
            return [], True
        raise InputError(f'advisers must be a list of names, or "any", got {names!r}.', owner=owner)
    given: list[Any] = list(names) if isinstance(names, Iterable) else [None]
    if len(given) > MOST_ADVISERS:
        raise InputError(f"there may be at most {MOST_ADVISERS} advisers, got {len(given):,}.", owner=owner)
    for name in given:
        check_name(owner, name)
    if len(set(given)) < len(given) or not given:
        raise InputError(f'advisers must be different names, or "any", got {shortened(given)}.', owner=owner)
    return given, False


def check_name(owner: str, name: Any) -> str:
    """The name of an adviser."""
    if not isinstance(name, str) or not 0 < len(name) <= 100 or not name.isprintable():
        raise InputError(
            f"an adviser's name must be a text of up to 100 characters, got {shortened(name)}.", owner=owner
        )
    return name


def check_advice(owner: str, advice: Any, known: Sequence[str], is_open: bool) -> dict[str, Any]:
    """What is said by name; an adviser that is not known is refused, unless the advisers are open."""
    if not isinstance(advice, Mapping):
        raise InputError(f"advice must be a dict with an entry for each adviser, got {shortened(advice)}.", owner=owner)
    new = [name for name in advice if name not in known]
    if new and not is_open:
        listed = ", ".join(map(repr, known[:8])) + (f" and {len(known) - 8} more" if len(known) > 8 else "")
        cure = f"the advisers are {listed}" if known else 'give the sampler advisers=[...], or advisers="any"'
        raise InputError(f"the adviser {shortened(new[0])} is not known; {cure}.", owner=owner)
    for name in new:
        check_name(owner, name)
    if len(known) + len(new) > MOST_ADVISERS:
        raise InputError(f"there may be at most {MOST_ADVISERS} advisers, got {len(known) + len(new):,}.", owner=owner)
    return dict(advice)


def is_nothing(said: Any) -> bool:
    """Whether an adviser says nothing: None, NaN, or an empty text as in a file."""
    return said is None or (isinstance(said, float) and said != said) or (isinstance(said, str) and not said)


def read_statement(owner: str, name: str, said: Any, labels: Labels) -> tuple[Statement, Pair]:
    """What one adviser says, and how the two labels are written as far as that is known with it."""
    said = said.item() if isinstance(said, np.generic) else said
    if is_nothing(said):
        return SAYS_NOTHING, labels.pair
    try:
        if labels.regression:
            return Statement(0, _number(owner, said)), labels.pair
        if isinstance(said, Mapping):
            return _of_probabilities(owner, said, labels)
        if isinstance(said, (tuple, list)):
            if len(said) != 2:
                raise InputError(f"an adviser says {_WORDS}, got {shortened(said)}.", owner=owner)
            return _of_label(owner, said[0], _confidence(owner, said[1]), labels)
        if isinstance(said, (np.ndarray, set)):
            raise InputError(f"an adviser says {_WORDS}, got {shortened(said)}.", owner=owner)
        if _is_probability(said, labels):
            return Statement(int(said > 0.5), max(float(said), 1.0 - float(said))), labels.pair
        return _of_label(owner, said, math.nan, labels)
    except InputError as error:
        raise InputError(f"advice of {name!r}: {error.sentence}", owner=owner, parameter="advice", got=said) from error


def _is_probability(said: Any, labels: Labels) -> bool:
    """Whether a single number is the probability of the positive one of two labels."""
    return labels.classes is None and type(said) is float and 0.0 <= said <= 1.0 and not labels.pair.allows(said)


def _number(owner: str, said: Any) -> float:
    if isinstance(said, (int, float)) and not isinstance(said, bool) and abs(said) <= LARGEST_LABEL:
        return float(said)
    raise InputError(f"it must be a finite number, got {shortened(said)}.", owner=owner)


def _confidence(owner: str, given: Any) -> float:
    """A stated confidence; NaN where there is none."""
    given = given.item() if isinstance(given, np.generic) else given
    if is_nothing(given):
        return math.nan
    if not isinstance(given, (int, float)) or isinstance(given, bool) or not 0.0 <= given <= 1.0:
        raise InputError(f"a confidence must be a number from 0 to 1, got {shortened(given)}.", owner=owner)
    return float(given)


def _of_label(owner: str, label: Any, p: float, labels: Labels) -> tuple[Statement, Pair]:
    number, word, pair = number_of(owner, label, labels)
    return Statement(number, p, None, word), pair


def number_of(owner: str, label: Any, labels: Labels) -> tuple[int, Any, Pair]:
    """The number of a label, the label as it is written, and how the two labels are written."""
    if labels.classes is None:
        sign, pair = sign_of(owner, label, labels.pair)
        return int(sign > 0.0), pair.labels[int(sign > 0.0)], pair
    if labels.most:
        word = check_new_label(owner, labels.classes, label)
        return labels.places.get(word, UNKNOWN), word, labels.pair
    number = check_class(owner, labels.places, label)
    return number, labels.classes[number], labels.pair


def _of_probabilities(owner: str, said: Mapping[Any, Any], labels: Labels) -> tuple[Statement, Pair]:
    """Probabilities by label; labels that are not named have none."""
    shares = [_confidence(owner, share) for share in said.values()]
    check_sum(owner, sum(shares), shortened(dict(said)))
    pair = labels.pair
    if labels.classes is None and pair.known != 2 and len(said) == 2:
        pair = _pair_in(owner, list(said))
    numbers, words = [], []
    for label in said:
        number, word, pair = number_of(owner, label, _With(labels, pair))
        numbers.append(number)
        words.append(word)
    if labels.classes is None:
        positive = sum(share for number, share in zip(numbers, shares, strict=True) if number == 1) / sum(shares)
        return Statement(int(positive > 0.5), max(positive, 1.0 - positive)), pair
    line = np.zeros(len(labels.places))
    for number, share in zip(numbers, shares, strict=True):
        if number >= 0:
            line[number] += share / sum(shares)
    best = max(range(len(shares)), key=lambda i: shares[i])  # the first among equals
    return Statement(numbers[best], shares[best] / sum(shares), line, words[best]), pair


def check_sum(owner: str, total: float, shown: str) -> None:
    """Refuse probabilities that do not sum to one, up to rounding."""
    if not abs(total - 1.0) <= _SUM_TOLERANCE:
        raise InputError(f"the probabilities must sum to 1, got {shown} with sum {total:.4g}.", owner=owner)


def _pair_in(owner: str, both: list[Any]) -> Pair:
    """How two labels are written that come together."""
    from .two_labels import signs_of

    return signs_of(owner, both, 2)[1]


class _With:
    """Labels with another pair."""

    def __init__(self, labels: Labels, pair: Pair) -> None:
        self.classes, self.places, self.most = labels.classes, labels.places, labels.most
        self.regression, self.pair = labels.regression, pair


class Columns(NamedTuple):
    """What one adviser says of n instances; ``lines`` has the stated probabilities of some of them."""

    label: np.ndarray
    p: np.ndarray
    line: np.ndarray
    lines: np.ndarray


def read_columns(owner: str, name: str, given: Any, n: int, labels: Labels, unknown: dict[Any, int]) -> Columns:
    """What one adviser says of n instances: labels, a pair of labels and confidences, or an array of probabilities.

    Labels that are no class, and none of y, which only open classes allow, are numbered in ``unknown`` from -2 down.
    """
    try:
        return _read_columns(owner, name, given, n, labels, unknown)
    except InputError as error:
        if error.sentence.startswith("advice of"):
            raise
        raise InputError(f"advice of {name!r}: {error.sentence}", owner=owner, parameter="advice") from error


def _read_columns(owner: str, name: str, given: Any, n: int, labels: Labels, unknown: dict[Any, int]) -> Columns:
    matrix = given if isinstance(given, np.ndarray) else None
    if matrix is not None and matrix.ndim == 2 and not labels.regression:
        return _of_matrix(owner, matrix, n, labels)
    if matrix is None and getattr(given, "ndim", 1) == 2:
        raise InputError(
            "probabilities must be a numpy array with a column for each label, in the order of the labels, got "
            f"{type(given).__name__}.",
            owner=owner,
        )
    is_pair = isinstance(given, tuple) and len(given) == 2 and all(np.ndim(part) == 1 for part in given)
    if not is_pair or labels.regression:
        return _each(owner, name, _values(owner, given, n), labels, unknown)
    said = _each(owner, name, _values(owner, given[0], n), labels, unknown)
    confidences = _confidences(owner, given[1], n, said.label != SILENT)
    return said._replace(p=np.where(said.label == SILENT, 0.0, confidences))


def _values(owner: str, given: Any, n: int) -> Any:
    """A column as an array of numbers or texts, or as a list of n values."""
    if isinstance(given, (str, bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"it must hold a value for each of the {n} rows, got {shortened(given)}.", owner=owner)
    is_plain = isinstance(given, np.ndarray) and given.ndim == 1 and given.dtype.kind in "iufbU"
    found: Any = given if is_plain else given.tolist() if hasattr(given, "tolist") else list(given)
    if len(found) != n:
        raise InputError(f"it must hold a value for each of the {n} rows, got {len(found)}.", owner=owner)
    return found


def _confidences(owner: str, given: Any, n: int, says: np.ndarray) -> np.ndarray:
    """A confidence for each row, NaN where there is none; rows in which nothing is said need none."""
    values = _values(owner, given, n)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        p = values.astype(float)
        wrong = says & ~(((p >= 0.0) & (p <= 1.0)) | np.isnan(p))
        if not wrong.any():
            return p
        values, says = values.tolist(), wrong
    found = np.full(n, math.nan)
    for i in np.flatnonzero(says).tolist():
        try:
            found[i] = _confidence(owner, values[i])
        except InputError as error:
            raise _in_row(owner, error, i) from error
    return found


def _in_row(owner: str, error: InputError, i: int) -> InputError:
    sentence = f"{error.sentence.removesuffix('.')} in {at_row(i)}."
    return InputError(sentence, owner=owner, parameter="advice", row=i)


def _each(owner: str, name: str, said: Any, labels: Labels, unknown: dict[Any, int]) -> Columns:
    """Statements one by one; equal ones are read once."""
    if isinstance(said, np.ndarray):
        values, first, where = np.unique(said, return_index=True, return_inverse=True)
        rows, order = first.tolist(), np.argsort(first)
        values, where = values[order], np.argsort(order)[where]
        said, rows = values.tolist(), first[order].tolist()
    else:
        where, rows = None, range(len(said))
    n = len(said)
    label, p, line = np.full(n, SILENT), np.zeros(n), np.full(n, -1)
    lines: list[np.ndarray] = []
    known: dict[Any, Statement] = {}
    for i, each in enumerate(said):
        if is_nothing(each):
            continue
        key = (type(each), each) if not isinstance(each, (dict, list)) else None
        found = known.get(key) if key is not None else None
        if found is None:
            try:
                found, _ = read_statement(owner, name, each, labels)
            except InputError as error:
                raise _in_row(owner, error, rows[i]) from error
            if found.label == UNKNOWN:
                found = found._replace(label=unknown.setdefault(found.word, UNKNOWN - len(unknown)))
            if key is not None:
                known[key] = found
        label[i], p[i] = found.label, found.p
        if found.line is not None:
            line[i] = len(lines)
            lines.append(found.line)
    found_lines = np.array(lines) if lines else no_lines(labels)
    if where is None:
        return Columns(label, p, line, found_lines)
    return Columns(label[where], p[where], line[where], found_lines)


def _of_matrix(owner: str, matrix: np.ndarray, n: int, labels: Labels) -> Columns:
    """A row of probabilities for each instance, in the order of the labels; a row of NaN says nothing."""
    k = 2 if labels.classes is None else len(labels.classes)
    if labels.most:
        raise InputError("with open classes probabilities are given by label, as a list of dicts.", owner=owner)
    if matrix.shape != (n, k) or matrix.dtype.kind not in "fiu":
        raise InputError(
            f"probabilities must have a row for each of the {n} instances and a column for each of the {k} labels, got "
            f"shape {matrix.shape}.",
            owner=owner,
        )
    P = matrix.astype(float)
    says = ~np.isnan(P).all(axis=1)
    wrong = says & ~((P >= 0.0) & (P <= 1.0)).all(axis=1)
    if wrong.any():
        i = int(np.argmax(wrong))
        raise InputError(
            f"probabilities must be from 0 to 1, got {shortened(P[i].tolist())} in {at_row(i)}.", owner=owner
        )
    sums = sum(P.T)  # one after the other, as in a single round
    off = says & ~(np.abs(sums - 1.0) <= _SUM_TOLERANCE)
    if off.any():
        i = int(np.argmax(off))
        check_sum(owner, float(sums[i]), f"{shortened(P[i].tolist())} in {at_row(i)}")
    P = np.where(says[:, None], P / np.where(says, sums, 1.0)[:, None], 0.0)
    if labels.classes is None:
        positive = P[:, 1]
        label, p = (positive > 0.5).astype(int), np.maximum(positive, 1.0 - positive)
        return Columns(np.where(says, label, SILENT), np.where(says, p, 0.0), np.full(n, -1), no_lines(labels))
    label, p = np.where(says, P.argmax(axis=1), SILENT), P.max(axis=1)
    return Columns(label, p, np.where(says, np.arange(n), -1), P)


def no_lines(labels: Labels) -> np.ndarray:
    """No stated probabilities."""
    return np.zeros((0, len(labels.places)))
