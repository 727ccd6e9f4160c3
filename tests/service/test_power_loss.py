"""The power goes at every moment of a scripted sequence; nothing that was acknowledged is lost.

``kill -9`` does not show this, since what was written but not synced survives it in the memory of the system.
"""

import contextlib
import gc

import apsw
import pytest

from askwhen.service.errors import StoreError
from askwhen.service.store import Event, Snapshot, sqlite
from tests.service.power import Disk, Layer, NoPowerError
from tests.soak import times

BATCHES = 25

# What a disk raises while a connection is closed has nowhere to go.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")


@pytest.fixture(scope="module")
def layer():
    layer = Layer("askwhen-power")
    yield layer
    layer.unregister()


@pytest.fixture(autouse=True)
def often(monkeypatch):
    """Checkpoints often, so that the power goes in the middle of them too."""
    monkeypatch.setattr(sqlite, "CHECKPOINT_PAGES", 12)
    yield
    gc.collect()


def event(i):
    return Event(1, i + 1, float(i), "instance", None, f"i:{i}", f'{{"round": {i}}}', b"r" * (i * 37 % 900))


def play(layer, synchronous):
    """Write batches until the power goes: how many of them were acknowledged."""
    acknowledged = 0
    store = None
    with contextlib.suppress(NoPowerError, apsw.Error, StoreError):
        store = sqlite.SqliteStore("log", layer.name, synchronous)
        for batch in range(BATCHES):
            snapshots = [Snapshot(1, batch, "", b"b" * 3000, b"m" * 5000)] if batch % 5 == 4 else []
            store.write([event(3 * batch + j) for j in range(3)], snapshots)
            acknowledged += 1
    return acknowledged, store


def drop(layer, store):
    """Leave a connection behind as a process does that is gone: what it would still write goes nowhere."""
    layer.disk.gone = True
    with contextlib.suppress(NoPowerError, apsw.Error):
        if store is not None:
            store.connection.close(force=True)


def survived(layer, files, acknowledged, cut=None):
    """Whether a store opened on these files has every acknowledged batch, whole, and is sound."""
    layer.disk = Disk(files)
    layer.disk.cut = cut
    try:
        store = sqlite.SqliteStore("log", layer.name)
        found = store.reader().events(1, 0, 10_000)
        sound = store.connection.execute("pragma integrity_check").get == "ok"
        store.connection.close(force=True)
    except (apsw.Error, StoreError, NoPowerError):
        return False
    whole = len(found) % 3 == 0 and found == [event(i) for i in range(len(found))]
    return sound and whole and len(found) >= 3 * acknowledged


def calls_in_all(layer, synchronous):
    layer.disk = Disk()
    acknowledged, store = play(layer, synchronous)
    assert acknowledged == BATCHES
    calls = layer.disk.calls
    drop(layer, store)
    return calls


def losses(layer, synchronous, lies=False):
    """At how many cuts something was lost, and how many there were."""
    calls = calls_in_all(layer, synchronous)
    step = max(1, calls // times(100, calls))
    lost = tried = 0
    for cut in range(0, calls, step):
        layer.disk = disk = Disk(lies=lies)
        disk.cut = cut
        acknowledged, store = play(layer, synchronous)
        drop(layer, store)
        for seed in range(times(1, 4)):
            tried += 1
            lost += not survived(layer, disk.after_loss(seed), acknowledged)
    return lost, tried


def test_nothing_acknowledged_is_lost_wherever_the_power_goes(layer):
    lost, tried = losses(layer, "full")
    assert tried >= 100
    assert lost == 0


@pytest.mark.parametrize(("synchronous", "lies"), [("normal", False), ("off", False), ("full", True)])
def test_the_test_sees_a_loss_where_less_is_synced_or_the_disk_lies(layer, synchronous, lies):
    lost, _ = losses(layer, synchronous, lies)
    assert lost > 0


def test_the_power_may_go_again_while_recovering(layer):
    layer.disk = disk = Disk()
    disk.cut = calls_in_all(layer, "full") * 2 // 3
    layer.disk = again = Disk()
    again.cut = disk.cut
    acknowledged, store = play(layer, "full")
    drop(layer, store)
    files = again.after_loss(1)
    for cut in range(200):
        layer.disk = second = Disk(files)
        second.cut = cut
        store = None
        with contextlib.suppress(NoPowerError, apsw.Error, StoreError):
            store = sqlite.SqliteStore("log", layer.name)
        drop(layer, store)
        assert survived(layer, second.after_loss(cut), acknowledged), cut
        if second.calls < cut:
            break
    else:
        pytest.fail("recovery takes more than two hundred calls")
    assert cut > 0


def test_every_error_of_the_disk_is_raised_and_loses_nothing(layer):
    """An error at call 1, 2, 3, ... until none is hit: the write that met it raises, and those before are there."""
    at = 0
    while True:
        at += 1
        layer.disk = disk = Disk()
        disk.fail = at
        acknowledged, store = play(layer, "full")
        if acknowledged == BATCHES and disk.calls < at:
            drop(layer, store)
            break
        assert acknowledged < BATCHES, f"the error at call {at} was swallowed"
        drop(layer, store)
        assert survived(layer, disk.after_loss(at), acknowledged), at
    assert at > 100
