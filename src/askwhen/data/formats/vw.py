"""The text format of Vowpal Wabbit: ``label [importance] [tag]|namespace name:value name |namespace ...``.

Every feature is hashed with its namespace; a namespace may carry a factor. Importance and tag are ignored. A line
without a label is refused unless labels are not wanted. Where labels are classes, they may
be words as well as numbers.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import closing
from functools import partial
from typing import Any

import numpy as np

from ...compiled.steps import entry
from ..format import Format
from ..hashing import FIRST, add_byte, counted, fold
from ..lines import NEWLINE, LineError, newlines, parsed
from ..numbers import EXACT, HIGH, LOW
from ..read_request import Chunk, ReadRequest
from .svmlight import COLON, FINE, FULL, HASH, is_space, number

_U = np.uint64
_1 = _U(1)
BAR = np.uint8(ord("|"))
NO_LABEL, NO_BAR, BAD_VALUE, NO_WORD = 1, 2, 3, 4

_SENTENCES = {
    NO_LABEL: "must begin with a label, a number",
    NO_WORD: "must begin with a label",
    NO_BAR: "must have a | before its features",
    BAD_VALUE: "must hold a number after the colon",
}


@entry
def parse(
    text: Any,
    features: int,
    labelled: bool,
    tables: Any,
    labels: Any,
    indptr: Any,
    indices: Any,
    data: Any,
    left: Any,
) -> Any:
    """Parse whole lines: (lines, entries, left to Python, what is wrong, where)."""
    # Long because it is one compiled loop over the bytes, whose whole state is in local variables.
    high, low, exact = tables
    bits = np.zeros(1, np.uint64)
    at, end, size = _U(0), _U(len(text)), _U(features)
    n = entry = later = 0
    while at < end:
        while is_space(text[at]):
            at += _1
        if text[at] == NEWLINE:
            at += _1
            continue
        start = at
        if labelled:
            value, after, read = number(text, at, high, low, exact, bits)
            if read != 1 or not (is_space(text[after]) or text[after] == BAR):
                return n, entry, later, NO_LABEL, np.int64(start)
            labels[n] = value
            at = after
        while text[at] != BAR and text[at] != NEWLINE:
            at += _1
        if text[at] == NEWLINE:
            return n, entry, later, NO_BAR, np.int64(start)
        space, factor = FIRST, 1.0
        while text[at] != NEWLINE:
            if text[at] == BAR:
                at += _1
                space, factor = FIRST, 1.0
                while not is_space(text[at]) and text[at] != COLON and text[at] != NEWLINE and text[at] != BAR:
                    space = add_byte(space, text[at])
                    at += _1
                if text[at] == COLON:
                    at += _1
                    factor, at, read = number(text, at, high, low, exact, bits)
                    if read != 1 or not (is_space(text[at]) or text[at] == NEWLINE or text[at] == BAR):
                        return n, entry, later, BAD_VALUE, np.int64(start)
                space = add_byte(space, HASH)
                continue
            if is_space(text[at]):
                at += _1
                continue
            h = space
            while not is_space(text[at]) and text[at] != COLON and text[at] != NEWLINE and text[at] != BAR:
                h = add_byte(h, text[at])
                at += _1
            value = 1.0
            if text[at] == COLON:
                at += _1
                value, after, read = number(text, at, high, low, exact, bits)
                if read == 0 or not (is_space(text[after]) or text[after] == NEWLINE or text[after] == BAR):
                    return n, entry, later, BAD_VALUE, np.int64(start)
                if read == 2:
                    if later == len(left):
                        return n, entry, later, FULL, np.int64(at)
                    left[later, 0], left[later, 1], left[later, 2] = entry, np.int64(at), np.int64(after)
                    later += 1
                    value = 1.0
                at = after
            if entry == len(indices):
                return n, entry, later, FULL, np.int64(at)
            indices[entry] = np.int32(fold(h) % size)
            data[entry] = factor * value
            entry += 1
        at += _1
        n += 1
        indptr[n] = entry
    return n, entry, later, FINE, 0


def parse_block(block: memoryview, features: int, labelled: bool = True) -> tuple[np.ndarray, Any]:
    """Whole lines: their labels, and their features as rows; what is before the bar is skipped unless labelled."""
    text = np.frombuffer(block, np.uint8)
    lines = newlines(text)
    most = int(np.count_nonzero((text <= 32) | (text == 124))) + lines
    labels, indptr = np.empty(lines), np.zeros(lines + 1, np.int64)
    room = 64
    while True:
        left, indices, data = np.zeros((room, 3), np.int64), np.empty(most, np.int32), np.empty(most)
        arrays = (labels, indptr, indices, data, left)
        n, entries, later, wrong, where = parse(text, features, labelled, (HIGH, LOW, EXACT), *arrays)
        if wrong != FULL:
            break
        room, most = 16 * room, 2 * most
    for place, start, stop in left[:later].tolist():
        try:
            data[place] *= float(bytes(text[start:stop]))
        except ValueError:
            wrong, where = BAD_VALUE, start
            break
    if wrong != FINE:
        raise LineError(newlines(text[:where]), _SENTENCES[wrong])
    return labels[:n], counted(data[:entries], indices[:entries], indptr[: n + 1], features)


def parse_words(block: memoryview, features: int) -> tuple[np.ndarray, Any]:
    """Whole lines whose labels are words, or numbers."""
    try:
        return parse_block(block, features)
    except LineError as error:
        if error.trouble != _SENTENCES[NO_LABEL]:
            raise
    _, X = parse_block(block, features, labelled=False)
    words: list[Any] = []
    for line, text in enumerate(bytes(block).split(b"\n")):
        head = text.split(b"|", 1)[0].split()
        if text.strip() and (not head or text.lstrip()[:1] == b"|"):
            raise LineError(line, _SENTENCES[NO_WORD])
        if head:
            words.append(_word(head[0]))
    return np.array(words, object), X


def _word(text: bytes) -> Any:
    """A label as a number where it is one."""
    try:
        return float(text)
    except ValueError:
        return text.decode("utf-8", "replace")


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file."""
    labelled = request.columns.labelled
    parse: Any = partial(parse_block, features=request.columns.places, labelled=labelled)
    if labelled and request.words:
        parse = partial(parse_words, features=request.columns.places)
    with closing(parsed(request.path, parse, request.report, request.encoding)) as blocks:
        for _, (y, X) in blocks:
            if X.shape[0]:
                yield Chunk(X, y if labelled else None)


FORMAT = Format("vw", chunks, (".vw",), is_hashed=True)
