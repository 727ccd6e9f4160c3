"""A Hypothesis state machine over the API, against a model of a stream in plain Python."""

import asyncio
import tempfile
import threading

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from askwhen.service.errors import ConflictError
from askwhen.service.use_cases import instances, questions, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator
from tests.service.coordinators import settings as stream_settings
from tests.service.library import Library, bits
from tests.soak import times

PEOPLE = st.sampled_from(["ann", "bob", "cid"])
LABELS = st.sampled_from(["a", "b"])
QUESTIONS = st.sampled_from([0, 0, 0, 1, 1, 2, 5, 9])
LEASE, GRACE, FORGET, SLOTS = 50.0, 10.0, 200.0, 2


class Plain:
    """One question: who holds a slot until when, who answered what, who skipped."""

    def __init__(self, opened, slots):
        self.slots = slots
        self.opened, self.held, self.answers, self.skipped = opened, {}, {}, set()
        self.closed = False

    def taken(self, now):
        return len(self.answers) + sum(until > now for until in self.held.values())


class Machine(RuleBasedStateMachine):
    """Every command is given to the service and to plain questions; both must say the same."""

    @initialize()
    def start(self):
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(
            target=self.loop.run_forever, daemon=True
        )  # a browser may have one in this thread
        self.thread.start()
        self.time, self.folder = Time(), tempfile.TemporaryDirectory()
        self.plain, self.rounds, self.ids = {}, 0, {}
        self.slots, self.lease = SLOTS, LEASE
        self.open()
        given = {"labels": ["a", "b"], "slots": SLOTS, "lease": LEASE, "grace": GRACE, "forget": FORGET}
        self.do(streams.create(self.coordinator, "one", stream_settings(algorithm="perceptron", budget=None, **given)))
        for id in range(3):
            self.send(0.5, id)

    def open(self):
        self.opened = open_coordinator(f"{self.folder.name}/log.db", self.time, crash=True, ticks=False)
        self.coordinator = self.do(self.opened.__aenter__())

    def do(self, coroutine):
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result()

    @property
    def stream(self):
        return self.coordinator.stream("one")

    def refused(self, coroutine):
        """Whether it was refused."""
        try:
            self.do(coroutine)
        except ConflictError:
            return True
        return False

    @rule(x=st.floats(-2, 2), id=st.integers(0, 30))
    def sent(self, x, id):
        self.send(x, id)

    def send(self, x, id):
        said = self.do(instances.play(self.coordinator, self.stream, Raw([x, 1.0], f"n{id}")))
        assert said.again == (id in self.ids)
        if id in self.ids:
            assert said.round == self.ids[id]
        else:
            assert said.round == self.rounds
            assert said.asked
            self.ids[id] = self.rounds
            self.plain[self.rounds] = Plain(self.time.now, self.slots)
            self.rounds += 1

    @rule(who=PEOPLE)
    def next(self, who):
        shown = self.do(questions.next_question(self.coordinator, self.stream, who))
        now = self.time.now
        holding = [q for q, each in self.plain.items() if each.held.get(who, 0) > now and not each.closed]
        free = [
            q
            for q, each in self.plain.items()
            if not each.closed
            and each.taken(now) < each.slots
            and who not in each.answers
            and who not in each.skipped
            and each.held.get(who, 0) <= now
        ]
        if len(holding) >= 3:
            assert shown.question in holding
        elif not free:
            assert shown is None
            return
        else:
            assert shown.question == min(free)
        self.plain[shown.question].held[who] = now + self.lease

    def may(self, question, who):
        """Whether somebody may fill a slot now."""
        each, now = self.plain.get(question), self.time.now
        if each is None or who in each.answers or who in each.skipped or each.closed:
            return False
        return each.held.get(who, 0) > now or each.taken(now) < each.slots

    @rule(question=QUESTIONS, who=PEOPLE, label=st.none() | LABELS)
    def answer(self, question, who, label):
        question %= self.rounds
        wanted = self.may(question, who)
        assert self.refused(questions.answer(self.coordinator, self.stream, question, who, label)) != wanted
        if wanted:
            self.plain[question].answers[who] = label
            self.plain[question].held.pop(who, None)
        self.settle()

    @rule(question=QUESTIONS, who=PEOPLE)
    def skip(self, question, who):
        question %= self.rounds
        wanted = self.may(question, who)
        assert self.refused(questions.skip(self.coordinator, self.stream, question, who)) != wanted
        if wanted:
            self.plain[question].skipped.add(who)
            self.plain[question].held.pop(who, None)

    @rule(question=QUESTIONS, who=PEOPLE)
    def undo(self, question, who):
        question %= self.rounds
        each = self.plain[question]
        skipped = who in each.skipped
        each.skipped.discard(who)
        wanted = self.may(question, who) if skipped else who in each.answers
        assert self.refused(questions.undo(self.coordinator, self.stream, question, who)) != wanted
        if skipped and not wanted:
            each.skipped.add(who)
        if wanted:
            each.answers.pop(who, None)
            each.held[who] = self.time.now + self.lease
            each.closed = False

    @rule(question=QUESTIONS, who=PEOPLE)
    def release(self, question, who):
        question %= self.rounds
        each = self.plain[question]
        wanted = each.held.get(who, 0) > self.time.now and not each.closed and who not in each.answers
        assert self.refused(questions.release(self.coordinator, self.stream, question, who)) != wanted
        each.held.pop(who, None) if wanted else None

    @rule(seconds=st.sampled_from([0.5, 11.0, 49.0, 60.0]))
    def wait(self, seconds):
        self.time.now += seconds
        self.coordinator.tick()
        self.settle()

    def settle(self):
        """Closed questions are those no longer in memory; when they close is tested in test_question_commands."""
        for question, each in self.plain.items():
            gone = question not in self.stream.questions.open
            if gone and not each.closed:
                old = self.time.now >= each.opened + FORGET
                assert len(each.answers) == each.slots or old, "closed too early"
                each.closed = True

    @rule(slots=st.integers(1, 3), lease=st.sampled_from([5.0, LEASE]), grace=st.sampled_from([0.0, GRACE, 70.0]))
    def change(self, slots, lease, grace):
        given = {"slots": slots, "lease": lease, "grace": grace}
        self.do(streams.change_settings(self.coordinator, "one", given, "root"))
        self.slots, self.lease = slots, lease

    @rule()
    def crash(self):
        self.do(self.opened.__aexit__(None, None, None))
        self.open()

    @invariant()
    def counts(self):
        if hasattr(self, "coordinator"):
            assert self.stream.state.round == self.rounds
            for question, each in self.plain.items():
                found = self.stream.questions.find(question)
                assert {answer.annotator: answer.label for answer in found.answers} == each.answers

    def teardown(self):
        if hasattr(self, "coordinator"):
            self.do(self.coordinator.commits.settled())
            reader = self.coordinator.reader()
            events = reader.events(1, 0, 1 << 40)
            reader.close()
            history.check(events)
            library = Library(self.stream.settings)
            library.follow(events)
            assert bits(library.sampler) == bits(self.stream.model.sampler)
            self.do(self.opened.__aexit__(None, None, None))
            self.loop.call_soon_threadsafe(self.loop.stop)
            self.thread.join()
            self.loop.close()
            self.folder.cleanup()


TestMachine = Machine.TestCase
TestMachine.settings = settings(
    max_examples=times(25, 300),
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
