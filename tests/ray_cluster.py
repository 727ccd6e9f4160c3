"""One Ray cluster for all tests of a process: it takes seconds to start."""

import atexit
import functools
import os
import pathlib
import shutil
import tempfile
import time

from askwhen.evaluate.comparison.cluster import join


@functools.cache
def address():
    """That of a cluster that was started here, listens on loopback, and ends with this process."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a short path, since sockets are in it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # before Ray is imported, so that it ends first
    os.environ["RAY_TMPDIR"] = folder
    paths = [str(pathlib.Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))  # workers find what tests send them
    return join("local").get_runtime_context().gcs_address


class Machine:
    """One more machine of the cluster, with a processor: a second raylet here, as Ray's own tests start it."""

    def __init__(self):
        where = address()
        import ray
        from ray._private.node import Node
        from ray._private.parameter import RayParams

        self._ray = ray
        settings = RayParams(
            gcs_address=where,
            node_ip_address="127.0.0.1",
            num_cpus=1,
            object_store_memory=100 << 20,
            min_worker_port=0,
            max_worker_port=0,
            node_manager_port=0,
            include_log_monitor=False,
            dashboard_agent_listen_port=None,
        )
        self._node = Node(settings, head=False, shutdown_at_exit=False, spawn_reaper=False)
        self._wait(True)

    def kill(self):
        """The raylet at once, and with it all that it runs; returns when the cluster has noticed."""
        self._node.kill_all_processes(check_alive=False, allow_graceful=False)
        self._wait(False)

    def has_actor(self, name):
        """Whether an actor of this class is at work here."""
        from ray._private.state import actors  # the public way needs the dashboard

        here = [each for each in actors().values() if each["Address"]["NodeID"] == self._node.node_id]
        return any(each["ActorClassName"] == name and each["State"] == "ALIVE" for each in here)

    def _wait(self, alive):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            if alive == any(each["Alive"] and each["NodeID"] == self._node.node_id for each in self._ray.nodes()):
                return
            time.sleep(0.1)
        raise AssertionError("the cluster does not notice its machine")
