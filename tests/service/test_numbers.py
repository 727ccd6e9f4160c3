"""Numbers of the service: recomputed from an export, absent while they are not known, known now over time."""

import math

import numpy as np
import pytest

from askwhen.service.events.settings import Budget
from askwhen.service.http.middleware.request_metrics import RequestCounts
from askwhen.service.http.monitoring import accuracy_cache
from askwhen.service.http.monitoring.metrics import Metrics
from askwhen.service.use_cases import export_tables, instances, questions, reports, streams
from askwhen.service.use_cases.accuracy_history import AccuracyHistory
from askwhen.service.use_cases.instances import Raw
from tests.evaluate.test_unanswered import recomputed
from tests.service.coordinators import Time, open_coordinator, run, settings

LABELS = ["ham", "spam"]


@pytest.fixture(autouse=True)
def _patient_scrapes(monkeypatch):
    """A scrape would not wait for an estimate on a busy machine."""
    monkeypatch.setattr(accuracy_cache, "PATIENCE", 300.0)


async def asked_about(coordinator, n, **given):
    """A stream that asks about each of n instances with random contents, and the decisions."""
    given = {"budget": Budget(rate=1.0), "algorithm": "PERCEPTRON", "grace": 0.0} | given
    stream = await streams.create(coordinator, "mails", settings(**given))
    X = np.random.default_rng(3).standard_normal((n, 3))
    found = [await instances.play(coordinator, stream, Raw(x.tolist())) for x in X]
    assert all(each.asked for each in found)
    return stream, found


async def give(coordinator, stream, decision, right):
    """Answer a question so that its prediction is right, or wrong."""
    other = LABELS[decision.prediction == LABELS[0]]
    await questions.answer(coordinator, stream, decision.round, "ann", decision.prediction if right else other)
    stream.tick(coordinator.clock.now() + 1.0)


def scenario(tmp_path, n, rights):
    async def play():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream, asked = await asked_about(coordinator, n)
            for decision, right in zip(asked, rights, strict=False):
                if right is not None:
                    await give(coordinator, stream, decision, right)
            report = await reports.report(coordinator, stream, 0.95)
            metrics = Metrics(coordinator, RequestCounts())
            text = (await metrics.written("text/plain"))[0].decode()
            await metrics.close()
            async with coordinator.reading() as log:
                rows = [
                    row
                    for table in ("decisions", "labels")
                    for chunk in export_tables.chunks(log.reader, stream.number, table, 0, stream.seq)
                    for row in chunk
                ]
            return report["accuracy"], text, rows

    return run(play())


@pytest.mark.parametrize(
    ("rights", "waiting"), [([True, True, True, False, False], 195), ([False], 199)], ids=["five answers", "one answer"]
)
def test_few_answers_are_no_accuracy(tmp_path, rights, waiting):
    accuracy, metrics, _ = scenario(tmp_path, 200, rights)
    for part in (accuracy["overall"], accuracy["recent"], *accuracy["windows"].values()):
        assert part["value"] is None
        assert part["unbiased"] is None
        assert part["why_unknown"] == "fewer than 20 answers"
        assert 0.0 < part["low"] + 1.0 - part["high"] < 0.05
    assert accuracy["advice"] == f"Answer the {waiting} questions that wait."
    assert "not known yet" in accuracy["sentence"]
    assert "askwhen_accuracy_ratio{" not in metrics
    assert "askwhen_accuracy_low_ratio{" in metrics


def test_the_report_is_recomputed_from_the_export(tmp_path):
    rng = np.random.default_rng(9)
    rights = [None if rng.random() < 0.15 else bool(rng.random() < 0.7) for _ in range(500)]
    accuracy, metrics, rows = scenario(tmp_path, 500, rights)
    decisions = [row for row in rows if "asked" in row]
    told = {row["question"]: row["label"] for row in rows if "question" in row}
    assert [row["probability"] for row in decisions] == [1.0] * 500
    given = [
        (row["round"], told[row["round"]] == row["prediction"] if row["round"] in told else None) for row in decisions
    ]
    right, wrong = (sum(each is which for _, each in given) for which in (True, False))
    overall = accuracy["overall"]
    assert overall["value"] == pytest.approx(recomputed(given, 500), abs=1e-9)
    assert (overall["low"], overall["high"]) == pytest.approx((right / 500, 1 - wrong / 500))
    assert (overall["answered"], overall["unanswered"]) == (right + wrong, 500 - right - wrong)
    assert f'askwhen_accuracy_ratio{{stream="mails",window="overall"}} {overall["value"]}' in metrics


def test_a_line_shows_what_is_known_now_of_each_moment(tmp_path):
    """At each moment but the last nobody has answered; then all answers come, most of them right."""

    async def play():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            noted, decisions = AccuracyHistory(coordinator), []
            stream = await streams.create(
                coordinator, "mails", settings(budget=Budget(rate=1.0), algorithm="PERCEPTRON", grace=0.0)
            )
            for x in np.random.default_rng(3).standard_normal((300, 3)):
                decisions.append(await instances.play(coordinator, stream, Raw(x.tolist())))
                time.now += 1.0
                if await noted.look(stream):
                    await noted.note(stream)
            rights, lines = [number % 10 > 0 for number in range(300)], []
            for decision in decisions:
                await give(coordinator, stream, decision, rights[decision.round])
                time.now += 1.0
                if decision.round % 50 == 49:
                    lines.append(await noted.known_now(stream))
            assert await noted.look(stream)
            await noted.note(stream)
            whole = (await noted.known_now(stream))[-1]
            return rights, lines, whole, await reports.report(coordinator, stream, 0.95)

    rights, lines, whole, report = run(play())
    assert all("fixed" not in point for line in lines for point in line)
    moments = [[point for point in line if point["told"] == 0 and point["rounds"] > 0] for line in lines]
    assert len(moments[0]) > 10
    assert len({tuple(point["rounds"] for point in line) for line in moments}) == 1
    for k, point in enumerate(moments[-1]):
        rounds = point["rounds"]
        value, low, high = point["overall"]
        truth = sum(rights[:rounds]) / rounds
        assert (low, high) == pytest.approx((truth, truth))
        assert value == (None if rounds < 20 else pytest.approx(truth))
        lows = [line[k]["overall"][1] for line in moments]
        assert lows == sorted(lows), "what is known for certain only grows"
    ends = [report["accuracy"]["overall"][name] for name in ("value", "low", "high")]
    assert whole["overall"] == pytest.approx(ends)


def test_a_line_agrees_with_the_tally_where_some_questions_wait(tmp_path):
    """With the default algorithm, random draws, and answers that are late, lacking, wrong or corrected."""

    async def play():
        time, rng = Time(), np.random.default_rng(4)
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            noted = AccuracyHistory(coordinator)
            stream = await streams.create(coordinator, "mails", settings(budget=Budget(rate=0.5), grace=0.0))
            asked = []
            for x in rng.standard_normal((700, 3)):
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                if found.asked and rng.random() < 0.8:
                    asked.append((found, bool(rng.random() < 0.8)))
                if asked and rng.random() < 0.7:
                    await give(coordinator, stream, *asked.pop(int(rng.integers(len(asked)))))
                time.now += 1.0
            for decision, right in asked[:10]:
                await give(coordinator, stream, decision, right)
                await questions.review(coordinator, stream, decision.round, "rae", LABELS[int(rng.integers(2))])
            assert await noted.look(stream)
            await noted.note(stream)
            for decision, right in asked[10:]:
                await give(coordinator, stream, decision, right)
            return (await noted.known_now(stream))[-1], await reports.report(coordinator, stream, 0.95)

    point, report = run(play())
    for name in ("overall", "recent"):
        part = report["accuracy"][name]
        wanted = [part[each] for each in ("value", "low", "high")]
        assert [math.nan if each is None else each for each in point[name]] == pytest.approx(
            [math.nan if each is None else each for each in wanted], abs=1e-9, nan_ok=True
        )


async def certainties(coordinator, name, n=40):
    """Of the instances that follow two answers."""
    stream, rng = coordinator.stream(name), np.random.default_rng(3)
    for label in LABELS:
        found = await instances.play(coordinator, stream, Raw([9.0 if label == "ham" else -9.0, 1.0]))
        await questions.answer(coordinator, stream, found.round, "ann", label)
    return [
        (await instances.play(coordinator, stream, Raw([x, 1.0]))).certainty
        for x in rng.choice([9.0, -9.0], n).tolist()
    ]


def test_new_streams_are_not_certain_of_what_few_have_answered(tmp_path):
    async def play():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "new", settings(budget=Budget(rate=1.0), grace=0.0))
            found = await certainties(coordinator, "new")
            return stream.settings.certainty, found, stream.model.guess(np.array([9.0, 1.0]))[1]

    version, found, guess = run(play())
    assert version == 2
    assert max([*found, guess]) <= 3 / 4


def test_a_stream_of_an_earlier_version_keeps_its_certainty(tmp_path):
    async def play(crash):
        async with open_coordinator(tmp_path / "log.db", Time(), crash=crash) as coordinator:
            if crash:
                old = settings(certainty=1, repeats=False, budget=Budget(rate=1.0), grace=0.0)
                await streams.create(coordinator, "old", old)
            return await certainties(coordinator, "old")

    assert max(run(play(True))) > 0.8
    assert max(run(play(False))) > 0.8, "its log is played again as it was"
