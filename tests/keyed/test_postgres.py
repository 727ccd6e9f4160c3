"""PostgreSQL as the store: the same states, a fencing number that holds, errors in one sentence."""

import dataclasses

import psycopg
import pytest

import askwhen as aw
from askwhen.keyed import CutOffError, StoreError
from askwhen.keyed.job import claim_worker, open_store
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.making import make_log
from tests.keyed.test_processes import from_folder, job_of, make
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")


def test_one_process_ends_as_a_plain_loop(tmp_path, database):
    played = make_log(tmp_path / "log", make, events=400)
    job = dataclasses.replace(job_of(tmp_path), store=database, out=None, batch=70)
    found = aw.keyed.run(job.source, database, make(7), cache=5, batch=70)
    assert_as_played(job, played)
    assert found.counts.instances == sum(len(each.decisions) for each in played.values())
    assert set(open_store(database).partitions()) == set(played)
    key, reference = next(iter(played["part-0"].samplers.items()))
    assert reference.round == aw.keyed.sampler(database, key).round


@pytest.mark.parametrize("trial", range(times(0, 4)))
def test_killed_workers_and_drivers_leave_what_was_never_killed(tmp_path, database, trial):
    played = make_log(tmp_path / "log", make, events=2000, partitions=3)
    job = dataclasses.replace(job_of(tmp_path), store=database)
    run_and_kill(job, list(played), 2, kills=7, seed=trial)
    assert_as_played(job, played, from_folder(tmp_path / "out"))


def test_a_worker_that_was_cut_off_cannot_commit_after_its_replacement(tmp_path, database):
    played = make_log(tmp_path / "log", make, partitions=1)
    job = dataclasses.replace(job_of(tmp_path), store=database, out=None, batch=100)
    old = claim_worker(job, "part-0")
    assert old.step() == 100
    new = claim_worker(job, "part-0")
    with pytest.raises(CutOffError, match="another worker has taken over partition part-0"):
        old.step()
    while new.step():
        with pytest.raises(CutOffError):
            old.step()
    for worker in (old, new):
        worker.close()
    assert_as_played(job, played)


def test_a_server_that_went_away_is_one_sentence_and_the_stream_goes_on_later(tmp_path, postgresql, database):
    played = make_log(tmp_path / "log", make, partitions=1, events=200)
    job = dataclasses.replace(job_of(tmp_path), store=database, out=None, batch=50)
    worker = claim_worker(job, "part-0")
    worker.step()
    with psycopg.connect(postgresql.address("postgres"), autocommit=True) as other:
        name = database.rpartition("/")[2]
        other.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", (name,))
    with pytest.raises(StoreError, match="the database cannot be used: "):
        worker.step()
    worker.close()
    aw.keyed.run(job.source, database, make(7), batch=50)
    assert_as_played(job, played)
    with pytest.raises(StoreError, match="the database cannot be used: .*refused"):
        aw.keyed.run(job.source, "postgresql://127.0.0.1:1/none", make(7))
