"""Gold questions on the page: made from an instance or a file, answered like others, seen with the people."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

import askwhen as aw
from tests.service.page.person import all_safe, press
from tests.service.page.test_dashboard import numbers
from tests.service.page.test_import import put_file, sent

pytestmark = pytest.mark.xdist_group("page")


def gold_of(stream):
    return stream.client.send("GET", f"/v1/streams/{stream.name}/gold")["questions"]


def test_a_labelled_instance_becomes_a_gold_question_by_a_button(visit, made):
    stream = made([{"x": f"win a prize {i}", "id": f"m{i}"} for i in range(3)], grace=0.0)
    page = visit("ann", f"/label/{stream.name}")
    press(page, "2")
    all_safe(page)
    page = visit("rae", f"/browse/{stream.name}?sort=oldest")
    page.get_by_role("button", name="win a prize 1").click()
    box = page.get_by_role("dialog")
    assert box.get_by_role("button", name="Use as a gold question").count() == 0  # without a label
    box.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="win a prize 0").click()
    box.get_by_role("button", name="Use as a gold question").click()
    page.get_by_text("A gold question now.").wait_for()
    assert gold_of(stream) == [{"gold": 1, "label": "spam", "answers": 0, "same": 0}]


def test_a_file_of_known_labels_becomes_gold_questions_which_people_answer_like_others(visit, made, server):
    stream = made([], grace=0.0, gold=0.5, seed=3)
    page = visit("root", f"/import/{stream.name}")
    lines = "".join(f"known {i},{['spam', 'ham', ''][i % 3]}\n" for i in range(60))
    put_file(page, "known.csv", "text,label\n" + lines)
    page.get_by_role("radio", name=re.compile("^Make gold questions")).check()
    assert not page.get_by_role("radio", name=re.compile("^At once")).is_visible()
    assert not Axe().run(page).response["violations"]
    sent(page, "Done. 40 gold questions added, 20 without a label left out.")
    assert (len(gold_of(stream)), stream.facts()["rounds"]) == (40, 0)
    sent(page, "Done. 0 gold questions added, 40 there before, 20 without a label left out.")
    for i in range(30):
        assert stream.ask(f"message {i}").query
    page = visit("ann", f"/label/{stream.name}")
    for _ in range(40):
        press(page, "2")
    all_safe(page)
    made_gold = [row for row in stream.export("labels") if row["gold"] is not None]
    assert len(made_gold) > 10
    board = visit("rae", f"/dashboard/{stream.name}")
    said = "A label is one person's answer, or what a reviewer decided where a second answer differs"
    board.locator(".truth", has_text=said.replace("A label", "a label")).wait_for()
    board.locator(".truth", has_text="Gold questions are not part of the accuracy").wait_for()
    with aw.Client(server.url, server.tokens["root"]) as client:
        gold = client.send("GET", f"/v1/streams/{stream.name}/agreement")["people"]["ann"]["quality"]["gold"]
    assert gold["judged"] == len(made_gold)
    (person,) = numbers(board, "People")
    right = f"{100 * gold['share']:.1f} % of {gold['judged']}" if gold["share"] is not None else "not known yet"
    assert person[-1].startswith(right)
    assert not Axe().run(board).response["violations"]
    assert visit("bob", f"/import/{stream.name}", loud=True).get_by_text("Make gold questions").count() == 0


def test_the_share_of_gold_questions_is_a_setting(visit, made):
    stream = made([])
    page = visit("root", f"/change/{stream.name}")
    page.get_by_label("Share of gold questions").fill("0.2")
    page.get_by_role("button", name="Change the settings").click()
    page.get_by_text("Changed: gold.").wait_for()
    assert stream.facts()["settings"]["gold"] == 0.2
