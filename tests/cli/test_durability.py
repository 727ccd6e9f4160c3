"""What a command leaves behind when the disk is full, its output is closed, or it is killed."""

import json
import pathlib
import re
import subprocess
import time

import pytest

import askwhen as aw
from askwhen.trace_files import read_trace
from tests.cli.running import COMMAND, D, N, askwhen, environment, facts, stream, svmlight_lines, write_csv
from tests.cli.running import write_svmlight as write
from tests.cli.test_run import SEL_P, feed, started
from tests.small_disk import mounted

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


def shell(text, **more):
    words = " ".join(f"'{word}'" for word in COMMAND)
    return subprocess.run(
        ["bash", "-c", text.replace("askwhen", words)], capture_output=True, text=True, env=environment(**more)
    )


def test_a_full_disk_leaves_the_old_trace_and_the_results_are_printed():
    write(HERE / "s.svm")
    with mounted("small", "160k") as small:
        good = HERE / "s.svm"
        (HERE / "head.svm").write_text("".join(svmlight_lines(*stream())[:200]))
        facts("run", "head.svm", "--features", D, *SEL_P, "--trace", small / "t.csv")
        before = (small / "t.csv").read_bytes()
        done = askwhen("run", good, "--features", D, *SEL_P, "--trace", small / "t.csv", "--json")
        assert done.returncode == 1
        assert "askwhen: cannot write small/t.csv: No space left on device." in done.stderr
        assert (small / "t.csv").read_bytes() == before


@pytest.mark.parametrize("output", ["model", "report"])
def test_results_are_printed_before_files_are_written(output):
    write(HERE / "s.svm")
    with mounted("small", "4k") as small:
        (small / "filler").write_bytes(bytes(2000))
        done = askwhen("run", "s.svm", "--features", D, *SEL_P, f"--{output}", small / "there", "--json")
        assert done.returncode == 1
        assert json.loads(done.stdout)["rounds"] == N
        assert re.search(r"askwhen: .*cannot write .*small/there: No space left on device\.\n", done.stderr)
        assert not (small / "there").exists()


def test_two_runs_with_one_trace_never_mix():
    first = started("-", "--format", "svmlight", "--features", D, *SEL_P, "--trace", "t.csv")
    lines = svmlight_lines(*stream())
    feed(first, lines[:500])
    write(HERE / "s.svm")
    second = askwhen("run", "s.svm", "--features", D, *SEL_P, "--trace", "t.csv", "--quiet")
    assert second.returncode == 1
    assert second.stderr == "askwhen: another run is writing t.csv; give this one a name of its own.\n"
    first.communicate("".join(lines[500:]), timeout=60)
    assert first.returncode == 0
    assert read_trace("t.csv").trace.rounds == N


def test_a_killed_run_goes_on_from_its_checkpoint_as_if_nothing_had_been():
    lines, reading = svmlight_lines(*stream()), ("--format", "svmlight", "--features", D)
    write(HERE / "whole.svm")
    facts("run", "whole.svm", *reading, *SEL_P, "--trace", "whole.parquet", "--model", "whole.askwhen")
    process = started("-", *reading, *SEL_P, "--trace", "t.parquet", "--model", "m.askwhen", "--checkpoint", "0.001s")
    for at in range(0, 1200, 300):
        feed(process, lines[at : at + 300])
        time.sleep(0.3)  # what saving took must be a small part of the time
    process.kill()
    _, err = process.communicate(timeout=60)
    assert err.count("Saving a checkpoint to m.askwhen.checkpoint now and then; after a crash, --resume m.askwhen") == 1
    assert not (HERE / "m.askwhen").exists()
    rounds = aw.Sampler.load("m.askwhen.checkpoint").round
    assert 300 < rounds <= 1200

    args = ("whole.svm", *reading, "--resume", "m.askwhen", "--trace", "t.parquet", "--model", "m.askwhen")
    done = askwhen("run", *args, "--json")
    assert f"Going on from the checkpoint m.askwhen.checkpoint, after round {rounds:,}." in done.stderr
    assert json.loads(done.stdout)["rounds"] == N
    assert pathlib.Path("m.askwhen").read_bytes() == pathlib.Path("whole.askwhen").read_bytes()
    for name, values in read_trace("whole.parquet").trace.columns().items():
        assert read_trace("t.parquet").trace.columns()[name].tolist() == values.tolist()
    assert not list(HERE.glob("*.checkpoint"))
    assert not list(HERE.glob("*.partial"))


def test_a_run_without_a_model_leaves_no_checkpoint_behind():
    write(HERE / "s.svm")
    done = askwhen("run", "s.svm", *SEL_P, "--checkpoint", "0.001s")
    assert "Saving a checkpoint to s.askwhen.checkpoint" in done.stderr
    assert sorted(path.name for path in HERE.iterdir()) == ["s.svm"]
    (HERE / "s.askwhen.checkpoint").write_bytes(b"")
    done = askwhen("run", "s.svm", *SEL_P, "--checkpoint", "never", "--model", "s.askwhen")
    assert (
        "An earlier run left a checkpoint, s.askwhen.checkpoint; --resume s.askwhen would go on from it." in done.stderr
    )


def test_a_checkpoint_that_cannot_be_saved_stops_nothing():
    write(HERE / "s.svm")
    with mounted("small", "4k") as small:
        (small / "filler").write_bytes(bytes(4000))
        done = askwhen("run", "s.svm", *SEL_P, "--checkpoint", "0.001s", "--model", small / "m.askwhen")
    assert done.stderr.count("No checkpoint could be saved, and the run goes on without: ") == 1
    assert f"rounds                 {N:,}" in done.stdout


def test_a_closed_pipe_a_full_device_or_no_output_at_all_lose_no_file():
    write(HERE / "s.svm")
    command = f"askwhen run s.svm --features {D} -a sel-p --set b=0.5 --quiet --model"
    for ending, said in (
        ("| head -c 0; exit ${PIPESTATUS[0]}", ""),
        ("> /dev/full", "askwhen: the results cannot be printed: No space left on device.\n"),
        (">&-", "askwhen: the standard output is closed.\n"),
    ):
        done = shell(f"{command} kept {ending}")
        assert (done.returncode, done.stderr) == (1, said)
        assert aw.Sampler.load("kept").round == N
        pathlib.Path("kept").unlink()


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_an_encoding_that_lacks_characters_is_no_disaster(encoding):
    write_csv(HERE / "s.csv")
    args = ("s.csv", "--label", "spam", "-a", "default,random", "--repeats", 2, "--labels", "10%")
    done = askwhen("compare", *args, stdin=b"", PYTHONIOENCODING=encoding)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"default" in done.stdout


def test_a_name_that_is_no_text_is_refused_in_one_sentence():
    write_csv(HERE / "s.csv")
    done = shell("askwhen run s.csv --label $'sp\\xff' --quiet")
    assert done.returncode == 1
    assert done.stderr.startswith("askwhen: s.csv has no column 'sp\\udcff'; it has 'f0'")


def test_what_comes_through_a_named_pipe_is_read():
    write_csv(HERE / "s.csv")
    whole = facts("run", "s.csv", "--label", "spam")
    done = shell("gzip -k s.csv; askwhen run <(zcat s.csv.gz) --format csv --label spam --json --quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"] == whole["questions"]
