"""Two labels of one kind, wherever they are; anything else is refused unless it is said what it means."""

import json

import pytest

import askwhen as aw
from askwhen.data import files
from askwhen.errors import InputWarning

pytest.importorskip("pyarrow")

FORMATS = {
    "svm": lambda labels: "".join(f"{label} 1:1\n" for label in labels),
    "vw": lambda labels: "".join(f"{label} |f a\n" for label in labels),
    "csv": lambda labels: "a,y\n" + "".join(f"1,{label}\n" for label in labels),
    "ndjson": lambda labels: "".join(f'{{"x": [1], "y": {label}}}\n' for label in labels),
}


@pytest.mark.parametrize("size", [8, 1 << 22])
@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("labels", [(-1, 1, 0), (0, -1, 1), (1, 0, -1)])
def test_three_labels_are_no_pair(tmp_path, monkeypatch, name, size, labels):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, size))
    path = tmp_path / f"a.{name}"
    path.write_text(FORMATS[name]([labels[0]] * 40 + [labels[1]] * 40 + [labels[2]] * 40))
    settings = {"n_features": 10} if name in ("svm", "vw") else {}
    first = 80 if {*labels[:2]} != {0, -1} else 40
    named = "-1, 0 and 1" if size > 100 or first == 80 or name == "csv" else "-1 and 0"
    with pytest.raises(aw.InputError, match=f"has the labels {named}, which are not a pair, as instance {first} shows"):
        aw.data.read(path, **settings).load()
    y = aw.data.read(path, target="class", **settings).load()[1]
    assert [float(label) for label in y[::40]] == list(labels)
    assert aw.data.read(path, positive=0, **settings).load()[1].sum() == -40


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("labels", [(-1, 1), (0, 1), (1, 1), (0, 0)])
def test_each_pair_alone_is_fine(tmp_path, name, labels):
    (tmp_path / f"a.{name}").write_text(FORMATS[name](labels))
    y = aw.data.read(f"a.{name}", n_features=10 if name in ("svm", "vw") else None).load()[1]
    assert y.tolist() == [1.0 if label == 1 else -1.0 for label in labels]


@pytest.mark.parametrize("labels", [("true", "-1"), ("yes", "false"), ("yes", "0")])
def test_pairs_are_not_mixed(tmp_path, labels):
    (tmp_path / "a.csv").write_text("a,y\n" + "".join(f"1,{label}\n" for label in labels))
    with pytest.raises(
        aw.InputError, match="which are not a pair, as instance 1 shows; name the one that is positive="
    ):
        aw.data.read("a.csv").load()
    records = [{"x": [1], "y": {"true": True, "false": False}.get(label, label)} for label in labels]
    (tmp_path / "a.ndjson").write_text("".join(json.dumps(record) + "\n" for record in records))
    with pytest.raises(aw.InputError, match="which are not a pair"):
        aw.data.read("a.ndjson").load()


@pytest.mark.parametrize("size", [8, 1 << 22])
def test_labels_of_json_stay_what_they_are(tmp_path, monkeypatch, size):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, size))
    (tmp_path / "a.ndjson").write_text("".join(f'{{"x": [1], "y": {y}}}\n' for y in ("1", '"spam"', "true")))
    y = aw.data.read("a.ndjson", target="class").load()[1].tolist()
    assert [(type(label), label) for label in y] == [(int, 1), (str, "spam"), (bool, True)]


@pytest.mark.parametrize("name", ["a.csv", "a.ndjson"])
def test_a_missing_label_is_refused(tmp_path, name):
    (tmp_path / "a.csv").write_text("a,kind\n1,spam\n2,\n")
    (tmp_path / "a.ndjson").write_text('{"a": 1, "kind": "spam"}\n{"a": 2}\n')
    for missing in ("refuse", "feature"):
        with pytest.raises(aw.InputError, match="'kind' of a.* is empty or NaN in instance 1.*needs a label"):
            aw.data.read(name, label="kind", positive="spam", missing=missing).load()


def written(path, labels):
    path.write_text("a,y\n" + "".join(f"{i % 7},{label}\n" for i, label in enumerate(labels)))
    return path


@pytest.mark.parametrize(
    ("labels", "pair"),
    [
        (["spam", "ham"], ("ham", "spam")),
        (["not SPAM", "SPAM"], ("not SPAM", "SPAM")),
        (["yes", "maybe"], ("maybe", "yes")),
        (["b", "A"], ("A", "b")),
    ],
)
def test_of_two_texts_the_positive_one_is_that_of_python(tmp_path, labels, pair):
    stream = aw.data.read(written(tmp_path / "a.csv", labels * 20))
    X, y = stream.load()
    assert (stream.words, stream.pair) == (pair, pair)
    assert y.tolist() == [1.0 if label == pair[1] else -1.0 for label in labels * 20]
    sampler = aw.Sampler(aw.Perceptron(), aw.Always())
    sampler.run(X, labels * 20)
    assert sampler.classes == list(pair)
    other = aw.data.read(tmp_path / "a.csv", positive=pair[0])
    assert (other.load()[1] == -y).all()
    assert other.pair is None


def test_a_text_alone_or_a_third_one_is_refused(tmp_path):
    with pytest.raises(aw.InputError, match="only the label 'spam' in its first 40 instances") as found:
        aw.data.read(written(tmp_path / "a.csv", ["spam"] * 40)).load()
    assert found.value.mend == {"positive": "spam"}
    with pytest.raises(aw.InputError, match="labels must be -1 and .1, .* yes and no, or two texts, or name the one"):
        aw.data.read(written(tmp_path / "a.csv", ["spam", "ham", "eggs"] * 40)).load()


def test_a_third_text_in_a_later_chunk_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, 8))
    lines = [f'{{"a": {i}.5, "y": "{label}"}}\n' for i, label in enumerate(["spam", "ham"] * 40000 + ["eggs"])]
    (tmp_path / "a.ndjson").write_text("".join(lines))
    with pytest.raises(aw.InputError, match="has the label 'eggs' in instance 80,000, besides 'ham' and 'spam'"):
        aw.data.read(tmp_path / "a.ndjson").load()


def test_labels_that_differ_only_by_case_or_blanks_are_said_and_folded_if_asked(tmp_path):
    path = written(tmp_path / "a.csv", ["spam", " ham", "Spam ", "ham"] * 20)
    with (
        pytest.warns(InputWarning, match="'spam' and 'Spam ', .*; fold_labels=True .* takes them for one"),
        pytest.raises(aw.InputError, match="give fold_labels=True to take those that differ only by case") as found,
    ):
        aw.data.read(path).load()
    assert found.value.mend == {"fold_labels": True}
    assert len({*aw.data.read(path, target="class").load()[1].tolist()}) == 4
    stream = aw.data.read(path, fold_labels=True)
    assert stream.load()[1].tolist() == [1.0, -1.0] * 40
    assert stream.words == ("ham", "spam")
    assert aw.data.read(path, fold_labels=True, positive="HAM").load()[1].tolist() == [-1.0, 1.0] * 40
    assert sorted({*aw.data.read(path, fold_labels=True, target="class").load()[1].tolist()}) == ["ham", "spam"]


def test_labels_in_python_that_differ_only_by_case_or_blanks_are_said():
    X = [[0.5], [1.5], [2.5]]
    with pytest.warns(InputWarning, match="y has labels that differ only .*: 'a' and 'A'; write them alike"):
        aw.Sampler(aw.Perceptron(), aw.Always()).run(X[:2], ["a", "A"])
    with pytest.warns(InputWarning, match="'ant' and ' ant'"):
        aw.Sampler(aw.Perceptron(), aw.Always(), classes="open").run(X, ["ant", "bee", " ant"])
