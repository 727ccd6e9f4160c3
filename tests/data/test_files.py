"""Pipes, encodings, and processes that end while something is wrong with a file."""

import bz2
import contextlib
import gzip
import lzma
import os
import subprocess
import sys
import threading

import pytest

import askwhen as aw
from askwhen.data import files
from askwhen.data.hashing import hash_name
from askwhen.data.schema import ANY_GAP
from tests.soak import times

pytest.importorskip("pyarrow")

WORDS = "a,body,y\n" + "".join(f"{i},some wörds {i % 7},{i % 2}\n" for i in range(300))
ENDINGS = {
    "an error": "read('words.csv', text='bodi').load()",
    "an error that is kept": "try:\n    read('words.csv', text='b').load()\nexcept ValueError as e:\n    kept = e",
    "a file in Latin-1": "read('latin.csv').load()",
    "a stream that is kept": "stream = iter(read('words.csv', text='body'))\nnext(stream)",
}


def open_files():
    return [os.readlink(each.path) for each in os.scandir("/proc/self/fd") if os.path.exists(each.path)]


@pytest.fixture
def tables(tmp_path):
    (tmp_path / "words.csv").write_text(WORDS)
    (tmp_path / "latin.csv").write_bytes(WORDS.encode("latin-1"))
    return tmp_path


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="open files are not listed here")
def test_an_error_leaves_no_file_open_though_it_is_kept(tables):
    (tables / "long.csv").write_text("a,body,y\n" + "1,some words,0\n" * 400_000)
    with pytest.raises(aw.InputError, match="column 'bodi'") as kept:
        aw.data.read("long.csv", text="bodi").load()
    assert str(tables / "long.csv") not in open_files()
    assert kept.value.__traceback__ is not None
    stream = iter(aw.data.read("long.csv", text="body", n_features=8))
    next(stream)
    del stream  # abandoned halfway
    assert str(tables / "long.csv") not in open_files()


def test_no_thread_of_arrow_ever_runs_python(tmp_path):
    """A thread that reads ahead from a Python file is one that hangs or aborts when the interpreter ends."""
    rows = b"1.5,some words and more of them,0\n" * 2_000_000
    (tmp_path / "long.csv.xz").write_bytes(lzma.compress(b"a,body,y\n" + rows, preset=0))
    strange, ended, before = set(), threading.Event(), {*sys._current_frames()}  # those of whoever runs the tests

    def watch():
        while not ended.wait(0.002):
            known = threading.enumerate()
            running = {*sys._current_frames()}
            strange.update(running - before - {thread.ident for thread in (*known, *threading.enumerate())})

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        assert sum(len(y) for _, y in aw.data.read("long.csv.xz", drop="body")) == 2_000_000
    finally:
        ended.set()
        watching.join()
    assert strange == set()


def test_processes_end_under_load_whatever_is_wrong_with_a_file(tables):
    """What reads ahead while the interpreter ends would hang or abort."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2)]
    try:
        for _ in range(times(1, 200)):
            started = {
                what: subprocess.Popen(
                    [sys.executable, "-c", f"from askwhen.data import read\n{code}"], stderr=subprocess.PIPE, cwd=tables
                )
                for what, code in ENDINGS.items()
            }
            for what, each in started.items():
                said = each.communicate(timeout=120)[1].decode()
                assert (each.returncode, "InputError" in said) == ((0, False) if "kept" in what else (1, True))
    finally:
        for each in busy:
            each.kill()
            each.wait()


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize(
    ("name", "text", "settings"),
    [
        ("t.csv", "a,y\n1,1\n2,0\n", {"missing": "refuse"}),
        ("t.ndjson", '{"x": [1], "y": 1}\n{"x": [2], "y": 0}\n', {}),
        ("t.svm", "+1 1:1\n-1 1:2\n", {"n_features": 1}),
    ],
)
def test_a_named_pipe_is_read_in_order(tmp_path, name, text, settings, suffix):
    path = tmp_path / (name + suffix)
    os.mkfifo(path)
    writer = threading.Thread(
        target=lambda: path.write_bytes(gzip.compress(text.encode()) if suffix else text.encode())
    )
    writer.start()
    X, y = aw.data.read(path, **settings).load()
    writer.join()
    assert (X.toarray() if hasattr(X, "toarray") else X).tolist() == [[1], [2]]
    assert y.tolist() == [1, -1]


def test_a_descriptor_is_read_as_its_lines_come():
    ours, theirs = os.pipe()
    stream = aw.data.read(f"/dev/fd/{ours}", format="csv", missing="refuse", progress=lambda _: None)
    assert stream.schema is None  # what was read to find out could not be read again
    os.write(theirs, b"a,y\n1,1\n")
    chunks = iter(stream)
    assert next(chunks)[0].tolist() == [[1]]
    assert stream.names == ("a",) == stream.schema.names
    os.write(theirs, b"2,0\n")
    os.close(theirs)
    assert next(chunks)[0].tolist() == [[2]]
    os.close(ours)


def test_what_cannot_be_read_in_order_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.svm")
    with pytest.raises(aw.InputError, match="give n_features=, since .*pipe.svm can be read only once"):
        list(aw.data.read(tmp_path / "pipe.svm"))
    os.mkfifo(tmp_path / "pipe.parquet")
    with pytest.raises(aw.InputError, match="a Parquet file must be a plain file"):
        aw.data.read(tmp_path / "pipe.parquet").load()
    with pytest.raises(aw.InputError, match="is a directory, not a file"):
        aw.data.read(tmp_path, format="csv")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "utf-16-le", "cp1252", "utf-8", "utf-8-sig"])
@pytest.mark.parametrize("size", [3, 1 << 22])
def test_files_of_text_in_every_encoding(tmp_path, monkeypatch, encoding, size):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, size))
    (tmp_path / "t.csv").write_bytes("größe,mail,label\n1.5,Grüße!,ja\n2,naïve,nein\n".encode(encoding))
    (tmp_path / "t.ndjson").write_bytes('{"mail": "Grüße!", "label": "ja"}\n'.encode(encoding))
    stream = aw.data.read("t.csv", text="mail", positive="ja", n_features=5000, encoding=encoding)
    X, y = stream.load()
    assert stream.names == ("größe", ANY_GAP)
    assert X[0, 2 + hash_name("grüße", 5000)] == 1
    assert y.tolist() == [1, -1]
    X, _ = aw.data.read("t.ndjson", text="mail", positive="ja", n_features=5000, encoding=encoding).load()
    assert X[0, hash_name("grüße", 5000)] == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_utf_16_is_seen_from_its_byte_order_mark(tmp_path, encoding, suffix):
    mark = "" if encoding == "utf-16" else "\ufeff"
    for name, text in (("t.csv", "größe,label\n1.5,ja\n2,nein\n"), ("t.ndjson", '{"größe": 1.5, "label": "ja"}\n')):
        content = (mark + text).encode(encoding)
        (tmp_path / (name + suffix)).write_bytes(gzip.compress(content) if suffix else content)
        stream = aw.data.read(name + suffix, positive="ja")
        assert stream.load()[0][0].tolist() == [1.5, 0]
        assert stream.names == ("größe", ANY_GAP)


def test_a_byte_order_mark_is_passed_over(tmp_path):
    for name, text in (
        ("a.svm", "1 1:1\n"),
        ("a.csv", "a,y\n1,1\n"),
        ("a.ndjson", '{"x": [1], "y": 1}'),
        ("a.vw", "1|f a"),
    ):
        (tmp_path / name).write_text(text, "utf-8-sig")
        assert aw.data.read(name).load()[1].tolist() == [1]


@pytest.mark.parametrize("body", ["café,1\n", "x,1\n" * 400_000 + "café,1\n"])
def test_what_is_not_in_utf_8_is_refused_with_the_cure(tmp_path, body):
    (tmp_path / "t.csv").write_bytes(f"mail,label\n{body}".encode("latin-1"))
    cure = r"not in UTF-8(, as line [\d,]+ shows)?; name its encoding by encoding=, such as '(latin-1|utf-16)'\."
    for settings in ({"text": "mail"}, {"categories": "mail"}, {"label": "mail", "positive": "x", "numbers": "label"}):
        with pytest.raises(aw.InputError, match=cure):
            aw.data.read("t.csv", **settings).load()
    (tmp_path / "t.ndjson").write_bytes('{"mail": "café", "label": 1}\n'.encode("latin-1"))
    with pytest.raises(aw.InputError, match=cure):
        aw.data.read("t.ndjson", text="mail").load()
    for encoding in ("utf-16-be", "utf-16-le"):
        (tmp_path / "u.csv").write_bytes("a,label\n1,1\n".encode(encoding))
        with pytest.raises(aw.InputError, match=cure):
            aw.data.read("u.csv").load()
    with pytest.raises(aw.InputError, match=r"t.csv is not in ascii; give another encoding=\.$"):
        aw.data.read("t.csv", text="mail", encoding="ascii").load()


@pytest.mark.parametrize("encoding", ["klingon", "base64", 3, "\0", "undefined"])
def test_an_encoding_that_there_is_not_is_refused(tmp_path, encoding):
    (tmp_path / "t.csv").write_text("a,y\n1,1\n")
    with pytest.raises(aw.InputError, match="encoding= must be the name of an encoding"):
        aw.data.read("t.csv", encoding=encoding)
    with pytest.raises(aw.InputError, match="encoding= is only for files of text"):
        aw.data.read("t.csv", format="parquet", encoding="latin-1")


PACKED = {"gzip": gzip.compress, "bzip2": bz2.compress, "xz": lzma.compress}


@pytest.mark.parametrize("how", PACKED)
def test_compressed_bytes_are_known_by_how_they_begin(how, tables):
    packed = PACKED[how](WORDS.encode())
    expected = aw.data.read("words.csv", text="body").load()[1].tolist()
    (tables / "packed.csv").write_bytes(packed)
    assert aw.data.read("packed.csv", text="body").load()[1].tolist() == expected
    code = "import askwhen as aw; print(aw.data.read('-', format='csv', text='body').load()[1].tolist())"
    piped = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=True)
    assert piped.stdout.decode().strip() == str(expected)


def test_a_reading_that_is_given_up_ends_also_while_a_thread_starts():
    """The garbage collector closes it anywhere: also in a thread that holds the lock which others need to end."""
    parsed, closed = [], threading.Event()

    def blocks():
        try:
            yield from range(50)
        finally:
            closed.set()

    found = files.parsed_in_order(lambda block: parsed.append(block) or block, blocks())
    assert next(found) == 0

    def give_up():
        with getattr(threading, "_shutdown_locks_lock", contextlib.nullcontext()):
            found.close()

    apart = threading.Thread(target=give_up, daemon=True)
    apart.start()
    apart.join(60.0)
    assert not apart.is_alive()
    assert closed.is_set()
    assert len(parsed) < 50
