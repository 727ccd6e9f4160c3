import os

import pytest

import askwhen as aw
from tests.service.serving import Server

collect_ignore = [] if os.environ.get("ASKWHEN_LABEL_STUDIO") else ["test_real_label_studio.py"]


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("studio") / "log.db") as server:
        yield server


@pytest.fixture(scope="session")
def client(server):
    with aw.Client(server.url) as client:
        yield client
