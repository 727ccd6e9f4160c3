"""The table of instances on the page: search, filters, one instance, corrections."""

import re

import pytest

from tests.service.page.person import all_safe, press
from tests.service.page.test_label import BANK, BROKEN

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture
def stream(made):
    stream = made([{"x": f"win a prize {i}", "id": f"m{i}"} for i in range(3)], budget={"rate": 1.0}, grace=0.0)
    pile = [{"x": f"lunch at {i}", "id": f"p{i}", "source": "pile.csv"} for i in range(70)]
    list(stream.ask_many(pile, backlog=True))
    return stream


def shown(page, said):
    """The texts in the table, once the page says how many there are."""
    page.get_by_text(said).wait_for()
    return page.locator(".browse .open").all_inner_texts()


def test_instances_are_searched_filtered_and_paged(visit, stream):
    page = visit("rae", f"/label/{stream.name}")
    press(page, "2")
    all_safe(page)
    page.goto(page.url.replace("/label/", "/browse/"))
    assert len(shown(page, "50 instances shown; there are more.")) == 50
    page.get_by_role("button", name="Show more").click()
    assert len(shown(page, re.compile("^73 instances shown.$"))) == 73
    page.get_by_label("Search in what was shown").fill("PRIZE")
    page.get_by_role("button", name="Search").click()
    assert shown(page, re.compile("^3 instances shown.$")) == [f"win a prize {i}" for i in (2, 1, 0)]
    page.get_by_label("Order").select_option("oldest")
    page.locator(".browse .open", has_text="prize 0").wait_for()
    page.wait_for_function("() => document.querySelector('.browse .open').textContent.endsWith('0')")
    assert "search=PRIZE&sort=oldest" in page.url
    page.reload()  # the address has the search
    assert shown(page, re.compile("^3 instances shown.$"))[0] == "win a prize 0"
    page.get_by_text("More filters").click()
    page.get_by_label("Person").fill("rae")
    page.keyboard.press("Enter")
    assert len(shown(page, re.compile("^1 instance shown.$"))) == 1
    page.get_by_role("button", name="Clear").click()
    page.get_by_text("50 instances shown; there are more.").wait_for()
    page.get_by_label("Predicted", exact=True).select_option("other")
    page.get_by_text("No instance is like this.").wait_for()


def test_one_instance_is_corrected_flagged_commented_and_withdrawn(visit, stream, client):
    page = visit("root", f"/browse/{stream.name}?search=prize&sort=oldest")
    page.get_by_role("button", name="win a prize 0").click()
    box = page.get_by_role("dialog")
    box.get_by_label("Give it a label").select_option("spam")
    box.get_by_role("button", name="Set label").click()
    box.locator(".history li", has_text="root answered: spam").wait_for()
    box.get_by_role("button", name="Flag it").click()
    box.get_by_role("button", name="Take the flag away").wait_for()
    box.get_by_label("Comment", exact=True).fill("surely <b>spam</b>")
    box.get_by_role("button", name="Add the comment").click()
    box.locator(".history li", has_text="root commented: surely <b>spam</b>").wait_for()
    box.get_by_role("button", name="Close").click()
    first = page.locator(".browse tbody tr").first
    assert "flagged" in first.inner_text()
    assert "1 comment" in first.inner_text()
    (row,) = [row for row in stream.export("instances") if row["flagged"]]
    assert (row["id"], row["by"], row["comments"]) == ("m0", "root", 1)
    page.goto(page.url.partition("?")[0] + "?status=waiting&sort=newest")
    page.get_by_role("button", name="lunch at 69").click()
    box.get_by_text("It waits in the backlog for its decision.").wait_for()
    box.get_by_role("button", name="Withdraw it").click()
    box.wait_for(state="detached")
    page.get_by_role("button", name="lunch at 69").wait_for(state="detached")
    assert "p69" not in [row["id"] for row in stream.export("instances")]


def test_everything_is_predicted_again_and_what_was_delivered_stays(visit, stream):
    before = {row["id"]: row["prediction"] for row in stream.export("instances") if row["round"] is not None}
    page = visit("rae", f"/browse/{stream.name}")
    page.get_by_role("button", name="Predict again").click()
    said = re.compile(r"73 instances predicted again; \d+ (is|are) predicted otherwise")
    page.locator("main p", has_text=said).wait_for(timeout=60_000)
    after = {row["id"]: row["prediction"] for row in stream.export("instances")}
    assert {id: after[id] for id in before} == before


@pytest.mark.parametrize("width", [800, 1400])
def test_labels_in_the_table_are_not_broken_inside_a_word(visit, made, width):
    label = "wrong_exchange_rate_for_cash_withdrawal"
    stream = made(["one"], labels=[label, *BANK], grace=0.0)
    stream.tell(0, label)
    page = visit("rae", f"/browse/{stream.name}", width=width)
    page.locator(".browse td bdi", has_text=label).first.wait_for()
    assert page.locator(".browse td bdi").evaluate_all(f"all => all.flatMap({BROKEN})") == []
    page = visit("root", f"/change/{stream.name}", width=width)
    page.locator(".label-settings th", has_text=label).wait_for()
    assert page.locator(".label-settings th[scope=row]").evaluate_all(f"all => all.flatMap({BROKEN})") == []


def test_annotators_do_not_browse(visit, stream):
    page = visit("ann", f"/browse/{stream.name}")
    page.locator("main p", has_text="This needs the role reviewer, which ann lacks.").wait_for()
