"""Folders as logs: lines in the writing, files that follow each other, Parquet."""

import json
import os
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed.events import LONGEST_EVENT
from askwhen.keyed.job import Job, open_store
from askwhen.keyed.logs import folder as folder_log
from askwhen.keyed.logs.folder import FolderLog
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.keyed.killing import assert_as_played
from tests.keyed.making import make_log
from tests.keyed.test_processes import make


def reader(folder, name, sparse=False):
    return FolderLog(str(folder)).reader(name, SamplerSpec.of(make(7), 5, sparse))


def as_table(path, target, sparse=False, group=50):
    """The events of lines of NDJSON as a Parquet file."""
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    x = pa.map_(pa.int64(), pa.float64()) if sparse else pa.list_(pa.float64())
    for row in rows:
        row["x"] = [(int(at), each) for at, each in row["x"].items()] if sparse and "x" in row else row.get("x")
    kinds = {"key": pa.string(), "x": x, "round": pa.int64(), "label": pa.float64(), "forget": pa.bool_()}
    columns = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()}
    pyarrow.parquet.write_table(pa.table(columns), target, row_group_size=group)


@pytest.mark.parametrize("sparse", [False, True])
def test_parquet_gives_what_lines_give(tmp_path, sparse):
    played = make_log(tmp_path / "lines", make, events=300, sparse=sparse)
    (tmp_path / "log").mkdir()
    for name in played:
        as_table(tmp_path / "lines" / f"{name}.ndjson", tmp_path / "log" / f"{name}.parquet", sparse)
    aw.keyed.run(str(tmp_path / "log"), "store", make(7), features=5, sparse=sparse, batch=40)
    kind = SamplerSpec.of(make(7), 5, sparse).written()
    assert_as_played(Job("log", "store", None, kind, 1, 1, False), played)


def test_files_of_a_folder_follow_each_other(tmp_path):
    played = make_log(tmp_path / "lines", make, events=300, partitions=1)
    text = (tmp_path / "lines" / "part-0.ndjson").read_text()
    folder = tmp_path / "log" / "part-0"
    folder.mkdir(parents=True)
    lines = text.splitlines(keepends=True)
    (folder / "001.ndjson").write_text("".join(lines[:100]).rstrip("\n"))  # whose last line has no end
    aw.keyed.run(str(tmp_path / "log"), "store", make(7), features=5, batch=30)
    (tmp_path / "middle.ndjson").write_text("".join(lines[100:200]))
    as_table(tmp_path / "middle.ndjson", folder / "002.parquet")
    aw.keyed.run(str(tmp_path / "log"), "store", make(7), features=5, batch=30)
    (folder / "003.jsonl").write_text("".join(lines[200:]))
    (folder / ".003.jsonl.0123456789abcdef").write_text("a file that is being written")
    aw.keyed.run(str(tmp_path / "log"), "store", make(7), features=5, batch=30)
    kind = SamplerSpec.of(make(7), 5, False).written()
    assert_as_played(Job("log", "store", None, kind, 1, 1, False), played)


def test_a_line_counts_once_it_ends_however_long_it_is(tmp_path):
    long = json.dumps({"key": "a", "x": list(range(30_000))})
    (tmp_path / "p.ndjson").write_text(long)
    found = reader(tmp_path, "p")
    assert found.read("", 10)[0].keys == []
    (tmp_path / "p.ndjson").write_text(long + "\n" + long + "\n")
    batch, position = found.read("", 1)
    assert (["a"], f"p.ndjson:{len(long) + 1}") == (batch.keys, position)
    np.testing.assert_array_equal(np.arange(30_000.0), batch.instances[0])
    assert found.read(position, 10)[0].keys == ["a"]


def test_a_line_of_hundreds_of_megabytes_is_refused_without_reading_it(tmp_path):
    file = tmp_path / "log" / "one.ndjson"
    file.parent.mkdir()
    before = b'{"key": "a", "x": [1]}\n'
    for start in (b"", before):
        with file.open("wb") as opened:
            opened.write(start)
            opened.truncate(300 << 20)  # of which the disk holds nothing
        tracemalloc.start()
        with pytest.raises(
            InputError, match=rf"the line of {file} that begins at byte {len(start)} has more than 16777216"
        ):
            aw.keyed.run(str(file.parent), f"store-{len(start)}", make(7))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert most < 5 * LONGEST_EVENT
    assert open_store(f"store-{len(before)}").counts("one").events == 1


@pytest.mark.parametrize("most", [1, 2, 100])
def test_the_longest_line_is_read_wherever_it_is_and_one_more_byte_is_refused(tmp_path, monkeypatch, most):
    monkeypatch.setattr(folder_log, "LONGEST_EVENT", 100)
    short, longest = (b'{"key": "a", "x": [1%s]}' % (b" " * more) for more in (0, 78))
    assert len(longest) == 100
    (tmp_path / "one.ndjson").write_bytes(b"\n".join([longest, short, longest, short]) + b"\n")
    (tmp_path / "two.ndjson").write_bytes(b"\n".join([short, short, longest + b" ", short]) + b"\n")
    for name, wanted in (("one", 4), ("two", 2)):
        read, position = 0, ""
        while read < wanted:
            batch, position = reader(tmp_path, name).read(position, most)
            read += len(batch.keys)
        assert read == wanted
    with pytest.raises(
        InputError, match=f"two.ndjson that begins at byte {2 * len(short) + 2} has more than 100 bytes"
    ):
        reader(tmp_path, "two").read(position, most)


def test_a_pipe_in_a_folder_is_refused(tmp_path):
    os.mkfifo(tmp_path / "one.ndjson")
    with pytest.raises(InputError, match="one.ndjson is a pipe, which cannot be read again from a position"):
        reader(tmp_path, "one").read("", 1)


def test_what_is_gone_or_is_no_table_is_one_sentence(tmp_path):
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "2.ndjson").touch()
    with pytest.raises(InputError, match=r"has no 1.ndjson any more, which was read up to 12"):
        reader(tmp_path, "p").read("1.ndjson:12", 10)
    (tmp_path / "q.parquet").write_text("no table")
    with pytest.raises(InputError, match="q.parquet cannot be read as Parquet"):
        reader(tmp_path, "q").read("", 10)
    pyarrow.parquet.write_table(pa.table({"x": [1]}), tmp_path / "r.parquet")
    with pytest.raises(InputError, match="r.parquet has no column key"):
        reader(tmp_path, "r").read("", 10)


def test_a_file_that_was_cut_off_or_replaced_is_refused_and_nothing_changes(tmp_path):
    make_log(tmp_path / "log", make, events=60, partitions=1)
    file = tmp_path / "log" / "part-0.ndjson"
    before, whole = aw.keyed.run(str(tmp_path / "log"), "store", make(7)).counts, file.read_bytes()
    half = whole[: whole.index(b"\n", len(whole) // 2) + 1]
    for content, sentence in (
        (half, f"has {len(half)} bytes and was read up to {len(whole)}: it was cut off or replaced"),
        (b"\n" + whole, f"no line of .* ends at {len(whole)}, up to which it was read: it was replaced"),
    ):
        file.write_bytes(content)
        with pytest.raises(InputError, match=sentence):
            aw.keyed.run(str(tmp_path / "log"), "store", make(7))
    file.write_bytes(whole)
    assert before == aw.keyed.run(str(tmp_path / "log"), "store", make(7)).counts
    as_table(file, tmp_path / "q.parquet")
    reader(tmp_path, "q").read("q.parquet:3", 10)
    with pytest.raises(InputError, match=r"q.parquet has \d+ rows and was read up to 1000: it was cut off or replaced"):
        reader(tmp_path, "q").read("q.parquet:1000", 10)


ODD = [
    '{"key":"a","x":[1,2]}{"key":"a","x":[3,2]}',  # two in one line
    '{"key":"b",',  # one in two
    '"x":[1,2]}',
    "",
    *5 * ["  "],
    '{"key":"a","x":[3,2]}',
    "bad",
    '{"key":"a","x":[1,2]}',
]


@pytest.mark.parametrize("batch", [1, 2, 3, 1000])
def test_a_line_is_one_event_or_one_refusal_whatever_is_beside_it(tmp_path, batch):
    (tmp_path / "log" / "p").mkdir(parents=True)
    (tmp_path / "log" / "p" / "2026-11-18T05:00:00.ndjson").write_text("\n" * 3000 + "\n".join(ODD) + "\n")
    (tmp_path / "log" / "p" / "2026-11-18T06:00:00.ndjson").write_text("\n\n" + ODD[-1] + "\n\n")
    counts = aw.keyed.run(tmp_path / "log", tmp_path / "store", make(7), batch=batch).counts
    assert (counts.events, counts.instances, counts.refused) == (7, 3, 4)
    assert counts == aw.keyed.run(tmp_path / "log", tmp_path / "store", make(7), batch=batch).counts


def test_a_parquet_file_that_grows_is_read_on(tmp_path):
    (tmp_path / "log").mkdir()

    def write(rows):
        table = pa.table(
            {"key": ["a"] * rows, "x": pa.array([[float(i), 1.0] for i in range(rows)]), "id": range(rows)}
        )
        pyarrow.parquet.write_table(table, tmp_path / "new.parquet")
        (tmp_path / "new.parquet").rename(tmp_path / "log" / "p.parquet")

    write(10)
    grow = lambda done, _: write(20) if done == 6 else None  # noqa: E731
    found = aw.keyed.run(tmp_path / "log", tmp_path / "store", make(7), out=tmp_path / "out", batch=6, watch=grow)
    assert found.counts.instances == 20
    text = "".join(file.read_text() for file in sorted((tmp_path / "out" / "p").iterdir()))
    assert [json.loads(line)["id"] for line in text.splitlines()] == list(range(20))


LISTS = [pa.list_(pa.float64()), pa.large_list(pa.float32()), pa.list_(pa.int64(), 2)]


@pytest.mark.parametrize("kind", LISTS, ids=str)
def test_every_kind_of_list_is_an_instance_and_a_round_may_be_a_float(tmp_path, kind):
    (tmp_path / "log").mkdir()
    x = pa.array([[1, 2], None, [3, 4], None], kind)
    more = {"round": pa.array([None, 0.0, None, 0.5]), "label": pa.array([None, 1.0, None, 1.0])}
    pyarrow.parquet.write_table(pa.table({"key": ["a"] * 4, "x": x, **more}), tmp_path / "log" / "p.parquet")
    counts = aw.keyed.run(tmp_path / "log", tmp_path / "store", aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)).counts
    assert (counts.instances, counts.answers, counts.refused) == (2, 1, 1)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("x", [["1", "2"], [["a"], ["b"]], [{"a": 1}, {"a": 2}], [[("0", 1.0)], [("1", 1.0)]]], ids=str)
def test_a_column_that_holds_no_instances_is_refused_row_by_row(tmp_path, x, sparse):
    (tmp_path / "log").mkdir()
    column = pa.array(x, pa.map_(pa.string(), pa.float64())) if isinstance(x[0], list) and x[0][0][0] == "0" else x
    pyarrow.parquet.write_table(pa.table({"key": ["a", "b"], "x": column}), tmp_path / "log" / "p.parquet")
    assert aw.keyed.run(tmp_path / "log", tmp_path / "store", make(7), features=5, sparse=sparse).counts.refused == 2


def test_folders_are_apart(tmp_path):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "p.ndjson").touch()
    for store, out in (("log", None), ("log/store", None), ("store", "log"), ("store", "store/out"), (".", None)):
        with pytest.raises(InputError, match="which is in"):
            aw.keyed.run("log", store, make(7), out=out)
    with pytest.raises(InputError, match="partitions must be"):
        aw.keyed.partition_of("a", 0)
    with pytest.raises(InputError, match="key must be a text"):
        aw.keyed.partition_of(3, 4)
