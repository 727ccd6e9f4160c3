"""Every format, compressed and not, in pieces, with good and bad lines."""

import bz2
import gzip
import io
import json
import lzma
import pathlib
import sys
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import files
from askwhen.data.hashing import hash_name

arrow = pytest.importorskip("pyarrow")

SVMLIGHT = b"""# a comment
+1 1:0.5 3:1e-3 7:12 # more

-1 qid:3 2:1\r
1
  -1\t4:-2.5   9:1\n"""
ROWS = [[0.5, 0, 0.001, 0, 0, 0, 12, 0, 0], [0, 1, 0, 0, 0, 0, 0, 0, 0], [0] * 9, [0, 0, 0, -2.5, 0, 0, 0, 0, 1]]
PACKERS = {
    "": lambda b: b,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": lambda b: arrow.compress(b, "zstd", asbytes=True),
}


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.mark.parametrize("suffix", PACKERS)
def test_svmlight_compressed_in_every_way(tmp_path, suffix):
    path = tmp_path / f"a.svm{suffix}"
    path.write_bytes(PACKERS[suffix](SVMLIGHT))
    stream = aw.data.read(path)
    for _ in range(2):  # every loop begins afresh
        ((X, y),) = stream
        np.testing.assert_array_equal(X.toarray(), ROWS)
        np.testing.assert_array_equal(y, [1, -1, 1, -1])
    X, y = aw.data.read(path, n_features=12).load()
    assert X.shape == (4, 12)
    assert aw.data.read(path).load()[0].shape == (4, 9)


@pytest.mark.parametrize("size", [1, 7, 64])
def test_blocks_end_with_lines(tmp_path, monkeypatch, size):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, size))
    path = tmp_path / "a.svm"
    path.write_bytes(SVMLIGHT.removesuffix(b"\n"))  # the last line ends with the file
    X, y = aw.data.read(path).load()
    np.testing.assert_array_equal(X.toarray(), ROWS)
    np.testing.assert_array_equal(y, [1, -1, 1, -1])


def test_svmlight_as_scikit_learn_reads_it(tmp_path):
    datasets = pytest.importorskip("sklearn.datasets")
    rng = np.random.default_rng(0)
    X = sp.random(500, 200, 0.1, "csr", rng=rng)
    datasets.dump_svmlight_file(X, np.sign(rng.standard_normal(500)), str(tmp_path / "a.svm"), zero_based=False)
    expected, labels = datasets.load_svmlight_file(str(tmp_path / "a.svm"), n_features=200, zero_based=False)
    found, y = aw.data.read(tmp_path / "a.svm", n_features=200).load()
    assert (found != expected).nnz == 0
    np.testing.assert_array_equal(y, labels)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("x 1:2", "line 3, must begin with a label, a number"),
        ("1:2 3:4", "line 3, must begin with a label"),
        ("1 2", "line 3, must have a colon between index and value"),
        ("1 a:2", "line 3, must hold index:value pairs after its label"),
        ("1 -1:2", "line 3, must hold index:value pairs"),
        ("1 1:", "line 3, must hold a number after the colon"),
        ("1 1:2x", "line 3, must hold a number after the colon"),
        ("1 1:zwei", "line 3, must hold a number after the colon"),
        ("1 2:1 2:1", "line 3, must have its indices in increasing order"),
        ("1 3:1 2:1", "line 3, must have its indices in increasing order"),
        ("1 0:1", "line 3, has a feature 0, but features count from 1 unless zero_based=True"),
        ("1 99999999999:1", "line 3, has a feature beyond the last of 2147483646"),
        ("1 quux 1:1", "line 3, must hold index:value pairs"),
        ("1 q1:7", "line 3, must hold index:value pairs"),
        ("1 1:12345678901234567890qqq", "line 3, must hold a number after the colon"),
        ("1,2 1:1", "line 3, must begin with a label"),
        ("3 1:1", "has the label 3 in instance 2; labels must be -1 and"),
    ],
)
def test_a_bad_line_is_named(tmp_path, line, sentence):
    path = tmp_path / "a.svm"
    path.write_text(f"1 1:1\n-1 1:1\n{line}\n1 1:1\n")
    with pytest.raises(aw.InputError, match=sentence) as caught:
        aw.data.read(path).load()
    assert str(path) in str(caught.value)
    assert str(caught.value).endswith(".")


def test_lines_with_several_labels_and_features_from_0(tmp_path):
    path = tmp_path / "a.svm"
    path.write_text("0,2 0:1 3:2\n1 1:1\n2 0:1\n")
    stream = aw.data.read(path, zero_based=True, several=True)
    ((X, Y),) = stream
    np.testing.assert_array_equal(Y, [[1, -1, 1], [-1, 1, -1], [-1, -1, 1]])
    assert X.shape == (3, 4)
    traces = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1).run(X, Y)
    assert len(traces) == 3
    path.write_text("0,2 0:1\n 1:3 2:1\n1\n")  # an instance without a label
    ((X, Y),) = aw.data.read(path, zero_based=True, several=True)
    np.testing.assert_array_equal(Y, [[1, -1, 1], [-1, -1, -1], [-1, 1, -1]])
    assert X[1].toarray().tolist() == [[0, 3, 1]]
    for strange in ("nan", "inf", "1e12", "-1", "0.5"):
        (tmp_path / "b.svm").write_text(f"0 1:1\n{strange} 1:1\n")
        with pytest.raises(
            aw.InputError,
            match=f"whole numbers from 0 to 2\\^20 as its labels, got {float(strange):g}".replace("+", r"\+"),
        ):
            aw.data.read(tmp_path / "b.svm", several=True).load()
    with pytest.raises(aw.InputError, match="labels from 0 to 1, got 2"):
        list(aw.data.read(path, zero_based=True, several=True, n_labels=2))


def test_labels_of_all_kinds(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,class\n1,spam\n2,ham\n3,spam\n")
    assert aw.data.read(path, positive="spam").load()[1].tolist() == [1, -1, 1]
    assert aw.data.read(path, target="class").load()[1].tolist() == ["spam", "ham", "spam"]
    assert aw.data.read(path).load()[1].tolist() == [1, -1, 1]
    with pytest.raises(aw.InputError, match="no instance of .* has the label 'Spam' that is positive="):
        aw.data.read(path, positive="Spam").load()
    with pytest.raises(aw.InputError, match="that is positive=, perhaps 'spam'; its labels are 'ham', 'spam'"):
        next(iter(aw.data.read(path, positive="Spam")))  # before anything is given out
    path.write_text("a,y\n1,true\n2,false\n")
    assert aw.data.read(path).load()[1].tolist() == [1, -1]
    assert aw.data.read(path, positive="true").load()[1].tolist() == [1, -1]
    assert aw.data.read(path, positive="false").load()[1].tolist() == [-1, 1]
    path.write_text("a,y\n1,2.5\n2,7\n")
    assert aw.data.read(path, target="number").load()[1].tolist() == [2.5, 7]
    assert aw.data.read(path, positive=7).load()[1].tolist() == [-1, 1]
    with pytest.raises(aw.InputError, match="are numbers, so positive= must be one, got 'spam'"):
        aw.data.read(path, positive="spam").load()
    path.write_text("a,target\n1,0\n2,1\n")
    assert aw.data.read(path).load()[1].tolist() == [-1, 1]


@pytest.mark.parametrize("kind", ["csv", "csv.gz", "tsv", "parquet"])
def test_tables(tmp_path, kind):
    path = tmp_path / f"a.{kind}"
    table = arrow.table({"when": [1, 2, 5], "x": [0.5, 1.5, -2.0], "flag": [True, False, True], "y": [1, 0, 1]})
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(table, path)
    else:
        lines = ["when,x,flag,y", "1,0.5,true,1", "2,1.5,false,0", "5,-2.0,true,1"]
        text = "\n".join(lines).replace(",", "\t" if kind == "tsv" else ",") + "\n"
        path.write_bytes(PACKERS[".gz" if kind.endswith("gz") else ""](text.encode()))
    X, y, times = aw.data.read(path, time="when", rows=2).load()
    np.testing.assert_array_equal(X, [[0.5, 1, 0], [1.5, 0, 0], [-2, 1, 0]])
    assert (y.tolist(), times.tolist()) == ([1, -1, 1], [1, 2, 5])
    assert aw.data.read(path, drop=["when", "flag"], missing="refuse").load()[0].shape == (3, 1)


def test_words_of_a_table_are_hashed_beside_its_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('n,mail,label\n1.5,"Buy now, buy!",1\n2.5,hello,0\n')
    X, _ = aw.data.read(path, text="mail", n_features=1000).load()
    assert X.shape == (2, 1002)
    assert X[0, 2 + hash_name("buy", 1000)] == 2
    assert X[1, 0] == 2.5
    assert aw.data.read(path, text="mail", drop=["n"], n_features=1000).load()[0].shape == (2, 1000)


@pytest.mark.parametrize(
    ("text", "settings", "sentence"),
    [
        ("a,b\n1,2\n", {}, "needs label=, the name of its label column; it has 'a', 'b'"),
        ("a,y\n1,1\n", {"label": "z"}, "has no column 'z'; it has 'a', 'y'"),
        ("a,y\n1,1\n,1\n", {"missing": "refuse"}, "column 'a' of .* is empty or NaN in instance 1"),
        ("a,y\n1,1\n2\n", {}, "cannot read .*a.csv: CSV parse error: Row #3: Expected 2 columns, got 1"),
        ("a,a,y\n1,1,1\n", {}, "has more than one column 'a'"),
        ("y\n1\n", {}, "has no feature besides its label"),
        (
            "a,y\n" + "1,1\n" * 300_000 + "x,1\n",
            {},
            "'a' of .* holds 'x' in instance 300,000, counted from 0, where a number is",
        ),
    ],
)
def test_bad_tables(tmp_path, text, settings, sentence):
    path = tmp_path / "a.csv"
    path.write_text(text)
    with pytest.raises(aw.InputError, match=sentence):
        aw.data.read(path, **settings).load()


def test_the_first_lines_of_a_table_do_not_settle_its_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,mail,late,label\n" + "1,12,,1\n2,12,,1\n" * 100_000 + "1.5,hello,2,0\n")
    X, y = aw.data.read(path, text="mail", drop="late", n_features=50).load()
    assert X[-1, 0] == 1.5
    assert X[-1, 2 + hash_name("hello", 50)] == 1
    assert y[-1] == -1


def test_texts_with_line_breaks_and_long_rows(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("mail,label\n" + '"ab cd\nef gh\nij",1\n' * 100_000 + '"' + "long " * 1_000_000 + '",0\n')
    X, _ = aw.data.read(path, text="mail", n_features=8).load()
    assert X.shape == (100_001, 8)
    assert X[0].sum() == 5
    assert X[-1].sum() == 1_000_000
    (tmp_path / "b.csv").write_bytes("mail,label\ncaf\xe9,1\n".encode("latin-1"))
    with pytest.raises(aw.InputError, match="UTF-?8"):
        aw.data.read(tmp_path / "b.csv", text="mail").load()


def test_ndjson_is_consistent_across_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, 24))
    path = tmp_path / "a.ndjson"
    for last in ('{"x": [1, 2, 3], "y": 1}', '{"x": [1, 2], "y": 1, "time": 3}'):
        path.write_text('{"x": [1, 2], "y": 1}\n' * 3 + last + "\n")
        with pytest.raises(aw.InputError, match="line 4, must have an x and a time like the lines before"):
            aw.data.read(path).load()


def test_ndjson_of_numbers_names_and_texts(tmp_path):
    path = tmp_path / "a.ndjson"

    def load(*records, **settings):
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return aw.data.read(path, **settings).load()

    X, _ = load({"x": [1, 2.5], "y": 1}, {"x": [0, 1], "y": -1})
    np.testing.assert_array_equal(X, [[1, 2.5], [0, 1]])
    X, _, times = load(
        {"x": {"a": 2, "b": 1}, "y": True, "time": 3}, {"x": {"b": 4}, "y": False, "time": 9}, n_features=50
    )
    assert (X[0, hash_name("a", 50)], X[1, hash_name("b", 50)], times.tolist()) == (2, 4, [3, 9])
    X, _ = load({"x": "Grüße an ALLE", "y": 1}, n_features=10**6)
    assert X[0, hash_name("grüße", 10**6)] == X[0, hash_name("alle", 10**6)] == 1
    for record, sentence in (
        ({"x": [1]}, "line 2, must be an object such as"),
        ([1], "line 2, must be an object"),
        ({"x": [1, 2], "y": 1}, "line 2, must have an x like the lines before"),
        ({"x": ["a"], "y": 1}, "line 2, must have numbers in x"),
        ({"x": {"a": 1}, "y": 1}, "line 2, must have an x like the lines before"),
        ({"x": [1], "y": 1, "time": 4}, "line 2, must have a time if the lines before have one"),
        ({"x": [10**400], "y": 1}, "line 2, must have numbers in x"),
        ({"x": [1], "y": [1]}, "line 2, must have a y that is a number"),
        ({"x": [1], "y": None}, "line 2, must have a y that is a number"),
    ):
        with pytest.raises(aw.InputError, match=sentence):
            load({"x": [1], "y": 1}, record)
    with pytest.raises(aw.InputError, match="line 1, must have an x that is a list of numbers"):
        load({"x": 3, "y": 1})


def test_the_format_of_vowpal_wabbit(tmp_path):
    path = tmp_path / "a.vw"
    path.write_text("1 2.0 'tag|a x:0.5 y |b:2 x:1.5 z\n-1 |a x\n\n+1|a x:3 x:1\n")
    X, y = aw.data.read(path, n_features=5000).load()
    place = {name: hash_name(name.replace(" ", "#"), 5000) for name in ("a x", "a y", "b x", "b z")}
    assert y.tolist() == [1, -1, 1]
    assert X[0].toarray()[0, [place["a x"], place["a y"], place["b x"], place["b z"]]].tolist() == [0.5, 1, 3, 2]
    assert (X[1, place["a x"]], X[2, place["a x"]]) == (1, 4)
    path.write_bytes(b"1 |f" + b"\ra" * 5000 + b"\n")  # more features than spaces
    assert aw.data.read(path, n_features=16).load()[0].sum() == 5000
    for line, sentence in (
        ("1 |a:2x y", "line 1, must hold a number after the colon"),
        ("|a x", "line 1, must begin with a label"),
        ("1 x y", "line 1, must have a | before"),
        ("1 |a x:z", "line 1, must hold a number after the colon"),
    ):
        path.write_text(line + "\n")
        with pytest.raises(aw.InputError, match=sentence.replace("|", r"\|")):
            aw.data.read(path).load()


def test_words_are_hashed_alike_everywhere():
    X = aw.data.hash_text(["to be, or NOT to be", "", "naïve Ünïcode 42"], n_features=2**20)
    assert X.shape == (3, 2**20)
    for word, times in (("to", 2), ("be", 2), ("or", 1), ("not", 1)):
        assert X[0, hash_name(word, 2**20)] == times
    assert (X[2, hash_name("ünïcode", 2**20)], X[2, hash_name("42", 2**20)], X[1].nnz) == (1, 1, 0)
    with pytest.raises(aw.InputError, match="every text must be a string, got int in row 1"):
        aw.data.hash_text(["a", 1])
    with pytest.raises(aw.InputError, match="texts must be several strings"):
        aw.data.hash_text("hello")


def test_what_cannot_be_read_is_said_in_one_sentence(tmp_path, monkeypatch):
    def refused(sentence, *args, **settings):
        with pytest.raises(aw.InputError, match=sentence):
            aw.data.read(*args, **settings).load()

    refused("there is no file", tmp_path / "a.svm")
    refused("cannot be seen from its name; give format=, one of csv, ndjson", tmp_path / "a.dat")
    refused("tsv, vw; where every line is an object of its own, it is ndjson", tmp_path / "a.json")
    refused("format= must be", tmp_path / "a.dat", format="arff")
    (tmp_path / "a.svm").write_text("")
    refused("holds no instance", tmp_path / "a.svm")
    refused("n_features= must be a whole number", tmp_path / "a.svm", n_features=0)
    refused("and here labels are numbers", tmp_path / "a.svm", positive=1, target="number")
    packed = gzip.compress(b"1 1:1\n" * 999)
    (tmp_path / "b.svm.gz").write_bytes(packed[:-20])
    refused("cannot decompress", tmp_path / "b.svm.gz")
    (tmp_path / "c.svm").write_text("1 5:1\n")
    refused("line 1, has a feature beyond the last of 3", tmp_path / "c.svm", n_features=3)
    (tmp_path / "e.svm.gz").write_bytes(bytes(b ^ (0xFF if 12 <= i < 16 else 0) for i, b in enumerate(packed)))
    refused("cannot decompress", tmp_path / "e.svm.gz")
    refused("a Parquet file must be a plain file", tmp_path / "b.svm.gz", format="parquet")
    (tmp_path / "U.SVM").write_text("1 1:1\n")
    assert aw.data.read(tmp_path / "U.SVM").load()[0].shape == (1, 1)
    (tmp_path / "d.parquet").write_text("no parquet")
    refused("cannot read .*d.parquet", tmp_path / "d.parquet")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"1 1:1\n")))
    with pytest.raises(aw.InputError, match="give n_features=, since the standard input can be read only once"):
        list(aw.data.read("-", format="svmlight"))


def test_the_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(SVMLIGHT)))
    ((X, _),) = aw.data.read("-", format="svmlight", n_features=9)
    np.testing.assert_array_equal(X.toarray(), ROWS)


def test_a_long_file_runs_in_constant_memory_with_a_bar(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, 1 << 16))
    line = " ".join(["1", *(f"{j}:0.5" for j in range(1, 60))]) + "\n"
    (tmp_path / "short.svm").write_text(line * 10000)
    (tmp_path / "long.svm").write_text(line * 40000)

    def peak(name, **settings):
        sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=1)
        tracemalloc.start()
        for X, y in aw.data.read(tmp_path / name, n_features=60, **settings):
            sampler.run(X, y, trace=False)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most, sampler.round

    peak("short.svm", progress=True)
    (few, _), (many, rounds) = peak("short.svm"), peak("long.svm")
    assert rounds == 40000
    assert many < 2.5 * few  # four times as long; how many blocks are parsed ahead varies with the load
    assert "short.svm" in capfd.readouterr().err


def test_a_stream_feeds_everything_that_takes_one(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    lines = [
        f"{label} " + " ".join(f"{j}:{v!r}" for j, v in enumerate(row.tolist(), 1))
        for label, row in zip(y, X, strict=True)
    ]
    (tmp_path / "a.svm").write_text("\n".join(lines))
    stream = aw.data.read(tmp_path / "a.svm")
    progress = aw.evaluate.progressive(aw.Sampler(aw.Perceptron(), aw.Always(), seed=1), stream, window=100)
    model = aw.online_to_batch(aw.Sampler(aw.Perceptron(), aw.Always(), seed=1), stream, passes=2)
    direct = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1).run(sp.csr_matrix(X), y)
    assert progress.error == direct.mistakes / 300
    assert model.rounds == 600
    assert sum(X.shape[0] for X, _ in stream) == 300


@pytest.mark.parametrize("skip", [0, 1, 3, 4, 9])
def test_a_stream_goes_on_after_some_instances(tmp_path, skip):
    (tmp_path / "a.svm").write_bytes(SVMLIGHT)
    whole = aw.data.read(tmp_path / "a.svm", n_features=9).load()
    found = list(aw.data.read(tmp_path / "a.svm", n_features=9, skip=skip))
    assert sum(len(y) for _, y in found) == max(4 - skip, 0)
    if found:
        np.testing.assert_array_equal(dense(found[0][0]), dense(whole[0])[skip:])
        np.testing.assert_array_equal(found[0][1], whole[1][skip:])


@pytest.mark.parametrize("rows", [1, 3, 4, 100])
def test_the_head_of_a_stream_is_loaded(tmp_path, rows):
    (tmp_path / "a.svm").write_bytes(SVMLIGHT)
    X, y = aw.data.read(tmp_path / "a.svm").load(rows)
    np.testing.assert_array_equal(dense(X)[:, :7], np.array(ROWS)[:rows, :7])
    assert len(y) == min(rows, 4)


def test_progress_is_told_to_whoever_asks(tmp_path):
    (tmp_path / "a.svm").write_bytes(SVMLIGHT)
    heard = []
    list(aw.data.read(tmp_path / "a.svm", n_features=9, progress=heard.append))
    assert heard[-1] == len(SVMLIGHT)


LIVE = {
    "svmlight": [b"+1 1:%d\n-1 2:1\n" % k for k in (1, 2, 3)],
    "csv": [
        b"a,b,note,label\n1,0,x,1\n0,1,x,0\n",
        b'2,0,"two\nlines",1\n0,1,x,0\n',
        b'3,0,"a ""b"",\n\n",1\n0,1,x,0\n',
    ],
    "ndjson": [b'{"x": [%d, 0, 0], "y": 1}\n{"x": [0, 1, 0], "y": 0}\n' % k for k in (1, 2, 3)],
}


@pytest.mark.parametrize("format", LIVE)
def test_a_pipe_is_read_as_its_lines_come(monkeypatch, format):
    """Whoever writes may wait for what becomes of the first lines before the next ones come."""
    import os

    ours, theirs = os.pipe()
    more = {"n_features": 3} if format == "svmlight" else {"drop": "note"} if format == "csv" else {}
    with os.fdopen(ours, "rb") as end, os.fdopen(theirs, "wb", buffering=0) as writer:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(end))
        stream = iter(aw.data.read("-", format=format, **more))
        for k, lines in enumerate(LIVE[format], 1):
            writer.write(lines)
            X, y = next(stream)
            assert (X[0, 0], y.tolist()) == (k, [1, -1])
        writer.close()
        assert list(stream) == []


def test_rows_that_come_in_halves_are_put_together(monkeypatch):
    text = b"a,note,label\n" + b"".join(b'%d,"line\nof ""%d"", and more",%d\n' % (i, i, i % 2) for i in range(50))
    for size in (1, 3, 7, 64, 10_000):

        class Slow(io.RawIOBase):
            def __init__(self, size):
                self.at, self.size = 0, size

            def readable(self):
                return True

            def readinto(self, buffer):
                piece = text[self.at : self.at + min(self.size, len(buffer))]
                buffer[: len(piece)] = piece
                self.at += len(piece)
                return len(piece)

        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(Slow(size), 1)))
        X, y = aw.data.read("-", format="csv", drop="note").load()
        assert X[:, 0].tolist() == list(range(50))
        assert y.tolist() == [1.0 if i % 2 else -1.0 for i in range(50)]


def test_a_bad_row_of_a_pipe_is_named_as_in_a_file(monkeypatch, tmp_path):
    good = [f"{i},{i % 2}\n" for i in range(200)]
    good[150] = "1,2,3\n"
    text = "a,label\n" + "".join(good)
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(aw.InputError) as in_file:
        aw.data.read(tmp_path / "t.csv").load()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    with pytest.raises(aw.InputError) as in_pipe:
        aw.data.read("-", format="csv").load()
    assert str(in_pipe.value) == str(in_file.value).replace(str(tmp_path / "t.csv"), "-")


def test_a_new_format_is_one_new_module(tmp_path):
    import importlib
    import shutil
    import subprocess
    import sys

    package = pathlib.Path(importlib.import_module("askwhen").__file__).parent
    copy = pathlib.Path(shutil.copytree(package, tmp_path / "askwhen", ignore=shutil.ignore_patterns("__pycache__")))
    (copy / "data" / "formats" / "counting.py").write_text(
        "import numpy as np\n"
        "from ..format import Format\n"
        "from ..read_request import Chunk\n"
        "def chunks(request):\n"
        "    n = int(open(request.path).read())\n"
        "    yield Chunk(np.arange(float(n))[:, None], np.array([1.0, -1.0] * n)[:n])\n"
        "FORMAT = Format('counting', chunks, ('.count',))\n"
    )
    (tmp_path / "three.count").write_text("3")
    code = "from askwhen.data import read; X, y = read('three.count').load(); print(X.ravel().tolist(), y.tolist())"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "[0.0, 1.0, 2.0] [1.0, -1.0, 1.0]\n", done.stderr
    asked = [sys.executable, "-m", "askwhen", "run", "--help"]
    shown = subprocess.run(asked, cwd=tmp_path, capture_output=True, text=True)
    assert "[counting|csv|ndjson" in shown.stdout, shown.stderr


def test_the_documentation_of_read_names_every_format():
    import re

    from askwhen.data.formats import FORMATS

    assert [each.name for each in FORMATS.values()] == list(FORMATS)
    listed = re.search(r"format : {(.*)}, optional", aw.data.read.__doc__)[1]
    assert re.findall(r'"(\w+)"', listed) == list(FORMATS)


def test_vowpal_wabbit_labels_may_be_words_and_whole_numbers_stay_whole(tmp_path):
    path = tmp_path / "words.vw"
    path.write_text("sport 1.0 tag|f goal:2 ball\n\nnews |f vote\n3 |f x\n")
    X, y = aw.data.read(path, target="class").load()
    assert y.tolist() == ["sport", "news", 3.0]
    assert X.shape[0] == 3
    path.write_text("3 |f goal\n1 |f vote\n")
    _, y = aw.data.read(path, target="class").load()
    assert (y.dtype.kind, y.tolist()) == ("i", [3, 1])
    (tmp_path / "s.svmlight").write_text("3 1:2\n1 2:1\n")
    assert aw.data.read(tmp_path / "s.svmlight", target="class").load()[1].dtype.kind == "i"
    path.write_text("sport |f goal\n |f vote\n")
    with pytest.raises(aw.InputError, match="line 2, must begin with a label"):
        aw.data.read(path, target="class").load()
    with pytest.raises(aw.InputError, match="line 1, must begin with a label, a number"):
        aw.data.read(path).load()
