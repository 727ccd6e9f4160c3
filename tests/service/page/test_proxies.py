"""Behind a real nginx, at a path of its host: pages, events, and people whom the proxy signs in."""

import re
from importlib import resources

import httpx
import pytest

import askwhen as aw
from tests.service.nginx import DEPLOY, Nginx
from tests.service.page.person import all_safe, answers, asked, press
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("page")
GONE = 'location = /gone { return 200 "signed out"; }'


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    folder = tmp_path_factory.mktemp("proxy")
    text = (DEPLOY / "askwhen.toml").read_text().replace('sign-out = ""', 'sign-out = "/gone"')
    (folder / "askwhen.toml").write_text(text)
    with Server(folder / "log.db", "--config", folder / "askwhen.toml") as service:
        service.root = f"{service.url}/askwhen"
        with httpx.Client(base_url=service.root, headers={"X-Forwarded-User": "root"}) as http:
            for name in ("mails", "other"):
                settings = {"labels": ["ham", "spam"], "features": {"kind": "text", "places": 64}, "seed": 1}
                given = {"name": name, "settings": settings | {"algorithm": "perceptron"}}
                assert http.post("/v1/streams", json=given).status_code == 201
            made = http.post("/v1/tokens", json={"name": "first", "roles": ["admin"]})
            made = http.post("/v1/tokens", json={"name": "feed", "roles": ["producer"]}).json()
            service.feed = made["secret"]
            made = http.post("/v1/tokens", json={"name": "rae", "roles": ["reviewer", "annotator"]}).json()
            service.rae = made["secret"]
        with aw.Client(service.root, service.feed) as client:
            for text in ("win a prize", "lunch at noon", "cheap pills"):
                assert client.stream("mails").ask(text).query
        yield service


@pytest.fixture(scope="module")
def nginx(service, tmp_path_factory):
    folder = tmp_path_factory.mktemp("nginx") / "own"
    with Nginx(folder, service, {"ann": "a", "root": "r", "zoe": "z"}, GONE) as nginx:
        yield nginx


@pytest.fixture
def opened(browser):
    """A page of somebody who knows the proxy's password, which loads from one host only and has nothing to complain."""
    contexts, complaints = [], []

    def opened(url, who=None):
        given = {"http_credentials": {"username": who, "password": who[0]}} if who else {}
        context = browser.new_context(**given)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        host = "/".join(url.split("/")[:3])
        page.on("request", lambda each: None if each.url.startswith(host) else complaints.append(each.url))
        page.on("response", lambda each: complaints.append(each.url) if each.status in (403, 404, 500) else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(url)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def test_pages_work_under_a_path_behind_nginx_for_people_it_signs_in(nginx, service, opened):
    page = opened(f"{nginx.url}/askwhen/", "ann")
    assert page.locator(".me").inner_text().startswith("ann")
    page.get_by_role("link", name="Label").first.click()
    asked(page)
    assert page.url == f"{nginx.url}/askwhen/label/mails"
    boss = opened(f"{nginx.url}/askwhen/dashboard/mails", "root")
    boss.locator("text=/questions? wait|waiting/i").first.wait_for()
    before = boss.locator("main").inner_text()
    press(page, "2")
    all_safe(page)
    boss.wait_for_function("before => document.querySelector('main').innerText !== before", arg=before)
    with aw.Client(service.root, service.rae) as client:
        assert [(who, label) for _, who, label in answers(client.stream("mails"))] == [("ann", "spam")]
    for name in ("New stream", "Tokens"):
        boss.get_by_role("link", name="askwhen", exact=True).click()
        boss.get_by_role("link", name=name).first.click()
        boss.locator("main form").first.wait_for()
    stranger = opened(f"{nginx.url}/askwhen/label/mails", "zoe")
    stranger.locator(
        "main", has_text="Zoe is signed in and has no role here; an admin gives one with a line"
    ).wait_for()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{nginx.url}/gone")


def test_a_token_signs_in_under_a_path_with_a_cookie_of_that_path(service, opened):
    page = opened(f"{service.root}/label/mails")
    page.get_by_label("Token").fill(service.rae)
    page.keyboard.press("Enter")
    asked(page)
    (cookie,) = page.context.cookies()
    assert cookie["path"] == "/askwhen"
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert page.url == f"{service.root}/"
    assert page.context.cookies() == []


def test_the_path_may_be_taken_away_by_the_proxy_or_not(service):
    headers = {"Authorization": f"Bearer {service.rae}"}
    for root in (service.url, service.root):
        assert [each["name"] for each in httpx.get(f"{root}/v1/streams", headers=headers).json()] == ["mails", "other"]
    document = httpx.get(f"{service.root}/openapi.json").json()
    assert document["servers"] == [{"url": "/askwhen"}]
    assert httpx.get(f"{service.root}").status_code == 200
    assert httpx.get(f"{service.url}/askwhenever").status_code == 404


BARE = re.compile(r"""(href:|fetch\(|assign\(|replace\(|EventSource\()\s*(["'`]/|streamPath\()""")


def test_no_address_of_the_page_forgets_the_path():
    files = list((resources.files("askwhen.service.http.routes") / "web").iterdir())
    assert len(files) > 20
    assert [(file.name, found[0]) for file in files for found in BARE.finditer(file.read_text())] == []
    assert BARE.search('el("a", { href: "/new" })')
    assert BARE.search("new EventSource(streamPath(name))")


def who(url, address=None, **headers):
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with httpx.Client(transport=httpx.HTTPTransport(local_address=address)) as http:
        return http.get(f"{url}/v1/streams", headers=named)


def test_a_proxys_word_counts_only_from_its_own_address(service, nginx):
    assert who(service.url, X_Forwarded_User="root").status_code == 200
    spoofed = who(service.url, "127.0.0.2", X_Forwarded_User="root")
    assert (spoofed.status_code, "does not come from a trusted address" in spoofed.json()["detail"]) == (401, True)
    spoofed = who(service.url, "127.0.0.2", X_Forwarded_User="root", X_Forwarded_For="127.0.0.1")
    assert spoofed.status_code == 401
    token = {"Authorization": f"Bearer {service.rae}"}
    assert who(service.url, "127.0.0.2", X_Forwarded_User="root", **token).status_code == 200, "the token's, not root's"
    assert who(f"{nginx.url}/askwhen", X_Forwarded_User="root").status_code == 401, "nginx asks for a password"
    spoofed = who(f"{nginx.url}/askwhen", X_Forwarded_User="root", Authorization="Basic em9lOno=")  # zoe
    assert spoofed.status_code == 403
    assert spoofed.json()["detail"].startswith("zoe is signed in and has no role here; an admin gives one")
    spoofed = who(f"{nginx.url}/askwhen", X_Forwarded_Groups="moderators", Authorization="Basic em9lOno=")
    assert spoofed.status_code == 403
    both = httpx.get(f"{service.url}/v1/streams", headers=[("X-Forwarded-User", "ann"), ("X-Forwarded-User", "root")])
    assert both.status_code == 401, "one of the two may be the client's"


def test_roles_are_those_of_the_first_line_that_fits(service):
    def status(path, **headers):
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return httpx.get(f"{service.url}/v1{path}", headers=named).status_code

    ann = {"X_Forwarded_User": "ann", "X_Forwarded_Groups": "moderators"}
    assert status("/streams/mails", **ann) == 200
    assert status("/streams/other", **ann) == 403, "for mails alone, whatever her groups may do"
    assert status("/streams/mails/export", **ann) == 403
    bob = {"X_Forwarded_User": "bob", "X_Forwarded_Groups": "staff, moderators"}
    assert status("/streams/other/export", **bob) == 200
    assert status("/tokens", **bob) == 403
    assert status("/streams", X_Forwarded_User="bob") == 403
    assert status("/tokens", X_Forwarded_User="root") == 200
    assert status("/streams", X_Forwarded_User=101 * "x") == 401
    assert status("/streams", X_Forwarded_User="*") == 401


def test_tokens_work_through_the_proxy_beside_its_own_sign_in(service, nginx):
    with aw.Client(f"{nginx.url}/askwhen", service.feed) as client:
        assert client.stream("other").ask("some text").round == 0
    headers = {"Authorization": f"Bearer {service.feed}"}
    refused = httpx.post(f"{nginx.url}/askwhen/v1/streams/other/questions/next", headers=headers)
    assert (refused.status_code, "feed lacks" in refused.json()["detail"]) == (403, True)


def test_a_cookie_counts_beside_the_password_of_a_proxy(service):
    headers = {"Cookie": f"askwhen={service.rae}", "Authorization": "Basic em9lOno="}
    assert httpx.get(f"{service.url}/v1/streams", headers=headers).status_code == 200
    assert httpx.get(f"{service.url}/v1/streams", headers=headers | {"Cookie": "askwhen=aw_no"}).status_code == 401


@pytest.mark.parametrize("headers", [{"Sec-Fetch-Site": "cross-site"}, {"Origin": "http://elsewhere.example"}])
def test_other_sites_cannot_act_for_those_whom_a_proxy_signs_in(service, nginx, headers):
    given = {"annotator": "ann", "label": "spam"}
    for url, mine in ((service.root, {"X-Forwarded-User": "ann"}), (f"{nginx.url}/askwhen", {})):
        auth = None if mine else ("ann", "a")
        sent = httpx.post(f"{url}/v1/streams/mails/questions/1/answer", json=given, headers=headers | mine, auth=auth)
        assert (sent.status_code, "other sites" in sent.json()["detail"]) == (403, True)
