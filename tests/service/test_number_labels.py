"""Streams whose labels are numbers: the rounds of the library, an accuracy within so much, and answers that agree."""

import math

import numpy as np
import pytest

import askwhen as aw
from askwhen.betting import LEVELS
from askwhen.engine.tally.round_tally import new_tally
from askwhen.errors import AskwhenError, InputError
from askwhen.evaluate.estimation.accuracy import accuracy
from askwhen.service.domain.questions import DISPUTED, NO_LABEL, Answer, decision
from askwhen.service.events import numbers
from askwhen.service.events.settings import Budget, check_settings
from askwhen.service.use_cases import (
    dashboard,
    export_tables,
    instances,
    label_changes,
    labels,
    questions,
    replaying,
    reports,
    streams,
)
from askwhen.service.use_cases.accuracy_history import AccuracyHistory
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.recent_activity import RecentActivity
from tests.evaluate.test_unanswered import recomputed
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import bits

X = np.random.default_rng(5).standard_normal((160, 3))
Y = (20.0 + X @ [4.0, -2.0, 0.0] + np.random.default_rng(6).standard_normal(160)).round(2)


def made_of(**given):
    given = {"labels": "numbers", "within": 2.0, "algorithm": "default", "budget": Budget(rate=0.5)} | given
    return settings(**({"version": 2, "certainty": 2, "grace": 0.0} | given))


def stored(stream):
    return *stream.dump()[:2], bits(stream.model.sampler)


def rows_of(coordinator, stream, table):
    reader = coordinator.reader()
    found = [row for rows in export_tables.chunks(reader, stream.number, table, 0, stream.seq) for row in rows]
    reader.close()
    return found


def test_the_rounds_are_those_of_the_library_and_come_from_the_log_again(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        library = aw.Sampler(rule=aw.BudgetRule(0.5, by="uncertainty"), regression=True, seed=7)
        async with open_coordinator(path, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "prices", made_of())
            for x, y in zip(X, Y.tolist(), strict=True):
                guess, certainty = stream.model.guess(x)
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                ask = library.ask(x)
                assert (found.prediction, certainty) == (ask.prediction, None)
                assert guess == numbers.written(ask.prediction)
                assert (found.probability, found.asked) == (ask.probability, ask.query)
                if found.asked:
                    receipt = await questions.answer(coordinator, stream, found.question, "ann", str(y))
                    assert receipt.label == y
                    library.tell(ask, y)
            free = next(row["round"] for row in rows_of(coordinator, stream, "decisions") if not row["asked"])
            given = await labels.volunteer(coordinator, stream, "bob", "21.5", round=free)
            assert (given.label, given.learnt) == (21.5, True)
            (tmp_path / "m.askwhen").write_bytes(await reports.model(coordinator, stream))
            expected = stored(stream)
            library.learn(X[free], 21.5)
            assert aw.load(tmp_path / "m.askwhen").predict(X).tolist() == library.predict(X).tolist()
        for crash in (True, False, False):
            async with open_coordinator(path, time, crash=crash) as coordinator:
                assert stored(coordinator.streams["prices"]) == expected
        async with open_coordinator(path, time) as coordinator:
            stream = coordinator.streams["prices"]
            before = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            await replaying.replay(coordinator, stream, "root")
            after = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            assert after["answered"] == before["answered"] > 40

    run(go())


def test_the_accuracy_is_the_share_within_and_is_recomputed_from_the_export(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", time := Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "prices", made_of(budget=Budget(rate=1.0)))
            for i, (x, y) in enumerate(zip(X, Y.tolist(), strict=True)):
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                if i % 10 != 3:
                    await questions.answer(coordinator, stream, found.question, "ann", str(y))
                    time.now += 1.0
                    coordinator.tick()
            report = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            rows = rows_of(coordinator, stream, "labels")
            right = {row["question"]: abs(float(row["label"]) - float(row["prediction"])) <= 2.0 for row in rows}
            every = [(row["round"], right.get(row["round"])) for row in rows_of(coordinator, stream, "decisions")]
            overall, wrong = report["overall"], sum(not each for each in right.values())
            assert overall["value"] == pytest.approx(recomputed(every, 160), abs=1e-12)
            ends = 1.0 - (wrong + 16) / 160, 1.0 - wrong / 160
            assert (overall["low"], overall["high"]) == pytest.approx(ends, abs=1e-12)
            assert report["sentence"].startswith("The share of predictions within 2 of the label is")
            assert (report["classes"], "confusion" in report) == ({}, False)
            history, activity = AccuracyHistory(coordinator), RecentActivity()
            seen = await dashboard.overview(coordinator, stream, history, activity, people=True, guesses=True)
            off = [abs(float(row["label"]) - float(row["prediction"])) for row in rows]
            assert seen["numbers"]["mean_error"] == pytest.approx(np.mean(off))
            assert f"Predictions are off by {np.mean(off):.3g} on average" in seen["sentence"]
            counts = [sum(each.values()) for each in seen["delivered"].values()]
            assert (sum(counts), len(counts) <= 14) == (160, True)
            # A correction that makes a right prediction a wrong one counts at once.
            some = next(question for question, is_right in right.items() if is_right)
            await questions.review(coordinator, stream, some, "rae", "500")
            now = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            every = [(round, False if round == some else is_right) for round, is_right in every]
            assert now["overall"]["value"] == pytest.approx(recomputed(every, 160), abs=1e-12)

    run(go())


def test_the_interval_holds_the_truth_whatever_is_asked():
    """The tally of a regressor is that of a classifier whose mistakes are unpredictable."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        y = 3.0 * rng.standard_normal(400) + np.where(np.arange(400) < 200, 0.0, 5.0)
        sampler = aw.Sampler(aw.LeastSquares(1.0, regression=True), aw.FixedRate(0.3), seed=seed)
        sampler.engine.within = 2.0
        wrong, waits = 0, []
        for value in y:
            ask = sampler.ask(np.array([1.0, value > 3.0]))
            wrong += abs(ask.prediction - value) > 2.0
            if ask.query and rng.random() < 0.9:
                waits.append((ask, value))
            elif ask.query:
                sampler.forget(ask)
            if len(waits) > 5:
                sampler.tell(*waits.pop(0))
        counted = reports.CopiedTally(_Source(sampler), 0)
        found = accuracy(counted, confidence=0.95).overall
        missed += not found.low <= 1.0 - wrong / 400 <= found.high
        assert found.high - found.low < 0.7
    assert missed <= 3


class _Source:
    """A sampler as the reports copy it."""

    classes, costs = None, None

    def __init__(self, sampler):
        self.rule, self.tally, self.class_tally = sampler.rule, sampler.tally, sampler.class_tally


def test_a_promise_for_numbers(tmp_path):
    async def go():
        given = made_of(budget=Budget(errors=0.2), within=6.0)
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "prices", given)
            for x, y in zip(np.tile(X, (4, 1)), np.tile(Y, 4).tolist(), strict=True):
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                if found.asked:
                    await questions.answer(coordinator, stream, found.question, "ann", str(y))
            report = await reports.report(coordinator, stream, 0.95)
            assert report["promise"]["certified"] <= 0.2
            assert isinstance(found.delivered, float)

    run(go())


@pytest.mark.parametrize(("text", "same"), [("7", "7"), ("7.0", "7"), ("-0.0", "0"), ("1e3", "1000"), ("0.1", "0.1")])
def test_equal_numbers_are_equal_texts(text, same):
    assert numbers.written(numbers.read(text)) == same
    for number in (1e300, 1e15, -3.25, 5e-324, math.pi):
        assert float(numbers.written(number)) == number


@pytest.mark.parametrize(
    ("given", "decide", "found"),
    [
        (["3"], "majority", "3"),
        (["3", "5"], "majority", "4"),
        (["3", "5.5"], "majority", DISPUTED),
        (["3", "4", "90"], "majority", "4"),
        (["3", "4", "90"], "unanimity", DISPUTED),
        (["3", "4", "4"], "unanimity", "4"),
        (["3", "3"], "adjudicator", DISPUTED),
        ([None, "3"], "majority", "3"),
        ([None, None], "majority", NO_LABEL),
    ],
)
def test_answers_agree_within(given, decide, found):
    answers = [Answer(f"person {i}", label, 0.0) for i, label in enumerate(given)]
    assert decision(answers, decide, 2.0) == found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"within": None}, "how far a prediction may be off"),
        ({"within": 0.0}, "how far a prediction may be off"),
        ({"bounds": (3.0, 3.0)}, "the smallest and the largest label"),
        ({"algorithm": "perceptron"}, "default, where labels are numbers"),
        ({"several": True}, "several labels at once are for"),
        ({"labels": ["a", "b"]}, "within and bounds are for labels that are numbers"),
        ({"colours": {"3": "red"}}, "labels of the stream"),
    ],
)
def test_settings_that_do_not_go_with_it_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        check_settings(made_of(**given))


def test_what_is_no_number_is_refused_and_people_agree_by_distance(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", time := Time()) as coordinator:
            given = made_of(slots=2, budget=Budget(rate=1.0), bounds=(0.0, 100.0))
            stream = await streams.create(coordinator, "prices", given)
            found = [await instances.play(coordinator, stream, Raw(x.tolist())) for x in X[:2]]
            for label, said in (("many", "must be a number"), ("101", "from 0 to 100"), ("nan", "must be a number")):
                with pytest.raises(AskwhenError, match=said):
                    await questions.answer(coordinator, stream, found[0].question, "ann", label)
            for change in (label_changes.add, label_changes.rename):
                with pytest.raises(AskwhenError, match="are numbers, which have no names"):
                    await change(coordinator, stream, *(["x"],) if change is label_changes.add else ("x", "y"), "root")
            for decided, both in zip(found, (("20", "21"), ("20", "50")), strict=True):
                for who, label in zip(("ann", "bob"), both, strict=True):
                    await questions.answer(coordinator, stream, decided.question, who, label)
            time.now += 1.0
            coordinator.tick()
            await coordinator.commits.settled()
            assert (await questions.show(coordinator, stream, found[0].question)).label == 20.5
            assert (await questions.show(coordinator, stream, found[1].question)).disputed
            agreement = await reports.agreement(coordinator, stream)
            assert agreement["krippendorff"] is None
            assert agreement["pairs"] == [{"annotators": ["ann", "bob"], "questions": 2, "same": 1, "cohen": None}]

    run(go())


def test_levels_of_rounds_stay_in_the_marks_of_a_question():
    sampler = aw.Sampler(aw.LeastSquares(1.0, regression=True), aw.FixedRate(0.5), seed=1)
    sampler.engine.within = 0.1
    asks = []
    for i in range(60):
        asks += [ask] if (ask := sampler.ask(np.array([1.0, i % 3]))).query else []
        if len(asks) > 3:
            sampler.tell(asks.pop(0), float(i % 5))
    tally, _, _, waiting = sampler.tally()
    levels = [level for _, _, level, _ in waiting]
    assert 0 < max(levels) < LEVELS
    assert tally.count[0] == 60
    assert new_tally().count[0] == 0
