"""Servers that several tests share; each test has a database or streams of its own."""

import pytest

from tests import ray_cluster
from tests.keyed.servers import Kafka, Nats, Postgres, Redis


@pytest.fixture(scope="session")
def postgresql():
    running = Postgres()
    yield running
    running.close()


@pytest.fixture
def database(postgresql):
    """The address of an empty database."""
    return postgresql.database()


@pytest.fixture(scope="session")
def redis_server():
    running = Redis()
    yield running
    running.close()


@pytest.fixture(scope="session")
def kafka():
    running = Kafka()
    yield running
    running.close()


@pytest.fixture(scope="session")
def nats_server():
    running = Nats()
    yield running
    running.close()


@pytest.fixture
def cluster():
    """The address of a Ray cluster, which this process has joined."""
    return ray_cluster.address()
