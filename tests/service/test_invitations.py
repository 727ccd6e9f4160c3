"""Invitations give a token once; everyone sees and ends what is their own."""

import apsw
import pytest

from askwhen.errors import InputError
from askwhen.service.errors import NotSignedInError
from askwhen.service.use_cases import invitations, streams, tokens
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running
from tests.service.test_sign_ins import signed_in


async def admin(coordinator):
    """The header of an admin, on a service with two streams."""
    for name in ("mails", "other"):
        await streams.create(coordinator, name, settings(algorithm="perceptron", budget=None, grace=0.0))
    secret = (await tokens.make(coordinator, "root", ["admin"], None, None))[0]
    return {"Authorization": f"Bearer {secret}"}


def test_a_link_gives_a_token_once_and_signs_the_browser_in(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            root = await admin(coordinator)
            given = {"name": "ann", "roles": ["annotator"], "streams": ["mails"], "days": 3.0}
            made = (await http.post("/v1/invitations", json=given, headers=root)).json()
            assert made["link"] == f"http://127.0.0.1/invitation#{made['secret']}"
            (listed,) = (await http.get("/v1/invitations", headers=root)).json()
            assert {"secret", "link", "digest"}.isdisjoint(listed)
            assert (listed["name"], listed["streams"], listed["days"]) == ("ann", ["mails"], 3.0)
            accepted = await http.post("/session/invitation", json={"secret": made["secret"]})
            assert accepted.status_code == 200
            cookie = {"Cookie": accepted.headers["set-cookie"].partition(";")[0]}
            http.cookies.clear()
            bearer = {"Authorization": f"Bearer {accepted.json()['secret']}"}
            for headers in (cookie, bearer):
                assert (await http.get("/v1/streams/mails", headers=headers)).status_code == 200
                assert (await http.get("/v1/streams/other", headers=headers)).status_code == 403
            again = await http.post("/session/invitation", json={"secret": made["secret"]})
            assert (again.status_code, "was accepted or withdrawn" in again.json()["detail"]) == (401, True)
            assert (await http.get("/v1/invitations", headers=root)).json() == []
            assert (await http.post("/session/invitation", json={"secret": "x"})).status_code == 401
            other = await http.post(
                "/session/invitation", json={"secret": "x"}, headers={"Origin": "http://elsewhere.example"}
            )
            assert other.status_code == 403
            for method, path in (("GET", ""), ("POST", ""), ("DELETE", "/1")):
                sent = given if method == "POST" else None
                reply = await http.request(method, f"/v1/invitations{path}", headers=bearer, json=sent)
                assert reply.status_code == 403

    run(go())


def test_an_invitation_expires_or_is_withdrawn_and_survives_a_restart(tmp_path):
    time, db = Time(), tmp_path / "log.db"

    async def go():
        async with open_coordinator(db, time, crash=True) as coordinator:
            with pytest.raises(InputError, match="make a token for an admin first"):
                await invitations.make(coordinator, "root", "ann", ["annotator"], None, None, 1.0)
            await tokens.make(coordinator, "root", ["admin"], None, None)
            for given in (("", ["annotator"]), ("ann", []), ("ann", ["boss"])):
                with pytest.raises(InputError):
                    await invitations.make(coordinator, "root", *given, None, None, 1.0)
            secrets = [
                (await invitations.make(coordinator, "root", name, ["annotator"], None, None, 1.0))[0]
                for name in ("ann", "bob", "cid", "dan")
            ]
            made, fact = await invitations.accept(coordinator, secrets[3])
            assert (fact.name, fact.expires) == ("dan", None)
        async with open_coordinator(db, time, crash=True) as coordinator:
            assert coordinator.tokens.holder(made, time.now).name == "dan"
            assert [each.name for each in coordinator.invitations.all(time.now)] == ["ann", "bob", "cid"]
            bob = coordinator.invitations.of_secret(secrets[1], time.now)
            await invitations.withdraw(coordinator, bob.invitation, "root")
            for each in (secrets[1], secrets[3]):
                with pytest.raises(NotSignedInError, match="ask for another one"):
                    await invitations.accept(coordinator, each)
            await invitations.accept(coordinator, secrets[0])
            time.now += 3600.0
            with pytest.raises(NotSignedInError):
                await invitations.accept(coordinator, secrets[2])
            assert coordinator.invitations.all(time.now) == []
            assert [each.name for each in coordinator.tokens.all()] == ["ann", "dan", "root"]
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        everything = "".join(facts for (facts,) in connection.execute("select facts from events"))
        connection.close()
        assert not any(each in everything for each in [*secrets, made])

    run(go())


def test_everyone_sees_their_own_tokens_browsers_and_answers_and_ends_only_those(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            root = await admin(coordinator)
            secrets = [(await tokens.make(coordinator, "ann", ["annotator"], ["mails"], None))[0] for _ in range(2)]
            ann, lost = ({"Authorization": f"Bearer {each}"} for each in secrets)
            bob = (await tokens.make(coordinator, "bob", ["annotator"], None, None))[1]
            browser = await signed_in(http, secrets[0])
            await http.post("/v1/streams/mails/instances", json={"x": [1.0]}, headers=root)
            await http.post("/v1/streams/mails/questions/0/answer", json={"label": "spam"}, headers=ann)
            found = (await http.get("/v1/me", headers=browser)).json()
            assert (found["name"], found["roles"], found["streams"]) == ("ann", ["annotator"], ["mails"])
            assert [(each["stream"], each["answers"]) for each in found["answers"]] == [("mails", 1)]
            assert len(found["tokens"]) == 2
            assert all("secret" not in each for each in found["tokens"])
            assert [each["here"] for each in found["sign_ins"]] == [True]
            assert not (await http.get("/v1/me", headers=ann)).json()["sign_ins"][0]["here"]
            theirs = (await http.get("/v1/me", headers=root)).json()
            assert (theirs["answers"], theirs["sign_ins"], len(theirs["tokens"])) == ([], [], 1)
            for path in (f"tokens/{bob.token}", "tokens/x", "sign-ins/x"):
                assert (await http.delete(f"/v1/me/{path}", headers=ann)).status_code == 404
            mine = found["sign_ins"][0]["sign_in"]
            assert (await http.delete(f"/v1/me/sign-ins/{mine}", headers=root)).status_code == 404
            assert (await http.delete(f"/v1/me/sign-ins/{mine}", headers=ann)).status_code == 204
            assert (await http.get("/v1/me", headers=browser)).status_code == 401
            number = coordinator.tokens.holder(secrets[1], 0.0).token
            assert (await http.delete(f"/v1/me/tokens/{number}", headers=ann)).status_code == 204
            assert (await http.get("/v1/me", headers=lost)).status_code == 401
            (boss,) = theirs["tokens"]
            refused = await http.delete(f"/v1/me/tokens/{boss['token']}", headers=root)
            assert (refused.status_code, "the last admin" in refused.json()["detail"]) == (409, True)
            assert (await http.get("/v1/me")).status_code == 401

    run(go())


def test_a_token_for_a_deleted_stream_is_still_listed(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            root = await admin(coordinator)
            await tokens.make(coordinator, "ann", ["annotator"], ["other"], None)
            await http.post("/v1/streams/other/archive", headers=root)
            assert (await http.delete("/v1/streams/other", headers=root)).status_code < 300
            found = (await http.get("/v1/tokens", headers=root)).json()
            assert [(each["name"], each.get("streams")) for each in found] == [("ann", []), ("root", None)]

    run(go())
