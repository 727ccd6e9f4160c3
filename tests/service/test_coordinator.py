"""The owner of the streams: what is acknowledged is there after any end, and the model has the same bits."""

import asyncio
import contextlib
import json

import apsw
import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.service.domain.retraining import Retraining
from askwhen.service.errors import ConflictError, NotFoundError, SetAsideError, StoppingError, StoreError
from askwhen.service.runtime import coordinator as coordinators
from askwhen.service.runtime import snapshot_policy
from askwhen.service.use_cases import export_tables, instances, questions, replaying, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

RNG = np.random.default_rng(3)
X = RNG.standard_normal((400, 5))
Y = np.where(X[:, 0] > 0, "spam", "ham").tolist()


def log_of(coordinator, stream):
    reader = coordinator.reader()
    found = reader.events(stream.number, 0, 1 << 40)
    reader.close()
    return found


def snapshot_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.snapshot(stream.number).seq


async def play_some(coordinator, stream, first, last, time):
    """Instances, and an annotator who answers what there is."""
    for i in range(first, last):
        await instances.play(coordinator, stream, Raw(X[i].tolist(), f"id {i}"))
        time.now += 1.0
        if i % 3 == 0:
            shown = await questions.next_question(coordinator, stream, "ann")
            if shown is not None:
                await questions.answer(coordinator, stream, shown.question, "ann", Y[shown.question], f"key {i}", 1.5)
        coordinator.tick()


@pytest.mark.parametrize("labels", [["ham", "spam"], ["ham", "spam", "other", "more", "most"]])
def test_after_a_crash_the_model_is_that_of_a_service_to_which_nothing_happened(address, labels):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(labels=labels))
            await play_some(coordinator, stream, 0, 150, time)
            alive = bits(stream.model.sampler), stream.dump()[1]
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert bits(stream.model.sampler) == alive[0]
            assert json.loads(stream.dump()[1]) == json.loads(alive[1])
            await play_some(coordinator, stream, 150, 200, time)
            events = log_of(coordinator, stream)
            after = bits(stream.model.sampler)
        history.check(events)
        library = Library(stream.settings)
        library.follow(events)
        assert bits(library.sampler) == after
        async with open_coordinator(address, time) as coordinator:  # after an orderly end, from the snapshot alone
            stream = coordinator.stream("mails")
            assert bits(stream.model.sampler) == after
            assert snapshot_of(coordinator, stream) == stream.seq

    run(play())


def test_a_snapshot_is_made_before_the_log_grows_long(address, monkeypatch):
    monkeypatch.setattr(snapshot_policy, "TAIL", 50)
    monkeypatch.setattr(snapshot_policy, "WORTH", 1e9)

    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            one = await streams.create(coordinator, "one", settings())
            two = await streams.create(coordinator, "two", settings())
            await play_some(coordinator, one, 0, 100, time)
            await play_some(coordinator, two, 0, 30, time)
            await coordinator.commits.settled()
            snapshots = [snapshot_of(coordinator, stream) for stream in (one, two)]
            assert one.seq - snapshots[0] + two.seq - snapshots[1] <= 50
            alive = [bits(stream.model.sampler) for stream in (one, two)]
        async with open_coordinator(address, time) as coordinator:
            assert [bits(coordinator.stream(name).model.sampler) for name in ("one", "two")] == alive

    run(play())


def test_the_log_does_not_grow_long_over_many_crashes(address, monkeypatch):
    monkeypatch.setattr(snapshot_policy, "TAIL", 60)
    monkeypatch.setattr(snapshot_policy, "WORTH", 1e9)

    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            await streams.create(coordinator, "one", settings())
        for life in range(4):
            async with open_coordinator(address, time, crash=True) as coordinator:
                stream = coordinator.stream("one")
                await play_some(coordinator, stream, 30 * life, 30 * life + 30, time)
                await coordinator.commits.settled()
                assert stream.seq - snapshot_of(coordinator, stream) <= 60

    run(play())


def test_a_retry_gets_the_first_answer_again_and_plays_nothing(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=None, algorithm="perceptron"))
            first = await instances.play(coordinator, stream, Raw([1.0, 2.0], "a"))
            again = await instances.play(coordinator, stream, Raw([9.0, 9.0], "a"))
            assert (first.again, again.again) == (False, True)
            again.again = False
            assert first == again
            many = await instances.play_all(coordinator, stream, [Raw([1.0, 1.0], name) for name in "abab"])
            assert [each.round for each in many] == [0, 1, 0, 1]
            both = await asyncio.gather(*(instances.play(coordinator, stream, Raw([2.0, 1.0], "c")) for _ in range(5)))
            assert {each.round for each in both} == {2}
            assert sorted(each.again for each in both) == [False, True, True, True, True]
            receipt = await questions.answer(coordinator, stream, 0, "ann", "ham", "k")
            assert (await questions.answer(coordinator, stream, 0, "ann", "ham", "k")).again
            for round, who in ((1, "ann"), (0, "bob")):
                with pytest.raises(ConflictError, match="this key was used for something else"):
                    await questions.answer(coordinator, stream, round, who, "ham", "k")
            with pytest.raises(ConflictError, match="this key was used for another answer"):
                await questions.answer(coordinator, stream, 0, "ann", "spam", "k")
            await coordinator.commits.settled()
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            again = await instances.play(coordinator, stream, Raw([1.0, 2.0], "a"))
            assert (again.again, again.margin, again.round) == (True, first.margin, 0)
            again = await questions.answer(coordinator, stream, 0, "ann", "ham", "k")
            assert (again.again, again.time, again.label) == (True, receipt.time, "ham")
            assert stream.state.round == 3
            await questions.undo(coordinator, stream, 0, "ann")
            with pytest.raises(ConflictError, match="undone since"):
                await questions.answer(coordinator, stream, 0, "ann", "ham", "k")

    run(play())


def test_whatever_a_person_does_is_done_once(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            given = settings(budget=None, algorithm="perceptron", slots=2)
            stream = await streams.create(coordinator, "mails", given, "made")
            assert await streams.create(coordinator, "mails", given, "made") is stream
            with pytest.raises(ConflictError, match="another stream"):
                await streams.create(coordinator, "other", given, "made")
            await instances.play_all(coordinator, stream, [Raw([float(i), 1.0]) for i in range(6)])
            shown = [await questions.next_question(coordinator, stream, "ann", key) for key in ("1", "1", "2", "1")]
            assert [each.question for each in shown] == [0, 0, 1, 0]
            for _ in range(2):
                await questions.release(coordinator, stream, 0, "ann", "r")
                await questions.skip(coordinator, stream, 1, "ann", "s")
            for round in (2, 3):
                await questions.answer(coordinator, stream, round, "ann", "ham")
            undone = [await questions.undo(coordinator, stream, None, "ann", "u") for _ in range(2)]
            assert [each.question for each in undone] == [3, 3]
            with pytest.raises(ConflictError, match="something else"):
                await questions.undo(coordinator, stream, 2, "ann", "u")
            await coordinator.commits.settled()
            before = stream.seq
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert await streams.create(coordinator, "mails", given, "made") is stream
            assert (await questions.next_question(coordinator, stream, "ann", "2")).question == 1
            assert (await questions.undo(coordinator, stream, None, "ann", "u")).question == 3
            assert stream.seq == before
            twice = [Raw([1.0], "x"), Raw([1.0, 2.0], "x"), Raw([1.0, 2.0], "x")]  # the first has too few features
            refused, played, again = await instances.play_all(coordinator, stream, twice)
            assert isinstance(refused, InputError)
            assert (played.again, again.again, again.round) == (False, True, played.round)
            deep = [0]
            for _ in range(40):
                deep = [deep]
            with pytest.raises(InputError, match="at most 32 deep"):
                await instances.play(coordinator, stream, Raw([1.0, 2.0], show=deep))

    run(play())


def test_an_instance_that_is_refused_changes_nothing(address):
    async def play():
        async with open_coordinator(address, Time()) as coordinator:
            stream = await streams.create(coordinator, "mails", settings())
            await instances.play(coordinator, stream, Raw([1.0, 2.0]))
            before = bits(stream.model.sampler), stream.seq
            for x in ([1.0, 2.0, 3.0], [1e308, 1e308], "text", [None, 1.0]):
                with pytest.raises(InputError):
                    await instances.play(coordinator, stream, Raw(x))
            mixed = await instances.play_all(coordinator, stream, [Raw([1.0]), Raw([3.0, 4.0])])
            assert isinstance(mixed[0], InputError)
            assert mixed[1].round == 1
            assert before[1] == stream.seq - 1

    run(play())


def test_paused_streams_take_no_instances_but_answers(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(budget=None, algorithm="perceptron"))
            await instances.play(coordinator, stream, Raw([1.0]))
            await streams.change(coordinator, "mails", "paused", "me")
            with pytest.raises(ConflictError, match="the stream mails is paused; resume it first"):
                await instances.play(coordinator, stream, Raw([1.0]))
            await questions.answer(coordinator, stream, 0, "ann", "ham")
            await streams.rename(coordinator, "mails", "letters")
            with pytest.raises(NotFoundError, match="there is no stream 'mails'"):
                coordinator.stream("mails")
        async with open_coordinator(address, time) as coordinator:
            assert streams.facts(coordinator.stream("letters"))["state"] == "paused"
            await streams.change(coordinator, "letters", "archived", "me")
            with pytest.raises(ConflictError, match="archived"):
                await instances.play(coordinator, coordinator.stream("letters"), Raw([1.0]))
            await streams.change(coordinator, "letters", "resumed", "me")
            assert (await instances.play(coordinator, coordinator.stream("letters"), Raw([1.0]))).round == 1
            with pytest.raises(ConflictError, match="there is a stream letters already"):
                await streams.create(coordinator, "letters", settings())

    run(play())


def test_elsewhere_the_service_goes_on_from_the_snapshot_and_says_so(address, monkeypatch, caplog):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(grace=1e4))
            await play_some(coordinator, stream, 0, 100, time)
            rounds, asked = stream.state.round, stream.questions.stored.asked
            labels = stream.questions.stored.people.person("ann").answers
        monkeypatch.setattr(coordinators, "provenance", lambda: json.dumps({"processor": "another"}))
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert (stream.state.round, stream.questions.stored.asked) == (rounds, asked)
            assert stream.model.sampler.round == 0, "decided rounds are not played again"
            assert "went on from a snapshot" in caplog.text
            time.now += 2e4
            coordinator.tick()
            await coordinator.commits.settled()
            assert stream.model.sampler.volunteered == labels > 5, "but every label is learnt"
            await play_some(coordinator, stream, 100, 150, time)
            time.now += 2e4
            coordinator.tick()
            after = bits(stream.model.sampler)
        caplog.clear()
        async with open_coordinator(address, time) as coordinator:
            assert bits(coordinator.stream("mails").model.sampler) == after
            assert "went on" not in caplog.text

    run(play())


def test_a_damaged_log_is_seen_and_can_be_gone_on_from(tmp_path):
    address = str(tmp_path / "log.db")

    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings())
            await play_some(coordinator, stream, 0, 60, time)
        connection = apsw.Connection(address)
        seq, row = connection.execute("select seq, row from events where row not null and seq > 20 limit 1").fetchone()
        changed = bytearray(row)
        changed[-3] ^= 1
        connection.execute("update events set row = ? where stream = 1 and seq = ?", (bytes(changed), seq))
        connection.close()
        async with open_coordinator(address, time, crash=True) as coordinator:
            with pytest.raises(SetAsideError, match="does not give the decision in the log"):
                await instances.play(coordinator, coordinator.stream("mails"), Raw(X[0].tolist()))
        async with open_coordinator(address, time, play=False) as coordinator:
            assert coordinator.stream("mails").state.round == 60

    run(play())


def test_an_error_of_the_disk_stops_the_desk_and_nobody_is_told(tmp_path):
    address = str(tmp_path / "log.db")

    async def play():
        stopped = []
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            coordinator._stop = stopped.append
            stream = await streams.create(coordinator, "mails", settings())
            await instances.play(coordinator, stream, Raw([1.0]))
            coordinator._store.connection.set_authorizer(lambda *_: 1)  # everything is refused from now on
            with pytest.raises(StoppingError):
                await instances.play(coordinator, stream, Raw([2.0], "lost"))
            assert len(stopped) == 1
            for _ in range(2):
                with pytest.raises(StoppingError):
                    coordinator.stream("mails")
            coordinator._store.connection.set_authorizer(None)
        coordinator._store.close()
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert stream.state.round == 1
            assert not (await instances.play(coordinator, stream, Raw([2.0], "lost"))).again

    run(play())


def test_undo_says_what_the_model_keeps_and_replay_makes_it_again(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(grace=5.0))
            await play_some(coordinator, stream, 0, 120, time)
            time.now += 100.0
            coordinator.tick()
            await coordinator.commits.settled()
            events = log_of(coordinator, stream)
            told = [event.question for event in events if event.kind == "told"]
            wrong = told[2]
            undone = await questions.undo(coordinator, stream, wrong, "ann")
            assert undone.told
            assert "until the stream is replayed" in undone.note
            other = {"ham": "spam", "spam": "ham"}[Y[wrong]]
            await questions.answer(coordinator, stream, wrong, "ann", other)
            time.now += 10.0
            coordinator.tick()
            await coordinator.commits.settled()
            assert stream.questions.stored.corrections[wrong].label == other
            before = bits(stream.model.sampler)
            assert await replaying.replay(coordinator, stream, "me") == len(told)
            assert bits(stream.model.sampler) != before
            assert stream.questions.stored.corrections == {}
            # From a log that had the right label all along, the model would be the same.
            made = Retraining(stream.settings, {wrong: other})
            made.follow(log_of(coordinator, stream))
            assert bits(made.model.sampler) == bits(stream.model.sampler)
            await play_some(coordinator, stream, 120, 200, time)
            after = bits(stream.model.sampler)
        async with open_coordinator(address, time) as coordinator:
            assert bits(coordinator.stream("mails").model.sampler) == after

    run(play())


def test_replay_without_corrections_gives_the_same_model(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(forget=30.0))
            await play_some(coordinator, stream, 0, 150, time)
            before = bits(stream.model.sampler)
            await replaying.replay(coordinator, stream, "me")
            assert bits(stream.model.sampler) == before

    run(play())


def test_after_a_replay_corrections_are_of_what_the_new_model_knows(address):
    async def say(coordinator, stream, time, round, label=None):
        """Undo what was said, and say something else."""
        if label is None:
            await questions.undo(coordinator, stream, round, "ann")
        else:
            await questions.answer(coordinator, stream, round, "ann", label)
        time.now += 1.0
        coordinator.tick()
        await coordinator.commits.settled()

    def known(coordinator, stream):
        with contextlib.closing(coordinator.reader()) as reader:
            (rows,) = export_tables.chunks(reader, stream.number, "labels", 0, stream.seq)
        return {row["question"]: (row["told"], row["label"], row["corrected"]) for row in rows}

    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(
                coordinator, "mails", settings(grace=0.0, algorithm="perceptron", budget=None)
            )
            for i in range(2):
                await instances.play(coordinator, stream, Raw(X[i].tolist()))
                await say(coordinator, stream, time, i, "ham")
                await say(coordinator, stream, time, i)
            await say(coordinator, stream, time, 0, "spam")
            assert await replaying.replay(coordinator, stream, "me") == 1  # of 0 it knows spam, of 1 nothing
            assert known(coordinator, stream) == {0: ("spam", "spam", False), 1: (None, None, False)}
            await say(coordinator, stream, time, 0)
            await say(coordinator, stream, time, 0, "ham")  # as the first model was told
            await say(coordinator, stream, time, 1, "ham")
            wanted = {0: ("spam", "ham"), 1: (None, "ham")}
            assert {i: (each.model, each.label) for i, each in stream.questions.stored.corrections.items()} == wanted
            assert known(coordinator, stream) == {0: ("spam", "ham", True), 1: (None, "ham", True)}
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert {i: (each.model, each.label) for i, each in stream.questions.stored.corrections.items()} == wanted
            assert (await reports.report(coordinator, stream, 0.95))["accuracy"]["answered"] == 2
            assert await replaying.replay(coordinator, stream, "me") == 2
            assert stream.questions.stored.corrections == {}

    run(play())


def test_a_wal_that_vanishes_stops_the_service_before_it_accepts_more(tmp_path):
    async def play():
        time, path, stopped = Time(), tmp_path / "log.db", []
        async with open_coordinator(path, time) as coordinator:
            coordinator._stop = stopped.append
            stream = await streams.create(coordinator, "mails", settings())
            await instances.play(coordinator, stream, Raw([1.0], "kept"))
            (tmp_path / "log.db-wal").unlink()
            coordinator.tick()  # also where nobody sends anything
            for _ in range(1000):
                await asyncio.sleep(0.01)
                if stopped:
                    break
            assert len(stopped) == 1
            with pytest.raises(StoppingError):
                await instances.play(coordinator, coordinator.by_number[1], Raw([2.0], "refused"))
            (tmp_path / "copy.db").write_bytes(path.read_bytes())
        coordinator._store.close()
        async with open_coordinator(tmp_path / "copy.db", time) as coordinator:
            assert coordinator.stream("mails").state.round == 1

    run(play())


def test_a_wal_that_vanishes_just_before_the_end_loses_nothing(tmp_path):
    async def play():
        time, path, stopped = Time(), tmp_path / "log.db", []
        async with open_coordinator(path, time) as coordinator:
            coordinator._stop = stopped.append
            stream = await streams.create(coordinator, "mails", settings())
            await instances.play(coordinator, stream, Raw([1.0], "kept"))
            (tmp_path / "log.db-wal").unlink()
            (tmp_path / "log.db-wal").touch()  # as a reader that is opened now leaves it
        assert [type(error) for error in stopped] == [StoreError]  # so that the process says by its status what was
        (tmp_path / "copy.db").write_bytes(path.read_bytes())
        coordinator._store.close()
        async with open_coordinator(tmp_path / "copy.db", time) as coordinator:
            assert coordinator.stream("mails").state.round == 1

    run(play())
