"""Advisers on the pages: how good they are, what they say and to whom, and who they are."""

import re

import numpy as np
import pytest

import askwhen as aw
from tests.service.page.person import all_safe, asked, press
from tests.service.page.test_access import check_fits, violations
from tests.service.page.test_dashboard import numbers, percent
from tests.service.page.test_import import put_file, sent, uses

pytestmark = pytest.mark.xdist_group("page")
WORDS = ["ham", "spam"]


@pytest.fixture(scope="module")
def advised(server):
    """A stream with two advisers who are known, the better one named last, and one of whom too little is known."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((400, 3))
    truth = (X[:, 0] > 0.0).astype(int)
    right = rng.random((400, 2)) < [0.7, 0.95]
    with aw.Client(server.url, server.tokens["root"]) as client:
        stream = client.create("advised", labels=WORDS, advisers="any", budget={"rate": 1.0}, grace=0.0, seed=3)
        many = []
        for x, y, (worse, better) in zip(X, truth, right, strict=True):
            said = {
                "rules <b>of</b> thumb": WORDS[y if worse else 1 - y],
                "gpt-4o": (WORDS[y if better else 1 - y], 0.9),
            }
            many.append({"x": x, "advice": said | ({"brand-new": "ham"} if len(many) > 390 else {})})
        for decision, y in zip(stream.ask_many(many), truth, strict=True):
            stream.tell(decision, WORDS[y], annotator=None)
        yield stream


def card(page):
    return page.locator("section.card", has=page.get_by_role("heading", name="Advisers", exact=True))


def seen(visit, who, **given):
    page = visit(who, "/dashboard/advised", **given)
    page.get_by_text("Live.").wait_for()
    return page


def test_the_dashboard_has_a_row_for_each_adviser_the_best_first(visit, advised, client):
    page = seen(visit, "rae")
    facts = advised.report()["advisers"]
    assert facts == client.send("GET", "/v1/streams/advised/overview")["advisers"]
    assert [each["name"] for each in facts] == ["gpt-4o", "rules <b>of</b> thumb", "brand-new"]
    ends = [each["overall"] for each in facts]
    assert ends[0]["low"] > ends[1]["value"]
    assert (ends[2]["value"], ends[2]["why_unknown"]) == (None, "fewer than 20 answers")
    rows = numbers(page, "Advisers")
    for row, each in zip(rows, facts, strict=True):
        known = "not known yet" if each["overall"]["value"] is None else percent(each["overall"]["value"])
        interval = f"{percent(each['overall']['low'])} to {percent(each['overall']['high'])}"
        labels = "unknown" if each["random_labels"] is None else str(each["random_labels"])
        assert (row[0], row[1], row[2], row[5], row[7]) == (each["name"], known, interval, str(each["rounds"]), labels)
        assert row[10] == "no"
    behind = facts[1]["against"]["gpt-4o"]
    assert behind["high"] < 0.0
    ends_of = " to ".join(f"−{percent(-behind[end])}" for end in ("low", "high"))  # noqa: RUF001
    assert [row[9] for row in rows[:2]] == ["", f"−{percent(-behind['value'])} ({ends_of})"]  # noqa: RUF001
    picture = card(page).locator("svg.chart")
    assert (
        picture.locator(".band").count() == picture.locator(".dot").count() == 2
    )  # of what is not known there is none
    bars = [picture.locator(".band").nth(i).bounding_box() for i in range(2)]
    assert bars[0]["x"] > bars[1]["x"] + bars[1]["width"]
    said = picture.locator("title").all_text_contents()
    assert said[0].startswith(f"gpt-4o: {percent(ends[0]['value'])} (")
    assert f"as good as {facts[0]['random_labels']} random labels" in said[0]
    assert said[2] == "brand-new: not known yet (fewer than 20 answers)"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_nothing_is_clipped_and_axe_finds_nothing(visit, advised, scheme):
    page = seen(visit, "rae", scheme=scheme)
    for width in (380, 800, 1400):
        check_fits(page, width)
        page.wait_for_timeout(300)  # drawn again for the new width
        box, outside = card(page).bounding_box(), []
        for text in card(page).locator("svg.chart text").all():
            inner = text.bounding_box()
            outside += [inner] if inner["x"] < box["x"] or inner["x"] + inner["width"] > box["x"] + box["width"] else []
        assert outside == []
        assert violations(page) == []


def test_streams_without_advisers_have_no_such_picture(visit, made):
    page = visit("rae", f"/dashboard/{made(['a mail']).name}")
    page.get_by_text("Live.").wait_for()
    assert card(page).count() == 0


ADVICE = {"gpt-4o": ("spam", 0.8), "rules": {"ham": 0.3, "spam": 0.7}}


def test_advice_is_shown_after_the_answer_and_in_the_history(visit, made):
    stream = made([{"x": "win a prize", "id": "m1", "advice": ADVICE}], advisers=["gpt-4o", "rules"])
    page = visit("rae", f"/label/{stream.name}")
    asked(page)
    assert "gpt-4o" not in page.inner_text("main")
    press(page, "1")
    page.locator(".last", has_text="gpt-4o: spam 80 % · rules: spam 70 %").wait_for()
    all_safe(page)
    stream.advise("m1", {"rules": "other"})
    page.goto(page.url.replace("/label/", "/browse/"))
    page.get_by_role("button", name="win a prize").click()
    box = page.get_by_role("dialog")
    box.get_by_text("gpt-4o: spam 80 % · rules: spam 70 % · rules: other (late)").wait_for()
    box.locator(".history li", has_text="advice came late: rules: other").wait_for()
    assert violations(page) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_stream_may_show_advice_beside_the_question(visit, made, scheme):
    stream = made([{"x": "win a prize " * 200, "advice": ADVICE}], advisers=["gpt-4o", "rules"], advice=True)
    page = visit("ann", f"/label/{stream.name}", width=380, scheme=scheme)
    asked(page)
    assert page.locator(".question .advice").inner_text() == "gpt-4o: spam 80 % · rules: spam 70 %"
    page.locator("#said").filter(has_text="gpt-4o says spam. rules says spam.").wait_for()
    for width in (380, 800, 1400):
        check_fits(page, width)
        assert page.locator(".advice").bounding_box()["height"] < 90.0
        assert violations(page) == []


def test_advisers_are_named_in_the_form_and_added_in_the_settings(visit, client):
    page = visit("root", "/new", loud=True)
    page.get_by_label("Name", exact=True).fill("formed")
    page.get_by_label("Advisers", exact=True).fill("gpt-4o, rules")
    page.get_by_text("Show what advisers say before the answer").check()
    page.get_by_role("button", name="Make the stream").click()
    page.wait_for_url("**/import/formed")
    settings = client.stream("formed").facts()["settings"]
    assert (settings["advisers"], settings["advice"]) == (["gpt-4o", "rules"], True)
    page.goto(page.url.replace("/import/", "/change/"))
    field = page.get_by_label("Advisers", exact=True)
    assert field.input_value() == "gpt-4o, rules"
    field.fill("rules")
    page.get_by_role("button", name="Change the settings").click()
    problem = page.locator("p.problem", has_text="advisers can be added, and not taken away: 'gpt-4o' is missing")
    problem.wait_for()
    field.fill("gpt-4o, rules, gpt-5")
    page.get_by_text("Show what advisers say before the answer").uncheck()
    page.get_by_role("button", name="Change the settings").click()
    page.get_by_text("Changed: advice, advisers.").wait_for()
    settings = client.stream("formed").facts()["settings"]
    assert (settings["advisers"], settings["advice"]) == (["gpt-4o", "rules", "gpt-5"], False)
    page.goto(page.url.replace("/change/formed", "/new?like=formed"))
    assert page.get_by_label("Advisers", exact=True).input_value() == "gpt-4o, rules, gpt-5"


ANSWERED = "id,text,gpt4o,gpt4o_confidence,Rules,truth\n" + "".join(
    f"m{i},a message with number {i},{said},ham,{['spam', 'ham'][i % 2]}\n"
    for i, said in enumerate(["Spam,0.75", "ham,", ",0.9"] * 4)
)


def test_columns_of_a_file_are_taken_as_advice(visit, made):
    stream = made([], labels=["ham", "spam"], advisers=["gpt-4o", "rules"])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "answered.csv", ANSWERED)
    assert dict(uses(page)) == {
        "id": "id",
        "text": "feature",
        "gpt4o": "advice:gpt-4o",
        "gpt4o_confidence": "confidence:gpt-4o",
        "Rules": "advice:rules",
        "truth": "ignored",
    }
    page.get_by_label("What gpt4o is used for").select_option("ignored")
    page.locator(".problem", has_text="Choose the column with what gpt-4o says, too.").wait_for()
    page.get_by_label("What truth is used for").select_option("advice:rules")
    assert dict(uses(page))["Rules"] == "ignored"
    page.get_by_label("What gpt4o is used for").select_option("advice:gpt-4o")
    page.get_by_role("radio", name=re.compile("^At once")).check()
    sent(page, "Done. 12 instances sent")
    names = ("advice.gpt-4o", "confidence.gpt-4o", "advice.rules")
    assert [tuple(row[name] for name in names) for row in stream.export("instances")][:4] == [
        ("spam", 0.75, "spam"),
        ("ham", None, "ham"),
        (None, None, "spam"),
        ("spam", 0.75, "ham"),
    ]


def test_any_column_may_be_a_new_adviser_and_exports_are_known_again(visit, made):
    stream = made([], labels=["ham", "spam"], advisers="any")
    page = visit("root", f"/import/{stream.name}")
    exported = ANSWERED.replace("gpt4o,gpt4o_confidence", "advice.gpt,confidence.gpt")
    put_file(page, "exported.csv", exported)
    found = dict(uses(page))
    assert (found["advice.gpt"], found["confidence.gpt"], found["Rules"]) == ("advice:gpt", "confidence:gpt", "ignored")
    page.get_by_label("What Rules is used for").select_option("advice:Rules")
    page.get_by_label("What confidence.gpt is used for").select_option("confidence:Rules")
    page.get_by_role("radio", name=re.compile("^At once")).check()
    sent(page, "Done. 12 instances sent")
    row = next(stream.export("instances"))
    assert (row["advice.gpt"], row["confidence.gpt"], row["advice.Rules"], row["confidence.Rules"]) == (
        "spam",
        None,
        "ham",
        0.75,
    )


def test_rows_with_advice_that_cannot_be_taken_are_refused(visit, made):
    stream = made([], labels=["ham", "spam"], advisers=["gpt"])
    page = visit("root", f"/import/{stream.name}")
    put_file(
        page, "bad.csv", "text,gpt,gpt_confidence\nwin a prize,spam,high\nlunch at noon,eggs,0.5\nsee you,ham,0.5\n"
    )
    uses(page)
    page.get_by_role("radio", name=re.compile("^At once")).check()
    sent(page, "Done. 1 instance sent, 1 question opened, 2 refused.")
    for said in (
        "Row 1: advice of 'gpt': a confidence must be a number from 0 to 1, got 'high'.",
        "Row 2: advice of 'gpt': the label must be one of ham, spam, got 'eggs'.",
    ):
        page.locator("#main .problem", has_text=said).wait_for()


def test_streams_without_advice_offer_no_such_columns(visit, made):
    page = visit("root", f"/import/{made([], labels=['ham', 'spam']).name}")
    put_file(page, "answered.csv", ANSWERED)
    assert dict(uses(page))["gpt4o"] == "ignored"
    assert page.get_by_label("What gpt4o is used for").locator("option", has_text="says").count() == 0
