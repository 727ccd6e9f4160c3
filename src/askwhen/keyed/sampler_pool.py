"""Reusable samplers in memory: the state of any key's sampler is loaded into one, used, and written as bytes again.

Making a sampler costs a hundred times as much as a round. All keys have samplers of one kind, so a slot is made once:
a sampler with the arrays of all its states in one block of memory. The state of a key's sampler is the words of that
block, the counts and the open questions; many words are compressed. The random generators need no words: every round
draws once, so their first state and the number of rounds determine the next draw.

A sampler that does not fit a slot, because its arrays have grown or it has classes, costs or advisers, is stored as a
snapshot.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compiled.steps import entry_point
from ..engine.draws import first_states
from ..engine.engine import Engine
from ..engine.packed_states import PackedStates
from ..errors import SnapshotError
from ..linalg.rows import SparseRow, values_of
from ..sampler import Sampler
from ..snapshot import engine_state, file_format
from ..trace.trace import Ask
from .delta_codec import decode_delta, encode_delta, reset_changed
from .errors import REPAIR
from .sampler_spec import SamplerSpec
from .seeds import seed_of
from .word_compression import SHORTEST, compress_words, decompress_words

_SNAPSHOT, _SLOT, _COMPRESSED = b"S", b"W", b"Z"
_HEADER = struct.Struct("<1s4q64sIII")
_QUESTION = struct.Struct("<qqbddddI")
_DAMAGES = (struct.error, zlib.error, OSError, ValueError, LookupError, TypeError, ArithmeticError, MemoryError)
"""What reading damaged bytes may raise; OSError comes from compressed words."""


class PooledSampler:
    """The sampler of a key, in memory; ``states`` is its slot, or None if it is not in a slot."""

    __slots__ = ("engine", "generators", "sampler", "states")

    def __init__(self, sampler: Sampler, in_slot: bool = False) -> None:
        self.sampler, self.engine = sampler, sampler.engine
        self.states = PackedStates(sampler.engine) if in_slot else None
        self.generators = b""

    @property
    def slot(self) -> PackedStates | None:
        """The slot, or None also where a state has grown and left it."""
        return self.states if self.states is not None and self.states.is_intact else None


class SamplerPool:
    """Makes samplers of one kind, loads their states into slots, and writes them as bytes.

    Parameters
    ----------
    spec : SamplerSpec
        The parameters of all samplers.
    d : int
        The number of features.
    """

    def __init__(self, spec: SamplerSpec, d: int) -> None:
        self._spec, self._d = spec, d
        example = spec.make(0).engine
        self._pair = example.pair
        self._free_slots: list[PooledSampler] = []
        plain = spec.classes is None and spec.costs is None and spec.advisers is None
        self._uses_slots = plain and example.promise is None
        if self._uses_slots:
            one, other = self._new_slot(0), self._new_slot(1)
            self._fresh_words = _words(one).copy()
            self._has_seedless_state = bool((_words(one) == _words(other)).all())
            self._delta = np.empty(len(self._fresh_words) * 3 // 2 + 2, np.int64)
            self._delta_length = 0
            self._free_slots += [one, other]
            self._encode = entry_point(encode_delta, self._fresh_words, self._fresh_words, self._delta)
            read_only = np.frombuffer(b"", np.int64)
            self._decode = entry_point(decode_delta, read_only, self._fresh_words, self._fresh_words)
            self._reset = entry_point(reset_changed, self._delta, 0, self._fresh_words, self._fresh_words)

    def new(self, key: str) -> PooledSampler:
        """The sampler of a key that was never seen before."""
        seed = seed_of(self._spec.seed, key)
        if not self._uses_slots:
            return PooledSampler(self._new_sampler(seed))
        held = self._take_slot()
        if not self._has_seedless_state:
            _words(held)[:] = _words(self._new_slot(seed))
        held.generators = first_states(seed)
        self._set_up(held, key, (0, 0, 0, 0))
        _packed(held).restore_derived()
        return held

    def restore(self, key: str, stored: bytes) -> PooledSampler:
        """The sampler of a key as it was stored."""
        try:
            if stored[:1] == _SNAPSHOT:
                content = zlib.decompress(stored[1:])
                (engine,) = engine_state.restore(*file_format.unpack(content), None)
                engine.pair = self._pair
                engine.begin("keyed", "x", self._d, self._spec.sparse)
                return PooledSampler(Sampler.of(engine))
            return self._fill_slot(key, stored)
        except _DAMAGES as error:
            why = error.sentence if isinstance(error, SnapshotError) else str(error)
            raise SnapshotError(
                f"the stored sampler of key {key!r} cannot be read ({why.rstrip('.')}): {REPAIR}.", owner="keyed"
            ) from error

    def serialize(self, held: PooledSampler) -> bytes:
        """A sampler as bytes."""
        engine, slot = held.engine, held.slot
        if slot is None:
            return _SNAPSHOT + zlib.compress(file_format.pack(*engine_state.dump(engine, [])), 1)
        changed = slot.changed_length
        n = self._delta_length = self._encode(slot.words[:changed], self._fresh_words[:changed], self._delta)
        counts = (engine.round, engine.questions, engine.updates, engine.volunteered)
        pending, switches = engine.pending, engine.switches
        tag = _SLOT if n < SHORTEST else _COMPRESSED
        parts = [_HEADER.pack(tag, *counts, held.generators, len(switches), len(pending), n)]
        if switches:
            parts.append(np.array(switches, "<i8").tobytes())
        for ask, x, marks in pending.values():
            parts += _packed_question(ask, x, marks)
        parts.append(self._delta[:n].tobytes() if tag == _SLOT else compress_words(self._delta[:n]))
        return b"".join(parts)

    def serialize_and_free(self, held: PooledSampler) -> bytes:
        """A sampler as bytes; its slot is free for another key."""
        content = self.serialize(held)
        if is_slot_state(content):  # the difference to fresh words is known, so that only these are reset
            self._reset(self._delta, self._delta_length, self._fresh_words, _words(held))
            self._free_slots.append(held)
        return content

    def free(self, held: PooledSampler) -> None:
        """Free the slot of a sampler for another key, without writing its state."""
        if held.slot is not None:
            held.slot.words[:] = self._fresh_words
            self._free_slots.append(held)

    def _take_slot(self) -> PooledSampler:
        return self._free_slots.pop() if self._free_slots else self._new_slot(0)

    def _new_sampler(self, seed: int) -> Sampler:
        sampler = self._spec.make(seed)
        sampler.engine.begin("keyed", "x", self._d, self._spec.sparse)
        return sampler

    def _new_slot(self, seed: int) -> PooledSampler:
        return PooledSampler(self._new_sampler(seed), in_slot=True)

    def _fill_slot(self, key: str, stored: bytes) -> PooledSampler:
        """Load a stored state into a slot."""
        tag, *counts, generators, switches, questions, n = _HEADER.unpack_from(stored)
        if not is_slot_state(tag) or not self._uses_slots or n > len(self._delta):
            raise SnapshotError("it is of another kind.", owner="keyed")
        held, at = self._take_slot(), _HEADER.size
        held.generators = generators
        self._set_up(held, key, counts)
        if switches:
            held.engine.switches = np.frombuffer(stored, "<i8", switches, at).tolist()
            at += 8 * switches
        for _ in range(questions):
            at = self._reopen(held.engine, stored, at)
        is_whole = tag == _COMPRESSED or at + 8 * n == len(stored)
        words = np.frombuffer(stored, np.int64, n, at) if tag == _SLOT else decompress_words(memoryview(stored)[at:], n)
        if not is_whole or not self._decode(words, self._fresh_words, _words(held)):
            raise SnapshotError("it is cut off or altered.", owner="keyed")
        _packed(held).restore_derived()
        return held

    def _set_up(self, held: PooledSampler, key: str, counts: Sequence[int]) -> None:
        """Set everything of an engine except its arrays."""
        engine, seed = held.engine, self._spec.seed
        engine.round, engine.questions, engine.updates, engine.volunteered = counts
        engine.switches, engine.pending = [], {}
        engine.session.held = -1  # the instance that is still there is of another key
        engine.draws.resume(held.generators, engine.round, lambda: seed_of(seed, key))

    def _reopen(self, engine: Engine, stored: bytes, at: int) -> int:
        """Read an open question; the offset after it."""
        number, marks, prediction, margin, r, chance, certainty, n = _QUESTION.unpack_from(stored, at)
        at += _QUESTION.size
        x: Any = np.frombuffer(stored, "<f8", n, at).copy()
        at += 8 * n
        if engine.sees_sparse:
            x = SparseRow(x, np.frombuffer(stored, "<u4", n, at).copy(), 0, n)
            at += 4 * n
        predicted, sure = (margin, None) if engine.regression else (engine.pair[prediction > 0], certainty)
        uncertainty = r if engine.has_uncertainty else None
        engine.pending[number] = (Ask(number, predicted, margin, uncertainty, chance, True, sure), x, marks)
        return at


def is_slot_state(stored: bytes) -> bool:
    """Whether bytes are the state of a slot, and not a snapshot."""
    return stored[:1] in (_SLOT, _COMPRESSED)


def _packed(held: PooledSampler) -> PackedStates:
    """The slot of a sampler that must be in one."""
    assert held.states is not None
    return held.states


def _words(held: PooledSampler) -> np.ndarray:
    return _packed(held).words


def _packed_question(ask: Ask, x: Any, marks: int) -> list[bytes]:
    number, _, margin, r, chance, _, certainty = ask
    side = 1 if margin > 0 else -1
    values = values_of(x)
    figures = (margin, r or 0.0, chance, certainty or 0.0)
    found = [_QUESTION.pack(number, marks, side, *figures, len(values)), values.tobytes()]
    if isinstance(x, SparseRow):
        found.append(x.indices.tobytes())
    return found
