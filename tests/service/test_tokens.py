"""Who may do what; tokens at rest; addresses that others can reach."""

import json
import os
import subprocess

import apsw
import httpx
import pytest

import askwhen as aw
from askwhen.service.domain.tokens import Tokens, new_token
from askwhen.service.errors import ConflictError, NotAllowedError, NotSignedInError, TooManyError
from askwhen.service.events.kinds import TokenRevoked
from askwhen.service.http.authorization import RateLimiter
from askwhen.service.process.server import is_public
from askwhen.service.use_cases import tokens
from tests.forking import Forked
from tests.service.coordinators import Time, open_coordinator, run
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("service tokens")  # they share a server


def command(*words, **environment):
    running = Forked([*map(str, words)], os.environ | environment)
    out, err = running.communicate()
    return subprocess.CompletedProcess(words, running.returncode, out, err)


@pytest.fixture(scope="module")
def db(tmp_path_factory):
    return tmp_path_factory.mktemp("tokens") / "log.db"


@pytest.fixture(scope="module")
def admin(db):
    refused = command("token", "make", "ann", "--role", "annotator", "--db", db)
    assert refused.returncode == 1
    assert "the first token must have the role admin" in refused.stderr
    made = command("token", "make", "root", "--role", "admin", "--db", db)
    return made.stdout.strip()


@pytest.fixture(scope="module")
def server(db, admin):
    with Server(db) as server:
        with aw.Client(server.url, admin) as client:
            for name in ("one", "two"):
                client.create(name, algorithm="perceptron", grace=0.0)
        yield server


@pytest.fixture(scope="module")
def secrets(server, admin):
    made = {}
    for role in ("producer", "annotator", "reviewer"):
        words = ("token", "make", f"the {role}", "--role", role, "--stream", "one", "--json", "--server", server.url)
        made[role] = json.loads(command(*words, ASKWHEN_TOKEN=admin).stdout)["secret"]
    return made | {"admin": admin}


ACTIONS = {
    "create": ("POST", "/v1/streams", {"name": "three"}, {"admin"}),
    "send": ("POST", "/v1/streams/one/instances", {"x": [1.0]}, {"producer", "admin"}),
    "next": ("POST", "/v1/streams/one/questions/next", {}, {"annotator", "admin"}),
    "show": ("GET", "/v1/streams/one", None, {"producer", "annotator", "reviewer", "admin"}),
    "export": ("GET", "/v1/streams/one/export", None, {"reviewer", "admin"}),
    "model": ("GET", "/v1/streams/one/model", None, {"reviewer", "admin"}),
    "pause": ("POST", "/v1/streams/two/pause", None, {"admin"}),
    "other stream": ("GET", "/v1/streams/two", None, {"admin"}),
    "tokens": ("GET", "/v1/tokens", None, {"admin"}),
    "replay": ("POST", "/v1/streams/one/replay", None, {"admin"}),
}


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize("role", ["producer", "annotator", "reviewer", "admin"])
def test_each_role_may_do_what_it_may(server, secrets, action, role):
    method, path, body, allowed = ACTIONS[action]
    headers = {"Authorization": f"Bearer {secrets[role]}"}
    reply = httpx.request(method, server.url + path, json=body, headers=headers)
    if role in allowed:
        assert reply.status_code < 300, reply.text
    else:
        assert (reply.status_code, reply.headers["content-type"]) == (403, "application/problem+json")


def test_without_a_token_nothing_is_done(server):
    for headers in ({}, {"Authorization": "Bearer nonsense"}, {"Authorization": "Basic abc"}):
        for method, path, body, _ in ACTIONS.values():
            reply = httpx.request(method, server.url + path, json=body, headers=headers)
            assert (reply.status_code, reply.headers["www-authenticate"]) == (401, "Bearer")


def test_answers_have_the_name_of_the_token(server, secrets):
    with aw.Client(server.url, secrets["admin"]) as client:
        found = client.stream("one").ask([2.0])
    with aw.Client(server.url, secrets["annotator"]) as client:
        stream = client.stream("one")
        assert stream.tell(found, "yes")["annotator"] == "the annotator"
        with pytest.raises(aw.InputError, match="annotator must be the name of the token"):
            stream.tell(found, "yes", annotator="somebody else")


def test_a_token_stays_with_its_stream_when_that_is_renamed(server, secrets):
    with aw.Client(server.url, secrets["admin"]) as client:
        client.create("old", algorithm="perceptron")
        made = client.send("POST", "/v1/tokens", json={"name": "p", "roles": ["producer"], "streams": ["old"]})
        client.send("PATCH", "/v1/streams/old", json={"name": "new"})
        client.create("old", algorithm="perceptron")
        headers = {"Authorization": f"Bearer {made['secret']}"}
        assert httpx.get(f"{server.url}/v1/streams/new", headers=headers).status_code == 200
        assert httpx.get(f"{server.url}/v1/streams/old", headers=headers).status_code == 403
        assert [each["name"] for each in httpx.get(f"{server.url}/v1/streams", headers=headers).json()] == ["new"]


def test_a_revoked_token_is_refused_at_once(server, secrets):
    with aw.Client(server.url, secrets["admin"]) as client:
        made = client.send("POST", "/v1/tokens", json={"name": "short", "roles": ["producer"], "days": 1.0})
        headers = {"Authorization": f"Bearer {made['secret']}"}
        assert httpx.get(f"{server.url}/v1/streams/one", headers=headers).status_code == 200
        assert made["token"] in [each["token"] for each in client.send("GET", "/v1/tokens")]
        assert all("secret" not in each for each in client.send("GET", "/v1/tokens"))
        client.send("DELETE", f"/v1/tokens/{made['token']}")
        assert httpx.get(f"{server.url}/v1/streams/one", headers=headers).status_code == 401


def test_secrets_are_nowhere_at_rest_and_nothing_is_pickled(server, db, secrets):
    connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
    everything = "".join(facts for (facts,) in connection.execute("select facts from events"))
    connection.close()
    assert '"roles"' in everything
    for secret in secrets.values():
        assert secret not in everything
        assert secret not in server.log()


def test_commands_refuse_while_the_service_has_the_database(server, db):
    for words in (("token", "list"), ("replay", "one"), ("token", "make", "x", "--role", "admin")):
        refused = command(*words, "--db", db)
        assert refused.returncode == 1
        assert "another process of askwhen serves" in refused.stderr


def test_a_token_expires():
    tokens = Tokens()
    secret, fact = new_token("ann", ["annotator"], None, 100.0)
    tokens.apply(fact)
    assert tokens.holder(secret, 99.9).name == "ann"
    with pytest.raises(NotSignedInError, match="the token has expired"):
        tokens.holder(secret, 100.0)
    with pytest.raises(NotAllowedError, match="this needs the role admin, which ann lacks"):
        tokens.holder(secret, 0.0).check("admin", None)


def test_requests_come_at_a_pace():
    pace = RateLimiter(10.0)
    for _ in range(10):
        pace.take("a", 0.0)
    with pytest.raises(TooManyError, match="more than 10 requests a second"):
        pace.take("a", 0.0)
    pace.take("b", 0.0)
    pace.take("a", 0.11)


def test_a_public_address_needs_tls_and_tokens(tmp_path):
    assert [is_public(host) for host in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "10.0.0.1", "example")] == [
        False,
        False,
        False,
        True,
        True,
        True,
    ]
    refused = command("serve", "--host", "0.0.0.0", "--db", tmp_path / "log.db")
    assert "give --tls-certificate and --tls-key, or --behind-proxy" in refused.stderr
    refused = command("serve", "--host", "0.0.0.0", "--behind-proxy", "--db", tmp_path / "log.db")
    assert (refused.returncode, "a public address needs tokens" in refused.stderr) == (1, True)


def test_what_is_no_token_or_no_certificate_is_refused_without_being_shown(tmp_path):
    for token in ("aw_geheim\r\nx", "aw_geheimé", "aw_geheim x"):
        with pytest.raises(aw.InputError, match="the text that was shown when it was made") as refused:
            aw.Client("http://127.0.0.1:1", token)
        assert "geheim" not in str(refused.value)
    (tmp_path / "no.pem").write_text("no")
    files = ("--tls-certificate", tmp_path / "no.pem", "--tls-key", tmp_path / "no.pem")
    refused = command("serve", "--db", tmp_path / "log.db", *files)
    assert (refused.returncode, "are not a certificate and its key in PEM format." in refused.stderr) == (1, True)


def test_replay_and_tokens_work_on_a_database_that_nobody_serves(tmp_path):
    db = tmp_path / "log.db"
    with Server(db) as server:
        with aw.Client(server.url) as client:
            stream = client.create("one", algorithm="perceptron", grace=0.0)
            stream.tell(stream.ask([1.0]), "yes")
        server.stop()
    assert json.loads(command("replay", "one", "--db", db, "--json").stdout) == {"stream": "one", "labels": 1}
    assert "there is no stream 'none'" in command("replay", "none", "--db", db).stderr
    assert json.loads(command("erase", "one", "--round", 0, "--db", db, "--json").stdout)["erased"] == 1
    assert "say what to erase" in command("erase", "one", "--db", db).stderr
    assert "are gone." in command("erase", "one", "--before", "2200-01-01", "--db", db).stdout
    made = json.loads(command("token", "make", "root", "--role", "admin", "--db", db, "--json").stdout)
    assert made["token"] in command("token", "list", "--db", db).stdout
    assert "the last admin" in command("token", "revoke", made["token"], "--db", db).stderr
    other = command("token", "make", "other", "--role", "admin", "--db", db)
    assert other.returncode == 0
    assert command("token", "revoke", made["token"], "--db", db).returncode == 0
    with Server(db) as server:
        assert httpx.get(f"{server.url}/v1/streams").status_code == 401, "the door does not open again"


def test_who_sees_what_people_do(server, admin):
    secrets = {"admin": admin}

    def get(role, path):
        return httpx.get(f"{server.url}{path}", headers={"Authorization": f"Bearer {secrets[role]}"})

    with aw.Client(server.url, admin) as client:
        stream = client.create("seen", algorithm="perceptron", grace=0.0)
        for role in ("producer", "annotator"):
            made = client.send("POST", "/v1/tokens", json={"name": role, "roles": [role], "streams": ["seen"]})
            secrets[role] = made["secret"]
        ask = stream.ask([1.0])
        stream.tell(ask, "yes")
        path = f"/v1/streams/seen/questions/{ask.round}"
        assert get("admin", path).json()["label"] == "yes"
        assert get("producer", path).json()["label"] == "yes"
        assert {"label", "guess"}.isdisjoint(get("annotator", path).json())
        assert get("annotator", "/v1/streams/seen/events?after=0").status_code == 403
        assert get("producer", "/v1/streams/seen/events?after=0&kinds=answered").status_code == 422
        headers = {"Authorization": f"Bearer {secrets['producer']}"}
        with httpx.stream("GET", f"{server.url}/v1/streams/seen/events?after=0", headers=headers) as response:
            seen = b""
            for part in response.iter_bytes():
                seen += part
                if b"event: told" in seen:
                    break
        assert b"event: instance" in seen
        assert b"answered" not in seen
        assert httpx.get(f"{server.url}/metrics").status_code == 401
        assert get("producer", "/metrics").status_code == 200


@pytest.mark.parametrize("end", ["revoked", "expired"])
@pytest.mark.parametrize("path", ["events?after=0", "overview/events"])
def test_events_end_at_once_with_the_token(server, secrets, path, end):
    """Long before the next sign of life, though nothing happens to the stream."""
    with aw.Client(server.url, secrets["admin"]) as client:
        stream = client.create(f"quiet-{path[:4]}-{end}", algorithm="perceptron")
        stream.ask([1.0])
        days = {"days": 3.0 / 86400.0} if end == "expired" else {}
        made = client.send("POST", "/v1/tokens", json={"name": "short", "roles": ["producer"], **days})
        headers = {"Authorization": f"Bearer {made['secret']}"}
        address = f"{server.url}/v1/streams/{stream.name}/{path}"
        with httpx.stream("GET", address, headers=headers, timeout=300.0) as response:
            heard = response.iter_bytes()
            seen = next(heard)
            while b"event: " not in seen:
                seen += next(heard)
            if end == "revoked":
                client.send("DELETE", f"/v1/tokens/{made['token']}")
            for part in heard:
                assert b"still here" not in part


def test_who_leaves_the_team_hears_no_more_of_the_dashboard(server, secrets):
    with aw.Client(server.url, secrets["admin"]) as client:
        made = client.send("POST", "/v1/tokens", json={"name": "leaver", "roles": ["annotator"]})
        stream = client.create("left", algorithm="perceptron", team=["leaver"])
        headers = {"Authorization": f"Bearer {made['secret']}"}
        address = f"{server.url}/v1/streams/left/overview/events"
        with httpx.stream("GET", address, headers=headers, timeout=300.0) as response:
            heard = response.iter_bytes()
            assert b"event: overview" in next(heard)
            stream.set(team=["somebody else"])
            for part in heard:
                assert b"somebody else" not in part
                assert b"still here" not in part


def test_a_revoked_token_hears_no_more(server, secrets):
    with aw.Client(server.url, secrets["admin"]) as client:
        made = client.send("POST", "/v1/tokens", json={"name": "short", "roles": ["producer"]})
        stream = client.create("heard", algorithm="perceptron")
        headers = {"Authorization": f"Bearer {made['secret']}"}
        with httpx.stream("GET", f"{server.url}/v1/streams/heard/events", headers=headers, timeout=300.0) as response:
            heard = response.iter_bytes()
            assert b"welcome" in next(heard)
            stream.ask([1.0])
            assert b"event: instance" in next(heard)
            client.send("DELETE", f"/v1/tokens/{made['token']}")
            stream.ask([1.0])
            assert list(heard) == []


def test_there_is_always_somebody_who_can_make_tokens(tmp_path):
    with Server(tmp_path / "log.db") as server, aw.Client(server.url) as client:
        client.create("one")
        for given in ({"roles": ["admin"], "streams": ["one"]}, {"roles": ["admin"], "streams": []}):
            with pytest.raises(aw.InputError):
                client.send("POST", "/v1/tokens", json={"name": "a", **given})
        made = client.send("POST", "/v1/tokens", json={"name": "a", "roles": ["admin"]})
        with aw.Client(server.url, made["secret"]) as admin, pytest.raises(ConflictError, match="last admin"):
            admin.send("DELETE", f"/v1/tokens/{made['token']}")


def test_the_last_admin_can_neither_expire_nor_be_revoked(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            with pytest.raises(aw.InputError, match="without an end"):
                await tokens.make(coordinator, "root", ["admin"], None, 30.0)
            _, first = await tokens.make(coordinator, "root", ["admin"], None, None)
            _, other = await tokens.make(coordinator, "other", ["admin"], None, 30.0)
            with pytest.raises(ConflictError, match="the last admin for all streams that does not expire"):
                await tokens.revoke(coordinator, first.token)
            coordinator.tokens.apply(TokenRevoked(first.token))  # as older versions could come to it
            with pytest.raises(ConflictError, match="the last admin for all streams; make another one first"):
                await tokens.revoke(coordinator, other.token)
            time.now += 31 * 86400.0
            await tokens.revoke(coordinator, other.token)

    run(go())


def test_commands_do_not_make_a_database_by_mistake(tmp_path):
    for words in (["replay", "one"], ["token", "list"], ["token", "revoke", "x"]):
        done = command(*words, "--db", tmp_path / "typo.db")
        assert (done.returncode, "there is no database" in done.stderr) == (1, True), done.stderr
    assert list(tmp_path.iterdir()) == []
