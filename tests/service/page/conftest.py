"""One service with tokens and one browser for all tests of the page that a worker has."""

import itertools

import httpx
import pytest

import askwhen as aw
from tests.service.serving import Server

PEOPLE = {"ann": ["annotator"], "bob": ["annotator"], "cid": ["annotator"], "rae": ["reviewer", "annotator"]}

NUMBERS = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("page") / "log.db") as server:
        with httpx.Client(base_url=server.url) as http:
            made = http.post("/v1/tokens", json={"name": "root", "roles": ["admin"]}).json()
            server.tokens = {"root": made["secret"]}
            http.headers["Authorization"] = f"Bearer {made['secret']}"
            for name, roles in PEOPLE.items():
                server.tokens[name] = http.post("/v1/tokens", json={"name": name, "roles": roles}).json()["secret"]
        yield server


@pytest.fixture(scope="session")
def without_tokens(tmp_path_factory):
    """Another service, which requires no tokens and may be killed."""
    with Server(tmp_path_factory.mktemp("open") / "log.db") as server:
        server.tokens = {}
        yield server


@pytest.fixture
def client(server):
    with aw.Client(server.url, server.tokens["root"]) as client:
        yield client


@pytest.fixture
def made(client, request):
    """Make a stream of its own that asks about everything it is given."""

    def make(instances=(), **settings):
        short = request.node.name.partition("[")[0].removeprefix("test_")[:60]
        name = f"{short}-{next(NUMBERS)}"
        given = {
            "labels": ["ham", "spam", "other"],
            "features": {"kind": "text", "places": 64},
            "budget": {"rate": 1.0},
            "seed": 1,
        }
        stream = client.create(name, **(given | settings))
        for each in instances:
            assert stream.ask(**each if isinstance(each, dict) else {"x": each}).query
        return stream

    return make


@pytest.fixture
def visit(browser, server):
    """Open a page as somebody; at the end nothing was fetched from elsewhere, and nothing complained unless it may."""
    contexts, complaints = [], []

    def opened(who, path, width=1000, scheme="light", loud=False, to=server, **given):
        context = browser.new_context(viewport={"width": width, "height": 800}, color_scheme=scheme, **given)
        contexts.append(context)
        if who in to.tokens:
            context.add_cookies([{"name": "askwhen", "value": to.tokens[who], "url": to.url, "httpOnly": True}])
        page = context.new_page()
        page.set_default_timeout(120_000)
        page.on("request", lambda each: None if each.url.startswith(to.url) else complaints.append(each.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        if not loud:
            page.on("console", lambda message: complaints.append(message.text))
        page.goto(to.url + path)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
