"""Questions, slots, leases, answers, undo: who may do what, and what the model is told."""

import pytest

from askwhen.errors import InputError
from askwhen.service.domain.question_commands import MOST_LEASES, Books
from askwhen.service.errors import ConflictError, NotFoundError
from askwhen.service.events.kinds import Corrected, Disputed, Forgotten, Instance, Leased, Told
from askwhen.service.events.settings import MOST_OPEN, Settings


class Desk:
    """Books that remember closed questions, with a clock of their own."""

    def __init__(self, questions=3, **given):
        self.closed, self.now = {}, 0.0
        given.setdefault("labels", ["a", "b", "c"])
        self.books = Books(Settings(**given), self.closed.get)
        for i in range(questions):
            self.books.open(Instance(i, "a", 0.5 - i, 0.5, 0.1, True, "", i, 0.5 + 0.1 * i, priority=i % 3), i + 1, 0.0)

    def do(self, happening):
        round, fact = happening
        self.closed[round] = self.books.apply(round, fact, self.now)
        return happening

    def next(self, who, device=""):
        found = self.books.next(who, self.now, device)
        return None if found is None else self.do(found)[0]

    def answer(self, round, who, label="a"):
        return self.do(self.books.answer(round, who, label, self.now))

    def undo(self, who, round=None):
        round, fact = self.do(self.books.undo(round, who, self.now))
        return fact.told, [self.do(self.books.after_undo(self.books.questions[round]))[1]] if fact.told else []

    def later(self, seconds=0.0):
        self.now += seconds
        return [self.do(each) for each in self.books.due(self.now)]


@pytest.mark.parametrize(("order", "rounds"), [("oldest", [0, 1, 2]), ("valuable", [0, 1, 2]), ("priority", [2, 1, 0])])
def test_questions_come_in_the_order_of_the_stream(order, rounds):
    desk = Desk(order=order)
    assert [desk.next(who) for who in ("ann", "bob", "cid", "dan")] == [*rounds, None]


def test_the_least_certain_is_the_most_valuable():
    desk = Desk(questions=0, order="valuable")
    for i, certainty in enumerate([0.9, 0.5, 0.7]):
        desk.books.open(Instance(i, "a", 0.1, 0.5, 0.1, True, "", i, certainty), i + 1, 0.0)
    assert [desk.next(who) for who in ("ann", "bob", "cid")] == [1, 2, 0]


def test_one_person_gets_each_question_once_and_at_the_limit_the_oldest_again():
    desk = Desk(questions=5)
    assert [desk.next("ann") for _ in range(MOST_LEASES + 1)] == [0, 1, 2, 0]


def test_two_devices_of_one_person_never_get_the_same_question():
    desk = Desk(questions=20)
    phone = [desk.next("ann", "phone") for _ in range(MOST_LEASES)]
    tablet = [desk.next("ann", "tablet") for _ in range(MOST_LEASES)]
    assert phone + tablet == [0, 1, 2, 3, 4, 5]
    desk.now += 1.0
    desk.do(desk.books.renew(0, "ann", desk.now))
    assert [desk.next("ann", "tablet"), desk.next("ann", "phone")] == [3, 1]  # each the oldest of its own
    assert [desk.next("ann", "third") for _ in range(MOST_LEASES)] == [6, 7, 8]
    assert desk.next("ann", "fourth") is None
    assert desk.next("ann", "third") == 6
    desk.answer(0, "ann")
    assert desk.next("ann", "fourth") == 9


def test_a_lease_ends_and_the_slot_goes_to_the_next():
    desk = Desk(questions=1, lease=60.0)
    assert desk.next("ann") == 0
    assert desk.next("bob") is None
    desk.now = 60.0
    assert desk.next("bob") == 0
    with pytest.raises(ConflictError, match="the question cannot be taken: somebody else holds the slot by now"):
        desk.answer(0, "ann")
    desk.answer(0, "bob")
    with pytest.raises(ConflictError, match="all slots are filled"):
        desk.answer(0, "ann")


def test_an_answer_after_the_lease_is_taken_while_the_slot_is_free():
    desk = Desk(questions=1, lease=60.0)
    desk.next("ann")
    desk.now = 500.0
    desk.answer(0, "ann")
    assert desk.next("bob") is None


def test_a_lease_is_renewed_and_given_back():
    desk = Desk(questions=1, lease=60.0)
    desk.next("ann")
    desk.now = 50.0
    assert desk.do(desk.books.renew(0, "ann", desk.now)) == (0, Leased(0, "ann", 110.0))
    desk.now = 100.0
    assert desk.next("bob") is None
    desk.do(desk.books.release(0, "ann", desk.now))
    assert desk.next("bob") == 0
    with pytest.raises(ConflictError, match="ann holds no slot"):
        desk.books.release(0, "ann", desk.now)


def test_a_skip_is_final_for_that_person_alone():
    desk = Desk(questions=1)
    desk.next("ann")
    desk.do(desk.books.skip(0, "ann", desk.now))
    assert desk.next("ann") is None
    with pytest.raises(ConflictError, match="ann has skipped this question, which is final"):
        desk.answer(0, "ann")
    assert desk.next("bob") == 0


def test_nobody_has_two_slots():
    desk = Desk(questions=1, slots=2)
    assert desk.next("ann") == 0
    assert desk.next("ann") is None
    desk.answer(0, "ann")
    assert desk.next("ann") is None
    with pytest.raises(ConflictError, match="ann has answered this question already"):
        desk.answer(0, "ann", "b")
    assert desk.next("bob") == 0


def test_the_model_is_told_after_the_grace_or_by_the_next_answer_but_one():
    desk = Desk(questions=4, grace=20.0)
    for i in range(3):
        desk.answer(i, "ann")
        assert desk.later() == ([] if i < 2 else [(0, Told("a"))])
    assert desk.later(19.0) == []
    assert desk.later(1.0) == [(1, Told("a")), (2, Told("a"))]
    assert desk.books.questions.keys() == {3}


def test_without_grace_the_model_is_told_at_once():
    desk = Desk(questions=1, grace=0.0)
    desk.answer(0, "ann", "b")
    assert desk.later() == [(0, Told("b"))]


def test_an_undo_within_the_grace_changes_nothing_that_was_learnt():
    desk = Desk(questions=1, grace=20.0)
    desk.answer(0, "ann", "a")
    assert desk.undo("ann") == (False, [])
    assert desk.later(100.0) == []
    assert desk.next("bob") is None, "the slot is held for another answer"
    desk.answer(0, "ann", "b")
    assert desk.later(20.0) == [(0, Told("b"))]
    assert desk.books.kept.corrections == {}


def test_an_undo_after_it_is_a_correction():
    desk = Desk(questions=1, grace=20.0)
    desk.answer(0, "ann", "a")
    desk.later(20.0)
    assert desk.undo("ann", 0) == (True, [Corrected(None)])
    correction = desk.books.kept.corrections[0]
    assert (correction.model, correction.label) == ("a", None)
    desk.answer(0, "ann", "b")
    assert desk.later(20.0) == [(0, Corrected("b"))]
    assert desk.books.kept.corrections[0].label == "b"
    assert desk.books.questions == {}
    desk.undo("ann", 0)
    desk.answer(0, "ann", "a")
    assert desk.later(20.0) == [(0, Corrected("a"))]
    assert desk.books.kept.corrections == {}, "it is what the model was told"


def test_there_must_be_something_to_undo():
    desk = Desk()
    for round in (None, 1):
        with pytest.raises(ConflictError, match="ann has no"):
            desk.undo("ann", round)
    with pytest.raises(NotFoundError, match="round 7 has no question"):
        desk.undo("ann", 7)


@pytest.mark.parametrize(
    ("decide", "labels", "told"),
    [
        ("majority", ["a", "b", "a"], Told("a")),
        ("majority", ["a", "b", "c"], Disputed()),
        ("majority", ["a", "b", None], Disputed()),
        ("majority", [None, None, "c"], Told("c")),
        ("majority", [None, None, None], Forgotten("nobody was sure")),
        ("unanimity", ["a", "a", None], Told("a")),
        ("unanimity", ["a", "a", "b"], Disputed()),
        ("adjudicator", ["a", "a", "a"], Disputed()),
    ],
)
def test_several_answers_decide(decide, labels, told):
    desk = Desk(questions=1, slots=3, decide=decide)
    for who, label in zip(("ann", "bob", "cid"), labels, strict=True):
        assert desk.later(30.0) == []
        desk.answer(0, who, label)
    assert desk.later(20.0) == [(0, told)]
    assert desk.later(1000.0) == []


def test_a_reviewer_decides_what_is_disputed_and_may_correct_the_rest():
    desk = Desk(questions=2, slots=2)
    for who, label in (("ann", "a"), ("bob", "b")):
        desk.answer(0, who, label)
        desk.answer(1, who, "a")
    assert desk.later(20.0) == [(0, Disputed()), (1, Told("a"))]
    for round, label, told in ((0, "c", Told("c")), (1, "b", Corrected("b"))):
        desk.do(desk.books.review(round, "rita", label))
        question = desk.books.questions[round]
        assert [desk.do(each)[1] for each in desk.books.settled(question, label, "")] == [told]
    assert desk.books.questions == {}
    assert desk.books.kept.corrections.keys() == {1}


def test_questions_expire_unless_somebody_holds_them():
    desk = Desk(questions=2, forget=100.0, lease=60.0)
    desk.now = 80.0
    assert desk.next("ann") == 0
    assert desk.later(20.0) == [(1, Forgotten("it expired without an answer"))]
    assert desk.later(39.0) == []
    assert desk.later(1.0) == [(0, Forgotten("it expired without an answer"))]
    with pytest.raises(ConflictError, match="the question is closed: it expired without an answer"):
        desk.answer(0, "ann")


def test_a_question_that_expires_half_answered_is_decided_by_what_is_there():
    desk = Desk(questions=1, slots=3, forget=100.0)
    desk.answer(0, "ann", "b")
    assert desk.later(100.0) == [(0, Told("b"))]
    with pytest.raises(ConflictError, match="it was decided when its time was over"):
        desk.answer(0, "bob")


def test_agreement_counts_full_questions_and_forgets_what_was_undone():
    desk = Desk(questions=3, slots=2, grace=0.0)
    for round, labels in enumerate((("a", "a"), ("a", "b"), ("b", "b"))):
        desk.answer(round, "ann", labels[0])
        desk.answer(round, "bob", labels[1])
        desk.later()
    before = desk.books.kept.people.agreement()
    assert before["pairs"][0] == {"annotators": ["ann", "bob"], "questions": 3, "same": 2, "cohen": 0.4}
    desk.undo("bob", 1)
    assert desk.books.kept.people.agreement()["krippendorff"] == 1.0
    desk.answer(1, "bob", "b")
    desk.later()
    assert desk.books.kept.people.agreement() == before


def test_open_labels_come_to_be_as_they_are_given():
    desk = Desk(questions=2, labels="open")
    for label, said in (("", "a printable text"), ("x" * 300, "a printable text"), ("a\nb", "a printable text")):
        with pytest.raises(InputError, match=said):
            desk.books.check_label(label, "answer")
    desk.books.check_label("new", "answer")
    desk.answer(0, "ann", "new")
    assert desk.books.labels == ["new"]
    desk.books.kept.labels = [str(i) for i in range(MOST_OPEN)]
    desk.books.check_label("7", "answer")
    with pytest.raises(InputError, match="the stream has 100 labels already, and 'more' is none of them"):
        desk.books.check_label("more", "answer")


def test_an_undo_lets_a_question_expire_all_the_same():
    desk = Desk(questions=1, forget=1.0, lease=1.0)
    desk.next("ann")
    desk.answer(0, "ann")
    assert desk.later(1.5) == []
    desk.undo("ann")
    assert desk.later(1.5) == [(0, Forgotten("it expired without an answer"))]


def test_what_can_still_be_undone_is_not_told_when_a_question_expires():
    desk = Desk(questions=1, slots=3, forget=2.0, grace=20.0)
    desk.now = 1.3
    desk.answer(0, "ann", "b")
    assert desk.later(1.2) == []
    assert desk.undo("ann", 0) == (False, [])
    desk.answer(0, "ann", "c")
    assert desk.later(20.0) == [(0, Told("c"))]


def test_a_few_answers_reach_the_adjudicator_when_a_question_expires():
    desk = Desk(questions=1, slots=3, decide="adjudicator", forget=5.0, grace=0.0)
    desk.answer(0, "ann", "a")
    desk.answer(0, "bob", "a")
    assert desk.later(6.0) == [(0, Disputed())]
    assert desk.next("cid") is None
    with pytest.raises(ConflictError, match="waits for a reviewer"):
        desk.answer(0, "cid")
    again = Books(desk.books.settings, desk.closed.get, desk.books.dump())
    assert again.next("cid", desk.now) is None
    desk.do(desk.books.review(0, "rev", "b"))
    assert list(desk.books.settled(desk.books.questions[0], "b", "")) == [(0, Told("b"))]


def test_annotators_do_not_overrule_a_reviewer():
    desk = Desk(questions=1, grace=0.0)
    desk.answer(0, "ann", "a")
    assert desk.later() == [(0, Told("a"))]
    desk.do(desk.books.review(0, "rev", "b"))
    with pytest.raises(ConflictError, match="a reviewer has decided"):
        desk.books.undo(0, "ann", desk.now)
    with pytest.raises(ConflictError, match="a reviewer has decided"):
        desk.books.answer(0, "bob", "a", desk.now)
