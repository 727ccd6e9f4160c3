"""Prodigy's JSONL: what its documentation says of tasks and answers, read and written."""

import json
import pathlib

import pytest

import askwhen as aw
from askwhen.data.formats.prodigy import answer_of, answer_reader, answered, bare, unanswered
from askwhen.data.unlabelled import read_records

HERE = pathlib.Path()
OPTIONS = [{"id": "ham", "text": "Ham"}, {"id": "spam", "text": "Spam"}, {"id": 3, "text": "Three"}]
OWN = {
    "_input_hash": -1530009927,
    "_task_hash": 2003036685,
    "_session_id": "mails-ann",
    "_annotator_id": "mails-ann",
    "_view_id": "choice",
    "_timestamp": 1700000000,
    "_is_binary": False,
    "meta": {"source": "inbox"},
}


def write(name, *tasks):
    (HERE / name).write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return name


@pytest.mark.parametrize(
    ("task", "label"),
    [
        ({"label": "SPAM", "answer": "accept"}, "SPAM"),
        ({"label": "SPAM", "answer": "reject"}, "not SPAM"),
        ({"label": "SPAM", "answer": "ignore"}, None),
        ({"label": "SPAM"}, None),
        ({"answer": "accept"}, None),
        ({"options": OPTIONS, "accept": ["spam"], "answer": "accept"}, "spam"),
        ({"options": OPTIONS, "accept": [3], "answer": "accept"}, "3"),
        ({"options": OPTIONS, "accept": ["ham", "spam"], "answer": "accept"}, None),
        ({"options": OPTIONS, "accept": [], "answer": "accept"}, None),
        ({"options": OPTIONS, "accept": ["spam"], "answer": "reject"}, None),
        ({"options": OPTIONS, "accept": ["spam"], "answer": "ignore"}, None),
        ({"label": "SPAM", "accept": ["ham"], "answer": "accept"}, "ham"),
    ],
)
def test_what_a_task_was_answered_with(task, label):
    assert answered({"text": "a", **task}) == label


@pytest.mark.parametrize("labels", [["not SPAM", "SPAM"], ["SPAM", "not SPAM"], ["ham", "spam"], ["a", "b", "c"]])
def test_a_task_that_is_written_is_read_as_it_was(labels):
    record = {"text": "buy\nnow", "size": 3, "id": "m1"}
    for label in (*labels, None):
        task = json.loads(json.dumps(unanswered(record) | answer_of(label, labels)))
        assert answered(task) == label
        assert bare(task) == record
        assert not [name for name in task if name.startswith("_")]  # hashes are Prodigy's to give
        assert task["answer"] in ("accept", "reject", "ignore")
    binary = "not SPAM" in labels
    assert ("label" in task, "options" in task) == (binary, not binary)
    if not binary:
        assert task["options"] == [{"id": each, "text": each} for each in labels]


@pytest.mark.parametrize(
    ("several", "labels"), [(True, [["a", "c"], ["b"], [], None]), (False, ["12.5", "-3", "0", None])]
)
def test_several_labels_and_numbers_are_read_as_they_were_written(several, labels):
    read = answer_reader(several, not several)
    for label in labels:
        task = json.loads(json.dumps({"text": "x"} | answer_of(label, ["a", "b", "c"], several, not several)))
        assert read(task) == label
        assert bare(task) == {"text": "x"}
        assert task["answer"] == ("ignore" if label is None else "accept")
        assert ("user_input" in task) == (not several and label is not None)
        assert not several or task["config"] == {"choice_style": "multiple"}
        assert read(task | {"answer": "reject"}) is None
    assert answer_reader(True, False)({"label": "a", "answer": "accept"}) == ["a"]


def test_the_text_of_a_task_is_that_of_the_columns_that_are_text():
    record = {"subject": "Hi", "body": "you", "label": "x", "meta": 3, "n": 1}
    task = unanswered(record, ["subject", "body"]) | answer_of("a", ["a", "b"])
    assert (task["text"], task["n"], task["meta"]) == ("Hi\n\nyou", 1, {"label": "x", "meta": 3})
    assert "body" not in task


def test_answered_tasks_are_a_labelled_stream_and_others_are_passed_over():
    tasks = [
        {"text": "cheap pills", "label": "SPAM", "answer": "accept", **OWN},
        {"text": "lunch at noon", "label": "SPAM", "answer": "reject", **OWN},
        {"text": "what", "label": "SPAM", "answer": "ignore", **OWN},
        {"text": "cheap offer", "label": "SPAM", "answer": "accept", **OWN},
    ]
    X, y = aw.data.read(write("b.jsonl", *tasks), format="prodigy", positive="SPAM", n_features=64).load()
    assert y.tolist() == [1.0, -1.0, 1.0]
    words = aw.data.hash_text(["cheap pills", "lunch at noon", "cheap offer"], 64)
    assert (words != X).nnz == 0
    stream = aw.data.read("b.jsonl", format="prodigy")
    assert (stream.load()[1] == y).all()
    assert stream.words == ("not SPAM", "SPAM")
    choices = [{"text": t, "options": OPTIONS, "accept": [a], "answer": "accept", **OWN} for t, a in ("am", "bn", "ca")]
    y = aw.data.read(write("c.jsonl", *choices), format="prodigy", target="class", n_features=64).load()[1]
    assert y.tolist() == ["m", "n", "a"]


def test_tasks_without_answers_are_instances_and_no_labelled_stream():
    tasks = [{"text": f"mail {i}", "options": OPTIONS, "size": i, **OWN} for i in range(3)]
    write("t.jsonl", *tasks)
    with pytest.raises(aw.InputError, match="none of the 3 tasks of t.jsonl was answered with one label"):
        aw.data.read("t.jsonl", format="prodigy").load()
    X, y = aw.data.read("t.jsonl", format="prodigy", target="none", n_features=64).load()
    assert (X.shape, y) == ((3, 66), None)
    found = list(read_records("t.jsonl", format="prodigy", n_features=64))
    assert [record for _, record in found] == [{"text": f"mail {i}", "size": i} for i in range(3)]
    assert [x[0, 0] for x, _ in found] == [0.0, 1.0, 2.0]


def test_a_file_that_is_none_is_refused():
    (HERE / "x.jsonl").write_text('{"text": "a"}\n[1]\n')
    with pytest.raises(aw.InputError, match="x.jsonl, line 2, must be an object"):
        aw.data.read("x.jsonl", format="prodigy").load()
    write("y.jsonl", {"image": "a.png", "label": "CAT", "answer": "accept"})
    with pytest.raises(aw.InputError, match="y.jsonl has no column 'text'"):
        aw.data.read("y.jsonl", format="prodigy", positive="CAT").load()
