"""Decisions of reviewers that are taken back, questions that everybody skips, and comments."""

import pytest

from askwhen.errors import InputError
from askwhen.service.errors import ConflictError
from askwhen.service.events.instance_display import View
from askwhen.service.use_cases import comments, erasing, export_tables, instances, questions, review_queue, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

ALWAYS = {"algorithm": "perceptron", "budget": None, "labels": ["a", "b"], "grace": 0.0}


def played(tmp_path, play, crash=True, **given):
    """Run something on a stream of three questions, and then on what the log alone gives."""
    time = Time()

    async def whole():
        async with open_coordinator(tmp_path / "log.db", time, crash=crash) as coordinator:
            await streams.create(coordinator, "one", settings(**(ALWAYS | given)))
            stream = coordinator.stream("one")
            for i in range(3):
                assert (await instances.play(coordinator, stream, Raw([0.5, 1.0], f"n{i}"))).asked
            await play(coordinator, stream, time)
            before = state_of(stream)
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            assert state_of(coordinator.stream("one")) == before

    run(whole())


def state_of(stream):
    stored = stream.questions.dump()
    counts = (stored.asked, stored.told, stored.forgotten, stored.commented, sorted(stored.corrections))
    rounds = [stream.questions.find(round) for round in range(3)]
    return counts, [(each.disputed, each.closed, each.reviewed, each.label, each.skipped) for each in rounds]


async def listed(coordinator, stream, which):
    return [
        each.shown.question for each in (await review_queue.to_review(coordinator, stream, which, -1, 10)).questions
    ]


async def rows(coordinator, stream):
    async with coordinator.reading() as log:
        return [
            row for part in export_tables.chunks(log.reader, stream.number, "labels", 0, stream.seq) for row in part
        ]


def test_an_undone_decision_is_disputed_again(tmp_path):
    async def play(coordinator, stream, time):
        for who, label in (("ann", "a"), ("bob", "b")):
            await questions.answer(coordinator, stream, 0, who, label)
        time.now += 1.0
        coordinator.tick()
        assert await listed(coordinator, stream, "disputed") == [0]
        await questions.review(coordinator, stream, 0, "rae", "b", first=True)
        assert stream.questions.find(0).label == "b"
        assert await listed(coordinator, stream, "disputed") == []
        with pytest.raises(ConflictError, match="another reviewer has decided"):
            await questions.undo_review(coordinator, stream, 0, "roy")
        await questions.undo_review(coordinator, stream, 0, "rae", "once")
        await questions.undo_review(coordinator, stream, 0, "rae", "once")
        assert await listed(coordinator, stream, "disputed") == [0]
        assert stream.questions.find(0).label is None
        assert {(row["label"], row["reviewer"]) for row in await rows(coordinator, stream)} == {(None, None)}
        with pytest.raises(ConflictError, match="nothing to undo"):
            await questions.undo_review(coordinator, stream, 0, "rae")
        await questions.review(coordinator, stream, 0, "roy", "a", first=True)
        assert stream.questions.find(0).label == "a"

    played(tmp_path, play, slots=2)


@pytest.mark.parametrize("label", ["b", None])
def test_an_undone_decision_about_an_answered_question_gives_its_label_back(tmp_path, label):
    async def play(coordinator, stream, time):
        await questions.answer(coordinator, stream, 1, "ann", "a")
        time.now += 1.0
        coordinator.tick()
        await questions.review(coordinator, stream, 1, "rae", label)
        assert stream.questions.find(1).label == label
        await questions.undo_review(coordinator, stream, 1, "rae")
        found = stream.questions.find(1)
        assert (found.label, found.closed, found.reviewed) == ("a", True, False)
        assert stream.questions.stored.corrections == {}
        await questions.undo(coordinator, stream, 1, "ann")

    played(tmp_path, play)


def test_an_undone_decision_about_a_fresh_answer_leaves_what_the_answer_says(tmp_path):
    async def play(coordinator, stream, time):
        await questions.answer(coordinator, stream, 1, "ann", "a")
        await questions.review(coordinator, stream, 1, "rae", "b")
        await questions.undo_review(coordinator, stream, 1, "rae")
        assert stream.questions.find(1).label == "a"

    played(tmp_path, play, grace=60.0)


def test_what_everybody_skipped_goes_to_review_and_is_asked_again_after_an_undo(tmp_path):
    async def play(coordinator, stream, time):
        await questions.answer(coordinator, stream, 0, "bob", "a")
        await questions.skip(coordinator, stream, 1, "ann")
        assert await listed(coordinator, stream, "skipped") == []
        await questions.skip(coordinator, stream, 1, "bob")
        assert await listed(coordinator, stream, "skipped") == [1]
        await questions.review(coordinator, stream, 1, "rae", "b", first=True)
        assert await listed(coordinator, stream, "skipped") == []
        assert [
            (row["question"], row["annotator"], row["answer"], row["label"], row["reviewer"])
            for row in await rows(coordinator, stream)
        ] == [(0, "bob", "a", "a", None), (1, "rae", "b", "b", "rae")]
        await questions.undo_review(coordinator, stream, 1, "rae")
        assert await listed(coordinator, stream, "skipped") == [1]
        assert len(await rows(coordinator, stream)) == 1
        await questions.undo(coordinator, stream, 1, "bob")
        assert await listed(coordinator, stream, "skipped") == []
        await questions.answer(coordinator, stream, 1, "bob", "a")
        assert stream.questions.find(1).label == "a"

    played(tmp_path, play)


def test_who_has_not_been_here_for_a_week_keeps_nothing_from_review(tmp_path):
    async def play(coordinator, stream, time):
        await questions.answer(coordinator, stream, 0, "bob", "a")
        time.now += 8 * 86400.0
        await questions.skip(coordinator, stream, 1, "ann")
        assert await listed(coordinator, stream, "skipped") == [1]
        counts = await review_queue.counted(coordinator, stream)
        assert (counts.skipped.count, counts.disputed.count, counts.skipped.more) == (1, 0, False)

    played(tmp_path, play)


def test_a_skip_that_is_undone_holds_the_slot_and_is_refused_when_another_has_it(tmp_path):
    async def play(coordinator, stream, time):
        await questions.skip(coordinator, stream, 0, "ann")
        await questions.undo(coordinator, stream, 0, "ann", "key")
        assert (await questions.undo(coordinator, stream, 0, "ann", "key")).until == time.now + 300.0
        with pytest.raises(ConflictError, match="another annotator holds the slot"):
            await questions.answer(coordinator, stream, 0, "bob", "a")
        await questions.skip(coordinator, stream, 0, "ann")
        await questions.answer(coordinator, stream, 0, "bob", "a")
        with pytest.raises(ConflictError, match="all slots are filled"):
            await questions.undo(coordinator, stream, 0, "ann")
        assert stream.questions.stored.people.persons["ann"].skipped == 1

    played(tmp_path, play, grace=60.0)


def test_a_day_begins_where_the_annotator_says(tmp_path):
    async def play(coordinator, stream, time):
        time.now = 100 * 86400.0 - 1.0
        await questions.answer(coordinator, stream, 0, "ann", "a")
        time.now += 2.0
        await questions.answer(coordinator, stream, 1, "ann", "a")
        await questions.answer(coordinator, stream, 2, "ann", "a")
        since = 100 * 86400.0
        found = [
            (await questions.progress(coordinator, stream, "ann", each)).answers for each in (since, since - 1800.0)
        ]
        assert found == [2, 3]
        await questions.undo(coordinator, stream, 0, "ann")
        progress = await questions.progress(coordinator, stream, "ann", since)
        assert (progress.answers, progress.asked, progress.waiting) == (2, 3, 1)
        assert (await questions.progress(coordinator, stream, "ann", since - 1800.0)).answers == 2
        assert (await questions.progress(coordinator, stream, "eve", since)).answers == 0
        with pytest.raises(InputError, match="last two days"):
            await questions.progress(coordinator, stream, "ann", 0.0)

    played(tmp_path, play, grace=60.0)


def test_comments_are_read_by_reviewers_and_erased_with_the_instance(tmp_path):
    async def play(coordinator, stream, time):
        for text, key in (("is this about cards?", "k"), ("is this about cards?", "k"), ("or\nnot", None)):
            await comments.comment(coordinator, stream, 0, "ann", text, key)
        await comments.comment(coordinator, stream, 1, "ann", "another")
        with pytest.raises(InputError, match="a comment must be"):
            await comments.comment(coordinator, stream, 0, "ann", "  ")
        await questions.skip(coordinator, stream, 0, "ann")
        await questions.skip(coordinator, stream, 1, "ann")
        found = (await review_queue.to_review(coordinator, stream, "skipped", -1, 10)).questions
        assert [(each.name, each.text) for each in found[0].comments] == [
            ("ann", "is this about cards?"),
            ("ann", "or\nnot"),
        ]
        await erasing.erase(coordinator, stream, erasing.Which(rounds=[0]), "root")
        reader = coordinator.reader()
        left = [event.shown for event in reader.events(stream.number, 0, 100, ("commented",))]
        reader.close()
        assert left == [None, None, b'"another"']
        with pytest.raises(ConflictError, match="were erased"):
            await comments.comment(coordinator, stream, 0, "ann", "more")

    played(tmp_path, play, crash=False)


def test_names_of_comments_are_hidden_where_reviews_are_blind(tmp_path):
    async def play(coordinator, stream, time):
        await comments.comment(coordinator, stream, 0, "ann", "why?")
        await questions.skip(coordinator, stream, 0, "ann")
        found = (await review_queue.to_review(coordinator, stream, "skipped", -1, 10)).questions
        assert [(each.name, each.text) for each in found[0].comments] == [(None, "why?")]

    played(tmp_path, play, view=View(blind=True))
