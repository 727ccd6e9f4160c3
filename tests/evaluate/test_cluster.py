"""Sweeps on a Ray cluster: the same numbers to the bit, and a death costs one piece."""

import os
import pathlib
import signal
import subprocess
import sys
from functools import partial

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.evaluate.comparison import cluster as clusters
from askwhen.experiments import CellRunner
from tests import ray_cluster
from tests.cli.running import facts
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")  # one process has the cluster


@pytest.fixture
def cluster():
    return ray_cluster.address()


def test_compare_and_tune_give_the_same_numbers_to_the_bit(cluster):
    X, y = aw.data.switching(500, 8, seed=1)[:2]
    seen = []
    here, there = (
        aw.evaluate.compare(X, y, ["sel-p", "sel-p-fixed"], [0.2], repeats=2, cluster=where, watch=watch)
        for where, watch in ((None, None), (cluster, lambda *word: seen.append(word)))
    )
    for one, other in zip(here.cells + here.baselines, there.cells + there.baselines, strict=True):
        assert (one.algorithm, one.letters, one.share) == (other.algorithm, other.letters, other.share)
        for name in ("asked", "accuracy", "windows"):
            np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert [number for number, _, _ in seen] == list(range(1, 7))
    tries = [
        aw.evaluate.tune(X, y, 0.2, ["pa-i-active"], letters={"C": 1.0}, cluster=where) for where in (None, cluster)
    ]
    assert tries[0] == tries[1]


def test_the_command_takes_a_cluster(cluster, tmp_path):
    X, y = aw.data.switching(400, 4, seed=1)[:2]
    lines = [f"{label} " + " ".join(f"{j + 1}:{v}" for j, v in enumerate(x)) for x, label in zip(X, y, strict=True)]
    pathlib.Path("a.svm").write_text("\n".join(lines) + "\n")
    args = ("compare", "a.svm", "-a", "sel-p", "--labels", "20%", "--repeats", 2)
    here, there = facts(*args), facts(*args, "--cluster", cluster)
    for found in (here, there):
        for cell in found["cells"] + found.get("baselines", []):
            cell.pop("seconds", None)
    assert here == there


def test_tuning_and_an_experiment_give_the_same_numbers_on_a_cluster(cluster, tmp_path, monkeypatch):
    X, y = aw.data.switching(300, 4, seed=1)[:2]
    np.savetxt("a.csv", np.c_[X, y], delimiter=",", header="a,b,c,d,label", comments="")
    tune = ("tune", "a.csv", "--label", "label", "-a", "pa-i-active", "--labels", "20%")
    assert facts(*tune) == facts(*tune, "--cluster", cluster)
    found = []
    for where in ([], ["--cluster", cluster]):
        kept = tmp_path / f"kept{len(where)}"
        monkeypatch.setattr("askwhen.experiments.cell_runner.cells_folder", lambda kept=kept: kept)
        found.append(facts("reproduce", "switch-regression", "--quick", "--out", "r", *where)["switch-regression"])
        assert list(kept.rglob("*.json")), "finished cells are kept here"
    assert found[0]["tables"][0]["rows"] == found[1]["tables"][0]["rows"]


def once(folder, name):
    """Dies the first time."""
    mark = pathlib.Path(folder) / name
    with open(f"{mark}.tries", "a") as file:
        file.write("x")
    if name == "c2" and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"name": name, "number": 0.1 + len(name)}


def test_a_killed_worker_costs_only_its_cell_and_finished_cells_are_kept(cluster, tmp_path, monkeypatch):
    monkeypatch.setattr("askwhen.experiments.cell_runner.cells_folder", lambda: tmp_path / "kept")
    seen = []
    cells = {f"c{i}": partial(once, str(tmp_path), f"c{i}") for i in range(4)}
    playing = CellRunner("test", "tiny", lambda *word: seen.append(word[:2]), cluster)
    found = playing(cells)
    assert found == {name: {"name": name, "number": 2.1} for name in cells}
    tries = {name: (tmp_path / f"{name}.tries").read_text() for name in cells}
    assert tries == {"c0": "x", "c1": "x", "c2": "xx", "c3": "x"}
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert CellRunner("test", "tiny", None, cluster)(cells) == found
    assert {name: (tmp_path / f"{name}.tries").read_text() for name in cells} == tries


def test_what_a_piece_raises_is_raised_here(cluster):
    with clusters.ClusterWorkers(cluster, None, 1) as workers, pytest.raises(InputError, match="scale must be"):
        workers.all([("wrong", partial(aw.MarginRule, -1.0))])


def sockets_of(pid):
    """The addresses on which a process listens."""
    held = set()
    for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        held.add(os.readlink(entry))
    found = set()
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in held:
                found.add(words[1].rpartition(":")[0])
    return found


def test_a_cluster_that_is_started_here_listens_on_loopback_and_has_a_token(cluster):
    loopback = {"0100007F", "0000000000000000FFFF00000100007F"}
    servers = subprocess.run(
        ["pgrep", "-P", str(os.getpid()), "-x", "gcs_server|raylet"], capture_output=True, text=True
    )
    found = [sockets_of(pid) for pid in servers.stdout.split()]
    assert len(found) >= 2
    assert all(addresses and addresses <= loopback for addresses in found)
    if not times(0, 1):  # Ray tries for a long time
        return
    stranger = f"import ray; ray.init(address={cluster!r}); print(ray.get(ray.remote(lambda: 1).remote()))"
    wrong = os.environ | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": "0" * 64}
    done = subprocess.run([sys.executable, "-c", stranger], env=wrong, capture_output=True, text=True)
    assert done.returncode != 0


def test_machines_that_would_give_other_bits_are_refused(cluster, monkeypatch):
    own = clusters.likeness()
    assert set(own) == {"processor", "python", "numba", "numpy", "scipy", "askwhen's steps"}
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")  # here, and not where the workers are
    with pytest.raises(InputError, match="would give other bits: its processor is .* set NUMBA_CPU_NAME=generic"):
        clusters.join(cluster)


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ray://host:10001", "must be inside the cluster"),
        ("", "host:port, auto or local"),
        (3, "host:port, auto or local"),
    ],
)
def test_an_address_that_is_none_is_one_sentence(address, sentence):
    with pytest.raises(InputError, match=sentence):
        clusters.join(address)
