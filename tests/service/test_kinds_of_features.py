"""Texts with numbers beside them in a stream of the service, and streams of the default of an earlier release."""

import msgspec
import numpy as np
import pytest

import askwhen as aw
from askwhen.contracts.kinds import MixedRows
from askwhen.service.domain.features import FeatureReader
from askwhen.service.domain.model import build
from askwhen.service.events.settings import Features, Settings, TextVectors
from askwhen.service.use_cases import instances, questions, replaying, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

MIXED = Features(kind="mixed", text=["body"], names=["price", "length"], places=64, vectors=False)
RECORDS = [
    {"body": ["cheap pills for you", "the minutes of the meeting"][i % 2], "price": 1e6 * (i % 7), "length": float(i)}
    for i in range(60)
]


def test_a_new_stream_learns_numbers_and_words_apart_and_an_old_one_goes_on_as_it_was():
    new, old = settings(features=MIXED), settings(features=MIXED, version=None)
    assert build(new).learner == aw.Mixture(kinds=aw.Kinds(2, (), 64))
    assert build(old).learner == aw.Mixture(version=1)
    row = FeatureReader(MIXED, 2).instance(RECORDS[3])
    before = FeatureReader(MIXED).instance(RECORDS[3])
    np.testing.assert_array_equal(row.toarray()[0, :2], [3e6, 3.0])
    np.testing.assert_array_equal(row.toarray()[0, 2:], before.toarray()[0, :64])
    np.testing.assert_array_equal(before.toarray()[0, 64:], [3e6, 3.0])


def test_settings_that_were_written_before_there_were_versions_are_the_first_version():
    written = msgspec.json.encode(settings(features=MIXED, version=None)).replace(b',"version":null', b"")
    assert b"version" not in written
    assert build(msgspec.json.decode(written, type=Settings)).learner.version == 1


def test_a_stream_of_texts_and_numbers_decides_as_the_library_and_replays(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(features=MIXED, grace=0.0))
            assert stream.settings.version == 2
            sampler = aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, kinds=aw.Kinds(2, (), 64))
            reader = FeatureReader(MIXED, 2)
            for i, record in enumerate(RECORDS):
                decision = await instances.play(coordinator, stream, Raw(record, f"n{i}"))
                ask = sampler.ask(MixedRows.of(reader.instance(record), aw.Kinds(2, (), 64)))
                assert (decision.margin, decision.asked) == (ask.margin, ask.query)
                if ask.query:
                    shown = await questions.next_question(coordinator, stream, "cid")
                    await questions.answer(coordinator, stream, shown.question, "cid", "spam", f"c{i}")
                    time.now += 1.0
                    coordinator.tick()
                    sampler.tell(ask, 1)
            before = stream.model.sampler.margins(reader.instance(RECORDS[0]))
            assert await replaying.replay(coordinator, stream, "ann") == stream.model.sampler.questions > 3
            np.testing.assert_array_equal(stream.model.sampler.margins(reader.instance(RECORDS[0])), before)

    run(go())


def test_texts_are_seen_as_vectors_too_by_new_streams(tmp_path):
    pytest.importorskip("wordllama", reason="the extra text is not installed")
    encoder = aw.encoders.load("static")

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            given = settings(features=Features(kind="text", places=64))
            stream = await streams.create(coordinator, "texts", given)
            assert stream.settings.features.vectors == TextVectors(**encoder.descriptor())
            decision = await instances.play(coordinator, stream, Raw("cheap pills", "a"))
            sampler = aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, kinds=aw.Kinds(0, (256,), 64))
            row = FeatureReader(stream.settings.features, 2).instance("cheap pills")
            np.testing.assert_array_equal(row.toarray()[0, :256], encoder.encode(["cheap pills"])[0])
            np.testing.assert_array_equal(row.toarray()[0, 256:], aw.data.hash_text(["cheap pills"], 64).toarray()[0])
            assert sampler.ask(row).margin == decision.margin
            without = Features(kind="text", places=64, vectors=False)
            plain = await streams.create(coordinator, "plain", settings(features=without))
            assert plain.settings.features.vectors is False
            old = await streams.create(coordinator, "old", settings(features=Features(kind="text"), version=1))
            assert old.settings.features.vectors is None

    run(go())


def test_another_encoder_is_refused():
    pytest.importorskip("wordllama", reason="the extra text is not installed")
    other = TextVectors(name="static", checksum="0" * 64, width=256)
    with pytest.raises(aw.InputError, match="encoder"):
        FeatureReader(Features(kind="text", vectors=other), 2).instance("a text")


@pytest.mark.parametrize(
    "given",
    [
        {"features": Features(kind="numbers", vectors=True)},
        {"features": Features(kind="text", vectors=True), "algorithm": "perceptron"},
        {"features": Features(kind="text", vectors=True), "version": 1},
    ],
)
def test_vectors_where_there_can_be_none_are_refused(given, tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            with pytest.raises(aw.InputError, match="vectors"):
                await streams.create(coordinator, "one", settings(**given))
            assert not coordinator.streams

    run(go())
