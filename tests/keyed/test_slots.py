"""Samplers as bytes: small, exact, and refused where they were altered."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import SnapshotError
from askwhen.keyed.delta_codec import decode_delta, encode_delta, reset_changed
from askwhen.keyed.sampler_pool import SamplerPool
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.seeds import partition_of, seed_of
from askwhen.linalg.rows import SparseRow
from tests.keyed.reference import fingerprint


def perceptrons():
    return SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7), 20, False)


@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_words_come_back_as_they_were(share):
    rng = np.random.default_rng(0)
    fresh = rng.integers(-(2**62), 2**62, 500)
    words = np.where(rng.random(500) < share, rng.integers(-(2**62), 2**62, 500), fresh)
    out = np.empty(752, np.int64)
    n = encode_delta(words, fresh, out)
    assert n <= 752
    found = fresh.copy()
    assert decode_delta(out[:n].copy(), fresh, found)
    np.testing.assert_array_equal(words, found)
    reset_changed(out, n, fresh, found)
    np.testing.assert_array_equal(fresh, found)
    if n:
        assert not decode_delta(out[: n - 1].copy(), fresh, found)


def test_a_slot_that_other_keys_had_holds_nothing_of_theirs():
    kind = perceptrons()
    slots, X = SamplerPool(kind, 20), np.random.default_rng(0).standard_normal((300, 20))
    alone = kind.make(seed_of(7, "a"))
    held, longest = slots.new("a"), 0
    for i, x in enumerate(X):
        ask, expected = held.engine.ask(x), alone.ask(x)
        assert expected == ask
        if ask.query and i % 3:
            held.sampler.tell(ask.round, 1 if x[0] > 0 else -1)
            alone.tell(expected, 1 if x[0] > 0 else -1)
        if i % 10 == 0:
            stored = slots.serialize_and_free(held)
            other = slots.new(f"other {i}")
            assert other is held
            other.engine.ask(-x)
            slots.free(other)
            held = slots.restore("a", stored)
            longest = max(longest, len(stored) - 250 * len(alone.pending))
    assert fingerprint(alone) == fingerprint(held.sampler)
    assert longest < 8000, "bytes of a key after 300 rounds, without its open questions"


def test_an_answer_is_learnt_with_the_instance_of_its_own_key():
    kind = SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.Always(), seed=7), 20, False)
    pool, alone, x = SamplerPool(kind, 20), kind.make(seed_of(7, "a")), np.random.default_rng(0).standard_normal(20)
    held = pool.new("a")
    ask, expected = held.engine.ask(x), alone.ask(x)
    stored = pool.serialize_and_free(held)
    other = pool.new("b")
    assert other.engine.ask(-2 * x).round == ask.round
    pool.free(other)
    restored = pool.restore("a", stored)
    assert restored is other
    restored.sampler.tell(ask.round, 1)
    alone.tell(expected, 1)
    assert fingerprint(alone) == fingerprint(restored.sampler)


def test_bytes_that_were_cut_off_or_are_of_another_kind_are_refused():
    slots, x = SamplerPool(perceptrons(), 20), np.ones(20)
    held = slots.new("a")
    held.engine.ask(x)
    stored = slots.serialize(held)
    for wrong in (stored[:-8], stored[:30], b"S" + stored[1:], b"", b"?" + stored[1:], stored + 8 * b"\0"):
        with pytest.raises(SnapshotError, match="the stored sampler of key 'a' cannot be read"):
            slots.restore("a", wrong)
        assert fingerprint(slots.new("b").sampler) == fingerprint(SamplerPool(perceptrons(), 20).new("b").sampler)


@pytest.mark.parametrize("sparse", [False, True])
def test_long_states_are_compressed_and_come_back_bit_for_bit(monkeypatch, sparse):
    pool = SamplerPool(SamplerSpec.of(aw.Sampler(seed=7), 20, sparse), 20)
    rng, held = np.random.default_rng(0), pool.new("a")
    for number in range(6):
        x = rng.standard_normal(20)
        ask = held.engine.ask(SparseRow(x, np.arange(20, dtype=np.uint32), 0, 20) if sparse else x)
        if ask.query and number % 3:
            held.sampler.tell(ask.round, 1 if x[0] > 0 else -1)
    compressed, expected = pool.serialize(held), fingerprint(held.sampler)
    with monkeypatch.context() as patch:
        patch.setattr("askwhen.keyed.sampler_pool.SHORTEST", 1 << 30)
        plain = pool.serialize(held)
    assert len(compressed) < len(plain)
    for stored in (compressed, plain):  # a store of version 1 has plain words only
        restored = pool.restore("a", stored)
        assert fingerprint(restored.sampler) == expected
        assert pool.serialize(restored) == compressed
        pool.free(restored)
    for wrong in (compressed[:-8], compressed[:-1], compressed + b"\0", plain[:1] + compressed[1:], b"Z" + plain[1:]):
        with pytest.raises(SnapshotError, match="the stored sampler of key 'a' cannot be read"):
            pool.restore("a", wrong)


def test_experts_that_learnt_the_same_are_stored_about_once():
    pool = SamplerPool(SamplerSpec.of(aw.Sampler(seed=7), 20, True), 20)
    held, x = pool.new("a"), np.random.default_rng(3).standard_normal(20)
    ask = held.engine.ask(SparseRow(x, np.arange(20, dtype=np.uint32), 0, 20))
    held.sampler.tell(ask.round, 1)
    assert len(pool.serialize(held)) < 9000


def test_seeds_and_partitions_follow_from_the_key_alone():
    assert seed_of(7, "a") == 432474422086081222
    assert len({seed_of(seed, key) for seed in range(10) for key in "abcdefghij"}) == 100
    assert [partition_of(key, 4) for key in "abcdefgh"] == [0, 0, 3, 1, 0, 2, 0, 2]


def test_what_is_passed_over_in_young_samplers_is_as_it_was_in_the_beginning(monkeypatch):
    rng, slots = np.random.default_rng(1), SamplerPool(perceptrons(), 20)
    held = slots.new("a")
    for number in range(130):
        held.engine.ask(rng.standard_normal(20))
        for waiting in [ask.round for ask in held.sampler.pending if rng.random() < 0.3]:
            if rng.random() < 0.2:
                held.sampler.forget(waiting)
            else:
                held.sampler.tell(waiting, int(rng.choice([-1, 1])))
        stored = slots.serialize(held)
        with monkeypatch.context() as patch:
            patch.setattr("askwhen.engine.packed_states._FIRST_BLOCK_END", 0)
            assert slots.serialize(held) == stored, number
