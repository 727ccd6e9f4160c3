"""The table of instances: what was shown, labels, and what the model said then and says now."""

import csv
import io
import json

import numpy as np
import pyarrow.parquet
import pytest

from askwhen.service.domain.model import Model
from askwhen.service.events.settings import Budget, Features
from askwhen.service.use_cases import erasing, instances, labels, questions, streams
from askwhen.service.use_cases.erasing import Which
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import run, settings
from tests.service.in_process import running

TEXTS = [f"{['cheap pills', 'the minutes'][i % 2]} number {i}" for i in range(40)]
TRUTH = [["spam", "ham"][i % 2] for i in range(40)]
SCHEMA = {"price": "number", "city": {"category": ["Rome", "Oslo"]}, "time": "drop"}
KINDS = {
    "text": (Features(kind="text", places=64, vectors=False), lambda i: TEXTS[i], ["text"]),
    "numbers": (Features(), lambda i: [float(i % 2), 1.0, float(i)], ["x"]),
    "named": (Features(names=["a", "label"]), lambda i: [float(i % 2), float(i)], ["a", "x.label"]),
    "hashed": (Features(kind="hashed", places=64), lambda i: {"word": TEXTS[i], "n": i}, ["x"]),
    "mixed": (
        Features(kind="mixed", text=["body"], names=["size"], places=64, vectors=False),
        lambda i: {"body": TEXTS[i], "size": float(i)},
        ["body", "size"],
    ),
    "columns": (
        Features(kind="columns", schema=SCHEMA),
        lambda i: {"price": float(i % 2), "city": ["Rome", "Bern"][i % 2]},
        ["price", "city"],
    ),
}


async def pile_of(coordinator, features, x):
    """A stream with answers, an unsolicited label, an erased instance and some that wait."""
    given = settings(features=features, repeats=False, budget=Budget(rate=0.3), grace=0.0)
    stream = await streams.create(coordinator, "mails", given)
    found = []
    for i in range(30):
        found.append(await instances.play(coordinator, stream, Raw(x(i), f"n{i}", source="a.csv")))
        if found[-1].asked and i < 20:
            await questions.answer(coordinator, stream, i, "ann", TRUTH[i])
            coordinator.tick()
    free = next(each.round for each in found if not each.asked)
    gone = next(each.round for each in found[free + 1 :] if each.round > 8)
    await labels.volunteer(coordinator, stream, "rae", "spam", round=free)
    await erasing.erase(coordinator, stream, Which(rounds=[gone]), "root")
    await instances.play_all(coordinator, stream, [Raw(x(i), f"n{i}") for i in range(30, 40)], backlog=True)
    return stream, free, gone


@pytest.mark.parametrize("kind", KINDS)
def test_it_has_what_was_shown_and_what_the_model_says_then_and_now(tmp_path, kind):
    features, x, shown = KINDS[kind]

    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            coordinator._ticking.cancel()
            stream, free, gone = await pile_of(coordinator, features, x)
            path = "/v1/streams/mails/export?table=instances&format="
            rows = (await http.get(path + "json")).json()
            assert [row["id"] for row in rows] == [f"n{i}" for i in range(40)]
            assert [row["state"] for row in rows[30:]] == ["waiting"] * 10
            reader = stream.reader
            for i, row in enumerate(rows):
                guess = stream.model.guess(reader.instance(x(i)))
                if i == gone:
                    assert [row[name] for name in shown] == [None] * len(shown)
                    assert (row["prediction_now"], row["certainty_now"]) == (None, None)
                else:
                    given = stream.reader.shown(np.array(x(i))) if kind in ("numbers", "named") else x(i)
                    found = {name.removeprefix("x."): row[name] for name in shown}
                    assert found == (given if isinstance(given, dict) and kind != "hashed" else {shown[0]: given})
                    assert (row["prediction_now"], row["certainty_now"]) == guess
            export = [json.loads(line) for line in (await http.get(path + "ndjson")).text.splitlines()]
            assert export == rows
            decisions = (await http.get("/v1/streams/mails/export?table=decisions&format=json")).json()
            for row, decided in zip(rows, decisions, strict=False):  # delivered, and never overwritten
                assert [row[name] for name in ("seq", "round", "prediction", "certainty")] == [
                    decided[name] for name in ("seq", "round", "prediction", "certainty")
                ]
            answered = {r["question"]: r for r in (await http.get("/v1/streams/mails/export?format=json")).json()}
            for row in rows[:30]:
                answer = answered.get(row["round"])
                if row["round"] == free:
                    assert (row["label"], row["by"], row["state"]) == ("spam", "rae", "labelled")
                elif answer is not None:
                    assert (row["label"], row["by"], row["answers"]) == (answer["label"], "ann", 1)
                assert row["delivered"] == (row["prediction"] if row["label"] is None else row["label"])
            assert {row["state"] for row in rows[:30]} >= {"labelled"}
            table = list(csv.DictReader(io.StringIO((await http.get(path + "csv&raw=true")).text)))
            assert [row["certainty_now"] for row in table] == [
                "" if row["certainty_now"] is None else str(row["certainty_now"]) for row in rows
            ]
            parquet = pyarrow.parquet.read_table(io.BytesIO((await http.get(path + "parquet")).content)).to_pylist()
            assert [row["prediction_now"] for row in parquet] == [row["prediction_now"] for row in rows]
            rest = (await http.get(path + f"json&after={rows[9]['seq']}")).json()
            assert rest == rows[10:]
            tasks = (await http.get(path + "label-studio")).json()
            assert len(tasks) == 29
            assert (await http.get(path + "prodigy")).status_code == 422

    run(go())


def test_the_model_is_asked_for_many_instances_at_once(tmp_path, monkeypatch):
    features, x, _ = KINDS["text"]
    calls = []
    guesses = Model.guesses
    monkeypatch.setattr(Model, "guesses", lambda self, xs, *said: calls.append(len(xs)) or guesses(self, xs, *said))

    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            stream = await streams.create(coordinator, "mails", settings(features=features))
            await instances.play_all(coordinator, stream, [Raw(x(i % 40), f"n{i}") for i in range(1200)])
            calls.clear()
            rows = (await http.get("/v1/streams/mails/export?table=instances&format=json")).json()
            assert len(rows) == sum(each for each in calls if each > 1) == 1200
            assert len(calls) <= 4

    run(go())
