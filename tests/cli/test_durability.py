"""What a command leaves behind when the disk is full, its output is closed, or it is killed."""

import json
import pathlib
import re
import shlex
import subprocess
import time

import numpy as np
import pytest

import askwhen as aw
from askwhen.snapshot import file_format
from askwhen.trace.files import read_trace
from tests.cli.running import (
    COMMAND,
    D,
    N,
    as_read,
    askwhen,
    environment,
    facts,
    from_scratch,
    inside,
    refused,
    stream,
    svmlight_lines,
    write_csv,
    write_table,
)
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


def test_a_full_disk_ends_the_trace_and_nothing_else():
    write(HERE / "s.svm")
    (HERE / "head.svm").write_text("".join(svmlight_lines(*stream())[:200]))
    with mounted("small", "160k") as small:
        facts("run", "head.svm", "--features", D, *SEL_P, "--trace", small / "t.csv")
        before = (small / "t.csv").read_bytes()
        done = askwhen("run", "s.svm", *SEL_P, "--trace", small / "t.csv", "--model", small / "m.askwhen", "--json")
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1] == "askwhen: cannot write small/t.csv: No space left on device."
        assert json.loads(done.stdout)["rounds"] == N
        assert aw.Sampler.load(small / "m.askwhen").round == N
        assert (small / "t.csv").read_bytes() == before
        assert sorted(path.name for path in small.iterdir()) == ["m.askwhen", "t.csv"]


def test_predictions_on_a_full_disk_are_not_cut_off_without_a_word():
    write_csv(HERE / "s.csv")
    facts("run", "s.csv", "--label", "spam", "--model", "m.askwhen")
    with mounted("small", "40k") as small:
        with (small / "p.csv").open("w") as file:
            done = subprocess.run(
                [*COMMAND, "predict", "m.askwhen", "s.csv", "--quiet"],
                stdout=file,
                stderr=subprocess.PIPE,
                text=True,
                env=environment(),
            )
        assert done.returncode == 1
        assert done.stderr == "askwhen: the results cannot be printed: No space left on device.\n"


def are_alike(*models):
    """Whether samplers are the same, whatever their notes say of the first rows of their files."""
    (header, arrays), (other, others) = (file_format.read(model) for model in models)
    same = all(np.array_equal(arrays[name], others[name], equal_nan=True) for name in arrays)
    return same and arrays.keys() == others.keys() and header | {"note": ""} == other | {"note": ""}


def test_a_checkpoint_stays_until_something_better_is_there():
    write_csv(HERE / "s.csv")
    lines = (HERE / "s.csv").read_text().splitlines(keepends=True)
    (HERE / "head.csv").write_text("".join(lines[:901]))
    facts("run", "s.csv", "--label", "spam", *SEL_P, "--model", "whole.askwhen", "--trace", "whole.csv")
    facts("run", "head.csv", "--label", "spam", *SEL_P, "--model", "h.askwhen", "--trace", "t.csv")
    (HERE / "h.askwhen").rename("h.askwhen.checkpoint")  # as a killed run leaves it
    (HERE / "bad.csv").write_text("".join(lines[:50]) + "1,2\n")
    for args in (
        ("s.csv", "--label", "nolabel"),
        ("bad.csv", "--label", "spam", "--skip", 0),
        ("s.csv", "--label", "spam", "--skip", 5000),
    ):
        assert inside("run", *args, "--resume", "h.askwhen").returncode == 1
        assert aw.Sampler.load("h.askwhen.checkpoint").round == 900
    found = facts("run", "s.csv", "--resume", "h.askwhen", "--trace", "t.csv")  # columns are known from before
    assert found["model"] == "h.askwhen"  # what a crash has spared is not thrown away
    assert are_alike("h.askwhen", "whole.askwhen")
    assert (HERE / "t.csv").read_bytes() == (HERE / "whole.csv").read_bytes()

    (HERE / "h.askwhen").rename("h.askwhen.checkpoint")  # killed after the last round, before the model was saved
    done = inside("run", "s.csv", "--resume", "h.askwhen", "--trace", "t.csv")
    assert done.returncode == 0
    assert "The run had come to its end: its sampler is in h.askwhen now." in done.stdout
    assert are_alike("h.askwhen", "whole.askwhen")
    assert not (HERE / "h.askwhen.checkpoint").exists()


def test_a_resumed_run_reads_its_file_as_before_or_not_at_all():
    X, y = stream()
    write_table(HERE / "s.csv", "abcdefy", [*zip(*X.T, y, strict=True)])
    write_table(HERE / "head.csv", "abcdefy", [*zip(*X[:1000].T, y[:1000], strict=True)])
    order = np.random.default_rng(3).permutation(N)
    facts("run", "s.csv", "--shuffle", "--seed", 3, "--positive", "-1.0", "--skip", 1000, "--model", "m.askwhen")
    note = json.loads(file_format.read("m.askwhen")[0]["note"])
    assert (note["seed"], note["offset"], note["words"]) == (3, 1000, ["1.0", "-1.0"])
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=N - 1000), seed=3)
    sampler.run(as_read(X[order][1000:]), -y[order][1000:])
    assert aw.Sampler.load("m.askwhen").weights.tolist() == sampler.weights.tolist()
    said = refused("run", "s.csv", "--resume", "m.askwhen", "--positive", "1.0", code=2)
    assert "--positive must be as before: this sampler has learnt with --positive -1.0." in said
    facts("run", "head.csv", "--model", "plain.askwhen")
    said = refused("run", "s.csv", "--resume", "plain.askwhen", "--shuffle", code=2)
    assert "--shuffle goes with a new sampler; this one has taken its file as it is." in said


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
    assert second.stderr == "askwhen: another run is writing t.csv; give this one another name.\n"
    first.communicate("".join(lines[500:]), timeout=300)
    assert first.returncode == 0
    assert read_trace("t.csv").trace.rounds == N


def saved_beyond(rounds):
    path = HERE / "m.askwhen.checkpoint"
    return path.exists() and aw.Sampler.load(path).round > rounds


def test_a_killed_run_goes_on_from_its_checkpoint_as_if_nothing_had_been():
    lines, reading = svmlight_lines(*stream()), ("--format", "svmlight", "--features", D)
    write(HERE / "whole.svm")
    facts("run", "whole.svm", *reading, *SEL_P, "--trace", "whole.parquet", "--model", "whole.askwhen")
    process = started("-", *reading, *SEL_P, "--trace", "t.parquet", "--model", "m.askwhen", "--checkpoint", "0.001s")
    for at in range(0, 1200, 300):
        feed(process, lines[at : at + 300])
        time.sleep(0.3)  # what saving took must be a small part of the time
    fed, end = 1200, time.monotonic() + 120.0
    while not saved_beyond(300) and time.monotonic() < end:  # a machine that is busy gets there later
        feed(process, lines[fed : fed + 50])
        fed += 50
        time.sleep(1.0)
    process.kill()
    _, err = process.communicate(timeout=300)
    assert err.count("Saving a checkpoint to m.askwhen.checkpoint now and then; after a crash, go on with\n") == 1
    assert not (HERE / "m.askwhen").exists()
    rounds = aw.Sampler.load("m.askwhen.checkpoint").round
    assert 300 < rounds <= fed

    skip = ("--skip", rounds)  # what came through a pipe is of no file
    args = ("whole.svm", *reading, "--resume", "m.askwhen", *skip, "--trace", "t.parquet", "--model", "m.askwhen")
    done = askwhen("run", *args, "--json")
    assert f"Going on from the checkpoint m.askwhen.checkpoint, after {rounds:,} rows." in done.stderr
    assert json.loads(done.stdout)["rounds"] == N
    assert f"Skipping the first {rounds:,} rows of whole.svm." in done.stderr
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
    said = "An earlier run left a checkpoint, s.askwhen.checkpoint; to go on from it:\n  askwhen run s.svm"
    assert said in done.stderr
    assert "--resume s.askwhen\n" in done.stderr


def test_a_checkpoint_that_cannot_be_saved_stops_nothing():
    write(HERE / "s.svm")
    with mounted("small", "4k") as small:
        (small / "filler").write_bytes(bytes(4000))
        done = askwhen("run", "s.svm", *SEL_P, "--checkpoint", "0.001s", "--model", small / "m.askwhen")
    assert done.stderr.count("No checkpoint could be saved, and the run goes on without: ") == 1
    assert re.search(rf"rows +{N:,}\n", done.stdout)


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
    done = from_scratch("compare", *args, stdin=b"", PYTHONIOENCODING=encoding)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False)
    assert b"default" in done.stdout


def test_a_name_that_is_no_text_is_refused_in_one_sentence():
    write_csv(HERE / "s.csv")
    done = shell("askwhen run s.csv --label $'sp\\xff' --quiet")
    assert done.returncode == 1
    assert done.stderr.startswith("askwhen: s.csv has no column 'sp\\udcff'; it has 'f0'")


def test_what_comes_through_a_named_pipe_is_read():
    write_csv(HERE / "s.csv")
    whole = facts("run", "s.csv", "--label", "spam", *SEL_P)
    said = shlex.join(map(str, SEL_P))
    done = shell(f"gzip -k s.csv; askwhen run <(zcat s.csv.gz) --format csv --label spam {said} --json --quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["questions"] == whole["questions"]
