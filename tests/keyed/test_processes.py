"""Plain processes: killed at any moment, they end as one that never was."""

import json
import subprocess
import time

import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from askwhen.keyed.decisions import read
from askwhen.keyed.job import Job
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.cli.running import COMMAND, environment, facts, inside
from tests.keyed.killing import assert_as_played, children, run_and_kill, start
from tests.keyed.making import make_log
from tests.soak import times


def make(seed):
    return aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed)


def job_of(tmp_path, **changes):
    kind = SamplerSpec.of(make(7), None, False).written()
    settings = {
        "store": str(tmp_path / "store"),
        "out": str(tmp_path / "out"),
        "cache": 20,
        "batch": 10,
        "follow": False,
    }
    return Job(source=str(tmp_path / "log"), kind=kind, **(settings | changes))


def from_folder(folder):
    """What an output log holds; a killed worker may leave a hidden file beside it."""
    return lambda name: [each for file in sorted((folder / name).glob("*.ndjson")) for each in read(file.read_bytes())]


@pytest.mark.parametrize("trial", range(times(1, 8)))
def test_killed_workers_and_drivers_leave_what_was_never_killed(tmp_path, trial):
    played = make_log(tmp_path / "log", make, seed=7, events=times(600, 2000), partitions=3)
    job = job_of(tmp_path)
    run_and_kill(job, list(played), 2, kills=times(2, 7), seed=trial)  # a worker, then whoever started it
    assert_as_played(job, played, from_folder(tmp_path / "out"))


def test_workers_end_with_whoever_started_them(tmp_path):
    played = make_log(tmp_path / "log", make, events=50)
    driver = start(job_of(tmp_path, follow=True), list(played), 2)
    assert int(driver.stdout.readline()) > 0
    workers = children(driver.pid)
    assert len(workers) == 2
    driver.kill()
    driver.wait()
    driver.stdout.close()
    deadline = time.time() + 120
    while any(alive(pid) for pid in workers) and time.time() < deadline:
        time.sleep(0.05)
    assert not any(alive(pid) for pid in workers)


def alive(pid):
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True).stdout.strip()
    return found != "" and not found.startswith("Z")


def test_what_a_worker_refuses_is_one_error_here(tmp_path):
    make_log(tmp_path / "log", make, events=20)
    aw.keyed.run(str(tmp_path / "log"), str(tmp_path / "store"), make(7))
    with pytest.raises(StoreError, match="another kind"):
        aw.keyed.run(str(tmp_path / "log"), str(tmp_path / "store"), make(8), workers=2)


def test_the_command_plays_a_log_follows_it_and_goes_on(tmp_path):
    log, store = tmp_path / "log", tmp_path / "store"
    played = make_log(log, lambda seed: aw.paper("PERCEPTRON-SS", a=0.5, seed=seed), events=300)
    whole = {name: (log / f"{name}.ndjson").read_text() for name in played}
    for name, text in whole.items():
        (log / f"{name}.ndjson").write_text(text[: len(text) // 2])
    args = ("keyed", log, "--store", store, "--raw", "--set", "a=0.5", "--seed", 7)
    first = facts(*args)
    assert first["refused"] >= 0
    following = subprocess.Popen([*COMMAND, *map(str, args), "--follow", "--quiet"], env=environment())
    for name, text in whole.items():
        (log / f"{name}.ndjson").write_text(text)
    expected = sum(text.count("\n") for text in whole.values())
    deadline = time.time() + 120
    while facts_of(store, played) < expected and time.time() < deadline:
        time.sleep(0.1)
    following.terminate()
    following.wait()
    found = facts(*args, "--workers", 1)
    assert (expected, 2, 0) == (found["events"], found["partitions"], found["deaths"])
    assert sum(len(reference.decisions) for reference in played.values()) == found["instances"]
    key, reference = next((key, sampler) for each in played.values() for key, sampler in each.samplers.items())
    assert reference.round == aw.keyed.sampler(str(store), key).round


def facts_of(store, played):
    from askwhen.keyed.job import open_store

    return sum(open_store(str(store)).counts(name).events for name in played)


def test_bad_input_is_one_sentence(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.ndjson").write_text(json.dumps({"key": "a", "x": [1.0]}) + "\n")
    for args, sentence in (
        (("nowhere", "--store", "s"), "nowhere is not a directory of partitions."),
        (("empty", "--store", "s"), "empty has no partitions: files of NDJSON or Parquet, or directories."),
        (
            ("http://log", "--store", "s"),
            "a log is a directory, redis://..., kafka://... or nats://..., got 'http://log'.",
        ),
        (
            ("log", "--store", "s", "--out", "http://out"),
            "a log is a directory, redis://..., kafka://... or nats://..., got 'http://out'.",
        ),
        (("log", "--store", "s", "--out", "log/a.ndjson"), "log/a.ndjson is not a directory, which decisions need."),
        (("log", "--store", "ftp://s"), "a store is a directory or postgresql://..., got 'ftp://s'."),
        (
            ("log", "--store", "s", "--sparse"),
            "features must say how many features there are where instances are sparse.",
        ),
        (("log", "--store", "s", "--labels", "500"), "--labels must be a share here, as in 10%."),
    ):
        done = inside("keyed", *args)
        assert (1, "askwhen: " + sentence) == (done.returncode, done.stderr.splitlines()[-1])
        assert not (tmp_path / "s").exists()
    with pytest.raises(InputError, match="sampler must have a seed"):
        aw.keyed.run("log", "s", aw.Sampler())
    aw.keyed.run("log", "s", make(7))
    with pytest.raises(InputError, match="no sampler of key 'b'"):
        aw.keyed.sampler("s", "b")


def test_both_names_of_one_partition_are_refused(tmp_path):
    for name in ("a.ndjson", "a.parquet"):
        (tmp_path / name).touch()
    with pytest.raises(InputError, match="has a twice"):
        aw.keyed.run(str(tmp_path), "s", make(7))
