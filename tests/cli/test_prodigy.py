"""Prodigy's files through the commands and the service, there and back."""

import json
import pathlib

import httpx
import pytest

import askwhen as aw
from askwhen.data.formats.prodigy import answer_reader, answered, bare
from tests.cli.running import askwhen as command
from tests.cli.running import environment, facts, inside
from tests.cli.test_label_server import ended
from tests.forking import Terminal
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("cli")
HERE = pathlib.Path()


def tasks(n=12):
    return [
        {
            "text": f"{'cheap pills' if i % 3 == 0 else 'lunch at noon'} {i}",
            "label": "SPAM",
            "meta": {"row": i},
            "_input_hash": i,
            "_task_hash": -i,
            "answer": ["accept", "reject", "reject"][i % 3] if i != 7 else "ignore",
        }
        for i in range(n)
    ]


def write(name, lines):
    (HERE / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def read(name):
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def test_a_file_of_prodigy_goes_through_the_service_and_comes_back(tmp_path):
    write("in.jsonl", tasks())
    with Server(tmp_path / "log.db") as server, aw.Client(server.url, timeout=120.0) as client:
        every = {"algorithm": "perceptron", "raw": True, "features": {"kind": "text"}, "grace": 0.0, "seed": 1}
        stream = client.create("mails", labels=["not SPAM", "SPAM"], **every)
        to = ("--server", server.url, "--format", "prodigy", "--json", "--quiet")
        done = inside("run", "in.jsonl", "--stream", "mails", "--answer", "--annotator", "ann", *to)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line.get("answer") for line in lines] == ["answered"] * 7 + [None] + ["answered"] * 4
        stream.tell(7, None, annotator="bob")  # unsure
        stream.act(4, "undo", "ann")
        stream.tell(4, "SPAM", annotator="ann")
        stream.act(5, "review", "eve", label="SPAM")
        address = f"{server.url}/v1/streams/mails/export?format=prodigy"
        reply = httpx.get(address)
        assert "mails-labels.jsonl" in reply.headers["content-disposition"]
        found = [json.loads(line) for line in reply.text.splitlines()]
        by_id = {task["id"]: task for task in found}
        assert len(found) == len(by_id) == 12
        for task, line in zip(tasks(), lines, strict=True):
            came = by_id[line["id"]]
            wanted = "SPAM" if line["row"] in (4, 5) else answered(task)
            assert (came["text"], answered(came), came["label"]) == (task["text"], wanted, "SPAM")
            assert came.get("_annotator_id") == {5: None, 7: "bob"}.get(line["row"], "ann")
            assert line["id"] == str(task["_task_hash"])
            assert not {"_input_hash", "_task_hash"} & {*came}
        (HERE / "out.jsonl").write_text(reply.text)
        done = inside("run", "out.jsonl", "--stream", "mails", *to)
        assert {json.loads(line)["again"] for line in done.stdout.splitlines()} == {True}  # the same instances
        last = max(row["seq"] for row in stream.export())
        assert httpx.get(f"{address}&after={last}").text == ""
        assert len(httpx.get(f"{address}&after={last - 1}").text.splitlines()) == 1
        refused = httpx.get(f"{address}&table=decisions")
        assert (refused.status_code, "csv, ndjson, json or parquet" in refused.text) == (422, True)

        some = client.create("some", **every | {"algorithm": "sel-p-fixed", "letters": {"rate": 0.1}})
        found = some.ask_many([{"x": f"mail {i}", "id": f"u{i}"} for i in range(9)])
        first, second, *_ = [each.id for each in found if not each.query]
        for label in ("no", "yes"):
            some.learn(first, label, annotator="ann")
        some.learn(second, "no", annotator="ann")
        some.learn(second, None, annotator="ann")
        (task,) = [json.loads(line) for line in httpx.get(address.replace("mails", "some")).text.splitlines()]
        assert (task["id"], answered(task), task["_annotator_id"]) == (first, "yes", "ann")

        many = client.create(
            "many", labels=["a", "b", "c"], **every | {"features": {"kind": "numbers", "names": ["n"]}}
        )
        many.ask({"n": 1.5}, id="one", show={"text": "look", "label": "hidden"})
        many.tell(0, "b", annotator="ann")
        (task,) = [json.loads(line) for line in httpx.get(address.replace("mails", "many")).text.splitlines()]
        assert (answered(task), bare(task)) == ("b", {"n": 1.5, "text": "look", "id": "one"})
        assert [option["id"] for option in task["options"]] == ["a", "b", "c"]
        assert task["meta"] == {"label": "hidden"}


@pytest.mark.parametrize("kind", ["several", "numbers"])
def test_several_labels_and_numbers_go_through_the_service_and_come_back(tmp_path, kind):
    labels = ["ham", "news", "spam"]
    given = [["spam", "ham"], ["news"], [], None] if kind == "several" else ["12.5", 3, "0", None]
    made = []
    for i, each in enumerate(given):
        task = {"text": f"mail {i}", "_task_hash": i, "answer": "ignore" if each is None else "accept"}
        chosen = {"options": [{"id": label} for label in labels], "accept": each or []}
        made.append(task | (chosen if kind == "several" else {} if each is None else {"user_input": each}))
    write("in.jsonl", made)
    settings = {"labels": labels, "several": True} if kind == "several" else {"labels": "numbers", "within": 1.0}
    with Server(tmp_path / "log.db") as server, aw.Client(server.url, timeout=120.0) as client:
        stream = client.create("many", features={"kind": "text"}, budget={"rate": 1.0}, grace=0.0, seed=1, **settings)
        to = ("--server", server.url, "--format", "prodigy", "--json", "--quiet", "--answer", "--annotator", "ann")
        done = inside("run", "in.jsonl", *to)
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        assert [line.get("answer") for line in lines] == ["answered"] * 3 + [None]
        expected = [["ham", "spam"], ["news"], [], None] if kind == "several" else [12.5, 3.0, 0.0, None]
        assert [line["label"] for line in lines] == expected
        reply = httpx.get(f"{server.url}/v1/streams/many/export?format=prodigy")
        found = [json.loads(line) for line in reply.text.splitlines()]
        read = answer_reader(kind == "several", kind == "numbers")
        written = expected if kind == "several" else ["12.5", "3", "0", None]
        assert [(task["id"], read(task)) for task in found] == [(str(i), each) for i, each in enumerate(written[:3])]
        (HERE / "out.jsonl").write_text(reply.text)
        again = inside("run", "out.jsonl", *to)
        assert [json.loads(line)["again"] for line in again.stdout.splitlines()] == [True] * 3
        if kind == "several":
            (HERE / "more.csv").write_text(
                'id,text,label\na,one,ham; SPAM\nb,two,"[""news""]"\nc,three,spam\nd,four,\n'
            )
            table = ("--server", server.url, "--json", "--quiet", "--answer", "--annotator", "ann")
            lines = [json.loads(line) for line in inside("run", "more.csv", *table).stdout.splitlines()]
            assert [line.get("label") for line in lines] == [["ham", "spam"], ["news"], ["spam"], None]
            (HERE / "odd.csv").write_text("id,text,label\ne,five,ham|eggs\n")
            refused = command("run", "odd.csv", *table)
            assert (refused.returncode, "label 'eggs', which the stream lacks" in refused.stderr) == (1, True)
        questions = [row["question"] for row in stream.export()]
        assert len(questions) == len({*questions}), "each was answered once"


def test_what_two_people_disagree_on_is_ignored_until_it_is_decided(tmp_path):
    with Server(tmp_path / "log.db") as server, aw.Client(server.url, timeout=120.0) as client:
        stream = client.create(
            "two", algorithm="perceptron", raw=True, slots=2, grace=0.0, seed=1, features={"kind": "text"}
        )
        for text, *given in (("a", "no", "yes"), ("b", "yes", "yes"), ("c", "yes")):
            round = stream.ask(text, id=text).round
            for who, label in zip(("ann", "bob"), given, strict=False):
                stream.tell(round, label, annotator=who)

        def labels():
            reply = httpx.get(f"{server.url}/v1/streams/two/export?format=prodigy")
            return {task["id"]: answered(task) for task in map(json.loads, reply.text.splitlines())}

        assert labels() == {"a": None, "b": "yes", "c": "yes"}
        stream.act(0, "review", "eve", label="no")
        assert labels() == {"a": "no", "b": "yes", "c": "yes"}


def test_tasks_are_labelled_in_the_terminal_and_keep_all_they_have():
    unanswered = [{name: value for name, value in task.items() if name != "answer"} for task in tasks(30)]
    write("in.jsonl", unanswered)
    args = ("in.jsonl", "--format", "prodigy", "--classes", "not SPAM,SPAM", "--labels", "100%", "--features", "64")
    terminal = Terminal(["label", *args, "--prodigy", "out.jsonl"], environment(TERM="xterm"))
    for i in range(4):
        terminal.expect(f"row {i} ")
        terminal.expect("quit")
        terminal.send("s" if i % 3 == 0 else " " if i == 2 else "n")
    terminal.expect("row 4 ")
    terminal.send("q")
    assert ended(terminal) == 0
    answers = ["accept", "reject", "ignore", "accept"]
    assert read("out.jsonl") == [task | {"answer": each} for task, each in zip(unanswered, answers, strict=False)]
    found = facts("run", "out.jsonl", "--format", "prodigy", "--positive", "SPAM", "--algorithm", "perceptron", "--raw")
    assert found["rounds"] == 3


def test_answers_to_any_table_go_out_as_tasks():
    (HERE / "m.csv").write_text("id,body,size\n7,cheap pills,3\n8,lunch,4\n")
    args = ("m.csv", "--text", "body", "--classes", "ham,spam", "--labels", "100%", "--features", "64")
    terminal = Terminal(["label", *args, "--prodigy", "out.jsonl"], environment(TERM="xterm"))
    terminal.expect("quit")
    terminal.send("s")
    terminal.expect("row 1 ")
    terminal.send("h")
    assert ended(terminal) == 0
    options = [{"id": "ham", "text": "ham"}, {"id": "spam", "text": "spam"}]
    shared = {"options": options, "answer": "accept", "config": {"choice_style": "single"}}
    assert read("out.jsonl") == [
        {"text": "cheap pills", "id": 7.0, "size": 3.0, "accept": ["spam"]} | shared,
        {"text": "lunch", "id": 8.0, "size": 4.0, "accept": ["ham"]} | shared,
    ]
