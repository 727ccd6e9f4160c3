"""How long a page of the table of instances takes, in a stream with very many.

``python benchmarks/browse.py [instances] [address]``: a new SQLite file, or an empty PostgreSQL database by its
address. The log is written directly, with texts of twelve words; a tenth was asked about and answered by one of five
people. Then the listing is made, everything gets another prediction, and each kind of search is timed at its first page
and at a later one; the largest of some tries is printed.
"""

from __future__ import annotations

import asyncio
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from askwhen.service.domain import row_codec
from askwhen.service.domain.features import FeatureReader
from askwhen.service.events.kinds import Answered, Flagged, Instance, Told, encoded
from askwhen.service.events.settings import Budget, Features, Settings
from askwhen.service.runtime.coordinator import Coordinator
from askwhen.service.store import open_store
from askwhen.service.store.listing import Predicted
from askwhen.service.store.records import Event
from askwhen.service.use_cases import browsing, streams
from askwhen.service.use_cases.browsing import Filters
from askwhen.service.use_cases.listing import Listings

FEATURES = Features(kind="text", places=1024, vectors=False)
LABELS = ["ham", "spam", "other", "rare"]
COMMON, RARE = [f"common{i}" for i in range(50)], [f"rare{i}" for i in range(50_000)]
SEARCHES: dict[str, Filters] = {
    "newest first": Filters(),
    "oldest first": Filters(sort="oldest"),
    "least certain": Filters(sort="uncertain"),
    "least certain spam": Filters(sort="uncertain", prediction="spam"),
    "most certain, labelled rare": Filters(sort="certain", label="rare"),
    "a common word": Filters(search="common7"),
    "a rare word": Filters(search="rare77"),
    "two words": Filters(search="common1 common2"),
    "a common word, labelled rare": Filters(search="common7", label="rare"),
    "a rare word, least certain": Filters(search="rare77", sort="uncertain"),
    "of a person": Filters(person="person3"),
    "of a person, rare": Filters(person="person3", label="rare"),
    "labelled": Filters(label="rare"),
    "flagged": Filters(flagged=True),
    "disputed (none)": Filters(state="disputed"),
    "predicted otherwise now": Filters(changed=True),
    "certainty between": Filters(least=0.5, most=0.501),
    "a day": Filters(since=40_000.0, until=41_000.0),
    "a day, of a person, rare": Filters(since=40_000.0, until=60_000.0, person="person3", label="rare"),
}
PIECE, TRIES = 20_000, 3


def events(n: int) -> Iterator[list[Event]]:
    """The log of a stream, in pieces."""
    rng, reader, seq, piece = random.Random(5), FeatureReader(FEATURES, 2), 0, []
    rows = [row_codec.to_bytes(reader.instance(" ".join(rng.choices(COMMON, k=12)))) for _ in range(200)]

    def add(kind: str, fact: object, question: int | None = None, **more: object) -> None:
        nonlocal seq
        seq += 1
        piece.append(Event(1, seq, seq / 10.0, kind, question, None, encoded(fact), **more))  # type: ignore[arg-type]

    for i in range(n):
        asked, certainty = rng.random() < 0.1, 0.5 + rng.random() / 2.0
        prediction = rng.choices(LABELS, (80, 15, 4.9, 0.1))[0]
        words = [*rng.choices(COMMON, k=10), *rng.choices(RARE, k=2)]
        shown = b'{"x":"' + " ".join(words).encode() + b'"}'
        fact = Instance(i, prediction, 0.1, 0.1, 0.5, asked, "", i, certainty)
        add("instance", fact, i if asked else None, row=rows[i % len(rows)], shown=shown)
        if asked:
            label = prediction if rng.random() < 0.9 else rng.choice(LABELS)
            add("answered", Answered(0, f"person{rng.randrange(5)}", label), i)
            add("told", Told(label), i)
            if rng.random() < 0.001:
                add("flagged", Flagged(seq - 2, "rae"), i)
        if len(piece) > PIECE:
            yield piece
            piece = []
    yield piece


async def main(n: int, address: str) -> None:
    coordinator = Coordinator(open_store(address))
    await coordinator.start()
    coordinator._ticking.cancel()
    stream = await streams.create(
        coordinator, "pile", Settings(labels=LABELS, features=FEATURES, budget=Budget(rate=0.1), seed=1)
    )
    stream.model.ask(stream.reader.instance("common1"), 0.0)  # so that it can predict
    start = time.perf_counter()
    for piece in events(n):
        await asyncio.to_thread(coordinator._store.write, piece)
    print(f"{n:,} instances written in {time.perf_counter() - start:.0f} s")
    start, listings = time.perf_counter(), Listings(coordinator)
    while left := await listings.catch_up(stream, 10.0):
        print(f"  {left:,} events left after {time.perf_counter() - start:.0f} s")
    print(f"listed in {time.perf_counter() - start:.0f} s")
    rng = np.random.default_rng(1)
    for first in range(1, int(1.2 * n), 50_000):
        guesses = [(item, LABELS[0], float(rng.random())) for item in range(first, first + 50_000)]
        await asyncio.shield(coordinator.commits.add([], None, [Predicted(stream.number, guesses)]))
    await browsing.browse(coordinator, listings, stream, Filters(), None, 1)  # loads what predictions need
    print(f"\nthe largest of {TRIES} tries, {n:,} instances, milliseconds\n")
    print("| search | rows | first page | later page |\n|---|---:|---:|---:|")
    slowest = 0.0
    for name, filters in SEARCHES.items():
        took, page = [0.0, 0.0], None
        for _ in range(TRIES):
            after = None
            for i in range(2):
                start = time.perf_counter()
                page = await browsing.browse(coordinator, listings, stream, filters, after, 50)
                took[i] = max(took[i], time.perf_counter() - start)
                if page.next is None:
                    break
                after = page.next
        assert page is not None
        slowest = max(slowest, *took)
        later = f"{1e3 * took[1]:.1f}" if took[1] else ""
        print(f"| {name} | {len(page.rows)} | {1e3 * took[0]:.1f} | {later} |", flush=True)
    print(f"\nslowest: {1e3 * slowest:.1f} ms; load {Path('/proc/loadavg').read_text().split()[0]}")
    await coordinator.close()


if __name__ == "__main__":
    count = int(float(sys.argv[1])) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(main(count, sys.argv[2] if len(sys.argv) > 2 else f"{folder}/browse.db"))
