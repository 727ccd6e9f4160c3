"""A promise on delivered labels in a stream: decisions, labels that come later, recovery, replay, corrections."""

import contextlib
import json
import math

import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.rules.promise_account import wealth_logs
from askwhen.service.errors import ConflictError
from askwhen.service.events.kinds import facts_of, id_of
from askwhen.service.events.settings import Backlog, Budget, check_settings
from askwhen.service.use_cases import (
    backlog,
    erasing,
    instances,
    label_changes,
    promises,
    questions,
    replaying,
    reports,
    streams,
    webhooks,
)
from askwhen.service.use_cases.delivered_table import DeliveredTable
from askwhen.service.use_cases.erasing import Which
from askwhen.service.use_cases.instances import Provisional, Raw
from askwhen.snapshot import engine_state
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings

RNG = np.random.default_rng(6)
X = RNG.standard_normal((900, 4)).round(4)
Y = ["spam" if each else "ham" for each in X[:, 0] + 0.2 * RNG.standard_normal(900) > 0.0]
ERRORS = 0.15


def promised(**given):
    given = {"budget": Budget(errors=ERRORS), "algorithm": "sop", "raw": True, "grace": 0.0} | given
    return settings(**given)


def raws(first, last):
    return [Raw([*x.tolist(), 1.0], f"n{first + i}") for i, x in enumerate(X[first:last])]


def truth(id):
    return Y[int(id[1:])]


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


async def answer(coordinator, stream, time, most=1):
    """Answer the next questions by the truth; returns how many there were."""
    for number in range(most):
        coordinator.tick()
        await coordinator.commits.settled()
        shown = await questions.next_question(coordinator, stream, "ann")
        if shown is None:
            return number
        event = coordinator.event(stream, stream.questions.open[shown.question].seq)
        await questions.answer(coordinator, stream, shown.question, "ann", truth(id_of(event)), lead=2.0)
        time.now += 1.0
        coordinator.tick()
    return most


def account(stream):
    promise = stream.model.sampler.promise
    state = stream.model.sampler.engine.rule
    return promise.certificate, promise.withheld, wealth_logs(state).tolist(), state.hoped.tolist()


def state_of(stream):
    return stream.dump()[:2], stream.model.dump()(), account(stream)


def delivered_labels(events):
    """The labels that are delivered after these events, by id, from nothing but the log."""
    asked, found = {}, {}
    for event in events:
        fact = facts_of(event)
        if event.kind == "instance" and fact.asked:
            asked[fact.round] = id_of(event)
        elif event.kind == "instance" and not fact.withheld:
            assert event.key[2:] not in found
            found[event.key[2:]] = fact.prediction
        elif event.kind in ("told", "corrected"):
            assert (fact.delivered, fact.id) == (True, asked[event.question])
            found[fact.id] = fact.label
    return {id: label for id, label in found.items() if label is not None}


async def played(coordinator, stream, time, first, last, late=0):
    """Instances as they come, each question answered at once, or up to ``late`` rounds later."""
    replies = []
    for raw in raws(first, last):
        replies.append(await instances.play(coordinator, stream, raw))
        if late == 0 or len(replies) % late == 0:
            await answer(coordinator, stream, time, 10_000)
    return replies


def test_replies_say_what_is_delivered_and_the_promise_holds_in_every_round(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", promised())
            for reply in await played(coordinator, stream, time, 0, 900):
                assert reply.delivered == (None if reply.asked else reply.prediction)
                assert not reply.withheld
            events = log_of(coordinator, stream)
            history.check(events)
            found = delivered_labels(events)
            promise = stream.model.sampler.promise
            assert promise.delivered == len(found) == 900
            wrong = sum(label != truth(id) for id, label in found.items()) / 900
            assert wrong <= promise.certified <= ERRORS
            assert promise.asked < 700
            asked = next(facts_of(each) for each in events if each.kind == "instance" and facts_of(each).asked)
            (again,) = [await instances.play(coordinator, stream, raws(asked.round, asked.round + 1)[0])]
            assert (again.again, again.delivered) == (True, Y[asked.round])
            assert engine_state.dump(stream.model.sampler.engine, [])[0]["promise"]["released"] == []

    run(go())


@pytest.mark.parametrize("crash", [True, False])
def test_late_answers_withhold_labels_that_come_back_and_a_restart_keeps_every_bit(address, crash):
    async def go():
        time, given = Time(), promised(budget=Budget(errors=0.3))
        async with open_coordinator(address, time, crash=crash, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            replies = await played(coordinator, stream, time, 0, 300, late=100)
            assert sum(reply.withheld for reply in replies) > 3
            held = [reply for reply in replies if reply.withheld]
            assert {(each.delivered, each.why) for each in held} == {(None, "the promise allows no label now")}
            await coordinator.commits.settled()
            before = state_of(stream), log_of(coordinator, stream), len(stream.backlog)
        async with open_coordinator(address, time, crash=crash, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert (state_of(stream), log_of(coordinator, stream), len(stream.backlog)) == before
            while len(stream.backlog) or stream.questions.waiting:
                coordinator.tick()
                await answer(coordinator, stream, time)
            coordinator.tick()
            await coordinator.commits.settled()
            events = log_of(coordinator, stream)
            history.check(events)
            found = delivered_labels(events)
            assert len(found) == stream.model.sampler.promise.delivered == stream.instances == 300
            assert sum(label != truth(id) for id, label in found.items()) <= 0.3 * 300
            again = [await instances.play(coordinator, stream, raws(0, 300)[int(each.id[1:])]) for each in held]
            assert all(each.again and each.delivered == found[each.id] for each in again)
            after = state_of(stream)
        async with open_coordinator(address, time, ticks=False) as coordinator:
            assert state_of(coordinator.stream("mails")) == after

    run(go())


def test_a_pile_is_delivered_whole_within_the_promise_and_few_questions_wait(tmp_path):
    async def go():
        time, given = Time(), promised(mode="backlog", backlog=Backlog(shuffle=True))
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            await instances.play_all(coordinator, stream, raws(0, 900))
            while await answer(coordinator, stream, time):
                promise = stream.model.sampler.promise
                assert promise.delivered == 0 or promise.certified <= ERRORS
                assert stream.questions.unanswered <= 5
            found = delivered_labels(log_of(coordinator, stream))
            assert len(found) == promise.delivered == 900
            assert sum(label != truth(id) for id, label in found.items()) / 900 <= promise.certified <= ERRORS
            assert promise.asked < 750
            rows = [row for part in table_of(coordinator, stream) for row in part]
            assert {row["id"]: row["label"] for row in rows} == found
            by = [row["by"] for row in rows]
            assert (len(by), by.count("people")) == (900, promise.certificate.asked)
            assert {row["people"] for row in rows if row["by"] == "people"} == {"ann"}
            report = (await reports.report(coordinator, stream, 0.95))["promise"]
            share = f"at most {math.ceil(1000 * promise.certified) / 10:.1f} % of them are wrong (95 % confidence)"
            assert report["sentence"] == f"900 labels delivered, {promise.asked} by people; {share}."
            assert report["advice"] == "Everything that came is delivered."
            assert (report["met"], report["needed"], report["dropped"], report["errors"]) == (True, 0, 0, ERRORS)

    run(go())


def table_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return list(DeliveredTable(stream.settings, True).chunks(reader, stream.number, 0, stream.seq))


def test_what_waits_is_said_first_and_the_number_of_questions_is_foreseen_once_it_is_known(tmp_path):
    async def go():
        time, given = Time(), promised(mode="backlog")
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            assert promises.facts(stream)["sentence"].startswith("No label is delivered yet; at most 15 % of them will")
            await instances.play_all(coordinator, stream, raws(0, 900))
            await answer(coordinator, stream, time)
            found = promises.facts(stream)
            assert found["sentence"] == "1 label delivered, 1 by people; none of them is wrong (95 % confidence)."
            assert found["advice"].startswith(
                "894 instances wait in the backlog, and are decided as people answer. 5 q"
            )
            assert (await backlog.progress(coordinator, stream)).expected is None
            await answer(coordinator, stream, time, 250)
            progress = await backlog.progress(coordinator, stream)
            assert progress.expected > progress.answered
            left = progress.left
            while await answer(coordinator, stream, time):
                pass
            asked = stream.questions.stored.asked
            assert 0.5 < left / (asked - progress.answered) < 2.0
            await streams.change_settings(coordinator, "mails", {"budget": {"errors": 0.01}}, "ann")
            found = promises.facts(stream)
            assert not found["met"]
            assert "which is more than the 1 % promised" in found["sentence"]
            assert found["advice"].startswith("About ")

    run(go())


@pytest.mark.parametrize("limit", [{"most": 60}, {"rate": 0.05}])
def test_with_a_budget_the_rest_of_a_pile_waits_and_the_log_does_not_grow(tmp_path, limit):
    async def go():
        time, given = Time(), promised(mode="backlog", budget=Budget(errors=ERRORS, **limit))
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            await instances.play_all(coordinator, stream, raws(0, 300))
            while await answer(coordinator, stream, time):
                pass
            promise = stream.model.sampler.promise
            assert promise.asked <= limit.get("most", 0.05 * 300 + 20)
            assert promise.delivered + len(stream.backlog) == 300
            assert len(stream.backlog) > 0
            wait = f"The budget is spent, and {len(stream.backlog)} instances can have no label within the promise"
            assert promises.facts(stream)["advice"].startswith(wait)
            rounds = stream.state.round
            coordinator.tick()
            assert stream.state.round == rounds < 500
            budget = {"budget": {"errors": 0.5, "most": 200}}
            await streams.change_settings(coordinator, "mails", budget, "ann")
            while await answer(coordinator, stream, time):
                pass
            assert promise.asked <= 200
            found = promises.facts(stream)
            assert found["delivered"] == stream.model.sampler.promise.delivered > 250
            assert found["undecided"] == 300 - found["delivered"]

    run(go())


@pytest.mark.parametrize("name", ["replay", "labels", "skip"])
def test_other_models_take_over_the_account_with_its_open_questions(tmp_path, name):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        given = promised(labels="open" if name == "skip" else ["ham", "spam"], algorithm="default", version=2)
        async with open_coordinator(path, time, crash=name == "skip", ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            await played(coordinator, stream, time, 0, 260)
            await played(coordinator, stream, time, 260, 300, late=1_000)
            assert stream.questions.waiting > 2
            await erasing.erase(coordinator, stream, Which(ids=["n3", "n200"]), "ann")
            promise, before = stream.model.sampler.promise, account(stream)[:2]
            if name == "replay":
                await replaying.replay(coordinator, stream, "ann")
            elif name == "labels":
                await label_changes.add(coordinator, stream, ["other"], "ann", None)
            after = stream.model.sampler.promise
            assert (after is promise) is (name == "skip") or after is not promise
            assert account(stream)[:2] == before
            await coordinator.commits.settled()
            state = account(stream)
        async with open_coordinator(path, time, play=name != "skip", crash=True, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert account(stream)[:2] == before
            assert account(stream)[2] == pytest.approx(state[2], rel=1e-9)
            await answer(coordinator, stream, time, 1_000)
            found = delivered_labels(log_of(coordinator, stream))
            promise = stream.model.sampler.promise
            assert len(found) == promise.delivered == 300
            assert promise.waiting == 0
            await played(coordinator, stream, time, 300, 330)
            assert stream.model.sampler.promise.delivered == 330
            final = account(stream)
        async with open_coordinator(path, time, ticks=False) as coordinator:
            assert account(coordinator.stream("mails")) == final

    run(go())


def test_corrections_and_unsolicited_labels_change_what_is_delivered(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", promised())
            await played(coordinator, stream, time, 0, 700)
            promise = stream.model.sampler.promise
            before = promise.certificate
            facts = [facts_of(each) for each in log_of(coordinator, stream) if each.kind == "instance"]
            sure = next(each for each in facts[::-1] if each.is_certified)
            other = {"ham": "spam", "spam": "ham"}
            instance = next(each for each in log_of(coordinator, stream) if each.key == f"i:n{sure.round}")
            with coordinator.changing(stream):
                stream.volunteer(instance, "ann", other[sure.prediction], time.now)
            assert promise.certified * 700 == pytest.approx(before.certified * 700 - 1)
            with coordinator.changing(stream):
                stream.volunteer(instance, "ann", None, time.now)
            assert promise.certificate == before
            unlikely = next(
                each for each in facts if each.asked and each.probability < 0.5 and each.prediction == Y[each.round]
            )
            await coordinator.committed(stream)
            await questions.review(coordinator, stream, unlikely.round, "ann", other[Y[unlikely.round]])
            assert promise.certified > before.certified
            found = delivered_labels(log_of(coordinator, stream))
            assert found[f"n{unlikely.round}"] != Y[unlikely.round]
            await questions.undo_review(coordinator, stream, unlikely.round, "ann")
            assert promise.certificate == before
            state = state_of(stream)
        async with open_coordinator(path, time, ticks=False) as coordinator:
            assert state_of(coordinator.stream("mails")) == state

    run(go())


def test_webhooks_are_told_what_is_delivered_and_when_the_promise_is_met_or_broken(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            kinds = ["label.delivered", "promise.met", "promise.broken"]
            hook = await webhooks.make(coordinator, "https://example.org/hook", kinds)
            stream = await streams.create(coordinator, "mails", promised(mode="backlog"))
            await instances.play_all(coordinator, stream, raws(0, 500))
            while await answer(coordinator, stream, time):
                assert stream.state.promise == "" or not len(stream.backlog)
            await instances.play(coordinator, stream, raws(500, 501)[0], backlog=False)
            await answer(coordinator, stream, time)
            assert stream.state.promise == "met"
            await streams.change_settings(coordinator, "mails", {"budget": {"errors": 0.02}}, "ann")
            coordinator.tick()
            await coordinator.commits.settled()
            assert stream.state.promise == "broken"
            found = delivered_labels(log_of(coordinator, stream))
            with contextlib.closing(coordinator.reader()) as reader:
                messages = [json.loads(each.body) for each in reader.messages(hook.hook)]
            said = {each["data"]["id"]: each["data"] for each in messages if each["type"] == "label.delivered"}
            assert {id: each["label"] for id, each in said.items()} == found
            certificate = stream.model.sampler.promise.certificate
            people = [each["by"] for each in said.values()].count("people")
            assert people == certificate.asked
            met, *_ = [each["data"] for each in messages if each["type"] == "promise.met"]
            (broken,) = [each["data"] for each in messages if each["type"] == "promise.broken"]
            assert (met["delivered"], met["errors"]) == (500, ERRORS)
            expected = {"stream": "mails", "errors": 0.02, "confidence": 0.95, "delivered": 501, "people": people}
            assert broken == expected | {"certified": certificate.certified}
            await coordinator.commits.settled()
            state = state_of(stream)
        async with open_coordinator(path, time, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert state_of(stream) == state
            coordinator.tick()
            assert not stream.has_uncommitted

    run(go())


def test_an_instance_that_was_withheld_is_erased_with_all_its_rounds(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", promised(budget=Budget(errors=ERRORS, most=5)))
            replies = await played(coordinator, stream, time, 0, 20)
            assert [each.withheld for each in replies] == [False] * 5 + [True] * 15
            waits = await instances.play(coordinator, stream, raws(7, 8)[0])
            assert isinstance(waits, Provisional)
            assert waits.again
            event = next(each for each in log_of(coordinator, stream) if id_of(each) == "n7")
            with pytest.raises(ConflictError, match="waits in the backlog for another decision"):
                stream.volunteer(event, "ann", "ham", time.now)
            await streams.change_settings(coordinator, "mails", {"budget": {"errors": ERRORS, "most": 8}}, "ann")
            await answer(coordinator, stream, time, 100)
            assert stream.model.sampler.promise.delivered == 8
            for id, rounds in (("n7", 2), ("n19", 1)):
                rows = [
                    each.row for each in log_of(coordinator, stream) if each.kind == "instance" and id_of(each) == id
                ]
                assert len(rows) >= rounds
                assert None not in rows
                gone = await erasing.erase(coordinator, stream, Which(ids=[id]), "ann")
                assert gone.erased >= rounds
                after = [each for each in log_of(coordinator, stream) if each.kind == "instance" and id_of(each) == id]
                assert [each.row for each in after] == [None] * len(rows)

    run(go())


def test_what_cannot_be_promised_is_refused_with_a_sentence(tmp_path):
    for budget, says in (
        (Budget(errors=0.05, per=60.0, count=3), "is for all instances together; give most or rate"),
        (Budget(rate=0.1, confidence=0.9), "confidence is that of a promise; give errors"),
    ):
        with pytest.raises(InputError, match=says):
            check_settings(settings(budget=budget))

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            for given, says in (
                ({"budget": Budget(errors=1.5)}, "error must be a share between 0 and 1, got 1.5"),
                ({"budget": Budget(errors=0.1, confidence=1.0)}, "confidence must be a number from 0.5 to below 1"),
                ({"algorithm": "random"}, "asks by a rule of its own"),
                ({"algorithm": "regression"}, 'predicts numbers; give "labels": "numbers"'),
            ):
                with pytest.raises(InputError, match=says):
                    await streams.create(coordinator, "one", promised(**given))
            await streams.create(coordinator, "one", promised())
            await streams.create(coordinator, "two", settings(algorithm="sop"))
            for name, budget, says in (
                ("one", {"rate": 0.1}, "cannot begin or end in the middle of a stream"),
                ("two", {"errors": 0.1}, "cannot begin or end in the middle of a stream"),
                ("one", {"errors": 0.1, "confidence": 0.9}, "confidence of a promise cannot be changed; it is 0.95"),
            ):
                with pytest.raises(InputError, match=says):
                    await streams.change_settings(coordinator, name, {"budget": budget}, "ann")
            await streams.change_settings(coordinator, "one", {"budget": {"errors": 0.02}}, "ann")
            assert coordinator.stream("one").model.sampler.promise.error == 0.02

    run(go())
