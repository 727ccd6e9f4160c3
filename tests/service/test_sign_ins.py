"""Browsers that are signed in: what they may do, until when, and how that ends."""

import apsw
import pytest

from askwhen.service.domain.sign_ins import MOST, browser_of
from askwhen.service.use_cases import sign_ins, streams, tokens
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
CHROME = "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Safari/537.36"


async def signed_in(http, secret, browser=FIREFOX):
    """The header with the cookie of a browser that has signed in with a token."""
    reply = await http.post("/session", json={"token": secret}, headers={"User-Agent": browser})
    assert reply.status_code == 200, reply.text
    cookie = reply.headers["set-cookie"].partition(";")[0]
    http.cookies.clear()
    return {"Cookie": cookie}


def test_an_admin_sees_who_is_signed_in_and_ends_it(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            root = {"Authorization": f"Bearer {(await tokens.make(coordinator, 'root', ['admin'], None, None))[0]}"}
            await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
            secret = (await tokens.make(coordinator, "ann", ["annotator"], ["mails"], None))[0]
            first, second = await signed_in(http, secret), await signed_in(http, secret, CHROME)
            assert first != second
            assert secret not in first["Cookie"]
            for each in (first, second):
                assert (await http.get("/v1/streams/mails", headers=each)).status_code == 200
            found = (await http.get("/v1/sign-ins", headers=root)).json()
            assert {(each["name"], each["way"], each["browser"]) for each in found} == {
                ("ann", "token", "Firefox on Linux"),
                ("ann", "token", "Chrome on Windows"),
            }
            assert all(each["seen"] >= each["since"] < each["expires"] for each in found)
            assert "digest" not in found[0]
            assert (await http.get("/v1/sign-ins", headers=first)).status_code == 403
            (mine,) = [each["sign_in"] for each in found if each["browser"] == "Firefox on Linux"]
            assert (await http.delete(f"/v1/sign-ins/{mine}", headers=first)).status_code == 403
            assert (await http.delete(f"/v1/sign-ins/{mine}", headers=root)).status_code == 204
            assert (await http.delete(f"/v1/sign-ins/{mine}", headers=root)).status_code == 404
            refused = await http.get("/v1/streams/mails", headers=first)
            assert (refused.status_code, refused.json()["detail"]) == (401, "the sign-in has ended; sign in again.")
            assert (await http.get("/v1/streams/mails", headers=second)).status_code == 200
            assert (await http.get("/v1/streams", headers={"Authorization": f"Bearer {secret}"})).status_code == 200

    run(go())


def test_signing_out_ends_the_sign_in_and_not_only_the_cookie(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            secret = (await tokens.make(coordinator, "root", ["admin"], None, None))[0]
            cookie = await signed_in(http, secret)
            assert (await http.delete("/session", headers=cookie)).status_code == 200
            assert (await http.get("/v1/streams", headers=cookie)).status_code == 401
            assert (await http.get("/session", headers=cookie)).json()["name"] is None
            again = await signed_in(http, secret)
            reply = await http.post("/session", json={"token": secret}, headers=again)
            assert reply.status_code == 200
            assert (await http.get("/v1/streams", headers=again)).status_code == 401, "replaced by the new one"

    run(go())


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://elsewhere.example"}])
def test_another_site_cannot_use_a_sign_in(tmp_path, headers):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            secret = (await tokens.make(coordinator, "root", ["admin"], None, None))[0]
            cookie = await signed_in(http, secret)
            assert (await http.get("/v1/streams", headers=cookie | headers)).status_code == 403
            assert (await http.delete("/session", headers=cookie | headers)).status_code == 403
            assert (await http.get("/v1/streams", headers=cookie)).status_code == 200
            bearer = {"Authorization": f"Bearer {cookie['Cookie'].partition('=')[2]}"}
            assert (await http.get("/v1/streams", headers=bearer)).status_code == 401, "only in a cookie"

    run(go())


def test_a_sign_in_ends_with_its_token_and_its_time_and_survives_a_restart(tmp_path):
    time, db = Time(), tmp_path / "log.db"

    async def go():
        async with open_coordinator(db, time, crash=True) as coordinator:
            await tokens.make(coordinator, "root", ["admin"], None, None)
            _, lasting = await tokens.make(coordinator, "ann", ["annotator"], None, None)
            _, short = await tokens.make(coordinator, "bob", ["annotator"], None, 1.0)
            holders = [coordinator.tokens.find(each.token) for each in (lasting, short)]
            secrets = [await sign_ins.by_token(coordinator, each, "") for each in holders]
        async with open_coordinator(db, time, crash=True) as coordinator:
            ann, bob = (coordinator.sign_ins.of_secret(each, time.now) for each in secrets)
            assert [each.facts.expires for each in (ann, bob)] == [1000.0 + 30 * 86400.0, 1000.0 + 86400.0]
            assert len(coordinator.sign_ins.all(time.now)) == 2
            assert len(coordinator.sign_ins.all(1000.0 + 86400.0)) == 1
            await tokens.revoke(coordinator, lasting.token)
            assert [each.name for each in coordinator.sign_ins.all(time.now)] == ["bob"]
        async with open_coordinator(db, time, crash=True) as coordinator:
            assert [each.name for each in coordinator.sign_ins.all(time.now)] == ["bob"]
            for _ in range(MOST):
                await sign_ins.by_token(coordinator, coordinator.tokens.find(short.token), "")
            assert len(coordinator.sign_ins.all(time.now)) == MOST
            assert bob.number not in {each.number for each in coordinator.sign_ins.all(time.now)}
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        everything = "".join(facts for (facts,) in connection.execute("select facts from events"))
        connection.close()
        assert not any(each in everything for each in secrets)

    run(go())


def test_browsers_are_known_by_common_headers():
    edge = CHROME.replace("Safari/537.36", "Safari/537.36 Edg/140.0")
    phone = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 Version/18.0 Safari/604.1"
    assert [browser_of(each) for each in (FIREFOX, CHROME, edge, phone, "", "x" * 10_000)] == [
        "Firefox on Linux",
        "Chrome on Windows",
        "Edge on Windows",
        "Safari on iOS",
        "",
        "",
    ]
