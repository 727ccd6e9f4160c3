"""Tokens in cookies, and what other sites may not do."""

import httpx
import pytest

import askwhen as aw
from askwhen.service.events.instance_display import View, check_view
from tests.service.page.person import asked, prefetched, press

pytestmark = pytest.mark.xdist_group("page")


def test_signing_in_keeps_the_token_where_scripts_cannot_read_it(visit, made, server):
    stream = made(["one", "two"])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill("aw_wrong")
    page.keyboard.press("Enter")
    page.get_by_text("The token is not known.").first.wait_for()
    page.get_by_label("Token").fill(server.tokens["ann"])
    page.keyboard.press("Enter")
    asked(page)
    assert page.evaluate("document.cookie") == ""
    assert page.evaluate("JSON.stringify([{...localStorage}, {...sessionStorage}])").find("aw_") == -1
    (cookie,) = page.context.cookies()
    assert server.tokens["ann"] not in cookie["value"]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (True, "Strict", "/")
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    assert page.context.cookies() == []


def test_an_admin_ends_a_sign_in_and_the_browser_asks_for_a_token_again(visit, made, server):
    stream = made(["one", "two"])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill(server.tokens["cid"])
    page.keyboard.press("Enter")
    asked(page)
    boss = visit("root", "/tokens")
    row = boss.get_by_role("region", name="Signed-in browsers").locator("tr", has_text="cid")
    assert "Chrome on Linux" in row.inner_text()
    row.get_by_role("button").click()
    row.get_by_text("Really?").click()
    boss.get_by_text("cid was signed out.").wait_for(state="attached")
    assert row.count() == 0
    page.reload()
    page.get_by_label("Token").wait_for()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "http://elsewhere.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
def test_a_cookie_counts_only_on_our_own_pages(server, headers, status):
    cookie = {"Cookie": f"askwhen={server.tokens['ann']}"}
    assert httpx.get(f"{server.url}/v1/streams", headers=headers | cookie).status_code == status
    sent = httpx.post(f"{server.url}/session", json={"token": server.tokens["ann"]}, headers=headers)
    assert sent.status_code == status
    bearer = {"Authorization": f"Bearer {server.tokens['ann']}"}
    assert httpx.get(f"{server.url}/v1/streams", headers=headers | bearer).status_code == 200


def test_our_own_origin_is_known_by_the_host(server):
    headers = {"Cookie": f"askwhen={server.tokens['ann']}", "Origin": server.url}
    assert httpx.get(f"{server.url}/v1/streams", headers=headers).status_code == 200
    headers["Origin"] = server.url.replace("127.0.0.1", "localhost")
    assert httpx.get(f"{server.url}/v1/streams", headers=headers).status_code == 403


def test_a_page_of_another_site_cannot_answer_in_your_name(visit, made, server):
    stream = made(["one"])
    page = visit("ann", "/", loud=True)
    elsewhere = page.context.new_page()
    elsewhere.goto(server.url.replace("127.0.0.1", "localhost") + "/page/icon.svg")
    address = f"{server.url}/v1/streams/{stream.name}/questions/0/answer"
    elsewhere.evaluate(
        """([address, label]) => fetch(address, {method: 'POST', mode: 'no-cors', credentials: 'include',
        headers: {'Content-Type': 'text/plain'}, body: JSON.stringify({label})}).catch(() => 0)""",
        [address, "spam"],
    )
    assert list(stream.export()) == []
    own = page.evaluate(
        """([address, label]) => fetch(address, {method: 'POST', headers: {'Content-Type': 'application/json'},
        body: JSON.stringify({label})}).then(r => r.status)""",
        [address, "spam"],
    )
    assert own == 200
    assert [row["answer"] for row in stream.export()] == ["spam"]


def test_pages_trust_nothing_but_their_own_files(server, visit, made):
    stream = made(["one"], view={"media": ["https://images.example.org/mails/"]})
    reply = httpx.get(f"{server.url}/label/{stream.name}", headers={"Cookie": f"askwhen={server.tokens['ann']}"})
    policy = dict(part.strip().split(" ", 1) for part in reply.headers["content-security-policy"].split(";"))
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "https://images.example.org/mails/" in policy["img-src"]
    assert "unsafe" not in reply.headers["content-security-policy"]
    stranger = httpx.get(f"{server.url}/label/{stream.name}")
    assert "images.example.org" not in stranger.headers["content-security-policy"]
    page = visit("ann", f"/label/{stream.name}", loud=True)
    asked(page)
    with pytest.raises(Exception, match="TrustedHTML"):
        page.evaluate("document.body.innerHTML = '<b>x</b>'")
    with pytest.raises(Exception, match="TrustedScript"):
        page.evaluate("document.body.setAttribute('onclick', 'window.ran = 1')")


@pytest.mark.parametrize(
    "place",
    ["javascript:alert(1)//", "https://a.example; script-src *", "https://a.example", "data:image/", "ftp://a/"],
)
def test_places_of_images_are_addresses(client, place):
    with pytest.raises(aw.InputError, match="media must be addresses"):
        client.create("never", view={"media": [place]})


@pytest.mark.parametrize("pattern", ["(a+)+$", r"(\w+\s?)*:", "((a*)b)+", "(?:a{2,}|b)*", "(?<n>a?b?){9}"])
def test_patterns_that_would_never_end_are_refused(client, pattern):
    with pytest.raises(aw.InputError, match="highlight must be a pattern without"):
        client.create("never", view={"highlight": pattern})


@pytest.mark.parametrize("pattern", ["(a+)?b+", r"\(a+\)+", "[(a+)]+", "(?:ab)+", "(?=a+)b*", r"free|win|\d+ %"])
def test_patterns_that_end_are_taken(pattern):
    check_view(View(highlight=pattern))


def test_signing_out_with_answers_that_are_not_sent_asks_first(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    page.route("**/answer", lambda route: route.abort())
    press(page, "1")
    page.get_by_text("1 answer not sent yet").first.wait_for()
    said = []
    page.once("dialog", lambda dialog: (said.append(dialog.message), dialog.dismiss()))
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_timeout(200)
    assert "1 answer is not sent yet." in said[0]
    assert page.context.cookies() != []
