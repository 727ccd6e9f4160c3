"""The transcriptions again, on real streams, where the data is at hand (ASKWHEN_DATA names its folder)."""

import os
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from tests.reference import drifting, worst_case
from tests.reference.test_references import SEED, assert_same, coins
from tests.reference.worst_case import margin_chance


def data(name):
    folder = os.environ.get("ASKWHEN_DATA")
    path = Path(folder or ".") / name
    if folder is None or not path.exists():
        pytest.skip(f"set ASKWHEN_DATA to a folder that holds {name}")
    return path


def table(name, label, rows):
    text = np.genfromtxt(data(name), delimiter=",", names=True, dtype=None, encoding="utf-8", max_rows=rows)
    labels = np.array([str(value) for value in text[label]])
    X = np.column_stack([text[column].astype(float) for column in text.dtype.names if column != label])
    return X, np.where(labels == max(labels), 1.0, -1.0)


def unit(X):
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.where(norms > 0, norms, 1.0)


def test_lasec_on_the_electricity_market_equals_its_transcription():
    X, y = table("elec2.csv.gz", "class_up", 3000)
    X, u = unit(X), coins(len(y))
    expected = drifting.figure_1(X, y, u, 0.1, 100.0, margin_chance(0.05))
    trace = aw.paper("LASEC-SS", b=0.1, c=100.0, a=0.05, seed=SEED).run(X, y)
    assert assert_same(trace, expected, u) == len(y)


def test_the_perceptron_on_news_equals_its_transcription_in_csr():
    found = np.load(data("rcv1_subsets_dedup.npz"))
    X = sp.csr_matrix((found["data"], found["indices"], found["indptr"]), tuple(found["shape"]))[:2000]
    topics = np.unpackbits(found["Y_packed"], axis=1)[:2000, :103]
    y = np.where(topics[:, np.argmax(topics.sum(axis=0, dtype=np.int64))] > 0, 1.0, -1.0)
    used = np.unique(X.indices)
    u = coins(len(y))
    expected = worst_case.figure_1(X[:, used].toarray().astype(float), y, u, margin_chance(0.4))
    trace = aw.paper("SEL-P", b=0.4, seed=SEED).run(X, y)
    assert assert_same(trace, expected, u) == len(y)


def accuracy(learner, X, y, seed, rate=0.1):
    trace = aw.Sampler(learner, aw.BudgetRule(rate), prepare=aw.Prepare(), seed=seed).run(X, y)
    assert abs(trace.questions / trace.rounds - rate) < 0.01
    return 100 * (1 - trace.mistakes / trace.rounds)


def test_the_mixture_reaches_the_best_drift_level_of_the_electricity_market_within_half_a_point():
    X, y = table("elec2.csv.gz", "class_up", 10_000)
    auto = np.mean([accuracy(aw.AutoLasec(), X, y, seed) for seed in range(3)])
    levels = (np.inf, 1000.0, 100.0, 10.0)
    single = [np.mean([accuracy(aw.Lasec(1.0, c, update="queried"), X, y, seed) for seed in range(3)]) for c in levels]
    assert auto > max(single) - 0.5
    assert auto > 89.5  # the strongest single peer, tuned, is at 88.5
    assert max(single) - min(single) > 3  # so the choice of c matters


def test_the_default_keeps_up_with_a_user_whose_interests_switch():
    X, y = table("usenet2.csv.gz", "label", None)
    found = np.mean([accuracy(aw.AutoLasec(), X, y, seed) for seed in range(12)])
    assert found > 70.6  # the strongest single peer, tuned
