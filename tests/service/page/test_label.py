"""Labelling by keyboard and by touch, in a real browser against a real service."""

import httpx
import pytest

from askwhen.service.errors import NotAllowedError
from tests.service.page.person import all_safe, answers, asked, moved_on, prefetched, press, read

pytestmark = pytest.mark.xdist_group("page, answering")

LABELS = ["ham", "spam", "other"]


def test_fifty_questions_by_keyboard(visit, made):
    stream = made([f"mail {i}" for i in range(50)])
    page = visit("ann", f"/label/{stream.name}")
    expected = []
    for _ in range(50):
        number = read(page)
        k = int(number)
        assert page.inner_text(".part.text") == f"mail {k}"
        expected.append((k, "ann", LABELS[k % 3]))
        press(page, "123"[k % 3], number)
    all_safe(page)
    page.get_by_text("No question is waiting").first.wait_for()
    assert answers(stream) == expected
    assert "50 answers" in page.inner_text(".tally")
    assert all(0.1 <= row["lead"] < 60.0 for row in stream.export())


def test_the_next_question_is_there_before_the_reply(visit, made):
    stream = made([f"mail {i}" for i in range(6)])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    prefetched(page)
    held = []
    page.route("**/answer", lambda route: held.append(route))
    press(page, "1")
    assert asked(page) == "1"
    assert "Sending 1 answer" in page.inner_text(".safety")
    while not held:
        page.wait_for_timeout(20)
    held[0].continue_()
    page.unroute("**/answer")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham")]


def test_a_skip_can_be_undone(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}")
    assert press(page, "s") == 0
    all_safe(page)
    page.keyboard.press("z")
    page.wait_for_selector(".question[data-question='0'] .instance")
    press(page, "2")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "spam")]


def test_undo_skip_and_unsure(visit, made):
    stream = made([f"mail {i}" for i in range(6)])
    page = visit("ann", f"/label/{stream.name}")
    press(page, "1")
    all_safe(page)
    page.keyboard.press("z")
    page.wait_for_selector(".question[data-question='0'] .instance")
    press(page, "2")
    assert press(page, "s") == 1
    assert press(page, "u") == 2
    all_safe(page)
    assert answers(stream) == [(0, "ann", "spam"), (2, "ann", None)]
    assert asked(page) == "3"
    assert [row["answer"] for row in stream.export() if row["undone"]] == ["ham"]


def test_undo_of_what_was_not_sent_yet(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    read(page)
    prefetched(page)
    page.context.set_offline(True)
    press(page, "1")
    page.get_by_text("1 answer not sent yet").first.wait_for()
    page.keyboard.press("z")
    page.get_by_text("Taken back before it was sent.").first.wait_for()
    page.context.set_offline(False)
    assert asked(page) == "0"
    press(page, "3")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "other")]


def test_keys_that_come_too_soon_or_repeat_answer_nothing(visit, made):
    stream = made([f"mail {i}" for i in range(5)])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    prefetched(page)
    page.evaluate(
        """() => { for (const repeat of [false, false, true])
        document.dispatchEvent(new KeyboardEvent('keydown', {key: '1', code: 'Digit1', repeat, bubbles: true})); }"""
    )
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham")]


def test_a_key_from_before_a_question_is_not_its_answer_however_busy_the_page_was(visit, made):
    stream = made([f"mail {i}" for i in range(5)])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    prefetched(page)
    page.evaluate(
        """() => { const key = {key: '1', code: 'Digit1', bubbles: true};
        const [one, two] = [1, 2].map(() => new KeyboardEvent('keydown', key));
        document.dispatchEvent(one);
        for (const end = performance.now() + 200; performance.now() < end;);
        document.dispatchEvent(two); }"""
    )
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham")]


def test_a_double_click_answers_once(visit, made):
    stream = made([f"mail {i}" for i in range(5)])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    prefetched(page)
    page.wait_for_timeout(300)
    page.evaluate(
        """async () => { const button = document.querySelector('.label');
        button.click();
        await new Promise(requestAnimationFrame);
        for (const end = performance.now() + 120; performance.now() < end;);
        button.click(); }"""
    )
    all_safe(page)
    assert answers(stream) == [(0, "ann", "ham")]


def test_a_label_may_be_called_as_the_language_calls_its_own(visit, made):
    stream = made(["one", "two"], labels=["__proto__", "constructor", "ham"])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.keyboard.press("?")
    page.get_by_label("Letter for __proto__").fill("q")
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    press(page, "q")
    page.reload()
    press(page, "q")
    all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["__proto__", "__proto__"]


def test_letters_of_ones_own(visit, made):
    stream = made([f"mail {i}" for i in range(3)])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.keyboard.press("?")
    page.get_by_label("Letter for spam").fill("z")
    page.get_by_text("The key z has a meaning already.").wait_for()
    page.get_by_label("Letter for spam").fill("q")
    page.get_by_label("Letter for ham").fill("q")
    page.get_by_text("q is the key of spam.").wait_for()
    page.keyboard.press("Escape")
    page.locator("dialog").wait_for(state="detached")
    press(page, "q")
    page.reload()
    press(page, "q")
    all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["spam", "spam"]


def test_a_letter_counts_before_the_browser_says_that_the_window_is_closed(visit, made):
    stream = made(["mail"])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.keyboard.press("?")
    page.get_by_label("Letter for spam").fill("q")
    page.evaluate(
        """() => {
            document.querySelector('dialog').close();
            document.dispatchEvent(new KeyboardEvent('keydown', { key: 'q', code: 'KeyQ', bubbles: true }));
        }"""
    )
    all_safe(page)
    assert answers(stream) == [(0, "ann", "spam")]


def question_is_seen(page):
    """Whether nothing covers the question."""
    return page.evaluate(
        """() => { const box = document.querySelector('.question .part').getBoundingClientRect();
        const seen = document.elementFromPoint(box.x + box.width / 2, box.y + 10);
        return seen.closest('.question') !== null; }"""
    )


BANK = [
    *("card_payment_fee_charged", "card_payment_not_recognised", "declined_card_payment", "top_up_by_card_charge"),
    *("balance_not_updated_after_cheque_or_cash_deposit", "pay me", "passcode_forgotten", "a card, and paying"),
    *(f"other {i}" for i in range(30)),
]


def test_words_are_found_in_any_order(visit, made):
    page = visit("ann", f"/label/{made(['one', 'two'], labels=BANK).name}")
    read(page)
    for typed, expected in (
        ("card pay", [BANK[0], BANK[1], BANK[2], "a card, and paying"]),
        ("fee card", [BANK[0]]),
        ("payment card fee", [BANK[0]]),
        ("pay", ["pay me", BANK[0], BANK[1], BANK[2], "a card, and paying"]),
        ("code", ["passcode_forgotten"]),
    ):
        page.keyboard.press("/")
        page.get_by_label("Find").fill(typed)
        found = page.locator(".label .word").all_inner_texts()
        assert [text.replace("\n", "") for text in found] == expected
    page.keyboard.press("Escape")
    assert page.locator(".label").count() == len(BANK)


BROKEN = """e => {
    const lines = [];
    for (const node of e.childNodes) {
        if (node.nodeType !== Node.TEXT_NODE) continue;
        for (const word of node.textContent.matchAll(/[^\\s_]+/g)) {
            const range = document.createRange();
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            if (range.getClientRects().length > 1) lines.push(word[0]);
        }
    }
    return lines;
}"""
"""The words of an element that go on in another line."""

WORDS = f"""() => [...document.querySelectorAll('.label .word')].filter(e => {{
    const inside = e.closest('.label').getBoundingClientRect(), box = e.getBoundingClientRect();
    const isOut = box.right > inside.right + 0.5 || box.bottom > inside.bottom + 0.5 || box.top < inside.top - 0.5;
    return ({BROKEN})(e).length || isOut;
}}).map(e => e.textContent)"""


@pytest.mark.parametrize("width", [380, 800, 1400])
def test_no_label_is_broken_inside_a_word_or_hidden(visit, made, width):
    for labels in (BANK, BANK[:8], ["ham", "spam"]):
        page = visit("ann", f"/label/{made(['one'], labels=labels).name}", width=width)
        asked(page)
        assert page.locator(".label").count() == len(labels)
        assert page.evaluate(WORDS) == []
        page.locator(".label").last.scroll_into_view_if_needed()
        box = page.locator(".label").last.bounding_box()
        assert 300.0 < box["y"] + box["height"] <= 800.0
        assert question_is_seen(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_more_than_ten_labels_have_keys(visit, made):
    labels = [f"topic {i}" for i in range(10)] + ["banana", "cherry", "carrot", "quince"]
    stream = made([f"mail {i}" for i in range(6)], labels=labels)
    page = visit("ann", f"/label/{stream.name}")
    asked(page)
    keys = {
        each.locator(".word").inner_text(): each.get_attribute("aria-keyshortcuts")
        for each in page.locator(".label").all()
    }
    assert len(set(keys.values())) == 14
    assert (keys["topic 9"], keys["banana"], keys["cherry"], keys["quince"]) == ("0", "b", "c", "q")
    for label in ("banana", "carrot", "quince"):
        press(page, keys[label])
    all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["banana", "carrot", "quince"]


def test_what_was_chosen_is_seen(visit, made):
    stream = made(["one", "two", "three"], colours={"spam": "orange"})
    page = visit("ann", f"/label/{stream.name}")
    press(page, "2")
    page.locator(".label.chosen", has_text="spam").wait_for()
    page.locator(".label.chosen").wait_for(state="detached")


def test_labels_have_colours_that_differ(visit, made):
    stream = made(["one", "two", "three"], colours={"spam": "orange"})
    page = visit("ann", f"/label/{stream.name}")
    page.locator(".label .swatch").first.wait_for()
    found = [
        each.split()[-1] for each in page.locator(".label .swatch").evaluate_all("all => all.map(e => e.className)")
    ]
    assert found == ["c-sky", "c-orange", "c-green"]


def test_the_guess_is_the_highlighted_button_and_enter_gives_it(visit, made):
    stream = made(["one", "two", "three", "four"], guess=True, grace=0.0)
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    guess = page.locator(".label.guess")
    guess.wait_for()
    label = guess.locator(".word").inner_text()
    assert guess.get_attribute("aria-description") == "the model's guess"
    press(page, "Enter")
    all_safe(page)
    assert answers(stream) == [(0, "ann", label)]


def test_progress_of_the_sitting_the_day_and_the_stream(visit, made):
    stream = made([f"mail {i}" for i in range(6)])
    page = visit("ann", f"/label/{stream.name}")
    page.locator(".tally", has_text="6 questions wait").wait_for()
    for _ in range(2):
        press(page, "1")
    all_safe(page)
    assert page.locator(".tally").inner_text().startswith("2 answers in this sitting")
    assert "4 questions wait" in page.locator(".tally").inner_text(), "it does not wait until one pauses"
    assert page.locator(".tally progress").evaluate("bar => [bar.value, bar.max]") == [2, 6]
    page.reload()
    page.locator(".tally", has_text="2 today").wait_for()
    page.locator(".tally", has_text="4 questions wait").wait_for()
    assert page.locator(".tally progress").evaluate("bar => [bar.value, bar.max]") == [2, 6]


CUT = """all => all.filter(e => e.checkVisibility()).flatMap(e => [...e.getClientRects()])
    .filter(box => box.width > 2 && (box.right > innerWidth || box.left < 0)).length"""
"""How many of these reach beyond the window: where it does not scroll, nothing else says so."""


def test_progress_and_long_names_are_not_cut_off_on_a_phone(visit, made, server):
    name = "anna-katharina.schmidt-rodriguez@a-department.example.org"
    root = {"Authorization": f"Bearer {server.tokens['root']}"}
    made_of = httpx.post(f"{server.url}/v1/tokens", json={"name": name, "roles": ["annotator"]}, headers=root)
    server.tokens[name] = made_of.json()["secret"]
    stream = made([], budget={"rate": 0.5}, grace=0.0)
    list(stream.ask_many([f"mail {i}" for i in range(1_000)], backlog=True))
    page = visit(name, f"/label/{stream.name}", width=380)
    for _ in range(11):  # the time to the end is known after ten
        press(page, "1")
    all_safe(page)
    page.reload()
    page.locator(".tally .backlog", has_text="at your pace").wait_for()
    assert page.locator(".tally span, #top a, #top button").evaluate_all(CUT) == 0
    assert page.locator(".me button").evaluate("each => each.getClientRects().length") == 1
    assert page.locator("#top").bounding_box()["height"] < 100.0


def test_guidelines_and_comments_are_beside_the_question(visit, made, client):
    stream = made(["one", "two"], guidelines="# Be kind\nAlways.", about={"ham": "what people want"})
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.get_by_role("button", name="Guide").click()
    page.locator("dialog h3", has_text="Be kind").wait_for()
    page.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Comment").click()
    page.get_by_label("For reviewers, about this question").fill("which one is meant?")
    page.get_by_role("button", name="Send").click()
    page.locator(".last", has_text="The comment is stored").wait_for()
    page.keyboard.press("?")
    page.get_by_text("what people want").wait_for()
    page.keyboard.press("Escape")
    press(page, "1")
    all_safe(page)
    found = client.send("GET", f"/v1/streams/{stream.name}/questions/0")
    assert found["question"] == 0


def test_a_caption_stays_when_its_image_cannot_be_loaded(visit, made, server):
    shows = [
        {"image": f"{server.url}/page/none.png", "caption": "a cat"},
        {"image": "http://x.example/", "caption": "a dog"},
    ]
    stream = made(
        [{"x": str(i), "show": show} for i, show in enumerate(shows)], view={"media": [f"{server.url}/page/"]}
    )
    page = visit("ann", f"/label/{stream.name}", loud=True)
    for caption in ("a cat", "a dog"):
        page.locator(".missing").wait_for()
        assert page.locator("figcaption").inner_text() == caption
        press(page, "1")


def test_search_among_many_labels(visit, made):
    labels = [f"topic {i:03}" for i in range(120)]
    stream = made(["one", "two"], labels=labels)
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    assert page.locator(".label").count() == 120
    page.keyboard.press("/")
    page.keyboard.type("11")
    assert page.locator(".label").count() == 11
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    chosen = page.locator(".label.active .word").inner_text()
    assert question_is_seen(page)
    page.keyboard.press("Enter")
    all_safe(page)
    assert answers(stream) == [(0, "ann", chosen)]


def test_open_labels_are_typed(visit, made):
    stream = made(["one", "two"], labels="open")
    page = visit("ann", f"/label/{stream.name}")
    for new in (True, False):
        read(page)
        page.keyboard.press("/")
        page.keyboard.type("news")
        assert page.locator(".label .tag").count() == new
        page.keyboard.press("Enter")
        all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["news", "news"]


def test_what_is_typed_comes_first_and_nothing_typed_is_no_answer(visit, made):
    stream = made(["one", "two", "three", "four"], labels="open")
    page = visit("ann", f"/label/{stream.name}")
    for text in ("spammy", "spam", "Spam"):
        read(page)
        page.keyboard.press("/")
        page.keyboard.press("Enter")
        assert page.evaluate("document.activeElement.id") == "find-label"
        page.keyboard.type(text)
        page.keyboard.press("Enter")
        all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["spammy", "spam", "spam"]


def test_keys_that_scroll_go_to_the_long_text(visit, made):
    stream = made(["word " * 3000, "two"])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    places = []
    for key in ("PageDown", " ", "ArrowUp", "End", "Home"):
        page.keyboard.press(key)
        places.append(page.locator(".part.text").evaluate("part => part.scrollTop"))
    assert places[0] > 0.0
    assert places[2] < places[1] < places[3]
    assert places[4] == 0.0
    assert answers(stream) == []


def test_one_thumb_is_enough(visit, made):
    stream = made([f"mail {i} " + "word " * 400 for i in range(3)])
    page = visit("ann", f"/label/{stream.name}", width=380, has_touch=True, is_mobile=True)
    first = read(page)
    for name in ("ham", "spam", "other", "Unsure", "Skip", "Undo"):
        box = page.get_by_role("button", name=name).first.bounding_box()
        assert box["height"] >= 44.0
        assert box["y"] > 400.0
        assert box["y"] + box["height"] <= 800.0
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("button", name="spam").tap()
    moved_on(page, first)
    all_safe(page)
    assert answers(stream) == [(0, "ann", "spam")]


def test_many_labels_on_a_phone_are_all_reached_and_cover_nothing(visit, made):
    labels = [
        f"{first}_{second}_not_{third}"
        for first in ("card", "cash", "top_up")
        for second in ("arrival", "payment", "withdrawal", "transfer", "exchange")
        for third in ("working", "recognised", "charged", "allowed", "shown")
    ]
    stream = made([f"mail {i} " + "word " * 200 for i in range(3)], labels=labels)
    page = visit("ann", f"/label/{stream.name}", width=380, has_touch=True, is_mobile=True)
    for height in (800, 700, 640):
        page.set_viewport_size({"width": 380, "height": height})
        read(page)
        question, panel = (page.locator(each).bounding_box() for each in (".question", ".panel"))
        assert question["y"] + question["height"] <= panel["y"] + 1.0, height
        assert panel["y"] + panel["height"] <= height + 1.0, height
    last = page.get_by_role("button", name=labels[-1])
    last.scroll_into_view_if_needed()
    box = last.bounding_box()
    assert 300.0 < box["y"] < 640.0 - box["height"]
    last.tap()
    page.locator(".question[data-question='1'] .instance").wait_for()
    read(page)
    page.get_by_label("Find").fill("with rec")
    page.wait_for_timeout(300)  # a touch within a quarter of a second of a new question is none
    page.get_by_role("button", name="cash_withdrawal_not_recognised").tap()
    all_safe(page)
    assert [label for _, _, label in answers(stream)] == [labels[-1], "cash_withdrawal_not_recognised"]


def test_the_guess_is_shown_after_the_answer_unless_the_stream_shows_it(visit, made, client):
    hidden = made(["one", "two", "three"], labels=["ham", "spam"])
    page = visit("ann", f"/label/{hidden.name}")
    read(page)
    assert page.locator(".label.guess").count() == 0
    with pytest.raises(NotAllowedError, match="after the answer"):
        client.send("GET", f"/v1/streams/{hidden.name}/questions/0/guess")
    press(page, "1")
    page.get_by_text("The model guessed").wait_for()
    shown = made(["one", "two"], labels=["ham", "spam"], guess=True)
    page = visit("ann", f"/label/{shown.name}")
    page.locator(".label.guess").wait_for()


def test_two_browsers_never_see_the_same_slot(visit, made):
    stream = made([f"mail {i}" for i in range(14)])
    pages = {who: visit(who, f"/label/{stream.name}") for who in ("ann", "bob")}
    seen = {"ann": [], "bob": []}
    for _ in range(5):
        for who, page in pages.items():
            seen[who].append(press(page, "1"))
    for page in pages.values():
        all_safe(page)
    assert len(set(seen["ann"]) | set(seen["bob"])) == 10
    assert sorted(answers(stream)) == sorted((round, who, "ham") for who in seen for round in seen[who])


def test_two_tabs_of_one_person_never_show_the_same_question(visit, made, server):
    stream = made([f"mail {i}" for i in range(8)])
    first = visit("ann", f"/label/{stream.name}")
    prefetched(first)
    tabs = [first]
    for _ in range(2):
        tabs.append(first.context.new_page())
        tabs[-1].goto(first.url)
    second, third = tabs[1:]
    assert (asked(first), asked(second)) == ("0", "2")
    third.get_by_text("You are labelling this stream in another tab").first.wait_for()
    seen = [press(page, "1") for _ in range(2) for page in (first, second)]
    first.close()
    second.close()
    seen += [press(third, "2") for _ in range(8 - len(seen))]
    all_safe(third)
    assert sorted(seen) == list(range(8))
    assert sorted(number for number, _, _ in answers(stream)) == list(range(8))


def test_two_devices_of_one_person_never_show_the_same_question(visit, made):
    stream = made([f"mail {i}" for i in range(10)])
    phone, tablet = (visit("ann", f"/label/{stream.name}", width) for width in (380, 1000))
    for page in (phone, tablet):
        prefetched(page)
    assert asked(phone) != asked(tablet)
    seen = [press(page, "1") for _ in range(5) for page in (phone, tablet)]
    for page in (phone, tablet):
        all_safe(page)
    assert sorted(seen) == list(range(10))
    assert sorted(number for number, _, _ in answers(stream)) == list(range(10))


def test_a_table_is_seen_whole_on_a_phone(visit, made):
    long = {"amount": 1200.5, "first": True, "a name that takes its room": "many words that go on and on " * 4}
    stream = made([], labels=["pay", "refuse"], features={"kind": "hashed", "places": 64})
    assert stream.ask(long).query
    page = visit("ann", f"/label/{stream.name}", 380)
    asked(page)
    for text in ("1200.5", "true"):
        box = page.locator(".sheet td", has_text=text).bounding_box()
        assert box["x"] + box["width"] <= 380
        assert page.locator(".sheet").evaluate("sheet => sheet.scrollWidth <= sheet.clientWidth")


def test_open_labels_are_asked_for_in_words(visit, made):
    stream = made(["one"], labels="open")
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.keyboard.press("/")
    page.get_by_text("No label was given yet: type the first one.").wait_for()
    page.keyboard.type("news")
    page.keyboard.press("Enter")
    all_safe(page)
    assert answers(stream) == [(0, "ann", "news")]


def test_leases_are_renewed_while_the_page_is_open_and_given_back_on_leaving(visit, made, client):
    stream = made(["one", "two"], lease=1.0)
    page = visit("ann", f"/label/{stream.name}")
    asked(page)
    page.wait_for_timeout(1500)
    other = visit("bob", f"/label/{stream.name}")
    other.get_by_text("No question is waiting").first.wait_for()
    page.goto("about:blank")
    assert asked(other) in ("0", "1")


@pytest.mark.parametrize("kind", ["text", "code"])
def test_hostile_instances_and_labels_stay_text(visit, made, kind):
    bad = "<img src=x onerror='window.ran=1'><script>window.ran=1</script>\u202e{{x}} &lt;b&gt; ]]> \x07"
    label = "</script><script>window.ran=1</script><b onclick=window.ran=1>spam</b>\"'`{{links}}"
    stream = made([bad, bad], labels=["ham", label], guess=True, view={"kind": kind, "highlight": "onerror|(a+)$"})
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    assert page.locator(".part").text_content() == bad
    assert page.locator(".part mark").text_content() == "onerror"
    assert page.locator("main script, main img, main b").count() == 0
    press(page, "2")
    all_safe(page)
    page.keyboard.press("?")
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    assert page.evaluate("window.ran ?? 0") == 0
    assert page.locator("dialog b").count() == 0
    assert answers(stream) == [(0, "ann", label)]


def test_a_pattern_that_takes_for_ever_does_not_hang_the_page(visit, made):
    """The first text takes hours with this pattern; nothing is marked then, and the page goes on."""
    stream = made(["a" * 60 + "!", "banana", "more"], view={"highlight": "(a|a)*$"})
    page = visit("ann", f"/label/{stream.name}")
    first = asked(page)
    assert page.locator(".part").text_content() == "a" * 60 + "!"
    press(page, "1")
    page.locator(".part", has_text="banana").wait_for()
    assert asked(page) != first
    all_safe(page)
    assert page.locator("mark").count() == 0


def test_matches_are_marked(visit, made):
    stream = made(["win a prize, Win it", "two"], view={"highlight": "win|prize"})
    page = visit("ann", f"/label/{stream.name}")
    page.locator(".part mark").nth(2).wait_for()
    assert page.locator(".part mark").all_text_contents() == ["win", "prize", "Win"]
    assert page.locator(".part").text_content() == "win a prize, Win it"


def test_every_kind_of_instance(visit, made, server):
    icon = f"{server.url}/page/icon.svg"
    shows = [
        {"x": "a", "show": "first line\n  second line"},
        {"x": "b", "show": "שלום עולם, מה שלומך היום?"},
        {"x": "c", "show": {"subject": "a <b>", "length": 3, "seen": True}},
        {"x": "d", "show": {"image": icon, "caption": "an icon"}},
        {"x": "e", "show": {"image": "https://elsewhere.example/x.png"}},
        {"x": "f", "show": {"deep": {"list": [1, {"a": None}]}}},
        {"x": "g", "show": {"code": "def f():\n\treturn '<b>'"}},
        {"x": "h", "show": {"text": "both", "table": {"n": 1}}},
        {"x": "i", "show": {"audio": f"{server.url}/page/none.mp3"}},
        {"x": "j", "show": {"image": f"{server.url}/pages/icon.svg"}},
        {"x": "k", "show": {"image": "javascript:window.ran=1"}},
    ]
    stream = made(shows, view={"media": [f"{server.url}/page/"]})
    page = visit("ann", f"/label/{stream.name}", loud=True)
    seen = {}
    for _ in shows:
        number = int(read(page))
        seen[number] = page.inner_text(".instance")
        if number == 1:
            right = "(() => { const r = document.createRange(); r.selectNodeContents(document.querySelector('.text'));"
            box = page.evaluate(right + "const b = r.getBoundingClientRect(); return [b.left, b.right]; })()")
            assert box[1] > 900.0 > 500.0 < box[0]
        if number == 2:
            assert page.locator(".sheet tr").count() == 3
        if number == 3:
            assert page.get_by_role("img", name="an icon").evaluate("image => image.decode().then(() => 1)")
        if number == 6:
            assert page.locator("pre").evaluate("e => getComputedStyle(e).whiteSpace") == "pre"
        if number == 8:
            assert page.locator("audio").count() == 1
        if number in (4, 9, 10):
            assert page.locator("img").count() == 0
            assert "is not loaded" in seen[number]
        press(page, "1")
    assert seen[0] == "first line\n  second line"
    assert '"deep": {' in seen[5]
    assert seen[7].split() == ["both", "n", "1"]
    assert page.evaluate("window.ran ?? 0") == 0


def test_a_prefetch_that_fails_leaves_the_question_and_is_tried_again(visit, made):
    stream = made([f"mail {i}" for i in range(3)])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    page.route("**/questions/next", lambda route: route.fulfill(status=500, json={"detail": "broken."}))
    press(page, "1")
    page.wait_for_timeout(300)
    assert page.inner_text(".question .text") == "mail 1"
    press(page, "2")
    page.get_by_text("The server has trouble: broken.").first.wait_for()
    page.keyboard.press("3")
    all_safe(page)
    page.unroute("**/questions/next")
    assert asked(page) == "2"
    assert answers(stream) == [(0, "ann", "ham"), (1, "ann", "spam")]


def test_a_prefetch_that_is_refused_is_said_beside_the_question(visit, made):
    stream = made([f"mail {i}" for i in range(3)])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    prefetched(page)
    page.route("**/questions/next", lambda route: route.fulfill(status=403, json={"detail": "not now."}))
    press(page, "1")
    page.locator(".problem", has_text="Not now.").wait_for()
    assert page.inner_text(".question .text") == "mail 1"
    assert page.locator(".panel.idle").count() == 0


def test_two_undos_at_once_take_back_two_answers(visit, made):
    stream = made([f"mail {i}" for i in range(5)])
    page = visit("ann", f"/label/{stream.name}")
    for key in "12":
        press(page, key)
        all_safe(page)
    read(page)
    page.evaluate(
        """() => { for (const key of 'zz3') document.dispatchEvent(
        new KeyboardEvent('keydown', {key, code: key === 'z' ? 'KeyZ' : 'Digit3', bubbles: true})); }"""
    )
    page.wait_for_selector(".question[data-question='0'] .instance")
    page.wait_for_timeout(200)
    assert answers(stream) == []
    assert [press(page, "3") for _ in range(3)] == [0, 1, 2]
    all_safe(page)
    assert answers(stream) == [(i, "ann", "other") for i in range(3)]


def test_an_undo_that_is_refused_does_not_stay_in_the_way(visit, made):
    stream = made([f"mail {i}" for i in range(4)])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    for key in "12":
        press(page, key)
        all_safe(page)
    page.evaluate(
        "name => fetch(`/v1/streams/${name}/questions/1/undo`, {method: 'POST', body: '{}',"
        " headers: {'Content-Type': 'application/json'}})",
        stream.name,
    )
    page.keyboard.press("z")
    page.locator(".last", has_text="question").wait_for()
    page.keyboard.press("z")
    page.wait_for_selector(".question[data-question='0'] .instance")


@pytest.mark.parametrize(
    ("key", "code", "given"), [("w", "KeyZ", 1), (";", "KeyZ", 1), ("я", "KeyZ", 0), ("z", "KeyY", 0)]
)
def test_the_layout_says_which_letter_a_key_is(visit, made, key, code, given):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}")
    press(page, "1")
    all_safe(page)
    page.evaluate(
        "given => document.dispatchEvent(new KeyboardEvent('keydown', {...given, bubbles: true}))",
        {"key": key, "code": code},
    )
    page.wait_for_timeout(150)
    assert asked(page) == str(given)


def test_labels_that_cannot_be_used_now_can_still_be_read(visit, made):
    stream = made([])
    page = visit("ann", f"/label/{stream.name}")
    page.get_by_text("No question is waiting").first.wait_for()
    button = page.get_by_role("button", name="ham")
    assert button.get_attribute("aria-disabled") == "true"
    assert button.evaluate("e => [e, e.parentElement].map(each => getComputedStyle(each).opacity)") == ["1", "1"]
    stream.ask("one")
    asked(page)
    assert button.get_attribute("aria-disabled") == "false"


def test_labels_that_change_while_somebody_labels_are_those_on_the_page(visit, made):
    stream = made([f"mail {i}" for i in range(5)])
    page = visit("ann", f"/label/{stream.name}")
    prefetched(page)
    stream.relabel("rename", label="ham", to="wanted")
    stream.relabel("add", labels=["news"])
    for _ in range(2):  # the button that is still called ham gives the label that it is called now
        press(page, "1")
    page.get_by_role("button", name="wanted").wait_for()
    page.get_by_role("button", name="news").wait_for()
    assert page.locator(".label").count() == 4
    press(page, "4")
    all_safe(page)
    assert [label for _, _, label in answers(stream)] == ["wanted", "wanted", "news"]


def test_several_labels_are_picked_and_given(visit, made):
    stream = made(["one", "two", "three"], several=True)
    page = visit("ann", f"/label/{stream.name}")
    first = read(page)
    page.keyboard.press("1")
    page.get_by_role("button", name="other").click()
    page.keyboard.press("2")
    page.keyboard.press("2")
    assert page.locator(".label[aria-pressed=true] .word").all_inner_texts() == ["ham", "other"]
    page.get_by_role("button", name="Give 2 labels").click()
    moved_on(page, first)
    page.get_by_text("Last: ham, other.").wait_for()
    before = read(page)
    page.locator("h1").click()
    page.keyboard.press("Enter")  # none of them
    moved_on(page, before)
    all_safe(page)
    assert answers(stream) == [(0, "ann", '["ham","other"]'), (1, "ann", "[]")]
    page = visit("rae", f"/review/{stream.name}")
    page.get_by_role("heading", name="Review").wait_for()
