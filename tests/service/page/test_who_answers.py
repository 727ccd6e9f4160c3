"""Who answers: groups, team, specialists and terms on the pages, reserved questions, and one's own holidays."""

import time

import pytest
from playwright.sync_api import expect

from tests.service.page.person import press
from tests.service.page.test_access import check_fits, violations


def saved(page, button, said):
    page.get_by_role("button", name=button).click()
    page.locator(".done", has_text=said).wait_for()


def test_groups_are_made_changed_and_removed(visit, client):
    page = visit("root", "/tokens")
    page.get_by_label("New group").fill("night shift")
    page.get_by_label("Its members, with commas between them").fill("ann, bob")
    page.get_by_role("button", name="Make the group").click()
    expect(page.get_by_label("Members of night shift")).to_have_value("ann, bob")
    page.get_by_label("Members of night shift").fill("cid")
    page.get_by_role("button", name="Save night shift").click()
    page.get_by_text("The group night shift is saved.").wait_for(state="attached")
    assert client.people()["groups"] == [{"name": "night shift", "members": ["cid"]}]
    remove = page.get_by_role("button", name="Remove the group night shift")
    remove.click()
    remove.click()
    expect(page.get_by_label("Members of night shift")).to_have_count(0)
    assert client.people()["groups"] == []


def test_team_specialists_and_terms_are_set_and_taken_away(visit, made, client):
    for group in ("doctors", "nurses"):
        client.set_group(group, ["ann"])
    stream = made(["one"], people={"cid": {"holiday": 2e9 + 1.5, "order": "newest"}})
    page = visit("root", f"/change/{stream.name}")
    page.get_by_label("Team").fill("ann\n@nurses")
    page.get_by_label("A label for specialists").select_option("spam")
    page.get_by_label("Specialists of the new label").fill("@doctors, eve")
    page.get_by_label("Minutes until others are asked about the new label").fill("30")
    page.get_by_label("Name of a new person").fill("ann")
    page.get_by_label("Questions in 24 hours for a new person").fill("50")
    page.get_by_label("First day back of a new person").fill("2033-05-18")
    saved(page, "Save who answers", "Who answers is saved.")
    settings = stream.facts()["settings"]
    assert settings["team"] == ["ann", "@nurses"]
    assert settings["specialists"] == {"spam": {"who": ["@doctors", "eve"], "after": 1800.0}}
    back = page.evaluate("new Date('2033-05-18T00:00').getTime() / 1000")
    assert settings["people"] == {
        "ann": {"quota": 50, "paused": False, "holiday": back, "order": None},
        "cid": {"quota": None, "paused": False, "holiday": 2e9 + 1.5, "order": "newest"},
    }
    page.get_by_label("Specialists of spam").fill("")
    page.get_by_label("First day back of cid").fill("")
    page.get_by_label("Order for cid").select_option("")
    page.get_by_label("Pause ann").check()
    page.get_by_label("Team").fill("")
    saved(page, "Save who answers", "Who answers is saved.")
    settings = stream.facts()["settings"]
    assert (settings["team"], settings["specialists"], list(settings["people"])) == ([], {}, ["ann"])
    assert settings["people"]["ann"]["paused"]
    for group in ("doctors", "nurses"):
        client.set_group(group, None)


def test_a_question_is_reserved_where_it_is_looked_at_and_the_dashboard_says_who_is_missing(visit, made, client):
    stream = made(["one", "two"])
    page = visit("rae", f"/browse/{stream.name}")
    page.get_by_role("button", name="one").first.click()
    page.get_by_label("Reserve the question for").fill("gus")
    page.get_by_role("button", name="Reserve", exact=True).click()
    page.get_by_text("reserved the question: for gus").wait_for()
    client.away(time.time() + 1e6, "gus")
    dashboard = visit("rae", f"/dashboard/{stream.name}")
    dashboard.get_by_text(
        "1 of them can be answered by no one now (1 for gus: all who may answer it are away)"
    ).wait_for()
    label = visit("ann", f"/label/{stream.name}")
    expect(label.locator(".question")).to_contain_text("two")
    press(label, "1")
    page.get_by_label("Reserve the question for").fill("")
    page.get_by_role("button", name="Reserve", exact=True).click()
    page.get_by_text("let everyone answer again").wait_for()


def test_one_goes_away_and_comes_back_on_ones_own_page(visit, made):
    stream = made(["one"])
    page = visit("cid", "/me")
    page.get_by_label("First day back").fill("2090-01-01")
    page.get_by_role("button", name="I am away until then").click()
    page.get_by_text("You are asked nothing until").wait_for()
    label = visit("cid", f"/label/{stream.name}")
    label.locator(".wait", has_text="You are asked nothing in this stream until").wait_for()
    page.get_by_role("button", name="I am back").click()
    page.get_by_text("While you are away you are asked nothing").wait_for()


def test_an_annotator_sees_only_the_streams_of_their_teams(visit, made):
    ours, theirs = made(["one"]), made(["one"], team=["bob"])
    page = visit("ann", "/")
    page.get_by_text(ours.name).first.wait_for()
    assert page.get_by_text(theirs.name).count() == 0


def test_who_leaves_the_team_reads_so_and_sees_nothing_of_the_stream(visit, made):
    stream = made(["one", "two", "three"])
    page = visit("ann", f"/label/{stream.name}", loud=True)
    expect(page.locator(".question")).to_contain_text("one")
    stream.set(team=["bob"])
    press(page, "1")
    page.get_by_text("You are no longer asked in this stream, or it has been renamed.").wait_for()
    expect(page.locator("#safety")).to_contain_text(
        "1 answer not sent: the stream has been renamed, or you are no longer asked in it."
    )
    expect(page.locator(".question")).not_to_contain_text("two")
    expect(page.get_by_role("button", name="spam")).to_have_count(0)
    assert stream.facts()["asked"] == 3


@pytest.mark.parametrize(("scheme", "width"), [("light", 1000), ("dark", 360)])
def test_nothing_is_clipped_and_axe_finds_nothing(visit, made, client, scheme, width):
    client.set_group("night shift", ["ann", "bob"])
    stream = made(["one"], people={"ann": {"quota": 5}}, specialists={"spam": {"who": ["@night shift"]}})
    for path in (f"/change/{stream.name}", "/tokens", "/me"):
        page = visit("root", path, scheme=scheme, width=width)
        page.get_by_role(
            "heading", name={"/tokens": "Groups", "/me": "Away"}.get(path, "Who answers"), exact=True
        ).wait_for()
        assert violations(page) == []
        check_fits(page, width)
    stream.set(specialists={"spam": None})
    client.set_group("night shift", None)


def test_one_chooses_what_one_is_told_of(visit, made):
    made(["one"])
    page = visit("bob", "/me", timezone_id="Europe/Berlin")
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    page.get_by_label("By").select_option("slack")
    page.get_by_label("Address").fill("https://hooks.example.org/services/x")
    page.get_by_label("Accuracy below").check()
    page.get_by_label("Bound of the accuracy").fill("0.8")
    page.get_by_label("When").select_option("24")
    page.get_by_label("Never from").fill("18:00")
    page.get_by_label("to", exact=True).fill("08:00")
    page.get_by_role("button", name="Tell me").click()
    row = page.get_by_role("region", name="Your notifications")
    row.get_by_text("Accuracy below, Questions wait").wait_for()
    row.get_by_text("all streams; once a day, together; quiet from 18:00 to 08:00 (Europe/Berlin)").wait_for()
    end = page.get_by_role("button", name="End the messages to https://hooks.example.org/services/x")
    end.click()
    end.click()
    page.get_by_text("You are told of nothing yet.").wait_for()
