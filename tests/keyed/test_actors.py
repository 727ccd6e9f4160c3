"""Workers placed by Ray: killed actors and drivers leave what was never killed."""

import json
import subprocess
import sys
import threading

import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError, actors
from tests import ray_cluster
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.making import make_log
from tests.keyed.test_processes import from_folder, job_of, make
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")

DRIVER = """
import json, sys
from askwhen.keyed import actors
from askwhen.keyed.job import Job
text, partitions, workers, address = json.loads(sys.argv[1])
actors.run(Job.read(text), partitions, workers, address, lambda done, last: print(done, flush=True))
"""


def actors_of(driver):
    """The processes of actors at work; Ray names them so."""
    found = subprocess.run(["pgrep", "-f", "^ray::PartitionActor"], capture_output=True, text=True).stdout.split()
    return [int(each) for each in found]


@pytest.mark.parametrize("trial", range(times(1, 4)))
def test_killed_actors_and_drivers_leave_what_was_never_killed(tmp_path, cluster, trial):
    played = make_log(tmp_path / "log", make, events=times(800, 3000), partitions=3)

    def start(job, partitions, workers):
        words = json.dumps([job.written(), partitions, workers, cluster])
        return subprocess.Popen([sys.executable, "-c", DRIVER, words], stdout=subprocess.PIPE, text=True)

    job = job_of(tmp_path, batch=5)
    run_and_kill(job, list(played), 2, kills=times(2, 7), seed=trial, started=start, found=actors_of, most=3)
    assert_as_played(job, played, from_folder(tmp_path / "out"))


@pytest.mark.parametrize("trial", range(times(0, 2)))  # a cluster takes half a minute to miss a machine
def test_a_machine_that_is_lost_leaves_what_was_never_lost(tmp_path, cluster, database, trial):
    played = make_log(tmp_path / "log", make, events=3000, partitions=3)
    job = job_of(tmp_path, batch=5, store=database)
    machine = ray_cluster.Machine()
    seen, lost = [], threading.Event()

    def watch(done, _last):
        seen.append(done)
        if done > 30 * (trial + 1) and not lost.is_set() and machine.has_actor("PartitionActor"):
            machine.kill()
            lost.set()

    try:
        with pytest.raises(InputError, match="SQLite files is for one machine, and the cluster has 2"):
            actors.run(job_of(tmp_path), list(played), 3, cluster)
        deaths = actors.run(job, list(played), 3, cluster, watch)  # of three, one has its place there
    finally:
        machine.kill()
    assert lost.is_set()
    assert deaths > 0
    assert_as_played(job, played, from_folder(tmp_path / "out"))


def test_one_call_plays_on_a_cluster_and_errors_are_one_sentence(tmp_path, cluster):
    played = make_log(tmp_path / "log", make, events=200)
    seen = []
    found = aw.keyed.run(
        str(tmp_path / "log"),
        str(tmp_path / "store"),
        make(7),
        workers=2,
        cluster=cluster,
        watch=lambda *a: seen.append(a),
    )
    assert_as_played(job_of(tmp_path, out=None), played)
    assert (found.counts.events, "2 of 2 at their ends") == seen[-1]
    with pytest.raises(StoreError, match="another kind"):
        aw.keyed.run(str(tmp_path / "log"), str(tmp_path / "store"), make(8), cluster=cluster)
    with pytest.raises(InputError, match="inside the cluster: give host:port or auto"):
        aw.keyed.run(str(tmp_path / "log"), str(tmp_path / "store"), make(7), cluster="ray://127.0.0.1:10001")
