"""Partitions that a log gets while it is followed are found and played."""

import json

import pytest

import askwhen as aw
from askwhen.keyed import job
from tests.keyed.test_processes import make


class EnoughError(Exception):
    """Ends a run that would follow its log for ever."""


@pytest.mark.parametrize("workers", [0, 1])
def test_a_partition_that_appears_while_a_log_is_followed_is_played(tmp_path, monkeypatch, workers):
    monkeypatch.setattr(job, "LOOK_AGAIN", 0.0)
    log, store = tmp_path / "log", str(tmp_path / "store")
    log.mkdir()

    def add(name, events):
        (log / name).write_text("".join(json.dumps({"key": name, "x": [1.0, n]}) + "\n" for n in range(events)))

    def watch(done, partition):
        if partition == "old":
            add("new.ndjson", 3)
        else:
            raise EnoughError(done)

    add("old.ndjson", 2)
    with pytest.raises(EnoughError, match="5"):
        aw.keyed.run(str(log), store, make(7), follow=True, workers=workers, watch=watch)
    assert aw.keyed.sampler(store, "new.ndjson").round == 3


def test_without_follow_nothing_is_looked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(job, "LOOK_AGAIN", 0.0)
    log = tmp_path / "log"
    log.mkdir()
    (log / "old.ndjson").write_text('{"key": "a", "x": [1, 2]}\n')
    found = aw.keyed.run(
        str(log), "store", make(7), watch=lambda _done, _partition: (log / "new.ndjson").write_text('{"key": "b"}\n')
    )
    assert (found.partitions, found.counts.events) == (["old"], 1)
