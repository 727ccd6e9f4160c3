"""The memory of a sampler as 8-byte words, stored as the difference from a sampler that has played no round.

Most of that memory is the tally, 50 KB of which a young sampler has touched a few hundred bytes. What is stored is the
exclusive or with a fresh sampler, as runs: one word holds how many words to skip (upper half) and how many follow
(lower half), and then these follow. A single equal word between two runs is stored too, since a run costs as much.
"""

from __future__ import annotations

from typing import Any

from ..compiled.steps import entry

_HALF = 32
_BLOCK = 16


@entry
def encode_delta(words: Any, fresh: Any, out: Any) -> int:
    """Write the difference from fresh words to ``out``; the number of words written.

    Half as many words again, and two, always suffice for ``out``: runs are at least two words apart.
    """
    n, at, done, i = len(words), 0, 0, 0
    while i < n:
        while i + _BLOCK <= n:  # most blocks are unchanged, and this loop is compiled to few instructions
            changed = 0
            for j in range(_BLOCK):
                changed |= words[i + j] ^ fresh[i + j]
            if changed != 0:
                break
            i += _BLOCK
        while i < n and words[i] == fresh[i]:
            i += 1
        if i == n:
            break
        lead, at = at, at + 1
        first = i
        while i < n and (words[i] != fresh[i] or (i + 1 < n and words[i + 1] != fresh[i + 1])):
            out[at] = words[i] ^ fresh[i]
            at += 1
            i += 1
        out[lead] = ((first - done) << _HALF) | (i - first)
        done = i
    return at


@entry
def decode_delta(stored: Any, fresh: Any, words: Any) -> bool:
    """Apply a difference to ``words``, which are fresh, in place; False if it is damaged."""
    n, at, place = len(words), 0, 0
    while at < len(stored):
        skip, count = stored[at] >> _HALF, stored[at] & 0xFFFFFFFF
        at += 1
        if skip < 0 or count <= 0 or place + skip + count > n or at + count > len(stored):
            return False
        place += skip
        for j in range(count):
            words[place + j] = stored[at + j] ^ fresh[place + j]
        place += count
        at += count
    return True


@entry
def reset_changed(stored: Any, n: int, fresh: Any, words: Any) -> None:
    """Make words fresh again, in place: only those in the difference that the first ``n`` of ``stored`` hold."""
    at = place = 0
    while at < n:
        place += stored[at] >> _HALF
        for _ in range(stored[at] & 0xFFFFFFFF):
            words[place] = fresh[place]
            place += 1
            at += 1
        at += 1
