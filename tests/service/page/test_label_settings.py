"""The labels of a stream on its settings page: described, coloured, ordered, added, renamed and merged."""

from playwright.sync_api import expect

from tests.service.page.person import all_safe, card_of, press

HOSTILE = """# How to decide
- **ham** is *wanted*
- read the [rules](https://rules.example.org/) or [not](javascript:alert(1))

1. first
2. second

<img src=x onerror="alert(1)"> `code`
"""


def test_labels_are_described_coloured_and_put_into_another_order(visit, made):
    stream = made(["one"])
    page = visit("root", f"/change/{stream.name}")
    page.get_by_label("Meaning of ham").fill("what people want")
    page.get_by_label("Colour of spam").select_option("orange")
    colours = page.locator(".label-settings .swatch").evaluate_all("all => all.map(each => each.className)")
    assert colours == ["swatch c-sky", "swatch c-orange", "swatch c-green"]  # what was not chosen is left for others
    page.get_by_label("Move other up").click()
    expect(page.get_by_label("Move other up")).to_be_focused()
    page.get_by_role("button", name="Save meanings, colours and order").click()
    page.locator(".done", has_text="are saved").wait_for()
    settings = stream.facts()["settings"]
    assert settings["labels"] == ["ham", "other", "spam"]
    assert settings["about"] == {"ham": "what people want"}
    assert settings["colours"] == {"spam": "orange"}


def test_labels_are_added_renamed_and_merged(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}")
    for key in "123":
        press(page, key)
    all_safe(page)
    page = visit("root", f"/change/{stream.name}", loud=True)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_label("One on each line").fill("news\nmore")
    page.get_by_role("button", name="Add", exact=True).click()
    page.locator(".done", has_text="Added").wait_for()
    page.get_by_label("Label", exact=True).select_option("ham")
    page.get_by_label("Its new name").fill("wanted")
    page.get_by_role("button", name="Rename", exact=True).click()
    page.locator(".done", has_text="“ham” is “wanted” now").wait_for()
    page.get_by_label("This label").select_option("other")
    page.get_by_label("becomes part of").select_option("spam")
    page.get_by_role("button", name="Merge", exact=True).click()
    page.locator(".done", has_text="“other” is part of “spam” now").wait_for()
    assert stream.facts()["settings"]["labels"] == ["wanted", "spam", "news", "more"]
    assert [row["answer"] for row in stream.export()] == ["wanted", "spam", "spam"]
    page.get_by_label("becomes part of").select_option("wanted")
    page.get_by_label("This label").select_option("wanted")
    page.get_by_role("button", name="Merge", exact=True).click()
    page.locator(".problem", has_text="cannot be merged with itself").wait_for()


def test_guidelines_are_markdown_and_never_html(visit, made):
    stream = made([])
    page = visit("root", f"/change/{stream.name}")
    page.get_by_label("How to decide").fill(HOSTILE)
    seen = page.get_by_role("region", name="As people see them")
    expect(seen.get_by_role("heading", name="How to decide")).to_be_visible()
    expect(seen.locator("ul li")).to_have_count(2)
    expect(seen.locator("ol li")).to_have_count(2)
    expect(seen.locator("strong")).to_have_text("ham")
    expect(seen.locator("a")).to_have_count(1)
    expect(seen.locator("a")).to_have_attribute("rel", "noopener noreferrer")
    expect(seen.locator("img")).to_have_count(0)
    expect(seen).to_contain_text('<img src=x onerror="alert(1)"> code')
    page.get_by_role("button", name="Save the guidelines").click()
    page.locator(".done", has_text="are saved").wait_for()
    assert stream.facts()["settings"]["guidelines"] == HOSTILE


def test_the_budget_is_changed_from_now_on(visit, made):
    stream = made([])
    page = visit("root", f"/change/{stream.name}")
    page.get_by_label("Share", exact=True).fill("0.25")
    page.get_by_role("button", name="Change the settings").click()
    page.locator(".done", has_text="Changed: budget").wait_for()
    assert stream.facts()["settings"]["budget"]["rate"] == 0.25


def test_a_stream_is_found_sorted_tagged_and_deleted(visit, made, client):
    few, many = made(["one"], labels=["otter", "lynx"]), made(["one", "two", "three"], tags=["zoo 7"])
    page = visit("root", "/", loud=True)
    find = page.get_by_label("Find by name, label or tag")
    heads = page.locator(".stream h2")
    find.fill(f"lynx otter {few.name[:12]}")
    expect(heads).to_have_text([few.name])
    find.fill("a_stream_is_found")
    page.get_by_label("Order").select_option("waiting")
    expect(heads).to_have_text([many.name, few.name])
    page.get_by_role("button", name="Find streams with the tag zoo 7").click()
    expect(heads).to_have_text([many.name])
    find.fill("nowhere")
    page.get_by_text("No stream has all of these words.").wait_for()
    find.fill(few.name)
    page.get_by_text(f"Change {few.name}").click()
    page.get_by_label("Tags").fill("old, zoo 7")
    page.get_by_role("button", name="Save tags").click()
    page.get_by_role("button", name="Find streams with the tag old").wait_for()
    assert few.facts()["settings"]["tags"] == ["old", "zoo 7"]
    few.change("archive")
    page.goto(page.url + "?archived")
    card = card_of(page, few.name)
    card.get_by_text(f"Change {few.name}").click()
    card.get_by_role("button", name="Delete for good").click()
    card.get_by_text("so nothing was deleted").wait_for()
    card.get_by_label("To delete it for good").fill(few.name)
    card.get_by_role("button", name="Delete for good").click()
    card.wait_for(state="detached")
    assert few.name not in {each["name"] for each in client.streams()}


def test_a_quota_and_a_pause_say_why_no_question_comes(visit, made):
    stream = made([f"message {i}" for i in range(4)], people={"ann": {"quota": 1}, "bob": {"paused": True}})
    page = visit("ann", f"/label/{stream.name}")
    press(page, "2")
    page.locator(".wait", has_text="That was all for today: you have answered as many questions as you are").wait_for()
    page = visit("bob", f"/label/{stream.name}")
    page.locator(".wait", has_text="You are asked nothing in this stream for now.").wait_for()
    stream.set(people={"bob": None})
    page.reload()
    page.locator(".question", has_text="message 1").wait_for()


def test_the_settings_of_a_stream_of_an_earlier_version_can_be_changed(visit, made):
    stream = made([], overlap=0.0)
    page = visit("root", f"/change/{stream.name}")
    assert page.get_by_label("Share that a second person answers too").input_value() == "0"
    page.get_by_label("Share that a second person answers too").fill("0.1")
    page.get_by_role("button", name="Change the settings").click()
    page.get_by_text("Changed: overlap.").wait_for()
    assert stream.facts()["settings"]["overlap"] == 0.1
