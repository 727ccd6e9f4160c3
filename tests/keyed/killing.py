"""Workers that are killed at random moments, as processes of their own."""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time

from askwhen.keyed.job import Job, open_store
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.keyed.test_worker import decided, states

DRIVER = """
import json, sys
from askwhen.keyed.job import Job
from askwhen.keyed import local_processes
text, partitions, workers = json.loads(sys.argv[1])
local_processes.run(Job.read(text), partitions, workers, lambda done, last: print(done, flush=True))
"""


def children(pid):
    """Processes that this one started."""
    found = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True).stdout.split()
    return [int(each) for each in found]


def start(job, partitions, workers):
    command = [sys.executable, "-c", DRIVER, json.dumps([job.written(), partitions, workers])]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def its_workers(driver):
    return children(driver.pid)


def run_and_kill(job, partitions, workers, kills, seed, started=start, found=its_workers, most=40):
    """Run a job to its end, and kill so many times a worker or whoever started it, after at most so many commits."""
    chance = random.Random(seed)
    while True:
        driver = started(job, partitions, workers)
        commits = chance.randrange(1, most // 4 + 2)
        for _ in driver.stdout:
            commits -= 1
            if commits == 0 and kills > 0:
                time.sleep(0.1 * chance.random())
                kills -= 1
                commits = chance.randrange(1, most)
                others = found(driver)
                victim = chance.choice(others) if others and kills % 3 else driver.pid
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        driver.stdout.close()
        code = driver.wait()
        if code == 0:
            assert kills == 0, f"{kills} kills are left at the end; give it more to do"
            return
        assert code == -signal.SIGKILL


def assert_as_played(job: Job, played, published=None):
    """The store, and the output log where there is one, hold what the reference ended with."""
    kind, store = SamplerSpec.read(job.kind), open_store(job.store)
    for partition, reference in played.items():
        assert reference.fingerprints() == states(store, kind, partition)
        counts = store.counts(partition)
        assert len(reference.decisions) == counts.instances
        assert reference.refused == counts.refused
        lines = decided(store.decisions(partition)) if published is None else published(partition)
        assert reference.decisions == [each for each in lines if "refused" not in each]
