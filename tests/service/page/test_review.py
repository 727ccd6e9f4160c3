"""Reviewers decide what people disagree on, and exports hold what they decided."""

import pytest

import askwhen as aw
from tests.service.page.person import asked, read

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture
def disputed(made, server):
    """A stream on which ann and bob disagree about every second question."""

    def make(**settings):
        stream = made([f"mail {i}" for i in range(4)], slots=2, grace=0.0, **settings)
        for who, labels in (("ann", ["ham", "ham", "ham", "ham"]), ("bob", ["ham", "spam", "ham", "spam"])):
            with aw.Client(server.url, server.tokens[who]) as client:
                theirs = client.stream(stream.name)
                for label in labels:
                    theirs.tell(theirs.next()["question"], label)
        return stream

    return make


def decide(page, key, number):
    page.wait_for_selector(f".question[data-question='{number}'] .instance")
    assert read(page) == str(number)
    page.keyboard.press(key)


def test_a_reviewer_decides_and_exports_hold_it_beside_the_answers(visit, disputed):
    stream = disputed()
    page = visit("rae", f"/review/{stream.name}")
    assert asked(page) == "1"
    assert page.locator(".answers li").all_inner_texts()[:2] == ["ann: ham", "bob: spam"]
    assert stream.report()["accuracy"]["advice"].startswith("Decide the 2 disputed questions in the review")
    decide(page, "3", 1)
    decide(page, "n", 3)
    page.get_by_text("Nothing is left to review here.").first.wait_for()
    assert "2 decisions" in page.inner_text(".tally")
    rows = [
        (row["question"], row["annotator"], row["answer"], row["label"], row["reviewer"]) for row in stream.export()
    ]
    assert [row for row in rows if row[0] == 1] == [
        (1, "ann", "ham", "other", "rae"),
        (1, "bob", "spam", "other", "rae"),
    ]
    assert [row[3] for row in rows if row[0] == 3] == [None, None]
    assert stream.facts()["disputed"] == 0


def test_what_somebody_said_is_decided_by_pressing_it(visit, disputed):
    stream = disputed()
    page = visit("rae", f"/review/{stream.name}")
    for number, name in ((1, "spam"), (3, "ham")):
        page.wait_for_selector(f".question[data-question='{number}'] .instance")
        assert read(page) == str(number)
        page.locator(".answers").get_by_role("button", name=name, exact=True).first.click()
        page.locator(".last", has_text=f"Decided: {name}").wait_for()
    assert [row["label"] for row in stream.export("instances")] == ["ham", "spam", "ham", "ham"]


@pytest.mark.parametrize("width", [380, 800, 1400])
def test_what_is_reviewed_is_seen_however_many_labels_there_are(visit, disputed, width):
    stream = disputed(labels=["ham", "spam", *(f"card_payment_of_the_kind_{i}" for i in range(60))])
    page = visit("rae", f"/review/{stream.name}", width=width)
    assert asked(page) == "1"
    box, text = (page.locator(each).bounding_box() for each in (".question", ".question .instance"))
    assert text["height"] >= 60.0
    assert text["y"] + 60.0 <= box["y"] + box["height"]
    assert page.locator(".said").first.bounding_box()["y"] < box["y"] + box["height"] - 20.0


def test_a_decision_is_undone_and_decided_again(visit, disputed):
    stream = disputed()
    page = visit("rae", f"/review/{stream.name}")
    decide(page, "3", 1)
    page.wait_for_selector(".question[data-question='3'] .instance")
    page.keyboard.press("z")
    page.get_by_text("Taken back: decide again.").first.wait_for()
    decide(page, "2", 1)
    decide(page, "1", 3)
    page.get_by_text("Nothing is left to review here.").first.wait_for()
    assert "2 decisions" in page.inner_text(".tally")
    assert {row["question"]: row["label"] for row in stream.export()} == {0: "ham", 1: "spam", 2: "ham", 3: "ham"}


def test_tabs_have_counts_and_what_all_have_skipped_comes_with_their_comments(visit, made, server):
    stream = made(["mail 0", "mail 1"], slots=1, grace=0.0)
    with aw.Client(server.url, server.tokens["ann"]) as client:
        theirs = client.stream(stream.name)
        theirs.act(theirs.next()["question"], "skip")
        client.send("POST", f"/v1/streams/{stream.name}/questions/0/comments", json={"text": "unreadable"})
    page = visit("rae", f"/review/{stream.name}")
    page.get_by_role("button", name="Skipped 1").click()
    assert asked(page) == "0"
    assert "ann comments: unreadable" in page.inner_text(".answers")
    page.get_by_role("button", name="Comment").click()
    page.get_by_label("For reviewers, about this question").fill("I can read it")
    page.get_by_role("button", name="Send").click()
    page.locator(".remark", has_text="I can read it").wait_for()
    decide(page, "1", 0)
    page.get_by_role("button", name="Skipped 0").wait_for()
    assert [(row["label"], row["reviewer"]) for row in stream.export()] == [("ham", "rae")]


def test_reviewers_see_no_names_where_the_stream_says_so(visit, disputed):
    stream = disputed(view={"blind": True})
    page = visit("rae", f"/review/{stream.name}")
    asked(page)
    assert page.locator(".answers li").all_inner_texts()[:2] == ["Answer 1: ham", "Answer 2: spam"]
    seen = page.evaluate("name => fetch(`/v1/streams/${name}/review`).then(reply => reply.text())", stream.name)
    assert '"ann"' not in seen
    assert '"spam"' in seen


def test_corrected_answers_and_a_random_share_come_too(visit, made, server):
    stream = made([f"mail {i}" for i in range(12)], grace=0.0, view={"review": 0.5})
    with aw.Client(server.url, server.tokens["ann"]) as client:
        theirs = client.stream(stream.name)
        for _ in range(12):
            theirs.tell(theirs.next()["question"], "ham")
        assert theirs.act(5, "undo")["told"]
        theirs.tell(5, "spam")
    page = visit("rae", f"/review/{stream.name}")
    assert asked(page) == "5"
    assert "Current label: spam" in page.inner_text(".answers")
    decide(page, "2", 5)
    page.get_by_text("Nothing is left to review here.").first.wait_for()
    page.get_by_role("button", name="Random 50 %").click()
    asked(page)
    reviewed = []
    while page.locator(".instance").count():
        reviewed.append(int(read(page)))
        page.keyboard.press("1")
        page.wait_for_function(
            "before => document.querySelector('.question').dataset.question !== before", arg=str(reviewed[-1])
        )
    assert 2 <= len(reviewed) <= 10
    assert 5 not in reviewed
    assert len(set(reviewed)) == len(reviewed)
    by = {row["question"]: row["reviewer"] for row in stream.export()}
    assert {round for round, reviewer in by.items() if reviewer == "rae"} == {5, *reviewed}


def test_annotators_do_not_review(visit, disputed, server):
    stream = disputed()
    page = visit("ann", f"/review/{stream.name}", loud=True)
    page.get_by_text("This needs the role reviewer").first.wait_for()
    assert page.get_by_role("link", name="Review").count() == 0


PRESS_AT_ONCE = """([key, place]) => new MutationObserver((_, observer) => {
    if (document.querySelector(place)) {
        observer.disconnect();
        document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code: `Digit${key}`, bubbles: true }));
        document.body.dataset.pressed = "yes";
    }
}).observe(document.body, { subtree: true, childList: true, attributes: true })"""
"""A key in the very moment in which something is shown, however busy the machine is."""


def test_a_key_pressed_twice_decides_once(visit, disputed):
    stream = disputed()
    page = visit("rae", f"/review/{stream.name}")
    read(page)
    page.evaluate(PRESS_AT_ONCE, ["2", ".question[data-question='3'] .instance"])
    page.keyboard.press("2")
    page.wait_for_selector("body[data-pressed]")
    page.wait_for_timeout(200)
    assert asked(page) == "3"
    assert "1 decision" in page.inner_text(".tally")
    assert stream.facts()["disputed"] == 1


def test_the_keys_of_a_reviewer_are_behind_the_question_mark(visit, disputed):
    page = visit("rae", f"/review/{disputed().name}")
    read(page)
    page.keyboard.press("?")
    page.locator("dialog[open]", has_text="Later: it stays in the list").wait_for()


def test_a_reviewer_is_told_what_did_not_work_and_signs_in_again(visit, disputed, client):
    tokens = [client.send("POST", "/v1/tokens", json={"name": "gil", "roles": ["reviewer"]}) for _ in range(2)]
    stream = disputed()
    page = visit(None, f"/review/{stream.name}", loud=True)
    page.get_by_label("Token").fill(tokens[0]["secret"])
    page.keyboard.press("Enter")
    read(page)
    page.context.set_offline(True)
    page.get_by_role("button", name="Corrected").click()
    page.locator(".question .problem", has_text="The service cannot be reached").wait_for()
    page.context.set_offline(False)
    page.get_by_role("button", name="Disputed").click()
    client.send("DELETE", f"/v1/tokens/{tokens[0]['token']}")
    decide(page, "2", 1)
    page.get_by_label("Token").fill(tokens[1]["secret"])
    page.keyboard.press("Enter")
    decide(page, "2", 1)
    page.wait_for_selector(".question[data-question='3'] .instance")
    assert stream.facts()["disputed"] == 1


def test_a_second_reviewer_is_told_that_the_first_has_decided(visit, disputed, client, server):
    stream = disputed()
    page = visit("rae", f"/review/{stream.name}", loud=True)
    assert asked(page) == "1"
    client.send("POST", f"/v1/streams/{stream.name}/questions/1/review", json={"label": "ham", "annotator": "root"})
    read(page)
    page.keyboard.press("3")
    page.get_by_text("Another reviewer has decided this question meanwhile.").first.wait_for()
    assert asked(page) == "3"
    assert {row["label"] for row in stream.export() if row["question"] == 1} == {"ham"}


def test_questions_to_review_appear_by_themselves(visit, made, server):
    stream = made(["mail"], slots=2, grace=0.0)
    page = visit("rae", f"/review/{stream.name}")
    page.get_by_text("Nothing is left to review here.").first.wait_for()
    for who, label in (("ann", "ham"), ("bob", "spam")):
        with aw.Client(server.url, server.tokens[who]) as client:
            client.stream(stream.name).tell(client.stream(stream.name).next()["question"], label)
    assert asked(page) == "0"
