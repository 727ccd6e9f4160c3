"""The svmlight format, parsed by compiled steps: ``label index:value index:value # comment``.

A block of whole lines becomes the arrays of a CSR matrix in one pass, without the interpreter's lock, so that blocks
are parsed on all cores. Blank lines and comments are skipped, ``qid:`` is ignored, and a line may hold only its label,
or several labels with commas between them.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...compiled.steps import entry, step
from ...errors import InputError, argument
from ..format import Format
from ..lines import NEWLINE, LineError, newlines, parsed
from ..numbers import EXACT, HIGH, LOW, nearest
from ..read_request import Chunk, ReadRequest

_U = np.uint64
_1 = _U(1)
SPACE, TAB, RETURN, HASH, COLON, COMMA = (np.uint8(ord(c)) for c in " \t\r#:,")
PLUS, MINUS, DOT, ZERO, SMALL_E, LARGE_E, SMALL_Q, SMALL_I, SMALL_D = (np.uint8(ord(c)) for c in "+-.0eEqid")

FINE, BAD_LABEL, BAD_INDEX, NO_COLON, BAD_VALUE, NOT_INCREASING, INDEX_ZERO, TOO_LARGE, FULL = range(9)

_SENTENCES = {
    BAD_LABEL: "must begin with a label, a number",
    BAD_INDEX: "must hold index:value pairs after its label",
    NO_COLON: "must have a colon between index and value",
    BAD_VALUE: "must hold a number after the colon",
    NOT_INCREASING: "must have its indices in increasing order",
    INDEX_ZERO: f"has a feature 0, but features count from 1 unless {argument('zero_based', 'True')}",
    TOO_LARGE: "has a feature beyond the last of {}",
}


class ParsedLines(NamedTuple):
    """Parsed lines: labels and CSR arrays, with so many features.

    Where a line may hold several labels, ``tags`` says where they end.
    """

    labels: np.ndarray
    tags: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    features: int


@step
def is_space(c: Any) -> Any:
    """Whether this byte is a space inside a line."""
    return (c == SPACE) | (c == TAB) | (c == RETURN)


@step
def number(text: Any, at: Any, high: Any, low: Any, exact: Any, bits: Any) -> Any:
    """(value, where it ends, whether it was read; 2 means that Python must read it)."""
    first = at
    negative = text[at] == MINUS
    if negative or text[at] == PLUS:
        at += _1
    w = _U(0)
    start = at
    c = text[at] - ZERO
    while c < np.uint8(10):
        w = w * _U(10) + _U(c)
        at += _1
        c = text[at] - ZERO
    digits: Any = np.int64(at - start)
    e: Any = 0
    if text[at] == DOT:
        at += _1
        dot = at
        c = text[at] - ZERO
        while c < np.uint8(10):
            w = w * _U(10) + _U(c)
            at += _1
            c = text[at] - ZERO
        e = -np.int64(at - dot)
        digits -= e
    if digits == 0:
        return word(text, first)
    if text[at] == SMALL_E or text[at] == LARGE_E:
        at += _1
        down = text[at] == MINUS
        if down or text[at] == PLUS:
            at += _1
        power: Any = 0
        start = at
        c = text[at] - ZERO
        while c < np.uint8(10):
            power = min(10 * power + np.int64(c), 100000)
            at += _1
            c = text[at] - ZERO
        if at == start:
            return 0.0, at, 0
        e += -power if down else power
    if digits > 19:
        return 0.0, at, 2
    value = 0.0
    if w < _U(1 << 53) and -22 <= e <= 22:
        value = np.float64(w)
        value = value * exact[e] if e >= 0 else value / exact[-e]
    elif w > _U(0):
        if not nearest(w, e, high, low, bits):
            return 0.0, at, 2
        value = bits.view(np.float64)[0]
    return (-value if negative else value), at, 1


@step
def word(text: Any, at: Any) -> Any:
    """A value that does not begin with digits: Python reads words such as nan; an empty text is refused."""
    start = at
    while not is_space(text[at]) and text[at] != NEWLINE and text[at] != HASH and text[at] != COLON:
        at += _1
    return 0.0, at, 2 if at > start else 0


@entry
def parse(
    text: Any,
    base: int,
    limit: int,
    several: bool,
    tables: Any,
    labels: Any,
    tags: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    left: Any,
) -> Any:
    """Parse whole lines: (lines, labels, entries, left to Python, the largest feature or what is wrong, where)."""
    # Long because it is one compiled loop over the bytes, whose whole state is in local variables.
    high, low, exact = tables
    bits = np.zeros(1, np.uint64)
    at, end = _U(0), _U(len(text))
    n = k = entry = later = 0
    largest = np.int64(-1)
    while at < end:
        while is_space(text[at]):
            at += _1
        if text[at] == HASH:
            while text[at] != NEWLINE:
                at += _1
        if text[at] == NEWLINE:
            at += _1
            continue
        start = at
        reading = True
        while reading:
            value, after, read = number(text, at, high, low, exact, bits)
            if several and at == start and read == 1 and text[after] == COLON:
                break  # no label at all
            if read == 0 or (read == 1 and text[after] == COLON):
                return n, k, entry, later, BAD_LABEL, np.int64(start)
            if read == 2:
                if later == len(left):
                    return n, k, entry, later, FULL, np.int64(at)
                left[later, 0], left[later, 1], left[later, 2] = -1 - k, np.int64(at), np.int64(after)
                later += 1
            labels[k] = value
            k += 1
            at = after
            reading = several and text[at] == COMMA
            if reading:
                at += _1
        if at > start and not is_space(text[at]) and text[at] != NEWLINE and text[at] != HASH:
            return n, k, entry, later, BAD_LABEL, np.int64(start)
        last = np.int64(-1)
        while True:
            while is_space(text[at]):
                at += _1
            c = text[at]
            if c == NEWLINE:
                break
            if c == HASH:
                while text[at] != NEWLINE:
                    at += _1
                break
            if c == SMALL_Q and text[at + _1] == SMALL_I and text[at + _U(2)] == SMALL_D and text[at + _U(3)] == COLON:
                while not is_space(text[at]) and text[at] != NEWLINE:
                    at += _1
                continue
            start = at
            index: Any = np.int64(0)
            digit = c - ZERO
            while digit < np.uint8(10):
                index = 10 * index + np.int64(digit)
                at += _1
                digit = text[at] - ZERO
            if at == start:
                return n, k, entry, later, BAD_INDEX, np.int64(start)
            if text[at] != COLON:
                return n, k, entry, later, NO_COLON, np.int64(start)
            if at - start > _U(18):
                index = limit + base  # so many digits might have overflowed
            index -= base
            if index <= last or index >= limit:
                wrong = INDEX_ZERO if index < 0 else NOT_INCREASING if index <= last else TOO_LARGE
                return n, k, entry, later, wrong, np.int64(start)
            if entry == len(indices):
                return n, k, entry, later, FULL, np.int64(start)
            last = index
            at += _1
            value, after, read = number(text, at, high, low, exact, bits)
            if read == 0 or not (is_space(text[after]) or text[after] == NEWLINE or text[after] == HASH):
                return n, k, entry, later, BAD_VALUE, np.int64(start)
            if read == 2:
                if later == len(left):
                    return n, k, entry, later, FULL, np.int64(at)
                left[later, 0], left[later, 1], left[later, 2] = entry, np.int64(at), np.int64(after)
                later += 1
            at = after
            indices[entry] = index
            data[entry] = value
            entry += 1
        at += _1
        n += 1
        indptr[n] = entry
        tags[n] = k
        largest = max(largest, last)
    return n, k, entry, later, FINE, largest


def parse_block(block: Any, zero_based: bool = False, several: bool = False, limit: int = 2**31 - 2) -> ParsedLines:
    """Whole lines, as bytes that end with a newline; an error names the line by ``error.line``, counted from 0."""
    text = np.frombuffer(block, np.uint8)
    lines = len(text) // 2 + 1  # as many as there can be; what is not used costs nothing
    labels, tags, indptr = np.empty(lines), np.zeros(lines + 1, np.int64), np.zeros(lines + 1, np.int32)
    sample = text[:65536]
    pairs = int(1.05 * len(text) / len(sample) * np.count_nonzero(sample == COLON)) + 64
    room = 64
    while True:
        left, indices, data = np.zeros((room, 3), np.int64), np.empty(pairs, np.int32), np.empty(pairs)
        arrays = (labels, tags, indptr, indices, data, left)
        n, k, entries, later, wrong, where = parse(
            text, 0 if zero_based else 1, limit, several, (HIGH, LOW, EXACT), *arrays
        )
        if wrong != FULL:
            break
        room, pairs = 16 * room, 2 * pairs
    for place, start, stop in left[:later].tolist():
        try:
            value = float(bytes(text[start:stop]))
        except ValueError:
            wrong, where = (BAD_LABEL if place < 0 else BAD_VALUE), start
            break
        if place < 0:
            labels[-1 - place] = value
        else:
            data[place] = value
    if wrong != FINE:
        raise LineError(newlines(text[:where]), _SENTENCES[wrong].format(limit))
    small = (labels[:k].copy(), tags[: n + 1].copy(), indptr[: n + 1].copy())
    return ParsedLines(*small, indices[:entries], data[:entries], where + 1)


def count_labels(labels: np.ndarray, path: str) -> int:
    """How many labels there are, if they are whole numbers from 0."""
    bad = labels[~((labels >= 0) & (labels < 2**20) & (labels == np.floor(labels)))]
    if len(bad):
        raise InputError(f"{path} must have whole numbers from 0 to 2^20 as its labels, got {bad[0]:g}.", owner="read")
    return int(labels.max(initial=-1.0)) + 1


def matrix_of(lines: ParsedLines, count: int, path: str) -> np.ndarray:
    """Several labels of each line, as a matrix of -1 and +1."""
    labels, tags = lines.labels, lines.tags
    if count_labels(labels, path) > count:
        raise InputError(f"{path} must have labels from 0 to {count - 1}, got {labels.max():g}.", owner="read")
    Y = np.full((len(tags) - 1, count), -1.0)
    Y[np.repeat(np.arange(len(tags) - 1), np.diff(tags)), labels.astype(int)] = 1.0
    return Y


def scan(request: ReadRequest) -> tuple[int, int]:
    """How many features an svmlight file has, and how many labels if a line has several."""
    d = labels = 0
    with closing(_lines(request)) as found:
        for lines in found:
            d = max(d, lines.features)
            if request.several and request.columns.labelled:
                labels = max(labels, count_labels(lines.labels, request.path))
    return d, labels


def _lines(request: ReadRequest) -> Generator[ParsedLines]:
    # Where labels are not wanted, a line may have any number of them.
    several = request.several or not request.columns.labelled
    parse = partial(parse_block, zero_based=request.zero_based, several=several)
    if request.n_features is not None and request.n_features > 0:
        parse = partial(parse, limit=request.n_features)
    with closing(parsed(request.path, parse, request.report, request.encoding)) as blocks:
        for _, lines in blocks:
            yield lines


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file."""
    wanted = request.n_features or -1
    with closing(_lines(request)) as blocks:
        for lines in blocks:
            shape = (len(lines.indptr) - 1, wanted if wanted > 0 else max(lines.features, 1))
            X = sp.csr_matrix((lines.data, lines.indices, lines.indptr), shape)
            X.has_canonical_format = True
            if not shape[0]:
                continue
            if not request.columns.labelled:
                yield Chunk(X, None)
            elif request.several:
                yield Chunk(X, matrix_of(lines, request.n_labels or 0, request.path))
            else:
                yield Chunk(X, lines.labels)


FORMAT = Format("svmlight", chunks, (".svm", ".svmlight", ".libsvm", ".t"), scan=scan)
