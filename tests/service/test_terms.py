"""Terms of people: at most so many questions within a day, and none while somebody pauses."""

import pytest

from askwhen.errors import InputError
from askwhen.service.domain.people import People
from askwhen.service.domain.question_commands import QuestionCommands
from askwhen.service.domain.setting_changes import changed, differences
from askwhen.service.errors import ConflictError
from askwhen.service.events.kinds import WentAway
from askwhen.service.events.settings import Settings, Terms, check_settings
from askwhen.service.use_cases import instances, questions, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.test_question_commands import Annotation

DAY = 86400.0


def test_a_quota_is_for_any_day_and_counts_what_is_held():
    work = Annotation(questions=12, people={"ann": Terms(quota=3)}, lease=600.0)
    assert work.next("ann") == 0
    work.answer(0, "ann")
    assert [work.next("ann"), work.next("ann")] == [1, 2]
    assert work.next("ann") == 1  # all that is left of the quota is held: the oldest again
    assert work.next("ann", "phone") is None  # and on another device nothing
    work.answer(1, "ann")
    work.answer(2, "ann")
    assert work.next("ann") is None
    assert (work.commands.left("ann", work.now), work.commands.left("bob", work.now)) == (0, None)
    assert work.next("bob") == 3  # nobody else is concerned
    work.undo("ann", 2)
    assert work.next("ann") == 2  # what is taken back may be given again
    work.answer(2, "ann")
    work.now += DAY + 1800.0
    assert work.next("ann") == 3


def test_who_pauses_is_asked_nothing_and_others_get_the_questions():
    work = Annotation(questions=2, people={"ann": Terms(paused=True)})
    assert (work.next("ann"), work.next("bob")) == (None, 0)
    work.state.change(Settings(labels=["a", "b", "c"]))
    assert work.next("ann") == 1


@pytest.mark.parametrize("away", ["paused", "holiday", "everywhere"])
def test_who_is_away_takes_nothing_by_number_and_finishes_what_they_were_given(away):
    work, people = Annotation(questions=6, lease=60.0), People()
    work.commands = QuestionCommands(work.state, people)
    assert [work.next("ann"), work.next("ann")] == [0, 1]
    work.do(work.commands.skip(2, "ann", work.now))
    if away == "everywhere":
        people.apply(WentAway("ann", 1e6))
    else:
        terms = Terms(paused=True) if away == "paused" else Terms(holiday=1e6)
        work.state.change(Settings(labels=["a", "b", "c"], people={"ann": terms}, lease=60.0))
    for act in (
        lambda: work.answer(3, "ann"),
        lambda: work.commands.renew(3, "ann", work.now),
        lambda: work.commands.skip(3, "ann", work.now),
        lambda: work.undo("ann", 2),
    ):
        with pytest.raises(ConflictError, match="ann is away or paused"):
            act()
    work.do(work.commands.renew(0, "ann", work.now))
    work.answer(0, "ann")
    with pytest.raises(ConflictError, match="answered this question already"):
        work.answer(0, "ann")
    work.now = 100.0  # the lease is over, and the answer was on its way
    with pytest.raises(ConflictError, match="ann is away or paused"):
        work.commands.renew(1, "ann", work.now)
    work.answer(1, "ann")
    work.answer(3, "bob")  # nobody else is concerned


def test_a_quota_holds_for_answers_by_number_too():
    work = Annotation(questions=8, people={"ann": Terms(quota=2)}, lease=60.0)
    assert work.next("ann") == 0
    work.do(work.commands.skip(7, "ann", work.now))
    work.answer(5, "ann")  # one of two
    for act in (
        lambda: work.answer(4, "ann"),  # the other one is held
        lambda: work.commands.renew(4, "ann", work.now),
        lambda: work.undo("ann", 7),
    ):
        with pytest.raises(ConflictError, match="may answer 2 questions in 24 hours"):
            act()
    work.answer(0, "ann")
    with pytest.raises(ConflictError, match="may answer 2 questions in 24 hours"):
        work.answer(4, "ann")
    work.now += DAY + 1800.0
    work.answer(4, "ann")


def test_terms_are_changed_by_name_and_wrong_ones_are_refused():
    before = settings(people={"ann": Terms(quota=3)})
    found = differences(before, {"people": {"bob": {"paused": True}}})
    both = changed(before, found)
    assert both.people == {"ann": Terms(quota=3), "bob": Terms(paused=True)}
    less = changed(both, differences(both, {"people": {"ann": None}}))
    assert less.people == {"bob": Terms(paused=True)}
    assert differences(less, {"people": {"bob": {"paused": True}}}) == {}
    with pytest.raises(InputError, match="unknown field"):
        differences(before, {"people": {"bob": {"pause": True}}})
    with pytest.raises(InputError, match="names of people.* and no groups, got '@nurses'"):
        differences(before, {"people": {"@nurses": {"paused": True}}})
    old = Settings(people={"@nurses": Terms(paused=True)})  # by an earlier version
    assert differences(old, {"grace": 5.0}) == {"grace": 5.0}
    assert differences(old, {"people": {"@nurses": None}}) == {"people": {"@nurses": None}}
    for wrong in ({"": Terms()}, {"@nurses": Terms()}, {"ann": Terms(quota=0)}):
        with pytest.raises(InputError, match="people|quota"):
            check_settings(Settings(people=wrong))


def test_it_holds_in_a_service_and_who_asks_hears_it(tmp_path):
    async def go():
        time, path = Time(), tmp_path / "log.db"
        made = settings(people={"ann": Terms(quota=2), "cid": Terms(paused=True)}, mode="backlog", grace=0.0)
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", made)
            for i in range(40):
                await instances.play(coordinator, stream, Raw([float(i % 7), 1.0]))
            for _ in range(2):
                found = await questions.next_question(coordinator, stream, "ann")
                await questions.answer(coordinator, stream, found.question, "ann", "ham")
            before = stream.state.round
            for who in ("ann", "cid"):
                assert await questions.next_question(coordinator, stream, who) is None
            assert stream.state.round == before  # and nothing is decided for them
            ann, bob, cid = [
                await questions.progress(coordinator, stream, who, time.now) for who in ("ann", "bob", "cid")
            ]
            assert (ann.left, ann.paused, bob.left, bob.paused, cid.left, cid.paused) == (
                0,
                False,
                None,
                False,
                0,
                True,
            )
            assert await questions.next_question(coordinator, stream, "bob") is not None
            await streams.change_settings(coordinator, "mails", {"people": {"ann": None}}, "root")
            assert await questions.next_question(coordinator, stream, "ann") is not None
        async with open_coordinator(path, time) as coordinator:
            assert coordinator.streams["mails"].settings.people == {"cid": Terms(paused=True)}

    run(go())
