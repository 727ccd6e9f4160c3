"""Words as numbered features, by hashing: no vocabulary is stored, and a new word has its number already.

FNV-1a (Fowler, Noll, Vo) with 64 bits; a feature's number is its last bits. Words are runs of letters, digits and any
byte outside ASCII, in lower case. A word that comes k times has the value k; words that share a number add up.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..compiled.steps import entry, step
from ..errors import InputError
from ..validation import check_count

DEFAULT_FEATURES = 1 << 18

_U = np.uint64
FIRST, PRIME = _U(0xCBF29CE484222325), _U(0x100000001B3)


@step
def add_byte(h: Any, c: Any) -> Any:
    """The hash with one more byte."""
    return (h ^ _U(c)) * PRIME


@step
def fold(h: Any) -> Any:
    """Mix the high bits of a hash into its low ones."""
    h ^= h >> _U(32)
    return h ^ (h >> _U(16))


@step
def is_word(c: Any) -> Any:
    """Whether this byte is part of a word."""
    return (c >= 97 and c <= 122) or (c >= 65 and c <= 90) or (c >= 48 and c <= 57) or c >= 128


@entry
def hash_words(text: Any, ends: Any, start: Any, features: int, indptr: Any, indices: Any) -> None:
    """Write the features of the words of each text, which ends where ``ends`` says, in the order of the words."""
    entry = 0
    at = 0
    size = _U(features)
    for i in range(len(ends)):
        h, inside = start, False
        while at < ends[i]:
            c = text[at]
            if is_word(c):
                h = add_byte(h, c + 32 if c >= 65 and c <= 90 else c)
                inside = True
            elif inside:
                indices[entry] = np.int32(fold(h) % size)
                entry += 1
                h, inside = start, False
            at += 1
        if inside:
            indices[entry] = np.int32(fold(h) % size)
            entry += 1
        indptr[i + 1] = entry


@entry
def hash_whole(text: Any, ends: Any, features: int, indices: Any) -> None:
    """Write the feature of each text as one name."""
    at = 0
    for i in range(len(ends)):
        h = FIRST
        while at < ends[i]:
            h = add_byte(h, text[at])
            at += 1
        indices[i] = np.int32(fold(h) % _U(features))


def hash_text(texts: Iterable[str], n_features: int = DEFAULT_FEATURES) -> sp.csr_matrix:
    """Texts as rows of word counts, by hashing.

    Parameters
    ----------
    texts : iterable of str
        One text for each row.
    n_features : int, default 2^18
        Number of features that words are hashed to.

    Examples
    --------
    >>> from askwhen.data import hash_text
    >>> X = hash_text(["to be or not to be", "To be!"], n_features=1024)
    >>> X.shape, X.sum(axis=1).ravel().tolist()
    ((2, 1024), [[6.0, 2.0]])
    """
    check_features("hash_text", n_features)
    if isinstance(texts, str):
        raise InputError("texts must be several strings, got one; give a list.", owner="hash_text")
    found = list(texts)
    strange = next((i for i, text in enumerate(found) if not isinstance(text, str)), None)
    if strange is not None:
        raise InputError(
            f"every text must be a string, got {type(found[strange]).__name__} in row {strange}.", owner="hash_text"
        )
    return hashed_words(found, int(n_features))


def hashed_words(texts: list[str], features: int, column: str = "") -> sp.csr_matrix:
    """Texts as rows of word counts; the words of a named column are other features than the same words elsewhere."""
    joined, ends = _joined([text if text.isascii() else text.lower() for text in texts])
    indptr, indices = np.zeros(len(ends) + 1, np.int64), np.empty(len(joined), np.int32)
    hash_words(joined, ends, _U(_bits(f"{column}#") if column else FIRST), features, indptr, indices)
    return counted(np.ones(indptr[-1]), indices[: indptr[-1]], indptr, features)


def hashed_names(names: list[str], features: int) -> np.ndarray:
    """The number of the feature with each of these names, as :func:`hash_name` gives it."""
    joined, ends = _joined(names)
    indices = np.empty(len(ends), np.int32)
    hash_whole(joined, ends, features, indices)
    return indices


def _joined(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    """The bytes of all texts, and where each ends."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(encoded), np.uint8), np.cumsum([len(part) for part in encoded], dtype=np.int64)


def counted(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, features: int) -> sp.csr_matrix:
    """Rows with their entries sorted, and those of one feature added up."""
    X = sp.csr_matrix((data, indices, indptr), (len(indptr) - 1, features))
    X.sum_duplicates()
    return X


def hash_name(name: str, features: int) -> int:
    """The number of a feature with this name."""
    h = _bits(name)
    h ^= h >> 32
    return (h ^ (h >> 16)) % features


def _bits(name: str) -> int:
    """The hash of all bytes of a name."""
    h = int(FIRST)
    for c in name.encode("utf-8", "surrogatepass"):
        h = ((h ^ c) * int(PRIME)) & (2**64 - 1)
    return h


def check_features(owner: str, n_features: Any) -> None:
    """Refuse a number of features that there cannot be."""
    check_count(owner, "n_features", n_features)
