"""Words for several classes: only those of labelled rows have a line, and nothing else depends on that."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import MixedRows
from askwhen.engine.state_arrays import arrays_of
from askwhen.learners import word_classes
from askwhen.snapshot import file_format

N, WORDS = 400, 5000
LABELS = np.array(["ant", "bee", "cat", "dog", "elk", "fox"])


def texts(seed=0):
    """Counts of words, of which some say the class."""
    rng = np.random.default_rng(seed)
    y = LABELS[rng.integers(0, 6, N)]
    X = sp.random(N, WORDS, 0.002, random_state=seed, format="lil")
    for i, label in enumerate(y):
        X[i, rng.integers(0, 20) + 20 * LABELS.tolist().index(label)] = 1.0
    return X.tocsr(), y


def made(kind):
    X, y = texts()
    if kind == "words":
        return X, y
    vectors = np.random.default_rng(1).standard_normal((N, 8))
    return MixedRows.of(sp.hstack([sp.csr_matrix(vectors), X], "csr"), aw.Kinds(0, (8,), WORDS)), y


def fresh(classes="open"):
    return aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, classes=classes)


@pytest.mark.parametrize("kind", ["words", "words and a vector"])
def test_only_words_of_labelled_rows_have_a_line(kind):
    X, y = made(kind)
    sampler = fresh()
    trace = sampler.run(X, y)
    learner = sampler.engine.learner
    seen = {*X[trace.queried][:, -WORDS:].nonzero()[1].tolist()}
    assert {*np.flatnonzero(learner.where).tolist()} == seen | {WORDS}  # the last feature is always 1
    assert learner.used[0] == len(seen) + 1 <= len(learner.lines) < WORDS // 2


@pytest.mark.parametrize("kind", ["words", "words and a vector"])
@pytest.mark.parametrize("classes", ["open", LABELS.tolist()])
def test_the_room_for_lines_changes_no_bit(kind, classes, monkeypatch):
    X, y = made(kind)
    expected = fresh(classes).run(X, y)
    for room in (1, 100_000):
        monkeypatch.setattr(word_classes, "FIRST_ROOM", room)
        np.testing.assert_array_equal(fresh(classes).run(X, y).margin, expected.margin)
        live = fresh(classes)
        for i in range(100):
            ask = live.ask(X[i])
            assert ask.margin == expected.margin[i]
            if ask.query:
                live.tell(ask, y[i])


@pytest.mark.parametrize("kind", ["words", "words and a vector"])
def test_a_snapshot_with_a_line_for_every_word_is_taken_over(kind, tmp_path):
    X, y = made(kind)
    sampler = fresh()
    sampler.run(X[:300], y[:300])
    sampler.save(tmp_path / "new.askwhen")
    header, arrays = file_format.read(tmp_path / "new.askwhen")
    where, known = arrays.pop("learner.where"), np.flatnonzero(arrays_of(sampler.engine.learner, "x")["x.where"])
    arrays.pop("learner.used")
    for name in ("lines", "taken"):
        old = arrays[f"learner.{name}"]
        arrays[f"learner.{name}"] = np.zeros((len(where), *old.shape[1:]))
        arrays[f"learner.{name}"][known] = old[where[known] - 1]
    (tmp_path / "old.askwhen").write_bytes(file_format.pack(header | {"layout": 6}, arrays))
    older, newer = (aw.Sampler.load(tmp_path / f"{age}.askwhen") for age in ("old", "new"))
    assert len(older.engine.learner.lines) == len(known)
    np.testing.assert_array_equal(older.run(X[300:], y[300:]).margin, newer.run(X[300:], y[300:]).margin)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("where", lambda array: array.__setitem__(0, 10**6)),
        ("where", lambda array: array.__setitem__(0, -1)),
        ("where", lambda array: array.__setitem__(slice(0, 2), array.max())),
        ("used", lambda array: array.__setitem__(0, array[0] + 1)),
        ("used", lambda array: array.__setitem__(0, -1)),
        ("lines", lambda array: array.__setitem__(-1, 1.0)),
    ],
)
def test_lines_that_contradict_each_other_are_refused(name, change, tmp_path):
    X, y = made("words")
    sampler = fresh()
    sampler.run(X[:300], y[:300])
    sampler.save(tmp_path / "a.askwhen")
    header, arrays = file_format.read(tmp_path / "a.askwhen")
    assert arrays["learner.lines"].shape[0] > arrays["learner.used"][0]
    change(arrays[f"learner.{name}"])
    (tmp_path / "b.askwhen").write_bytes(file_format.pack(header, arrays))
    with pytest.raises(aw.errors.SnapshotError, match="contradict"):
        aw.Sampler.load(tmp_path / "b.askwhen")


def test_what_was_forgotten_has_no_line():
    X, y = made("words")
    sampler = aw.Sampler(aw.Mixture(classes=6), rule=aw.BudgetRule(0.3), seed=7, classes=LABELS.tolist())
    sampler.run(X, y)
    from askwhen.contracts.learner import restart

    restart(sampler.engine.learner)
    learner = sampler.engine.learner
    assert not learner.where.any()
    assert not learner.lines.any()
    assert learner.used[0] == 0
