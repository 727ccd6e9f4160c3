"""What the first release had counted of its labels: the same bounds after loading, and valid ones from then on."""

import gzip
import pathlib

import numpy as np
import pytest
import scipy.sparse as sp
from scipy import stats

import askwhen as aw
from askwhen.betting import FIRST_RELEASE
from askwhen.engine.tally.many_rounds import note_rounds
from askwhen.engine.tally.round_tally import new_tally
from askwhen.evaluate.estimation.tally_views import sides_of, window_of
from askwhen.snapshot import file_format
from askwhen.snapshot.legacy.first_release_tally import converted, unobserved
from tests.soak import times

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
GAMMA = 0.5 ** np.arange(1, 17)


def counted_then(P, side, asked, wrong):
    """The arrays of a tally as the first release filled them, and the wealth of its martingales by side, in full."""
    n, length = len(P), 5500
    old = {"rounds": np.zeros((2, 18)), "sums": np.zeros((2, 4)), "up": np.ones((2, 16)), "down": np.ones((2, 16))}
    old |= {"high": np.zeros((2, 16)), "low": np.zeros((2, 16)), "chance": np.zeros(length)}
    old |= {"side": np.zeros(length, np.int8), "status": np.zeros(length, np.int8)}
    A = np.zeros((2, 32))
    for t in range(n):
        s, p = side[t], P[t]
        old["rounds"][s, 17 if p == 0 else min(int(np.floor(-np.log2(p))), 16)] += 1
        old["chance"][t % length], old["side"][t % length] = p, s
        old["status"][t % length] = (3 if wrong[t] else 2) if asked[t] else 0
        staked = p > GAMMA
        A[s, :16] += np.where(staked, 0.0, FIRST_RELEASE[:16])
        if asked[t]:
            old["sums"][s] += [wrong[t] / p, wrong[t], 1, 0]
            if wrong[t]:
                with np.errstate(divide="ignore", invalid="ignore"):
                    A[s, :16] += np.where(staked, -np.log(np.where(staked, 1 - GAMMA / p, 1.0)), 0.0)
                    old["up"][s] *= np.where(staked, 1 - GAMMA / p, 1.0)
                A[s, 16:] -= np.log1p(GAMMA / p)
                old["down"][s] *= 1 + GAMMA / p
    return old, A


def rounds(seed, n, error=0.15):
    rng = np.random.default_rng([seed, 5])
    P = rng.choice([1.0, 0.4, 0.1, 0.02], n)
    return P, rng.integers(0, 2, n), rng.random(n) < P, rng.random(n) < error


def test_its_bounds_stay_what_they_were():
    P, side, asked, wrong = rounds(0, 900)
    P[5:9], asked[5:9] = 0.0, False
    old, A = counted_then(P, side, asked, wrong)
    tally = converted(old, 900, set())
    sides = sides_of(tally)
    np.testing.assert_allclose([each.A for each in sides], A, rtol=1e-9, atol=1e-9)
    assert [each.rounds for each in sides] == [(side == s).sum() for s in (0, 1)]
    assert sum(each.unobserved for each in sides) == 4
    both = sides[0] + sides[1]
    assert both.estimate == pytest.approx((wrong & asked)[P > 0] @ (1 / P[P > 0]))
    for which in range(3):
        window = window_of(tally, which)
        np.testing.assert_allclose(window.A, A.sum(axis=0), rtol=1e-9, atol=1e-9)
        assert (window.rounds, window.answered) == (900, asked.sum())


def test_it_goes_on_and_is_covered():
    missed, streams = 0, times(20, 100)
    for seed in range(streams):
        P, side, asked, wrong = rounds(seed, 1500)
        old, _ = counted_then(*(each[:700] for each in (P, side, asked, wrong)))
        tally, margin = converted(old, 700, set()), np.where(side == 1, 1.0, -1.0)
        for first in range(700, 1500, 50):
            here = slice(first, first + 50)
            predicted = np.where(side[here] == 1, 1, -1).astype(np.int8)
            note_rounds(tally, P[here], margin[here], predicted, asked[here], wrong[here], 0.02, False)
            negative, positive = sides_of(tally)
            low, high = (negative + positive).mistakes(0.05)
            if not low <= wrong[: first + 50].sum() <= high:
                missed += 1
                break
    assert missed <= stats.binom.ppf(0.99, streams, 0.05)


def test_rounds_of_which_nothing_is_known_count_as_both():
    found = sides_of(unobserved(200))
    both = found[0] + found[1]
    low, high = both.mistakes(0.05)
    assert (low, high, both.unobserved) == (0.0, 200.0, 200.0)


def test_a_file_of_it_has_open_questions_that_can_be_told_and_forgotten(tmp_path):
    (tmp_path / "old").write_bytes(gzip.decompress((GOLDEN / "layout-2.askwhen.gz").read_bytes()))
    sampler = aw.Sampler.load(tmp_path / "old")
    before = aw.evaluate.accuracy(sampler)
    assert before.rounds == sampler.round
    for ask in sampler.pending:
        sampler.tell(ask, ask.prediction)
    assert aw.evaluate.accuracy(sampler).overall.low >= before.overall.low
    again = aw.Sampler.load(tmp_path / "old")
    for ask in again.pending:
        again.forget(ask)
    assert aw.evaluate.accuracy(again).overall.low == pytest.approx(before.overall.low)


@pytest.mark.parametrize(
    ("name", "value"), [("tally.chance", 2.0), ("tally.status", 7), ("tally.up", 0.0), ("tally.high", np.nan)]
)
def test_what_it_cannot_have_written_is_refused(name, value, tmp_path):
    (tmp_path / "old").write_bytes(gzip.decompress((GOLDEN / "layout-2.askwhen.gz").read_bytes()))
    header, arrays = file_format.read(tmp_path / "old")
    arrays[name][:] = value
    file_format.write(tmp_path / "forged", header, arrays)
    with pytest.raises(aw.SnapshotError, match="contradict"):
        aw.Sampler.load(tmp_path / "forged")
    del arrays[name]
    file_format.write(tmp_path / "forged", header, arrays)
    with pytest.raises(aw.SnapshotError, match="contradict"):
        aw.Sampler.load(tmp_path / "forged")


def test_a_tally_is_small(tmp_path):
    tally = new_tally()
    assert sum(array.nbytes for array in tally if isinstance(array, np.ndarray)) <= 64 * 1024
    X = np.random.default_rng(0).standard_normal((30, 3))
    young = aw.Sampler(aw.Perceptron(), aw.FixedRate(0.3), seed=1)
    young.run(X, np.sign(X[:, 0]))
    young.save(tmp_path / "young")
    header, arrays = file_format.read(tmp_path / "young")
    without = {name: array for name, array in arrays.items() if not name.startswith("tally.")}
    assert len(file_format.pack(header, arrays)) - len(file_format.pack(header, without)) <= 2048


OPEN = {
    "dense": [0, 3, 9, 12, 15, 18, 27, 30, 36, 39, 42, 45, 51, 57],
    "sparse": [0, 6, 9, 12, 30, 36, 39, 51, 57],
    "classes": [0, 6, 9, 12, 30, 36, 39, 51, 57],
}
"""The questions that files of layout 4 have open, each with an array of its own."""


@pytest.mark.parametrize("name", OPEN)
def test_questions_that_were_open_in_layout_4_are_open(name, tmp_path):
    (tmp_path / "old").write_bytes(gzip.decompress((GOLDEN / f"layout-4-{name}.askwhen.gz").read_bytes()))
    sampler = aw.Sampler.load(tmp_path / "old")
    dense = np.random.default_rng(11).standard_normal((60, 4))
    sparse = sp.random(60, 12, 0.4, "csr", rng=np.random.default_rng(12))
    assert sampler.round == 60
    assert [ask.round for ask in sampler.pending] == OPEN[name] != []
    for number, (_, x, _) in sampler.engine.pending.items():
        if name == "sparse":
            np.testing.assert_array_equal(x.data, sparse[number].data)
            np.testing.assert_array_equal(x.indices, sparse[number].indices)
        elif name == "classes":
            np.testing.assert_array_equal(x, dense[number])
            assert len(sampler.engine.signs[number]) == 3
    for ask in sampler.pending:
        sampler.tell(ask, "a" if name == "classes" else 1)
    sampler.save(tmp_path / "new")
    assert aw.Sampler.load(tmp_path / "new").pending == []
