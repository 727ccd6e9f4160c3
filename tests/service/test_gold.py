"""Gold questions: mixed in at random, like all others to people, and counted for nobody but them."""

import json
import random
import re
from collections import Counter

import pytest

from askwhen.errors import InputError
from askwhen.service.domain import gold as drawing
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.kinds import facts_of
from askwhen.service.events.settings import Settings, check_settings
from askwhen.service.use_cases import (
    comments,
    erasing,
    export_tables,
    gold,
    instances,
    label_changes,
    labels,
    questions,
    replaying,
    reports,
    streams,
    tokens,
)
from askwhen.service.use_cases.erasing import Which
from askwhen.service.use_cases.gold import KnownQuestion
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running
from tests.service.library import bits


@pytest.fixture(autouse=True)
def draws(monkeypatch):
    """The draws of a test come from a seed."""
    source = random.Random(5)
    monkeypatch.setattr(drawing.secrets, "randbits", source.getrandbits)
    monkeypatch.setattr(drawing.secrets, "randbelow", source.randrange)


def of(label, *x):
    return KnownQuestion(label, x=list(map(float, x)))


def made(**given):
    given = {"grace": 0.0, "gold": 0.5, "algorithm": "random", "letters": {"rate": 1.0}, "budget": None} | given
    return settings(**given)


async def begun(coordinator, items=8, **given):
    """A stream with gold questions, all of them ham, of which the first number is 100 and more."""
    stream = await streams.create(coordinator, "mails", made(**given))
    await gold.add(coordinator, stream, [of("ham", 100 + i, 1) for i in range(items)], "lea")
    return stream


async def sent(coordinator, stream, number, start=0):
    for i in range(start, start + number):
        await instances.play(coordinator, stream, Raw([float(i), 1.0], f"n{i}"))


async def worked(coordinator, stream, who, say=lambda shown: "ham"):
    """Answer everything that somebody gets; returns the questions as they were shown."""
    found = []
    while (shown := await questions.next_question(coordinator, stream, who)) is not None:
        found.append(shown)
        await questions.answer(coordinator, stream, shown.question, who, say(shown))
    return found


def is_gold(shown):
    return shown.x[0] >= 100


def quality(stream, who):
    return stream.questions.stored.people.facts()[who]["quality"]


def test_gold_comes_at_its_share_and_each_person_gets_each_question_once(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await begun(coordinator, items=60, gold=0.25, labels=["ham", "spam"])
            await sent(coordinator, stream, 90)
            seen = {who: await worked(coordinator, stream, who) for who in ("ann",)}
            await sent(coordinator, stream, 100, 100000)
            for _ in range(400):
                for who in ("ann", "bob"):
                    shown = await questions.next_question(coordinator, stream, who)
                    if shown is not None:
                        seen.setdefault(who, []).append(shown)
                        await questions.answer(coordinator, stream, shown.question, who, "ham")
            for found in seen.values():
                items = [each.x[0] for each in found if 100 <= each.x[0] < 160]
                assert len(set(items)) == len(items)
                assert 0.15 < len(items) / len(found) < 0.35
            numbers = [each.question for found in seen.values() for each in found]
            assert len(set(numbers)) == len(numbers)

    run(go())


def test_nothing_about_a_question_shows_that_it_is_gold(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await begun(coordinator, items=40, gold=0.3, guess=True, slots=2, decide="unanimity")
            await sent(coordinator, stream, 20)
            waiting = stream.questions.waiting
            progress = await questions.progress(coordinator, stream, "ann", 1000.0)
            assert progress.waiting == waiting == progress.asked > 20
            shown = await worked(coordinator, stream, "ann")
            assert [each.question for each in shown] == list(range(len(shown)))  # in order, without a gap
            assert len({is_gold(each) for each in shown}) == 2
            for each in shown:
                assert {name for name in each.__struct_fields__ if getattr(each, name) is None} == {"show", "label"}
                assert (each.slots, each.opened, each.labels, each.priority) == (2, 1000.0, ["ham", "spam"], 0.0)
            await worked(coordinator, stream, "bob", lambda each: "spam" if each.question % 4 > 1 else "ham")
            coordinator.tick()
            after = {is_gold(each): [] for each in shown}
            for each in shown:
                again = await questions.show(coordinator, stream, each.question, "ann")
                undone = await questions.undo(coordinator, stream, each.question, "ann")
                facts = (again.label, again.disputed, again.guess is not None, undone.told, undone.note)
                after[is_gold(each)].append(facts)
            assert set(after[True]) == set(after[False])
            assert {facts[:2] for facts in after[True]} == {("ham", False), (None, True)}
            for each in shown[:4]:
                with pytest.raises(ConflictError, match="waits for this label; answer it|has a label; undo its answer"):
                    await labels.volunteer(coordinator, stream, "ann", "ham", round=each.question)
                await comments.comment(coordinator, stream, each.question, "ann", "why?")

    run(go())


def test_looking_at_questions_changes_nothing_and_annotators_see_only_those_that_they_have_had(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            stream = await begun(coordinator, items=2, guess=True)
            await sent(coordinator, stream, 20)
            who = await tokens_of(coordinator, "annotator", "reviewer")

            async def call(method, path, role="annotator", **given):
                reply = await http.request(method, f"/v1/streams/mails/questions/{path}", headers=who[role], **given)
                return reply.status_code, reply.json() if reply.content else None

            seen = [await questions.next_question(coordinator, stream, "bob")]
            await questions.answer(coordinator, stream, seen[0].question, "bob", "ham")
            had = set()
            for _ in range(2):  # one is given back, the other is skipped
                had.add((await call("POST", "next"))[1]["question"])
                await call("POST", f"{max(had)}/{'skip' if len(had) > 1 else 'release'}")
            had |= {each.question for each in await worked(coordinator, stream, "ann")}
            coordinator.tick()
            await sent(coordinator, stream, 20, 1000)
            before, waiting = stream.seq, stream.questions.waiting
            places = [each.round for each in stream.questions.open.values() if each.gold]
            assert places
            for round in range(stream.state.round + 2):
                status = 200 if round in had else 404
                for path in (f"{round}", f"{round}/guess"):
                    found = await call("GET", path)
                    assert found[0] == status, (round, path, found)
                    assert status == 200 or f"round {round} has no question" in found[1]["detail"]
                status, found = await call("GET", f"{round}", "reviewer")
                is_there = round < stream.state.round and stream.questions.find(round).gold != drawing.UNCHOSEN
                assert status == (200 if is_there else 404), found
            found = await call("GET", f"{places[0]}", "reviewer")
            assert "is a place for a gold question, and none was chosen for it" in found[1]["detail"]
            for act in ("answer", "renew", "skip"):  # ann has had both gold questions: the places are for others
                found = await call("POST", f"{places[0]}/{act}", json={"label": "ham"} if act == "answer" else {})
                assert found[0] == 404, found
            assert (stream.seq, stream.questions.waiting) == (before, waiting)
            assert not is_gold(seen[0])
            seen += await worked(coordinator, stream, "bob")
            assert sum(100 <= each.x[0] < 200 for each in seen) == 2

    run(go())


def test_the_model_and_all_that_is_estimated_of_it_are_as_without_gold(tmp_path):
    async def go():
        found = {}
        for share in (0.0, 0.5):
            time = Time()
            async with open_coordinator(tmp_path / f"{share}.db", time, ticks=False) as coordinator:
                stream = await begun(coordinator, gold=share, algorithm="default", letters={})
                for i in range(60):
                    await sent(coordinator, stream, 1, i)
                    time.now += 1.0
                    await worked(coordinator, stream, "ann", lambda each: "ham" if each.x[0] % 2 else "spam")
                    coordinator.tick()
                report = await reports.report(coordinator, stream, 0.95)
                said = report["accuracy"].pop("labels")["sentence"]
                assert ("Gold questions are not part of the accuracy" in said) == (share > 0.0)
                summary = stream.summary()
                found[share] = (bits(stream.model.sampler), report, (summary.rounds, summary.asked, summary.told))
                assert (stream.state.gold > 0) == (share > 0.0)
                await sent(coordinator, stream, 20, 500)  # some of these are open when the model is retrained
                await replaying.replay(coordinator, stream, "root")
                await worked(coordinator, stream, "ann", lambda each: "ham" if each.x[0] % 2 else "spam")
                coordinator.tick()
                replayed = await reports.report(coordinator, stream, 0.95)
                del replayed["accuracy"]["labels"]
                found[share] += (bits(stream.model.sampler), replayed)
        assert found[0.0] == found[0.5]

    run(go())


def test_answers_to_gold_are_counted_for_the_person_by_label_and_undone_ones_are_not(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            stream = await begun(coordinator, items=40)
            await gold.add(coordinator, stream, [of("spam", 200 + i, 1) for i in range(10)], "lea")
            await sent(coordinator, stream, 60)
            shown = await worked(coordinator, stream, "ann", lambda each: "spam" if each.x[0] % 4 == 1 else "ham")
            mine = [each for each in shown if is_gold(each)]
            assert len({each.x[0] for each in mine}) == len(mine) == 50  # all of them, in 60 places
            truth = {each.question: "spam" if each.x[0] >= 200 else "ham" for each in mine}
            said = {each.question: "spam" if each.x[0] % 4 == 1 else "ham" for each in mine}
            coordinator.tick()
            same = sum(truth[each] == said[each] for each in truth)
            found = quality(stream, "ann")
            assert (found["same"], found["judged"]) == (same, len(mine))
            assert {name: each for name, each in found.items() if name != "gold"} == found["gold"]
            by_label = Counter(truth.values())
            assert {label: each["judged"] for label, each in found["labels"].items()} == by_label
            assert found["low"] < same / len(mine) < found["high"]
            assert sum(week["judged"] for week in found["gold"]["weeks"]) == len(mine)
            wrong = next(each for each in truth if truth[each] != said[each])
            await questions.undo(coordinator, stream, wrong, "ann")
            assert quality(stream, "ann")["judged"] == len(mine) - 1
            await questions.answer(coordinator, stream, wrong, "ann", truth[wrong])
            coordinator.tick()
            assert (quality(stream, "ann")["same"], quality(stream, "ann")["judged"]) == (same + 1, len(mine))
            page = await gold.listed(coordinator, stream, 0, 1000)
            assert sum(each.answers for each in page.questions) == len(mine)
            assert sum(each.same for each in page.questions) == same + 1
            first = next(each for each in page.questions if each.answers)
            await gold.remove(coordinator, stream, first.gold, "lea")
            assert quality(stream, "ann")["judged"] == len(mine) - 1
            assert (await gold.listed(coordinator, stream, 0, 1000)).all == page.all - 1
            expected = await reports.agreement(coordinator, stream), stream.summary(), stream.questions.dump()
            await coordinator.commits.settled()
            events = coordinator.reader().events(1, 0, 1 << 40)
            history.check(events)
            rows = [row for part in export_tables.chunks(coordinator.reader(), 1, "labels", 0, 1 << 40) for row in part]
            known = {row["question"]: row["gold"] for row in rows if row["gold"] is not None}
            assert known == truth
            assert all(row["label"] is row["told"] is None for row in rows if row["gold"] is not None)
            assert sum(row["gold"] is None for row in rows) == len(shown) - len(mine)
        async with open_coordinator(path, time, ticks=False) as coordinator:  # from the log alone
            stream = coordinator.streams["mails"]
            assert (await reports.agreement(coordinator, stream), stream.summary()) == expected[:2]
            assert stream.questions.dump() == expected[2]
            await coordinator.committed(stream, snapshot=True)
        async with open_coordinator(path, time, ticks=False) as coordinator:  # from a snapshot
            stream = coordinator.streams["mails"]
            assert stream.questions.dump() == expected[2]

    run(go())


def test_answers_that_differ_are_no_dispute_and_weigh_by_what_gold_says_of_people(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await begun(coordinator, items=30, slots=2, decide="weighted")
            await sent(coordinator, stream, 30)
            first = await worked(coordinator, stream, "ann")
            await worked(coordinator, stream, "bob", lambda each: "spam" if is_gold(each) else "ham")
            coordinator.tick()
            assert stream.questions.disputed == 0
            for each in first:
                assert stream.questions.find(each.question).label in ({"ham", None} if is_gold(each) else {"ham"})
            people = stream.questions.stored.people
            count = sum(map(is_gold, first))
            assert people.judged_of("bob")["ham", "spam"] == count > 10
            assert people.facts()["ann"]["quality"]["gold"]["same"] == count
            assert stream.questions.stored.people.agreement()["pairs"][0]["questions"] == 30
            await sent(coordinator, stream, 1, 5000)

            async def ask(who, label):
                while (shown := await questions.next_question(coordinator, stream, who)) is not None:
                    await questions.answer(
                        coordinator, stream, shown.question, who, label if shown.x[0] == 5000.0 else "ham"
                    )
                    if shown.x[0] == 5000.0:
                        return shown.question
                raise AssertionError("they did not get it")

            round = await ask("ann", "spam")
            assert await ask("bob", "ham") == round
            coordinator.tick()
            assert stream.questions.find(round).label == "spam"  # ann was always right, bob never

    run(go())


def test_an_instance_of_the_stream_is_gold_for_those_who_do_not_know_it(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", made())
            await sent(coordinator, stream, 30)
            await questions.answer(coordinator, stream, 29, "bob", "ham")
            await worked(coordinator, stream, "ann")
            coordinator.tick()
            found = await gold.add(
                coordinator, stream, [KnownQuestion(round=i) for i in range(10)] + [KnownQuestion(id="n10")], "lea"
            )
            assert (found.added, found.known, found.all) == (11, 0, 11)
            assert (await gold.add(coordinator, stream, [KnownQuestion(id="n3")], "lea")).known == 1
            await sent(coordinator, stream, 30, 1000)
            shown = {who: await worked(coordinator, stream, who) for who in ("ann", "bob")}
            assert not [each for each in shown["ann"] if each.x[0] <= 10]
            await sent(coordinator, stream, 30, 2000)
            assert [each for each in await worked(coordinator, stream, "bob") if each.x[0] <= 10]
            await sent(coordinator, stream, 30, 3000)
            assert not [each for each in await worked(coordinator, stream, "lea") if each.x[0] <= 10]

    run(go())


def test_what_is_no_gold_question_is_refused_and_nothing_is_changed(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await begun(coordinator)
            await sent(coordinator, stream, 3)
            seq = stream.seq
            for wrong, error, words in (
                ([of("ham", 1, 1), of("eggs", 2, 1)], InputError, "the label must be one of ham, spam"),
                ([of("ham", 1, 1), of(None, 2, 1)], InputError, "question 2: give the label that is known"),
                ([of("ham", 1, 2, 3)], InputError, "a list of 2 numbers|"),
                ([of("spam", 100, 1)], ConflictError, "is a gold question already, with the label 'ham'"),
                ([of("spam", 1, 1), of("ham", 1, 1)], ConflictError, "is a gold question already"),
                ([KnownQuestion("ham", round=0, id="n0")], InputError, "by one of id, round and x"),
                ([KnownQuestion("ham")], InputError, "by one of id, round and x"),
                ([KnownQuestion("ham", round=2, show="x")], InputError, "leave them out"),
                ([KnownQuestion(round=2)], InputError, "people gave this instance no label"),
                ([KnownQuestion("ham", round=77)], NotFoundError, "has no round 77"),
                ([], InputError, "between 1 and 1,000"),
                ([of("ham", 1000 + i, 1) for i in range(1001)], InputError, "between 1 and 1,000"),
            ):
                with pytest.raises(error, match=words):
                    await gold.add(coordinator, stream, wrong, "lea")
            for start in (1000, 2000):
                seq = stream.seq
                many = [of("ham", start + i, 1) for i in range(1000)]
                if start == 1000:
                    await gold.add(coordinator, stream, many, "lea")
                    seq = stream.seq
                else:
                    with pytest.raises(ConflictError, match="at most 2,000"):
                        await gold.add(coordinator, stream, many, "lea")
            assert stream.seq == seq
            with pytest.raises(NotFoundError, match="has no gold question 99999"):
                await gold.remove(coordinator, stream, 99999, "lea")
            round = next(each.round for each in stream.questions.open.values() if each.gold)
            with pytest.raises(ConflictError, match="a gold question, whose label is known"):
                await questions.review(coordinator, stream, round, "rae", "ham")
        for wrong in (-0.1, 0.6, float("nan")):
            with pytest.raises(InputError, match="a share of the questions from 0 to 0.5"):
                check_settings(Settings(gold=wrong))

    run(go())


def test_erased_contents_are_gold_no_more_and_a_place_never_waits_for_nobody(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", made(forget=1e6))
            given = [KnownQuestion("ham", x=[100.0 + i, 1.0], subject="kim") for i in range(2)]
            await gold.add(coordinator, stream, given, "lea")
            await sent(coordinator, stream, 30)
            shown = []
            while not any(map(is_gold, shown)):
                shown.append(await questions.next_question(coordinator, stream, "ann"))
                if not is_gold(shown[-1]):
                    await questions.answer(coordinator, stream, shown[-1].question, "ann", "ham")
            await comments.comment(coordinator, stream, shown[-1].question, "ann", "kim's mail")
            assert (await erasing.erase(coordinator, stream, Which(subject="kim"), "root")).erased == 2
            assert not stream.questions.stored.gold.by_number
            with pytest.raises(ConflictError, match="the question is closed: its contents were erased"):
                await questions.answer(coordinator, stream, shown[-1].question, "ann", "ham")
            assert not [each for each in await worked(coordinator, stream, "ann") if is_gold(each)]
            assert stream.questions.waiting == 0  # places that nobody can use are closed
            reader = coordinator.reader()
            said = [event.shown for event in reader.events(1, 0, 1 << 40) if event.kind == "commented"]
            assert said == [None]
            facts = [facts_of(event) for event in reader.events(1, 0, 1 << 40, ("instance",))]
            assert [fact.played for fact in facts] == list(range(30))
            assert facts[-1].round > 30

    run(go())


async def tokens_of(coordinator, *roles):
    """A header for each role, and one for an admin."""
    found = {}
    for role in ("admin", *roles):
        secret, _ = await tokens.make(coordinator, role[:3], [role], None, None)
        found[role] = {"Authorization": f"Bearer {secret}"}
    return found


def test_counts_that_annotators_can_see_move_alike_for_gold_and_other_questions(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            stream = await begun(coordinator, items=40, gold=0.3)
            await sent(coordinator, stream, 20)
            who = await tokens_of(coordinator, "annotator", "reviewer")

            async def get(path, role="annotator"):
                reply = await http.get(f"/v1/streams/mails{path}", headers=who[role])
                assert reply.status_code == 200, reply.text
                return reply.json()

            async def counts():
                of_stream, board = await get(""), await get("/overview")
                backlog, report = await get("/backlog"), await get("/report")
                names = [name for name, each in of_stream.items() if isinstance(each, int)]
                assert {"rounds", "asked", "told", "updates", "corrected", "disputed", "seq"} <= {*names}
                parts = (board["report"], board["today"], board["history"], report)
                return [of_stream[name] for name in names], [board["stream"][name] for name in names], backlog, parts

            moved = {True: [], False: []}
            numbers = [round for round, *_ in (await get("/overview"))["today"]["decisions"]]
            assert numbers == list(range(len(numbers)))
            for _ in range(12):
                before = await counts()
                reply = await http.post("/v1/streams/mails/questions/next", headers=who["annotator"])
                shown = reply.json()
                given = {"label": "ham"}
                path = f"/v1/streams/mails/questions/{shown['question']}/answer"
                await http.post(path, json=given, headers=who["annotator"])
                coordinator.tick()
                undo = f"/v1/streams/mails/questions/{shown['question']}/undo"
                assert (await http.post(undo, headers=who["annotator"])).status_code == 200
                await http.post(path, json={"label": "spam"}, headers=who["annotator"])
                coordinator.tick()
                after = await counts()
                change = [b - a for a, b in zip(before[0] + before[1], after[0] + after[1], strict=True)]
                same = [a == b for a, b in zip(before[3], after[3], strict=True)]
                answered = after[2]["answered"] - before[2]["answered"]
                moved[shown["x"][0] >= 100].append((change, answered, same))
            assert len(moved[True]) > 2
            assert {str(each) for each in moved[True]} == {str(each) for each in moved[False]}
            assert all(moved[True][0][2])
            page = await http.get("/label/mails", headers=who["annotator"])
            inside = re.search(r'<script[^>]*id="known"[^>]*>(.*?)</script>', page.text, re.DOTALL)
            assert json.loads(inside[1])["stream"]["told"] == 12
            of_reviewer = await get("", "reviewer")
            assert (of_reviewer["asked"], of_reviewer["rounds"], of_reviewer["told"]) == (20, 20, len(moved[False]))
            reply = await http.get("/v1/streams/mails/report?confidence=0.9", headers=who["annotator"])
            assert (reply.status_code, "sees the report at 0.95" in reply.text) == (403, True)

    run(go())


def test_annotators_get_no_metrics_and_give_no_other_labels_once_a_stream_has_gold_questions(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            stream = await streams.create(coordinator, "mails", made())
            await streams.create(coordinator, "notes", made())
            who = await tokens_of(coordinator, "annotator", "reviewer", "producer")
            both, _ = await tokens.make(coordinator, "bob", ["annotator", "producer"], None, None)
            who["both"] = {"Authorization": f"Bearer {both}"}

            async def is_in_metrics(role):
                reply = await http.get("/metrics", headers=who[role])
                assert 'askwhen_rounds_total{stream="notes"}' in reply.text
                assert "askwhen_build_info" in reply.text
                return 'stream="mails"' in reply.text

            async def labelled(role, i):
                given = {"id": f"n{i}", "label": None}
                return await http.post("/v1/streams/mails/labels", json=given, headers=who[role])

            await sent(coordinator, stream, 2)
            assert await is_in_metrics("annotator")
            assert "waits for this label" in (await labelled("annotator", 0)).json()["detail"]
            await gold.add(coordinator, stream, [of("ham", 100 + i, 1) for i in range(9)], "lea")
            await sent(coordinator, stream, 20, 2)
            assert {role for role in who if await is_in_metrics(role)} == {*who} - {"annotator"}
            for i in (0, 5, 999):  # with a question, and of no instance
                reply = await labelled("annotator", i)
                assert (reply.status_code, "this stream has gold questions" in reply.text) == (403, True)
            assert (await labelled("both", 5)).status_code == 409

    run(go())


def test_gold_is_given_listed_and_removed_by_http(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            stream = await streams.create(coordinator, "mails", made(labels=["ham", "spam"]))
            await sent(coordinator, stream, 2)
            questions_ = [{"x": [100 + i, 1], "label": "ham", "show": "look"} for i in range(3)]
            reply = await http.post("/v1/streams/mails/gold", json={"questions": questions_})
            assert (reply.status_code, reply.json()) == (200, {"added": 3, "known": 0, "all": 3})
            reply = await http.post(
                "/v1/streams/mails/gold", json={"questions": [*questions_, {"id": "n0", "label": "spam"}]}
            )
            assert reply.json() == {"added": 1, "known": 3, "all": 4}
            page = (await http.get("/v1/streams/mails/gold?limit=2")).json()
            assert [each["gold"] for each in page["questions"]] == [1, 2]
            rest = (await http.get(f"/v1/streams/mails/gold?after={page['next']}")).json()
            assert rest["questions"][-1] == {"gold": 4, "label": "spam", "answers": 0, "same": 0}
            assert rest["next"] is None
            assert (await http.delete("/v1/streams/mails/gold/2")).status_code == 204
            assert (await http.delete("/v1/streams/mails/gold/2")).status_code == 404
            assert (await http.get("/v1/streams/mails/gold")).json()["all"] == 3
            audit = (await http.get("/v1/audit")).text
            assert (audit.count('"event":"gold added"'), audit.count('"event":"gold removed"')) == (4, 1)

    run(go())


def test_a_renamed_label_is_the_same_label_of_gold(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await begun(coordinator, items=5, forget=None)
            await sent(coordinator, stream, 12)
            await worked(coordinator, stream, "ann")
            coordinator.tick()
            await label_changes.rename(coordinator, stream, "ham", "good", "root")
            assert {each.label for each in (await gold.listed(coordinator, stream, 0, 10)).questions} == {"good"}
            found = quality(stream, "ann")["gold"]
            assert (found["same"], found["labels"]) == (5, {"good": {"same": 5, "judged": 5}})

    run(go())


def test_the_draw_makes_gold_its_share_of_all_questions():
    others = sum(drawing.is_drawn(0.2, 0.5) for _ in range(20000))
    assert others == pytest.approx(20000 * 0.5 * 0.2 / 0.8, abs=200)  # 1 for each 4 that the model asks
    assert not any(drawing.is_drawn(0.0, 1.0) for _ in range(100))
    assert all(drawing.is_drawn(0.5, 1.0) for _ in range(100))
