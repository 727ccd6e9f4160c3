"""Files that hold a sampler: whole, truncated, altered, foreign, and crashes in the middle of writing one."""

import gzip
import hashlib
import json
import os
import struct
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.snapshot import file_format, open_questions
from tests.contracts.test_sampler_contract import learnt
from tests.forking import FORKS
from tests.snapshot.saving import save_over_and_over
from tests.soak import times
from tests.streams import STREAMS
from tests.table import ROWS

GOLDEN = Path(__file__).parents[1] / "golden"


@pytest.fixture
def saved(tmp_path):
    sampler = aw.paper("LASEC-SS", b=1.0, c=30.0, a=0.2, seed=1)
    X, y = STREAMS["noisy"](0)
    sampler.run(X, y)
    sampler.ask(np.zeros(6))
    sampler.save(tmp_path / "model.askwhen")
    return tmp_path / "model.askwhen"


def test_arrays_and_header_come_back_as_they_were():
    header = {"a": [1, None, 2.5, float("inf")], "big": 2**127}
    arrays = {"x": np.arange(6.0).reshape(2, 3), "empty": np.zeros((0, 4)), "flag": np.array([True]), "n": np.array(7)}
    found_header, found = file_format.unpack(file_format.pack(header, arrays))
    assert header == found_header
    for name, array in arrays.items():
        np.testing.assert_array_equal(array, found[name], strict=True)
        assert found[name].flags.writeable
        assert found[name].base is None or found[name].base.flags.writeable


def test_every_truncation_is_refused(saved, tmp_path):
    content = saved.read_bytes()
    for length in [*range(0, len(content), 97), len(content) - 1]:
        (tmp_path / "cut").write_bytes(content[:length])
        with pytest.raises(aw.SnapshotError, match=r"load: .*cut (is not an askwhen snapshot|is truncated)"):
            aw.Sampler.load(tmp_path / "cut")


def test_every_altered_byte_is_refused(saved, tmp_path):
    content = saved.read_bytes()
    rng = np.random.default_rng(0)
    for place in [0, 8, 9, 12, 20, len(content) - 1, *rng.integers(len(content), size=200)]:
        altered = bytearray(content)
        altered[place] ^= 1 << rng.integers(8)
        (tmp_path / "altered").write_bytes(altered)
        with pytest.raises(aw.SnapshotError):
            aw.Sampler.load(tmp_path / "altered")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 a zip file", b"\x80\x04\x95 a pickle", b"ASKWHEN\0", b"{}" * 99])
def test_foreign_files_are_refused(content, tmp_path):
    (tmp_path / "foreign").write_bytes(content)
    with pytest.raises(aw.SnapshotError, match="foreign"):
        aw.Sampler.load(tmp_path / "foreign")


@pytest.mark.parametrize("number", [0, 3, 2**31])
def test_a_newer_format_is_refused_by_its_number(number, saved):
    body = bytearray(saved.read_bytes()[:-32])
    struct.pack_into("<I", body, 8, number)
    saved.write_bytes(bytes(body) + hashlib.sha256(body).digest())
    with pytest.raises(
        aw.SnapshotError, match=f"has format {number}, and this version of askwhen reads formats 1 to 2"
    ):
        aw.Sampler.load(saved)


def test_zeros_are_not_stored_and_come_back_with_every_bit():
    rng = np.random.default_rng(0)
    text = np.zeros((30, 2**14))
    text[rng.integers(30, size=99), rng.integers(2**14, size=99)] = rng.standard_normal(99)
    text[3, 5:8] = -0.0, np.nan, 5e-324
    arrays = {"text": text, "none": np.zeros(2**16), "counts": np.zeros(2**12, np.int64), "dense": np.ones(9)}
    arrays["counts"][7] = -(2**62)
    content = file_format.pack({}, arrays)
    assert len(content) < 3000
    for name, found in file_format.unpack(content)[1].items():
        assert found.tobytes() == arrays[name].tobytes()
        assert (found.shape, found.dtype) == (arrays[name].shape, arrays[name].dtype)


def test_a_file_without_many_zeros_has_the_first_format(saved):
    assert file_format.pack({}, {"x": np.ones(9)})[8:12] == b"\1\0\0\0"
    assert file_format.pack({}, {"x": np.zeros(99)})[8:12] == b"\2\0\0\0"


def test_a_model_of_many_classes_takes_no_room_for_features_never_seen(tmp_path):
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 2**18), density=1e-4, format="csr", rng=rng)
    sampler = aw.OneVsRest(list(range(8)), aw.Perceptron(), aw.Always(), prepare=aw.Prepare(), seed=0)
    sampler.run(X, rng.integers(8, size=60))
    sampler.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_size < 300_000
    again = aw.OneVsRest.load(tmp_path / "model")
    assert sampler.margins(X).tobytes() == again.margins(X).tobytes()
    assert sampler.ask(X[:1]) == again.ask(X[:1])


def test_a_file_of_another_class_is_refused_by_the_name_of_the_right_one(saved, tmp_path):
    X, y = STREAMS["noisy"](0, n=20)
    several = aw.OneVsRest(["a", "b"], aw.Perceptron(), seed=0)
    several.save(tmp_path / "several")
    assert (type(aw.OneVsRest.load(tmp_path / "several")), type(aw.Sampler.load(tmp_path / "several"))) == (
        aw.OneVsRest,
        aw.Sampler,
    )
    with pytest.raises(aw.SnapshotError, match="without classes; use Sampler.load"):
        aw.OneVsRest.load(saved)
    aw.online_to_batch(aw.Sampler(aw.Perceptron(), aw.Always(), seed=0), X, y).save(tmp_path / "batch")
    right = {"Sampler": saved, "BatchClassifier": tmp_path / "batch"}
    for name, path in right.items():
        for other in right:
            if other == name:
                assert type(getattr(aw, other).load(path)).__name__ == name
                continue
            with pytest.raises(aw.SnapshotError, match=f"holds a {name}; use {name}.load, not {other}.load"):
                getattr(aw, other).load(path)


def test_a_task_that_was_played_alone_can_be_saved_with_the_others(tmp_path):
    """What it kept of its own lies in a larger store than the shared one."""
    X, y = STREAMS["noisy"](0, n=60)
    sampler = aw.Sampler(aw.Perceptron(kernel=aw.Linear()), aw.Always(), seed=0)
    sampler.run(X, np.column_stack([y, -y]))
    for x, label in zip(X, y, strict=True):
        sampler.tasks[0].tell(sampler.tasks[0].ask(x), -label)
    sampler.run(X[:1], np.column_stack([y[:1], -y[:1]]))
    sampler.save(tmp_path / "model")
    again = aw.Sampler.load(tmp_path / "model")
    np.testing.assert_array_equal(sampler.tasks[0].margins(X), again.tasks[0].margins(X))


def test_well_packed_nonsense_is_refused(saved, tmp_path):
    header, arrays = file_format.read(saved)
    without = {name: array for name, array in arrays.items() if name != "learner.Q"}
    wrong = [
        ({}, arrays),
        (header | {"parts": [["Pickle", {}], None, None]}, arrays),
        (header | {"parts": [["Lasec", {"b": 3, "c": 1}], *header["parts"][1:]]}, arrays),
        (header | {"parts": [["Lasec", {"z": 3}], *header["parts"][1:]]}, arrays),
        (header | {"parts": ["os.system", *header["parts"][1:]]}, arrays),
        (header | {"coins": {"bit_generator": "MT19937"}}, arrays),
        (header, without),
        (header, without | {"learner.Q": np.zeros(3)}),
        (header, without | {"learner.Q": np.zeros((2, 2))}),
        (header, without | {"learner.Q": np.zeros((6, 6), np.int64)}),
    ]
    for content in wrong:
        file_format.write(saved, *content)
        with pytest.raises(aw.SnapshotError):
            aw.Sampler.load(saved)


def test_object_arrays_are_never_written_nor_read():
    with pytest.raises(aw.SnapshotError):
        file_format.unpack(file_format.pack({}, {"x": np.array(["text"])}))


def test_missing_and_unwritable_places_are_named(tmp_path):
    with pytest.raises(aw.SnapshotError, match="nowhere"):
        aw.Sampler.load(tmp_path / "nowhere")
    with pytest.raises(aw.SnapshotError, match="cannot write"):
        aw.paper("PA").save(tmp_path / "no" / "folder" / "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(aw.SnapshotError, match="cannot write"):
        aw.paper("PA").save(tmp_path / "folder")
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


def test_a_failed_save_leaves_the_old_file_and_no_other(saved, monkeypatch):
    before = saved.read_bytes()

    def full(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(aw.SnapshotError, match="No space left"):
        aw.Sampler.load(saved).save(saved)
    assert before == saved.read_bytes()
    assert [saved] == list(saved.parent.iterdir())


def test_killed_while_saving_over_and_over_leaves_a_whole_file(tmp_path):
    """A real process, really killed, at a hundred different moments."""
    path = tmp_path / "model.askwhen"
    for moment in range(times(12, 100)):
        ours, theirs = FORKS.Pipe()
        process = FORKS.Process(target=save_over_and_over, args=(path, theirs))
        process.start()
        ours.recv()
        process.join(0.002 * moment)
        process.kill()
        process.join()
        sampler = aw.Sampler.load(path)
        assert sampler.round >= 1
        assert len(sampler.pending) == sampler.round


def test_the_file_has_the_permissions_of_any_new_file_and_keeps_them(tmp_path):
    (tmp_path / "plain").touch()
    sampler = aw.paper("PA", seed=1)
    sampler.save(tmp_path / "model")
    assert (tmp_path / "plain").stat().st_mode == (tmp_path / "model").stat().st_mode
    (tmp_path / "model").chmod(0o640)
    sampler.save(tmp_path / "model")
    assert (tmp_path / "model").stat().st_mode & 0o777 == 0o640


def test_a_sampler_that_has_seen_nothing_can_be_saved(tmp_path):
    aw.paper("SEL-P", b=1.0, seed=4).save(tmp_path / "model")
    X, y = STREAMS["noisy"](0)
    expected, trace = aw.paper("SEL-P", b=1.0, seed=4).run(X, y), aw.Sampler.load(tmp_path / "model").run(X, y)
    np.testing.assert_array_equal(expected.coin, trace.coin)


def test_a_default_sampler_of_the_first_release_goes_on_with_its_learner_and_its_rule(tmp_path):
    """layout-2.json has the rounds in which the first release itself asked, after loading the same file."""
    rng = np.random.default_rng(11)
    X = np.round(rng.standard_normal((600, 4)), 3)
    y = np.where(X[:, 0] + 0.3 * X[:, 1] > 0, 1, -1)
    (tmp_path / "old").write_bytes(gzip.decompress((GOLDEN / "layout-2.askwhen.gz").read_bytes()))
    sampler = aw.Sampler.load(tmp_path / "old")
    assert (sampler.learner, sampler.rule) == (aw.AutoLasec(), aw.BudgetRule(0.2, spread=False))
    trace = sampler.run(X[301:], y[301:])
    assert np.flatnonzero(trace.queried).tolist() == json.loads((GOLDEN / "layout-2.json").read_text())
    sampler.save(tmp_path / "new")
    assert aw.Sampler.load(tmp_path / "new").rule == sampler.rule


def golden_sampler(name):
    """The sampler whose snapshot of format 1 is kept for ever."""
    X, y = STREAMS["noisy"](0, n=40, d=3)
    sampler = ROWS[name].build(7)
    sampler.run(X[:30], y[:30])
    for x in X[30:]:
        sampler.ask(x)
    return sampler


def test_old_snapshots_stay_readable():
    """The files were written by ``python -m tests.test_snapshot`` when format 1 was new, and must never change."""
    found = json.loads((GOLDEN / "format-1.json").read_text())
    assert set(found) <= set(ROWS)
    assert len(found) >= 30
    for name, expected in found.items():
        sampler = aw.Sampler.load(GOLDEN / expected["file"])
        assert sampler.round == 40
        assert expected["pending"] == [ask.round for ask in sampler.pending]
        np.testing.assert_allclose(learnt(sampler), expected["learnt"], rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(sampler.ask([0.5, -1.0, 2.0]).margin, expected["next"], rtol=1e-12, err_msg=name)


def write_golden():
    described = {}
    for number, name in enumerate(ROWS):
        sampler = golden_sampler(name)
        file = f"format-1-{number:02}.askwhen"
        sampler.save(GOLDEN / file)
        described[name] = {
            "file": file,
            "pending": [ask.round for ask in sampler.pending],
            "learnt": learnt(sampler).tolist(),
            "next": sampler.ask([0.5, -1.0, 2.0]).margin,
        }
    (GOLDEN / "format-1.json").write_text(json.dumps(described, indent=1))


if __name__ == "__main__":
    write_golden()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"classes": "open"},
        {"learner": aw.Lasec(b=1.0, c=300.0), "rule": aw.MarginRule(1.0)},
        {"labels": ("ham", "spam")},
    ],
    ids=["default", "classes", "uncertain", "named"],
)
def test_open_questions_are_the_same_whether_they_are_read_at_once_or_each(arguments, tmp_path, monkeypatch):
    sampler, rng = aw.Sampler(seed=1, **arguments), np.random.default_rng(0)
    named = "classes" in arguments or "labels" in arguments
    for i, x in enumerate(rng.standard_normal((40, 3))):
        ask = sampler.ask(x)
        if ask.query and i % 2:
            sampler.tell(ask, ("spam" if x[0] > 0 else "ham") if named else (1 if x[0] > 0 else -1))
    sampler.save(tmp_path / "saved")
    looked = []
    are_plain = open_questions._are_plain
    monkeypatch.setattr(open_questions, "_are_plain", lambda *given: looked.append(are_plain(*given)) or looked[-1])
    at_once = aw.Sampler.load(tmp_path / "saved").engine.pending
    monkeypatch.setattr(open_questions, "_are_plain", lambda *_: False)
    each = aw.Sampler.load(tmp_path / "saved").engine.pending
    assert looked == [True]
    assert len(each) > 2
    assert str(at_once) == str(each)
    assert len({id(ask.origin) for ask, _, _ in at_once.values()}) == 1
