"""The cache: the samplers that were used last, in one slot, one after the other."""

import numpy as np

import askwhen as aw
from askwhen.keyed.sampler_cache import SamplerCache
from askwhen.keyed.sampler_pool import SamplerPool
from askwhen.keyed.sampler_spec import SamplerSpec


def visited(cache, keys, kept, changes=True):
    for key, held in cache.visit(keys):
        held.engine.ask(np.ones(3))
        if changes:
            kept[key] = cache.serialize_and_free(held)


def test_what_was_used_longest_ago_makes_room_and_is_read_again():
    kind = SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.Always(), seed=7), 3, False)
    kept, asked = {}, []

    def load(keys):
        asked.append(keys)
        return {key: kept[key] for key in keys if key in kept}

    cache = SamplerCache(SamplerPool(kind, 3), load, 2)
    for keys in (["a", "b"], ["a"], ["c"], ["a", "c"], ["b"]):
        visited(cache, keys, kept)
    assert asked == [["a", "b"], ["c"], ["b"]]
    assert [cache._pool.restore(key, kept[key]).sampler.round for key in "abc"] == [3, 2, 2]


def test_one_slot_serves_all_keys(monkeypatch):
    made, new_slot = [], SamplerPool._new_slot
    monkeypatch.setattr(SamplerPool, "_new_slot", lambda self, seed: made.append(seed) or new_slot(self, seed))
    cache, kept = (
        SamplerCache(
            SamplerPool(SamplerSpec.of(aw.Sampler(aw.Perceptron(), seed=7), 3, False), 3), lambda keys: {}, 1000
        ),
        {},
    )
    for _ in range(3):
        visited(cache, [f"key {number}" for number in range(50)], kept)
    assert made == [0, 1], "those that a kind is looked at with"
    assert len(kept) == 50


def test_what_was_played_and_not_taken_out_is_as_if_it_had_not_been():
    kind = SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.Always(), seed=7), 3, False)
    cache, kept = SamplerCache(SamplerPool(kind, 3), lambda keys: {}, 1000), {}
    visited(cache, ["a"], kept)
    visited(cache, ["a", "b"], {}, changes=False)
    visited(cache, ["a", "b"], kept)
    assert [cache._pool.restore(key, kept[key]).sampler.round for key in "ab"] == [2, 1]
