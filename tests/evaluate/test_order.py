"""Labels that come sorted or in blocks are told; streams that are mixed, or drift, are not."""

import itertools
import re

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.labels import signs
from askwhen.evaluate import order_warning, progressive

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("share", [0.02, 0.3, 0.5])
def test_sorted_labels_and_blocks_are_told_and_mixed_ones_are_not(share):
    y = np.where(np.arange(5000) < share * 5000, 1.0, -1.0)
    assert "they change once in 5,000 rows, where in a mixed order they would change about " in order_warning(y)
    assert f"about {2 * share * (1 - share) * 5000:,.0f} times" in order_warning(y)
    assert all(order_warning(RNG.permutation(y)) is None for _ in range(50))
    blocks = np.repeat(np.where(RNG.random(50) < 0.5, 1.0, -1.0), 100)
    assert "come sorted or in blocks" in order_warning(blocks)


def test_few_labels_and_a_single_label_are_never_told():
    for n in range(1, 40):
        assert order_warning(np.repeat([1.0, -1.0], [n // 2, n - n // 2])) is None
    assert order_warning(np.ones(100_000)) is None
    assert order_warning(np.append(np.full(100_000, -1.0), np.ones(9))) is None


def test_the_order_of_a_stream_is_that_of_its_chunks():
    X, y = RNG.standard_normal((900, 3)), np.sort(np.where(RNG.random(900) < 0.4, 1.0, -1.0))
    whole = progressive(aw.paper("SEL-P", b=1.0, seed=0), X, y).order_warning
    assert re.search(r"they change once in 900 rows, .* shuffle the stream, unless this is its order in time\.$", whole)
    cuts = [0, 1, 350, 700, 900]
    chunks = ((X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts))
    assert progressive(aw.paper("SEL-P", b=1.0, seed=0), chunks).order_warning == whole
    made, heard = aw.paper("SEL-P", b=1.0, seed=0), []
    assert progressive(made, X[:300], y[:300], watch=heard.append).order_warning is None  # all are of one label
    assert progressive(made, X[300:], y[300:], before=heard[0]).order_warning == whole
    mixed = RNG.permutation(900)
    assert progressive(aw.paper("SEL-P", b=1.0, seed=0), X[mixed], y[mixed]).order_warning is None


def test_tasks_are_judged_together():
    Y = np.eye(3)[np.repeat([0, 1, 2], 300)] * 2 - 1
    assert "they change 4 times in 900 rows" in order_warning(Y)
    assert order_warning(Y[RNG.permutation(900)]) is None


@pytest.mark.parametrize(
    ("name", "told"),
    [("elec2", False), ("usenet2", False), ("spam", False), ("a9a", False), ("spambase", True), ("w8a", True)],
)
def test_real_streams_that_drift_are_not_told_and_sorted_files_are(name, told):
    try:
        y = signs(aw.data.load(name).y, None, name, 0)
    except aw.InputError:
        pytest.skip(f"{name} is not here")
    assert (order_warning(y) is not None) == told
    assert order_warning(RNG.permutation(y)) is None
