"""Streams on which several labels may apply at once: the same rounds as the library, over HTTP lists of labels."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import AskwhenError, InputError
from askwhen.service.events import label_sets
from askwhen.service.events.settings import Budget, check_settings
from askwhen.service.use_cases import (
    browsing,
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
from askwhen.service.use_cases.browsing import Filters
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.listing import Listings
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import bits

LABELS = ["local", "sport", "weather"]
X = np.random.default_rng(5).standard_normal((80, 3))


def truth(x):
    return [label for label, each in zip(LABELS, x, strict=True) if each > 0.0]


def made_of(**given):
    return settings(**({"labels": LABELS, "several": True, "budget": Budget(rate=0.5), "certainty": 2} | given))


def rows_of(coordinator, stream, table):
    reader = coordinator.reader()
    found = [row for rows in export_tables.chunks(reader, stream.number, table, 0, stream.seq) for row in rows]
    reader.close()
    return found


def stored(stream):
    return *stream.dump()[:2], bits(stream.model.sampler)


def test_the_rounds_are_those_of_the_library_and_come_from_the_log_again(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        library = aw.MultiLabel(LABELS, rule=aw.BudgetRule(0.5), seed=7)
        async with open_coordinator(path, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(grace=0.0))
            for x in X:
                guess = stream.model.guess(x)[0]
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                ask = library.ask(x)
                assert found.prediction == sorted(ask.prediction) == stream.seen_label(guess)
                assert (found.margin, found.probability, found.asked) == (ask.margin, ask.probability, ask.query)
                if found.asked:
                    text = "[" + ",".join(f'"{each}"' for each in truth(x)) + "]"
                    receipt = await questions.answer(coordinator, stream, found.question, "ann", text)
                    assert receipt.label == truth(x)
                    library.tell(ask, truth(x))
            report = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            expected = aw.evaluate.accuracy(library)
            assert report["overall"]["low"] == expected.overall.low
            assert set(report["classes"]) == set(LABELS)
            (tmp_path / "m.askwhen").write_bytes(await reports.model(coordinator, stream))
            loaded = aw.MultiLabel.load(tmp_path / "m.askwhen")
            assert loaded.predict(X).tolist() == library.predict(X).tolist()
            answered = rows_of(coordinator, stream, "labels")
            assert {row["label"] for row in answered} == {row["answer"] for row in answered}
            free = next(row["round"] for row in rows_of(coordinator, stream, "decisions") if not row["asked"])
            given = await labels.volunteer(coordinator, stream, "bob", '["sport"]', round=free)
            assert (given.label, given.learnt) == (["sport"], True)
            expected_state = stored(stream)
        for crash in (True, False, False):
            async with open_coordinator(path, time, crash=crash) as coordinator:
                assert stored(coordinator.streams["one"]) == expected_state
        async with open_coordinator(path, time) as coordinator:
            stream = coordinator.streams["one"]
            await replaying.replay(coordinator, stream, "root")
            again = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            assert again["answered"] == report["answered"]

    run(go())


def test_labels_are_renamed_added_and_merged(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(grace=0.0))

            async def play(rows, named):
                for x in rows:
                    found = await instances.play(coordinator, stream, Raw(x.tolist()))
                    assert set(found.prediction) <= set(stream.questions.labels)
                    if found.asked and found.question % 9:
                        given = label_sets.written({named.get(label, label) for label in truth(x)})
                        await questions.answer(coordinator, stream, found.question, "ann", given)
                        time.now += 1.0
                        coordinator.tick()

            def told():
                return {row["question"]: row["label"] for row in rows_of(coordinator, stream, "labels")}

            await play(X[:40], {})
            before, listings = told(), Listings(coordinator)
            await browsing.browse(coordinator, listings, stream, Filters(), None, 10)
            await label_changes.rename(coordinator, stream, "sport", "games", "root")
            renamed = {number: label.replace("sport", "games") for number, label in before.items()}
            assert {number: sorted(label_sets.read(label)) for number, label in told().items()} == {
                number: sorted(label_sets.read(label)) for number, label in renamed.items()
            }
            late = next(iter(stream.questions.open.values()))
            assert "sport" not in (late.prediction or "")
            receipt = await questions.answer(coordinator, stream, late.round, "ann", '["local","sport"]')
            assert receipt.label == ["games", "local"], "a former name is the label that it has become"
            await label_changes.add(coordinator, stream, ["news"], "root")
            assert stream.settings.labels == ["local", "games", "weather", "news"]
            await play(X[40:60], {"sport": "news"})
            report = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            await label_changes.merge(coordinator, stream, "news", "games", "root")
            merged = (await reports.report(coordinator, stream, 0.95))["accuracy"]
            assert merged["answered"] == report["answered"]
            assert set(merged["classes"]) == {"local", "games", "weather"}
            page = await browsing.browse(coordinator, listings, stream, Filters(), None, 100)
            seen = {tuple(row.label) for row in page.rows if row.label is not None}
            assert {label for labels in seen for label in labels} == {"local", "games", "weather"}
            assert any({"games", "weather"} <= set(labels) for labels in seen)
            with pytest.raises(AskwhenError, match="cannot be merged with itself"):
                await label_changes.merge(coordinator, stream, "games", "games", "root")
            await play(X[60:], {"sport": "games"})
            outcomes = await AccuracyHistory(coordinator).outcomes(stream)
            assert sum(outcomes.predicted.values()) == 80
            assert {label for text in outcomes.predicted for label in label_sets.read(text)} <= {
                *stream.settings.labels
            }
            expected, rows = stored(stream), rows_of(coordinator, stream, "labels")
        for crash in (True, False):
            async with open_coordinator(path, time, crash=crash, ticks=False) as coordinator:
                stream = coordinator.streams["one"]
                assert stored(stream) == expected
                assert rows_of(coordinator, stream, "labels") == rows

    run(go())


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("sport", "give a list"),
        ('["sport","sport"]', "each label once"),
        ('["sport","cats"]', "one of local, sport, weather"),
        ("[1]", "give a list"),
    ],
)
def test_what_is_no_set_of_labels_is_refused(tmp_path, label, said):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(budget=Budget(rate=1.0)))
            found = await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.0]))
            with pytest.raises(AskwhenError, match=said):
                await questions.answer(coordinator, stream, found.question, "ann", label)

    run(go())


@pytest.mark.parametrize(
    "given", [{"labels": "open"}, {"algorithm": "perceptron"}, {"labels": [f"l{i}" for i in range(53)]}]
)
def test_settings_that_do_not_go_with_it_are_refused(given):
    with pytest.raises(InputError, match="several labels at once are for"):
        check_settings(made_of(**given))


def test_people_who_give_the_same_labels_in_another_order_agree(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", time := Time()) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(budget=Budget(rate=1.0), slots=2))
            found = await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.0]))
            for who, label in (("ann", '["sport", "local"]'), ("bob", '["local", "sport"]')):
                await questions.answer(coordinator, stream, found.question, who, label)
            time.now += 30.0
            coordinator.tick()
            await coordinator.commits.settled()
            assert (await questions.show(coordinator, stream, found.question)).label == ["local", "sport"]

    run(go())
