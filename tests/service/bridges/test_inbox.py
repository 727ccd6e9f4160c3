"""What is received is told once: repeated, late, out of order, taken back, by several people, through any end."""

import contextlib
import itertools

import msgspec
import pytest

from askwhen.errors import InputError
from askwhen.service.events.kinds import facts_of
from askwhen.service.events.settings import Budget, Features
from askwhen.service.use_cases import erasing, export_tables, instances, questions, replaying, streams
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.label_studio import backend as label_studio
from askwhen.service.use_cases.label_studio.annotations import annotation_of
from askwhen.service.use_cases.label_studio.inbox import Inbox
from askwhen.service.use_cases.label_studio.requests import Exported, Predict, Said, Train
from tests.service import history
from tests.service.bridges import studio
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

ANN, BOB = "label-studio:1", "label-studio:2"


class Bridge:
    """A stream of texts that asks about all of them or hardly any, and what Label Studio says of it."""

    def __init__(self, coordinator, time):
        self.coordinator, self.time, self.inbox, self.stream = coordinator, time, Inbox(coordinator), None

    async def create(self, asks=True, tasks=8, **given):
        given = {"features": Features(kind="text"), "budget": Budget(rate=1.0), "grace": 1.0} | given
        if not asks:
            given |= {"budget": Budget(rate=0.01)}
        self.stream = await streams.create(self.coordinator, "mails", settings(**given))
        for i in () if asks else range(40):  # the first ones are asked about whatever the budget is
            await instances.play(self.coordinator, self.stream, Raw(f"before {i}"))
        return await self.predict(range(1, tasks + 1))

    def find(self):
        self.stream = self.coordinator.stream("mails")
        return self

    async def predict(self, numbers):
        asked = read(Predict, studio.predict([studio.task(number) for number in numbers]))
        return await label_studio.predict(self.coordinator, self.stream, asked)

    async def receive(self, said):
        return (await label_studio.webhook(self.coordinator, self.inbox, self.stream, read(Said, said)))["received"]

    async def tell(self):
        """Tell what waits; the outcome of each, oldest first."""
        before = self.stream.seq
        await self.inbox.handle(self.stream)
        self.time.now += 5.0
        self.coordinator.tick()
        await self.coordinator.commits.settled()
        return [facts_of(event).outcome for event in self.log() if event.kind == "handled" and event.seq > before]

    async def said(self, said):
        assert await self.receive(said) == 1
        return (await self.tell())[-1]

    async def sync(self, tasks, at=None):
        given = Exported(1, studio.exported(tasks), studio.CONFIG, at=at)
        return await label_studio.sync(self.coordinator, self.inbox, self.stream, given)

    def log(self):
        with contextlib.closing(self.coordinator.reader()) as reader:
            return reader.events(self.stream.number, 0, 1 << 40)

    def rows(self):
        """The labels that stand: of each task who said what, what is held to be right, what the model was told."""
        with contextlib.closing(self.coordinator.reader()) as reader:
            chunks = export_tables.chunks(reader, self.stream.number, "labels", 0, self.stream.seq)
            rows = [row for part in chunks for row in part if not row["undone"]]
        return {
            (row["id"].rpartition(":")[2], row["annotator"]): (row["answer"], row["label"], row["told"]) for row in rows
        }

    def check(self):
        """The log is sound, and the model is the library's."""
        events = self.log()
        history.check(events)
        library = Library(self.stream.settings)
        library.follow(events)
        assert bits(self.stream.model.sampler) == bits(library.sampler)


def read(kind, given):
    return msgspec.json.decode(msgspec.json.encode(given), type=kind)


@contextlib.asynccontextmanager
async def bridge(address, time=None, crash=False):
    time = Time() if time is None else time
    async with open_coordinator(address, time, crash=crash) as coordinator:
        yield Bridge(coordinator, time)


def test_asked_labels_are_answers_corrections_and_undone(address):
    async def go():
        async with bridge(address) as b:
            await b.create()
            assert await b.said(studio.created(11, 1, "spam")) == "answered"
            assert b.rows() == {("1", ANN): ("spam", "spam", "spam")}
            assert await b.said(studio.updated(11, 1, "ham", 5)) == "corrected"
            assert b.rows() == {("1", ANN): ("ham", "ham", "spam")}
            assert await b.said(studio.deleted(11)) == "undone"
            assert b.rows() == {}
            assert await b.said(studio.created(12, 1, "spam", 9, user=2)) == "answered"  # the slot is free again
            assert b.rows() == {("1", BOB): ("spam", "spam", "spam")}
            b.check()
            await replaying.replay(b.coordinator, b.stream, "me")
            assert b.rows() == {("1", BOB): ("spam", "spam", "spam")}

    run(go())


def test_labels_that_nobody_asked_for_are_learnt_corrected_and_taken_back(address):
    async def go():
        async with bridge(address) as b:
            said = await b.create(asks=False)
            assert all("meta" not in each[0]["result"][0] for each in said["results"])
            assert await b.said(studio.created(11, 1, "spam")) == "learnt"
            assert b.rows()["1", ANN] == ("spam", "spam", "spam")
            assert await b.said(studio.updated(11, 1, "ham", 5)) == "corrected"
            assert b.rows()["1", ANN] == ("ham", "ham", "spam")
            b.check()
            assert await b.said(studio.deleted(11)) == "taken back"
            assert ("1", ANN) not in b.rows()
            await replaying.replay(b.coordinator, b.stream, "me")
            assert b.stream.model.sampler.volunteered == 0

    run(go())


def test_whatever_the_order_and_however_often_it_comes_the_latest_stands(tmp_path):
    """All orders of three things, each of them twice."""
    says = [studio.created(11, 1, "spam", 1), studio.updated(11, 1, "ham", 2), studio.updated(11, 1, "spam", 3)]
    gone = [studio.created(11, 2, "spam", 1), studio.updated(11, 2, "ham", 2), studio.deleted(11)]

    async def go():
        for asks in (True, False):
            for number, order in enumerate(itertools.permutations(range(3))):
                for things, wanted in ((says, "spam"), (gone, None)):
                    name = f"{asks}{number}{wanted}.db"
                    async with bridge(tmp_path / name) as b:
                        await b.create(asks)
                        for place in order:
                            await b.receive(things[place])
                            assert await b.receive(things[place]) == 0
                            await b.tell()
                        rows = b.rows()
                        if wanted is None:
                            assert ("2", ANN) not in rows
                        else:
                            assert rows["1", ANN][1] == wanted
                        assert b.stream.state.received == []
                        history.check(b.log())

    run(go())


def test_several_people_fill_slots_and_no_more_than_there_are(address):
    async def go():
        async with bridge(address) as b:
            await b.create(slots=2)
            assert await b.said(studio.created(11, 1, "spam", user=1)) == "answered"
            assert await b.said(studio.created(12, 1, "spam", user=2)) == "answered"
            third = await b.said(studio.created(13, 1, "ham", user=3))
            assert third == "not taken: the question cannot be taken: all slots are filled."
            assert b.rows() == {("1", ANN): ("spam",) * 3, ("1", BOB): ("spam",) * 3}
            assert await b.said(studio.created(14, 1, "spam", 7, user=1)) == "known"  # a second one of the same person
            assert await b.said(studio.deleted(14)) == "known"  # the first one stands
            assert await b.said(studio.deleted(11)) == "undone"
            assert b.rows() == {("1", BOB): ("spam", "spam", "spam")}
            b.check()

    run(go())


def test_a_slot_that_somebody_holds_is_waited_for(address):
    async def go():
        async with bridge(address) as b:
            await b.create(tasks=1)
            held = await questions.next_question(b.coordinator, b.stream, "cid")
            assert await b.receive(studio.created(11, 1, "spam")) == 1
            assert (await b.tell(), b.stream.state.received != []) == ([], True)
            await questions.release(b.coordinator, b.stream, held.question, "cid")
            assert (await b.tell(), b.stream.state.received) == (["answered"], [])
            assert b.rows() == {("1", ANN): ("spam", "spam", "spam")}

    run(go())


def test_what_cannot_be_told_says_why_and_changes_nothing(address):
    async def go():
        async with bridge(address) as b:
            await b.create(forget=100.0)
            await b.said(studio.created(11, 1, "spam"))
            await questions.review(b.coordinator, b.stream, 0, "rev", "ham")
            assert await b.said(studio.updated(11, 1, "ham", 5)) == "refused: a reviewer has decided this question."
            assert await b.said(studio.created(12, 2, None)) == "known"  # nothing was chosen
            assert await b.said(studio.created(13, 3, "spam", was_cancelled=True)) == "known"
            await erasing.erase(b.coordinator, b.stream, erasing.Which(ids=["label-studio:1:4"]), "me")
            assert "were erased" in await b.said(studio.created(14, 4, "spam"))
            b.time.now += 200.0
            b.coordinator.tick()
            assert await b.said(studio.created(15, 5, "spam")) == "learnt"  # its question was forgotten
            before = b.stream.seq
            for said, match in (
                (studio.created(16, 6, "egg"), "the label must be one of ham, spam"),
                (studio.created(16, 6, "spam") | {"project": None}, "must send its payload"),
                (studio.created(16, 6, "spam") | {"task": None}, "the task of its annotation"),
                (studio.created(16, 6, "spam") | {"task": [3]}, "must be objects"),
                (studio.created(16, 6, "spam") | {"project": studio.project(config="<View/>")}, "exactly one Choices"),
                (studio.deleted("a:b"), "annotations must be a number"),
            ):
                with pytest.raises(InputError, match=match):
                    await b.receive(said)
            assert await b.receive(studio.training()) == 0
            assert await b.receive({"action": "TASKS_CREATED", "tasks": [studio.task(9)]}) == 0
            assert b.stream.seq == before

    run(go())


def test_a_task_that_was_never_predicted_is_an_instance_by_its_webhook(tmp_path):
    async def go():
        async with bridge(tmp_path / "log.db") as b:
            await b.create(tasks=0)
            assert await b.said(studio.created(11, 7, "spam")) == "answered"
            assert b.stream.state.round == 1
            many = {"action": "ANNOTATIONS_CREATED", "project": studio.project()}
            many |= {"annotation": [studio.annotation(21, 8, "ham"), studio.annotation(22, 9, "spam")]}
            assert await b.receive(many | {"task": [studio.task(9), studio.task(8)]}) == 2
            await b.tell()
            assert b.rows()["8", ANN][0] == "ham"
            assert b.rows()["9", ANN][0] == "spam"

    run(go())


def test_what_was_received_before_an_end_is_told_after_it_and_once(address):
    async def go():
        time = Time()
        async with bridge(address, time, crash=True) as b:
            await b.create()
            await b.receive(studio.created(11, 1, "spam"))
            await b.receive(studio.created(12, 2, "ham"))
        for _ in range(2):
            async with bridge(address, time, crash=True) as b:
                await b.find().tell()
                b.check()
        async with bridge(address, time) as b:
            b.find()
            assert b.stream.state.received == []
            assert sum(event.kind == "answered" for event in b.log()) == 2
        async with bridge(address, time) as b:  # from a snapshot
            b.find()
            assert await b.receive(studio.created(13, 3, "ham")) == 1
        async with bridge(address, time) as b:
            assert await b.find().tell() == ["answered"]
            b.check()

    run(go())


def test_an_export_tells_what_webhooks_missed_and_twice_is_once(address):
    async def go():
        async with bridge(address) as b:
            await b.create(tasks=4)
            for said in (studio.created(11, 1, "spam"), studio.created(12, 2, "spam"), studio.created(13, 3, "ham")):
                await b.said(said)
            now = studio_time(60)
            tasks = {
                1: [studio.annotation(11, 1, "ham", 9)],  # changed
                2: [],  # deleted
                3: [studio.annotation(13, 3, "ham")],  # the same
                4: [studio.annotation(14, 4, "spam", 9)],  # new
                5: [studio.annotation(15, 5, "ham", 9, user=2)],  # new, of a task that is new
                6: [],  # not annotated, and none of ours
            }
            found = await b.sync(tasks, at=now)
            assert (found.tasks, found.instances, found.annotations, found.new, found.gone) == (6, 1, 4, 3, 1)
            await b.tell()
            rows = {place: label for place, (_, label, _) in b.rows().items()}
            assert rows == {("1", ANN): "ham", ("3", ANN): "ham", ("4", ANN): "spam", ("5", BOB): "ham"}
            seq = b.stream.seq
            found = await b.sync(tasks, at=now)
            assert (found.instances, found.new, found.gone, b.stream.seq) == (0, 0, 0, seq)
            # What came by webhook after the export was made is not in it, and not gone.
            await b.said(studio.created(16, 6, "spam", 90))
            assert (await b.sync(tasks, at=now)).gone == 0
            b.check()

    run(go())


def studio_time(second):
    return annotation_of(studio.annotation(1, 1, None, second)).at


def test_older_versions_send_all_annotations_to_train(tmp_path):
    async def go():
        async with bridge(tmp_path / "log.db") as b:
            await b.create(tasks=2)
            await b.said(studio.created(11, 1, "spam"))
            tasks = studio.exported({2: [studio.annotation(12, 2, "ham")]})
            given = {"annotations": tasks, "project": "1.1794962918", "label_config": studio.CONFIG, "params": {}}
            found = await label_studio.train(b.coordinator, b.inbox, b.stream, read(Train, given))
            assert (found.new, found.gone) == (1, 0)  # what is not there may still be there
            assert (await label_studio.train(b.coordinator, b.inbox, b.stream, Train())).tasks == 0

    run(go())


def test_one_bad_task_of_an_export_is_refused_and_the_others_are_told(tmp_path):
    async def go():
        async with bridge(tmp_path / "log.db") as b:
            await b.create(tasks=0)
            tasks = studio.exported({1: [studio.annotation(11, 1, "spam")], 2: [studio.annotation(12, 2, "egg")]})
            tasks += [{"id": 3, "data": 5}, studio.task(4, image="x.png") | {"annotations": tasks[0]["annotations"]}]
            found = await label_studio.sync(b.coordinator, b.inbox, b.stream, Exported(1, tasks, studio.CONFIG))
            assert (found.new, [sentence[:25] for sentence in found.refused]) == (
                1,
                ["data of task 3 must be an", "the label must be one of ", "'text' of the data must b"],
            )

    run(go())
