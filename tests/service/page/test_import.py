"""Files on the page: they wait in the backlog, and are decided as fast as people answer."""

import re

import pytest

from tests.service.page.person import all_safe, press

pytestmark = pytest.mark.xdist_group("page")


def put_file(page, name, content):
    content = content.encode() if isinstance(content, str) else content
    page.get_by_label("File", exact=True).set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


def sent(page, said):
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text=said).wait_for()


def test_a_file_waits_in_the_backlog_and_the_pages_say_how_long_the_rest_takes(visit, made):
    stream = made([], budget={"rate": 0.5}, grace=0.0)
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "pile.csv", "id,text\n" + "".join(f"k{i},message {i}\n" for i in range(60)))
    sent(page, "Done. 60 instances sent, 60 waiting to be decided as fast as people answer.")
    assert stream.facts()["rounds"] <= 10
    page = visit("ann", f"/label/{stream.name}")
    page.locator(".backlog", has_text=re.compile(r"^0 of about \d\d questions\.$")).wait_for()
    for _ in range(11):
        press(page, "2")
    all_safe(page)
    page.reload()
    page.locator(".backlog", has_text=re.compile(r"^11 of about \d\d questions; .* at your pace\.$")).wait_for()
    progress = stream.backlog(annotator="ann")
    assert progress["answered"] == 11
    assert progress["remaining"] == progress["left"] * progress["seconds"]
    board = visit("rae", f"/dashboard/{stream.name}")
    tile = board.locator(".tile", has_text="Instances waiting")
    assert tile.locator(".value").inner_text() == str(progress["undecided"])
    assert re.match(r"11 of about \d\d questions; .* at the pace of one person", tile.locator(".note").inner_text())
    assert f"{progress['undecided']} instances wait in the backlog" in board.locator(".sentence").inner_text()
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "pile.csv", "id,text\n" + "".join(f"k{i},message {i}\n" for i in range(60)))
    sent(page, "0 instances sent, 60 ids were there before and left alone.")


def test_the_mode_and_the_backlog_are_settings(visit, made):
    stream = made([])
    page = visit("root", f"/change/{stream.name}")
    page.get_by_role("radio", name="As fast as people answer").check()
    page.get_by_label("Questions that wait").fill("12")
    page.get_by_label("Shuffle the backlog").check()
    page.get_by_role("button", name="Change the settings").click()
    page.get_by_text("Changed: mode, backlog.").wait_for()
    found = stream.facts()["settings"]
    assert (found["mode"], found["backlog"]) == ("backlog", {"questions": 12, "shuffle": True})
    page.reload()
    assert page.get_by_label("Questions that wait").input_value() == "12"
    page.get_by_label("Questions that wait").fill("")
    page.get_by_role("button", name="Change the settings").click()
    page.get_by_text("Changed: backlog.").wait_for()
    assert stream.facts()["settings"]["backlog"] == {"questions": None, "shuffle": True}
