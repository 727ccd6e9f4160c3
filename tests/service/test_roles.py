"""Every call of the API, by every role, for the right stream and for another: allowed exactly as the page says."""

import pathlib
import re

import pytest

from askwhen.service.use_cases import people, streams, tokens
from tests.service.coordinators import run, settings
from tests.service.in_process import running

PAGE = pathlib.Path(__file__).parents[2] / "docs/reference/http.md"
ROLES = ("producer", "annotator", "reviewer", "admin")
ENDLESS = ("/v1/streams/{name}/events", "/v1/streams/{name}/overview/events")
NEEDED = {"/v1/streams/{name}/instance": "?item=1", "/v1/streams/{name}/progress": "?since=0"}
"""Query parameters without which a call is refused before anything else is looked at."""

GONE = ("DELETE", "/v1/streams/{name}")
REFUSED = re.compile(r"this needs the role|is not for (this stream|all streams)|lacks")


def documented():
    """The roles of each call, as the page has them: the sets of roles of which each is enough."""
    found = {}
    for method, path, who in re.findall(r"^\| `([A-Z]+) (\S+)` \| ([^|]+) \|", PAGE.read_text(), re.MULTILINE):
        if who in ("anybody", "everybody"):
            found[method, path] = who
        elif " and " in who:
            found[method, path] = {frozenset(who.split(" and "))}
        else:
            found[method, path] = {frozenset({role}) for role in re.split(r", | or ", who)}
    return found


CALLS = documented()
LAST = ("archive", "resume", "erase", "replay", "{name}")
"""Calls that change the stream come last, and the one that deletes it at the very end."""


def order(call):
    return next((place for place, end in enumerate(LAST, 1) if call[1].endswith(f"/{end}")), 0), call


def is_allowed(needed, roles, is_for_all, is_for_this, path):
    """Whether a token with these roles may send a call."""
    of_stream = "{name}" in path
    if of_stream and not is_for_this:
        return False
    if needed == "anybody":
        return True
    if not of_stream and not is_for_all:
        return False
    return "admin" in roles or any(each <= roles for each in needed)


@pytest.mark.parametrize("roles", [["annotator"], ["annotator", "producer"], ["reviewer"]])
def test_who_only_annotates_sees_the_streams_that_they_are_given_and_no_others(tmp_path, roles):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await tokens.make(coordinator, "root", ["admin"], None, None)
            await people.set_group(coordinator, "nurses", ["ann"], "root")
            for name, team in (("ours", ["bob", "@nurses"]), ("theirs", ["bob"]), ("all", [])):
                await streams.create(coordinator, name, settings(algorithm="perceptron", team=team))
            secret, _ = await tokens.make(coordinator, "ann", roles, None, None)
            headers = {"Authorization": f"Bearer {secret}"}
            sees = ["all", "ours"] if roles == ["annotator"] else ["all", "ours", "theirs"]
            assert [each["name"] for each in (await http.get("/v1/streams", headers=headers)).json()] == sees
            metrics = (await http.get("/metrics", headers=headers)).text
            assert ('stream="theirs"' in metrics) == ("theirs" in sees)
            if roles != ["annotator"]:
                return
            for method, path in sorted(CALLS, key=order):
                if "{name}" in path:
                    address = re.sub(r"{\w+}", "0", path.replace("{name}", "theirs")) + NEEDED.get(path, "")
                    body = {} if method in ("POST", "PATCH") else None
                    reply = await http.request(method, address, headers=headers, json=body)
                    is_annotators = CALLS[method, path] == "anybody" or frozenset({"annotator"}) in CALLS[method, path]
                    assert reply.status_code in ((404,) if is_annotators else (403, 404)), (method, path, reply.text)
                    if is_annotators:
                        assert "there is no stream 'theirs'" in reply.json()["detail"]

    run(go())


def test_the_page_has_every_call_and_no_other(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (_, http):
            document = (await http.get("/openapi.json")).json()
            found = {(method.upper(), path) for path, each in document["paths"].items() for method in each}
            assert found == set(CALLS)

    run(go())


@pytest.mark.parametrize("role", ["nobody", *ROLES, "producer and annotator"])
def test_each_role_may_do_what_the_page_says_and_nothing_else(tmp_path, role):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            for name in ("mails", "other"):
                await streams.create(coordinator, name, settings(algorithm="perceptron"))
            await tokens.make(coordinator, "root", ["admin"], None, None)
            roles = frozenset(role.split(" and "))
            for scope in (None, ["mails"], ["other"]):
                headers = {}
                if role != "nobody":
                    secret, _ = await tokens.make(coordinator, f"{role} {scope}", sorted(roles), scope, None)
                    headers = {"Authorization": f"Bearer {secret}"}
                for method, path in sorted(CALLS, key=order):
                    needed = CALLS[method, path]
                    expected = needed == "everybody" or (
                        role != "nobody" and is_allowed(needed, roles, scope is None, scope != ["other"], path)
                    )
                    if expected and ((method, path) == GONE or path in ENDLESS):
                        continue
                    address = path.replace("{name}", "mails").replace("{question}", "0")
                    address = re.sub(r"{\w+}", "x", address)
                    address += NEEDED.get(path, "")
                    body = {} if method in ("POST", "PATCH") else None
                    reply = await http.request(method, address, headers=headers, json=body)
                    what = (scope, method, path, reply.status_code, reply.text[:200])
                    if role == "nobody" and needed != "everybody":
                        assert reply.status_code == 401, what
                    else:
                        refused = reply.status_code == 403 and REFUSED.search(reply.json()["detail"])
                        assert bool(refused) != expected, what
                        assert reply.status_code != 401, what

    run(go())
