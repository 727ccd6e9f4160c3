"""The real streams of the benchmarks, from the folder that ASKWHEN_DATA names."""

from __future__ import annotations

import gzip
import lzma
import os
import re
import tarfile
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.feature_extraction.text import HashingVectorizer

Stream = tuple[Any, np.ndarray]
ROWS = 10_000
"""Longer streams are cut here."""


def folder() -> Path:
    """Where the data are."""
    if "ASKWHEN_DATA" not in os.environ:
        raise SystemExit("Set ASKWHEN_DATA to the folder with the data sets.")
    return Path(os.environ["ASKWHEN_DATA"])


def _signs(truth: Any) -> np.ndarray:
    return np.where(truth, 1.0, -1.0)


def _table(name: str) -> np.ndarray:
    with gzip.open(folder() / name, "rt") as file:
        return np.loadtxt(file, delimiter=",", skiprows=1)


def _svmlight(name: str, features: int) -> Stream:
    with lzma.open(folder() / name) as file:
        X, y = load_svmlight_file(file, n_features=features)
    return X, _signs(y > 0)


def _shuffled(X: Any, y: np.ndarray, rng: np.random.Generator) -> Stream:
    order = rng.permutation(len(y))[:ROWS]
    return X[order], y[order]


def elec2(rng: np.random.Generator) -> Stream:
    """Electricity prices, half-hourly; they drift."""
    table = _table("elec2.csv.gz")[:ROWS]
    return table[:, :-1], _signs(table[:, -1] > 0.5)


def usenet2(rng: np.random.Generator) -> Stream:
    """Messages of a user whose interests change every 300."""
    table = _table("usenet2.csv.gz")
    return table[:, :-1], _signs(table[:, -1] > 0.5)


def spam(rng: np.random.Generator) -> Stream:
    """The spam corpus in full, 39,916 words; it drifts."""
    return _svmlight("spam_corpus_9324x39916.svm.xz", 39_916)


def a9a(rng: np.random.Generator) -> Stream:
    """Census incomes, shuffled."""
    X, y = _svmlight("a9a.xz", 123)
    return _shuffled(X.toarray(), y, rng)


def w8a(rng: np.random.Generator) -> Stream:
    """Web pages, shuffled; 3 % are positive."""
    X, y = _svmlight("w8a.xz", 300)
    return _shuffled(X.toarray(), y, rng)


def mushrooms(rng: np.random.Generator) -> Stream:
    """Edible or poisonous, shuffled."""
    X, y = _svmlight("mushrooms_agaricus.svm.xz", 127)
    return _shuffled(X.toarray(), y, rng)


def spambase(rng: np.random.Generator) -> Stream:
    """Word frequencies of mails, shuffled."""
    with gzip.open(folder() / "spambase.csv.gz", "rt") as file:
        names, *rows = (line.strip().replace('"', "").split(",") for line in file)
    label = names.index("spam")
    X = np.array([[float(value) for j, value in enumerate(row) if j != label] for row in rows])
    return _shuffled(X, _signs(np.array([row[label] == "spam" for row in rows])), rng)


def svmguide1(rng: np.random.Generator) -> Stream:
    """Astroparticles, shuffled."""
    table = _table("svmguide1.csv.gz")
    return _shuffled(table[:, 1:], _signs(table[:, 0] > 0.5), rng)


def usps(rng: np.random.Generator) -> Stream:
    """Digits; which of them are positive changes every 500."""
    found = np.load(folder() / "usps.npz")
    X = np.vstack([found["X_train"], found["X_test"]]).astype(float)
    digits = np.concatenate([found["y_train"], found["y_test"]]).astype(int)
    order = rng.permutation(len(digits))
    digits = digits[order]
    y = np.empty(len(digits))
    for start in range(0, len(y), 500):
        part = slice(start, start + 500)
        y[part] = _signs(np.isin(digits[part], rng.permutation(10)[:5]))
    return X[order], y


def rcv1(rng: np.random.Generator) -> Stream:
    """News, 47,236 words; about companies or not."""
    found = np.load(folder() / "rcv1_subsets_dedup.npz")
    X = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), shape=tuple(found["shape"]))
    topic = list(found["topics"]).index("CCAT")
    y = np.unpackbits(found["Y_packed"], axis=1)[:, topic]
    return X[:ROWS].astype(float), _signs(y[:ROWS] > 0)


def reuters(rng: np.random.Generator) -> Stream:
    """Reuters-21578 in order of date; about earnings or not; words are hashed to 65,536 features."""
    stories = []
    with tarfile.open(folder() / "reuters21578.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if not member.name.endswith(".sgm") or file is None:
                continue
            for story in re.findall(r"<REUTERS.*?</REUTERS>", file.read().decode("latin-1"), re.DOTALL):
                date = re.search(r"<DATE>\s*(\d+-\w+-\d+ \d+:\d+:\d+)", story)
                if 'TOPICS="YES"' in story and date:
                    topics = re.search(r"<TOPICS>(.*?)</TOPICS>", story)
                    when = datetime.strptime(date[1], "%d-%b-%Y %H:%M:%S")
                    text = " ".join(re.findall(r"<(?:TITLE|BODY)>(.*?)</", story, re.DOTALL))
                    stories.append((when, text, topics is not None and "<D>earn</D>" in topics[1]))
    stories = sorted(stories, key=lambda story: story[0])[:ROWS]
    words = HashingVectorizer(n_features=2**16, alternate_sign=False, norm=None)
    return words.transform([text for _, text, _ in stories]).tocsr(), _signs(np.array([hit for *_, hit in stories]))


def digits(rng: np.random.Generator) -> Stream:
    """Small images, odd or even, shuffled."""
    X, y = load_digits(return_X_y=True)
    return _shuffled(X, _signs(y % 2 > 0), rng)


def synthetic(rng: np.random.Generator) -> Stream:
    """Moroshko and Crammer's: Gaussian instances, 50 features, a new target every 500."""
    X = rng.standard_normal((10_000, 50))
    targets = rng.standard_normal((20, 50))
    return X, _signs((X * np.repeat(targets, 500, axis=0)).sum(axis=1) > 0)


DRIFTING: dict[str, Callable[[np.random.Generator], Stream]] = {
    f.__name__: f for f in (elec2, usenet2, spam, usps, synthetic)
}
STILL: dict[str, Callable[[np.random.Generator], Stream]] = {
    f.__name__: f for f in (a9a, w8a, mushrooms, spambase, svmguide1, rcv1, reuters, digits)
}
