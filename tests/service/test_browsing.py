"""The table of instances: every search gives what a scan of the export gives, whatever happened before."""

import itertools

import pytest

from askwhen.errors import InputError
from askwhen.service.errors import NotFoundError
from askwhen.service.events.settings import Budget, Features
from askwhen.service.store.listing import words_in
from askwhen.service.use_cases import (
    browsing,
    comments,
    correcting,
    erasing,
    instances,
    label_changes,
    labels,
    questions,
    streams,
    withdrawing,
)
from askwhen.service.use_cases.browsing import Filters
from askwhen.service.use_cases.erasing import Which
from askwhen.service.use_cases.instance_table import InstanceTable
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.listing import Listings
from askwhen.service.use_cases.predicting import predictor_of
from askwhen.service.use_cases.withdrawing import Withdraw
from tests.service.coordinators import Time, open_coordinator, run, settings

WORDS = ["Prize", "prize-winner", "lunch", "größe", "x_1"]
FILTERS = [
    Filters(),
    Filters(search="PRIZE"),
    Filters(search="grosse lunch"),
    Filters(search="größe"),
    Filters(search="n17"),
    Filters(search="nothing at all"),
    Filters(label="spam"),
    Filters(label="ham", person="ann"),
    Filters(prediction="ham", state="predicted"),
    Filters(state="waiting"),
    Filters(state="open"),
    Filters(state="disputed"),
    Filters(state="dropped"),
    Filters(person="rae"),
    Filters(source="b.csv", search="prize"),
    Filters(flagged=True),
    Filters(changed=True),
    Filters(since=1020.0, until=1060.0),
    Filters(since=1010.0, person="ann"),
    Filters(least=0.6, most=0.8),
    Filters(least=0.6, search="lunch"),
]
SORTS = ["newest", "oldest", "certain", "uncertain"]


def text(i):
    return f"{WORDS[i % 5]} {WORDS[i % 3]} number {i}"


async def busy(coordinator, time):
    """A stream in which everything has happened that changes a row."""
    features = Features(kind="text", places=64, vectors=False)
    given = settings(features=features, budget=Budget(rate=0.2), grace=0.0, slots=2)
    stream = await streams.create(coordinator, "mails", given)

    async def answer(most):
        for annotator, number in itertools.product(("ann", "bob"), range(most)):
            shown = await questions.next_question(coordinator, stream, annotator)
            if shown is None:
                continue
            label = "spam" if number % 4 == 0 and annotator == "bob" else ["ham", "spam"][shown.question % 2]
            await questions.answer(coordinator, stream, shown.question, annotator, label)
            time.now += 1.0
            coordinator.tick()

    listings = Listings(coordinator)
    for i in range(60):
        await instances.play(coordinator, stream, Raw(text(i), f"n{i}", source="a.csv" if i % 2 else None))
        time.now += 1.0
    await answer(20)
    await browsing.browse(coordinator, listings, stream, Filters(), None, 10)  # a part of it is listed already
    await instances.play_all(
        coordinator, stream, [Raw(text(i), f"n{i}", source="b.csv") for i in range(60, 110)], backlog=True
    )
    await browsing.browse(coordinator, listings, stream, Filters(), None, 10)
    for _ in range(30):
        stream.decide(time.now)
    await coordinator.committed(stream)
    await streams.change(coordinator, "mails", "paused", "root")  # so that the others wait
    await answer(4)
    return stream, listings


async def scanned(coordinator, stream):
    """All rows, from the export."""
    await coordinator.commits.settled()
    table = InstanceTable(stream.settings, predictor_of(stream), native=True)
    async with coordinator.reading() as log:
        return [row for part in table.chunks(log.reader, stream.number, 0, stream.seq) for row in part]


async def renaming(coordinator, stream):
    """Labels that are renamed, renamed again, given anew and merged, some before and some after a look."""
    listings = Listings(coordinator)
    otherwise = await paged(coordinator, listings, stream, Filters(changed=True))
    changes = [
        (label_changes.rename, "ham", "wanted"),
        (label_changes.rename, "wanted", "fine"),
        (label_changes.add, ["ham"]),
        (label_changes.merge, "ham", "spam"),
        (label_changes.rename, "fine", "ham"),
    ]
    for i, (change, *given) in enumerate(changes):
        await change(coordinator, stream, *given, "root")
        if i == 1:
            found = await paged(coordinator, listings, stream, Filters(changed=True))
            assert [row.id for row in found] == [row.id for row in otherwise]
            assert "ham" not in {row.prediction for row in found}
        if i % 2:
            await browsing.browse(coordinator, listings, stream, Filters(), None, 10)


def matches(row, filters, changed):
    shown = words_in(f"{row['id']} {row['source'] or ''} {row['text'] or ''}") if row["text"] is not None else []
    return (
        set(words_in(filters.search)) <= set(shown)
        and filters.label in (None, row["label"])
        and filters.prediction in (None, row["prediction"])
        and filters.state in (None, row["state"])
        and (filters.person is None or filters.person in (row["by"] or "").split(", "))
        and filters.source in (None, row["source"])
        and (not filters.flagged or row["flagged"])
        and (not filters.changed or row["id"] in changed)
        and (filters.since is None or row["time"] >= filters.since)
        and (filters.until is None or row["time"] < filters.until)
        and (filters.least is None or (row["certainty"] or -1.0) >= filters.least)
        and (filters.most is None or 0.0 <= (row["certainty"] or -1.0) <= filters.most)
    )


async def paged(coordinator, listings, stream, filters, limit=23):
    """All rows of a search, page by page."""
    found, after = [], None
    while True:
        page = await browsing.browse(coordinator, listings, stream, filters, after, limit)
        found += page.rows
        after = page.next
        if after is None:
            return found


def test_every_search_gives_what_a_scan_gives(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time, ticks=False) as coordinator:
            stream, listings = await busy(coordinator, time)
            again = await browsing.predict_again(coordinator, listings, stream)
            rows = await scanned(coordinator, stream)
            changed = {r["id"] for r in rows if r["prediction"] and r["prediction_now"] != r["prediction"]}
            assert (again.instances, again.changed) == (len(rows), len(changed)) == (110, len(changed))
            decided = [row for row in rows if row["round"] is not None]
            free = next(row["round"] for row in decided if row["state"] == "predicted")
            await labels.volunteer(coordinator, stream, "rae", "spam", round=free)
            await correcting.flag(coordinator, stream, free, "rae", True)
            await comments.comment(coordinator, stream, free, "rae", "odd")
            done, other = [row["round"] for row in decided if row["state"] == "labelled" and row["answers"]][:2]
            disputed = next(row["round"] for row in decided if row["state"] == "disputed")
            await correcting.correct(coordinator, stream, disputed, "rae", None)
            await correcting.correct(coordinator, stream, other, "rae", None)
            await correcting.correct(coordinator, stream, done, "rae", "spam")
            await correcting.flag(coordinator, stream, done, "rae", True)
            await correcting.flag(coordinator, stream, done, "rae", False)
            gone = next(row["round"] for row in decided[::-1] if row["source"] == "b.csv")
            await browsing.browse(coordinator, listings, stream, Filters(), None, 10)
            await erasing.erase(coordinator, stream, Which(rounds=[gone, 3]), "root")
            await withdrawing.withdraw(coordinator, stream, Withdraw(ids=["n108", "n109"]), "root")
            await renaming(coordinator, stream)
            await browsing.predict_again(coordinator, listings, stream)
            rows = await scanned(coordinator, stream)
            changed = {r["id"] for r in rows if r["prediction_now"] not in (None, r["prediction"]) and r["prediction"]}
            assert {row["state"] for row in rows} == {"waiting", "predicted", "open", "disputed", "dropped", "labelled"}
            order = {row["id"]: i for i, row in enumerate(rows)}
            for filters in FILTERS:
                wanted = {row["id"]: row for row in rows if matches(row, filters, changed)}
                for sort in SORTS:
                    filters.sort = sort
                    found = await paged(coordinator, listings, stream, filters)
                    ids = [row.id for row in found]
                    if sort in ("certain", "uncertain"):
                        assert set(ids) == {id for id, row in wanted.items() if row["certainty"] is not None}
                        certainty = [row.certainty for row in found]
                        assert certainty == sorted(certainty, reverse=sort == "certain")
                    elif (filters.since, filters.until) == (None, None) or filters.search:
                        live = [row["id"] for row in rows if row["id"] in wanted and row["source"] != "b.csv"]
                        piled = [row["id"] for row in rows if row["id"] in wanted and row["source"] == "b.csv"]
                        assert ids == (piled + live if sort == "oldest" else [*live[::-1], *piled[::-1]]), filters
                    else:
                        times = [row.time for row in found]
                        assert times == sorted(times, reverse=sort == "newest")
                        assert sorted(ids, key=order.get) == [row["id"] for row in rows if row["id"] in wanted], filters
                    for row in found:
                        other = wanted[row.id]
                        assert (row.x, row.label, row.state) == (other["text"], other["label"], other["state"])
                        assert (row.prediction_now, row.certainty_now) == (
                            other["prediction_now"],
                            other["certainty_now"],
                        )
                        assert (row.flagged, row.comments, row.source) == (
                            other["flagged"],
                            other["comments"],
                            other["source"],
                        )
            (row,) = await paged(coordinator, listings, stream, Filters(flagged=True))
            shown = await browsing.one(coordinator, listings, stream, row.item)
            assert [each.kind for each in shown.history] == ["instance", "volunteered", "flagged", "commented"]
            assert (shown.history[1].by, shown.history[1].label, shown.history[3].text) == ("rae", "spam", "odd")
            await erasing.erase(coordinator, stream, Which(rounds=[free]), "root")
            shown = await browsing.one(coordinator, listings, stream, row.item)
            assert (shown.instance.x, shown.history[3].text) == (None, None)  # comments go with what they are about
            with pytest.raises(NotFoundError):
                await browsing.one(coordinator, listings, stream, 10_000)
            with pytest.raises(InputError, match="next of an earlier page"):
                await browsing.browse(coordinator, listings, stream, Filters(), "x", 5)
            before = await paged(coordinator, listings, stream, Filters())
        async with open_coordinator(address, time, ticks=False) as coordinator:  # it is stored
            stream = coordinator.stream("mails")
            assert await paged(coordinator, Listings(coordinator), stream, Filters()) == before

    run(go())
