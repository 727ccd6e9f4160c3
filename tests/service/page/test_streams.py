"""Streams by a form, files of instances, exports, tokens."""

import csv
import io
import json
import re

import apsw
import httpx
import pyarrow
import pyarrow.parquet
import pytest
from playwright.sync_api import expect

import askwhen as aw
from askwhen.service.domain.setting_changes import CHANGEABLE
from tests.service.page.person import all_safe, answers, asked, card_of, press
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("page")

TEXTS = ["plain", 'a "quoted", one', "two\nlines", "größer ≥ 3", "<b>x</b>"]


def body_of(page):
    """What the call beside a form sends."""
    shown = page.get_by_label("The call of the API").inner_text()
    return json.loads(shown.partition("-d '")[2].removesuffix("'").replace("'\\''", "'"))


def test_a_form_makes_a_stream_by_the_call_that_it_shows(visit, client):
    page = visit("root", "/new")
    page.get_by_label("Name", exact=True).fill("by-form")
    page.get_by_label("Labels", exact=True).fill("calm\nbusy\nit's odd")
    page.get_by_role("radio", name="So many in a period").check()
    page.get_by_label("Questions", exact=True).fill("7")
    page.get_by_label("People for a question").fill("2")
    page.get_by_text("How instances are shown").click()
    page.get_by_label("Highlight").fill("a|b")
    body = body_of(page)
    page.get_by_role("button", name="Make the stream").click()
    page.wait_for_url("**/import/by-form")
    made = client.stream("by-form").facts()["settings"]
    assert made["labels"] == ["calm", "busy", "it's odd"]
    assert (made["budget"]["count"], made["budget"]["per"], made["slots"]) == (7, 86400.0, 2)
    assert made["view"]["highlight"] == "a|b"
    other = client.create("by-call", **body["settings"]).facts()["settings"]
    assert {**other, "seed": 0} == {**made, "seed": 0}


def test_what_cannot_be_changed_is_said_and_another_stream_can_be_made_like_it(visit, made, client):
    settings = {
        "labels": ["calm", "busy"],
        "features": {"kind": "mixed", "text": ["subject"], "names": ["size"], "places": 32},
        "budget": {"rate": 0.3, "most": 100},
        "algorithm": "LASEC-SS",
        "letters": {"b": 1.0, "c": 300.0},
        "slots": 2,
        "decide": "unanimity",
        "order": "valuable",
        "lease": 30.0,
        "grace": 0.0,
        "forget": 600.0,
        "guess": True,
        "view": {"kind": "table", "highlight": "a|b", "media": ["https://images.example.org/"], "review": 0.2},
    }
    stream = made([], **settings)
    page = visit("root", "/")
    card = card_of(page, stream.name)
    card.get_by_text(re.compile("^Change ")).click()
    card.get_by_role("link", name="Its settings").click()
    page.get_by_text("Nothing is changed yet.").wait_for()
    names, values = (page.locator(f".facts {tag}").all_inner_texts() for tag in ("dt", "dd"))
    rows = dict(zip(names, values, strict=True))
    every = stream.facts()["settings"]
    without = {"advisers"}  # of a stream that has any, more can be added
    assert set(rows) == (set(every) - set(CHANGEABLE)) | without
    assert (rows["features"], rows["raw"]) == ("kind mixed; names size; places 32; text subject", "no")
    page.get_by_role("link", name=f"make a stream like {stream.name}").click()
    page.get_by_label("Name", exact=True).fill("alike")
    page.get_by_role("button", name="Make the stream").click()
    page.wait_for_url("**/import/alike")
    assert client.stream("alike").facts()["settings"] | {"seed": 1} == every | {"seed": 1}


def test_a_form_changes_a_stream_by_the_call_that_it_shows_while_somebody_labels(visit, made):
    stream = made(["win a prize", "win more", "win most", "winner"], lease=3.0)
    ann = visit("ann", f"/label/{stream.name}")
    asked(ann)
    page = visit("root", f"/change/{stream.name}", loud=True)
    before = stream.facts()["settings"]
    page.get_by_label("Highlight").fill("win|it's")
    page.get_by_role("radio", name="Most doubtful first").check()
    page.get_by_label("Show the model's guess").check()
    page.get_by_label("Lease in seconds").fill("600")
    wanted = {"order": "valuable", "guess": True, "view": {"highlight": "win|it's"}, "lease": 600}
    assert body_of(page) == {"settings": wanted}
    heard = re.compile(f"/v1/streams/{stream.name}$")
    with ann.expect_response(lambda reply: heard.search(reply.url) and reply.json()["settings"]["lease"] == 600):
        page.get_by_role("button", name="Change the settings").click()  # heard of within a third of the lease before
    page.get_by_text("Changed: order, guess, view, lease.").wait_for()
    changed = before | wanted | {"view": before["view"] | wanted["view"]}
    assert stream.facts()["settings"] == changed
    page.get_by_text("Nothing is changed yet.").wait_for()
    press(ann, "1")
    ann.locator(".question mark").wait_for()
    assert ann.locator(".question mark").all_inner_texts() == ["win"]  # fetched ahead, but shown as it is now
    press(ann, "1")
    ann.locator(".label.guess").wait_for()
    page.get_by_label("Lease in seconds").fill("0.5")
    page.evaluate("document.querySelector('form.card').noValidate = true")
    page.get_by_role("button", name="Change the settings").click()
    page.locator(".problem", has_text="Lease must be a number of seconds").wait_for()
    assert stream.facts()["settings"] == changed


def is_seen(page, selector):
    """Whether something is in the window."""
    box = page.locator(selector).bounding_box()
    return box is not None and 0 <= box["y"] <= page.viewport_size["height"] - box["height"]


def test_a_form_says_what_is_wrong(visit):
    page = visit("root", "/new", loud=True)
    page.get_by_label("Name", exact=True).fill("a b")
    page.keyboard.press("Enter")
    page.locator(".problem", has_text="Name must be 1 to 100 letters").wait_for()
    assert is_seen(page, ".problem")
    assert page.evaluate("[document.activeElement.id, document.activeElement.ariaInvalid]") == ["name", "true"]
    page.get_by_label("Name", exact=True).fill("fine")
    page.get_by_text("Times").click()
    page.get_by_label("Lease in seconds").fill("")
    page.get_by_text("Times").click()  # what is wrong is folded away
    page.get_by_role("button", name="Make the stream").click()
    assert is_seen(page, "#lease")
    page.get_by_label("Lease in seconds").fill("300")
    page.get_by_text("How instances are shown").click()
    page.get_by_label("Highlight").fill("(a")
    page.get_by_role("button", name="Make the stream").click()
    page.locator(".problem", has_text="Highlight is not a valid pattern").wait_for()


def test_a_stream_is_renamed_paused_and_archived(visit, made, client):
    stream = made([])
    page = visit("root", "/")
    card = card_of(page, stream.name)
    card.get_by_text(re.compile("^Change ")).click()
    card.get_by_label("Name", exact=True).fill("another-name")
    card.get_by_role("button", name="Rename").click()
    card = page.locator(".stream", has=page.get_by_role("heading", name="another-name"))
    card.get_by_text(re.compile("^Change ")).click()
    card.get_by_role("button", name="Pause").click()
    page.locator(".stream", has_text="another-name").locator(".tag", has_text="paused").wait_for()
    card.get_by_text(re.compile("^Change ")).click()
    page.locator(".stream", has_text="another-name").get_by_role("button", name="Archive").click()
    page.locator(".stream", has_text="another-name").wait_for(state="detached")
    assert client.stream("another-name").facts()["state"] == "archived"


def at_once(page):
    """Let what is imported be decided at once."""
    page.get_by_role("radio", name=re.compile("^At once")).check()


def written(format):
    rows = [{"id": str(i), "text": text, "n": i} for i, text in enumerate(TEXTS)]
    if format == "csv":
        out = io.StringIO()
        writer = csv.DictWriter(out, ["id", "text", "n"])
        writer.writeheader()
        writer.writerows(rows)
        return "mails.csv", ("\ufeff" + out.getvalue()).encode()
    if format == "ndjson":
        return "mails.ndjson", "\n".join(json.dumps({"x": row["text"], "id": row["id"]}) for row in rows).encode()
    if format == "parquet":
        out = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), out)
        return "mails.parquet", out.getvalue()
    if format == "label-studio":
        return "mails.json", json.dumps([{"id": row["id"], "data": {"text": row["text"]}} for row in rows]).encode()
    lines = [
        {"text": row["text"], "meta": {"source": "s"}, "_task_hash": row["id"], "answer": "accept"} for row in rows
    ]
    return "mails.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("format", ["csv", "ndjson", "parquet", "label-studio", "prodigy"])
def test_files_of_every_format_become_the_same_instances(visit, made, format):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    name, content = written(format)
    for again in (False, True) if format == "csv" else (False,):
        page.get_by_label("File", exact=True).set_input_files(
            {"name": name, "mimeType": "text/plain", "buffer": content}
        )
        page.get_by_label("Format").select_option(format)
        page.get_by_role("button", name="Send").click()
        done = "Done. " + ("0 instances sent, 0 questions opened, 5 ids" if again else "5 instances sent, 5 questions")
        page.locator("main p", has_text=done).wait_for()
    assert [row["id"] for row in stream.export("predictions")] == [str(i) for i in range(5)]
    assert [stream.client.send("GET", f"/v1/streams/{stream.name}/questions/{i}")["x"] for i in range(5)] == TEXTS


LABELLED = [("buy now", "Spam", "spam"), ("minutes", "no spam", "ham"), ("lunch?", "", None), ("win", "Spam", "spam")]


def labelled(format):
    """Texts with the labels of another tool, and what these mean after the choice that a person makes."""
    if format == "csv":
        return "m.csv", ("text,n,y\n" + "".join(f"{text},7,{label}\n" for text, label, _ in LABELLED)).encode()
    if format == "label-studio":
        tasks = [{"data": {"text": text}, "annotations": [{"was_cancelled": True}]} for text, _, _ in LABELLED]
        for task, (_, label, _) in zip(tasks, LABELLED, strict=True):
            if label:
                task["annotations"].insert(0, {"result": [{"type": "choices", "value": {"choices": [label]}}]})
        return "m.json", json.dumps(tasks).encode()
    answer = {"Spam": "accept", "no spam": "reject", "": "ignore"}
    lines = [{"text": text, "label": "Spam", "answer": answer[label]} for text, label, _ in LABELLED]
    return "m.jsonl", "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize("format", ["csv", "label-studio", "prodigy"])
def test_labels_of_a_file_answer_what_is_asked(visit, made, format):
    stream = made([], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}")
    name, content = labelled(format)
    page.get_by_label("File", exact=True).set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})
    page.get_by_label("Format").select_option(format)
    page.get_by_label("Answer with them").check()
    if format == "csv":
        assert page.get_by_label("What y is used for").input_value() == "label"
    assert page.get_by_label("What Spam means", exact=True).input_value() == "spam"
    if format == "prodigy":
        assert page.get_by_label("What not Spam means").input_value() == "ham"
    else:
        assert page.get_by_label("What no spam means").input_value() == ""
        page.get_by_label("What no spam means").select_option("ham")
    for again in (False, True):
        page.get_by_role("button", name="Send").click()
        done = (
            "4 questions opened, 3 answered from the file"
            if not again
            else "0 questions opened, 4 ids were there before and left alone"
        )
        page.locator("main p", has_text=done).wait_for()
    expected = [(i, "root", label) for i, (_, _, label) in enumerate(LABELLED) if label]
    assert sorted(answers(stream)) == expected


def put_file(page, name, content):
    page.get_by_label("File", exact=True).set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})


def test_labels_answer_no_question_that_was_there_before(visit, made):
    stream = made([{"x": "another text", "id": "a"}], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, "m.csv", b"id,text,y\na,buy now,spam\nb,win,spam\n")
    page.get_by_label("Answer with them").check()
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. 1 instance sent").wait_for()
    assert "1 answered from the file, 1 id was there before and left alone" in page.inner_text("form")
    assert answers(stream) == [(1, "root", "spam")]


def test_lines_of_prodigy_are_known_by_what_they_hold(visit, made):
    stream = made([], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}")
    put_file(page, *labelled("prodigy"))
    page.get_by_label("Answer with them").check()
    assert page.get_by_label("Format").input_value() == "prodigy"
    assert page.get_by_label("What not Spam means").input_value() == "ham"
    put_file(page, *written("ndjson"))
    page.wait_for_function("() => document.getElementById('format').value === 'ndjson'")


def test_columns_have_any_name_and_any_usual_separator(visit, made):
    names = ["tokens", "answer", "meta", "x"]
    stream = made([], features={"kind": "numbers", "names": names})
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    put_file(page, "n.csv", b"tokens;answer;meta;x\n1;2;3;4\n")
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. 1 instance sent").wait_for()
    shown = stream.client.send("GET", f"/v1/streams/{stream.name}/questions/0")
    assert shown["x"] in ([1, 2, 3, 4], dict(zip(names, [1, 2, 3, 4], strict=True)))


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("n.csv", b"", "The file is empty."),
        ("n.csv", b"text\n", "There are no instances in the file."),
        ("n.ndjson", b'{"text": "gr\xf6\xdfer"', "Line 1 is not JSON."),
        ("n.json", b"[", "The file is not JSON."),
    ],
)
def test_what_is_wrong_with_a_file_is_said_in_a_sentence(visit, made, name, content, said):
    page = visit("root", f"/import/{made([]).name}")
    put_file(page, name, content)
    page.get_by_role("button", name="Send").click()
    page.locator(".problem", has_text=said).wait_for()


def test_labels_of_a_file_that_nobody_asks_for_are_said_to_be_unused(visit, made):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    name, content = labelled("csv")
    page.get_by_label("File", exact=True).set_input_files({"name": name, "mimeType": "text/plain", "buffer": content})
    page.get_by_role("radio", name="Not used").wait_for()
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. 4 instances sent").wait_for()
    assert answers(stream) == []


def test_columns_of_numbers_are_the_same_in_every_row(visit, made):
    stream = made([], features={"kind": "numbers"})
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    put_file(page, "n.csv", b"name,age,income,height\nann,30,,180\nbob,,50000,170\ncid,40,60000,175\n")
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="1 instance sent").wait_for()
    assert [each[:6] for each in page.locator(".problem").all_inner_texts()] == ["Row 1:", "Row 2:"]
    assert stream.next()["x"] == [40.0, 60000.0, 175.0]


def test_a_record_that_is_none_is_named_and_the_others_go_on(visit, made):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    put_file(page, "n.ndjson", b'{"text":"one","id":""}\n{"text":null,"kind":"spam"}\n3\n{"text":"two"}\n')
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="2 instances sent").wait_for()
    assert [each[:6] for each in page.locator(".problem").all_inner_texts()] == ["Row 2:", "Row 3:"]
    assert stream.facts()["rounds"] == 2


def test_another_file_of_the_same_name_and_size_is_another_one(visit, made):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    for i, text in enumerate((b"alpha", b"omega"), 1):
        put_file(page, "f.csv", b"text\n" + text + b"\n")
        with page.expect_response("**/instances*"):
            page.get_by_role("button", name="Send").click()
        page.locator("main p", has_text="Done. 1 instance sent").wait_for()
        assert stream.facts()["rounds"] == i


@pytest.mark.parametrize("column", ["id,text,y", "n,text,y"])
def test_labels_are_not_lost_with_a_reply(visit, made, column):
    stream = made([], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}", loud=True)
    rows = "".join(f"k{i},mail {i},spam\n" for i in range(60))
    lost = []

    def lose(route):
        if not lost:
            lost.append(route.fetch())
            route.abort()
        else:
            route.continue_()

    page.route("**/instances*", lose)
    put_file(page, "m.csv", f"{column}\n{rows}".encode())
    page.get_by_label("Answer with them").check()
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. 60 instances sent, 60 questions opened, 60 answered").wait_for()
    assert len(answers(stream)) == 60


def test_an_import_that_broke_off_is_started_again(visit, made):
    stream = made([], labels=["ham", "spam"])
    page = visit("root", f"/import/{stream.name}", loud=True)
    page.route("**/answer", lambda route: route.fulfill(status=400, json={"detail": "no."}))
    content = "text,y\n" + "".join(f"mail {i},spam\n" for i in range(5))
    for _ in range(2):
        put_file(page, "m.csv", content.encode())
        page.get_by_label("Answer with them").check()
        page.get_by_role("button", name="Send").click()
        page.get_by_text("What was sent before is kept").or_(
            page.get_by_text("5 answered from the file")
        ).first.wait_for()
        page.unroute("**/answer")
        page.reload()
    assert len(answers(stream)) == 5


def test_rows_that_are_refused_are_named(visit, made):
    stream = made([], features={"kind": "numbers", "names": ["a", "b"]})
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    content = b"a,b\n1,2\n3,x\n5,6\n"
    page.get_by_label("File", exact=True).set_input_files({"name": "n.csv", "mimeType": "text/csv", "buffer": content})
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="2 instances sent").wait_for()
    assert "Row 2: " in page.locator(".problem").inner_text()
    assert stream.facts()["rounds"] == 2


def test_a_large_file_shows_progress_and_can_be_stopped(visit, made):
    stream = made([])
    page = visit("root", f"/import/{stream.name}")
    at_once(page)
    content = b"".join(b'{"x": "mail %d"}\n' % i for i in range(3000))
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "n.ndjson", "mimeType": "text/plain", "buffer": content}
    )
    page.get_by_role("button", name="Send").click()
    page.locator("p", has_text="instances sent").wait_for()
    page.get_by_role("button", name="Stop").click()
    page.get_by_role("button", name="Stop").wait_for(state="hidden")
    sent = stream.facts()["rounds"] / 3000
    assert 0.0 < sent <= 1.0
    assert abs(page.locator("progress").evaluate("bar => bar.value") - sent) < 0.3
    page.get_by_role("button", name="Send").click()
    page.locator("main p", has_text="Done. ").wait_for(timeout=120_000)
    assert stream.facts()["rounds"] == 3000


def test_exports_are_downloaded(visit, made):
    stream = made(["one", "two"])
    page = visit("rae", f"/label/{stream.name}")
    press(page, "2")
    all_safe(page)
    page.goto(page.url.partition("/label")[0])
    card = card_of(page, stream.name)
    card.get_by_text(f"Export {stream.name}").click()
    with page.expect_download() as download:
        card.get_by_role("link", name="CSV of answers").click()
    rows = list(csv.DictReader(download.value.path().read_text().splitlines()))
    assert [(row["question"], row["annotator"], row["answer"]) for row in rows] == [("0", "rae", "spam")]
    wanted = {"CSV": "csv", "JSON": "json", "Label Studio": "json"}
    found = {}
    for format, end in wanted.items():
        with page.expect_download() as download:
            page.get_by_role("link", name=f"{format} of instances", exact=True).click()
        assert download.value.suggested_filename == f"{stream.name}-instances.{end}"
        found[format] = download.value.path().read_text()
    rows = json.loads(found["JSON"])
    assert [(row["text"], row["by"], row["state"]) for row in rows] == [("one", "rae", "open"), ("two", None, "open")]
    assert [row["text"] for row in csv.DictReader(found["CSV"].splitlines())] == ["one", "two"]
    assert [task["data"]["text"] for task in json.loads(found["Label Studio"])] == ["one", "two"]


def test_tokens_are_made_shown_once_and_revoked(visit, server, made):
    stream = made(["one"])
    page = visit("root", "/tokens")
    page.get_by_label("For whom").fill("dan")
    page.get_by_text("Only for some streams").click()
    page.get_by_label(stream.name, exact=True).check()
    page.get_by_role("button", name="Make it").click()
    secret = page.get_by_label("The new token").inner_text()
    with aw.Client(server.url, secret) as client:
        assert [each["name"] for each in client.streams()] == [stream.name]
        page.reload()
        assert secret not in page.content()
        row = page.locator("tr", has=page.get_by_role("rowheader", name="dan"))
        row.get_by_role("button").dblclick()  # a slip revokes nothing
        row.get_by_role("button", name="Really").wait_for()
        assert client.streams()
        row.get_by_role("button", name="Really").click()
        row.wait_for(state="detached")
        with pytest.raises(Exception, match="the token is not known"):
            client.streams()


def test_an_invitation_is_sent_accepted_once_and_found_on_ones_own_page(visit, server, made):
    stream = made(["one", "two"])
    boss = visit("root", "/tokens")
    boss.get_by_label("For whom").fill("eve")
    boss.get_by_text("Only for some streams").click()
    boss.get_by_label(stream.name, exact=True).check()
    boss.get_by_role("button", name="Make an invitation link").click()
    link = boss.get_by_label("The new link").inner_text()
    boss.get_by_role("region", name="Invitations").get_by_text("eve").first.wait_for()
    page = visit(None, link.removeprefix(server.url), loud=True)
    page.get_by_role("button", name="Accept the invitation").click()
    page.get_by_role("heading", name="Welcome, eve").wait_for()
    secret = page.get_by_label("Your token").inner_text()
    assert "#" not in page.url
    with aw.Client(server.url, secret) as client:
        assert [each["name"] for each in client.streams()] == [stream.name]
    page.get_by_role("link", name="Go on").click()
    page.get_by_role("link", name="Label").first.click()
    press(page, "1")
    page.get_by_role("link", name="eve").click()
    page.get_by_role("region", name="Your answers").get_by_text(stream.name).wait_for()
    again = visit(None, link.removeprefix(server.url), loud=True)
    again.get_by_role("button", name="Accept the invitation").click()
    again.get_by_text("This invitation was accepted or withdrawn").first.wait_for()
    row = page.get_by_role("region", name="Signed-in browsers").locator("tr", has_text="this one")
    row.get_by_role("button").click()
    row.get_by_text("Really?").click()
    page.get_by_label("Token").wait_for()


@pytest.mark.parametrize("path", ["/new", "/change/{}", "/import/{}"])
def test_a_form_that_one_may_not_send_is_not_shown(visit, made, path):
    page = visit("ann", path.format(made([]).name))
    page.locator(".problem", has_text=re.compile("This needs the role .*, which ann lacks.")).wait_for()
    assert page.locator("form").count() == 0


def test_what_is_no_parquet_is_refused_and_annotators_send_none(visit, made, server):
    stream = made([])
    address = f"{server.url}/page/rows/{stream.name}"
    for who, status in (("root", 422), ("ann", 403)):
        bearer = {"Authorization": f"Bearer {server.tokens[who]}"}
        assert httpx.post(address, content=b"PAR1 nothing PAR1", headers=bearer).status_code == status
    page = visit("root", f"/import/{stream.name}", loud=True)
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "n.parquet", "mimeType": "text/plain", "buffer": b"nothing"}
    )
    page.get_by_role("button", name="Send").click()
    page.locator(".problem", has_text="The file cannot be read as Parquet").wait_for()
    page.get_by_label("File", exact=True).set_input_files(
        {"name": "n.csv", "mimeType": "text/csv", "buffer": b"text,label\nwin,spam\n"}
    )
    page.get_by_role("radio", name="Answer with them").wait_for()
    assert page.locator(".problem").count() == 0, "the error of the last file is not about this one"


def test_a_stream_that_is_set_aside_says_so(visit, tmp_path):
    given = {"labels": ["ham", "spam"], "algorithm": "perceptron", "grace": 0.0, "seed": 1}
    server = Server(tmp_path / "log.db")
    with server:
        with aw.Client(server.url) as client:
            for name in ("bad", "good"):
                client.create(name, **given).ask([1.0, 2.0])
        server.kill()
    connection = apsw.Connection(str(tmp_path / "log.db"))
    connection.execute("update events set row = x'00' where stream = 1 and row not null")
    connection.close()
    again = Server(tmp_path / "log.db")
    with again:
        again.tokens = {}
        page = visit("", "/", loud=True, to=again)
        page.get_by_label("Your name").fill("ann")
        page.get_by_role("button", name="Go on").click()
        card = page.get_by_role("listitem").filter(has=page.get_by_role("heading", name="bad"))
        expect(card.locator("p.problem")).to_contain_text("The stream bad is set aside, since")
        expect(page.locator("p.problem")).to_have_count(1)
        for view in ("label", "dashboard", "review"):
            page.goto(f"{again.url}/{view}/bad")
            expect(page.locator("p.problem")).to_contain_text("The stream bad is set aside, since")
        page.goto(f"{again.url}/dashboard/good")
        expect(page.get_by_role("heading", name="good")).to_be_visible()
