"""Sign-in by an OpenID provider: a real one in a process of its own, and tokens that are forged."""

import base64
import hmac
import re
import time
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwk, jwt

from askwhen.service.errors import NotSignedInError
from askwhen.service.http.openid.attempt import Attempt, new_attempt
from askwhen.service.http.openid.identity_token import KeySource, claims_of
from askwhen.service.http.openid.options import OpenId
from askwhen.service.http.openid.provider import user_of
from tests.service.coordinators import run
from tests.service.identity_provider import IdentityProvider
from tests.service.page.test_access import violations
from tests.service.serving import Server, free_port
from tests.service.test_tokens import command

pytestmark = pytest.mark.xdist_group("openid")
ROLES = """
[roles.users]
"root@example.org" = { roles = ["admin"] }
"ann@example.org" = { roles = ["annotator"], streams = ["mails"] }
[roles.groups]
staff = { roles = ["reviewer"] }
"""


@pytest.fixture(scope="module")
def provider(tmp_path_factory):
    with IdentityProvider(tmp_path_factory.mktemp("provider") / "log") as provider:
        provider.knows("1", email="root@example.org", email_verified=True)
        provider.knows("2", email="ann@example.org", email_verified=True)
        provider.knows("3", email="rae@example.org", email_verified=True, groups=["all", "staff"])
        provider.knows("4", email="zoe@example.org", email_verified=True, groups=["all"])
        provider.knows("5", email="root@example.org", email_verified=False)
        provider.knows("6", groups=["staff"])
        yield provider


@pytest.fixture(scope="module")
def server(tmp_path_factory, provider):
    folder, port = tmp_path_factory.mktemp("openid"), free_port()
    client, secret = provider.registered(f"http://127.0.0.1:{port}/sign-in/done")
    text = f'openid-issuer = "{provider.url}"\nopenid-client = "{client}"\nopenid-secret = "{secret}"\n'
    (folder / "askwhen.toml").write_text(text + ROLES)
    with Server(folder / "log.db", "--config", folder / "askwhen.toml", port=port) as server:
        server.tokens, server.provider_secret = {}, secret
        root = signed_in(server, provider, "1")
        given = {"labels": ["ham", "spam"], "algorithm": "perceptron", "features": {"kind": "text", "places": 64}}
        for name in ("mails", "other"):
            assert root.post("/v1/streams", json={"name": name, "settings": given}).status_code == 201
        yield server


BROWSERS = []


@pytest.fixture(autouse=True, scope="module")
def closing():
    yield
    for each in BROWSERS:
        each.close()


def new_browser(server, **given):
    """A client with cookies of its own."""
    BROWSERS.append(httpx.Client(base_url=server.url, **given))
    return BROWSERS[-1]


def begun(server, next="/label/mails"):
    """A browser that was sent to the provider, and the address there."""
    http = new_browser(server)
    reply = http.get("/sign-in", params={"next": next})
    assert reply.status_code == 302
    return http, reply.headers["location"]


def signed_in(server, provider, sub):
    """A browser in which a person has signed in."""
    http, there = begun(server)
    reply = http.get(provider.agree(there, sub))
    assert reply.status_code == 200, reply.text
    return http


def test_people_sign_in_with_the_provider_and_have_the_roles_of_their_claims(server, provider):
    http, there = begun(server)
    asked = parse_qs(urlsplit(there).query)
    assert asked["code_challenge_method"] == ["S256"]
    assert asked["response_type"] == ["code"]
    assert http.get("/v1/streams").status_code == 401
    reply = http.get(provider.agree(there, "2"))
    assert "Signed in as ann@example.org" in reply.text
    assert 'content="0;url=/label/mails"' in reply.text
    cookies = reply.headers.get_list("set-cookie")
    assert len(cookies) == 2
    assert "httponly" in cookies[0].lower()
    assert "samesite=strict" in cookies[0].lower()
    assert http.get("/session").json()["name"] == "ann@example.org"
    assert http.get("/v1/streams/mails").status_code == 200
    assert http.get("/v1/streams/other").status_code == 403
    assert http.get("/v1/streams/mails/export").status_code == 403
    staff = signed_in(server, provider, "3")
    assert staff.get("/v1/streams/other/export").status_code == 200
    assert staff.get("/v1/tokens").status_code == 403
    root = signed_in(server, provider, "1")
    found = root.get("/v1/sign-ins").json()
    assert {each["way"] for each in found} == {"openid"}
    for each in found:
        if each["name"] == "ann@example.org":
            assert 11.9 * 3600 < each["expires"] - each["since"] <= 12 * 3600
            assert root.delete(f"/v1/sign-ins/{each['sign_in']}").status_code == 204
    assert http.get("/v1/streams/mails").status_code == 401
    assert server.provider_secret not in server.log()


def test_in_a_browser_the_sign_in_ends_where_it_began(server, provider, browser):
    httpx.put(f"{provider.url}/users/7", json={"email": "ann@example.org", "email_verified": True})
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.goto(f"{server.url}/dashboard/mails")
    page.get_by_role("link", name=f"Sign in with localhost:{provider.port}").click()
    page.get_by_placeholder("sub").fill("7")
    page.get_by_role("button", name="Authorize").click()
    page.wait_for_url(f"{server.url}/dashboard/mails")
    page.locator(".me", has_text="ann@example.org").wait_for()
    assert {each["name"] for each in context.cookies(server.url)} == {"askwhen"}
    assert page.evaluate("document.cookie") == ""
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign in with").wait_for()
    page.goto(f"{server.url}/sign-in/done?state=x")
    page.get_by_text("This browser has not begun to sign in").wait_for()
    assert violations(page) == []
    page.get_by_role("link", name="Back").click()
    page.get_by_role("link", name="Sign in with").wait_for()
    assert violations(page) == []
    context.close()


@pytest.mark.parametrize(
    ("sub", "status", "said"),
    [
        ("4", 403, "zoe@example.org is signed in and has no role here"),
        ("5", 401, "has not verified the address root@example.org"),
        ("6", 401, "gives no name in the claim email"),
    ],
)
def test_whoever_has_no_role_no_verified_address_or_no_name_is_refused(server, provider, sub, status, said):
    http, there = begun(server)
    reply = http.get(provider.agree(there, sub))
    assert (reply.status_code, said in reply.text) == (status, True)
    assert "askwhen" not in http.cookies
    assert http.get("/v1/streams").status_code == 401


def test_a_reply_counts_once_and_only_in_the_browser_that_asked(server, provider):
    http, there = begun(server)
    back = provider.agree(there, "1")
    other = new_browser(server)
    assert other.get(back).status_code == 401, "sign-in as somebody else by a link"
    begun_too, _ = begun(server)
    assert begun_too.get(back).status_code == 401
    assert http.get(back).status_code == 200
    http.cookies.clear()
    assert http.get(back).status_code == 401
    http, there = begun(server)
    back = provider.agree(there, "1")
    cookies = dict(http.cookies)
    assert http.get(back).status_code == 200
    again = new_browser(server, cookies=cookies)
    assert again.get(back).status_code == 401, "the provider has seen the code already"


def test_what_the_provider_says_of_a_failure_is_shown_as_text(server):
    http, there = begun(server)
    state = parse_qs(urlsplit(there).query)["state"][0]
    reply = http.get("/sign-in/done", params={"state": state, "error": "<script>", "session_state": "x"})
    assert (reply.status_code, "&lt;script&gt;" in reply.text, "<script>" in reply.text) == (401, True, False)
    http, there = begun(server)
    state = parse_qs(urlsplit(there).query)["state"][0]
    reply = http.get("/sign-in/done", params={"state": state, "code": "x", "iss": "https://elsewhere.example"})
    assert "another identity provider has answered" in reply.text.lower()


@pytest.mark.parametrize(
    ("next", "root", "page"),
    [
        ("/label/mails?x=1", "", "/label/mails?x=1"),
        ("//elsewhere.example/", "", "/"),
        ("https://elsewhere.example/", "", "/"),
        ("/\\elsewhere.example/", "", "/"),
        ("/\n/x", "", "/"),
        ("", "", "/"),
        ("/" + 600 * "x", "", "/"),
        ("/askwhen/label/mails", "/askwhen", "/askwhen/label/mails"),
        ("/other", "/askwhen", "/askwhen/"),
    ],
)
def test_a_sign_in_ends_at_a_page_of_the_service(next, root, page):
    assert new_attempt(next, root).next == page


def test_the_challenge_is_that_of_the_standard():
    attempt = Attempt("", "", "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "/")
    assert attempt.challenge == "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"  # RFC 7636, appendix B


def test_a_provider_that_does_not_answer_is_named_and_tokens_go_on(tmp_path):
    (tmp_path / "askwhen.toml").write_text(
        f'openid-issuer = "http://localhost:{free_port()}"\nopenid-client = "askwhen"\n{ROLES}'
    )
    with Server(tmp_path / "log.db", "--config", tmp_path / "askwhen.toml") as server:
        reply = httpx.get(f"{server.url}/sign-in")
        assert (reply.status_code, "The identity provider does not answer" in reply.text) == (503, True)
        assert httpx.get(f"{server.url}/readyz").status_code == 200


KEY, OTHER = (jwk.RSAKey.generate_key(2048, {"kid": kid}) for kid in ("one", "two"))
GOOD = {"iss": "https://id.example", "aud": "askwhen", "sub": "1", "nonce": "n"}


def claims(token):
    async def fetch():
        return {"keys": [{"kty": "strange", "kid": "x"}, KEY.as_dict(private=False)]}

    return run(claims_of(token, KeySource(fetch), "https://id.example", "askwhen", "n"))


def made(key=KEY, alg="RS256", kid="one", **changes):
    times = {"iat": int(time.time()), "exp": int(time.time()) + 60}
    found = {name: value for name, value in (GOOD | times | changes).items() if value is not None}
    return jwt.encode({"alg": alg} | ({"kid": kid} if kid else {}), found, key, algorithms=[alg])


def by_public_key():
    """An identity signed with the public key as if it were a shared secret."""
    head = base64.urlsafe_b64encode(b'{"alg":"HS256","kid":"one"}').rstrip(b"=").decode()
    signed = f"{head}.{made().split('.')[1]}"
    code = hmac.digest(KEY.as_pem(private=False), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(code).rstrip(b'=').decode()}"


def test_a_good_identity_is_accepted():
    assert claims(made())["sub"] == "1"
    assert claims(made(kid=None))["sub"] == "1"
    assert claims(made(aud=["askwhen", "other"], azp="askwhen"))["sub"] == "1"
    assert claims(made(exp=int(time.time()) - 30))["sub"] == "1", "clocks may differ a little"


@pytest.mark.parametrize(
    ("token", "said"),
    [
        (lambda: made(aud="other"), "for another service"),
        (lambda: made(aud=["askwhen", "other"]), "for another service"),
        (lambda: made(azp="other"), "for another service"),
        (lambda: made(iss="https://elsewhere.example"), "for another service"),
        (lambda: made(nonce="m"), "for another attempt"),
        (lambda: made(nonce=None), "for another attempt"),
        (lambda: made(exp=int(time.time()) - 120), "not valid now"),
        (lambda: made(exp=None), "not valid now"),
        (lambda: made(iat=int(time.time()) + 3600), "not valid now"),
        (lambda: made(OTHER), "signature"),
        (lambda: made(OTHER, kid="two"), "a key that it does not publish"),
        (lambda: by_public_key(), "signature"),
        (lambda: made().rpartition(".")[0] + ".", "signature"),
        (lambda: "eyJhbGciOiJub25lIiwia2lkIjoib25lIn0." + made().split(".")[1] + ".", "signature"),
        (lambda: "nonsense", "signature"),
    ],
)
@pytest.mark.filterwarnings("ignore::joserfc.errors.SecurityWarning")
def test_a_forged_or_foreign_identity_is_refused(token, said):
    with pytest.raises(NotSignedInError, match=said):
        claims(token())


@pytest.mark.parametrize(
    ("found", "name", "groups", "user"),
    [
        (
            {"preferred_username": "ann", "realm_access": {"roles": ["a"]}},
            "preferred_username",
            "realm_access.roles",
            1,
        ),
        ({"sub": "x", "groups": "staff"}, "sub", "groups", 1),
        ({"sub": "x", "groups": [1, "staff"]}, "sub", "groups", 1),
        ({"email": "a@b.example"}, "email", "groups", 0),
        ({"email": "a@b.example", "email_verified": "true"}, "email", "groups", 0),
        ({"sub": "*"}, "sub", "groups", 0),
        ({"sub": 101 * "x"}, "sub", "groups", 0),
        ({"sub": ["x"]}, "sub", "groups", 0),
    ],
)
def test_names_and_groups_come_from_claims(found, name, groups, user):
    openid = OpenId("https://id.example", "askwhen", name=name, groups=groups)
    if user:
        assert len(user_of(found, openid).groups) == 1
    else:
        with pytest.raises(NotSignedInError):
            user_of(found, openid)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--openid-issuer", "http://id.example", "--openid-client", "x"], "must be an address that begins with https"),
        (["--openid-issuer", "https://id.example"], "openid-issuer needs openid-client"),
        (["--openid-client", "x"], "need openid-issuer"),
        (["--openid-issuer", "https://id.example", "--openid-client", "x"], "no roles are given"),
    ],
)
def test_options_that_cannot_work_are_refused(tmp_path, options, said):
    refused = command("serve", "--db", tmp_path / "log.db", *options)
    assert refused.returncode == 1
    assert re.search(said, re.sub(r"\s+", " ", refused.stderr))
