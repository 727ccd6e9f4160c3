"""Contents that are erased are gone from the database and its files; decisions, labels and the model stay."""

import contextlib
import pathlib
import struct

import pytest

from askwhen.errors import InputError
from askwhen.service.domain import row_codec
from askwhen.service.domain.model import Model
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.kinds import Forgotten, Instance, facts_of
from askwhen.service.events.settings import Features
from askwhen.service.store import backups
from askwhen.service.use_cases import erasing, export_tables, instances, questions, replaying, streams
from askwhen.service.use_cases.erasing import Gone, Retention, Which, erase
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

TEXT = Features(kind="text", places=64, vectors=False)


def word(i):
    return f"secretword{i:04d}"


async def played(coordinator, time, count, first=0, answers=True, **given):
    """Rounds of a stream of texts, with a person who answers half of the questions."""
    stream = coordinator.streams.get("mails")
    if stream is None:
        given = {"grace": 0.0, "features": TEXT, **given}
        stream = await streams.create(coordinator, "mails", settings(**given))
    for i in range(first, first + count):
        await instances.play(
            coordinator, stream, Raw(f"{word(i)} common {i % 7}", f"id {i}", subject=f"client {i % 5}")
        )
        shown = await questions.next_question(coordinator, stream, "ann")
        if answers and shown is not None and i % 2:
            await questions.answer(coordinator, stream, shown.question, "ann", "spam" if i % 4 == 1 else "ham", f"k{i}")
        time.now += 1.0
        coordinator.tick()
    return stream


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def contents(event):
    return (event.row, event.shown, event.subject)


def without_contents(events):
    return [event[:7] for event in events if event.kind not in ("erased", "forgotten")]


def test_what_is_erased_is_gone_and_everything_else_stays(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await played(coordinator, time, 60)
            before = log_of(coordinator, stream)
            open = {question.seq: question.round for question in stream.questions.open.values()}
            gone = await erase(coordinator, stream, Which(subject="client 3"), "root")
            events = log_of(coordinator, stream)
            hit = [e.seq for e in before if e.subject == "client 3"]
            assert gone == Gone(len(hit), sum(seq in open for seq in hit)) == Gone(12, gone.forgotten)
            assert gone.forgotten > 0
            assert [e.seq for e in events if e.kind == "instance" and e.row is None] == hit
            assert all(contents(events[seq - 1]) == (None, None, None) for seq in hit)
            assert without_contents(events) == without_contents(before)
            forgotten = [e.question for e in events[len(before) :] if isinstance(facts_of(e), Forgotten)]
            assert forgotten == [open[seq] for seq in hit if seq in open]
            assert await erase(coordinator, stream, Which(subject="client 3"), "root") == Gone(0, 0)
            assert (await instances.play(coordinator, stream, Raw(f"{word(3)} common 3", "id 3"))).again

    run(go())


def test_the_files_do_not_have_it_any_more(tmp_path):
    """Neither the database nor its WAL; and the older snapshots, whose open questions had it, are overwritten."""
    number = 1234.56789

    def found(what):
        return [file.name for file in tmp_path.iterdir() if what in pathlib.Path(file).read_bytes()]

    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await streams.create(
                coordinator, "numbers", settings(algorithm="perceptron", raw=True, budget=None)
            )
            text = await played(coordinator, time, 30)
            for i in range(30):
                await instances.play(coordinator, stream, Raw([number, float(i)], f"n{i}", show="secretshown"))
            await coordinator.committed(stream, snapshot=True)
            await coordinator.committed(text, snapshot=True)
            assert stream.questions.open
            needle = struct.pack("<d", number)
            assert found(needle)
            assert found(word(3).encode())
            await erase(coordinator, stream, Which(before=time.now + 1.0), "root")
            await erase(coordinator, text, Which(ids=["id 3"]), "root")
            assert not stream.questions.open
            assert (found(needle), found(b"secretshown"), found(word(3).encode())) == ([], [], [])
            assert found(word(4).encode())

    run(go())


def test_the_model_holds_no_instance_that_was_erased(address):
    """The default keeps some instances as they came, to rank others among them."""
    number = 1234.56789

    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "numbers", settings())
            for i in range(30):
                await instances.play(
                    coordinator, stream, Raw([number if i in (3, 29) else float(i), 1.0, float(-i)], f"n{i}")
                )
            needle = struct.pack("<d", number)
            assert needle in bits(stream.model.sampler)
            assert (await erase(coordinator, stream, Which(ids=["n3", "n29"]), "root")).erased == 2
            assert needle not in bits(stream.model.sampler)
            for i in range(30, 40):
                await instances.play(coordinator, stream, Raw([float(i), 1.0, float(-i)], f"n{i}"))
            before = bits(stream.model.sampler)
        async with open_coordinator(address, time) as coordinator:
            assert bits(coordinator.stream("numbers").model.sampler) == before

    run(go())


def test_a_label_that_was_given_stays_also_within_its_grace(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 2, answers=False, algorithm="perceptron", budget=None, grace=20.0)
            await questions.answer(coordinator, stream, 0, "ann", "spam")
            assert await erase(coordinator, stream, Which(rounds=[0, 1]), "root") == Gone(2, 1)
            kept = stream.questions.stored
            assert (kept.told, kept.forgotten, stream.questions.find(0).label) == (1, 1, "spam")

    run(go())


def test_a_reader_in_the_way_lets_it_go_later(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 10)
            with contextlib.closing(coordinator.reader()) as reader:
                reader._connection.execute("begin")
                reader.last(1)
                await erase(coordinator, stream, Which(ids=["id 3"]), "root")
                wal = tmp_path / "log.db-wal"
                assert word(3).encode() in wal.read_bytes()
                await coordinator.scrub_again()
                assert word(3).encode() in wal.read_bytes()
            await coordinator.scrub_again()
            assert not coordinator._store.scrubbing
            assert all(word(3).encode() not in file.read_bytes() for file in tmp_path.iterdir())

    run(go())


@pytest.mark.parametrize("how", ["rounds", "ids", "before"])
def test_what_to_erase_is_named_in_several_ways(address, how):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await played(coordinator, time, 20)
            which = {
                "rounds": Which(rounds=[0, 7, 19, 7]),
                "ids": Which(ids=["id 0", "id 7", "id 19"]),
                "before": Which(before=1003.0),
            }[how]
            wanted = [0, 1, 2] if how == "before" else [0, 7, 19]
            assert (await erase(coordinator, stream, which, "root")).erased == 3
            rounds = [facts_of(e).round for e in log_of(coordinator, stream) if e.kind == "instance" and e.row is None]
            assert rounds == wanted
            await erase(coordinator, stream, Which(rounds=[wanted[0], 5]), "root")
            assert sum(e.row is None for e in log_of(coordinator, stream) if e.kind == "instance") == 4

    run(go())


def test_what_is_not_there_is_refused_and_nothing_is_erased(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 5)
            before = log_of(coordinator, stream)
            for which, kind, said in (
                (Which(ids=["id 1", "none"]), NotFoundError, "there is no instance with id 'none'"),
                (Which(rounds=[1, 5]), NotFoundError, "there is no instance with round 5"),
                (Which(rounds=[-1]), NotFoundError, "round -1"),
                (Which(), InputError, "by one of rounds, ids, subject and before"),
                (Which(ids=["id 1"], subject="client 1"), InputError, "by one of"),
                (Which(ids=[]), InputError, "between 1 and 1,000"),
                (Which(subject=""), InputError, "subject must have 1 to 200 characters"),
            ):
                with pytest.raises(kind, match=said):
                    await erase(coordinator, stream, which, "root")
            assert await erase(coordinator, stream, Which(subject="nobody"), "root") == Gone(0, 0)
            assert log_of(coordinator, stream) == before
            with pytest.raises(InputError, match="subject must have 1 to 200"):
                await instances.play(coordinator, stream, Raw("a", subject="x" * 201))
            with pytest.raises(InputError, match="not have a null character"):
                await instances.play(coordinator, stream, Raw("a", subject="x\0"))

    run(go())


def test_people_cannot_answer_what_nobody_can_see(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await played(coordinator, time, 1, algorithm="perceptron", budget=None, slots=2, lease=1.0)
            await played(coordinator, time, 1, first=1, answers=False)
            first, second = 0, 1
            time.now += 1.0  # nobody holds them
            await questions.answer(coordinator, stream, first, "bob", "spam")
            await questions.answer(coordinator, stream, second, "bob", "ham")
            await questions.answer(coordinator, stream, second, "cid", "ham")
            time.now += 1.0
            coordinator.tick()
            assert stream.questions.stored.told == 1
            await questions.undo(coordinator, stream, second, "cid")  # open again, though the model was told
            model = bits(stream.model.sampler)
            gone = await erase(coordinator, stream, Which(rounds=[first, second]), "root")
            assert gone == Gone(2, 1)  # what was answered is decided by that
            kept = stream.questions.stored
            assert (kept.told, kept.forgotten, len(stream.questions.open)) == (2, 0, 0)
            for round in (first, second):
                with pytest.raises(ConflictError, match=r"contents were erased|its time was over"):
                    await questions.answer(coordinator, stream, round, "dan", "ham")
                with pytest.raises(ConflictError, match="contents of this question were erased"):
                    await questions.undo(coordinator, stream, round, "bob")
                shown = await questions.show(coordinator, stream, round)
                assert (shown.erased, shown.x, shown.show) == (True, None, None)
            assert await questions.next_question(coordinator, stream, "eve") is None
            with contextlib.closing(coordinator.reader()) as reader:
                (rows,) = export_tables.chunks(reader, stream.number, "labels", 0, stream.seq)
            assert {(row["question"], row["told"], row["label"]) for row in rows} == {
                (0, "spam", "spam"),
                (1, "ham", None),
            }
            with pytest.raises(ConflictError, match="contents of this question were erased, so it cannot be decided"):
                await questions.review(coordinator, stream, second, "rev", "spam")
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert not stream.questions.open
            assert bits(stream.model.sampler) != model  # the open question is not in it any more

    run(go())


def test_a_lease_on_what_was_erased_is_over(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 1, answers=False, algorithm="perceptron", budget=None)
            await erase(coordinator, stream, Which(rounds=[0]), "root")
            for act in (questions.release, questions.renew, questions.skip):
                with pytest.raises(ConflictError, match=r"holds no slot|contents were erased"):
                    await act(coordinator, stream, 0, "ann")
            assert not stream.questions.open
            assert await questions.next_question(coordinator, stream, "bob") is None

    run(go())


def test_after_a_crash_it_goes_on_bit_for_bit(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await played(coordinator, time, 40)
            await erase(coordinator, stream, Which(before=time.now - 10.0), "root")
            await played(coordinator, time, 20, first=40)
            before, count = bits(stream.model.sampler), len(log_of(coordinator, stream))
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert (bits(stream.model.sampler), stream.seq) == (before, count)
            await played(coordinator, time, 5, first=60)

    run(go())


def test_a_model_made_again_is_that_of_what_is_left(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await played(coordinator, time, 60)
            told = [e.question for e in log_of(coordinator, stream) if e.kind == "told"]
            await questions.review(coordinator, stream, told[1], "rev", "ham")
            await questions.review(coordinator, stream, told[2], "rev", "spam")
            await erase(coordinator, stream, Which(rounds=[2, told[0], told[1], 30]), "root")
            await replaying.replay(coordinator, stream, "root")
            await played(coordinator, time, 10, first=60)
            events = log_of(coordinator, stream)
            replays = next(e.seq for e in events if e.kind == "replayed")
            model, labels, numbers = Model(stream.settings), {told[2]: "spam"}, {}
            for event in events[:replays]:
                fact = facts_of(event)
                if isinstance(fact, Instance) and event.row is not None:
                    x = row_of(event)
                    ask = model.ask(x, event.time).ask
                    if ask.query and fact.asked:
                        numbers[fact.round] = ask.round
                    elif ask.query:
                        model.forget(ask.round)
                    elif fact.asked:
                        numbers[fact.round] = x
                elif event.kind in ("told", "forgotten") and event.question in numbers:
                    label, place = labels.get(event.question, getattr(fact, "label", None)), numbers[event.question]
                    if not isinstance(place, int):
                        if label is not None:
                            model.learn(place, label)
                    elif label is None:
                        model.forget(place)
                    else:
                        model.tell(place, label)
            library = Library(stream.settings)
            library.sampler = model.sampler
            for question in (told[0], told[1], told[2]):
                found = stream.questions.find(question)
                assert found.model == (None if found.erased else found.label)
            for event in events[replays:]:
                fact = facts_of(event)
                if isinstance(fact, Instance):
                    ask = library.sampler.ask(row_of(event))
                    assert (ask.round, ask.margin, ask.query) == (fact.played, fact.margin, fact.asked)
                    assert ask.round == fact.round - 4
                elif event.kind in ("told", "forgotten"):
                    played_as = stream.questions.find(event.question).played
                    if event.kind == "told":
                        library.sampler.tell(played_as, library.value(fact.label))
                    else:
                        library.sampler.forget(played_as)
            assert bits(library.sampler) == bits(stream.model.sampler)
            with contextlib.closing(coordinator.reader()) as reader:
                parts = export_tables.chunks(reader, stream.number, "labels", 0, stream.seq, stream.state.passed)
                rows = {row["question"]: row for part in parts for row in part}
            assert [rows[each]["told"] for each in told[:3]] == [None, None, "spam"]
            assert [rows[each]["corrected"] for each in told[:3]] == [False, False, False]
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert bits(library.sampler) == bits(stream.model.sampler)

    run(go())


def row_of(event):
    return row_codec.from_bytes(event.row)


def test_contents_go_when_the_time_of_the_stream_is_over(address, monkeypatch):
    monkeypatch.setattr(erasing, "PART", 4)

    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await played(coordinator, time, 20, erase=10.0)
            retention = Retention(coordinator)
            await retention.look()
            gone = [e for e in log_of(coordinator, stream) if e.kind == "instance" and e.row is None]
            assert [facts_of(e).round for e in gone] == list(range(10))
            assert all(e.time < 1010.0 for e in gone)
            assert stream.state.erased == gone[-1].seq
            await retention.look()  # not so soon again
            time.now += 0.5
            await retention.look()
            assert stream.state.erased == gone[-1].seq
            time.now += 60.0
            await retention.look()
            assert not stream.questions.open
            before = bits(stream.model.sampler)
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("mails")
            assert all(contents(e) == (None, None, None) for e in log_of(coordinator, stream))
            assert stream.state.erased == max(e.seq for e in log_of(coordinator, stream) if e.kind == "instance")
            assert bits(stream.model.sampler) == before
            last = log_of(coordinator, stream)[-1].seq
            await Retention(coordinator).look()
            assert log_of(coordinator, stream)[-1].seq == last

    run(go())


def test_backups_made_later_do_not_have_it(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 20)
            await erase(coordinator, stream, Which(rounds=[3]), "root")

    run(go())
    backups.backup(str(tmp_path / "log.db"), str(tmp_path / "later.backup"))
    kept = (tmp_path / "later.backup").read_bytes()
    assert word(4).encode() in kept
    assert word(3).encode() not in kept
    backups.restore(str(tmp_path / "later.backup"), str(tmp_path / "again.db"))

    async def again():
        async with open_coordinator(tmp_path / "again.db", Time(2000.0)) as coordinator:
            stream = coordinator.stream("mails")
            assert [
                facts_of(e).round for e in log_of(coordinator, stream) if e.kind == "instance" and e.row is None
            ] == [3]
            await played(coordinator, Time(2000.0), 3, first=20)

    run(again())


def test_a_damaged_snapshot_after_an_erasure_is_said_in_a_sentence(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await played(coordinator, time, 20)
            await erase(coordinator, stream, Which(rounds=[3]), "root")
            coordinator._store.connection.execute("update snapshots set model = x'00'")
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            (aside,) = coordinator.set_aside
            assert "does not follow from older ones; restore a backup" in aside.aside

    run(go())


@pytest.mark.parametrize("id", ["a\0b", "\ud800", "", "x" * 201])
def test_an_id_that_no_instance_can_have_is_refused(address, id):
    async def go():
        async with open_coordinator(address, Time()) as coordinator:
            stream = await played(coordinator, Time(), 3)
            with pytest.raises(InputError, match="id must"):
                await erase(coordinator, stream, Which(ids=["fine", id]), "root")
            assert (coordinator.broken, coordinator.set_aside) == (None, [])
            assert (await erase(coordinator, stream, Which(rounds=[1]), "root")).erased == 1

    run(go())
