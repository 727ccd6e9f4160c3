"""Instances whose content was answered before: they take that answer, as rounds that ask for certain at no cost."""

import numpy as np
import pytest

from askwhen.service.events.kinds import Instance, encoded, facts_of
from askwhen.service.events.settings import Budget
from askwhen.service.use_cases import erasing, instances, label_changes, questions, replaying, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

MANY = np.random.default_rng(4).standard_normal((60, 3)).round(6)
EACH = 5


def made_of(**given):
    return settings(**({"algorithm": "perceptron", "budget": Budget(rate=0.2), "repeats": True} | given))


def truth(x):
    return "spam" if x[0] > 0.0 else "ham"


def log_of(coordinator, stream):
    reader = coordinator.reader()
    found = reader.events(stream.number, 0, 1 << 40)
    reader.close()
    return found


async def answer_all(coordinator, stream, time, who="ann"):
    while (shown := await questions.next_question(coordinator, stream, who)) is not None:
        await questions.answer(coordinator, stream, shown.question, who, truth(shown.x))
        time.now += 1.0
    time.now += 30.0
    coordinator.tick()
    await coordinator.commits.settled()


async def copies(coordinator, stream, time, seed=0):
    """Every instance comes five times, in random order."""
    for x in np.random.default_rng(seed).permutation(np.repeat(MANY, EACH, axis=0)):
        await instances.play(coordinator, stream, Raw(x.tolist()))
        await answer_all(coordinator, stream, time)


def stored(stream):
    return *stream.dump()[:2], bits(stream.model.sampler)


def on_database(tmp_path, play, **given):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        async with open_coordinator(path, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "one", made_of(**given))
            await play(coordinator, stream, time)
            expected = stored(stream)
        for crash in (True, False, False):
            async with open_coordinator(path, time, crash=crash) as coordinator:
                assert stored(coordinator.streams["one"]) == expected

    run(go())


@pytest.mark.parametrize("mode", ["live", "backlog"])
def test_copies_are_answered_and_cost_nothing(tmp_path, mode):
    async def play(coordinator, stream, time):
        await copies(coordinator, stream, time)
        while len(stream.backlog):
            coordinator.tick()
            await answer_all(coordinator, stream, time)
        events = log_of(coordinator, stream)
        rounds = [facts_of(each) for each in events if each.kind == "instance"]
        asked = [each for each in rounds if each.is_question]
        repeated = [each for each in rounds if each.repeats is not None]
        assert len(rounds) == len(MANY) * EACH
        assert len(repeated) > len(asked) > 20
        assert all((each.asked, each.probability, each.why) == (True, 1.0, "answered before") for each in repeated)
        rows = {facts_of(each).round: each.row for each in events if each.kind == "instance"}
        assert all(rows[each.round] == rows[each.repeats] for each in repeated)
        # Everything that was asked was answered at once, so that no content is asked about twice.
        assert len({rows[each.round] for each in asked}) == len(asked)
        facts = streams.facts(stream)
        assert (facts["asked"], facts["told"], facts["waiting"]) == (len(asked), len(asked), 0)
        report = await reports.report(coordinator, stream, 0.95)
        assert report["accuracy"]["copies"] == len(repeated)
        assert report["accuracy"]["answered"] == len(asked) + len(repeated)
        right = np.mean([each.prediction == truth(np.frombuffer(rows[each.round][1:])) for each in rounds])
        assert report["accuracy"]["overall"]["low"] <= right <= report["accuracy"]["overall"]["high"]
        history.check(events)
        library = Library(stream.settings)
        library.follow(events)
        assert bits(library.sampler) == bits(stream.model.sampler)

    on_database(tmp_path, play, mode=mode)


def test_a_budget_of_so_many_is_not_spent_by_copies(tmp_path):
    async def play(coordinator, stream, time):
        await copies(coordinator, stream, time)
        assert streams.facts(stream)["asked"] == 10
        assert stream.questions.stored.copies > 25
        assert (await reports.report(coordinator, stream, 0.95))["accuracy"]["unobserved"] > 0

    on_database(tmp_path, play, budget=Budget(rate=1.0, most=10))


def test_without_the_setting_every_copy_is_an_instance_like_others(tmp_path):
    async def play(coordinator, stream, time):
        await copies(coordinator, stream, time)
        assert stream.questions.stored.copies == 0
        assert not stream.questions.stored.answered
        assert all(facts_of(each).repeats is None for each in log_of(coordinator, stream) if each.kind == "instance")
        await streams.change_settings(coordinator, "one", {"repeats": True}, "root")
        await copies(coordinator, stream, time, 1)
        assert stream.questions.stored.copies > 0  # of what was answered since

    on_database(tmp_path, play, repeats=False)


def test_new_streams_have_it(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            return (await streams.create(coordinator, "one", made_of(repeats=None))).settings.repeats

    assert run(go())


async def one_asked(coordinator, stream, time):
    """A question that was answered, as its decision and its instance."""
    for x in MANY:
        found = await instances.play(coordinator, stream, Raw(x.tolist(), "first"))
        if found.asked:
            await answer_all(coordinator, stream, time)
            return found, x
    raise AssertionError("nothing was asked")


def test_only_an_answer_that_stands_is_taken(tmp_path):
    async def play(coordinator, stream, time):
        first, x = await one_asked(coordinator, stream, time)
        other = await instances.play(coordinator, stream, Raw(x.tolist(), "copy"))
        assert (other.asked, other.question, other.repeats, other.label) == (False, None, first.round, truth(x))
        again = await instances.play(coordinator, stream, Raw(x.tolist(), "copy"))
        assert facts_in(again) == facts_in(other) | {"again": True}
        # People see another instance, though the model does not.
        shown = await instances.play(coordinator, stream, Raw(x.tolist(), show={"text": "other"}))
        assert shown.repeats is None
        await questions.review(coordinator, stream, first.round, "eve", "other")
        corrected = await instances.play(coordinator, stream, Raw(x.tolist()))
        assert corrected.label == "other"
        await label_changes.rename(coordinator, stream, "other", "third", "root")
        assert (await instances.play(coordinator, stream, Raw(x.tolist()))).label == "third"
        await replaying.replay(coordinator, stream, "root")
        await questions.review(coordinator, stream, first.round, "eve", None)
        assert (await instances.play(coordinator, stream, Raw(x.tolist()))).repeats is None

    on_database(tmp_path, play, labels=["ham", "spam", "other"], budget=Budget(rate=1.0))


def facts_in(decision):
    return {name: getattr(decision, name) for name in decision.__struct_fields__}


def test_erased_contents_are_not_known_again(tmp_path):
    async def play(coordinator, stream, time):
        first, x = await one_asked(coordinator, stream, time)
        await erasing.erase(coordinator, stream, erasing.Which(rounds=[first.round]), "root")
        assert not stream.questions.stored.answered
        assert (await instances.play(coordinator, stream, Raw(x.tolist()))).repeats is None

    on_database(tmp_path, play, budget=Budget(rate=1.0))


def test_a_reviewer_may_decide_a_copy_and_an_annotator_may_not(tmp_path):
    async def play(coordinator, stream, time):
        _, x = await one_asked(coordinator, stream, time)
        copy = await instances.play(coordinator, stream, Raw(x.tolist()))
        with pytest.raises(Exception, match="cannot be taken"):
            await questions.answer(coordinator, stream, copy.round, "bob", "ham")
        await questions.review(coordinator, stream, copy.round, "eve", "ham")
        assert (await questions.show(coordinator, stream, copy.round)).label == "ham"

    on_database(tmp_path, play, budget=Budget(rate=1.0))


def test_a_fact_without_a_copy_is_written_as_before():
    fact = Instance(0, "ham", 1.0, 0.5, 0.2, True, "worth asking", 0)
    assert "repeats" not in encoded(fact)
