"""Traces in files: whole or not there, one writer at a time, and nothing lost when a run is killed."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import askwhen as aw
from askwhen.trace.files import TraceWriter, read_trace
from askwhen.trace.trace import join
from tests.small_disk import mounted

HERE = pathlib.Path()


@pytest.fixture(scope="module")
def pieces():
    X, y = aw.data.switching(3000, 4, 1000, seed=2)
    sampler = aw.paper("SEL-P", b=0.5, seed=3)
    return [sampler.run(X[at : at + 100], y[at : at + 100]) for at in range(0, 3000, 100)]


def columns_of(path):
    return {name: values.tolist() for name, values in read_trace(path).trace.columns().items()}


def _add_all(writer, pieces):
    for piece in pieces:
        writer.add(piece)


def expected(pieces):
    return {name: values.tolist() for name, values in join(pieces).columns().items()}


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_trace_is_there_once_all_of_it_is(pieces, name):
    with TraceWriter(name) as writer:
        for piece in pieces:
            writer.add(piece)
            assert not pathlib.Path(name).exists()
    assert columns_of(name) == expected(pieces)
    assert os.listdir() == [name]


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_full_disk_leaves_the_old_trace_whole(pieces, name):
    with mounted("small", "512k"):
        path = f"small/{name}"
        with TraceWriter(path) as writer:
            writer.add(pieces[0])
        before = pathlib.Path(path).read_bytes()
        writer = TraceWriter(path)
        with pytest.raises(aw.InputError, match="cannot write small/t.* No space left on device"):
            _add_all(writer, 100 * pieces)
        with pytest.raises(aw.InputError, match="No space left"):
            writer.close()
        assert pathlib.Path(path).read_bytes() == before
        write = getattr(join(20 * pieces), f"to_{name.removeprefix('t.')}")
        with pytest.raises(aw.InputError, match="cannot write small/big"):
            write("small/big")
        assert not pathlib.Path("small/big").exists()


def test_two_writers_of_one_trace_are_refused(pieces):
    first = TraceWriter("t.parquet")
    first.add(pieces[0])
    with pytest.raises(aw.InputError, match="another run is writing t.parquet; give this one another name"):
        TraceWriter("t.parquet")
    first.add(pieces[1])
    first.close()
    assert read_trace("t.parquet").trace.rounds == 200
    TraceWriter("t.parquet").close()


KILLED = """
import os, signal, askwhen as aw
from askwhen.trace.trace import join
from askwhen.trace.files import TraceWriter
X, y = aw.data.switching(3000, 4, 1000, seed=2)
sampler = aw.paper("SEL-P", b=0.5, seed=3)
writer = TraceWriter("t.parquet", {"file": "made"})
for at in range(0, 2000, 100):
    writer.add(sampler.run(X[at : at + 100], y[at : at + 100]))
    if at == 1400:
        writer.sync()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(scope="module")
def left_behind(tmp_path_factory):
    folder = tmp_path_factory.mktemp("killed")
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=folder)
    assert done.returncode == -signal.SIGKILL
    return folder


@pytest.fixture
def killed(left_behind):
    """What a killed run leaves: a journal with at least the first 1,500 rounds."""
    shutil.copytree(left_behind, ".", dirs_exist_ok=True)


@pytest.mark.parametrize("torn", [0, 1, 700])
def test_a_killed_run_is_gone_on_with(pieces, killed, torn):
    with open("t.parquet.partial", "ab") as file:
        file.write(os.urandom(torn))
    writer = TraceWriter("t.parquet", rounds=1500)
    assert (writer.before.start, writer.before.rounds) == (0, 1500)
    for piece in pieces[15:]:
        writer.add(piece)
    writer.close()
    assert columns_of("t.parquet") == expected(pieces)
    assert read_trace("t.parquet").about == {"file": "made"}


def test_rounds_that_are_not_those_before_are_refused_and_kept(killed):
    kept = pathlib.Path("t.parquet.partial").read_bytes()
    with pytest.raises(
        aw.InputError, match=r"t.parquet ends at round \d+, but the sampler is at round 1550; give this"
    ):
        TraceWriter("t.parquet", rounds=1550)
    assert pathlib.Path("t.parquet.partial").read_bytes() == kept


def test_a_trace_that_ended_is_gone_on_with(pieces):
    with TraceWriter("t.csv") as writer:
        writer.add(pieces[0])
    with TraceWriter("t.csv", rounds=100) as writer:
        assert writer.before.rounds == 100
        writer.add(pieces[1])
    np.testing.assert_array_equal(read_trace("t.csv").trace.columns()["round"], np.arange(200))
    with pytest.raises(aw.InputError, match="ends at round 200, but the sampler is at round 300"):
        TraceWriter("t.csv", rounds=300)
    assert read_trace("t.csv").trace.rounds == 200
