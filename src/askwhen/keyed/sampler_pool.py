"""Samplers in memory: slots of one kind, into which the sampler of any key can be put and taken out again as bytes.

Making a sampler costs a hundred times as much as a round. All keys have samplers of one kind, so a slot is made once,
with all arrays of its states in one block of memory, and a key's sampler is its words, the counts and the questions
that wait. The coins need no words: one is tossed in every round, so the first state of the generators and the number of
rounds say which comes next.

What a slot cannot hold, a sampler whose arrays have grown, or one with classes or costs, is stored as a snapshot.
"""

from __future__ import annotations

import struct
import zlib
from typing import Any

import numpy as np

from ..compiled.steps import entry_point
from ..engine.engine import Engine
from ..engine.state_arrays import arrays_of, map_arrays
from ..engine.tally.round_tally import DERIVED, WINDOWS
from ..errors import SnapshotError
from ..linalg.rows import SparseRow, values_of
from ..sampler import Sampler
from ..snapshot import engine_state, file_format
from ..trace.trace import Ask
from .delta_codec import complete, spread, squeeze, wipe
from .errors import REPAIR
from .sampler_spec import SamplerSpec
from .seeds import seed_of

_SNAPSHOT, _SLOT = b"S", b"W"
_LEAD = struct.Struct("<1s4q64sIII")
_ASKED = struct.Struct("<qqbddddI")
_STATES = ("learner", "rule", "drift", "prepare", "tally")


class Held:
    """The sampler of a key, in memory. Where it is in no slot, ``words`` is None."""

    __slots__ = ("engine", "generators", "sampler", "states", "tally", "words")

    def __init__(self, sampler: Sampler, words: np.ndarray | None = None) -> None:
        self.sampler, self.engine, self.words = sampler, sampler.engine, words
        self.generators = b""
        self.states = [getattr(self.engine, name) for name in _STATES]
        tally = self.engine.tally
        self.tally = (tally.now, tally.touched, tally.count, tally.model, tally.limits)

    @property
    def is_in_slot(self) -> bool:
        """Whether every state is still the one that its slot was made with."""
        now, (learner, rule, drift, prepare, tally) = vars(self.engine), self.states
        return (
            self.words is not None
            and now["learner"] is learner
            and now["rule"] is rule
            and now["drift"] is drift
            and now["prepare"] is prepare
            and now["tally"] is tally
        )


class Slots:
    """Makes samplers of one kind, puts them into slots, and takes them out as bytes.

    Parameters
    ----------
    spec : SamplerSpec
        What all samplers have in common.
    d : int
        The number of features.
    """

    def __init__(self, spec: SamplerSpec, d: int) -> None:
        self._spec, self._d = spec, d
        self._free: list[Held] = []
        self._plain = spec.classes is None and spec.costs is None
        if self._plain:
            one, other = self._new_slot(0), self._new_slot(1)
            assert one.words is not None
            assert other.words is not None
            self._fresh = one.words.copy()
            self._alike = bool((one.words == other.words).all())
            self._out = np.empty(len(self._fresh) * 3 // 2 + 2, np.int64)
            self._squeezed = 0
            self._free += [one, other]
            self._squeeze = entry_point(squeeze, self._fresh, self._fresh, self._out)
            read_only = np.frombuffer(b"", np.int64)
            self._spread = entry_point(spread, read_only, self._fresh, self._fresh)
            self._wipe = entry_point(wipe, self._out, 0, self._fresh, self._fresh)
            self._complete = entry_point(complete, *one.tally)

    def fresh(self, key: str) -> Held:
        """The sampler of a key that was never seen before."""
        seed = seed_of(self._spec.seed, key)
        if not self._plain:
            return Held(self._begun(seed))
        held = self._slot()
        assert held.words is not None
        if not self._alike:
            new = self._new_slot(seed).words
            assert new is not None
            held.words[:] = new
        coins = np.random.Generator(np.random.PCG64(seed))
        first = [coins.bit_generator.state["state"], coins.spawn(1)[0].bit_generator.state["state"]]
        held.generators = b"".join(each[part].to_bytes(16, "little") for each in first for part in ("state", "inc"))
        self._set(held, key, (0, 0, 0, 0))
        self._complete(*held.tally)
        return held

    def restored(self, key: str, stored: bytes) -> Held:
        """The sampler of a key as it was stored."""
        try:
            if stored[:1] == _SNAPSHOT:
                content = zlib.decompress(stored[1:])
                (engine,) = engine_state.restore(*file_format.unpack(content), None)
                engine.begin("keyed", "x", self._d, self._spec.sparse)
                return Held(Sampler.of(engine))
            return self._put(key, stored)
        except (struct.error, zlib.error, ValueError, LookupError, TypeError, ArithmeticError, MemoryError) as error:
            why = error.sentence if isinstance(error, SnapshotError) else str(error)
            raise SnapshotError(
                f"the stored sampler of key {key!r} cannot be read ({why.rstrip('.')}): {REPAIR}.", owner="keyed"
            ) from error

    def stored(self, held: Held) -> bytes:
        """A sampler as bytes."""
        engine = held.engine
        if not held.is_in_slot:
            return _SNAPSHOT + zlib.compress(file_format.pack(*engine_state.dump(engine, [])), 1)
        words, fresh = held.words, self._fresh
        assert words is not None
        if engine.round < _FIRST_BLOCK:
            words, fresh = words[: self._near], fresh[: self._near]
        n = self._squeezed = self._squeeze(words, fresh, self._out)
        counts = (engine.round, engine.questions, engine.updates, engine.volunteered)
        pending, switches = engine.pending, engine.switches
        parts = [_LEAD.pack(_SLOT, *counts, held.generators, len(switches), len(pending), n)]
        if switches:
            parts.append(np.array(switches, "<i8").tobytes())
        for ask, x, marks in pending.values():
            parts += _packed_question(ask, x, marks)
        parts.append(self._out[:n].tobytes())
        return b"".join(parts)

    def taken_out(self, held: Held) -> bytes:
        """A sampler as bytes, whose slot another key may have."""
        content = self.stored(held)
        if is_of_slot(content):  # what differs from a fresh one has just been found
            self._wipe(self._out, self._squeezed, self._fresh, held.words)
            self._free.append(held)
        return content

    def give_back(self, held: Held) -> None:
        """Let another key have this slot."""
        if held.is_in_slot:
            assert held.words is not None
            held.words[:] = self._fresh
            self._free.append(held)

    def _slot(self) -> Held:
        return self._free.pop() if self._free else self._new_slot(0)

    def _begun(self, seed: int) -> Sampler:
        sampler = self._spec.make(seed)
        sampler.engine.begin("keyed", "x", self._d, self._spec.sparse)
        return sampler

    def _new_slot(self, seed: int) -> Held:
        """A sampler with all its arrays in one block; empty ones may grow and stay outside, as what follows does."""
        sampler = self._begun(seed)
        engine = sampler.engine
        states = {name: getattr(engine, name) for name in _STATES if getattr(engine, name) is not None}
        arrays = {name: array for at, state in states.items() for name, array in arrays_of(state, at).items()}
        inside = [name for name, array in arrays.items() if array.size > 0 and name not in _OUTSIDE]
        places, size = dict[str, int](), 0
        for name in sorted(inside, key=lambda name: name in _FAR):
            if name not in _FAR:
                self._near = size + -(-arrays[name].nbytes // 8)
            places[name], size = size, size + -(-arrays[name].nbytes // 8)
        block = np.zeros(size, np.int64)

        def moved(name: str, array: np.ndarray) -> np.ndarray:
            if name not in places:
                return array
            here = block[places[name] :].view(np.uint8)[: array.nbytes].view(array.dtype).reshape(array.shape)
            here[...] = array
            return here

        for name, state in states.items():
            setattr(engine, name, map_arrays(state, moved, name))
        return Held(sampler, block)

    def _put(self, key: str, stored: bytes) -> Held:
        """Fill a slot."""
        tag, *counts, generators, switches, questions, n = _LEAD.unpack_from(stored)
        if tag != _SLOT or not self._plain:
            raise SnapshotError("it is of another kind.", owner="keyed")
        held, at = self._slot(), _LEAD.size
        held.generators = generators
        self._set(held, key, counts)
        if switches:
            held.engine.switches = np.frombuffer(stored, "<i8", switches, at).tolist()
            at += 8 * switches
        for _ in range(questions):
            at = self._reopen(held.engine, stored, at)
        words = np.frombuffer(stored, np.int64, n, at)
        if at + 8 * n != len(stored) or not self._spread(words, self._fresh, held.words):
            raise SnapshotError("it is cut off or altered.", owner="keyed")
        self._complete(*held.tally)
        return held

    def _set(self, held: Held, key: str, counts: Any) -> None:
        """Everything of an engine but its arrays."""
        engine, generators = held.engine, held.generators
        engine.round, engine.questions, engine.updates, engine.volunteered = counts
        engine.switches, engine.pending = [], {}
        seed = self._spec.seed
        engine.draws.begin_as(
            _generator(generators[:16], generators[16:32]),
            lambda: (seed_of(seed, key), _generator(generators[32:48], generators[48:])),
            engine.round,
        )

    def _reopen(self, engine: Engine, stored: bytes, at: int) -> int:
        """Let a question wait again; where what follows begins."""
        number, marks, prediction, margin, r, chance, certainty, n = _ASKED.unpack_from(stored, at)
        at += _ASKED.size
        x: Any = np.frombuffer(stored, "<f8", n, at).copy()
        at += 8 * n
        if engine.sees_sparse:
            x = SparseRow(x, np.frombuffer(stored, "<u4", n, at).copy(), 0, n)
            at += 4 * n
        said, sure = (margin, None) if engine.regression else (prediction, certainty)
        uncertainty = r if engine.has_uncertainty else None
        engine.pending[number] = (Ask(number, said, margin, uncertainty, chance, True, sure), x, marks)
        return at


def is_of_slot(stored: bytes) -> bool:
    """Whether bytes are those of a sampler that was in a slot, and can be put into one at once."""
    return stored[:1] == _SLOT


_OUTSIDE = frozenset(f"tally.{name}" for name in DERIVED)
_FAR = ("tally.cells", "tally.block_cells")
_FIRST_BLOCK = min(WINDOWS) // 10
"""Before so many rounds, no block of the tally has ended, and nothing has been written to what is far."""


def _packed_question(ask: Ask, x: Any, marks: int) -> list[bytes]:
    number, prediction, margin, r, chance, _, certainty = ask
    side = 1 if prediction > 0 else -1
    values = values_of(x)
    figures = (margin, r or 0.0, chance, certainty or 0.0)
    found = [_ASKED.pack(number, marks, side, *figures, len(values)), values.tobytes()]
    if isinstance(x, SparseRow):
        found.append(x.indices.tobytes())
    return found


def _generator(state: bytes, inc: bytes) -> dict[str, Any]:
    numbers = {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(inc, "little")}
    return {"bit_generator": "PCG64", "state": numbers, "has_uint32": 0, "uinteger": 0}
