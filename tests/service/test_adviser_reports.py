"""How good advisers are, in reports, dashboard and metrics: the numbers of the library, and when one became worse."""

import asyncio

import numpy as np
import pytest

import askwhen as aw
from askwhen.evaluate.estimation.advisers import CountedAdvisers
from askwhen.service.events.settings import Budget
from askwhen.service.http.monitoring import accuracy_cache
from askwhen.service.use_cases import adviser_reports, streams
from askwhen.service.use_cases.accuracy_history import AccuracyHistory, Timeline
from askwhen.service.use_cases.adviser_reports import AdviserReports, looked_at
from askwhen.service.use_cases.instances import Raw, play_all
from askwhen.service.use_cases.questions import answer
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running

WORDS = ["ham", "spam"]
RNG = np.random.default_rng(7)
X = RNG.standard_normal((120, 3))
TRUTH = (X[:, 0] > 0.0).astype(int)
RIGHT = RNG.random((120, 2)) < [0.9, 0.75]


async def advised(coordinator, name="mails", **given):
    """A stream whose questions are answered, with two advisers who are known, one who is not and one who is silent."""
    given = {"budget": Budget(rate=0.7), "grace": 0.0, "advisers": ["rules", "gpt", "new", "none"]} | given
    stream = await streams.create(coordinator, name, settings(**given))
    raws = []
    for i, (x, y) in enumerate(zip(X.tolist(), TRUTH, strict=True)):
        gpt, rules = (WORDS[y if right else 1 - y] for right in RIGHT[i])
        advice = {"gpt": [gpt, 0.9], "rules": rules, "new": "ham" if i > 100 else None}
        raws.append(Raw(x, f"n{i}", advice=advice))
    await play_all(coordinator, stream, raws)
    for round in list(stream.questions.open):
        await answer(coordinator, stream, round, "ann", WORDS[TRUTH[round]])
    coordinator.tick()
    await coordinator.commits.settled()
    return stream


def test_report_overview_and_metrics_have_the_numbers_of_the_library(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_cache, "PATIENCE", 300.0)  # a scrape would not wait for a busy machine

    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            coordinator._ticking.cancel()
            stream = await advised(coordinator)
            expected = aw.evaluate.advisers(stream.model.sampler)
            found = (await http.get("/v1/streams/mails/report")).json()["advisers"]
            assert [each["name"] for each in found] == list(expected) == ["gpt", "rules", "new", "none"]
            for facts in found:
                each = expected[facts["name"]]
                assert facts["overall"]["value"] == (each.overall.value if each.overall.is_known else None)
                assert (facts["overall"]["low"], facts["overall"]["high"]) == (each.overall.low, each.overall.high)
                assert (facts["rounds"], facts["random_labels"]) == (each.rounds, each.random_labels)
                assert facts["silent"] == pytest.approx(each.silent)
                if each.rounds:
                    assert facts["gain"]["low"] == each.gain.low
                assert (facts["fell"], facts["warning"]) == (None, None)
            between = expected.compare("gpt", "rules")
            assert found[0]["against"]["rules"]["low"] == between.low == -found[1]["against"]["gpt"]["high"]
            assert set(found[0]["against"]) == {"rules", "new", "none"}
            assert found[0]["against"]["none"] == {"value": None, "low": -1.0, "high": 1.0, "rounds": 0, "apart": 0}
            assert found[0]["calibration"][0]["stated"] == pytest.approx(0.9)
            assert found[0]["sentence"].startswith(
                f"gpt is right in {expected['gpt'].overall.value:.1%} of 120 instances"
            )
            assert found[2]["sentence"].startswith(
                "How often new is right is not known yet with fewer than 20 answers ("
            )
            assert found[3]["sentence"] == "none has said nothing yet."
            assert (await http.get("/v1/streams/mails/overview")).json()["advisers"] == found
            wider = (await http.get("/v1/streams/mails/report?confidence=0.99")).json()["advisers"]
            sure = aw.evaluate.advisers(stream.model.sampler, confidence=0.99)
            assert [each["overall"]["low"] for each in wider] == [each.overall.low for each in sure.values()]
            text = (await http.get("/metrics")).text
            for name in ("gpt", "rules"):
                for end, part in (("value", ""), ("low", "_low"), ("high", "_high")):
                    line = f'askwhen_adviser_accuracy{part}_ratio{{adviser="{name}",stream="mails"}} '
                    (value,) = [each.removeprefix(line) for each in text.splitlines() if each.startswith(line)]
                    assert float(value) == getattr(expected[name].overall, end)
            assert 'adviser="new"' not in text
            await streams.create(coordinator, "plain", settings())
            plain = (
                (await http.get("/v1/streams/plain/report")).json(),
                (await http.get("/v1/streams/plain/overview")).json(),
            )
            assert not any("advisers" in each for each in plain)

    run(go())


def test_they_are_estimated_again_only_where_something_has_come(tmp_path, monkeypatch):
    calls = []
    estimated = adviser_reports.estimated

    async def counted(*given):
        calls.append(given)
        return await estimated(*given)

    monkeypatch.setattr(adviser_reports, "estimated", counted)

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream, reports = await advised(coordinator), AdviserReports()
            first, *others = await asyncio.gather(*(reports.of(stream) for _ in range(4)))
            assert all(each is first for each in others)
            assert len(calls) == 1
            await play_all(coordinator, stream, [Raw([9.0, 9.0, 9.0], advice={"gpt": "ham"})])
            assert (await reports.of(stream))[0]["rounds"] == 121
            assert len(calls) == 2

    run(go())


def test_one_that_became_much_worse_is_found_and_the_others_are_not():
    rng, n = np.random.default_rng(0), 6000
    X = rng.standard_normal((n, 3))
    y = np.array(WORDS)[(X[:, 0] > 0.0).astype(int)]
    wrong = np.where(y == "ham", "spam", "ham")
    turns = np.where(rng.random(n) < np.where(np.arange(n) < 3000, 0.9, 0.6), y, wrong)
    steady = np.where(rng.random(n) < 0.75, y, wrong)
    sampler = aw.Sampler(rule=aw.FixedRate(0.5), labels=WORDS, advisers=["turns", "steady"], seed=1)
    line, found = Timeline(), []
    for first in range(0, n, 250):
        part = slice(first, first + 250)
        sampler.run(X[part], y[part], advice={"turns": turns[part], "steady": steady[part]})
        looks = looked_at(CountedAdvisers(sampler), line.best)
        found.append({name for name, look in looks.items() if look.fell is not None})
        point = {"time": float(first), "rounds": first + 250, "told": 0, "overall": [], "recent": [], "weights": []}
        line.add(
            point
            | {
                "advisers": {
                    name: {"low": look.low} | ({"fell": look.fell} if look.fell else {}) for name, look in looks.items()
                }
            }
        )
    assert not any(found[:12])
    assert {"turns"} in found
    assert not any("steady" in each for each in found)
    when = line.fallen["turns"]
    assert (when["rounds"], list(line.fallen)) == (250 * (1 + found.index({"turns"})), ["turns"])
    assert 3250 <= when["rounds"] <= 5000
    assert 0.6 < when["level"] < 0.85


def test_when_it_became_worse_is_stored(tmp_path):
    fell = {"gpt": {"low": 0.8, "fell": 0.7}, "rules": {"low": 0.6}}

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream, history = await advised(coordinator), AccuracyHistory(coordinator)
            history._looked.clear()
            line = await history.line(stream)
            line.best["gpt"] = 1.0  # it was never wrong before, it seems
            assert await history.look(stream)
            assert await history.note(stream)
            assert "advisers" not in line.points[0]
            assert line.best["gpt"] == 1.0
            assert line.fallen == {}  # too few rounds for any alarm
            line.add({"time": 1500.0, "rounds": 200, "told": 9, "advisers": fell})
            line.add({"time": 1600.0, "rounds": 300, "told": 9, "advisers": fell})
            await coordinator.commits.settled()
            facts = await history.with_falls(stream, await AdviserReports().of(stream))
            assert facts[0]["fell"] == {"time": 1500.0, "rounds": 200, "level": 0.7}
            assert facts[1]["fell"] is None
            again = await AccuracyHistory(coordinator).line(stream)
            assert 0.5 < again.best["gpt"] < 1.0

    run(go())
