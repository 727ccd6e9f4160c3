"""Settings that are changed: what was promised before holds, and the log makes the same stream again."""

import asyncio

import httpx
import msgspec
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.service.domain.setting_changes import CHANGEABLE
from askwhen.service.errors import ConflictError
from askwhen.service.events.settings import Settings
from askwhen.service.use_cases import instances, questions, replaying, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.desks import Time, open_desk, run, settings
from tests.service.library import Library, bits
from tests.service.serving import Server

PEOPLE = ("ann", "bob", "cid")


def always(**given):
    """Settings of a stream that asks about everything."""
    return settings(algorithm="perceptron", budget=None, **given)


def log_of(desk, stream):
    reader = desk.reader()
    found = reader.events(stream.number, 0, 1 << 40)
    reader.close()
    return found


def at_desk(tmp_path, play, **given):
    """Play on a stream with four questions, at time 1000."""

    async def go():
        time = Time()
        async with open_desk(tmp_path / "log.db", time) as desk:
            stream = await streams.create(desk, "one", always(**given))
            for i in range(4):
                await instances.play(desk, stream, Raw([1.0, float(i)], f"n{i}", priority=float(i)))
            await play(desk, stream, time)

    run(go())


async def change(desk, **changes):
    return await streams.change_settings(desk, "one", changes, "root")


async def next_of(desk, stream, who):
    return (await questions.next_question(desk, stream, who)).question


async def wait(desk, time, seconds):
    time.now += seconds
    desk.tick()
    await desk.commits.settled()


def test_questions_that_are_open_keep_their_slots(tmp_path):
    async def play(desk, stream, time):
        await change(desk, slots=2)
        await instances.play(desk, stream, Raw([1.0, 9.0]))
        assert [len(stream.books.find(each).slots) for each in range(5)] == [1, 1, 1, 1, 2]
        for who in PEOPLE[:2]:
            await questions.answer(desk, stream, 4, who, "ham")
        await questions.answer(desk, stream, 0, "ann", "ham")
        await wait(desk, time, 100.0)
        assert not stream.books.questions.keys() & {0, 4}
        # Closed questions come back from the log as they were opened, whatever the stream says by now.
        await change(desk, slots=1)
        assert [len(stream.books.find(each).slots) for each in (0, 4)] == [1, 2]
        assert len(stream.books.find(4).answers) == 2

    at_desk(tmp_path, play)


def test_leases_that_are_held_keep_their_end(tmp_path):
    async def play(desk, stream, time):
        assert await next_of(desk, stream, "ann") == 0
        await change(desk, lease=10.0)
        await wait(desk, time, 250.0)
        assert await next_of(desk, stream, "bob") == 1  # ann has 0 until 1300
        assert await questions.renew(desk, stream, 0, "ann") == time.now + 10.0
        await wait(desk, time, 10.0)
        assert await next_of(desk, stream, "cid") == 0

    at_desk(tmp_path, play)


@pytest.mark.parametrize("grace", [0.0, 500.0])
def test_an_answer_keeps_the_grace_that_it_was_promised(tmp_path, grace):
    async def play(desk, stream, time):
        receipt = await questions.answer(desk, stream, 0, "ann", "ham", "k")
        await change(desk, grace=grace)
        assert (await questions.answer(desk, stream, 0, "ann", "ham", "k")).undo == receipt.undo == time.now + 20.0
        later = await questions.answer(desk, stream, 1, "bob", "ham")
        assert later.undo == time.now + grace
        await wait(desk, time, 19.0)
        assert not stream.books.find(0).told
        assert stream.books.find(1).told == (grace == 0.0)
        await wait(desk, time, 1.0)
        assert stream.books.find(0).told

    at_desk(tmp_path, play)


def test_questions_come_in_the_new_order_and_expire_in_the_new_time(tmp_path):
    async def play(desk, stream, time):
        assert await next_of(desk, stream, "ann") == 0
        await change(desk, order="priority", forget=50.0)
        assert await next_of(desk, stream, "bob") == 3
        await wait(desk, time, 50.0)
        assert {each for each in range(4) if stream.books.find(each).forgotten} == {1, 2}  # the others are held
        await change(desk, forget=None)
        await wait(desk, time, 1000.0)
        assert not stream.books.find(0).forgotten

    at_desk(tmp_path, play)


def test_a_new_way_to_decide_is_for_what_is_not_decided_yet(tmp_path):
    async def play(desk, stream, time):
        for who, label in zip(PEOPLE, ("ham", "ham", "spam"), strict=True):
            await questions.answer(desk, stream, 0, who, label)
        await wait(desk, time, 30.0)
        assert stream.books.find(0).label == "ham"
        for who, label in zip(PEOPLE, ("ham", "ham", "spam"), strict=True):
            await questions.answer(desk, stream, 1, who, label)
        await change(desk, decide="unanimity")
        await wait(desk, time, 30.0)
        assert stream.books.find(0).label == "ham"
        assert stream.books.find(1).disputed

    at_desk(tmp_path, play, slots=3)


def test_the_guess_is_shown_from_now_on(tmp_path):
    async def play(desk, stream, time):
        assert (await questions.next_question(desk, stream, "ann")).guess is None
        await change(desk, guess=True)
        assert (await questions.next_question(desk, stream, "bob")).guess is not None

    at_desk(tmp_path, play)


FIXED = {
    "labels": ["ham", "eggs"],
    "algorithm": "default",
    "letters": {"b": 1.0},
    "raw": True,
    "budget": {"rate": 0.5},
    "features": {"kind": "text"},
    "seed": 8,
}


def test_every_setting_can_be_changed_or_is_refused_in_a_sentence(tmp_path):
    assert set(FIXED) | set(CHANGEABLE) == set(Settings.__struct_fields__)

    async def play(desk, stream, time):
        before, seq = stream.settings, stream.seq
        for name, value in FIXED.items():
            with pytest.raises(InputError, match=rf"^stream: {name} cannot be changed, .* make another stream like"):
                await change(desk, **{name: value, "lease": 60.0})
        for wrong in ({"lease": "long"}, {"lease": 0.0}, {"view": None}, {"view": {"kind": "x"}}, {"nothing": 1}):
            with pytest.raises(InputError):
                await change(desk, **wrong)
        assert (stream.settings, stream.seq) == (before, seq)
        await change(desk, **msgspec.to_builtins(before))  # all as it is: nothing happens
        assert stream.seq == seq
        await change(desk, view={"highlight": "win"})
        await change(desk, view={"blind": True})  # the rest of the view stays
        assert (stream.settings.view.highlight, stream.settings.view.blind) == ("win", True)

    at_desk(tmp_path, play)


def test_two_changes_at_once_are_both_made_and_a_retry_is_none(tmp_path):
    async def play(desk, stream, time):
        both = (
            streams.change_settings(desk, "one", {"lease": 60.0}, "root", "k1"),
            streams.change_settings(desk, "one", {"grace": 5.0, "view": {"blind": True}}, "root", "k2"),
            streams.change_settings(desk, "one", {"lease": 60.0}, "root", "k1"),
        )
        await asyncio.gather(*both)
        assert (stream.settings.lease, stream.settings.grace, stream.settings.view.blind) == (60.0, 5.0, True)
        await change(desk, lease=90.0)
        await streams.change_settings(desk, "one", {"lease": 60.0}, "root", "k1")  # it was done, and undone since
        assert stream.settings.lease == 90.0
        with pytest.raises(ConflictError, match="this key was used for another change"):
            await streams.change_settings(desk, "one", {"lease": 61.0}, "root", "k1")
        assert [event.kind for event in log_of(desk, stream)].count("settings changed") == 3

    at_desk(tmp_path, play)


async def changing(desk, stream, time, rounds):
    """Instances, three people, and changes in between; some questions are left open, held or half answered."""
    for i in range(rounds):
        await instances.play(desk, stream, Raw([1.0, float(i % 7), float(i)], None, float(i % 3)))
        if i % 5 == 2:
            given = {"slots": 1 + i % 3, "grace": float(i % 4), "order": ("oldest", "priority")[i % 2]}
            await change(desk, **given, lease=5.0 + i % 9, view={"highlight": f"word {i}"})
        for who in PEOPLE[: i % 4]:
            shown = await questions.next_question(desk, stream, who)
            if shown is not None and i % 6:
                await questions.answer(desk, stream, shown.question, who, ("ham", "spam")[i % 2])
        if i % 11 == 10:
            await questions.undo(desk, stream, None, "ann")
        await wait(desk, time, 1.5)


@pytest.mark.parametrize("ending", ["killed", "closed", "replayed"])
def test_the_same_stream_comes_from_the_log(address, ending):
    async def play():
        time = Time()
        async with open_desk(address, time, crash=ending == "killed") as desk:
            stream = await streams.create(desk, "one", always())
            await changing(desk, stream, time, 40)
            if ending == "replayed":
                await replaying.replay(desk, stream, "root")
            await desk.commits.settled()
            alive = stream.settings, bits(stream.model.sampler), stream.dump()[1]
            closed = {round: stream.books.find(round) for round in range(40)}
        async with open_desk(address, time, crash=True) as desk:
            stream = desk.stream("one")
            assert (stream.settings, bits(stream.model.sampler), stream.dump()[1]) == alive
            assert {round: stream.books.find(round) for round in range(40)} == closed
            await changing(desk, stream, time, 20)
            events = log_of(desk, stream)
            history.check(events)
            if ending != "replayed":
                library = Library(stream.settings)
                library.follow(events)
                assert bits(library.sampler) == bits(stream.model.sampler)

    run(play())


def test_over_http_a_change_outlives_a_kill(tmp_path):
    with Server(tmp_path / "log.db") as server, httpx.Client(base_url=server.url) as http:
        with aw.Client(server.url) as client:
            stream = client.create("one", labels=["ham", "spam"], algorithm="perceptron", seed=1)
            for x in (1.0, 2.0):
                stream.ask([x])
            held = stream.next("ann")
            assert stream.set(lease=60, view={"highlight": "win"})["settings"]["lease"] == 60.0
            given = {"settings": {"guess": True}, "key": "k"}
            assert http.patch("/v1/streams/one", json=given).json()["settings"]["guess"] is True
            server.kill()
            server.start()
            found = http.patch("/v1/streams/one", json=given).json()
            assert [found["settings"][name] for name in ("lease", "guess")] == [60.0, True]
            assert found["settings"]["view"]["highlight"] == "win"
            refused = http.patch("/v1/streams/one", json={"settings": {"labels": ["a", "b"]}})
            assert (refused.status_code, refused.json()["parameter"]) == (422, "labels")
            for wrong in ({}, {"name": "two", "settings": {"lease": 5}}):
                assert http.patch("/v1/streams/one", json=wrong).status_code == 422
            assert stream.tell(held["question"], "ham", annotator="ann")["label"] == "ham"

        async def loop():
            async with aw.AsyncClient(server.url) as client:
                return await (await client.stream("one")).set(forget=None, order="valuable")

        assert run(loop())["settings"]["order"] == "valuable"
        kinds = http.get("/openapi.json").json()["components"]["schemas"]["StreamPatch"]["properties"]["settings"]
        assert set(kinds["properties"]) == set(CHANGEABLE)
