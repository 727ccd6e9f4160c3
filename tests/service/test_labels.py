"""Labels that nobody asked for: the library's ``learn``, through every end, replay, backup and export."""

import contextlib

import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.service.domain.model import build
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.settings import Budget, Features
from askwhen.service.store import backups
from askwhen.service.use_cases import erasing, export_tables, instances, labels, questions, replaying, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

X = np.random.default_rng(5).standard_normal((90, 4))
Y = np.where(X[:, 0] > 0, "spam", "ham").tolist()


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def rows_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return [row for part in export_tables.chunks(reader, stream.number, "labels", 0, stream.seq) for row in part]


async def play_some(coordinator, stream, first, last, time):
    """Instances; some of those that nobody asks about are labelled all the same, and some questions answered."""
    for i in range(first, last):
        found = await instances.play(coordinator, stream, Raw(X[i].tolist(), f"i{i}"))
        time.now += 1.0
        if found.asked and i % 2:
            await questions.answer(coordinator, stream, found.question, "ann", Y[i])
        elif not found.asked and i % 3 == 0:
            place = {"id": f"i{i}"} if i % 2 else {"round": found.round}
            said = await labels.volunteer(coordinator, stream, "bob", Y[i], **place)
            assert (said.learnt, said.round) == (True, found.round)
        coordinator.tick()


@pytest.mark.parametrize("words", [["ham", "spam"], "open"])
def test_a_log_with_given_labels_is_the_library_s_learn_bit_for_bit_after_any_end(address, words):
    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(labels=words))
            await play_some(coordinator, stream, 0, 50, time)
            library = Library(stream.settings)
            library.follow(log_of(coordinator, stream))
            assert library.sampler.volunteered >= 5
            alive = bits(stream.model.sampler), stream.dump()[1]
            assert alive[0] == bits(library.sampler)
        async with open_coordinator(address, time) as coordinator:  # from the log alone
            stream = coordinator.stream("mails")
            assert (bits(stream.model.sampler), stream.dump()[1]) == alive
            await play_some(coordinator, stream, 50, 70, time)
        async with open_coordinator(address, time) as coordinator:  # from a snapshot
            stream = coordinator.stream("mails")
            await play_some(coordinator, stream, 70, 90, time)
            library = Library(stream.settings)
            library.follow(log_of(coordinator, stream))
            assert bits(stream.model.sampler) == bits(library.sampler)
            alive = bits(stream.model.sampler)
            await replaying.replay(coordinator, stream, "me")
            assert bits(stream.model.sampler) == alive  # nothing was corrected

    run(go())


def test_a_corrected_label_is_learnt_by_a_replay_where_the_first_was(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=Budget(rate=0.01)))
            for i in range(30):
                await instances.play(coordinator, stream, Raw(X[i].tolist(), f"i{i}"))
            events = [event for event in log_of(coordinator, stream) if event.question is None]
            first, second, third = (event.key[2:] for event in events[-3:])
            for id in (first, second, third):
                assert (await labels.volunteer(coordinator, stream, "ann", "ham", id)).learnt
            assert not (await labels.volunteer(coordinator, stream, "ann", "spam", first)).learnt
            assert not (await labels.volunteer(coordinator, stream, "ann", None, second)).learnt
            await labels.volunteer(coordinator, stream, "bob", "spam", third)
            await labels.volunteer(coordinator, stream, "bob", None, third)  # what ann said stands
            await instances.play(coordinator, stream, Raw(X[30].tolist(), "i30"))
            told = [
                (row["answer"], row["label"], row["told"], row["corrected"]) for row in rows_of(coordinator, stream)
            ]
            assert told[0] == ("ham", "spam", "ham", True)
            assert told[1] == ("ham", None, "ham", True)
            assert told[2] == ("ham", "ham", "ham", False)
            await replaying.replay(coordinator, stream, "me")
            assert not any(row["corrected"] for row in rows_of(coordinator, stream))

            library = build(stream.settings)
            for i in range(30):
                library.ask(X[i])
            for id, label in ((first, 1), (third, -1)):
                library.learn(X[int(id[1:])], label)
            library.ask(X[30])
            library_margins = library.margins(X[:5])
            assert np.array_equal(library_margins, stream.model.sampler.margins(X[:5]))
        async with open_coordinator(address, time) as coordinator:
            assert np.array_equal(library_margins, coordinator.stream("mails").model.sampler.margins(X[:5]))

    run(go())


def test_a_label_that_was_asked_for_is_an_answer(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=Budget(rate=1.0), forget=100.0))
            one = await instances.play(coordinator, stream, Raw(X[0].tolist(), "a"))
            two = await instances.play(coordinator, stream, Raw(X[1].tolist(), "b"))
            before = stream.seq
            with pytest.raises(ConflictError, match="question 0 waits for this label; answer it"):
                await labels.volunteer(coordinator, stream, "ann", "ham", "a")
            assert stream.seq == before
            await questions.answer(coordinator, stream, one.question, "ann", "ham")
            time.now += 50.0
            coordinator.tick()
            with pytest.raises(ConflictError, match="has a label"):
                await labels.volunteer(coordinator, stream, "ann", "ham", "a")
            time.now += 100.0
            coordinator.tick()
            assert (await labels.volunteer(coordinator, stream, "ann", "ham", "b")).learnt  # its question was forgotten
            assert (two.asked, stream.model.sampler.volunteered) == (True, 1)
            assert stream.questions.find(two.round).forgotten  # read from a log that has the label too

    run(go())


def test_what_cannot_be_learnt_is_refused_in_a_sentence(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=Budget(rate=0.01)))
            for i in range(40):
                last = await instances.play(coordinator, stream, Raw(X[i].tolist(), f"i{i}"))
            assert not last.asked
            before = stream.seq
            for error, said, given in (
                (InputError, "either the id", {}),
                (InputError, "either the id", {"id": "i39", "round": 39}),
                (InputError, "the label must be one of ham, spam", {"id": "i39", "label": "egg"}),
                (NotFoundError, "no instance 'z'", {"id": "z"}),
                (NotFoundError, "no round 40", {"round": 40}),
                (InputError, "not have a null character", {"id": "a\0"}),
                (ConflictError, "ann has given no label", {"id": "i39", "label": None}),
            ):
                with pytest.raises(error, match=said):
                    await labels.volunteer(coordinator, stream, "ann", **{"label": "ham"} | given)
            assert stream.seq == before
            for i in range(40):
                assert (await labels.instance_of(coordinator, stream, None, i)).key == f"i:i{i}"

    run(go())


def test_what_was_erased_is_learnt_no_more(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=Budget(rate=0.01)))
            for i in range(40):
                await instances.play(coordinator, stream, Raw(X[i].tolist(), f"i{i}"))
            await labels.volunteer(coordinator, stream, "ann", "ham", "i39")
            await erasing.erase(coordinator, stream, erasing.Which(ids=["i38", "i39"]), "me")
            with pytest.raises(ConflictError, match="were erased"):
                await labels.volunteer(coordinator, stream, "ann", "ham", "i38")
            alive = bits(stream.model.sampler)
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = coordinator.stream("mails")
            assert bits(stream.model.sampler) == alive
            await replaying.replay(coordinator, stream, "me")
            assert stream.model.sampler.volunteered == 0
            with contextlib.closing(coordinator.reader()) as reader:
                rows = export_tables.chunks(reader, stream.number, "labels", 0, stream.seq, stream.state.passed)
                assert [(row["label"], row["told"], row["corrected"]) for row in next(rows)] == [("ham", None, False)]

    run(go())


def test_a_key_gives_a_label_once(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            text = settings(features=Features(kind="text"), budget=Budget(rate=0.01))
            stream = await streams.create(coordinator, "mails", text)
            for i in range(40):
                await instances.play(coordinator, stream, Raw(f"word{i} again", f"i{i}"))
            first = await labels.volunteer(coordinator, stream, "ann", "ham", "i39", key="k")
            again = await labels.volunteer(coordinator, stream, "ann", "ham", "i39", key="k")
            assert (first.again, again.again, stream.model.sampler.volunteered) == (False, True, 1)
            with pytest.raises(ConflictError, match="another label"):
                await labels.volunteer(coordinator, stream, "ann", "spam", "i39", key="k")
            with pytest.raises(ConflictError, match="something else"):
                await labels.volunteer(coordinator, stream, "ann", "ham", "i38", key="k")

    run(go())


def test_a_backup_has_given_labels(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings())
            await play_some(coordinator, stream, 0, 40, time)
            known = bits(stream.model.sampler), rows_of(coordinator, stream)
            assert any(row["question"] is None for row in known[1])
        backups.backup(str(tmp_path / "log.db"), str(tmp_path / "copy.backup"))
        backups.restore(str(tmp_path / "copy.backup"), str(tmp_path / "other.db"))
        async with open_coordinator(tmp_path / "other.db", time) as coordinator:
            stream = coordinator.stream("mails")
            assert (bits(stream.model.sampler), rows_of(coordinator, stream)) == known

    run(go())
