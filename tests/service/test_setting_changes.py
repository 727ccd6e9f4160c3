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
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits
from tests.service.serving import Server

PEOPLE = ("ann", "bob", "cid")


def always(**given):
    """Settings of a stream that asks about everything."""
    return settings(algorithm="perceptron", budget=None, **given)


def log_of(coordinator, stream):
    reader = coordinator.reader()
    found = reader.events(stream.number, 0, 1 << 40)
    reader.close()
    return found


def run_on_database(tmp_path, play, **given):
    """Play on a stream with four questions, at time 1000."""

    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await streams.create(coordinator, "one", always(**given))
            for i in range(4):
                await instances.play(coordinator, stream, Raw([1.0, float(i)], f"n{i}", priority=float(i)))
            await play(coordinator, stream, time)

    run(go())


async def change(coordinator, **changes):
    return await streams.change_settings(coordinator, "one", changes, "root")


async def next_of(coordinator, stream, who):
    return (await questions.next_question(coordinator, stream, who)).question


async def wait(coordinator, time, seconds):
    time.now += seconds
    coordinator.tick()
    await coordinator.commits.settled()


def test_questions_that_are_open_keep_their_slots(tmp_path):
    async def play(coordinator, stream, time):
        await change(coordinator, slots=2)
        await instances.play(coordinator, stream, Raw([1.0, 9.0]))
        assert [len(stream.questions.find(each).slots) for each in range(5)] == [1, 1, 1, 1, 2]
        for who in PEOPLE[:2]:
            await questions.answer(coordinator, stream, 4, who, "ham")
        await questions.answer(coordinator, stream, 0, "ann", "ham")
        await wait(coordinator, time, 100.0)
        assert not stream.questions.open.keys() & {0, 4}
        # Closed questions come back from the log as they were opened, whatever the stream says by now.
        await change(coordinator, slots=1)
        assert [len(stream.questions.find(each).slots) for each in (0, 4)] == [1, 2]
        assert len(stream.questions.find(4).answers) == 2

    run_on_database(tmp_path, play)


def test_leases_that_are_held_keep_their_end(tmp_path):
    async def play(coordinator, stream, time):
        assert await next_of(coordinator, stream, "ann") == 0
        await change(coordinator, lease=10.0)
        await wait(coordinator, time, 250.0)
        assert await next_of(coordinator, stream, "bob") == 1  # ann has 0 until 1300
        assert await questions.renew(coordinator, stream, 0, "ann") == time.now + 10.0
        await wait(coordinator, time, 10.0)
        assert await next_of(coordinator, stream, "cid") == 0

    run_on_database(tmp_path, play)


@pytest.mark.parametrize("grace", [0.0, 500.0])
def test_an_answer_keeps_the_grace_that_it_was_promised(tmp_path, grace):
    async def play(coordinator, stream, time):
        receipt = await questions.answer(coordinator, stream, 0, "ann", "ham", "k")
        await change(coordinator, grace=grace)
        assert (
            (await questions.answer(coordinator, stream, 0, "ann", "ham", "k")).undo == receipt.undo == time.now + 20.0
        )
        later = await questions.answer(coordinator, stream, 1, "bob", "ham")
        assert later.undo == time.now + grace
        await wait(coordinator, time, 19.0)
        assert not stream.questions.find(0).told
        assert stream.questions.find(1).told == (grace == 0.0)
        await wait(coordinator, time, 1.0)
        assert stream.questions.find(0).told

    run_on_database(tmp_path, play)


def test_questions_come_in_the_new_order_and_expire_in_the_new_time(tmp_path):
    async def play(coordinator, stream, time):
        assert await next_of(coordinator, stream, "ann") == 0
        await change(coordinator, order="priority", forget=50.0)
        assert await next_of(coordinator, stream, "bob") == 3
        await wait(coordinator, time, 50.0)
        assert {each for each in range(4) if stream.questions.find(each).forgotten} == {1, 2}  # the others are held
        await change(coordinator, forget=None)
        await wait(coordinator, time, 1000.0)
        assert not stream.questions.find(0).forgotten

    run_on_database(tmp_path, play)


def test_a_new_way_to_decide_is_for_what_is_not_decided_yet(tmp_path):
    async def play(coordinator, stream, time):
        for who, label in zip(PEOPLE, ("ham", "ham", "spam"), strict=True):
            await questions.answer(coordinator, stream, 0, who, label)
        await wait(coordinator, time, 30.0)
        assert stream.questions.find(0).label == "ham"
        for who, label in zip(PEOPLE, ("ham", "ham", "spam"), strict=True):
            await questions.answer(coordinator, stream, 1, who, label)
        await change(coordinator, decide="unanimity")
        await wait(coordinator, time, 30.0)
        assert stream.questions.find(0).label == "ham"
        assert stream.questions.find(1).disputed

    run_on_database(tmp_path, play, slots=3)


def test_the_guess_is_shown_from_now_on(tmp_path):
    async def play(coordinator, stream, time):
        assert (await questions.next_question(coordinator, stream, "ann")).guess is None
        await change(coordinator, guess=True)
        assert (await questions.next_question(coordinator, stream, "bob")).guess is not None

    run_on_database(tmp_path, play)


FIXED = {
    "version": 1,
    "certainty": 1,
    "several": True,
    "within": 2.0,
    "bounds": (0.0, 1.0),
    "algorithm": "default",
    "letters": {"b": 1.0},
    "raw": True,
    "budget": {"rate": 0.5},
    "features": {"kind": "text"},
    "seed": 8,
}


def test_every_setting_can_be_changed_or_is_refused_in_a_sentence(tmp_path):
    assert set(FIXED) | set(CHANGEABLE) == set(Settings.__struct_fields__)

    async def play(coordinator, stream, time):
        before, seq = stream.settings, stream.seq
        for name, value in FIXED.items():
            with pytest.raises(InputError, match=rf"^stream: {name} cannot be changed, .* make another stream like"):
                await change(coordinator, **{name: value, "lease": 60.0})
        for wrong in ({"lease": "long"}, {"lease": 0.0}, {"view": None}, {"view": {"kind": "x"}}, {"nothing": 1}):
            with pytest.raises(InputError):
                await change(coordinator, **wrong)
        assert (stream.settings, stream.seq) == (before, seq)
        await change(coordinator, **msgspec.to_builtins(before))  # all as it is: nothing happens
        assert stream.seq == seq
        await change(coordinator, view={"highlight": "win"})
        await change(coordinator, view={"blind": True})  # the rest of the view stays
        assert (stream.settings.view.highlight, stream.settings.view.blind) == ("win", True)

    run_on_database(tmp_path, play)


def test_two_changes_at_once_are_both_made_and_a_retry_is_none(tmp_path):
    async def play(coordinator, stream, time):
        both = (
            streams.change_settings(coordinator, "one", {"lease": 60.0}, "root", "k1"),
            streams.change_settings(coordinator, "one", {"grace": 5.0, "view": {"blind": True}}, "root", "k2"),
            streams.change_settings(coordinator, "one", {"lease": 60.0}, "root", "k1"),
        )
        await asyncio.gather(*both)
        assert (stream.settings.lease, stream.settings.grace, stream.settings.view.blind) == (60.0, 5.0, True)
        await change(coordinator, lease=90.0)
        await streams.change_settings(
            coordinator, "one", {"lease": 60.0}, "root", "k1"
        )  # it was done, and undone since
        assert stream.settings.lease == 90.0
        with pytest.raises(ConflictError, match="this key was used for another change"):
            await streams.change_settings(coordinator, "one", {"lease": 61.0}, "root", "k1")
        assert [event.kind for event in log_of(coordinator, stream)].count("settings changed") == 3

    run_on_database(tmp_path, play)


async def changing(coordinator, stream, time, rounds):
    """Instances, three people, and changes in between; some questions are left open, held or half answered."""
    for i in range(rounds):
        await instances.play(coordinator, stream, Raw([1.0, float(i % 7), float(i)], None, float(i % 3)))
        if i % 5 == 2:
            given = {"slots": 1 + i % 3, "grace": float(i % 4), "order": ("oldest", "priority")[i % 2]}
            await change(coordinator, **given, lease=5.0 + i % 9, view={"highlight": f"word {i}"})
        for who in PEOPLE[: i % 4]:
            shown = await questions.next_question(coordinator, stream, who)
            if shown is not None and i % 6:
                await questions.answer(coordinator, stream, shown.question, who, ("ham", "spam")[i % 2])
        if i % 11 == 10:
            await questions.undo(coordinator, stream, None, "ann")
        await wait(coordinator, time, 1.5)


@pytest.mark.parametrize("ending", ["killed", "closed", "replayed"])
def test_the_same_stream_comes_from_the_log(address, ending):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=ending == "killed") as coordinator:
            stream = await streams.create(coordinator, "one", always())
            await changing(coordinator, stream, time, 40)
            if ending == "replayed":
                await replaying.replay(coordinator, stream, "root")
            await coordinator.commits.settled()
            alive = stream.settings, bits(stream.model.sampler), stream.dump()[1]
            closed = {round: stream.questions.find(round) for round in range(40)}
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = coordinator.stream("one")
            assert (stream.settings, bits(stream.model.sampler), stream.dump()[1]) == alive
            assert {round: stream.questions.find(round) for round in range(40)} == closed
            await changing(coordinator, stream, time, 20)
            events = log_of(coordinator, stream)
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
