"""Group commit: what is acknowledged is on the disk, and an error ends everything."""

import asyncio
import threading
import time

import pytest

from askwhen.service.errors import StoppingError
from askwhen.service.runtime.group_commit import GroupCommit
from askwhen.service.store import Event
from tests.service.coordinators import run


def event(i):
    return Event(1, i, 0.0, "answered", None, None, "{}")


class Slow:
    """A store whose commits wait to be let through."""

    def __init__(self):
        self.batches, self.gate, self.error = [], threading.Semaphore(0), None

    def write(self, events, snapshots, changes):
        self.gate.acquire()
        if self.error is not None:
            raise self.error
        self.batches.append([each.seq for each in events] + list(snapshots))


def test_what_comes_during_a_commit_goes_with_the_next():
    async def play():
        store, failures = Slow(), []
        commits = GroupCommit(store, failures.append)
        first = commits.add([event(1)])
        await asyncio.sleep(0.05)
        later = [commits.add([event(i)]) for i in (2, 3)]
        waits = asyncio.ensure_future(commits.settled())
        await asyncio.sleep(0.05)
        assert not first.done()
        store.gate.release()
        await first
        assert not later[0].done()
        assert not waits.done()
        store.gate.release()
        await asyncio.gather(*later, waits)
        assert store.batches == [[1], [2, 3]]
        await commits.settled()
        commits.add([], lambda: "snapshot")
        store.gate.release()
        await commits.settled()
        await commits.close()
        assert store.batches[-1] == ["snapshot"]
        with pytest.raises(StoppingError):
            commits.add([event(4)])
        assert failures == []

    run(play())


def test_what_is_added_in_one_turn_of_the_loop_is_committed_together():
    async def play():
        store, failures = Slow(), []
        store.gate.release(10)
        commits = GroupCommit(store, failures.append)
        for first in (1, 3):
            done = commits.add([event(first)])
            time.sleep(0.05)  # the thread could run now, and must not
            assert commits.add([event(first + 1)]) is done
            await done
        await commits.close()
        assert store.batches == [[1, 2], [3, 4]]

    run(play())


def test_an_error_fails_everybody_and_is_never_tried_again():
    async def play():
        store, failures = Slow(), []
        commits = GroupCommit(store, failures.append)
        store.error = OSError("the disk is full")
        first = commits.add([event(1)])
        await asyncio.sleep(0.05)
        second = commits.add([event(2)])
        store.gate.release(5)
        for each in (first, second):
            with pytest.raises(StoppingError, match="the database failed"):
                await each
        with pytest.raises(StoppingError):
            await commits.settled()
        with pytest.raises(StoppingError):
            commits.add([event(3)])
        assert failures == [store.error]
        assert store.batches == []
        await commits.close()

    run(play())
