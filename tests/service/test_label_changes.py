"""Labels that are added, renamed and merged while a stream runs: words change, answers stay, the log gives it again."""

import msgspec
import numpy as np
import pytest

from askwhen.errors import AskwhenError
from askwhen.service.events.label_names import LabelNames
from askwhen.service.events.settings import Budget
from askwhen.service.use_cases import (
    export_tables,
    instances,
    label_changes,
    labels,
    questions,
    replaying,
    reports,
    streams,
)
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import bits

THREE = ["cat", "dog", "cow"]


def made_of(**given):
    """Settings of a quick learner that asks about half of what comes."""
    return settings(**({"algorithm": "perceptron", "budget": Budget(rate=0.5)} | given))


def truth(x, words):
    return words[int(np.argmax(x[: len(words)]))]


async def label_some(coordinator, stream, time, words, number=60, seed=0):
    """Play instances, and answer what is asked; the model learns the answers."""
    for x in np.random.default_rng(seed).standard_normal((number, 3)):
        found = await instances.play(coordinator, stream, Raw(x.tolist()))
        if found.asked:
            await questions.answer(coordinator, stream, found.question, "ann", truth(x, words))
            time.now += 30.0
            coordinator.tick()
            await coordinator.commits.settled()


async def ask_one(coordinator, stream):
    """Play instances until one is asked about; returns its question."""
    for x in np.random.default_rng(9).standard_normal((50, 3)):
        found = await instances.play(coordinator, stream, Raw(x.tolist()))
        if found.asked:
            return found.question
    raise AssertionError("nothing was asked")


def stored(stream):
    """Everything that a snapshot stores."""
    seq, state, _ = stream.dump()
    return seq, state, bits(stream.model.sampler)


def table(coordinator, stream, name):
    reader = coordinator.reader()
    found = [row for rows in export_tables.chunks(reader, stream.number, name, 0, stream.seq) for row in rows]
    reader.close()
    return found


def on_database(tmp_path, play, **given):
    """Play on a new stream; then let another process recover it, once from the log and once from a snapshot."""

    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(**given))
            await play(coordinator, stream, time)
            expected = stored(stream)
        for crash in (True, False):
            async with open_coordinator(path, time, crash=crash) as coordinator:
                assert stored(coordinator.streams["one"]) == expected
        async with open_coordinator(path, time) as coordinator:
            assert stored(coordinator.streams["one"]) == expected
            return coordinator.streams["one"]

    return run(go())


@pytest.mark.parametrize("words", [THREE, THREE[:2], "open"])
def test_a_rename_changes_words_only(tmp_path, words):
    async def play(coordinator, stream, time):
        known = THREE if words == "open" else words
        await label_some(coordinator, stream, time, known)
        waits = await ask_one(coordinator, stream)
        before, decided = table(coordinator, stream, "labels"), table(coordinator, stream, "decisions")
        report = await reports.report(coordinator, stream, 0.95)
        await label_changes.rename(coordinator, stream, "cat", "Katze", "root")

        def german(rows):
            return [{name: "Katze" if each == "cat" else each for name, each in row.items()} for row in rows]

        assert table(coordinator, stream, "labels") == german(before)
        assert table(coordinator, stream, "decisions") == german(decided)
        after = await reports.report(coordinator, stream, 0.95)
        assert after["accuracy"]["overall"] == report["accuracy"]["overall"]
        assert set(after["accuracy"]["classes"]) == {"Katze", *known[1:]}
        assert "cat" not in stream.questions.labels
        assert (await questions.show(coordinator, stream, before[0]["question"])).label != "cat"
        # An answer that was on its way with the former name is not lost.
        await questions.answer(coordinator, stream, waits, "ann", "cat", "k")
        receipt = await questions.answer(coordinator, stream, waits, "ann", "cat", "k")
        assert (receipt.label, receipt.again) == ("Katze", True)
        time.now += 30.0
        coordinator.tick()
        await label_some(coordinator, stream, time, ["Katze", *known[1:]], seed=1)

    on_database(tmp_path, play, labels=words)


def test_a_merge_keeps_every_answer_and_the_model_knows_it_at_once(tmp_path):
    async def play(coordinator, stream, time):
        await label_some(coordinator, stream, time, THREE, 150)
        waits = await ask_one(coordinator, stream)
        before = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        rows = table(coordinator, stream, "labels")
        await label_changes.merge(coordinator, stream, "dog", "cat", "root")
        after = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        assert after["answered"] == before["answered"] == len(rows)
        assert after["rounds"] == before["rounds"]
        assert set(after["classes"]) == {"cat", "cow"}
        merged = table(coordinator, stream, "labels")
        assert [row["label"] for row in merged] == ["cat" if row["label"] == "dog" else row["label"] for row in rows]
        assert all(row["label"] == row["told"] for row in merged)
        await questions.answer(coordinator, stream, waits, "ann", "dog")  # it was on its way
        assert stream.questions.find(waits).answers[0].label == "cat"
        time.now += 30.0
        coordinator.tick()
        await label_some(coordinator, stream, time, ["cat", "cat", "cow"], 100, 1)
        guesses = [each["prediction"] for each in table(coordinator, stream, "decisions")]
        assert set(guesses) <= {"cat", "cow"}

    stream = on_database(tmp_path, play, labels=THREE)
    assert stream.settings.labels == ["cat", "cow"]


@pytest.mark.parametrize("words", [THREE[:2], "open"])
def test_an_added_label_can_be_given_and_is_predicted(tmp_path, words):
    async def play(coordinator, stream, time):
        await label_some(coordinator, stream, time, THREE[:2], 100)
        before = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        await label_changes.add(coordinator, stream, ["cow"], "root")
        after = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        assert (after["answered"], after["rounds"]) == (before["answered"], before["rounds"])
        assert after["answered"] > 30
        await label_some(coordinator, stream, time, THREE, 200, 1)
        guesses = [each["prediction"] for each in table(coordinator, stream, "decisions")]
        assert "cow" not in guesses[:100]
        assert "cow" in guesses[100:]

    on_database(tmp_path, play, labels=words)


def test_a_name_that_is_given_again_means_another_label(tmp_path):
    async def play(coordinator, stream, time):
        await label_some(coordinator, stream, time, THREE)
        first = [row["label"] for row in table(coordinator, stream, "labels")]
        await label_changes.rename(coordinator, stream, "cat", "tiger", "root")
        await label_changes.add(coordinator, stream, ["cat"], "root")
        await label_some(coordinator, stream, time, ["cat", "dog", "cow"], seed=1)
        found = [row["label"] for row in table(coordinator, stream, "labels")]
        assert found[: len(first)] == ["tiger" if each == "cat" else each for each in first]
        assert "cat" in found[len(first) :]

    on_database(tmp_path, play, labels=THREE)


def test_unsolicited_labels_and_corrections_follow_a_merge(tmp_path):
    async def play(coordinator, stream, time):
        await label_some(coordinator, stream, time, THREE)
        rows = table(coordinator, stream, "labels")
        await questions.review(coordinator, stream, rows[0]["question"], "eve", "dog")
        free = next(each for each in table(coordinator, stream, "decisions") if not each["asked"])
        await labels.volunteer(coordinator, stream, "bob", "dog", round=free["round"], key="v")
        await label_changes.merge(coordinator, stream, "dog", "cow", "root", "again")
        await label_changes.merge(coordinator, stream, "dog", "cow", "root", "again")
        again = await labels.volunteer(coordinator, stream, "bob", "dog", round=free["round"], key="v")
        assert (again.label, again.again) == ("cow", True)
        found = {row["seq"]: row for row in table(coordinator, stream, "labels")}
        assert found[rows[0]["seq"]]["label"] == "cow"
        assert not any(row["label"] == "dog" or row["corrected"] for row in found.values())

    on_database(tmp_path, play, labels=THREE)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("add", ["dog"]), "there is a label 'dog' already"),
        (("add", []), "at least one label"),
        (("add", ["a", "a"]), "each of them once"),
        (("add", ["two\nlines"]), "printable"),
        (("add", [" bird"]), "no spaces around it, got ' bird'"),
        (("add", [f"label {i}" for i in range(100_000)]), "at most 1,000 labels: it has 3, and 100,000 are new"),
        (("rename", "fox", "wolf"), "no label 'fox'"),
        (("rename", "cat", "cat"), "called 'cat' already"),
        (("rename", "cat", "dog"), "merge 'cat' into it"),
        (("rename", "cat", ""), "printable"),
        (("merge", "cat", "cat"), "cannot be merged with itself"),
        (("merge", "cat", "fox"), "no label 'fox'"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(tmp_path, change, said):
    async def play(coordinator, stream, time):
        before = stored(stream)
        with pytest.raises(AskwhenError, match=said):
            await getattr(label_changes, change[0])(coordinator, stream, *change[1:], "root")
        assert stored(stream) == before

    on_database(tmp_path, play, labels=THREE)


def test_the_last_two_labels_cannot_become_one(tmp_path):
    async def play(coordinator, stream, time):
        with pytest.raises(AskwhenError, match="add a label first"):
            await label_changes.merge(coordinator, stream, "cat", "dog", "root")

    on_database(tmp_path, play, labels=THREE[:2])


def test_labels_are_described_coloured_and_put_into_another_order(tmp_path):
    async def play(coordinator, stream, time):
        async def change(**changes):
            return await streams.change_settings(coordinator, "one", changes, "root")

        await label_some(coordinator, stream, time, THREE[:2])
        await change(about={"cat": "purrs", "dog": "barks"}, colours={"cat": "sky"}, guidelines="# How\n*Look.*")
        await change(about={"dog": None}, labels=["dog", "cat"])
        await label_changes.rename(coordinator, stream, "cat", "lynx", "root")
        assert stream.settings.about == {"lynx": "purrs"}
        assert stream.settings.colours == {"lynx": "sky"}
        assert stream.questions.labels == ["dog", "lynx"]
        await label_some(coordinator, stream, time, ["lynx", "dog"], seed=1)
        for changes, said in (
            ({"about": {"fox": "red"}}, "labels of the stream"),
            ({"colours": {"dog": "mauve"}}, "orange, pink"),
            ({"labels": ["dog", "lynx", "fox"]}, "add, rename or merge"),
            ({"labels": "open"}, "add, rename or merge"),
            ({"guidelines": "x" * 50_001}, "50,000 characters"),
        ):
            with pytest.raises(AskwhenError, match=said):
                await change(**changes)

    stream = on_database(tmp_path, play, labels=THREE[:2])
    assert stream.model.pair == ["lynx", "dog"]


def test_names_follow_changes_in_order():
    names = LabelNames([(5, "a", "b"), (9, "b", "c"), (12, "d", "a")])
    assert [names.now("a"), names.now("a", 5), names.now("b", 6), names.now("d", 11)] == ["c", "a", "c", "a"]


@pytest.mark.parametrize("budget", [Budget(rate=0.9), Budget(rate=0.9, most=80), Budget(count=3, per=600.0)])
def test_another_budget_holds_from_a_moment_on(tmp_path, budget):
    async def play(coordinator, stream, time):
        await label_some(coordinator, stream, time, THREE, 100)
        before = stream.questions.stored.asked
        assert before < 75
        await streams.change_settings(coordinator, "one", {"budget": msgspec.to_builtins(budget)}, "root")
        await label_some(coordinator, stream, time, THREE, 100, 1)
        asked = stream.questions.stored.asked - before
        if budget.count is not None:
            assert 3 <= asked <= 3 * (time.now // 600 + 1)
        else:
            assert asked == 80 - before if budget.most else asked >= 75
        report = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        await replaying.replay(coordinator, stream, "root")  # nothing was corrected, so nothing changes
        again = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        assert (again["overall"], again["answered"]) == (report["overall"], report["answered"])

    on_database(tmp_path, play, labels=THREE, budget=Budget(rate=0.1))
