"""Advice over HTTP: who sees it and when, advice that comes after its instance, tables that hold it."""

import contextlib
import csv
import io
import json

import numpy as np
import pyarrow.parquet
import pytest

import askwhen as aw
from askwhen.service.events.advice import Said
from askwhen.service.events.kinds import facts_of
from askwhen.service.events.settings import Budget
from askwhen.service.use_cases import streams, tokens
from tests.service.coordinators import run, settings
from tests.service.in_process import running
from tests.service.library import bits
from tests.service.test_routes import ENDLESS, filled, routes

WORD = "xyzzy"
"""A label that only an adviser names, so that whoever sees it has seen the advice."""


@contextlib.asynccontextmanager
async def serving(tmp_path, **given):
    """A service with a stream; ``call(who, method, path, ...)`` sends a request with the token of somebody's role."""
    async with running(tmp_path / "log.db") as (coordinator, http):
        coordinator._ticking.cancel()
        given = {"labels": "open", "advisers": ["gpt", "rules"], "budget": Budget(rate=1.0), "grace": 0.0} | given
        stream = await streams.create(coordinator, "mails", settings(**given))
        secrets = {}
        for who in ("admin", "producer", "annotator", "reviewer"):
            secrets[who] = (await tokens.make(coordinator, who, [who], None, None))[0]

        async def call(who, method, path, extra=None, **said):
            headers = {"Authorization": f"Bearer {secrets[who]}"} | (extra or {})
            path = path if path.startswith("/") else f"/v1/streams/mails/{path}"
            return await http.request(method, path, headers=headers, **said)

        call.http, call.coordinator, call.stream = http, coordinator, stream
        yield call


async def send(call, **raw):
    reply = await call("producer", "POST", "instances", json=raw)
    assert reply.status_code == 200, reply.text
    return reply.json()


ADVICE = {"gpt": {"label": WORD, "confidence": 0.8}, "rules": {WORD: 0.75, "ham": 0.25}}
SHOWN = [{"adviser": "gpt", "label": WORD, "confidence": 0.8}, {"adviser": "rules", "label": WORD, "confidence": 0.75}]


def test_annotators_are_blind_until_they_have_answered(tmp_path):
    async def go():
        async with serving(tmp_path) as call:
            for i in range(3):
                assert (await send(call, x=[1.0 + i], id=f"n{i}", advice=ADVICE))["asked"]
            await call("producer", "POST", "advice", json={"id": "n1", "advice": {"rules": "plugh"}})
            assert WORD in (await call("reviewer", "GET", "instance?item=1")).text

            async def sees(who):
                found = set()
                for method, path, _ in routes(call.http):
                    if path.endswith(ENDLESS) or method not in ("GET", "POST") or "label-studio" in path:
                        continue
                    if method == "GET":
                        reply = await call(who, method, filled(path))
                        found |= {path} if WORD in reply.text or "plugh" in reply.text else set()
                reply = await call(who, "POST", "questions/next", json={})
                return found | ({"next"} if WORD in reply.text else set())

            assert await sees("annotator") == set()
            assert await sees("reviewer") == {  # of open questions, the model has what was said
                "/v1/streams/{name:str}/model",
            }
            assert (await call("annotator", "GET", "events?after=0")).status_code == 403
            question = (await call("annotator", "POST", "questions/next", json={})).json()
            assert "advice" not in question
            assert (await call("annotator", "GET", "questions/0/guess")).status_code == 403
            answered = await call("annotator", "POST", "questions/0/answer", json={"label": "ham"})
            assert answered.status_code == 200
            assert WORD not in answered.text
            assert (await call("annotator", "GET", "questions/0/guess")).json()["advice"] == SHOWN
            call.coordinator.tick()
            assert (await call("annotator", "GET", "questions/0")).json()["advice"] == SHOWN
            assert "advice" not in (await call("annotator", "GET", "questions/1")).json()

    run(go())


def test_a_stream_may_show_advice_before_the_answer(tmp_path):
    async def go():
        async with serving(tmp_path, advice=True) as call:
            await send(call, x=[1.0], id="n0", advice=ADVICE)
            await call("producer", "POST", "advice", json={"id": "n0", "advice": {"gpt": "ham"}})
            question = (await call("annotator", "POST", "questions/next", json={})).json()
            assert question["advice"] == [*SHOWN, {"adviser": "gpt", "label": "ham", "late": True}]
            assert (await call("annotator", "GET", "questions/0/guess")).status_code == 403  # the guess stays hidden
            await call("admin", "PATCH", "/v1/streams/mails", json={"settings": {"advice": False}})
            assert "advice" not in (await call("annotator", "GET", "questions/0")).json()

    run(go())


def accounts(stream):
    return {name: each.rounds for name, each in aw.evaluate.advisers(stream.model.sampler).items()}


async def advise(call, **said):
    reply = await call("producer", "POST", "advice", json=said)
    return reply.status_code, reply.json()


def test_advice_that_comes_after_the_decision_is_stored_and_shown_and_never_counted(tmp_path):
    async def go():
        async with serving(tmp_path, labels=["ham", "spam"], budget=Budget(rate=0.1)) as call:
            stream, coordinator = call.stream, call.coordinator
            free = await until_not_asked(call)
            before = accounts(stream), len(await events(coordinator, stream))
            assert before[0] == {"gpt": free + 1, "rules": 0}
            late = {"counted": False, "round": free, "id": f"n{free}"}
            sure = {"rules": ["spam", 0.9]}
            assert await advise(call, round=free, advice=sure, key="k") == (200, late)
            assert await advise(call, id=f"n{free}", advice=sure, key="k") == (200, late | {"again": True})
            assert await advise(call, id=f"n{free}", advice=sure) == (200, late)  # known already
            assert await advise(call, id=f"n{free}", advice={"gpt": "ham"}) == (200, late | {"counted": True})
            assert await advise(call, id=f"n{free}", advice={"gpt": "spam", "rules": None}) == (200, late)
            assert (accounts(stream), len(await events(coordinator, stream))) == (before[0], before[1] + 2)
            assert bits(stream.model.sampler) == await replayed(coordinator, stream)
            fact = facts_of((await events(coordinator, stream))[-2])
            assert (fact.by, fact.advice["rules"].named) == ("producer", ("spam", 0.9))
            one = (await call("reviewer", "GET", f"instance?item={free + 1}")).json()
            assert one["advice"] == [
                {"adviser": "gpt", "label": "ham"},
                {"adviser": "rules", "label": "spam", "confidence": 0.9, "late": True},
                {"adviser": "gpt", "label": "spam", "late": True},
            ]
            happened = [(each["kind"], each.get("text")) for each in one["history"]]
            assert happened[1:] == [("advised", "rules: spam"), ("advised", "gpt: spam")]
            await call("admin", "POST", "replay")
            assert accounts(stream) == before[0]

    run(go())


async def until_not_asked(call):
    """Send instances until one is not asked about; its round."""
    for i in range(100):
        if not (await send(call, x=[1.0 + i, float(i % 3)], id=f"n{i}", advice={"gpt": "ham"}))["asked"]:
            return i
    raise AssertionError("all were asked about")


async def events(coordinator, stream):
    await coordinator.commits.settled()
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


async def replayed(coordinator, stream):
    """What another process makes of the log."""
    made = coordinator.new_stream("again", stream.settings)
    made.current.read(await events(coordinator, stream))
    return bits(made.model.sampler)


def test_advice_on_an_instance_that_waits_in_the_backlog_is_counted(tmp_path):
    async def go():
        async with serving(tmp_path, mode="backlog", labels=["ham", "spam"]) as call:
            stream, coordinator = call.stream, call.coordinator
            for i in range(3):
                await send(call, x=[1.0 + i], id=f"n{i}", advice={"gpt": "ham"})
            both = {"gpt": "spam", "rules": "spam"}
            assert await advise(call, id="n1", advice=both) == (200, {"counted": True, "id": "n1"})
            assert await advise(call, id="n2", advice={"rules": "ham"}) == (200, {"counted": True, "id": "n2"})
            assert len(stream.backlog) == 3
            assert not await events(coordinator, stream)
            stream.decide_until(3, 2000.0, 3)
            await coordinator.committed(stream)
            said = [facts_of(each).advice for each in await events(coordinator, stream)]
            assert [{name: each.label for name, each in advice.items()} for advice in said] == [
                {"gpt": "ham"},
                {"gpt": "spam", "rules": "spam"},
                {"gpt": "ham", "rules": "ham"},
            ]
            assert accounts(stream) == {"gpt": 3, "rules": 2}
            late = {"counted": False, "round": 0, "id": "n0"}
            assert await advise(call, id="n0", advice={"rules": "ham"}) == (200, late)

    run(go())


BAD = {
    "nothing to name it": ({"advice": {"gpt": "ham"}}, 422, "give either the id of the instance, or its round"),
    "no such id": ({"id": "x", "advice": {"gpt": "ham"}}, 404, "has no instance 'x'"),
    "no such round": ({"round": 9, "advice": {"gpt": "ham"}}, 404, "has no round 9"),
    "nothing said": ({"id": "n0", "advice": {"gpt": None}}, 422, "give what at least one adviser says"),
    "an unknown adviser": ({"id": "n0", "advice": {"claude": "ham"}}, 422, "is not known; the advisers are"),
    "a key of another request": ({"id": "n0", "advice": {"gpt": "ham"}, "key": "k"}, 409, "used for something else"),
    "no object": ({"id": "n0", "advice": "ham"}, 422, "expected `object`, got `str` - at `advice`"),
}


@pytest.mark.parametrize("name", BAD)
def test_late_advice_that_cannot_be_taken_is_refused_in_a_sentence(tmp_path, name):
    said, status, sentence = BAD[name]

    async def go():
        async with serving(tmp_path) as call:
            for i in range(2):
                await send(call, x=[1.0 + i], id=f"n{i}")
            await advise(call, id="n1", advice={"gpt": "ham"}, key="k")
            before = len(await events(call.coordinator, call.stream))
            found, reply = await advise(call, **said)
            assert (found, sentence in reply["detail"]) == (status, True), reply
            assert len(await events(call.coordinator, call.stream)) == before
            assert (await call("annotator", "POST", "advice", json={"id": "n0", "advice": {}})).status_code == 403

    run(go())


NAN = '{"x": [1.0], "advice": {"gpt": {"ham": NaN, "spam": 1.0}}}'


def test_instances_with_bad_advice_are_refused_over_http_one_by_one(tmp_path):
    async def go():
        async with serving(tmp_path, labels=["ham", "spam"]) as call:
            lines = [{"x": [1.0], "advice": {"gpt": "ham"}}, {"x": [2.0], "advice": {"gpt": "eggs"}}, {"x": [3.0]}]
            content, extra = "\n".join(map(json.dumps, lines)), {"Content-Type": "application/x-ndjson"}
            reply = await call("producer", "POST", "instances", content=content, extra=extra)
            found = [json.loads(line) for line in reply.text.splitlines()]
            assert [each.get("round") for each in found] == [0, None, 1]
            sentence = "advice of 'gpt': the label must be one of ham, spam, got 'eggs'."
            assert found[1]["error"]["detail"] == sentence
            assert (found[1]["error"]["status"], found[1]["error"]["line"]) == (422, 2)
            assert (await call("producer", "POST", "instances", content=NAN)).status_code in (400, 422)
            made = await call("admin", "POST", "/v1/streams", json={"name": "b", "settings": {"advisers": ["gpt", 3]}})
            assert made.status_code == 422
            assert call.stream.state.round == 2

    run(go())


def test_tables_have_columns_for_every_adviser_in_every_format(tmp_path):
    async def go():
        async with serving(tmp_path, labels=["ham", "spam"], advisers="any") as call:
            stream, coordinator = call.stream, call.coordinator
            said = [{"gpt": ["spam", 0.9]}, {"rules": {"ham": 0.75, "spam": 0.25}}, {}, {"gpt": "ham", "rules": "ham"}]
            for i, advice in enumerate(said):
                await send(call, x=[1.0 + i, float(i % 2)], id=f"n{i}", advice=advice)
            for round in list(stream.questions.open):
                await call("annotator", "POST", f"questions/{round}/answer", json={"label": "ham"})
            coordinator.tick()
            await advise(call, id="n2", advice={"new": "spam"})
            await call("admin", "POST", "labels/rename", json={"label": "ham", "to": "wanted"})
            waits = {"x": [9.0, 1.0], "id": "n4", "advice": {"gpt": "ham"}}
            await call("producer", "POST", "instances?backlog=true", json=waits)
            names = ["advice.gpt", "confidence.gpt", "advice.rules", "confidence.rules"]
            names += ["late_advice.new", "late_confidence.new"]
            expected = {
                "n0": ["spam", 0.9, None, None, None, None],
                "n1": [None, None, "wanted", 0.75, None, None],
                "n2": [None, None, None, None, "spam", None],
                "n3": ["wanted", None, "wanted", None, None, None],
                "n4": ["wanted", None, None, None, None, None],
            }
            for table in ("instances", "decisions", "labels"):
                for format in ("json", "ndjson", "csv", "parquet"):
                    reply = await call("reviewer", "GET", f"export?table={table}&format={format}")
                    rows = read(reply.content, format)
                    assert list(rows[0])[-6:] == names
                    assert [row["id"] for row in rows] == list(expected)[: 5 if table == "instances" else 4]
                    for row in rows:
                        wanted = expected[row["id"]]
                        if format == "csv":
                            wanted = ["" if each is None else str(each) for each in wanted]
                        assert [row[name] for name in names] == wanted
                        assert table != "instances" or row["label"] in ("wanted", "" if format == "csv" else None)
            assert "advice" not in (await call("reviewer", "GET", "export?table=predictions")).text

    run(go())


def read(content, format):
    if format == "parquet":
        return pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
    if format == "csv":
        return list(csv.DictReader(io.StringIO(content.decode())))
    return json.loads(content) if format == "json" else list(map(json.loads, content.splitlines()))


@pytest.mark.parametrize("labels", [["ham", "spam"], ["ham", "spam", "junk"], "open"])
def test_the_downloaded_model_takes_advice_as_the_stream_did(tmp_path, labels):
    async def go():
        async with serving(tmp_path, labels=labels) as call:
            words = ["ham", "spam"]
            for i in range(40):
                advice = {"gpt": [words[i % 2], 0.9], "rules": {"ham": 0.4, "spam": 0.6}}
                await send(call, x=[1.0, 0.01 * i], id=f"n{i}", advice=advice)
                if i < 30:
                    await call("annotator", "POST", f"questions/{i}/answer", json={"label": words[i % 2]})
                    call.coordinator.tick()
            (tmp_path / "mails.askwhen").write_bytes((await call("reviewer", "GET", "model")).content)
            model = aw.load(tmp_path / "mails.askwhen")
            advice = {"gpt": (["ham", "spam"], [0.9, 0.9])}
            assert model.predict([[1.0, 1.0]] * 2, live=True, advice=advice).tolist() == ["ham", "spam"]
            both = [{"gpt": Said("ham", 0.9)}, {"gpt": Said("spam", 0.9)}]
            guesses = call.stream.model.guesses([np.array([1.0, 1.0])] * 2, both)
            assert [label for label, _ in guesses] == ["ham", "spam"]
            assert aw.evaluate.advisers(model)["gpt"].rounds == 40

    run(go())
