"""A backlog: instances are stored at once, and decided as fast as people answer, by the model of that moment."""

import contextlib
import json

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.service.domain.backlog import PER_PERSON, rank_of
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.kinds import facts_of
from askwhen.service.events.settings import Backlog, Budget, Features, check_settings
from askwhen.service.use_cases import backlog, erasing, instances, questions, streams, withdrawing
from askwhen.service.use_cases.erasing import Which
from askwhen.service.use_cases.instances import Decision, Provisional, Raw
from askwhen.service.use_cases.withdrawing import Source, Withdraw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running
from tests.service.library import Library, bits

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 4)).round(4)
Y = ["spam" if each else "ham" for each in X @ RNG.standard_normal(4) > 0.0]


def raws(n=300):
    return [Raw(x.tolist(), f"n{i}") for i, x in enumerate(X[:n])]


def piled(**given):
    """Settings of a stream that works through a backlog."""
    return settings(mode="backlog", budget=Budget(rate=0.2), grace=1.0, **given)


async def answer_next(coordinator, stream, time, annotator="ann", truth=Y):
    """Answer the next question by the truth; whether there was one."""
    coordinator.tick()
    await coordinator.commits.settled()
    shown = await questions.next_question(coordinator, stream, annotator)
    if shown is None:
        return False
    event = coordinator.event(stream, stream.questions.open[shown.question].seq)
    await questions.answer(coordinator, stream, shown.question, annotator, truth[int(event.key[3:])], lead=2.0)
    time.now += 2.0
    return True


async def work_off(coordinator, stream, time, most=10_000, **given):
    """Answer until nothing waits; the number of answers."""
    answers = 0
    for _ in range(most):
        if await answer_next(coordinator, stream, time, **given):
            answers += 1
        elif not len(stream.backlog):
            break
        else:
            time.now += 1.0
    return answers


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def test_instances_wait_and_are_decided_as_fast_as_people_answer(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            found = await instances.play_all(coordinator, stream, raws())
            assert [each.place for each in found] == list(range(1, 301))
            assert all(isinstance(each, Provisional) and each.provisional for each in found)
            assert stream.state.round == 0
            rounds = []
            while len(stream.backlog):
                assert stream.questions.unanswered <= PER_PERSON
                await answer_next(coordinator, stream, time)
                rounds.append(stream.state.round)
            assert rounds[0] < 40
            assert rounds == sorted(rounds)
            assert stream.state.round == 300
            events = log_of(coordinator, stream)
            history.check(events)
            played = [facts_of(event) for event in events if event.kind == "instance"]
            assert [fact.place for fact in played] == list(range(1, 301))
            late = [fact for fact in played[-50:] if fact.prediction is not None]
            assert np.mean([fact.prediction == Y[fact.place - 1] for fact in late]) > 0.8  # it has learnt on the way
            library = Library(stream.settings)
            library.follow(events)
            assert bits(library.sampler) == stream.model.dump()()

    run(go())


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_crash_loses_nothing_and_the_same_decisions_follow(address, shuffle):
    async def go():
        time, given = Time(), piled(backlog=Backlog(shuffle=shuffle))
        async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            await instances.play_all(coordinator, stream, raws(200))
            await work_off(coordinator, stream, time, most=15)
            await coordinator.commits.settled()
            before, left, model = log_of(coordinator, stream), len(stream.backlog), stream.model.dump()()
            assert 0 < left < 200
        async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert log_of(coordinator, stream) == before
            assert len(stream.backlog) == left
            assert stream.model.dump()() == model
            more = await instances.play_all(coordinator, stream, raws(230))
            assert sum(isinstance(each, Decision) for each in more) == 200 - left
            assert all(each.again for each in more[:200])
            assert [each.place for each in more[200:]] == list(range(201, 231))
            await work_off(coordinator, stream, time)
            events, made = log_of(coordinator, stream), stream.settings
        played = [facts_of(event) for event in events if event.kind == "instance"]
        assert sorted(fact.place for fact in played) == list(range(1, 231))
        order = [fact.place for fact in played if fact.place <= 200][: 200 - left]
        assert order == sorted(order, key=(lambda place: rank_of(7, place)) if shuffle else None)
        library = Library(made)
        library.follow(events)
        async with open_coordinator(address, time, ticks=False) as coordinator:
            assert coordinator.stream("mails").model.dump()() == bits(library.sampler)

    run(go())


def test_an_instance_that_is_sent_again_keeps_its_place_and_then_its_decision(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            first, twice = await instances.play_all(coordinator, stream, [raws(1)[0], raws(1)[0]])
            assert (first.place, first.again, twice.place, twice.again) == (1, False, 1, True)
            found = await instances.play(coordinator, stream, raws(1)[0], backlog=False)
            assert (found.place, found.provisional, found.again) == (1, True, True)
            await work_off(coordinator, stream, time)
            found = await instances.play(coordinator, stream, raws(1)[0])
            assert (found.round, found.asked, found.again) == (0, True, True)
            assert len(log_of(coordinator, stream)) == stream.seq

    run(go())


def test_a_live_stream_takes_a_backlog_and_a_backlog_takes_live_instances(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            live = await streams.create(coordinator, "live", settings(budget=Budget(rate=0.2)))
            pile = await streams.create(coordinator, "pile", piled())
            for stream in (live, pile):
                await instances.play_all(coordinator, stream, raws(100), backlog=True)
                found = await instances.play(coordinator, stream, Raw(X[200].tolist(), "n200"), backlog=False)
                assert isinstance(found, Decision)
                assert len(stream.backlog) == 100
            await instances.play_all(coordinator, live, [Raw(X[201].tolist(), "n201")])
            await work_off(coordinator, live, time)
            await streams.change_settings(coordinator, "pile", {"mode": "live"}, "root")
            assert isinstance(await instances.play(coordinator, pile, Raw(X[202].tolist(), "n202")), Decision)
            await work_off(coordinator, pile, time)
            assert (live.state.round, pile.state.round) == (102, 102)

    run(go())


def test_what_cannot_be_decided_later_is_refused_at_once(tmp_path):
    with pytest.raises(InputError, match=r"a budget for each period is for .* a backlog needs a rate\."):
        check_settings(settings(mode="backlog", budget=Budget(per=86400.0, count=10)))
    with pytest.raises(InputError, match="questions must be between 1 and"):
        check_settings(settings(backlog=Backlog(questions=0)))

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            mixed = [Raw([1.0, 2.0, 3.0]), Raw([1.0, 2.0]), Raw([2.0, 3.0, 4.0]), Raw([1.0, float("nan"), 0.0])]
            found = await instances.play_all(coordinator, stream, mixed)
            assert [isinstance(each, Provisional) for each in found] == [True, False, True, False]
            assert "another number of features" in str(found[1])
            (wrong,) = await instances.play_all(coordinator, stream, [Raw([1.0])])
            assert isinstance(wrong, InputError)
            daily = await streams.create(coordinator, "daily", settings(budget=Budget(per=86400.0, count=10)))
            with pytest.raises(InputError, match="a backlog needs a rate"):
                await instances.play(coordinator, daily, raws(1)[0], backlog=True)
            await streams.change(coordinator, "mails", "paused", "root")
            with pytest.raises(ConflictError, match="paused"):
                await instances.play(coordinator, stream, Raw([0.0, 0.0, 0.0]))
            coordinator.tick()
            assert stream.state.round == 0
            await streams.change(coordinator, "mails", "resumed", "root")
            coordinator.tick()
            assert stream.state.round == 2

    run(go())


def test_the_number_of_waiting_questions_follows_the_people_or_is_set(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            await instances.play_all(coordinator, stream, raws())
            for who, wanted in (("ann", PER_PERSON), ("bob", 2 * PER_PERSON)):
                await questions.next_question(coordinator, stream, who)
                coordinator.tick()
                assert stream.questions.unanswered == wanted
            time.now += 3600.0
            coordinator.tick()
            assert stream.questions.unanswered == 2 * PER_PERSON  # none is taken back
            await streams.change_settings(coordinator, "mails", {"backlog": {"questions": 17}}, "root")
            coordinator.tick()
            assert stream.questions.unanswered == 17

    run(go())


def test_questions_that_everybody_skips_do_not_stop_a_backlog(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            await instances.play_all(coordinator, stream, raws())
            for _ in range(3 * PER_PERSON):
                shown = await questions.next_question(coordinator, stream, "ann")
                await questions.skip(coordinator, stream, shown.question, "ann")

    run(go())


def test_where_no_more_may_be_asked_the_rest_is_decided_after_the_last_answer(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            given = settings(mode="backlog", budget=Budget(rate=0.5, most=8), grace=0.0)
            stream = await streams.create(coordinator, "mails", given)
            await instances.play_all(coordinator, stream, raws())
            while stream.questions.stored.asked < 8:
                assert await answer_next(coordinator, stream, time)
            for _ in range(3):
                coordinator.tick()
            at, left = stream.state.round, len(stream.backlog)
            assert left > 200
            assert (await backlog.progress(coordinator, stream)).expected == 8
            while stream.questions.unanswered:
                assert stream.state.round == at
                await answer_next(coordinator, stream, time)
            coordinator.tick()
            assert len(stream.backlog) == 0

    run(go())


def test_an_erasure_reaches_the_backlog(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            for i, raw in enumerate(raws(60)):
                raw.subject = f"client {i % 3}"
                await instances.play(coordinator, stream, raw)
            coordinator.tick()
            decided = stream.state.round
            assert 0 < decided < 50
            gone = await erasing.erase(coordinator, stream, Which(subject="client 1"), "root")
            assert gone.erased == 20
            gone = await erasing.erase(coordinator, stream, Which(ids=["n0", "n59"]), "root")
            assert gone.erased == 2
            with pytest.raises(aw.errors.AskwhenError, match="there is no instance with id 'n58'"):
                await erasing.erase(coordinator, stream, Which(ids=["n57", "n58"]), "root")
            left = len(stream.backlog)
            with contextlib.closing(coordinator.reader()) as reader:
                kept = [item.key for item in reader.backlog(stream.number, 0, 100)]
                assert not reader.backlog_places(stream.number, subject="client 1")
            assert len(kept) == left
            assert "i:n57" in kept
            # A place is never given twice, not even that of the last one that is gone.
            time.now += 10.0
            await erasing.erase(coordinator, stream, Which(before=time.now), "root")
            assert len(stream.backlog) == 0
            assert (await instances.play(coordinator, stream, Raw(X[70].tolist()))).place == 61

    run(go())


def test_progress_says_what_is_known(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            await instances.play_all(coordinator, stream, raws())
            found = await backlog.progress(coordinator, stream)
            assert (found.undecided, found.asked, found.expected, found.left) == (300, 0, 75, 75)
            assert (found.seconds, found.remaining) == (None, None)
            for _ in range(12):
                await answer_next(coordinator, stream, time)
            found = await backlog.progress(coordinator, stream, "ann")
            assert (found.answered, found.active, found.seconds) == (12, 1, 2.0)
            assert (found.expected, found.left) == (75, 63)
            assert found.remaining == 126.0
            assert (await backlog.progress(coordinator, stream, "bob")).remaining is None
            answers = 12 + await work_off(coordinator, stream, time)
            found = await backlog.progress(coordinator, stream)
            assert (found.undecided, found.answered, found.left, found.remaining) == (0, answers, 0, 0.0)
            assert abs(answers - 75) < 10

    run(go())


def test_over_http(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            given = {"mode": "backlog", "backlog": {"questions": 3}, "budget": {"rate": 0.2}, "seed": 7}
            assert (await http.post("/v1/streams", json={"name": "mails", "settings": given})).status_code == 201
            reply = (await http.post("/v1/streams/mails/instances", json={"x": [1.0, 2.0], "id": "a"})).json()
            assert reply == {"provisional": True, "place": 1, "prediction": "no", "certainty": 0.5, "id": "a"}
            lines = '{"x": [2, 1], "id": "b", "source": "pile.csv"}\n{"x": [1]}\n{"x": [0, 1]}\n'
            headers = {"Content-Type": "application/x-ndjson"}
            reply = await http.post("/v1/streams/mails/instances?backlog=true", content=lines, headers=headers)
            assert [("error" in line, "provisional" in line) for line in map(json.loads, reply.text.splitlines())] == [
                (False, True),
                (True, False),
                (False, True),
            ]
            reply = (await http.post("/v1/streams/mails/instances?backlog=false", json={"x": [1.0, 2.0]})).json()
            assert (reply["round"], reply["asked"]) == (coordinator.stream("mails").state.round - 1, True)
            found = (await http.get("/v1/streams/mails/backlog")).json()
            assert found["mode"] == "backlog"
            assert found["undecided"] + found["decided"] == 4

    run(go())


SPAM, HAM = ["win", "cash", "prize", "urgent", "claim", "free"], ["home", "later", "love", "lunch", "meeting", "ok"]


def messages(n, seed):
    """Short messages, one in seven of them spam, that mostly have words of their kind."""
    rng = np.random.default_rng(seed)
    truth = ["spam" if each else "ham" for each in rng.random(n) < 1 / 7]
    words = [f"word{i}" for i in range(300)]
    texts = []
    for label in truth:
        own = SPAM if label == "spam" else HAM
        texts.append(" ".join([*rng.choice(words, 5), *rng.choice(own, 2), rng.choice(SPAM + HAM)]))
    return texts, truth


async def delivered(address, backlogged, n=1200):
    """The share of right labels at the end, answers and predictions together, and that of questions."""
    texts, truth = messages(n, 5)
    time = Time()
    async with open_coordinator(address, time, ticks=False) as coordinator:
        given = settings(
            features=Features(kind="text", places=1 << 12, vectors=False), budget=Budget(rate=0.1), grace=1.0
        )
        stream = await streams.create(coordinator, "sms", given)
        if backlogged:
            raws = [Raw(text, f"n{i}") for i, text in enumerate(texts)]
            await instances.play_all(coordinator, stream, raws, backlog=True)
            await work_off(coordinator, stream, time, truth=truth)
        else:
            for i, text in enumerate(texts):
                found = await instances.play(coordinator, stream, Raw(text, f"n{i}"))
                if found.asked:
                    assert await answer_next(coordinator, stream, time, truth=truth)
        played = [facts_of(event) for event in log_of(coordinator, stream) if event.kind == "instance"]
        assert len(played) == n
        right = sum(fact.asked or fact.prediction == truth[i] for i, fact in enumerate(played))
        return right / n, sum(fact.asked for fact in played) / n


def test_a_pile_is_labelled_as_well_from_a_backlog_as_from_a_stream(tmp_path):
    async def go():
        streamed, asked = await delivered(tmp_path / "a.db", False)
        backlogged, asked_again = await delivered(tmp_path / "b.db", True)
        assert abs(streamed - backlogged) < 0.01
        assert max(asked, asked_again) < 0.12
        assert backlogged > 0.95

    run(go())


def test_what_has_no_answer_can_be_withdrawn_by_source_or_by_ids(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", piled())
            for source, some in (("a.csv", raws(60)[:40]), ("b.csv", raws(60)[40:])):
                for raw in some:
                    raw.source = source
                await instances.play_all(coordinator, stream, some)
            answered = await work_off(coordinator, stream, time, most=3)
            assert await withdrawing.sources(coordinator, stream) == [
                Source("b.csv", 20),
                Source("a.csv", len(stream.backlog) - 20),
            ]
            with pytest.raises(ConflictError, match="was (answered|decided) already, so it cannot be withdrawn"):
                await withdrawing.withdraw(coordinator, stream, Withdraw(ids=["n0", "n50"]), "root")
            with pytest.raises(NotFoundError, match="not all of these"):
                await withdrawing.withdraw(coordinator, stream, Withdraw(ids=["n50", "other"]), "root")
            for wrong in (Withdraw(), Withdraw(source="a", ids=["b"]), Withdraw(ids=[])):
                with pytest.raises(InputError):
                    await withdrawing.withdraw(coordinator, stream, wrong, "root")
            assert len(stream.backlog) + stream.state.round == 60
            found = await withdrawing.withdraw(coordinator, stream, Withdraw(ids=["n50", "n51"]), "root")
            assert (found.withdrawn, found.dropped, found.kept) == (2, 0, 0)
            open_ones, decided = stream.questions.waiting, stream.state.round
            found = await withdrawing.withdraw(coordinator, stream, Withdraw(source="a.csv"), "root")
            assert (found.withdrawn, found.dropped, found.kept) == (40 - decided, open_ones, decided)
            assert (len(stream.backlog), stream.questions.waiting, answered) == (18, 0, 3)
            assert await withdrawing.sources(coordinator, stream) == [Source("b.csv", 18)]
            (again,) = await instances.play_all(coordinator, stream, [raws(60)[50]])
            assert again.place == 61
            history.check(log_of(coordinator, stream))

    run(go())
