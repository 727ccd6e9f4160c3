"""The cache of a file's vectors: computed once, never those of other texts, and no error where it cannot be used."""

import itertools
import pathlib
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest

from askwhen.encoders import VectorCache, cached_vectors, load
from askwhen.errors import CacheWarning
from tests.small_disk import mounted

FILE = "mails.csv"


class Numbers:
    """A function whose vectors have the last word of a text as a number; it counts the texts that it was given."""

    def __init__(self, factor=1.0):
        self.factor, self.asked = factor, 0

    def __call__(self, texts):
        self.asked += len(texts)
        words = [text.split()[-1] for text in texts]
        return [[self.factor * float(word if word != "text" else 0), len(word)] for word in words]


class Encoding:
    """A cached encoder of numbers."""

    def __init__(self, name="numbers", factor=1.0):
        self.function = Numbers(factor)
        self.encoder = load(self.function, name=name)

    def run(self, texts, size=1000, file=FILE):
        """The vectors of all texts, and how many of them were computed."""
        before = self.function.asked
        chunks = [texts[i : i + size] for i in range(0, len(texts), size)]
        found = list(cached_vectors(chunks, self.encoder, file))
        assert [len(each) for each in found] == [len(each) for each in chunks]
        vectors = np.concatenate(found) if found else np.empty((0, 2), np.float32)
        assert (vectors == self.encoder.encode(texts)).all()
        return vectors, self.function.asked - before - len(texts)


def texts_of(count, start=0):
    return [f"mail number {i}" for i in range(start, start + count)]


def cache_file(encoding):
    return pathlib.Path(f"{FILE}.numbers-{encoding.encoder.checksum[:8]}.parquet")


def test_vectors_are_computed_once():
    encoding, texts = Encoding(), texts_of(10_000)
    first, computed = encoding.run(texts)
    assert computed == 10_000
    assert [path.name for path in pathlib.Path().iterdir()] == [cache_file(encoding).name]
    again, computed = Encoding().run(texts)
    assert computed == 0
    assert (again.view(np.uint32) == first.view(np.uint32)).all()


@pytest.mark.parametrize("size", [1, 7, 4096, 5000, 20_000])
def test_the_size_of_the_chunks_does_not_matter(size):
    encoding, texts = Encoding(), texts_of(300 if size == 1 else 9000)
    encoding.run(texts, 1000)
    assert encoding.run(texts, size)[1] == 0
    cache_file(encoding).unlink()
    encoding.run(texts, size)
    assert encoding.run(texts, 1000)[1] == 0
    with pq.ParquetFile(cache_file(encoding)) as file:
        rows = [file.metadata.row_group(i).num_rows for i in range(file.metadata.num_row_groups)]
    assert max(rows) <= 4096
    assert len(rows) <= len(texts) // 4096 + 2 + len(texts) // max(size, 4096)


def test_only_changed_rows_are_computed_again():
    encoding, texts = Encoding(), texts_of(9000)
    encoding.run(texts)
    texts[5], texts[7777] = "edited 1", "edited 2"
    assert encoding.run(texts)[1] == 2
    assert encoding.run(texts)[1] == 0


def test_rows_that_were_added_are_computed():
    encoding, texts = Encoding(), texts_of(9000)
    encoding.run(texts[:5000])
    assert encoding.run(texts)[1] == 4000
    assert encoding.run(texts)[1] == 0


def test_rows_that_were_inserted_or_swapped_never_get_the_vectors_of_others():
    encoding, texts = Encoding(), texts_of(3000)
    encoding.run(texts)
    encoding.run(["first 0.5", *texts])
    assert encoding.run(texts[::-1])[1] > 2990
    assert encoding.run(texts[::-1])[1] == 0


def test_rows_that_were_removed_are_dropped_with_the_next_change():
    encoding, texts = Encoding(), texts_of(9000)
    encoding.run(texts)
    assert encoding.run(texts[:100])[1] == 0
    assert pq.read_metadata(cache_file(encoding)).num_rows == 9000
    encoding.run(["new 1", *texts[1:100]])
    assert pq.read_metadata(cache_file(encoding)).num_rows == 100


def test_a_pass_that_ends_early_keeps_the_rest():
    encoding, texts = Encoding(), texts_of(9000)
    encoding.run(texts)
    texts[0] = "edited 1"
    chunks = cached_vectors([texts[:10], texts[10:]], encoding.encoder, FILE)
    next(chunks)
    chunks.close()
    assert pq.read_metadata(cache_file(encoding)).num_rows == 9000
    assert encoding.run(texts)[1] == 0


def test_what_was_computed_before_an_error_is_stored():
    encoding, texts = Encoding(), texts_of(100)

    def chunks():
        yield texts[:60]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        list(cached_vectors(chunks(), encoding.encoder, FILE))
    assert encoding.run(texts)[1] == 40


def test_an_error_of_the_encoder_is_raised_and_spoils_nothing():
    encoding, texts = Encoding(), texts_of(100)
    with pytest.raises(ValueError, match="could not convert"):
        encoding.run([*texts, "no number"], 50)
    assert encoding.run(texts)[1] == 0


def test_a_caller_may_bring_its_own_loop():
    encoding, texts = Encoding(), texts_of(100)
    with VectorCache(encoding.encoder, FILE) as cache:
        found = [cache.encode(texts[:30]), cache.encode([]), cache.encode(texts[30:])]
    assert (np.concatenate(found) == encoding.encoder.encode(texts)).all()
    assert encoding.run(texts)[1] == 0


def test_a_caller_may_change_the_vectors_that_it_got():
    encoding, texts = Encoding(), texts_of(300)
    for changed in (texts, [*texts[:299], "edited 1"]):
        for vectors in cached_vectors([changed[:100], changed[100:]], encoding.encoder, FILE):
            vectors *= 2.0
        assert encoding.run(changed)[1] == 0


def test_rows_of_several_texts_are_given_row_by_row():
    encoding = Encoding()
    rows = list(zip(texts_of(100), texts_of(100, 500), strict=True))
    flat = list(itertools.chain.from_iterable(rows))
    vectors = encoding.run(flat, 20)[0].reshape(100, 4)
    assert (vectors[:, 2:] == encoding.encoder.encode([second for _, second in rows])).all()
    assert encoding.run(flat, 64)[1] == 0


def test_another_encoder_has_another_cache():
    one, other, texts = Encoding(), Encoding("other", 2.0), texts_of(100)
    one.run(texts)
    assert other.run(texts)[1] == 100
    assert one.run(texts)[1] == other.run(texts)[1] == 0


def test_a_cache_of_another_encoder_under_its_name_is_replaced():
    one, other, texts = Encoding(), Encoding("other", 2.0), texts_of(100)
    other.run(texts)
    pathlib.Path(f"{FILE}.other-{other.encoder.checksum[:8]}.parquet").rename(cache_file(one))
    assert one.run(texts)[1] == 100
    assert one.run(texts)[1] == 0


@pytest.mark.parametrize("content", [b"", b"PAR1", b"mine: keep", b"PAR1" * 1000])
def test_a_foreign_file_is_replaced(content):
    encoding, texts = Encoding(), texts_of(100)
    cache_file(encoding).write_bytes(content)
    assert encoding.run(texts)[1] == 100
    assert encoding.run(texts)[1] == 0


def test_a_parquet_file_of_other_columns_is_replaced():
    import pyarrow as pa

    encoding, texts = Encoding(), texts_of(100)
    encoding.run(texts)
    about = pq.read_schema(cache_file(encoding)).metadata
    strange = pa.table({"text_hash": pa.array([1.5]), "vector": ["a"]}).replace_schema_metadata(about)
    pq.write_table(strange, cache_file(encoding))
    assert encoding.run(texts)[1] == 100
    assert encoding.run(texts)[1] == 0


def test_a_damaged_cache_never_gives_wrong_vectors():
    encoding, texts = Encoding(), texts_of(9000)
    encoding.run(texts)
    sound = cache_file(encoding).read_bytes()
    rng = np.random.default_rng(0)
    for place in [*rng.integers(0, len(sound), 40), *range(len(sound) - 40, len(sound))]:
        damaged = bytearray(sound)
        damaged[place] ^= 1 << int(rng.integers(8))
        cache_file(encoding).write_bytes(damaged)
        encoding.run(texts, 3000)
    for length in rng.integers(0, len(sound), 20):
        cache_file(encoding).write_bytes(sound[:length])
        encoding.run(texts, 3000)
    assert encoding.run(texts)[1] == 0


def test_numbers_that_are_not_finite_are_computed_again():
    import pyarrow as pa

    encoding, texts = Encoding(), texts_of(100)
    encoding.run(texts)
    table = pq.read_table(cache_file(encoding))
    spoilt = pa.FixedSizeListArray.from_arrays(pa.array(np.full(200, np.nan, np.float32)), type=table["vector"].type)
    pq.write_table(pa.Table.from_arrays([table["text_hash"].combine_chunks(), spoilt], schema=table.schema), FILE)
    pathlib.Path(FILE).rename(cache_file(encoding))
    assert encoding.run(texts)[1] == 100


def test_two_passes_at_once_do_not_disturb_each_other():
    encoding, texts = Encoding(), texts_of(100)
    with VectorCache(encoding.encoder, FILE) as one, VectorCache(encoding.encoder, FILE) as other:
        for i in range(0, 100, 10):
            assert (one.encode(texts[i : i + 10]) == other.encode(texts[i : i + 10])).all()
    assert encoding.run(texts)[1] == 0
    assert len(list(pathlib.Path().iterdir())) == 1


def test_nothing_is_stored_without_a_file_or_a_checksum():
    encoding, texts = Encoding(), texts_of(10)
    assert encoding.run(texts, file=None)[1] == 10
    unnamed = load(Numbers())
    assert np.concatenate(list(cached_vectors([["a 1"], ["b 2"]], unnamed, FILE)))[:, 0].tolist() == [1.0, 2.0]
    assert list(pathlib.Path().iterdir()) == []


def test_a_folder_that_is_not_there_means_no_cache_and_one_warning():
    encoding, texts = Encoding(), texts_of(5000)
    sentence = (
        r"^Vectors of texts are not stored in gone/mails\.csv\.numbers-\w{8}\.parquet: No such file or directory\.$"
    )
    with pytest.warns(CacheWarning, match=sentence) as caught:
        assert encoding.run(texts, 10, file="gone/mails.csv")[1] == 5000
    assert len(caught) == 1
    assert list(pathlib.Path().iterdir()) == []


def test_a_folder_in_the_place_of_the_cache_means_no_cache_and_one_warning():
    encoding, texts = Encoding(), texts_of(5000)
    cache_file(encoding).mkdir()
    with pytest.warns(CacheWarning, match="Is a directory") as caught:
        assert encoding.run(texts, 1000)[1] == 5000
    assert len(caught) == 1
    assert list(pathlib.Path().iterdir()) == [cache_file(encoding)]


def test_a_cache_that_has_everything_is_only_read():
    encoding, texts = Encoding(), texts_of(5000)
    encoding.run(texts)
    before = cache_file(encoding).stat()
    encoding.run(texts, 777)
    after = cache_file(encoding).stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_full_disk_means_no_cache_and_one_warning():
    encoding, texts = Encoding(), texts_of(100_000)
    with mounted("disk", "100k") as disk:
        with pytest.warns(CacheWarning, match="No space left on device") as caught:
            assert encoding.run(texts, 1000, file=disk / FILE)[1] == 100_000
        assert len(caught) == 1
        assert list(disk.iterdir()) == []


def test_without_pyarrow_there_is_no_cache_and_one_warning(monkeypatch):
    encoding = Encoding()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.warns(CacheWarning, match=r"needs pyarrow: pip install 'askwhen\[data\]'\.$") as caught:
        assert encoding.run(texts_of(100), 10)[1] == 100
    assert len(caught) == 1
