import inspect

import httpx
import pytest

from tests.service.postgresql import Cluster

PATIENCE = inspect.signature(httpx.get).parameters["timeout"].default  # the first round may have to be compiled
PATIENCE.connect = PATIENCE.read = PATIENCE.write = PATIENCE.pool = 300.0


@pytest.fixture(scope="session")
def cluster():
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request, tmp_path):
    """A new database of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "log.db")
    return request.getfixturevalue("cluster").database()
