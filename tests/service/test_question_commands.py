"""Questions, slots, leases, answers, undo: who may do what, and what the model is told."""

import pytest

from askwhen.errors import InputError
from askwhen.service.domain.question_commands import MOST_LEASES, QuestionCommands
from askwhen.service.domain.question_state import QuestionState
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.kinds import Corrected, Disputed, Forgotten, Instance, Leased, Told
from askwhen.service.events.settings import MOST_OPEN, Settings


class Annotation:
    """The questions of a stream, open and closed, with a clock of their own."""

    def __init__(self, questions=3, **given):
        self.closed, self.now = {}, 0.0
        given.setdefault("labels", ["a", "b", "c"])
        self.state = QuestionState(Settings(**given), self.closed.get)
        self.commands = QuestionCommands(self.state)
        for i in range(questions):
            self.state.add(Instance(i, "a", 0.5 - i, 0.5, 0.1, True, "", i, 0.5 + 0.1 * i, priority=i % 3), i + 1, 0.0)

    def do(self, outcome):
        round, fact = outcome
        self.closed[round] = self.state.apply(round, fact, self.now)
        return outcome

    def next(self, who, device=""):
        found = self.commands.next(who, self.now, device)
        return None if found is None else self.do(found)[0]

    def answer(self, round, who, label="a"):
        return self.do(self.commands.answer(round, who, label, self.now))

    def undo(self, who, round=None):
        round, fact = self.do(self.commands.undo(round, who, self.now))
        return fact.told, [self.do(self.commands.after_undo(self.state.open[round]))[1]] if fact.told else []

    def later(self, seconds=0.0):
        self.now += seconds
        return [self.do(each) for each in self.commands.due(self.now)]


@pytest.mark.parametrize(("order", "rounds"), [("oldest", [0, 1, 2]), ("valuable", [0, 1, 2]), ("priority", [2, 1, 0])])
def test_questions_come_in_the_order_of_the_stream(order, rounds):
    work = Annotation(order=order)
    assert [work.next(who) for who in ("ann", "bob", "cid", "dan")] == [*rounds, None]


def test_the_least_certain_is_the_most_valuable():
    work = Annotation(questions=0, order="valuable")
    for i, certainty in enumerate([0.9, 0.5, 0.7]):
        work.state.add(Instance(i, "a", 0.1, 0.5, 0.1, True, "", i, certainty), i + 1, 0.0)
    assert [work.next(who) for who in ("ann", "bob", "cid")] == [1, 2, 0]


def test_one_person_gets_each_question_once_and_at_the_limit_the_oldest_again():
    work = Annotation(questions=5)
    assert [work.next("ann") for _ in range(MOST_LEASES + 1)] == [0, 1, 2, 0]


def test_two_devices_of_one_person_never_get_the_same_question():
    work = Annotation(questions=20)
    phone = [work.next("ann", "phone") for _ in range(MOST_LEASES)]
    tablet = [work.next("ann", "tablet") for _ in range(MOST_LEASES)]
    assert phone + tablet == [0, 1, 2, 3, 4, 5]
    work.now += 1.0
    work.do(work.commands.renew(0, "ann", work.now))
    assert [work.next("ann", "tablet"), work.next("ann", "phone")] == [3, 1]  # each the oldest of its own
    assert [work.next("ann", "third") for _ in range(MOST_LEASES)] == [6, 7, 8]
    assert work.next("ann", "fourth") is None
    assert work.next("ann", "third") == 6
    work.answer(0, "ann")
    assert work.next("ann", "fourth") == 9


def test_a_lease_ends_and_the_slot_goes_to_the_next():
    work = Annotation(questions=1, lease=60.0)
    assert work.next("ann") == 0
    assert work.next("bob") is None
    work.now = 60.0
    assert work.next("bob") == 0
    with pytest.raises(ConflictError, match="the question cannot be taken: another annotator holds the slot now"):
        work.answer(0, "ann")
    work.answer(0, "bob")
    with pytest.raises(ConflictError, match="all slots are filled"):
        work.answer(0, "ann")


def test_an_answer_after_the_lease_is_taken_while_the_slot_is_free():
    work = Annotation(questions=1, lease=60.0)
    work.next("ann")
    work.now = 500.0
    work.answer(0, "ann")
    assert work.next("bob") is None


def test_a_lease_is_renewed_and_given_back():
    work = Annotation(questions=1, lease=60.0)
    work.next("ann")
    work.now = 50.0
    assert work.do(work.commands.renew(0, "ann", work.now)) == (0, Leased(0, "ann", 110.0))
    work.now = 100.0
    assert work.next("bob") is None
    work.do(work.commands.release(0, "ann", work.now))
    assert work.next("bob") == 0
    with pytest.raises(ConflictError, match="ann holds no slot"):
        work.commands.release(0, "ann", work.now)


def test_a_skip_concerns_that_person_alone():
    work = Annotation(questions=1)
    work.next("ann")
    work.do(work.commands.skip(0, "ann", work.now))
    assert work.next("ann") is None
    with pytest.raises(ConflictError, match="ann has skipped this question; undo that first"):
        work.answer(0, "ann")
    assert work.next("bob") == 0


def test_nobody_has_two_slots():
    work = Annotation(questions=1, slots=2)
    assert work.next("ann") == 0
    assert work.next("ann") is None
    work.answer(0, "ann")
    assert work.next("ann") is None
    with pytest.raises(ConflictError, match="ann has answered this question already"):
        work.answer(0, "ann", "b")
    assert work.next("bob") == 0


def test_the_model_is_told_after_the_grace_or_by_the_next_answer_but_one():
    work = Annotation(questions=4, grace=20.0)
    for i in range(3):
        work.answer(i, "ann")
        assert work.later() == ([] if i < 2 else [(0, Told("a"))])
    assert work.later(19.0) == []
    assert work.later(1.0) == [(1, Told("a")), (2, Told("a"))]
    assert work.state.open.keys() == {3}


def test_without_grace_the_model_is_told_at_once():
    work = Annotation(questions=1, grace=0.0)
    work.answer(0, "ann", "b")
    assert work.later() == [(0, Told("b"))]


def test_an_undo_within_the_grace_changes_nothing_that_was_learnt():
    work = Annotation(questions=1, grace=20.0)
    work.answer(0, "ann", "a")
    assert work.undo("ann") == (False, [])
    assert work.later(100.0) == []
    assert work.next("bob") is None, "the slot is held for another answer"
    work.answer(0, "ann", "b")
    assert work.later(20.0) == [(0, Told("b"))]
    assert work.state.stored.corrections == {}


def test_an_undo_after_it_is_a_correction():
    work = Annotation(questions=1, grace=20.0)
    work.answer(0, "ann", "a")
    work.later(20.0)
    assert work.undo("ann", 0) == (True, [Corrected(None)])
    correction = work.state.stored.corrections[0]
    assert (correction.model, correction.label) == ("a", None)
    work.answer(0, "ann", "b")
    assert work.later(20.0) == [(0, Corrected("b"))]
    assert work.state.stored.corrections[0].label == "b"
    assert work.state.open == {}
    work.undo("ann", 0)
    work.answer(0, "ann", "a")
    assert work.later(20.0) == [(0, Corrected("a"))]
    assert work.state.stored.corrections == {}, "it is what the model was told"


def test_there_must_be_something_to_undo():
    work = Annotation()
    for round in (None, 1):
        with pytest.raises(ConflictError, match="ann has no"):
            work.undo("ann", round)
    with pytest.raises(NotFoundError, match="round 7 has no question"):
        work.undo("ann", 7)


@pytest.mark.parametrize(
    ("decide", "labels", "told"),
    [
        ("majority", ["a", "b", "a"], Told("a")),
        ("majority", ["a", "b", "c"], Disputed()),
        ("majority", ["a", "b", None], Disputed()),
        ("majority", [None, None, "c"], Told("c")),
        ("majority", [None, None, None], Forgotten("every annotator was unsure")),
        ("unanimity", ["a", "a", None], Told("a")),
        ("unanimity", ["a", "a", "b"], Disputed()),
        ("adjudicator", ["a", "a", "a"], Disputed()),
    ],
)
def test_several_answers_decide(decide, labels, told):
    work = Annotation(questions=1, slots=3, decide=decide)
    for who, label in zip(("ann", "bob", "cid"), labels, strict=True):
        assert work.later(30.0) == []
        work.answer(0, who, label)
    assert work.later(20.0) == [(0, told)]
    assert work.later(1000.0) == []


def test_a_reviewer_decides_what_is_disputed_and_may_correct_the_rest():
    work = Annotation(questions=2, slots=2)
    for who, label in (("ann", "a"), ("bob", "b")):
        work.answer(0, who, label)
        work.answer(1, who, "a")
    assert work.later(20.0) == [(0, Disputed()), (1, Told("a"))]
    for round, label, told in ((0, "c", Told("c")), (1, "b", Corrected("b"))):
        work.do(work.commands.review(round, "rita", label))
        question = work.state.open[round]
        assert [work.do(each)[1] for each in work.commands.settled(question, label, "")] == [told]
    assert work.state.open == {}
    assert work.state.stored.corrections.keys() == {1}


def test_questions_expire_unless_somebody_holds_them():
    work = Annotation(questions=2, forget=100.0, lease=60.0)
    work.now = 80.0
    assert work.next("ann") == 0
    assert work.later(20.0) == [(1, Forgotten("it expired without an answer"))]
    assert work.later(39.0) == []
    assert work.later(1.0) == [(0, Forgotten("it expired without an answer"))]
    with pytest.raises(ConflictError, match="the question is closed: it expired without an answer"):
        work.answer(0, "ann")


def test_a_question_that_expires_half_answered_is_decided_by_what_is_there():
    work = Annotation(questions=1, slots=3, forget=100.0)
    work.answer(0, "ann", "b")
    assert work.later(100.0) == [(0, Told("b"))]
    with pytest.raises(ConflictError, match="it was decided when its time was over"):
        work.answer(0, "bob")


def test_agreement_counts_full_questions_and_forgets_what_was_undone():
    work = Annotation(questions=3, slots=2, grace=0.0)
    for round, labels in enumerate((("a", "a"), ("a", "b"), ("b", "b"))):
        work.answer(round, "ann", labels[0])
        work.answer(round, "bob", labels[1])
        work.later()
    before = work.state.stored.people.agreement()
    assert before["pairs"][0] == {"annotators": ["ann", "bob"], "questions": 3, "same": 2, "cohen": 0.4}
    work.undo("bob", 1)
    assert work.state.stored.people.agreement()["krippendorff"] == 1.0
    work.answer(1, "bob", "b")
    work.later()
    assert work.state.stored.people.agreement() == before


def test_open_labels_come_to_be_as_they_are_given():
    work = Annotation(questions=2, labels="open")
    for label, said in (("", "a printable text"), ("x" * 300, "a printable text"), ("a\nb", "a printable text")):
        with pytest.raises(InputError, match=said):
            work.state.check_label(label, "answer")
    work.state.check_label("new", "answer")
    work.answer(0, "ann", "new")
    assert work.state.labels == ["new"]
    work.state.stored.labels = [str(i) for i in range(MOST_OPEN)]
    work.state.check_label("7", "answer")
    with pytest.raises(InputError, match="the stream already has 100 labels, and 'more' is not one of them"):
        work.state.check_label("more", "answer")


def test_an_undo_lets_a_question_expire_all_the_same():
    work = Annotation(questions=1, forget=1.0, lease=1.0)
    work.next("ann")
    work.answer(0, "ann")
    assert work.later(1.5) == []
    work.undo("ann")
    assert work.later(1.5) == [(0, Forgotten("it expired without an answer"))]


def test_what_can_still_be_undone_is_not_told_when_a_question_expires():
    work = Annotation(questions=1, slots=3, forget=2.0, grace=20.0)
    work.now = 1.3
    work.answer(0, "ann", "b")
    assert work.later(1.2) == []
    assert work.undo("ann", 0) == (False, [])
    work.answer(0, "ann", "c")
    assert work.later(20.0) == [(0, Told("c"))]


def test_a_few_answers_reach_the_adjudicator_when_a_question_expires():
    work = Annotation(questions=1, slots=3, decide="adjudicator", forget=5.0, grace=0.0)
    work.answer(0, "ann", "a")
    work.answer(0, "bob", "a")
    assert work.later(6.0) == [(0, Disputed())]
    assert work.next("cid") is None
    with pytest.raises(ConflictError, match="waits for a reviewer"):
        work.answer(0, "cid")
    again = QuestionState(work.state.settings, work.closed.get, work.state.dump())
    assert QuestionCommands(again).next("cid", work.now) is None
    work.do(work.commands.review(0, "rev", "b"))
    assert list(work.commands.settled(work.state.open[0], "b", "")) == [(0, Told("b"))]


def test_annotators_do_not_overrule_a_reviewer():
    work = Annotation(questions=1, grace=0.0)
    work.answer(0, "ann", "a")
    assert work.later() == [(0, Told("a"))]
    work.do(work.commands.review(0, "rev", "b"))
    with pytest.raises(ConflictError, match="a reviewer has decided"):
        work.commands.undo(0, "ann", work.now)
    with pytest.raises(ConflictError, match="a reviewer has decided"):
        work.commands.answer(0, "bob", "a", work.now)
