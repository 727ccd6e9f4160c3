"""How good answers are: compared with what was decided without the person, also by second answers drawn at random."""

import contextlib
import random
from collections import Counter

import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.service.domain import weighting
from askwhen.service.domain.annotator_stats import WEEK
from askwhen.service.domain.questions import Question, is_overlap
from askwhen.service.errors import ConflictError
from askwhen.service.events.kinds import Disputed, Instance, Told
from askwhen.service.events.settings import Settings, check_settings
from askwhen.service.use_cases import instances, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import crowd_kit
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.test_question_commands import Annotation


def of(work, name):
    return work.state.stored.people.facts()[name]["quality"]


def test_an_answer_is_compared_with_those_of_all_others_and_what_is_undone_does_not_count():
    work = Annotation(questions=2, slots=3, grace=0.0)
    for who, label in (("ann", "a"), ("bob", "a"), ("cid", "b")):
        work.answer(0, who, label)
    work.later()
    assert (of(work, "ann")["judged"], of(work, "bob")["judged"]) == (0, 0)  # the two others differ
    assert (of(work, "cid")["same"], of(work, "cid")["judged"]) == (0, 1)
    work.undo("cid", 0)
    assert of(work, "cid")["judged"] == 0
    work.answer(0, "cid", "a")
    work.later()
    assert [of(work, who)["labels"] for who in ("ann", "bob", "cid")] == [{"a": {"same": 1, "judged": 1}}] * 3


def test_a_reviewer_counts_instead_of_others_and_never_for_their_own_answers():
    work = Annotation(questions=2, slots=2, grace=0.0)
    for who, label in (("ann", "a"), ("bob", "b")):
        work.answer(0, who, label)
    assert work.later() == [(0, Disputed())]
    assert [of(work, who)["judged"] for who in ("ann", "bob")] == [1, 1]
    work.do(work.commands.review(0, "bob", "b"))
    for each in list(work.commands.settled(work.state.open[0], "b", "")):
        work.do(each)
    assert of(work, "ann")["labels"] == {"b": {"same": 0, "judged": 1}}
    assert of(work, "bob")["judged"] == 0
    before = Question(**{name: getattr(work.closed[0], name) for name in Question.__struct_fields__})
    before.disputed, before.reviewed = True, False
    for each in work.commands.undo_review(0, "bob", before):
        work.do(each)
    assert [of(work, who)["labels"] for who in ("ann", "bob")] == [
        {"b": {"same": 0, "judged": 1}},
        {"a": {"same": 0, "judged": 1}},
    ]
    alone = Annotation(questions=1, grace=0.0)
    alone.answer(0, "ann", "a")
    alone.later()
    assert of(alone, "ann")["judged"] == 0
    alone.do(alone.commands.review(0, "rae", "a"))
    alone.do(next(iter(alone.commands.settled(alone.closed[0], "a", ""))))
    assert of(alone, "ann")["labels"] == {"a": {"same": 1, "judged": 1}}


def test_a_share_is_told_from_twenty_answers_on_and_while_its_interval_is_narrow():
    work = Annotation(questions=0, slots=2, grace=0.0)
    shares = []
    for i in range(60):
        work.state.add(Instance(i, "a", 0.5, 0.5, 0.1, True, "", i, 0.5), i + 1, work.now)
        work.answer(i, "ann", "a" if i % 10 else "b")
        work.answer(i, "bob", "a")
        work.later(WEEK / 7)
        shares.append(of(work, "ann"))
    first = next(i for i, each in enumerate(shares) if each["share"] is not None)
    assert first >= 20
    assert shares[first]["high"] - shares[first]["low"] <= 0.3 < shares[first - 1]["high"] - shares[first - 1]["low"]
    assert shares[-1]["share"] == 0.9
    assert shares[-1]["low"] < 0.9 < shares[-1]["high"]
    assert [week["judged"] for week in shares[-1]["weeks"]] == [7] * 8 + [4]
    assert sum(week["same"] for week in shares[-1]["weeks"]) == 54


def test_a_merged_label_is_the_same_label_and_numbers_count_as_near_or_far():
    work = Annotation(questions=1, slots=2, grace=0.0)
    work.answer(0, "ann", "a")
    work.answer(0, "bob", "b")
    work.later()
    assert of(work, "ann")["same"] == 0
    work.state.relabel("b", "a")
    assert of(work, "ann")["same"] == 1
    work.undo("ann", 0)
    assert of(work, "bob")["judged"] == 0
    work = Annotation(questions=2, slots=2, grace=0.0, labels="numbers", within=0.5)
    for round, other in enumerate(("1.4", "3")):
        work.answer(round, "ann", "1")
        work.answer(round, "bob", other)
        work.later()
    assert {key: of(work, "ann")[key] for key in ("same", "judged", "labels")} == {"same": 1, "judged": 2, "labels": {}}


def test_any_answers_undos_and_reviews_are_counted_as_if_counted_anew():
    draw = random.Random(1)
    for _ in range(30):
        work = Annotation(questions=12, slots=draw.choice((1, 2, 3)), grace=draw.choice((0.0, 5.0)))
        people = ["ann", "bob", "cid", "dan"]
        for _ in range(120):
            who, round = draw.choice(people), draw.randrange(12)
            question = work.state.find(round)
            given = {each.annotator for each in question.answers}
            if who not in given and not question.is_full:
                with contextlib.suppress(ConflictError):  # reviewed, or held by somebody who has undone an answer
                    work.answer(round, who, draw.choice("aab"))
            elif who in given and not question.reviewed and draw.random() < 0.3:
                work.undo(who, round)
            elif (question.told or question.disputed) and draw.random() < 0.3:
                label = draw.choice("ab")
                work.do(work.commands.review(round, draw.choice(people), label))
                for each in list(work.commands.settled(work.state.find(round), label, "")):
                    work.do(each)
            work.later(draw.choice((0.0, 1.0, 9.0)))
        expected = Counter()
        for round in range(12):
            question = work.state.find(round)
            for each in question.judged:
                expected[each.annotator, each.decided, each.given] += 1
            if question.closed and question.reviewed and question.label is not None:
                said = {each.annotator: each.label for each in question.answers if each.annotator != question.reviewer}
                assert {each.annotator: each.given for each in question.judged} == said
                assert all(each.decided == question.label for each in question.judged)
        counted = Counter()
        for name, person in work.state.stored.people.persons.items():
            for table in person.judged.values():
                for decided, line in table.items():
                    counted.update({(name, decided, given): n for given, n in line.items()})
        assert +counted == expected


def test_a_share_of_the_questions_gets_a_second_blind_answer_while_two_people_are_at_work(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        made = settings(overlap=0.3, grace=0.0, repeats=False, algorithm="random", letters={"rate": 1.0}, budget=None)
        seen = {}

        async def ask(coordinator, stream, i):
            found = await instances.play(coordinator, stream, Raw([float(i), 1.0]))
            seen[found.round] = len(stream.questions.find(found.round).slots)
            return found.round

        async with open_coordinator(path, time, crash=True) as coordinator:
            stream = await streams.create(coordinator, "mails", made)
            for i in range(20):
                await questions.answer(coordinator, stream, await ask(coordinator, stream, i), "ann", "ham")
            assert set(seen.values()) == {1}  # ann is alone
            await questions.answer(coordinator, stream, await ask(coordinator, stream, 20), "bob", "ham")
            for i in range(21, 120):
                await ask(coordinator, stream, i)
            assert {i: n - 1 for i, n in seen.items() if i > 20} == {i: is_overlap(7, i, 0.3) for i in range(21, 120)}
            twice = [i for i in range(21, 120) if seen[i] == 2]
            await questions.answer(coordinator, stream, twice[0], "ann", "ham")
            second = stream.questions.find(twice[0])
            assert (second.is_full, second.told) == (False, False)
            await questions.answer(coordinator, stream, twice[0], "bob", "spam")
            await questions.answer(coordinator, stream, twice[1], "ann", "ham")
            await questions.answer(coordinator, stream, twice[1], "bob", "ham")
            await coordinator.commits.settled()
            coordinator.tick()
            assert stream.questions.find(twice[0]).disputed
            await questions.review(coordinator, stream, twice[0], "rae", "spam")
            expected = await reports.agreement(coordinator, stream)
            assert expected["people"]["ann"]["quality"]["same"] == 1
            assert expected["people"]["bob"]["quality"]["same"] == 2
        async with open_coordinator(path, time) as coordinator:  # from the log alone
            stream = coordinator.streams["mails"]
            assert await reports.agreement(coordinator, stream) == expected
            assert {i: len(stream.questions.find(i).slots) for i in seen} == seen
            time.now += 2 * 86400.0  # nobody is at work any more
            later = [await ask(coordinator, stream, i) for i in range(120, 180)]
            assert {seen[i] for i in later} == {1}

    run(go())


def test_the_draw_has_its_share_and_what_is_no_share_is_refused():
    assert sum(is_overlap(3, i, 0.05) for i in range(20000)) == pytest.approx(1000, abs=130)
    assert not any(is_overlap(3, i, 0.0) for i in range(100))
    assert all(is_overlap(3, i, 1.0) for i in range(100))
    for wrong in (-0.1, 1.5, float("nan")):
        with pytest.raises(InputError, match="a share of the questions from 0 to 1"):
            check_settings(Settings(overlap=wrong))


def by_em(answers, K, rounds=50):
    """Dawid and Skene by expectation and maximisation over all answers at once: the label of each row."""
    T = np.array([np.bincount(line, minlength=K) for line in answers], float)
    T /= T.sum(1, keepdims=True)
    for _ in range(rounds):
        pi = np.stack([T.T @ np.eye(K)[answers[:, i]] + 1e-2 for i in range(answers.shape[1])])
        pi /= pi.sum(2, keepdims=True)
        logs = np.log(T.mean(0)) + sum(np.log(pi[i][:, answers[:, i]]).T for i in range(answers.shape[1]))
        T = np.exp(logs - logs.max(1, keepdims=True))
        T /= T.sum(1, keepdims=True)
    return T.argmax(1)


def test_answers_weigh_as_much_as_they_were_worth():
    (truth, said), (answers, by_crowd_kit) = crowd_kit.answered(), crowd_kit.stored()
    assert np.array_equal(said, answers)
    K, n = crowd_kit.LABELS, len(said)
    labels = ["a", "b", "c"]
    work = {how: Annotation(questions=0, slots=3, grace=0.0, decide=how) for how in ("weighted", "majority")}
    decided = {how: np.full(n, -1) for how in work}
    for i in range(n):
        for how, each in work.items():
            each.state.add(Instance(i, "a", 0.5, 0.5, 0.1, True, "", i, 0.5), i + 1, each.now)
            for who, label in zip(("ann", "bob", "cid"), said[i].tolist(), strict=True):
                each.answer(i, who, labels[label])
            each.later()
            if each.state.find(i).disputed:
                each.do(each.commands.review(i, "rae", labels[truth[i]]))
                for fact in list(each.commands.settled(each.state.open[i], labels[truth[i]], "")):
                    each.do(fact)
            else:
                decided[how][i] = labels.index(each.state.find(i).label)
    late = slice(100, n)
    by_itself = {how: (found[late] >= 0).mean() for how, found in decided.items()}
    wrong_of = {how: ((found != truth) & (found >= 0))[late].mean() for how, found in decided.items()}
    assert wrong_of["weighted"] < 0.6 * wrong_of["majority"]
    assert by_itself["weighted"] > by_itself["majority"] - 0.05
    best = by_em(said, K)
    taken = np.flatnonzero(decided["weighted"] >= 0)
    assert (decided["weighted"] == best)[taken].mean() > 0.97  # one pass, beside all passes over all answers
    assert np.array_equal(best, by_crowd_kit)
    assert (decided["weighted"] == by_crowd_kit)[taken].mean() > 0.97


def test_probabilities_are_those_of_the_formula():
    judged = Counter({("a", "a"): 6, ("a", "b"): 2, ("b", "b"): 3})
    accuracy = (9 + 4 * 0.8) / (11 + 4)
    said_a = (6 + 4 * accuracy) / (8 + 4), (0 + 4 * (1 - accuracy)) / (3 + 4)
    other_b = 0.2, 0.8  # nothing is known of bob
    both = [said_a[0] * other_b[0], said_a[1] * other_b[1]]
    found = weighting.probabilities([("ann", "a"), ("bob", "b")], {"ann": judged}, ["a", "b"])
    assert found == pytest.approx([each / sum(both) for each in both], rel=1e-12)


def test_weights_decide_where_they_are_clear_and_are_refused_where_they_mean_nothing():
    work = Annotation(questions=1, slots=2, grace=0.0, decide="weighted")
    work.answer(0, "ann", "a")
    work.answer(0, "bob", "b")
    assert work.later() == [(0, Disputed())]  # both are as good as anybody
    work = Annotation(questions=1, slots=2, grace=0.0, decide="weighted")
    for name, same in (("ann", 60), ("bob", 20)):
        work.state.stored.people.person(name).judged[0] = {"a": {"a": same, "b": 60 - same}, "c": {"c": same}}
    work.answer(0, "ann", None)
    work.answer(0, "bob", "b")
    assert work.later() == [(0, Told("b"))]  # nobody says anything else
    work = Annotation(questions=1, slots=2, grace=0.0, decide="weighted")
    for name, same in (("ann", 60), ("bob", 20)):
        work.state.stored.people.person(name).judged[0] = {"a": {"a": same, "b": 60 - same}, "c": {"c": same}}
    work.answer(0, "ann", "a")
    work.answer(0, "bob", "c")
    assert work.later() == [(0, Told("a"))]
    for given in ({"several": True}, {"labels": "numbers", "within": 1.0}):
        with pytest.raises(InputError, match="weighted is for answers of one label"):
            check_settings(Settings(decide="weighted", **given))
