"""Promises that every route of the service keeps, checked by going over all of them."""

import contextlib
import io
import re
import resource

import numpy as np
import pyarrow.parquet
import pytest
from litestar import Litestar

from askwhen.service.http.request_checks import FREE_QUERY
from askwhen.service.use_cases import streams, tokens
from tests.service.coordinators import run, settings
from tests.service.in_process import running

BEFORE_SIGN_IN = ("/session", "/session/invitation")
"""Routes that take a small body from anybody: a token, or the secret of an invitation."""

ENDLESS = ("/events", "/overview/events")


def routes(http):
    """Every method and path that the application of a client answers, with its handler."""
    app = http._transport.app
    while not isinstance(app, Litestar):
        app = app._app
    for route in app.routes:
        for method, (handler, _) in route.route_handler_map.items():
            if method != "OPTIONS":
                yield method, route.path, handler


def filled(path):
    """A path whose parameters have values."""
    return re.sub(r"{(\w+):(\w+)}", lambda found: "1" if found[2] == "int" else "mails", path)


@contextlib.asynccontextmanager
async def serving(tmp_path, wanted=True):
    """A client of a service with a stream, which asks for tokens where ``wanted``; its routes; an admin's secret."""
    async with running(tmp_path / "log.db") as (coordinator, http):
        await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
        secret = (await tokens.make(coordinator, "root", ["admin"], None, None))[0] if wanted else None
        yield http, list(routes(http)), secret


def test_the_framework_has_no_pages_of_its_own(tmp_path):
    async def go():
        async with serving(tmp_path) as (http, found, _):
            assert not [path for _, path, _ in found if "framework" in path or "schema" in path]
            for path in ("/framework", "/framework/swagger", "/framework/redoc", "/framework/oauth2-redirect.html"):
                assert (await http.get(path)).status_code == 404
            assert (await http.get("/openapi.json")).json()["info"]["title"] == "askwhen"

    run(go())


def test_whatever_is_sent_has_the_headers_that_protect_a_browser(tmp_path):
    async def go():
        pages = 0
        async with serving(tmp_path) as (http, found, secret):
            for method, path, _ in found:
                if path.endswith(ENDLESS):
                    continue
                reply = await http.request(method, filled(path), headers={"Authorization": f"Bearer {secret}"})
                pages += reply.headers.get("content-type", "").startswith("text/html")
                policy = reply.headers["content-security-policy"]
                assert "default-src 'none'" in policy
                assert "frame-ancestors 'none'" in policy
                assert "http" not in policy.replace("require-trusted-types-for", "")
                assert reply.headers.get_list("x-frame-options") == ["DENY"]
                assert reply.headers.get_list("x-content-type-options") == ["nosniff"]
                assert len(reply.headers.get_list("content-security-policy")) == 1
            reply = await http.get("/nowhere")
            assert (reply.status_code, reply.headers["x-frame-options"]) == (404, "DENY")
        assert pages == 12  # eleven pages and /docs

    run(go())


def parquet(rows, value):
    """A Parquet file of a dictionary column: small, whatever it stands for."""
    column = pyarrow.DictionaryArray.from_arrays(pyarrow.array(np.zeros(rows, np.int8)), pyarrow.array([value]))
    file = io.BytesIO()
    pyarrow.parquet.write_table(
        pyarrow.table({"x": column}), file, compression="zstd", dictionary_pagesize_limit=1 << 30
    )
    return file.getvalue()


@pytest.mark.parametrize(("rows", "length"), [(3_000_000, 300), (200, 20_000_000)])
def test_a_small_parquet_file_cannot_fill_the_memory(tmp_path, rows, length):
    """Many rows of one value, and a few rows of a huge one."""
    content = parquet(rows, "x" * length)
    assert len(content) < 200_000

    async def go():
        async with serving(tmp_path) as (http, _, secret):
            headers = {"Authorization": f"Bearer {secret}"}
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            reply = await http.post("/page/rows/mails", content=content, headers=headers)
            used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
            assert (reply.status_code, used < 200_000) == (413, True), (reply.status_code, used)
            reply = await http.post("/page/rows/mails", content=parquet(3, "y"), headers=headers)
            assert (reply.status_code, reply.text) == (200, '{"x":"y"}\n' * 3)

    run(go())


class Body:
    """A body that notes whether any of it was read."""

    def __init__(self, content):
        self.content, self.read = content, False

    async def __aiter__(self):
        self.read = True
        yield self.content


def takes_body(method, path, handler):
    """Whether a route reads a body, by its handler or by itself."""
    reads = path.endswith("/instances") or "/rows/" in path or "/dialect/" in path
    return method != "GET" and (reads or "data" in handler.parsed_fn_signature.parameters)


def test_no_body_is_read_of_those_who_may_not_send_it(tmp_path):
    async def go():
        async with serving(tmp_path) as (http, found, secret):
            bodies = [(method, path) for method, path, handler in found if takes_body(method, path, handler)]
            assert len(bodies) == 42
            for method, path in bodies:
                for name, status in (("mails", 401), ("nothing", 401)):
                    body = Body(b"{no json")
                    address = filled(path).replace("mails", name)
                    reply = await http.request(method, address, content=body, headers={"Content-Type": "text/plain"})
                    if path in BEFORE_SIGN_IN:  # who signs in has no token yet
                        assert (await http.post(address, content=b" " * 5_000)).status_code == 413
                        continue
                    assert (reply.status_code, body.read) == (status, False), (method, path, reply.text)
            assert secret

    run(go())


def test_no_body_is_read_of_those_who_have_another_role(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
            await tokens.make(coordinator, "root", ["admin"], None, None)
            secrets = {
                role: (await tokens.make(coordinator, role, [role], ["mails"], None))[0]
                for role in ("producer", "reviewer", "annotator")
            }
            for method, path, handler in routes(http):
                if not takes_body(method, path, handler) or path in BEFORE_SIGN_IN:
                    continue
                refused = 0
                for secret in secrets.values():
                    body = Body(b"{no json")
                    headers = {"Authorization": f"Bearer {secret}"}
                    reply = await http.request(method, filled(path), content=body, headers=headers)
                    assert (reply.status_code == 403) == (not body.read), (method, path, reply.text)
                    refused += reply.status_code == 403
                assert refused >= (path not in FOR_ALL), (method, path)

    run(go())


def test_every_route_refuses_parameters_that_it_does_not_have(tmp_path):
    async def go():
        async with serving(tmp_path) as (http, found, secret):
            headers = {"Authorization": f"Bearer {secret}"}
            for method, path, handler in found:
                if handler.opt.get(FREE_QUERY):
                    assert path == "/sign-in/done", "identity providers add parameters of their own"
                    continue
                reply = await http.request(method, f"{filled(path)}?kimd=corrected", headers=headers)
                assert reply.status_code == 400, (method, path, reply.text)
                assert "'kimd'" in reply.json()["detail"]

    run(go())


def test_parameters_are_refused_with_what_is_known(tmp_path):
    said = {
        "review?kind=corrected": "there is no query parameter 'kind'; known are which, after, limit.",
        "review?wich=corrected": "there is no query parameter 'wich'; the nearest is which.",
        "review?which=corected": "which must be one of disputed, corrected, skipped, sample; got 'corected'.",
        "review?which=": "which must be one of disputed, corrected, skipped, sample; got ''.",
        "review?limit=1&limit=2": "the query parameter limit must be given once.",
        "export?format=xls": "format must be one of csv, ndjson, json, parquet, prodigy, label-studio; got 'xls'.",
        "export?tabel=labels": "there is no query parameter 'tabel'; the nearest is table.",
        "report?name=other": "there is no query parameter 'name'; known are confidence.",
        "model?a": "there is no query parameter 'a'; this address takes none.",
    }

    async def go():
        async with serving(tmp_path) as (http, _, secret):
            for address, sentence in said.items():
                reply = await http.get(f"/v1/streams/mails/{address}", headers={"Authorization": f"Bearer {secret}"})
                assert (reply.status_code, reply.json()["detail"]) == (400, sentence)
            known = "/v1/streams/mails/review?which=corrected&limit=5"
            assert (await http.get(known, headers={"Authorization": f"Bearer {secret}"})).status_code == 200

    run(go())


FOR_ALL = ("/v1/me/away", "/v1/me/notifications")
"""Calls about oneself, for which any token will do."""

REFUSED = {
    "decide": ("x", "decide must be one of adjudicator, majority, unanimity, weighted; got 'x'."),
    "order": ("best", "order must be one of newest, oldest, priority, valuable; got 'best'."),
    "labels": ("closed", "labels must be one of a list, numbers, open; got 'closed'."),
    "view": (
        {"kind": "video"},
        "view.kind must be one of audio, auto, code, image, json, table, text; got 'video'.",
    ),
    "features": ({"kind": "words"}, "features.kind must be one of columns, hashed, mixed, numbers, text; got 'words'."),
}


def sorted_choices(said):
    """A sentence whose choices are in the order of the alphabet, since a library may list them in any."""
    return re.sub(r"one of (.*);", lambda found: f"one of {', '.join(sorted(found[1].split(', ')))};", said)


@pytest.mark.parametrize("setting", REFUSED)
def test_an_unknown_choice_is_refused_with_the_known_ones(tmp_path, setting):
    value, sentence = REFUSED[setting]

    async def go():
        async with serving(tmp_path, wanted=False) as (http, _, _):
            made = await http.post("/v1/streams", json={"name": "a", "settings": {setting: value}})
            assert (made.status_code, sorted_choices(made.json()["detail"])) == (422, f"settings.{sentence}")
            changed = await http.patch("/v1/streams/mails", json={"settings": {setting: value}})
            assert (changed.status_code, sorted_choices(changed.json()["detail"])) == (422, sentence)

    run(go())
