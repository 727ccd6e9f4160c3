import pytest

from tests.service.postgresql import Cluster


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
