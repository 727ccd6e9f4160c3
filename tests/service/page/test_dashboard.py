"""The dashboard shows the numbers of the API, and follows what happens."""

import time
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import askwhen as aw

pytestmark = pytest.mark.xdist_group("page")


@pytest.fixture(scope="module")
def busy(server):
    """A stream of several labels with two people, some of whose questions wait."""
    rng = np.random.default_rng(3)
    with aw.Client(server.url, server.tokens["root"]) as client:
        stream = client.create("busy", labels=["a", "<b>", "c"], budget={"rate": 0.5}, slots=2, grace=0.0, seed=3)
        X = rng.standard_normal((300, 3))
        list(stream.ask_many(X))
        for who, right in (("ann", 1.0), ("bob", 0.9)):
            with aw.Client(server.url, server.tokens[who]) as other:
                theirs = other.stream("busy")
                for _ in range(40):
                    number = theirs.next()["question"]
                    label = int(np.argmax(X[number])) if rng.random() < right else 0
                    theirs.tell(number, ["a", "<b>", "c"][label], lead=1.5)
        yield stream


def numbers(page, title):
    """The table of a figure."""
    card = page.locator("section.card", has=page.get_by_role("heading", name=title, exact=True))
    if card.locator("details").get_attribute("open") is None:
        card.locator("summary").click()
    card.locator("tbody tr").first.wait_for()
    return [row.split("\t") for row in card.locator("tbody").inner_text().split("\n")]


def percent(value):
    return f"{100 * value:.1f} %"


def test_its_numbers_are_those_of_the_api(visit, busy, client):
    page = visit("rae", "/dashboard/busy")
    page.get_by_text("Live.").wait_for()
    report, facts = busy.report(), busy.facts()
    accuracy = report["accuracy"]
    tiles = page.locator(".tile").all_inner_texts()
    assert percent(accuracy["overall"]["value"]) in tiles[0]
    assert f"{percent(accuracy['overall']['low'])} to {percent(accuracy['overall']['high'])}" in tiles[0]
    assert percent(accuracy["recent"]["value"]) in tiles[1]
    assert str(facts["asked"]) in tiles[2]
    assert str(facts["waiting"]) in tiles[3]
    assert accuracy["advice"] in page.inner_text("main")
    rows = numbers(page, "Confusion matrix")
    labels = accuracy["confusion"]["labels"]
    assert rows == [
        [labels[i], labels[k], percent(cell["value"]), f"{percent(cell['low'])} to {percent(cell['high'])}"]
        if cell["value"] is not None
        else [labels[i], labels[k], "unknown", f"{percent(cell['low'])} to {percent(cell['high'])}"]
        for i, row in enumerate(accuracy["confusion"]["rows"])
        for k, cell in enumerate(row)
    ]
    agreement = client.send("GET", "/v1/streams/busy/agreement")
    people = {row[0]: row for row in numbers(page, "People")}
    assert {name: row[1] for name, row in people.items()} == {
        name: str(each["answers"]) for name, each in agreement["people"].items()
    }
    assert people["ann"][5] == "1.5 s"
    pair = agreement["pairs"][0]
    assert people["bob"][6] == f"{percent(pair['same'] / pair['questions'])} of {pair['questions']}"
    assert f"{agreement['krippendorff']:.2f}" in page.inner_text("main")
    assert sum(int(row[1]) for row in numbers(page, "Questions waiting")) == facts["waiting"]
    asked = numbers(page, "What is asked")
    decisions = {row["round"]: row for row in busy.export("decisions")}
    assert len(asked) == 200
    for round, margin, probability, was in asked:
        row = decisions[int(round)]
        assert (f"{row['margin']:.3f}".replace("-0.000", "0.000"), percent(row["probability"])) == (
            margin.replace("-0.000", "0.000"),
            probability,
        )
        assert row["asked"] == (was == "yes")


def test_it_follows_what_happens(visit, busy, server):
    page = visit("rae", "/dashboard/busy")
    page.get_by_text("Live.").wait_for()
    page.locator("summary", has_text="Numbers of People").click()
    before = int(page.locator("tr", has_text="ann").locator("td").first.inner_text())
    with aw.Client(server.url, server.tokens["ann"]) as other:
        theirs = other.stream("busy")
        theirs.tell(theirs.next()["question"], "a", lead=1.5)
    page.locator("tr", has_text="ann").locator("td", has_text=str(before + 1)).first.wait_for()
    assert page.locator("details[open]").count() == 1


def test_lines_go_back_to_the_beginning_after_the_service_was_killed(visit, without_tokens):
    server = without_tokens
    with aw.Client(server.url) as client:
        stream = client.create("long", labels=["a", "b"], budget={"rate": 1.0}, grace=0.0, seed=3)

        def play(first, last):
            for number in range(first, last):
                stream.ask([float(number % 7), 1.0])
                stream.tell(number, "ab"[number % 2])

        def line():
            return client.send("GET", "/v1/streams/long/overview")["history"]

        play(0, 20)
        while len(line()) == 1:
            time.sleep(0.05)
        before = line()[:-1]
        play(20, 40)
        server.kill()
        server.start()
        assert line()[: len(before)] == before
        assert 1 <= before[0]["rounds"] <= 20
        confusion = stream.report()["accuracy"]["confusion"]
    page = visit(None, "/dashboard/long", to=server)
    page.get_by_label("Your name").fill("ann")
    page.keyboard.press("Enter")
    page.get_by_text("Live.").wait_for()
    rounds = [row[0] for row in numbers(page, "Accuracy over time")]
    assert (rounds[0], rounds[-1]) == ("40", str(before[0]["rounds"]))
    shares = [float(row[2].removesuffix(" %")) for row in numbers(page, "Confusion matrix")]
    assert confusion["labels"] == ["a", "b"]
    assert shares == pytest.approx([100.0 * cell["value"] for row in confusion["rows"] for cell in row], abs=0.051)


def test_where_instances_come_at_once_the_line_goes_by_labels(visit, client):
    stream = client.create("at-once", labels=["a", "b"], budget={"rate": 1.0}, grace=0.0, seed=3)
    list(stream.ask_many([[float(number % 7), 1.0] for number in range(60)]))
    page = visit("rae", "/dashboard/at-once")
    page.get_by_text("Live.").wait_for()
    for number in range(40):
        stream.tell(number, "ab"[number % 2])
        if number % 20 == 19:
            time.sleep(1.0)  # looks are a tenth of a second apart
    page.get_by_text("The instances came all at once").wait_for()
    page.get_by_text("40 labels of 60 questions").wait_for()
    numbers(page, "Accuracy over time")
    card = page.locator("section.card", has=page.get_by_role("heading", name="Accuracy over time", exact=True))
    card.locator(".chart .s0 .line").first.wait_for(state="attached")  # drawn once a second point is known
    rows, axis, line = card.evaluate(  # at one moment, since points come in
        """card => [[...card.querySelectorAll('tbody tr')].map(row => [...row.cells].map(cell => cell.textContent)),
        card.querySelector('.chart .name').textContent, card.querySelector('.chart .s0 .line').getAttribute('d')]"""
    )
    assert {row[0] for row in rows} == {"60"}
    assert len({row[1] for row in rows}) >= 3
    assert axis == "labels"
    assert line.count("L") == len([row for row in rows if row[2] != "unknown"]) - 1


def test_with_very_many_labels_the_worst_pairs_are_told(visit, server, client):
    labels = [f"topic {i}" for i in range(40)]
    stream = client.create("topics", labels=labels, budget={"rate": 1.0}, grace=0.0, seed=3)
    for number in range(30):
        stream.ask([float(number % 3), 1.0])
        stream.tell(number, labels[number % 5])
    page = visit("rae", "/dashboard/topics")
    page.get_by_text("Live.").wait_for()
    pairs = stream.report()["accuracy"]["confused"]
    assert "confusion" not in stream.report()["accuracy"]
    assert pairs
    assert [row[:3] for row in numbers(page, "Confusion matrix")] == [
        [pair["predicted"], pair["label"], percent(pair["share"]["value"])] for pair in pairs
    ]


def test_every_picture_can_be_saved_and_read_alone(visit, busy, tmp_path):
    page = visit("rae", "/dashboard/busy")
    page.get_by_text("Live.").wait_for()
    pictures = page.locator("svg.chart").count()
    assert pictures >= 4
    saved = 0
    for card in page.locator("section.card", has=page.locator("svg.chart")).all():
        with page.expect_download() as download:
            card.get_by_role("button", name="Save as SVG").click()
        path = tmp_path / download.value.suggested_filename
        download.value.save_as(path)
        root = ET.parse(path).getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert "--ink" in root.find("{http://www.w3.org/2000/svg}style").text
        assert path.name.startswith("busy-")
        saved += 1
    assert saved == pictures


def test_people_are_for_reviewers(visit, busy):
    page = visit("cid", "/dashboard/busy")
    page.get_by_text("Live.").wait_for()
    assert page.get_by_role("heading", name="People").count() == 0
    assert "bob" not in page.inner_text("main")
