"""Stores of every version are gone on with, and those of later ones are refused."""

import tarfile

import apsw
import numpy as np
import psycopg
import pytest

import askwhen as aw
from askwhen.keyed.errors import StoreError
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.stores.sqlite_store import SqliteKeyedStore
from tests.keyed.golden import FOLDER, KINDS, log_of, play
from tests.keyed.test_worker import decided, states

LATER = "the store has version 99, of a later askwhen; this one knows versions up to 2"


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("version", [1, 2])
def test_a_golden_store_is_gone_on_with(tmp_path, version, name):
    with tarfile.open(FOLDER / f"keyed-{version}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    reference = log_of(tmp_path / "log", name)
    store = SqliteKeyedStore(str(tmp_path / name))
    before = store.counts("part-0").events
    assert 0 < before < play(tmp_path / "log", tmp_path / name, name).counts.events
    make, sparse = KINDS[name]
    assert reference.fingerprints().keys() == states(store, SamplerSpec.of(make(7), 5, sparse), "part-0").keys()
    found = [each for each in decided(store.decisions("part-0")) if "refused" not in each]
    assert len(found) == len(reference.decisions)
    for one, other in zip(reference.decisions, found, strict=True):
        assert {k: one[k] for k in ("key", "round", "prediction", "query")} == {
            k: other[k] for k in ("key", "round", "prediction", "query")
        }
    margins = [[each["margin"] for each in some] for some in (reference.decisions, found)]
    np.testing.assert_allclose(*margins, rtol=1e-9, atol=1e-12)  # bits are those of the processor that made the file


def test_a_store_of_a_later_version_is_refused_and_left_as_it_was(tmp_path):
    log_of(tmp_path / "log", "perceptron")
    play(tmp_path / "log", tmp_path / "store", "perceptron")
    path = tmp_path / "store" / "part-0.keyed"
    connection = apsw.Connection(str(path))
    connection.execute("pragma user_version = 99")
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreError, match=LATER):
        play(tmp_path / "log", tmp_path / "store", "perceptron")
    with pytest.raises(StoreError, match=LATER):
        aw.keyed.sampler(str(tmp_path / "store"), "key 1")
    assert before == path.read_bytes()


def test_a_database_of_a_later_version_is_refused(tmp_path, database):
    log_of(tmp_path / "log", "perceptron")
    play(tmp_path / "log", database, "perceptron")
    with psycopg.connect(database) as connection:
        connection.execute("insert into keyed_versions select n, now() from generate_series(3, 99) n")
    with pytest.raises(StoreError, match=LATER):
        play(tmp_path / "log", database, "perceptron")
    with pytest.raises(StoreError, match=LATER):
        aw.keyed.sampler(database, "key 1")


def test_a_store_from_before_there_were_versions_is_gone_on_with(tmp_path, database):
    log_of(tmp_path / "log", "perceptron")
    for store in (str(tmp_path / "store"), database):
        first = play(tmp_path / "log", store, "perceptron").counts
        if store == database:
            with psycopg.connect(database) as connection:
                connection.execute("drop table keyed_versions")
        else:
            with apsw.Connection(str(tmp_path / "store" / "part-0.keyed")) as connection:
                connection.execute("pragma user_version = 0")
            connection.close()
        assert first == play(tmp_path / "log", store, "perceptron").counts
