"""Who gets which question: teams, specialists, reserved questions, orders of people, and that none starves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askwhen.errors import InputError
from askwhen.service.domain.people import People
from askwhen.service.domain.question_commands import FAIR, QuestionCommands
from askwhen.service.domain.setting_changes import changed, differences, relabelled
from askwhen.service.errors import ConflictError
from askwhen.service.events.kinds import GroupSet, Instance, Reserved, WentAway
from askwhen.service.events.settings import Settings, Specialists, Terms, check_settings
from tests.service.test_question_commands import Annotation
from tests.soak import times

DAY = 86400.0


class Work(Annotation):
    """Questions with given likely labels, and groups of people."""

    def __init__(self, predicted=(), groups=None, **given):
        super().__init__(questions=0, **given)
        self.people, self.asked = People(), 0
        for group, members in (groups or {}).items():
            self.people.apply(GroupSet(group, members))
        self.commands = QuestionCommands(self.state, self.people)
        for each in predicted:
            self.ask(each)

    def ask(self, label="a", second=None, doubt=0.5, priority=0.0):
        round = self.asked
        fact = Instance(round, label, 0.5, 0.5, 0.1, True, "", round, 1.0 - doubt, priority=priority, second=second)
        self.state.add(fact, round + 1, self.now)
        self.asked += 1
        return round

    def reserve(self, round, *who):
        self.do(self.commands.reserve(round, "rae", list(who)))

    def unanswerable(self):
        return {question.round: why for question, why in self.commands.unanswerable(self.now)}


def test_only_the_team_is_asked_by_name_or_as_members_of_a_group():
    work = Work("aaa", {"nurses": ["bob"]}, team=["ann", "@nurses"])
    assert [work.next(who) for who in ("cid", "ann", "bob")] == [None, 0, 1]
    with pytest.raises(ConflictError, match="this stream is not given to cid"):
        work.answer(2, "cid")
    work.people.apply(GroupSet("nurses", ["cid"]))
    assert [work.next(who) for who in ("cid", "bob")] == [2, None]
    work.answer(1, "bob")  # who holds a question may answer it


def test_specialists_are_asked_first_and_others_after_a_while():
    work = Work("aba", {"experts": ["eve"]}, specialists={"b": Specialists(who=["@experts"], after=600.0)}, lease=900.0)
    assert work.next("eve") == 1
    work.do(work.commands.release(1, "eve", work.now))
    assert [work.next("ann") for _ in range(3)] == [0, 2, None]
    with pytest.raises(ConflictError, match="this question is for the group experts, not for ann"):
        work.answer(1, "ann")
    work.now = 600.0
    assert work.next("bob") == 1


def test_the_second_likely_label_counts_too_and_others_may_never_be_asked():
    work = Work(specialists={"b": Specialists(who=["eve"], after=None), "c": Specialists(who=["fay"], after=60.0)})
    work.ask("a", "b"), work.ask("a"), work.ask("c", "b")
    work.now = 1e6
    assert [work.next("ann"), work.next("ann")] == [1, None]
    assert work.next("fay") == 2  # one of two kinds of specialists
    assert work.next("eve") == 0


def test_several_labels_at_once_have_the_specialists_of_each():
    work = Work(several=True, specialists={"b": Specialists(who=["eve"])})
    work.ask('["a","b"]'), work.ask('["a"]')
    assert (work.next("ann"), work.next("ann"), work.next("eve")) == (1, None, 0)


def test_a_reserved_question_is_for_these_people_until_it_is_given_back():
    work = Work("aa", {"experts": ["eve"]})
    assert work.next("ann") == 0
    work.reserve(0, "@experts")
    with pytest.raises(ConflictError, match="for the group experts, not for ann"):
        work.answer(0, "ann")
    with pytest.raises(ConflictError, match="for the group experts, not for ann"):
        work.commands.skip(0, "ann", work.now)
    assert [work.next("ann"), work.next("eve"), work.next("eve")] == [1, 0, None]
    work.reserve(0, "fay")
    assert work.next("fay") == 0  # who held it as a member of the group holds it no longer
    work.reserve(0, "fay", "ann")
    work.answer(0, "fay")
    with pytest.raises(ConflictError, match="not open any more"):
        work.reserve(0, "eve")
    work.reserve(1, "eve")
    work.reserve(1)
    assert work.next("bob") == 1


def test_a_question_that_was_reserved_is_still_so_when_it_is_made_from_its_events_again():
    work = Work("a")
    work.reserve(0, "eve")
    again = Annotation(questions=0)
    again.state.add(Instance(0, "a", 0.5, 0.5, 0.1, True, "", 0), 1, 0.0)
    again.do((0, Reserved("rae", ["eve"])))
    assert again.state.open[0].reserved == work.state.open[0].reserved == ["eve"]
    assert (again.next("ann"), again.next("eve")) == (None, 0)


def test_each_person_has_an_order():
    people = {name: Terms(order=name) for name in ("newest", "oldest", "valuable", "priority")}
    work = Work(people=people, order="valuable", slots=99)
    for doubt, priority in ((0.1, 2.0), (0.9, 1.0), (0.5, 3.0), (0.2, 0.0)):
        work.ask("a", None, doubt, priority)
    wanted = {"newest": 3, "oldest": 0, "valuable": 1, "priority": 2, "who has none": 1}
    assert {name: work.next(name) for name in wanted} == wanted


def test_who_is_on_holiday_is_asked_again_when_it_is_over():
    work = Work("aa", people={"ann": Terms(holiday=100.0)})
    assert (work.next("ann"), work.commands.back("ann", work.now)) == (None, 100.0)
    work.now = 100.0
    assert work.next("ann") == 0
    work.people.apply(WentAway("bob", 300.0))  # in all streams
    assert (work.next("bob"), work.commands.back("bob", work.now)) == (None, 300.0)
    work.people.apply(WentAway("bob", 0.0))
    assert work.next("bob") == 1


def test_what_nobody_can_answer_is_known_with_the_reason():
    groups = {"empty": [], "experts": ["eve", "fay"]}
    work = Work("aaaaaa", groups, people={"eve": Terms(paused=True)}, slots=2)
    assert work.unanswerable() == {}
    work.reserve(0, "eve")
    work.reserve(1, "@empty")
    work.reserve(2, "@experts")
    work.reserve(3, "gus")
    work.answer(3, "gus")
    assert work.unanswerable() == {
        0: "for eve: all who may answer it are away",
        1: "for the group empty: it has no members",
        3: "for gus: all who may answer it have answered or skipped it",
    }
    work.people.apply(WentAway("fay", 50.0))
    assert work.unanswerable()[2] == "for the group experts: all who may answer it are away"
    work.now = 50.0
    assert 2 not in work.unanswerable()
    work.state.change(changed(work.state.settings, {"team": ["eve"]}))
    assert work.unanswerable()[3] == "for gus: no one of them is in the team"
    assert work.unanswerable()[5] == "for the team: all who may answer it are away"


def test_settings_name_specialists_and_follow_the_names_of_labels():
    before = Settings(labels=["a", "b", "c"])
    found = differences(before, {"specialists": {"b": {"who": ["@experts"]}}, "team": ["ann", "@experts"]})
    after = changed(before, found)
    assert (after.specialists, after.team) == ({"b": Specialists(who=["@experts"])}, ["ann", "@experts"])
    assert changed(after, relabelled(after, "b", "new")).specialists == {"new": Specialists(who=["@experts"])}
    assert changed(after, differences(after, {"specialists": {"b": None}})).specialists == {}
    for wrong, said in (
        ({"specialists": {"z": {"who": ["ann"]}}}, "labels of the stream"),
        ({"specialists": {"b": {"who": []}}}, "at least one"),
        ({"specialists": {"b": {"who": ["ann"], "after": -1}}}, "after"),
        ({"team": ["ann", "bob", "ann"]}, "team has the name 'ann' twice"),
        ({"team": ["@"]}, "names of 1 to"),
        ({"people": {"ann": {"holiday": 1e12}}}, "holiday"),
        ({"people": {"ann": {"order": "best"}}}, "order"),
    ):
        with pytest.raises(InputError, match=said):
            differences(before, wrong)
    with pytest.raises(InputError, match="not for numbers"):
        check_settings(Settings(labels="numbers", within=1.0, specialists={"b": Specialists(who=["ann"])}))


# Nobody starves.

NAMES = ["ann", "bob", "eve"]
WHO = st.lists(st.sampled_from([*NAMES, "@one", "@two", "@none"]), min_size=1, max_size=2, unique=True)
ORDERS = st.sampled_from(["oldest", "newest", "valuable", "priority"])
LABELS = st.sampled_from(["a", "b", "c"])
SETTINGS = st.fixed_dictionaries(
    {
        "order": ORDERS,
        "slots": st.integers(1, 2),
        "people": st.dictionaries(st.sampled_from(NAMES), st.builds(Terms, order=ORDERS), max_size=3),
        "team": st.one_of(st.just([]), WHO),
        "specialists": st.dictionaries(
            LABELS, st.builds(Specialists, who=WHO, after=st.sampled_from([None, 0.0, 5.0])), max_size=2
        ),
    }
)
GROUPS = st.fixed_dictionaries(
    {"one": st.lists(st.sampled_from(NAMES), max_size=2, unique=True), "two": st.just(["eve"]), "none": st.just([])}
)
NEW = st.tuples(
    LABELS, st.one_of(st.none(), LABELS), st.floats(0.0, 1.0), st.floats(-1.0, 1.0), st.one_of(st.none(), WHO)
)


def may(work, question, who):
    """Whether somebody may answer a question, as the documentation says it."""
    settings, groups = work.state.settings, work.people.groups

    def named(names):
        return any(who in groups[each[1:]] if each.startswith("@") else who == each for each in names)

    if settings.team and not named(settings.team):
        return False
    if question.reserved:
        return named(question.reserved)
    found = [
        settings.specialists[each] for each in (question.prediction, question.second) if each in settings.specialists
    ]
    if not found or any(named(each.who) for each in found):
        return True
    return all(each.after is not None and work.now - question.opened >= each.after for each in found)


def send(work, new):
    label, second, doubt, priority, who = new
    round = work.ask(label, second, doubt, priority)
    if who is not None:
        work.reserve(round, *who)


STEPS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["answer", "skip", "release", "reserve"]), NEW, WHO), max_size=30
)


@given(SETTINGS, GROUPS, st.lists(NEW, max_size=6), STEPS)
@settings(max_examples=times(150, 5_000), deadline=None)
def test_whoever_asks_gets_a_question_if_there_is_one_that_they_may_answer(given, groups, first, steps):
    work = Work(groups=groups, **given)
    for new in first:
        send(work, new)
    for who, act, new, reserved in steps:
        work.now += 1.0
        able = {each.round for each in work.state.open.values() if may(work, each, who) and each.is_for(who, work.now)}
        stuck = work.unanswerable()
        assert not stuck.keys() & able
        found = work.next(who)
        assert (found in able) if able else found is None
        if found is None:
            send(work, new)
        elif act == "answer":
            work.answer(found, who)
        elif act == "skip":
            work.do(work.commands.skip(found, who, work.now))
        elif act == "release":
            work.do(work.commands.release(found, who, work.now))
        else:
            work.do(work.commands.release(found, who, work.now))
            work.reserve(found, *reserved)
        for round, question in work.state.open.items():  # what is called unanswerable is so for each of them
            if round in work.unanswerable():
                assert not any(may(work, question, each) and question.is_for(each, work.now) for each in NAMES)


@given(
    SETTINGS,
    GROUPS,
    st.lists(NEW, min_size=1, max_size=6),
    st.lists(NEW, min_size=2, max_size=4),
    st.sampled_from(NAMES),
)
@settings(max_examples=times(60, 2_000), deadline=None)
def test_no_question_waits_for_ever_while_somebody_who_may_answer_it_asks(given, groups, first, inflow, who):
    work = Work(groups=groups, **given)
    for new in first:
        send(work, new)
    work.now = 5.0
    waits = [each.round for each in work.state.open.values() if may(work, each, who)]
    for _ in range(FAIR * len(waits)):  # more questions come than are answered, and each may be the more urgent one
        for new in inflow:
            send(work, new)
        found = work.next(who)
        if found is not None:
            work.answer(found, who)
    assert not [round for round in waits if round in work.state.open and who not in answered(work, round)]


def answered(work, round):
    return {each.annotator for each in work.state.open[round].answers}
