"""Data sets by name: from a folder, from the cache, from an address; the real ones where they are at hand."""

import functools
import hashlib
import http.server
import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import sets

SHAPES = {
    "usps": ((7291, 256), (7291,)),
    "reuters": ((13475, 262144), (13475, 120)),
    "rcv1": ((27613, 47236), (27613, 103)),
    "a9a": ((32561, 123), (32561,)),
    "w8a": ((49749, 300), (49749,)),
    "mushrooms": ((8124, 126), (8124,)),
    "svmguide1": ((3089, 4), (3089,)),
    "spambase": ((4601, 57), (4601,)),
    "elec2": ((45312, 8), (45312,)),
    "spam": ((9324, 39916), (9324,)),
    "usenet2": ((1500, 99), (1500,)),
    "digits": ((1797, 64), (1797,)),
}
POSITIVE = {"a9a": 7841, "w8a": 1479, "mushrooms": 3916, "spambase": 1813, "spam": 2387}


@pytest.mark.parametrize("name", SHAPES)
def test_every_set_is_as_its_description_says(name):
    if name != "digits" and not os.environ.get("ASKWHEN_DATA"):
        pytest.skip("ASKWHEN_DATA names no folder with the data sets")
    data = aw.data.load(name)
    assert (data.X.shape, data.y.shape) == SHAPES[name]
    if name in POSITIVE:
        assert np.count_nonzero(data.y == 1) == POSITIVE[name]
    if data.X_test is not None:
        assert data.X_test.shape == (len(data.y_test), data.X.shape[1])
    values = data.X.data if sp.issparse(data.X) else data.X
    assert np.isfinite(values).all()
    if data.y.ndim == 2:
        assert len(data.names) == data.y.shape[1]


def test_names_are_listed_and_others_refused():
    assert aw.data.names() == list(SHAPES)
    assert aw.data.load("Digits").names[9] == "9"
    with pytest.raises(aw.InputError, match="name must be one of usps, reuters"):
        aw.data.load("iris")


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A tiny data set on a real server, known by its checksum, and an empty cache."""
    (tmp_path / "site").mkdir()
    content = b"label,a\n1,0.5\n0,1.5\n"
    import gzip

    packed = gzip.compress(content, mtime=0)
    (tmp_path / "site" / "usenet2.csv.gz").write_bytes(packed)
    monkeypatch.setitem(sets.FILES, "usenet2.csv.gz", hashlib.sha256(packed).hexdigest())
    monkeypatch.delenv("ASKWHEN_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "site"))
    handler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_set_is_downloaded_once_and_checked(served, tmp_path):
    pytest.importorskip("pooch")
    pytest.importorskip("pyarrow")
    with pytest.raises(aw.InputError, match="put it into a directory that ASKWHEN_DATA names, or give url="):
        aw.data.load("usenet2")
    data = aw.data.load("usenet2", url=served)
    np.testing.assert_array_equal(data.X, [[0.5], [1.5]])
    np.testing.assert_array_equal(aw.data.load("usenet2").y, [1, -1])  # from the cache now
    kept = tmp_path / "cache" / "askwhen" / "data" / "usenet2.csv.gz"
    kept.write_bytes(b"altered")
    with pytest.raises(aw.InputError, match="is not the expected file: its SHA-256 differs"):
        aw.data.load("usenet2")
    kept.unlink()
    (tmp_path / "site" / "usenet2.csv.gz").write_bytes(b"altered")
    with pytest.raises(aw.InputError, match="could not be downloaded from"):
        aw.data.load("usenet2", url=served)
    assert not kept.exists()
    for url in (3, "here", "file:///tmp"):
        with pytest.raises(aw.InputError, match="url must be an address"):
            aw.data.load("usenet2", url=url)
    with pytest.raises(aw.InputError, match="could not be downloaded from"):
        aw.data.load("elec2", url=served)


def test_a_folder_comes_before_the_cache(served, tmp_path, monkeypatch):
    pytest.importorskip("pyarrow")
    monkeypatch.setenv("ASKWHEN_DATA", str(tmp_path / "site"))
    assert aw.data.load("usenet2").X.shape == (2, 1)
