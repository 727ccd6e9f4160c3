"""No answer is lost: offline, tab closed, service killed."""

import time

import httpx
import pytest

import askwhen as aw
from tests.service.page.person import all_safe, answers, asked, prefetched, press, read

pytestmark = pytest.mark.xdist_group("page, answering")


def test_offline_for_ten_seconds_with_answers_given(visit, made):
    stream = made([f"mail {i}" for i in range(8)])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    press(page, "1")
    all_safe(page)
    prefetched(page)
    page.context.set_offline(True)
    started = time.monotonic()
    press(page, "2")
    press(page, "3")
    page.get_by_text("2 answers not sent yet").first.wait_for()
    page.wait_for_timeout(1000.0 * (10.0 - (time.monotonic() - started)))
    assert "They are kept in this browser" in page.inner_text(".safety")
    assert "The server cannot be reached" in page.inner_text(".question")
    assert len(answers(stream)) == 1
    page.context.set_offline(False)
    all_safe(page)
    press(page, "1")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham"), (1, "ann", "spam"), (2, "ann", "other"), (3, "ann", "ham")]


def test_a_page_that_is_reloaded_at_once_does_not_ask_again(visit, made):
    stream = made([f"mail {i}" for i in range(12)])
    page = visit("ann", f"/label/{stream.name}")
    seen = []
    for _ in range(6):
        prefetched(page)
        seen.append(press(page, "1"))
        page.reload()
    read(page)
    all_safe(page)
    assert len(set(seen)) == len(seen)
    assert sorted(number for number, _, _ in answers(stream)) == sorted(seen)
    assert page.locator(".problem").count() == 0


def test_a_tab_that_was_closed_with_answers_not_sent(visit, made, server):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    read(page)
    prefetched(page)
    page.context.set_offline(True)
    press(page, "2")
    page.get_by_text("1 answer not sent yet").first.wait_for()
    context = page.context
    page.close()
    context.set_offline(False)
    assert answers(stream) == []
    other = context.new_page()
    other.goto(server.url)
    other.get_by_role("heading", name="Streams", exact=True).wait_for()
    for _ in range(100):
        if answers(stream):
            break
        other.wait_for_timeout(50)
    assert answers(stream) == [(0, "ann", "spam")]


def test_an_answer_whose_reply_is_lost_counts_once(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    read(page)
    lost = []

    def swallow(route):
        lost.append(route.fetch())
        route.abort()

    page.route("**/answer", swallow, times=1)
    press(page, "1")
    all_safe(page)
    assert lost[0].status == 200
    assert answers(stream) == [(0, "ann", "ham")]


def test_another_person_in_the_same_browser_does_not_send_your_answers(visit, made, server):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    read(page)
    prefetched(page)
    page.context.set_offline(True)
    press(page, "2")
    page.get_by_text("1 answer not sent yet").first.wait_for()
    page.context.set_offline(False)
    cookie = {"name": "askwhen", "url": server.url, "httpOnly": True}
    page.context.clear_cookies()
    context = page.context
    page.close()
    context.add_cookies([cookie | {"value": server.tokens["bob"]}])
    other = context.new_page()
    other.goto(f"{server.url}/label/{stream.name}")
    asked(other)
    other.wait_for_timeout(400)
    assert all(who != "bob" for _, who, _ in answers(stream))


def test_an_answer_is_not_given_in_the_name_of_who_signs_in_meanwhile(visit, made, server):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    cookie = {"name": "askwhen", "url": server.url, "httpOnly": True}
    page.context.add_cookies([cookie | {"value": server.tokens["bob"]}])
    press(page, "2")
    page.wait_for_load_state()
    page.wait_for_timeout(300)
    assert answers(stream) == []
    page.context.add_cookies([cookie | {"value": server.tokens["ann"]}])
    page.goto(f"{server.url}/label/{stream.name}")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "spam")]


def test_a_tab_notices_who_signs_in_and_out_in_another(visit, made, server):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    asked(page)
    other = page.context.new_page()
    other.goto(server.url)
    other.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    other.get_by_label("Token").fill(server.tokens["bob"])
    other.keyboard.press("Enter")
    press(page, "1")
    all_safe(page)
    assert [(who, label) for _, who, label in answers(stream)] == [("bob", "ham")]


def test_an_answer_never_lands_on_another_stream_of_the_same_name(visit, made, client):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    page.context.set_offline(True)
    press(page, "2")
    page.get_by_text("1 answer not sent yet").first.wait_for()
    client.send("PATCH", f"/v1/streams/{stream.name}", json={"name": f"{stream.name}-old"})
    page.context.set_offline(False)
    page.locator(".safety", has_text="the stream has been renamed").wait_for()
    settings = {"labels": ["ham", "spam"], "features": {"kind": "text", "places": 64}, "budget": {"rate": 1.0}}
    other = client.create(stream.name, **settings)
    other.ask("another one")
    page.reload()
    page.locator(".problem", has_text="is a different one now").wait_for()
    assert answers(other) == []


def test_an_answer_that_is_refused_is_shown_with_the_reason(visit, made, server):
    stream = made(["one", "two"], lease=1.0)
    page = visit("ann", f"/label/{stream.name}", loud=True)
    read(page)
    prefetched(page)
    page.context.set_offline(True)
    press(page, "2")
    page.wait_for_timeout(1100)
    with aw.Client(server.url, server.tokens["cid"]) as other:
        theirs = other.stream(stream.name)
        number = theirs.next()["question"]
        theirs.tell(number, "ham")
    page.context.set_offline(False)
    assert number == 0
    page.get_by_text("was not taken").first.wait_for()
    assert "all slots are filled" in page.inner_text(".problem")
    assert page.get_attribute(".safety", "data-safe") == "no"
    assert "1 answer was not taken" in page.inner_text(".safety")
    page.get_by_role("button", name="Put away").click()
    page.wait_for_selector(".problem", state="detached")
    assert answers(stream) == [(0, "cid", "ham")]


def test_several_refusals_are_one_line(visit, made, server):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    page.route("**/answer", lambda route: route.fulfill(status=409, json={"detail": "no."}))
    press(page, "1")
    press(page, "2")
    page.get_by_text("2 of your answers were not taken").wait_for()
    assert page.locator(".problem").count() == 1
    page.get_by_role("button", name="Put all away").click()
    all_safe(page)


def test_a_token_that_was_revoked_while_answering(visit, made, client, server):
    tokens = [client.send("POST", "/v1/tokens", json={"name": "eve", "roles": ["annotator"]}) for _ in range(2)]
    stream = made(["one", "two", "three"])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill(tokens[0]["secret"])
    page.keyboard.press("Enter")
    prefetched(page)
    client.send("DELETE", f"/v1/tokens/{tokens[0]['token']}")
    read(page)
    page.keyboard.press("2")
    page.get_by_label("Token").or_(page.get_by_role("button", name="Sign in")).first.wait_for()
    if page.get_by_label("Token").count() == 0:
        page.get_by_role("button", name="Sign in").click()
    page.get_by_label("Token").fill(tokens[1]["secret"])
    page.keyboard.press("Enter")
    all_safe(page)
    assert answers(stream) == [(0, "eve", "spam")]


def test_an_answer_that_waits_for_a_new_token_is_never_called_safe(visit, made, client):
    tokens = [client.send("POST", "/v1/tokens", json={"name": "gil", "roles": ["annotator"]}) for _ in range(2)]
    stream = made(["one", "two", "three"])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill(tokens[0]["secret"])
    page.keyboard.press("Enter")
    prefetched(page)
    client.send("DELETE", f"/v1/tokens/{tokens[0]['token']}")
    read(page)
    page.keyboard.press("2")
    page.get_by_label("Token").wait_for()
    with page.expect_response("**/questions/0"):
        page.evaluate("() => dispatchEvent(new Event('online'))")  # it looks what it has while nobody is signed in
    held = []
    page.route("**/answer", lambda route: held.append(route))
    page.evaluate(
        """() => {
            window.safeties = [];
            new MutationObserver(() => window.safeties.push(document.querySelector('.safety')?.textContent ?? ''))
                .observe(document.body, { childList: true, subtree: true, characterData: true });
        }"""
    )
    page.get_by_label("Token").fill(tokens[1]["secret"])
    page.keyboard.press("Enter")
    page.locator(".safety", has_text="Sending 1 answer").wait_for()
    assert not any("All your answers are safe" in said for said in page.evaluate("() => window.safeties"))
    for route in held:
        route.continue_()
    page.unroute("**/answer")
    all_safe(page)
    assert answers(stream) == [(0, "gil", "spam")]


def test_after_signing_in_again_the_question_is_shown_again(visit, made, client):
    tokens = [client.send("POST", "/v1/tokens", json={"name": "fay", "roles": ["annotator"]}) for _ in range(2)]
    stream = made([f"mail {i}" for i in range(5)])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill(tokens[0]["secret"])
    page.keyboard.press("Enter")
    prefetched(page)
    client.send("DELETE", f"/v1/tokens/{tokens[0]['token']}")
    read(page)
    page.keyboard.press("2")
    page.get_by_label("Token").wait_for()
    page.evaluate("() => document.activeElement.blur()")
    page.keyboard.press("1")
    page.get_by_label("Token").fill(tokens[1]["secret"])
    page.keyboard.press("Enter")
    assert asked(page) == "1"
    all_safe(page)
    assert press(page, "3") == 1
    all_safe(page)
    assert answers(stream) == [(0, "fay", "spam"), (1, "fay", "other")]


def test_the_service_is_killed_and_started_while_answering(visit, without_tokens):
    server = without_tokens
    with aw.Client(server.url) as client:
        stream = client.create("killed", features={"kind": "text"}, budget={"rate": 1.0}, labels=["ham", "spam"])
        for i in range(20):
            stream.ask(f"mail {i}")
        page = visit(None, "/label/killed", loud=True, to=server)
        page.get_by_label("Your name").fill("ann")
        page.keyboard.press("Enter")
        for _ in range(3):
            press(page, "1")
        all_safe(page)
        prefetched(page)
        server.kill()
        press(page, "2")
        page.get_by_text("The server cannot be reached").first.wait_for()
        read(page)
        page.keyboard.press("2")
        page.get_by_text("2 answers not sent yet").first.wait_for()
        server.start()
        all_safe(page)
        press(page, "1")
        all_safe(page)
        given = [label for _, _, label in answers(stream)]
        assert given == ["ham", "ham", "ham", "spam", "spam", "ham"]
        assert len({number for number, _, _ in answers(stream)}) == 6


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost:80"}, 200),
        ({"Host": "[::1]:8300"}, 200),
        ({"Host": "elsewhere.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Origin": "http://elsewhere.example"}, 403),
    ],
)
def test_without_tokens_other_sites_are_refused_too(without_tokens, headers, status):
    assert httpx.get(f"{without_tokens.url}/v1/streams", headers=headers).status_code == status


def test_an_answer_whose_reply_was_lost_is_taken_back_on_the_server(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)

    def lose(route):
        route.fetch()
        route.abort()

    page.route("**/answer", lose)
    assert press(page, "2") == 0
    page.locator(".safety", has_text="1 answer not sent yet").wait_for()
    page.keyboard.press("z")
    page.get_by_text("Undo needs the server").first.wait_for()
    page.unroute("**/answer")
    page.keyboard.press("z")
    page.wait_for_function("() => document.querySelector('.question').dataset.question === '0'")
    assert answers(stream) == []
    assert press(page, "1") == 0
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham")]


def test_answers_that_wait_are_sent_after_signing_in_on_any_page(visit, made, client):
    token = client.send("POST", "/v1/tokens", json={"name": "hal", "roles": ["annotator"]})
    stream = made(["one", "two"])
    page = visit(None, f"/label/{stream.name}", loud=True)
    page.get_by_label("Token").fill(token["secret"])
    page.keyboard.press("Enter")
    prefetched(page)
    page.route("**/answer", lambda route: route.abort())
    press(page, "2")
    page.locator(".safety", has_text="1 answer not sent yet").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("Token").wait_for()
    page.unroute("**/answer")
    with page.expect_response("**/answer"):
        page.get_by_label("Token").fill(token["secret"])
        page.keyboard.press("Enter")
    assert answers(stream) == [(0, "hal", "spam")]
