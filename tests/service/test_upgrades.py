"""Databases of every released version, from the first on, are served by this one, and nothing in them changes."""

import contextlib
import gzip
import json
import pathlib

import numpy as np
import pytest

from askwhen.service import backups, exports
from askwhen.service.uses import instances, questions, reports, streams
from askwhen.service.uses.instances import Raw
from tests.service import history
from tests.service.desks import Time, open_desk, run

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
VERSIONS = ["service-1"]
"""Each is a database as a kill left it, and what was known of it then."""

X = np.random.default_rng(8).standard_normal((80, 3))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_an_older_version_goes_on(version, address, tmp_path):
    old = tmp_path / "old.db"
    old.write_bytes(gzip.decompress((GOLDEN / f"{version}.db.gz").read_bytes()))
    known = json.loads((GOLDEN / f"{version}.json").read_text())
    if "://" in address:
        backups.migrate(str(old), address)
    else:
        address = str(old)

    async def go():
        time = Time(1060.0)
        async with open_desk(address, time) as desk:
            assert set(desk.streams) == set(known)
            assert [holder.name for holder in desk.tokens.all()] == ["root"]
            for name, wanted in known.items():
                stream = desk.stream(name)
                facts = streams.facts(stream)
                with contextlib.closing(desk.reader()) as reader:
                    tables = {
                        table: [
                            row
                            for part in exports.chunks(reader, stream.number, table, 0, wanted["facts"]["seq"])
                            for row in part
                        ]
                        for table in ("labels", "predictions")
                    }
                assert tables["labels"] == wanted["labels"]
                assert [row["margin"] for row in tables["predictions"]] == wanted["margins"]
                for count in ("rounds", "asked", "told", "forgotten", "corrected", "waiting"):
                    assert facts[count] == wanted["facts"][count]
            for stream in desk.numbers.values():
                await reports.report(desk, stream, 0.95)
            stream = desk.stream("numbers")
            assert (await instances.play(desk, stream, Raw(X[0].tolist(), "n0"))).again
            for i in range(60, 80):
                await instances.play(desk, stream, Raw(X[i].tolist(), f"n{i}"))
                shown = await questions.next_question(desk, stream, "cid")
                if shown is not None:
                    await questions.answer(desk, stream, shown.question, "cid", "yes", f"c{i}")
                time.now += 3.0
                desk.tick()
            assert stream.state.round == known["numbers"]["facts"]["rounds"] + 20
            with contextlib.closing(desk.reader()) as reader:
                history.check(reader.events(stream.number, 0, 1 << 40))

    run(go())
