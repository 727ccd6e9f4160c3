"""Files on the page: what they hold is shown first; they wait in the backlog, and can be withdrawn."""

import gzip
import re

import pytest

from askwhen.service.use_cases.import_columns import dialect_of
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
    page.locator(".backlog", has_text=re.compile(r"^0 of about \d\d questions$")).wait_for()
    for _ in range(11):
        press(page, "2")
    all_safe(page)
    page.reload()
    page.locator(".backlog", has_text=re.compile(r"^11 of about \d\d questions; .* at your pace$")).wait_for()
    board = visit("rae", f"/dashboard/{stream.name}")
    tile = board.locator(".tile", has_text="Instances waiting")
    tile.wait_for()
    progress = stream.backlog(annotator="ann")
    assert progress["answered"] == 11
    assert progress["remaining"] == progress["left"] * progress["seconds"]
    tile.locator(".value", has_text=re.compile(f"^{progress['undecided']}$")).wait_for()
    assert re.match(r"11 of about \d\d questions; .* at the pace of one person", tile.locator(".note").inner_text())
    asked = board.locator(".tile", has_text="Asked today").locator(".note").inner_text()
    assert asked.startswith("50 % of the pile, more of it in the beginning")
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


def uses(page):
    """What each column is used for, as the page shows it."""
    found = page.locator(".preview th select")
    found.first.wait_for()
    return [(each.get_attribute("aria-label")[5:-12], each.input_value()) for each in found.all()]


ROWS = "".join(
    f"m{i},{['spam', 'ham'][i % 2]},a message with number {i} for you,https://e.org/{i}.png\n" for i in range(30)
)


def test_what_each_column_is_used_for_is_shown_and_can_be_changed_before_anything_is_sent(visit, made):
    stream = made([], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "m.csv", "key_id,kind,body,picture\n" + ROWS)
    assert uses(page) == [("key_id", "id"), ("kind", "label"), ("body", "feature"), ("picture", "image")]
    assert page.locator(".preview tbody tr").count() == 5
    assert "a message with number 0 for you" in page.locator(".preview").inner_text()
    page.get_by_label("What kind is used for").select_option("feature")
    said = "The column kind holds nothing but labels (spam, ham), so it is not the text"
    page.locator(".problem", has_text=said).wait_for()
    assert ("body", "ignored") in uses(page)
    page.get_by_role("button", name="Send").click()
    assert stream.facts()["seq"] == 0
    page.get_by_label("What kind is used for").select_option("label")
    page.get_by_label("What body is used for").select_option("feature")
    at_once = page.get_by_role("radio", name=re.compile("^At once"))
    at_once.check()
    sent(page, "Done. 30 instances sent, 30 questions opened.")
    assert [row["id"] for row in stream.export("predictions")] == [f"m{i}" for i in range(30)]
    shown = stream.client.send("GET", f"/v1/streams/{stream.name}/questions/3")
    assert shown["x"] == "a message with number 3 for you"
    assert shown["show"]["image"] == "https://e.org/3.png"


LATIN = "id;text\nä;größer\nb;kleiner\n"


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (LATIN.encode("latin-1"), True),
        (LATIN.encode("utf-16"), True),
        (LATIN.encode("utf-16-le"), True),
        (b"7;one text\n5;another text\n3;third\n", False),
    ],
)
def test_files_in_other_encodings_and_without_names_are_read(visit, made, content, names):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "m.csv", content)
    page.get_by_role("radio", name=re.compile("^At once")).check()
    if names:
        assert uses(page) == [("id", "id"), ("text", "feature")]
        sent(page, "Done. 2 instances sent")
        assert [row["id"] for row in stream.export("predictions")] == ["ä", "b"]
    else:
        assert uses(page) == [("column 1", "ignored"), ("column 2", "feature")]
        sent(page, "Done. 3 instances sent")
    assert stream.client.send("GET", f"/v1/streams/{stream.name}/questions/0")["x"] == ["one text", "größer"][names]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("m.csv.gz", gzip.compress(b"id,text\na,one\nb,two\n", mtime=0)),
        ("m.txt", b"id\ttext\na\tone\nb\ttwo\n"),
        ("m", b'{"id": "a", "text": "one"}\n{"id": "b", "text": "two"}\n'),
        ("m.txt", b'[{"id": "a", "data": {"text": "one"}}, {"id": "b", "data": {"text": "two"}}]'),
    ],
)
def test_a_file_may_be_packed_and_is_known_by_what_is_in_it(visit, made, name, content):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, name, content)
    page.get_by_role("radio", name=re.compile("^At once")).check()
    sent(page, "Done. 2 instances sent")
    assert [row["id"] for row in stream.export("predictions")] == ["a", "b"]


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("m.xlsx", b"PK\x03\x04rest", "m.xlsx is a workbook or an archive, and not a table: save or unpack it as CSV"),
        ("m.pdf", b"%PDF-1.7 rest", "m.pdf is a PDF, and not a table"),
        ("m.csv", bytes(range(256)) * 4 + b"\0\0", "m.csv is a file of another kind"),
        ("m.csv.gz", gzip.compress(b"id,text\n" * 999, mtime=0)[:30], "m.csv.gz is damaged: it cannot be unpacked."),
        ("m.csv", b"id,text\na,one,two\n", "Row 1 has 3 cells, and the first line 2."),
    ],
)
def test_what_is_no_table_is_said_before_anything_is_sent(visit, made, name, content, said):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, name, content)
    page.locator(".problem", has_text=said).wait_for()
    put_file(page, "right.csv", "id,text\nr1,right\n")
    sent(page, "Done. 1 instance sent")
    assert page.locator(".problem").count() == 0


def test_the_dialect_of_a_file_is_that_of_the_library():
    assert dialect_of(b"a,b\n1,2\n", "csv").encoding == "utf-8"
    assert dialect_of("ä".encode()[:1], "csv").encoding == "utf-8"  # a character that is cut in two
    assert dialect_of(b"a\tb\n", "tsv").delimiter == "\t"
    assert (dialect_of(b"8,2\n3,4\n5,6\n", "csv").names, dialect_of(b"a,b\n3,4\n5,6\n", "csv").names) == (False, True)
    assert not dialect_of(b"it rains;weather\nthey won;sport\na storm;weather\nsun;weather\n", "csv").names


def test_labels_of_a_file_teach_or_measure(visit, made):
    stream = made([], labels=["ham", "spam"], budget={"rate": 0.1}, grace=0.0)
    content = "id,text,y\n" + "".join(
        f"k{i},{['cheap pills', 'the minutes'][i % 2]} {i},{['Spam', 'ham'][i % 2]}\n" for i in range(100)
    )
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "m.csv", content)
    page.get_by_role("radio", name="Learn them all").check()
    assert page.get_by_label("What Spam means").input_value() == "spam"
    assert not page.get_by_role("radio", name=re.compile("^At once")).is_visible()
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. 100 instances sent").wait_for(timeout=120_000)
    rows = list(stream.export("instances"))
    assert [row["label"] or "spam" for row in rows] == [["spam", "ham"][i % 2] for i in range(100)]
    asked = stream.facts()["asked"]
    assert f"{asked} answered from the file, {100 - asked} other labels learnt" in page.inner_text("form")
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "m.csv", content)
    page.get_by_role("radio", name="Measure with them").check()
    sent(page, "0 instances sent, 100 ids were there before")
    right = sum(row["prediction"] == ["spam", "ham"][i % 2] for i, row in enumerate(rows)) / 100
    assert f"with a label in the file, {100 * right:.1f} % were predicted right." in page.inner_text("form")


def test_an_import_is_withdrawn_but_for_what_was_answered(visit, made):
    stream = made([], budget={"rate": 0.5}, grace=0.0)
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "wrong.csv", "id,text\n" + "".join(f"w{i},wrong {i}\n" for i in range(40)))
    sent(page, "Done. 40 instances sent")
    first = stream.next()
    stream.tell(first["question"], "spam")
    for _ in range(600):  # until another one waits, which is to be dropped
        if stream.facts()["waiting"]:
            break
        page.wait_for_timeout(100)
    card = page.locator("section", has_text="Imports that wait")
    card.locator("li", has_text="wrong.csv").wait_for()
    page.on("dialog", lambda dialog: dialog.accept())
    card.get_by_role("button", name="Withdraw").click()
    card.get_by_text(
        re.compile(r"^Withdrawn: \d+ instances?, and \d+ questions? dropped\. \d+ instances? had been decided")
    ).wait_for()
    assert stream.backlog()["undecided"] == 0
    assert (stream.facts()["waiting"], stream.facts()["told"]) == (0, 1)
    assert {row["state"] for row in stream.export("instances")} == {"labelled", "dropped"}
    put_file(page, "right.csv", "id,text\nr1,right\n")
    sent(page, "Done. 1 instance sent")
