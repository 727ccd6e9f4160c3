"""One Ray cluster for all tests of a process: it takes seconds to start."""

import atexit
import functools
import os
import pathlib
import shutil
import tempfile

from askwhen.evaluate.cluster import join


@functools.cache
def address():
    """That of a cluster that was started here, listens on loopback, and ends with this process."""
    folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")  # a short path, since sockets are in it
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # before Ray is imported, so that it ends first
    os.environ["RAY_TMPDIR"] = folder
    os.environ["PYTHONPATH"] = str(pathlib.Path(__file__).parents[1])  # workers find what tests send them
    return join("local").get_runtime_context().gcs_address
