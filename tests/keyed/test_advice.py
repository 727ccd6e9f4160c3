"""Advice in the events of a partitioned log: as with a sampler of its own for each key, or refused in a sentence."""

import json

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest

import askwhen as aw
from askwhen.keyed.errors import StoreError
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.keyed.test_schema import decided, write

RNG = np.random.default_rng(4)
X = RNG.standard_normal((90, 3)).round(3)
KINDS = {
    "two labels": ({"labels": ["ham", "spam"]}, ["ham", "spam"], ["gpt", "rules"]),
    "signs": ({}, [-1, 1], ["gpt", "rules"]),
    "three labels": ({"classes": ["a", "b", "c"]}, ["a", "b", "c"], "any"),
}


def said_of(i, words):
    """What is said of an instance as JSON, and as the library takes it."""
    word, share = words[i % len(words)], 0.25 if i % 3 else 0.5
    rest = (1.0 - share) / (len(words) - 1)
    shares = {each: share if each == words[0] else rest for each in words}
    as_json = {"gpt": {"label": word, "confidence": 0.8} if i % 2 else [word, 0.8]}
    as_library = {"gpt": (word, 0.8)}
    if i % 5 == 1:
        as_json["rules"], as_library["rules"] = {str(each): p for each, p in shares.items()}, shares
    return as_json, as_library


def new_sampler(seed, advisers, **given):
    return aw.Sampler(rule=aw.BudgetRule(0.6), advisers=advisers, seed=seed, **given)


@pytest.mark.parametrize("batch", [7, 1000])
@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_advised_as_a_sampler_of_its_own(tmp_path, kind, batch):
    given, words, advisers = KINDS[kind]
    alone = {key: new_sampler(aw.keyed.seed_of(3, key), advisers, **given) for key in "ab"}
    events, margins = [], []
    for i, x in enumerate(X.tolist()):
        key = "ab"[i % 2]
        as_json, as_library = said_of(i, words)
        events.append({"key": key, "x": x, "advice": as_json} if i % 4 else {"key": key, "x": x})
        ask = alone[key].ask(np.array(x), advice=as_library) if i % 4 else alone[key].ask(np.array(x))
        margins.append(ask.margin)
        if ask.query:
            events.append({"key": key, "round": ask.round, "label": words[int(x[0] > 0)]})
            alone[key].tell(ask, words[int(x[0] > 0)])
    write(tmp_path / "log" / "one.ndjson", events)
    log, store, out = (tmp_path / name for name in ("log", "store", "out"))
    found = aw.keyed.run(log, store, new_sampler(3, advisers, **given), out=out, batch=batch)
    assert (found.counts.instances, found.counts.refused) == (90, 0)
    lines = decided(out)
    assert sorted(line["margin"] for line in lines) == sorted(margins)
    for key in "ab":
        stored = aw.keyed.sampler(str(store), key)
        ours, theirs = (aw.evaluate.advisers(each) for each in (stored, alone[key]))
        assert {name: each.rounds for name, each in ours.items()} == {
            name: each.rounds for name, each in theirs.items()
        }
        assert ours["gpt"].overall == theirs["gpt"].overall


REFUSED = {
    "an unknown adviser": ({"x": [1.0], "advice": {"claude": "ham"}}, "the adviser 'claude' is not known"),
    "an unknown label": ({"x": [1.0], "advice": {"gpt": "eggs"}}, "advice of 'gpt': y must be 'ham' or 'spam'"),
    "bad probabilities": ({"x": [1.0], "advice": {"gpt": {"ham": 0.7, "spam": 0.7}}}, "must sum to 1"),
    "beside an answer": (
        {"round": 0, "label": "ham", "advice": {"gpt": "ham"}},
        "advice comes with an instance that is",
    ),
    "beside a label": ({"x": [1.0], "label": "ham", "advice": {"gpt": "ham"}}, "advice comes with an instance that is"),
    "no object": ({"x": [1.0], "advice": "ham"}, "got `str` - at `$.advice`"),
}


def test_advice_that_cannot_be_taken_is_refused_in_its_place(tmp_path):
    events = [
        {"key": "a", "x": [1.0], "advice": {"gpt": "ham"}},
        *({"key": "a"} | each for each, _ in REFUSED.values()),
    ]
    write(tmp_path / "log" / "one.ndjson", events)
    sampler = new_sampler(3, ["gpt"], labels=["ham", "spam"])
    found = aw.keyed.run(tmp_path / "log", tmp_path / "store", sampler, out=tmp_path / "out")
    assert (found.counts.instances, found.counts.refused) == (1, len(REFUSED))
    refused = [line["refused"] for line in decided(tmp_path / "out")[1:]]
    for said, (_, sentence) in zip(refused, REFUSED.values(), strict=True):
        assert sentence in said
    assert aw.keyed.sampler(str(tmp_path / "store"), "a").round == 1


def test_samplers_without_advisers_refuse_advice(tmp_path):
    write(tmp_path / "log" / "one.ndjson", [{"key": "a", "x": [1.0]}, {"key": "a", "x": [1.0], "advice": {"gpt": 1}}])
    aw.keyed.run(tmp_path / "log", tmp_path / "store", aw.Sampler(seed=3), out=tmp_path / "out")
    assert decided(tmp_path / "out")[1]["refused"] == "the samplers take no advice; give the sampler advisers=."


@pytest.mark.parametrize("form", ["json", "struct", "map"])
def test_parquet_has_advice_as_json_as_a_struct_or_as_a_map(tmp_path, form):
    sampler = new_sampler(3, ["gpt", "rules"], labels=["ham", "spam"])
    said = [{"gpt": "ham"}, None, {"gpt": "spam", "rules": "ham"}]
    columns = {"key": ["a"] * 3, "x": [[1.0, float(i)] for i in range(3)]}
    types = {"json": pyarrow.string(), "map": pyarrow.map_(pyarrow.string(), pyarrow.string())}
    values = {
        "json": [None if each is None else json.dumps(each) for each in said],
        "map": [None if each is None else list(each.items()) for each in said],
        "struct": said,
    }
    columns["advice"] = pyarrow.array(values[form], types.get(form))
    (tmp_path / "log").mkdir()
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "log" / "one.parquet")
    found = aw.keyed.run(tmp_path / "log", tmp_path / "store", sampler, out=tmp_path / "out")
    assert found.counts.refused == 0
    accounts = aw.evaluate.advisers(aw.keyed.sampler(str(tmp_path / "store"), "a"))
    assert {name: each.rounds for name, each in accounts.items()} == {"gpt": 2, "rules": 1}


def test_the_advisers_are_part_of_what_a_store_was_made_with(tmp_path):
    specs = [SamplerSpec.of(new_sampler(3, who, labels=["ham", "spam"]), 1, False) for who in (["gpt"], "any", None)]
    assert [SamplerSpec.read(each.written()) for each in specs] == specs
    assert "advisers" not in specs[2].written()
    write(tmp_path / "log" / "one.ndjson", [{"key": "a", "x": [1.0]}])
    for who in (["gpt"], ["gpt", "rules"]):
        sampler = new_sampler(3, who, labels=["ham", "spam"])
        if who == ["gpt"]:
            aw.keyed.run(tmp_path / "log", tmp_path / "store", sampler)
        else:
            with pytest.raises(StoreError, match="advisers \\['gpt'\\] there and \\['gpt', 'rules'\\] here"):
                aw.keyed.run(tmp_path / "log", tmp_path / "store", sampler)
