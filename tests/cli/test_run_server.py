"""``askwhen run --server`` against a real service: it decides what the library decides, and nothing comes twice."""

import json
import pathlib
import subprocess
import threading
import uuid

import numpy as np
import pytest

import askwhen as aw
from tests.cli.running import COMMAND, environment, inside, refused, write_table
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("cli")
HERE = pathlib.Path()
NAMES = ["f0", "f1", "f2", "f3"]
NUMBERS = {"kind": "numbers", "names": NAMES}


@pytest.fixture(scope="module")
def only_server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "log.db") as server:
        yield server


@pytest.fixture
def server(only_server):
    return only_server if only_server.process.poll() is None else only_server.start()


@pytest.fixture
def make(server):
    made = []

    def stream(features, **settings):
        client = aw.Client(server.url, timeout=120.0)
        name = f"stream-{uuid.uuid4().hex}"
        made.append(client)
        given = {"labels": ["no", "yes"], "algorithm": "sel-p", "letters": {"b": 0.5}, "raw": True, "grace": 0.0}
        return client.create(name, seed=3, features=features, **given | settings)

    yield stream
    for client in made:
        client.close()


def numbers(n=200):
    X, y = aw.data.switching(n, len(NAMES), 50, seed=5)
    return X, y


def write(path, n=200, label="spam"):
    X, y = numbers(n)
    words = np.where(y > 0, "yes", "no")
    lines = [",".join([*map(repr, map(float, x)), word]) for x, word in zip(X, words, strict=True)]
    path.write_text("\n".join([",".join([*NAMES, label]), *lines]) + "\n")
    return path


def sent(server, stream, *args, code=0, **more):
    """The decisions that the command prints."""
    done = inside("run", *args, "--server", server.url, "--stream", stream.name, "--json", "--quiet", **more)
    assert done.returncode == code, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def decided(lines):
    return [(line["round"], line["prediction"], line["margin"], line["probability"], line["query"]) for line in lines]


def played(batch, n=200, tell=True):
    """What a sampler of the library decides that is told the labels it asked for after every batch."""
    sampler = aw.paper("SEL-P", b=0.5, seed=3)
    X, y = numbers(n)
    found = []
    for first in range(0, n, batch):
        asks = [sampler.ask(x) for x in X[first : first + batch]]
        for ask, label in zip(asks, y[first : first + batch], strict=True):
            if ask.query and tell:
                sampler.tell(ask, label)
        found += asks
    words = {-1.0: "no", 1.0: "yes"}
    return [(a.round, words[a.prediction], a.margin, a.probability, a.query) for a in found]


@pytest.mark.parametrize("batch", [1, 50])
def test_what_is_decided_is_what_the_library_decides_bit_for_bit(server, make, batch):
    write(HERE / "s.csv")
    stream = make(NUMBERS)
    lines = sent(server, stream, "s.csv", "--label", "spam", "--answer", "--annotator", "ann", "--batch", batch)
    assert decided(lines) == played(batch)
    assert len({line["id"] for line in lines}) == 200
    asked = [line for line in lines if line["query"]]
    assert 10 < len(asked) < 200
    assert {line["answer"] for line in asked} == {"answered"}
    assert stream.facts()["told"] == len(asked)
    assert {row["annotator"] for row in stream.export()} == {"ann"}


def test_the_same_command_again_plays_and_answers_nothing_twice(server, make):
    write(HERE / "s.csv")
    stream = make(NUMBERS)
    first = sent(server, stream, "s.csv", "--label", "spam", "--skip", 150)
    assert [line["row"] for line in first] == list(range(150, 200))
    whole = sent(server, stream, "s.csv", "--label", "spam", "--answer")
    assert decided(whole[150:]) == decided(first)
    assert [line["again"] for line in whole] == [False] * 150 + [True] * 50
    assert sent(server, stream, "s.csv", "--label", "spam", "--answer") == [line | {"again": True} for line in whole]
    facts = stream.facts()
    assert facts["rounds"] == 200
    assert facts["told"] == facts["asked"] == sum(line["query"] for line in whole)  # those of the first time too
    done = inside("run", "s.csv", "--label", "spam", "--server", server.url, "--stream", stream.name)
    assert done.returncode == 0
    assert "200, 200 sent before" in done.stdout
    text = (HERE / "s.csv").read_text().replace("\nf", "\n").splitlines()
    text[7] = text[8]
    (HERE / "s.csv").write_text("\n".join(text) + "\n")
    again = [line["row"] for line in sent(server, stream, "s.csv", "--label", "spam") if not line["again"]]
    assert again == [6]  # another row in that place is another instance


def test_rows_wait_in_the_backlog_and_are_not_counted_as_right_or_wrong(server, make):
    write(HERE / "s.csv", 20)
    stream = make(NUMBERS, budget=None)
    lines = sent(server, stream, "s.csv", "--label", "spam", "--backlog")
    assert [line["place"] for line in lines] == list(range(1, 21))
    done = inside("run", "s.csv", "--label", "spam", "--backlog", "--server", server.url, "--stream", stream.name)
    assert "in the backlog" in done.stdout
    found = stream.client.send("GET", f"/v1/streams/{stream.name}/instances?limit=1")["rows"]
    assert found[0]["source"] == "s.csv"  # so that it can be withdrawn on the page
    assert "of 20 with a label" not in done.stdout
    assert "not for a backlog" in refused(
        "run", "s.csv", "--label", "spam", "--backlog", "--answer", "--server", server.url, "--stream", stream.name
    )


def test_killed_and_run_again_it_ends_as_if_nothing_had_been(server, make):
    write(HERE / "s.csv", 600)
    stream, other = make(NUMBERS), make(NUMBERS)
    command = [*COMMAND, "run", "s.csv", "--label", "spam", "--answer", "--batch", "5", "--json"]
    process = subprocess.Popen(
        [*command, "--server", server.url, "--stream", stream.name],
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    for _ in range(40):
        process.stdout.readline()
    process.kill()
    process.wait()
    process.stdout.close()
    assert 40 <= stream.facts()["rounds"] < 600
    lines = sent(server, stream, "s.csv", "--label", "spam", "--answer", "--batch", 5)
    assert [line["round"] for line in lines] == list(range(600))
    facts = stream.facts()
    assert (facts["rounds"], facts["told"]) == (600, facts["asked"])
    assert decided(lines) == decided(sent(server, other, "s.csv", "--label", "spam", "--answer", "--batch", 5))


def test_the_service_is_killed_on_the_way_and_comes_back(server, make):
    write(HERE / "s.csv", 600)
    stream = make(NUMBERS)
    command = [*COMMAND, "run", "s.csv", "--label", "spam", "--answer", "--batch", "5", "--json", "--quiet"]
    process = subprocess.Popen(
        [*command, "--server", server.url, "--stream", stream.name],
        stdout=subprocess.PIPE,
        env=environment(),
        text=True,
    )
    first = [process.stdout.readline() for _ in range(40)]
    server.kill()
    server.start()
    lines = [json.loads(line) for line in [*first, *process.stdout]]
    process.stdout.close()
    assert process.wait() == 0
    assert [line["round"] for line in lines] == list(range(600))
    facts = stream.facts()
    assert (facts["rounds"], facts["told"]) == (600, facts["asked"])


def test_a_line_of_a_slow_pipe_is_decided_at_once(server, make):
    stream = make({"kind": "text"}, labels=["ham", "spam"])
    command = [*COMMAND, "run", "-", "--format", "ndjson", "--server", server.url, "--stream", stream.name, "--json"]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment(), text=True
    )
    late = threading.Timer(60.0, process.kill)
    late.start()
    for i in range(3):
        process.stdin.write(json.dumps({"text": f"mail {i}", "id": f"m{i}"}) + "\n")
        process.stdin.flush()
        line = json.loads(process.stdout.readline())
        assert (line["id"], line["round"]) == (f"m{i}", i)
    out, _ = process.communicate()
    late.cancel()
    assert (out, process.returncode) == ("", 0)


def test_rows_of_every_format_are_the_same_instances(server, make):
    X, y = numbers(20)
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    write_table(HERE / "s.csv", [*NAMES, "label"], np.column_stack([X, y]))
    write_table(HERE / "other.csv", ["label", *NAMES[::-1]], np.column_stack([y, X[:, ::-1]]))
    (HERE / "s.tsv").write_text((HERE / "s.csv").read_text().replace(",", "\t"))
    columns = dict(zip(NAMES, X.T.tolist(), strict=True)) | {"label": y.tolist()}
    parquet.write_table(pa.table(columns), "s.parquet")
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    (HERE / "s.ndjson").write_text("".join(json.dumps(row) + "\n" for row in rows))
    ready = [{"x": x, "y": label} for x, label in zip(X.tolist(), y.tolist(), strict=True)]
    (HERE / "x.ndjson").write_text("".join(json.dumps(row) + "\n" for row in ready))
    lines = [
        f"{label:+.0f} " + " ".join(f"{j + 1}:{value!r}" for j, value in enumerate(x)) + "\n"
        for x, label in zip(X.tolist(), y.tolist(), strict=True)
    ]
    (HERE / "s.svm").write_text("".join(lines))
    wanted = None
    for file in ("s.csv", "other.csv", "s.tsv", "s.parquet", "s.ndjson", "x.ndjson", "s.svm"):
        found = sent(server, make(NUMBERS), file, "--answer", "--batch", 1)
        wanted = wanted or decided(found)
        assert decided(found) == wanted, file
        assert [line["label"] for line in found] == ["yes" if label > 0 else "no" for label in y]


def test_texts_words_and_numbers_go_as_the_stream_wants_them(server, make):
    (HERE / "m.csv").write_text(
        'id,subject,body,size,label\n007,Hi,"007, he said",3,ham\n008,Buy,cheap pills,,spam\n009,Ok,fine,4,ham\n'
    )
    words = {"labels": ["ham", "spam"]}
    texts = make({"kind": "text"}, **words)
    assert [line["id"] for line in sent(server, texts, "m.csv", "--text", "body")] == ["007", "008", "009"]
    assert texts.next("ann")["x"] == "007, he said"
    hashed = make({"kind": "hashed"}, **words)
    sent(server, hashed, "m.csv")
    assert [hashed.next("ann")["x"] for _ in range(2)] == [
        {"subject": "Hi", "body": "007, he said", "size": 3.0},
        {"subject": "Buy", "body": "cheap pills"},
    ]
    mixed = make({"kind": "mixed", "text": ["subject", "body"], "names": ["size"]}, **words)
    lines = sent(server, mixed, "m.csv", "--answer", code=1)
    assert [line.get("error") for line in lines] == [None, "'size' must be a number, got nothing.", None]
    assert mixed.facts()["rounds"] == 2
    assert {row["id"]: row["answer"] for row in mixed.export()} == {"007": "ham", "009": "ham"}


def test_what_does_not_fit_is_said_in_one_sentence(server, make):
    stream, text = make(NUMBERS), make({"kind": "text"})
    (HERE / "t.csv").write_text("f0,f1,f2,word,label\n1,2,3,a,maybe\n")
    (HERE / "s.vw").write_text("1 |f a\n")
    write(HERE / "s.csv", 5, label="label")

    def says(stream, *args, code=1):
        return refused("run", *args, "--server", server.url, "--stream", stream.name, code=code)

    assert "t.csv has no column 'f3', a feature of the stream; it has 'f0'," in says(stream, "t.csv")
    assert "has no column 'text'; name the column of its --text; it has 'f0'" in says(text, "t.csv")
    assert "column 'word' of t.csv holds string, not numbers; name it in --drop." in says(
        make({"kind": "numbers"}), "t.csv"
    )
    assert "row 0, counted from 0, has the label 'maybe', which the stream lacks; it has no, yes." in says(
        text, "t.csv", "--text", "word", "--answer"
    )
    (HERE / "none.csv").write_text("text\n")
    assert "none.csv holds no instance." in says(text, "none.csv")
    assert "s.csv holds no instance after the first 5." in says(stream, "s.csv", "--skip", 5)
    assert "Vowpal Wabbit's features have no names" in says(stream, "s.vw")
    assert "there is no file no.csv, and no data set of that name." in says(stream, "no.csv")
    assert "--text is for a stream of texts, and this one takes numbers features." in says(
        stream, "s.csv", "--text", "f0"
    )
    assert "--algorithm does not go with --server" in says(stream, "s.csv", "--algorithm", "pa", code=2)
    assert "--answer goes with --server URL" in refused("run", "s.csv", "--answer", code=2)
    assert "--server takes an address" in refused("run", "s.csv", "--server", "localhost:1", code=2)
    assert stream.facts()["rounds"] == text.facts()["rounds"] == 0
    stream.change("pause")
    assert "is paused; resume it first." in says(stream, "s.csv")


def test_columns_of_the_file_go_as_advice(server, make):
    lines = ["kind,gpt,sure,body,rules"]
    for i in range(6):
        said = [("yes", "0.75"), ("no", ""), ("", "0.5")][i % 3]
        lines.append(f"{'yes' if i % 2 else 'no'},{said[0]},{said[1]},mail number {i},{'no' if i else ''}")
    (HERE / "advised.csv").write_text("\n".join(lines) + "\n")
    given = {"algorithm": "default", "letters": {}, "raw": False, "advisers": ["gpt-4o", "rules"]}
    stream = make({"kind": "text", "places": 64}, **given)
    args = (
        "advised.csv",
        "--text",
        "body",
        "--label",
        "kind",
        "--advice",
        "gpt-4o=gpt:sure",
        "--advice",
        "rules=rules",
    )
    assert [line["again"] for line in sent(server, stream, *args)] == [False] * 6
    assert [line["again"] for line in sent(server, stream, *args)] == [True] * 6
    columns = ("text", "advice.gpt-4o", "confidence.gpt-4o", "advice.rules", "confidence.rules")
    rows = [[row[name] for name in columns] for row in stream.export("instances")]
    assert rows[:3] == [
        ["mail number 0", "yes", 0.75, None, None],
        ["mail number 1", "no", None, "no", None],
        ["mail number 2", None, None, "no", None],
    ]
    bodies = [{"x": f"line {i}", "id": f"l{i}", "advice": {"rules": ["yes", "no", "eggs"][i]}} for i in range(3)]
    (HERE / "bodies.ndjson").write_text("".join(json.dumps(each) + "\n" for each in bodies))
    lines = sent(server, stream, "bodies.ndjson", code=1)
    assert ("error" in lines[2], [line["row"] for line in lines]) == (True, [0, 1, 2])
    assert [row["advice.rules"] for row in stream.export("instances") if row["id"] in ("l0", "l1")] == ["yes", "no"]
    said = refused(
        "run",
        "advised.csv",
        "--text",
        "body",
        "--advice",
        "gpt-4o=none",
        "--server",
        server.url,
        "--stream",
        stream.name,
    )
    assert "advised.csv has no column 'none'" in said
