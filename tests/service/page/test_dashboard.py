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


def known(estimate):
    return "not known yet" if estimate["value"] is None else percent(estimate["value"])


def seen(visit, who, name, **given):
    """A dashboard with everything open."""
    page = visit(who, f"/dashboard/{name}", **given)
    page.get_by_text("Live.").wait_for()
    page.locator(".specialists > summary").click()
    return page


def test_its_numbers_are_those_of_the_api(visit, busy, client):
    page = seen(visit, "rae", "busy")
    report, facts = busy.report(), busy.facts()
    accuracy = report["accuracy"]
    tiles = page.locator(".tile").all_inner_texts()
    assert known(accuracy["overall"]) in tiles[0]
    assert f"{percent(accuracy['overall']['low'])} to {percent(accuracy['overall']['high'])}" in tiles[0]
    assert known(accuracy["recent"]) in tiles[1]
    assert str(facts["asked"]) in tiles[2]
    assert str(facts["waiting"]) in tiles[3]
    overview = client.send("GET", "/v1/streams/busy/overview")
    assert page.locator(".sentence").inner_text().replace("\u00a0%", "%") == overview["sentence"]
    assert overview["sentence"].startswith("300 instances have a label, ")
    assert accuracy["advice"] in overview["sentence"]
    assert accuracy["advice"].startswith(f"Answer the {facts['waiting']} questions that wait")
    delivered = {row[0]: row[1:] for row in numbers(page, "Labels delivered")}
    assert sum(int(row[0]) for row in delivered.values()) == 300
    assert sum(int(row[1]) for row in delivered.values()) == facts["told"]
    assert delivered == {
        label: [str(each["people"] + each["predicted"]), str(each["people"]), str(each["predicted"])]
        for label, each in overview["delivered"].items()
    }
    (day,) = numbers(page, "Answers per day")
    assert day[1:] == ["80", "ann: 40, bob: 40"]
    pairs = [[each["predicted"], each["label"], str(each["answers"])] for each in overview["confused"]]
    assert numbers(page, "What is confused most") == pairs
    labels_of = {row["question"]: (row["prediction"], row["told"]) for row in busy.export("labels") if row["told"]}
    wrong = [list(pair) for pair in labels_of.values() if pair[0] != pair[1]]
    assert {(a, b): int(n) for a, b, n in pairs} == {tuple(pair): wrong.count(pair) for pair in wrong}
    rows = numbers(page, "Confusion matrix")
    labels = accuracy["confusion"]["labels"]
    assert rows == [
        [labels[i], labels[k], known(cell), f"{percent(cell['low'])} to {percent(cell['high'])}"]
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
        stream = client.create("long", labels=["a", "b"], budget={"rate": 1.0}, grace=0.0, seed=3, repeats=False)

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
        moments = [[point[name] for name in ("time", "rounds", "told")] for point in line()]
        assert moments[: len(before)] == [[point[name] for name in ("time", "rounds", "told")] for point in before]
        assert 1 <= before[0]["rounds"] <= 20
        confusion = stream.report()["accuracy"]["confusion"]
    page = visit(None, "/dashboard/long", to=server)
    page.get_by_label("Your name").fill("ann")
    page.keyboard.press("Enter")
    page.get_by_text("Live.").wait_for()
    rounds = [row[0] for row in numbers(page, "Accuracy over time")]
    assert (rounds[0], rounds[-1]) == ("40", str(before[0]["rounds"]))
    assert confusion["labels"] == ["a", "b"]
    shares = [row[2] for row in numbers(page, "Confusion matrix")]
    assert shares == [known(cell) for row in confusion["rows"] for cell in row]


def test_few_answers_are_not_an_accuracy(visit, client):
    stream = client.create("few", labels=["a", "b"], budget={"rate": 1.0}, grace=0.0, seed=3)
    list(stream.ask_many([[float(number % 7), 1.0] for number in range(60)]))
    page = visit("rae", "/dashboard/few")
    page.get_by_text("Live.").wait_for()
    for number in range(5):
        stream.tell(number, "ab"[number % 2])
    page.get_by_text("Answer the 55 questions that wait.").wait_for()
    tiles = page.locator(".tile").all_inner_texts()
    assert all("not known yet" in tile and "fewer than 20 answers" in tile for tile in tiles[:2])
    assert "55" in tiles[3]
    assert all(row[2] == row[4] == "not known yet" for row in numbers(page, "Accuracy over time"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [380, 800, 1400])
def test_nothing_is_clipped(visit, busy, width, scheme):
    page = seen(visit, "rae", "busy", width=width, scheme=scheme)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    outside = page.evaluate(
        """() => [...document.querySelectorAll("svg.chart text")].filter((text) => {
          const [inner, outer] = [text.getBoundingClientRect(), text.closest(".card").getBoundingClientRect()];
          return inner.width && (inner.left < outer.left || inner.right > outer.right);
        }).map((text) => text.textContent)"""
    )
    assert outside == []
    ticks = page.locator("svg.chart .tick").all_text_contents()
    assert not [text for text in ticks if "e-" in text or text.startswith("-0 ")]
    assert page.locator("svg.chart title").count() > 10, "what is drawn is said where the pointer is"


def test_margins_that_are_rounding_errors_have_sane_ticks(visit, client):
    stream = client.create("flat", labels=["a", "b"], budget={"rate": 0.5}, grace=0.0, seed=3)
    list(stream.ask_many([[0.1 * number, 0.3] for number in range(40)]))
    page = seen(visit, "rae", "flat")
    card = page.locator("section.card", has=page.get_by_role("heading", name="What is asked", exact=True))
    ticks = card.locator("svg.chart .tick").all_text_contents()
    assert "0" in ticks
    assert all(len(text) < 7 for text in ticks)


def test_with_very_many_labels_the_worst_pairs_are_told(visit, server, client):
    labels = [f"topic {i}" for i in range(40)]
    stream = client.create("topics", labels=labels, budget={"rate": 1.0}, grace=0.0, seed=3, repeats=False)
    for number in range(30):
        stream.ask([float(number % 3), 1.0])
        stream.tell(number, labels[number % 5])
    page = visit("rae", "/dashboard/topics")
    page.get_by_text("Live.").wait_for()
    pairs = client.send("GET", "/v1/streams/topics/overview")["confused"]
    assert "confusion" not in stream.report()["accuracy"]
    assert pairs
    assert page.get_by_role("heading", name="Confusion matrix").count() == 0
    assert numbers(page, "What is confused most") == [
        [pair["predicted"], pair["label"], str(pair["answers"])] for pair in pairs
    ]


def test_every_picture_can_be_saved_and_read_alone(visit, busy, tmp_path):
    page = seen(visit, "rae", "busy")
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
