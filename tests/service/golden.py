"""Makes a golden database: a service as a kill leaves it, with every kind of event, and what is known of it.

``python -m tests.service.golden N`` writes tests/golden/service-N.db.gz and .json once, for a release that has new
tables or new kinds of events; after that the files are never changed.
"""

import asyncio
import contextlib
import gzip
import json
import pathlib
import sys
import tempfile

import msgspec
import numpy as np

from askwhen.service.events.kinds import Received
from askwhen.service.events.settings import Budget, Features, Settings
from askwhen.service.store.records import Message
from askwhen.service.use_cases import (
    comments,
    erasing,
    export_tables,
    instances,
    labels,
    questions,
    replaying,
    streams,
    tokens,
    webhooks,
)
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.label_studio.inbox import Inbox
from tests.service.coordinators import Time, open_coordinator

FOLDER = pathlib.Path(__file__).parents[1] / "golden"
ADVISED = Settings(advisers=["gpt"], mode="backlog", seed=3, version=2, certainty=2, repeats=True)
X = np.random.default_rng(8).standard_normal((80, 3))
WORDS = np.random.default_rng(9).integers(0, 30, (80, 4))
NUMBERS = Settings(algorithm="perceptron-ss", budget=Budget(rate=0.5), seed=1, grace=2.0)
TEXTS = Settings(
    labels=["a", "b", "c"], algorithm="pa-i", features=Features(kind="text", places=64), seed=2, slots=2, forget=30.0
)


async def made(address):
    """Play everything that can happen, and end without a word."""
    time = Time()
    async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
        numbers = await streams.create(coordinator, "numbers", NUMBERS)
        texts = await streams.create(coordinator, "text", TEXTS)
        spent = await streams.create(
            coordinator, "spent", msgspec.structs.replace(NUMBERS, budget=Budget(rate=0.5, most=5))
        )
        await tokens.make(coordinator, "root", ["admin"], None, None)
        _, gone = await tokens.make(coordinator, "gone", ["producer"], None, 90.0)
        await tokens.revoke(coordinator, gone.token)
        hook = await webhooks.make(coordinator, "https://example.org/hook", ["question.answered", "budget.spent"])
        other = await webhooks.make(coordinator, "https://example.org/", ["accuracy.below"], ["numbers"], 0.9)
        await webhooks.remove(coordinator, other.hook)
        for i in range(60):
            await instances.play(coordinator, numbers, Raw(X[i].tolist(), f"n{i}", subject=f"client {i % 3}"))
            text = " ".join(f"word{word}" for word in WORDS[i])
            await instances.play(coordinator, texts, Raw(text, f"t{i}", show={"text": text, "page": i}))
            await instances.play(coordinator, spent, Raw(X[i].tolist()))
            for stream, who in ((numbers, "ann"), (texts, "ann"), (texts, "bob"), (spent, "ann")):
                shown = await questions.next_question(coordinator, stream, who)
                if shown is None or i % 5 == 4:
                    continue
                allowed = stream.settings.labels
                if i % 7 == 3:
                    await questions.skip(coordinator, stream, shown.question, who)
                    await comments.comment(coordinator, stream, shown.question, who, "which of them?")
                    if i % 2:
                        await questions.undo(coordinator, stream, shown.question, who)
                elif i % 7 == 5:
                    await questions.release(coordinator, stream, shown.question, who)
                else:
                    label = allowed[(i + len(who) + (who == "bob" and i % 4 == 0)) % len(allowed)]
                    await questions.answer(coordinator, stream, shown.question, who, label, f"{who} {i}", 1.5)
                    if i % 11 == 2:
                        await questions.undo(coordinator, stream, shown.question, who)
            time.now += 1.0
            coordinator.tick()
            if i == 20:
                await streams.rename(coordinator, "text", "texts")
                await streams.change_settings(
                    coordinator, "texts", {"lease": 100.0, "view": {"blind": True}}, "root", "s1"
                )
                await streams.change(coordinator, "texts", "paused", "root")
                await streams.change(coordinator, "texts", "resumed", "root")
            if i == 30:
                told = next(e.question for e in events(coordinator, numbers) if e.kind == "told")
                await questions.review(coordinator, numbers, told, "rev", "no")
                await questions.undo_review(coordinator, numbers, told, "rev")
                await questions.review(coordinator, numbers, told, "rev", "yes")
                await labels.volunteer(coordinator, numbers, "ann", "no", id=unasked(coordinator, numbers))
                inbox, x = Inbox(coordinator), next(e for e in events(coordinator, numbers) if e.key == "i:n29")
                said = Received("studio", "7", 1030.0, x.seq, "dan", "yes")
                await inbox.receive(numbers, [(29, said)])
                await inbox.handle(numbers)
                await inbox.receive(numbers, [(29, msgspec.structs.replace(said, at=1031.0, label="no"))])
                await erasing.erase(coordinator, numbers, erasing.Which(subject="client 1"), "root")
            if i == 40:
                await replaying.replay(coordinator, numbers, "root")
        pile = await streams.create(coordinator, "pile", msgspec.structs.replace(NUMBERS, mode="backlog"))
        for i in range(70):
            await instances.play(
                coordinator, pile, Raw(X[i].tolist(), f"p{i}", subject=f"client {i % 3}", source="a.csv")
            )
        coordinator.tick()
        await erasing.erase(coordinator, pile, erasing.Which(subject="client 1"), "root")
        advised = await streams.create(coordinator, "advised", ADVISED)
        for i in range(3):
            await instances.play(coordinator, advised, Raw(X[i].tolist(), f"a{i}", advice={"gpt": ["yes", 0.8]}))
        await streams.change(coordinator, "advised", "paused", "root")  # so that they wait
        waiting = Message("msg_dead", hook.hook, 1000.0, None, 9, "it answered with status 500", "{}")
        await coordinator.post([waiting])
        await coordinator.committed(numbers)
        await coordinator.committed(pile)
        return {stream.name: known(coordinator, stream) for stream in coordinator.by_number.values()}


def events(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def unasked(coordinator, stream):
    """The id of an instance that was not asked about, and is not erased later."""
    found = [e for e in events(coordinator, stream) if e.kind == "instance" and e.question is None]
    return next(e.key[2:] for e in found if e.subject == "client 2")


def known(coordinator, stream):
    """What later versions must find again."""
    with contextlib.closing(coordinator.reader()) as reader:
        tables = {
            table: [row for part in export_tables.chunks(reader, stream.number, table, 0, stream.seq) for row in part]
            for table in ("labels", "predictions")
        }
    facts = streams.facts(stream)
    return {
        "facts": {name: value for name, value in facts.items() if name != "settings"},
        "labels": tables["labels"],
        "margins": [row["margin"] for row in tables["predictions"]],
        "kinds": sorted({event.kind for event in events(coordinator, stream)}),
    }


def main(number):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "log.db"
        found = asyncio.run(made(path))
        (FOLDER / f"service-{number}.db.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
    (FOLDER / f"service-{number}.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(int(sys.argv[1]))
