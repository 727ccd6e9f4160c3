"""Stores whose files were damaged: one sentence that says what to do; and who may read them."""

import random
import stat

import apsw
import pytest
from click.testing import CliRunner

import askwhen as aw
from askwhen.cli.main import main
from askwhen.errors import AskwhenError, SnapshotError
from askwhen.keyed import StoreError
from askwhen.keyed.job import open_store
from askwhen.keyed.stores.sqlite_store import SqliteKeyedStore
from tests.keyed.making import make_log
from tests.keyed.test_processes import make

CURE = "put a backup in its place, or play the log again into a new store"
PAGE = 4096


def of_classes(seed):
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=seed, classes=["a", "b", "c"])


@pytest.fixture(scope="module", params=[make, of_classes], ids=["in slots", "as snapshots"])
def whole(request, tmp_path_factory):
    """A kind of sampler, a log, and the file of a store that has played the first half of it."""
    folder = tmp_path_factory.mktemp("whole")
    make_log(folder / "log", make, events=200, keys=10, partitions=1)
    log = folder / "log" / "part-0.ndjson"
    text = log.read_text().replace('"label": 1', '"label": "a"') if request.param is of_classes else log.read_text()
    lines = text.replace('"label": -1', '"label": "b"' if request.param is of_classes else '"label": -1').splitlines(
        True
    )
    log.write_text("".join(lines[:100]))
    aw.keyed.run(str(folder / "log"), str(folder / "store"), request.param(7), batch=30)
    log.write_text("".join(lines))
    path = folder / "store" / "part-0.keyed"
    with apsw.Connection(str(path)) as connection:
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    return request.param, folder / "log", path.read_bytes()


def said(make_it, log, content):
    """What comes of playing on with a file, and of looking at a sampler; none is an error that should not happen."""
    folder = log.parent / f"damaged-{random.randrange(1 << 60)}"
    folder.mkdir()
    (folder / "part-0.keyed").write_bytes(content)
    found = []
    for call in (
        lambda: [aw.keyed.sampler(str(folder), f"key {number}") for number in range(10)],
        lambda: aw.keyed.run(str(log), str(folder), make_it(7), batch=50, out=f"{folder}-out"),
    ):
        try:
            call()
            found.append("")
        except AskwhenError as error:
            found.append(str(error))
    return found


@pytest.mark.parametrize("length", [1, 50, 100, 1000, PAGE, PAGE + 7, 2 * PAGE])
def test_a_file_that_was_cut_off_is_one_sentence(whole, length):
    make_it, log, content = whole
    looked, played = said(make_it, log, content[:length])
    assert looked.endswith(f": {CURE}.")
    assert played.endswith(f": {CURE}.")


def test_pages_that_were_overwritten_are_one_sentence(whole):
    make_it, log, content = whole
    noise = random.Random(3)
    refused = 0
    for start in range(0, len(content), PAGE):
        wrong = content[:start] + noise.randbytes(PAGE) + content[start + PAGE :]
        refused += any(said(make_it, log, wrong))
    assert refused > 0.9 * len(content) / PAGE  # some may be free


def test_bytes_that_were_changed_are_one_sentence_or_go_unnoticed(whole):
    make_it, log, content = whole
    places = random.Random(4)
    for at in [*range(0, 108, 9), *(places.randrange(len(content)) for _ in range(12))]:
        said(make_it, log, content[:at] + bytes([content[at] ^ 1 << places.randrange(8)]) + content[at + 1 :])


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ("update partition set kind = '{\"parts\": ['", "the description of the samplers in the store is damaged"),
        ("update partition set kind = '[]'", "the description of the samplers in the store is damaged"),
        ("update partition set kind = cast(x'ff' as text)", "the store of partition part-0 is damaged"),
        ("update partition set position = 'part-0.ndjson:1x'", "the offset of a partition in the store is damaged"),
        ("update partition set events = -1", "the counts of a partition in the store is damaged"),
        ("update samplers set state = x'00'", "the stored sampler of key 'key .' cannot be read"),
        ("update samplers set state = substr(state, 1, 40)", "the stored sampler of key 'key .' cannot be read"),
        (
            "update samplers set state = cast(substr(state, 1, 1) || zeroblob(500) as blob)",
            "the stored sampler of key 'key .' cannot",
        ),
    ],
)
def test_what_a_store_holds_may_be_wrong_too(whole, tmp_path, changed, sentence):
    make_it, log, content = whole
    store = tmp_path / "store"
    store.mkdir()
    (store / "part-0.keyed").write_bytes(content)
    with apsw.Connection(str(store / "part-0.keyed")) as connection:
        connection.execute(changed)
    with pytest.raises((StoreError, SnapshotError), match=f"{sentence}.*: {CURE}\\.$"):
        aw.keyed.run(str(log), str(store), make_it(7))


def test_the_command_says_one_sentence_of_a_damaged_store(whole, tmp_path):
    _, log, content = whole
    (tmp_path / "store").mkdir()
    (tmp_path / "store" / "part-0.keyed").write_bytes(b"nothing" + content[7:])
    result = CliRunner().invoke(main, ["keyed", str(log), "--store", "store", "--quiet"])
    reason = "the store of partition part-0 is damaged (file is not a database)"
    assert (result.exit_code, result.stderr) == (1, f"askwhen: {reason}: {CURE}.\n")


def test_numbers_that_cannot_be_read_are_one_sentence(tmp_path):
    store = SqliteKeyedStore(str(tmp_path))
    store.remember("answers", 7)
    assert store.recalled("answers") == 7
    for content in (b"", b"{", b"\xff", b"[1]", b'{"answers": null}'):
        (tmp_path / "numbers.json").write_bytes(content)
        with pytest.raises(StoreError, match=r"numbers.json is damaged .*: remove it, and answers are read again"):
            store.recalled("answers")


def test_only_their_owner_may_read_a_store_and_its_decisions(tmp_path):
    make_log(tmp_path / "log", make, events=40, keys=10, partitions=1)
    aw.keyed.run(str(tmp_path / "log"), "store", make(7), out="decisions", batch=20)
    open_store("store").remember("answers", 7)
    files = [path for folder in ("store", "decisions") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert {"part-0.keyed", "numbers.json", "0000000000000000.ndjson"} <= {path.name for path in files}
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
