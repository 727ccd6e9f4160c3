"""Streams whose labels are numbers, on every view of the page."""

import json

import pytest
from playwright.sync_api import expect

import askwhen as aw
from tests.service.page.person import all_safe, answers, read
from tests.service.page.test_import import put_file, sent

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture
def prices(made):
    def make(instances=(), **settings):
        return made(
            instances, **({"labels": "numbers", "within": 2.0, "bounds": [0.0, 100.0], "grace": 0.0} | settings)
        )

    return make


def test_a_number_is_typed_anywhere_and_given_by_enter_or_by_touch(visit, prices):
    stream = prices(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    page.keyboard.type("12,5")
    expect(page.get_by_label("Number")).to_have_value("12,5")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.question').dataset.question === '1'")
    page.locator(".last", has_text="Last: 12.5").wait_for()
    read(page)
    page.keyboard.type("101")
    page.keyboard.press("Enter")
    page.get_by_text("Give a number from 0 to 100.").wait_for()
    page.get_by_label("Number").fill("7")
    page.get_by_role("button", name="Give the number").click()
    page.wait_for_function("() => document.querySelector('.question').dataset.question === '2'")
    read(page)
    page.keyboard.press("u")  # the field is empty again, so that letters are keys
    all_safe(page)
    assert answers(stream) == [(0, "ann", 12.5), (1, "ann", 7.0), (2, "ann", None)]


def test_the_guess_is_a_number_that_enter_gives(visit, prices):
    stream = prices([f"word {i}" for i in range(4)], guess=True)
    for i in range(3):
        stream.tell(i, 20.0 + i)
    page = visit("ann", f"/label/{stream.name}")
    read(page)
    guess = stream.client.send("GET", f"/v1/streams/{stream.name}/questions/3")["guess"]
    page.get_by_text(f"The model guesses {float(f'{guess:.4g}'):g}: Enter gives it.").wait_for()
    page.keyboard.press("Enter")
    all_safe(page)
    assert answers(stream)[-1] == (3, "ann", guess)


def test_people_who_are_far_apart_are_reviewed_and_the_table_corrects(visit, prices, server):
    stream = prices(["one", "two"], slots=2)
    for question, (first, second) in enumerate(((10.0, 50.0), (30.0, 31.0))):
        for who, label in (("ann", first), ("bob", second)):
            with aw.Client(server.url, server.tokens[who]) as client:
                client.stream(stream.name).tell(question, label)
    page = visit("rae", f"/review/{stream.name}")
    page.locator(".answers", has_text="ann: 10").wait_for()
    assert read(page) == "0"
    page.keyboard.type("42")
    page.keyboard.press("Enter")
    page.locator(".last", has_text="Decided: 42").wait_for()
    page.goto(page.url.replace("/review/", "/browse/"))
    page.get_by_role("button", name="two").click()
    box = page.get_by_role("dialog")
    assert box.get_by_label("Correct the label").input_value() == "30.5"
    box.get_by_label("Correct the label").fill("many")
    box.get_by_role("button", name="Set label").click()
    box.locator(".problem", has_text="Give a number from 0 to 100.").wait_for()
    box.get_by_label("Correct the label").fill("33")
    box.get_by_role("button", name="Set label").click()
    box.locator(".history li", has_text="rae decided as a reviewer: 33").wait_for()
    assert [row["label"] for row in stream.export("instances")] == [42.0, 33.0]


def test_a_form_makes_it_a_file_answers_it_and_the_dashboard_says_how_far_it_is_off(visit, client):
    page = visit("root", "/new")
    page.get_by_label("Name", exact=True).fill("sizes")
    page.get_by_role("radio", name="A number:").check()
    assert not page.get_by_label("Labels", exact=True).is_visible()
    page.get_by_label("How far a prediction may be off").fill("3")
    page.get_by_label("Smallest and largest number").fill("0, 50")
    page.get_by_label("Share", exact=True).fill("1")
    page.get_by_text("Times", exact=True).click()
    page.get_by_label("Grace in seconds").fill("0")
    assert '"within": 3' in page.locator("pre").inner_text()
    page.get_by_role("button", name="Make the stream").click()
    page.wait_for_url("**/import/sizes")
    rows = "".join(f"k{i},{['small', 'large'][i % 2]} thing {i},{[10, 30][i % 2] + i % 3}\n" for i in range(60))
    put_file(page, "sizes.csv", "id,text,y\n" + rows)
    page.get_by_role("radio", name="Learn them all").check()
    sent(page, "60 answered from the file")
    stream = client.stream("sizes")
    exported = list(stream.export("instances"))
    assert [row["label"] for row in exported] == [[10, 30][i % 2] + i % 3 for i in range(60)]
    right = [abs(row["prediction"] - row["label"]) <= 3.0 for row in exported]
    put_file(page, "sizes.csv", "id,text,y\n" + rows)
    page.get_by_role("radio", name="Measure with them").check()
    sent(page, "60 ids were there before")
    assert f"{100 * sum(right) / 60:.1f} % were predicted right." in page.inner_text("form")
    page.goto(page.url.replace("/import/", "/dashboard/"))
    tile = page.locator(".tile", has_text="Within 3 of the label")
    expect(tile).to_contain_text(f"{100 * sum(right) / 60:.1f} %")
    off = sum(abs(row["prediction"] - row["label"]) for row in exported) / 60
    expect(page.locator(".sentence")).to_contain_text(f"Predictions are off by {off:.3g} on average")
    page.get_by_role("heading", name="Predictions and answers").wait_for()
    assert not page.get_by_role("heading", name="Confusion matrix").is_visible()


def test_several_labels_are_corrected_in_the_table(visit, made):
    stream = made(["one"], several=True, grace=0.0)
    stream.tell(0, ["ham"])
    page = visit("rae", f"/browse/{stream.name}")
    page.get_by_role("button", name="one").click()
    box = page.get_by_role("dialog")
    box.get_by_label("ham").uncheck()
    for label in ("spam", "other"):
        box.get_by_label(label).check()
    box.get_by_role("button", name="Set label").click()
    box.locator(".history li", has_text="decided as a reviewer: other, spam").wait_for()
    assert [row["label"] for row in stream.export("instances")] == ['["other","spam"]']


def test_files_with_several_labels_answer_and_measure(visit, made):
    stream = made([], labels=["ham", "local", "spam"], several=True, grace=0.0)
    texts = [f"{['cheap pills', 'the minutes'][i % 2]} {i}" for i in range(20)]
    labels = [[["spam"], ["ham", "local"], []][i % 3] for i in range(20)]
    written = ["spam", "Local; ham", "[]"]
    page = visit("root", f"/import/{stream.name}")
    put_file(
        page, "m.csv", "id,text,labels\n" + "".join(f"k{i},{text},{written[i % 3]}\n" for i, text in enumerate(texts))
    )
    page.get_by_role("radio", name="Answer with them").check()
    assert page.get_by_label("What Local means").input_value() == "local"
    sent(page, "20 answered from the file")
    assert [json.loads(row["label"]) for row in stream.export("instances")] == labels
    right = sum(
        json.loads(row["prediction"]) == label for row, label in zip(stream.export("instances"), labels, strict=True)
    )
    tasks = [{"id": f"k{i}", "text": text, "accept": labels[i], "answer": "accept"} for i, text in enumerate(texts)]
    put_file(page, "m.jsonl", "".join(json.dumps(task) + "\n" for task in tasks))
    page.get_by_role("radio", name="Measure with them").check()
    sent(page, "20 ids were there before")
    assert f"{100 * right / 20:.1f} % were predicted right." in page.inner_text("form")
