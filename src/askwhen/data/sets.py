"""Data sets by name, from a directory of the user, from the cache, or from an address that the user gives.

The package ships none of them. Every file is checked by its SHA-256 before it is read.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import re
import tarfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError, argument
from ..system.extras import needs_extra
from .hashing import hash_text
from .stream import read

FILES = {
    "usps.npz": "f1bb1152668d3eb5cea112add51007550990e5b55d658fb17d0500e2b28de216",
    "reuters21578.tar.xz": "5e9af83fa2c000aa9279d98dde78e0a56b7f0a52d3da4833f326c18f512136c4",
    "rcv1_subsets_dedup.npz": "5de057388afd3d4a649439ea154adf47e012667dc87534b8792e1069ab5f1dfa",
    "a9a.xz": "aeb8d0d1f6a72d3f9b37958841071ec9be9c7a17656d9c45f277f55cd03999b0",
    "a9a.t.xz": "be9350ccafcf466ea8e250982a054b5493a6330a357ac44734aaa47c61c3cb62",
    "w8a.xz": "179a62145e505bfedfa416afcbb0569545cce7e07898e583fe1b1093c301b50b",
    "mushrooms_agaricus.svm.xz": "86ea85ce8e20ec2ff89aebd8eb502dd311b090694d507da5ea6e87da4e7ccffc",
    "svmguide1.csv.gz": "ace359ab8f36023c23db7b91eadbc8db285d01018abfa262c9f9cd32ce5ed0cf",
    "svmguide1.t.csv.gz": "6f28fb84df5ab3f7348a155348a4f728a6d8d33c261f91d631a7545e552c67b2",
    "spambase.csv.gz": "324953e9b68fe2dfe537664883a6201077054b4aba28c9f75beb71c3eaeab391",
    "elec2.csv.gz": "61b947f491f34cfede876573a3671fd50f027d62925bcf997de296de52e4b613",
    "spam_corpus_9324x39916.svm.xz": "e2f6f6e0ab00bfca2fb7aac7cd62576edfa2ccc8cfaa5a4e2d8e8788a3585b34",
    "usenet2.csv.gz": "9dbdb0aade026ce6025ab073575f3d9e760a152bb92aa1dcc701815c963c86cb",
}


@dataclass(frozen=True, eq=False)
class Data:
    """A data set.

    Attributes
    ----------
    X, y : array or CSR matrix, array
        Instances in their order, and labels: -1 and +1, numbers of classes, or a matrix of -1 and +1 with one column
        for each name.
    X_test, y_test : the same, or None
        Where the set comes with a part for testing.
    names : list of str
        Classes or topics.
    drifts : bool
        Whether the instances are in the order of time, and their distribution changes.
    """

    X: Any
    y: np.ndarray
    X_test: Any = None
    y_test: Any = None
    names: tuple[str, ...] = ()
    drifts: bool = False


def load(name: str, *, url: str | None = None) -> Data:
    """A data set by its name.

    Its files are taken from the directory that the environment variable ``ASKWHEN_DATA`` names, then from the cache,
    then downloaded to the cache from ``url``. Each is checked by its SHA-256.

    Parameters
    ----------
    name : str
        One of :func:`names`. "digits" comes with scikit-learn and always works.
    url : str, optional
        The address of a directory that contains the files under their names.

    Examples
    --------
    >>> import askwhen as aw
    >>> digits = aw.data.load("digits")
    >>> digits.X.shape, digits.names[:3]
    ((1797, 64), ('0', '1', '2'))
    """
    if not isinstance(name, str) or name.lower() not in _LOADERS:
        raise InputError(f"name must be one of {', '.join(_LOADERS)}, got {name!r}.", owner="load")
    return _LOADERS[name.lower()](lambda file: fetch(file, url))


def names() -> list[str]:
    """The data sets that :func:`load` knows."""
    return list(_LOADERS)


def files() -> dict[str, tuple[str, ...]]:
    """The files of each data set; none for one that comes with another package."""
    return {name: tuple(file for file in FILES if _stem(file) == name) for name in _LOADERS}


def _stem(file: str) -> str:
    """The data set that a file belongs to."""
    return re.split(r"[._]", file)[0].removesuffix("21578")


def place(file: str) -> Path | None:
    """The path of a file, in a directory of the user or in the cache, or None; its checksum is not verified."""
    return next((folder / file for folder in _folders() if (folder / file).is_file()), None)


def is_here(file: str) -> bool:
    """Whether a file is in a directory of the user or in the cache; its checksum is not verified."""
    return place(file) is not None


def _folders() -> list[Path]:
    own = [Path(os.environ["ASKWHEN_DATA"])] if os.environ.get("ASKWHEN_DATA") else []
    return [*own, downloads_folder()]


def downloads_folder() -> Path:
    """The directory of downloaded files."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "askwhen" / "data"


def fetch(file: str, url: str | None = None) -> Path:
    """The path of a file with the right checksum, downloaded to the cache if it is missing and ``url`` is given."""
    for folder in _folders():
        path = folder / file
        if path.is_file():
            _check(path, path.stat().st_mtime_ns)
            return path
    if url is None:
        raise InputError(
            f"there is no {file}: put it into a directory that ASKWHEN_DATA names, or give {argument('url')}, the "
            "address of a directory that has it.",
            owner="load",
        )
    if not isinstance(url, str) or not url.startswith(("http://", "https://", "ftp://")):
        raise InputError(f"url must be an address such as https://example.org/folder, got {url!r}.", owner="load")
    with needs_extra("data", "a download", "load"):
        import pooch
    try:
        pooch.get_logger().setLevel("ERROR")
        where = f"{url.rstrip('/')}/{file}"
        return Path(pooch.retrieve(where, f"sha256:{FILES[file]}", file, downloads_folder(), progressbar=False))
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise InputError(f"{file} could not be downloaded from {url}: {reason}.", owner="load") from error


@cache
def _check(path: Path, changed: int) -> None:
    """Refuse a file with a wrong checksum; verified again only when the file changes."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != FILES[path.name]:
        raise InputError(f"{path} is not the expected file: its SHA-256 differs; remove it.", owner="load")


Fetch = Callable[[str], Path]


def _svmlight(path: Path, features: int) -> tuple[Any, np.ndarray]:
    X, y = read(path, format="svmlight", n_features=features).load()
    return X, y


def _a9a(fetch: Fetch) -> Data:
    return Data(*_svmlight(fetch("a9a.xz"), 123), *_svmlight(fetch("a9a.t.xz"), 123))


def _w8a(fetch: Fetch) -> Data:
    return Data(*_svmlight(fetch("w8a.xz"), 300))


def _mushrooms(fetch: Fetch) -> Data:
    return Data(*_svmlight(fetch("mushrooms_agaricus.svm.xz"), 126), names=("edible", "poisonous"))


def _spam(fetch: Fetch) -> Data:
    return Data(*_svmlight(fetch("spam_corpus_9324x39916.svm.xz"), 39_916), names=("ham", "spam"), drifts=True)


def _table(path: Path, label: str, **settings: Any) -> tuple[Any, np.ndarray]:
    """A table of numbers and a label, each column as one feature."""
    with gzip.open(path, "rt") as file:
        names = file.readline().strip().replace('"', "").split(",")
    numbers = [name for name in names if name != label]
    X, y = read(path, label=label, numbers=numbers, missing="refuse", **settings).load()
    return X, y


def _svmguide1(fetch: Fetch) -> Data:
    return Data(*_table(fetch("svmguide1.csv.gz"), label="0"), *_table(fetch("svmguide1.t.csv.gz"), label="0"))


def _spambase(fetch: Fetch) -> Data:
    return Data(*_table(fetch("spambase.csv.gz"), label="spam", positive="spam"), names=("email", "spam"))


def _elec2(fetch: Fetch) -> Data:
    return Data(*_table(fetch("elec2.csv.gz"), label="class_up"), names=("down", "up"), drifts=True)


def _usenet2(fetch: Fetch) -> Data:
    return Data(*_table(fetch("usenet2.csv.gz"), label="label"), names=("boring", "interesting"), drifts=True)


def _usps(fetch: Fetch) -> Data:
    found = np.load(fetch("usps.npz"))
    X, y, X_test, y_test = (found[name] for name in ("X_train", "y_train", "X_test", "y_test"))
    return Data(X.astype(float), y.astype(int), X_test.astype(float), y_test.astype(int), tuple("0123456789"))


def _rcv1(fetch: Fetch) -> Data:
    found = np.load(fetch("rcv1_subsets_dedup.npz"))
    X = sp.csr_matrix((found["data"].astype(float), found["indices"], found["indptr"]), tuple(found["shape"]))
    topics = tuple(str(topic) for topic in found["topics"])
    Y = np.unpackbits(found["Y_packed"], axis=1)[:, : len(topics)]
    return Data(X, np.where(Y > 0, 1.0, -1.0), names=topics)


def _reuters(fetch: Fetch) -> Data:
    stories = []
    with tarfile.open(fetch("reuters21578.tar.xz")) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".sgm") else None
            if file is None:
                continue
            for story in re.findall(r"<REUTERS.*?</REUTERS>", file.read().decode("latin-1"), re.DOTALL):
                date = re.search(r"<DATE>\s*(\d+-\w+-\d+ \d+:\d+:\d+)", story)
                if 'TOPICS="YES"' in story and date:
                    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", story)
                    when = datetime.strptime(date[1], "%d-%b-%Y %H:%M:%S")
                    text = " ".join(re.findall(r"<(?:TITLE|BODY)>(.*?)</", story, re.DOTALL))
                    stories.append((when, text, re.findall(r"<D>(.*?)</D>", topics[1]) if topics else []))
    stories.sort(key=lambda story: story[0])
    known = sorted({topic for *_, found in stories for topic in found})
    Y = np.full((len(stories), len(known)), -1.0)
    for i, (*_, found) in enumerate(stories):
        Y[i, [known.index(topic) for topic in found]] = 1.0
    return Data(hash_text(text for _, text, _ in stories), Y, names=tuple(known), drifts=True)


def _digits(fetch: Fetch) -> Data:
    with needs_extra("sklearn", "the data set digits", "load"):
        from sklearn.datasets import load_digits
    X, y = load_digits(return_X_y=True)
    return Data(X, y, names=tuple("0123456789"))


_LOADERS: dict[str, Callable[[Fetch], Data]] = {
    "usps": _usps,
    "reuters": _reuters,
    "rcv1": _rcv1,
    "a9a": _a9a,
    "w8a": _w8a,
    "mushrooms": _mushrooms,
    "svmguide1": _svmguide1,
    "spambase": _spambase,
    "elec2": _elec2,
    "spam": _spam,
    "usenet2": _usenet2,
    "digits": _digits,
}
