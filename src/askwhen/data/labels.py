"""Labels as people write them, converted to -1 and +1."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..errors import InputError, argument
from .label_spelling import folded

_WORDS = {"true": 1.0, "false": -1.0, "yes": 1.0, "no": -1.0, "+1": 1.0, "1": 1.0, "-1": -1.0, "0": -1.0}
_CODINGS = ({"-1", "1"}, {"0", "1"}, {"true", "false"}, {"yes", "no"})
"""Pairs of labels for which the positive one is known without being named."""


_SOME = 12
"""Number of different labels that a message shows."""

_MANY_NUMBERS = 20
"""More different numbers than this are taken for numbers to predict and not for classes."""

MANY = 3
"""Number of different labels that is more than a pair."""


def words_of(seen: set[str], positive: Any) -> tuple[str, str] | None:
    """What -1 and +1 stand for in a stream with these labels; None where they stand for themselves."""
    if positive is not None:
        others = seen - {str(positive)}
        return (next(iter(others)) if len(others) == 1 else f"not {positive}", str(positive))
    pair = next((coding for coding in _CODINGS if seen <= coding), _CODINGS[0])
    negative, word = sorted(pair, key=lambda label: _WORDS[label])
    return None if (negative, word) == ("-1", "1") else (negative, word)


def is_coded(words: tuple[str, str]) -> bool:
    """Whether two labels say by themselves which is the positive one, as no and yes do."""
    return all(_written(word) in _WORDS for word in words)


def sign_of_word(text: str) -> float:
    """-1 or +1 of a text that says which it is, as no and yes, or 0 and 1.0, do; KeyError for any other one."""
    try:
        number = float(text)
    except ValueError:
        return _WORDS[_written(text)]
    return _WORDS[_written(number)]


def plain(values: list[Any]) -> np.ndarray:
    """Labels or times as an array in which booleans, numbers and texts stay different."""
    kinds = {bool if isinstance(v, bool) else str if isinstance(v, str) else float for v in values}
    return np.array(values, object if len(kinds) > 1 else None)


def pair_of(y: np.ndarray, path: Any) -> tuple[str, str] | None:
    """The negative and the positive one of two texts that are labels; None where labels show by themselves which is.

    ``y`` are the labels of the first chunk.
    """
    labels = {*y.tolist()} if y.dtype.kind in "OUS" else set()
    if not all(isinstance(label, str) for label in labels) or all(_written(label) in _WORDS for label in labels):
        return None
    if len(labels) == 1:
        (label,) = labels
        raise InputError(
            f"{path} has only the label {label!r} in its first {len(y):,} instances, and which label is the other one "
            f"is not known; name the one that is {argument('positive')}.",
            owner="read",
            file=str(path),
            mend={"positive": label},
        )
    a, b, *more = sorted(labels)
    return None if more else in_order(a, b)


def signs_of_pair(y: np.ndarray, pair: tuple[str, str], path: Any, before: int) -> np.ndarray:
    """-1 and +1 for a negative and a positive text; any other label is refused."""
    negative, positive = pair
    texts = np.array([str(label) for label in y.tolist()], object)
    found = np.where(texts == positive, 1.0, -1.0)
    odd = np.flatnonzero((found < 0.0) & (texts != negative))
    if len(odd):
        raise InputError(
            f"{path} has the label {texts[odd[0]]!r} in instance {before + int(odd[0]):,}, besides {negative!r} and "
            f"{positive!r}; name the one that is {argument('positive')}, or give {argument('target', 'class')} to "
            "predict one of them.",
            owner="read",
            file=str(path),
            row=before + int(odd[0]),
            got=(*pair, str(texts[odd[0]])),
            mend={"target": "class"},
        )
    return found


def in_order(a: str, b: str) -> tuple[str, str]:
    """Two labels, the negative one first: by what they say, as "not x" beside "x" does, or else in sorted order."""
    if a == f"not {b}" or b == f"not {a}":
        return (a, b) if len(a) > len(b) else (b, a)
    says = {_written(a), _written(b)} in _CODINGS
    negative, positive = sorted((a, b), key=lambda label: _WORDS[_written(label)] if says else label)
    return negative, positive


def whole(y: np.ndarray) -> np.ndarray:
    """Labels that are numbers, as whole ones where all of them are."""
    return y.astype(np.int64) if y.dtype.kind == "f" and (np.trunc(y) == y).all() and (abs(y) < 2**53).all() else y


def tallied(y: np.ndarray, before: int = 0) -> str:
    """The counts of the labels in a chunk, the most frequent first, for the middle of a sentence."""
    counts = Counter(y.tolist())
    some = [f"{label!r} ({count:,})" for label, count in counts.most_common(_SOME)]
    some += [f"{len(counts) - _SOME:,} more"] if len(counts) > _SOME else []
    first = f"the first {len(y):,} instances" if not before else f"the {len(y):,} instances from {before:,} on"
    return f"the labels of {first} are {', '.join(some)}"


def check_positive_label(positive: Any, target: str) -> None:
    """Refuse a positive label where labels are not to become -1 and +1."""
    if positive is not None and target != "binary":
        what = {"number": "are numbers", "class": "stay as they are", "none": "are not read"}[target]
        raise InputError(
            f"{argument('positive')} says which of two labels is +1, and here labels {what}.", owner="read"
        )


def signs(y: np.ndarray, positive: Any, path: Any, before: int, seen: set[str] | None = None) -> np.ndarray:
    """-1 and +1: by the positive label, or of -1 and +1, 0 and 1, true and false, yes and no.

    ``seen`` holds the labels of the chunks before, and is given those of this one: a stream has one pair of labels.
    """
    y = np.asarray(y)
    if positive is not None:
        if seen is not None and len(seen) < MANY:
            seen.update(np.unique(y.astype(str)).tolist())
        return _by_positive(y, positive, path)
    if y.dtype.kind == "b":
        found = np.where(y, 1.0, -1.0)
        written = {label: y == (label == "true") for label in ("true", "false")}
    elif y.dtype.kind in "iuf":
        found = np.where(y == 0, -1.0, y.astype(float))
        written = {label: y == float(label) for label in ("-1", "0", "1")}
    else:
        texts = np.array([_written(label) for label in y.tolist()], object)
        found = np.array([_WORDS.get(label, np.nan) for label in texts])
        written = {label: texts == label for label in {*texts.tolist()}}
    bad = np.flatnonzero((found != 1.0) & (found != -1.0))
    if len(bad):
        raise _no_pair(y, int(bad[0]), path, before)
    _check_coding({label: int(np.argmax(at)) for label, at in written.items() if at.any()}, path, before, seen)
    return found


def _no_pair(y: np.ndarray, row: int, path: Any, before: int) -> InputError:
    """The error for a label outside the known pairs, with the counts of all labels and what to do."""
    y = whole(y)
    counts, all_of_them = Counter(y.tolist()), tallied(y, before)
    mend: dict[str, Any] = {"target": "class"}
    cure = f"name the one that is {argument('positive')}, or give {argument('target', 'class')} to predict one of them"
    if len(counts) > _MANY_NUMBERS and all(isinstance(label, (int, float)) for label in counts):
        mend, cure = {"target": "number"}, f"give {argument('target', 'number')} to predict numbers"
        all_of_them = f"there are {len(counts):,} different ones from {min(counts)} to {max(counts)}"
    elif len({folded(label) for label in counts}) == 2 < len(counts):
        mend = {"fold_labels": True}
        cure = f"give {argument('fold_labels', 'True')} to take those that differ only by case or blanks for one"
    elif len(counts) == 2:
        mend = {"positive": min(counts, key=lambda label: (counts[label], str(label)))}
        cure = f"name the one that is {argument('positive')}"
    label = y[row : row + 1].tolist()[0]
    return InputError(
        f"{path} has the label {label!r} in instance {before + row}; labels must be -1 and +1, 0 and 1, true and "
        f"false, yes and no, or two texts, or {cure}; {all_of_them}.",
        owner="read",
        file=str(path),
        row=before + row,
        got=tuple(sorted(counts, key=str)),
        mend=mend,
    )


def _check_coding(first: dict[str, int], path: Any, before: int, seen: set[str] | None) -> None:
    """Refuse labels that are not a pair, such as -1, 0 and 1; ``first`` is the first row of each in this chunk."""
    seen = set() if seen is None else seen
    known = set(seen)
    seen.update(first)
    if any(seen <= coding for coding in _CODINGS):
        return
    for label in sorted(first, key=lambda label: first[label]):
        known.add(label)
        if not any(known <= coding for coding in _CODINGS):
            break
    *others, last = sorted(seen)
    raise InputError(
        f"{path} has the labels {', '.join(others)} and {last}, which are not a pair, as instance "
        f"{before + first[label]} shows; name the one that is {argument('positive')}, or give "
        f"{argument('target', 'class')} to predict one of them.",
        owner="read",
        got=tuple(sorted(seen)),
        mend={"target": "class"},
    )


def _written(label: Any) -> str:
    """A label in the spelling of the known ones, if it is one of them."""
    if isinstance(label, (int, float)) and not isinstance(label, bool) and float(label).is_integer():
        return str(int(label))
    found = str(label).lower()
    return "1" if found == "+1" else found


def _by_positive(y: np.ndarray, positive: Any, path: Any) -> np.ndarray:
    if y.dtype.kind == "b":
        positive = _WORDS.get(str(positive).lower(), positive) if isinstance(positive, str) else positive
        return np.where(y == (_as_number(positive, path) > 0), 1.0, -1.0)
    if y.dtype.kind in "iuf":
        return np.where(y.astype(float) == _as_number(positive, path), 1.0, -1.0)
    numbers = np.array([isinstance(label, (int, float)) for label in y.tolist()], bool)
    found = np.where(y.astype(str) == str(positive), 1.0, -1.0)
    for i in np.flatnonzero(numbers):
        found[i] = _by_positive(np.array([y[i]]), positive, path)[0]
    return found


def _as_number(positive: Any, path: Any) -> float:
    try:
        return float(positive)
    except (TypeError, ValueError):
        raise InputError(
            f"the labels of {path} are numbers, so {argument('positive')} must be one, got {positive!r}.", owner="read"
        ) from None
