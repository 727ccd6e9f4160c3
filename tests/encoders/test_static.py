"""The static vectors of the extra text: what they are, that they stay the same, and that any text is taken."""

import csv
import gzip
import importlib.util
import os
import pathlib
import subprocess
import sys

import numpy as np
import pytest

from askwhen.encoders import is_installed, load

if not is_installed():
    pytest.skip("static vectors need an extra: pip install 'askwhen[text]'", allow_module_level=True)

TEXTS = ["the goalkeeper saved a penalty", "Shares fell.", "été à la plage", "😀😀", "a\0b", "  padded  ", "数据", "x"]
FORKING = """
import os, sys
from askwhen.encoders import load
encoder = load()
before = encoder.encode(["a text"] * 2000)
child = os.fork()
if child == 0:
    os._exit(0 if (encoder.encode(["a text"] * 2000) == before).all() else 1)
assert os.waitpid(child, 0)[1] == 0
assert "wordllama" not in sys.modules
"""
DIGEST = """
import hashlib
from askwhen.encoders import load
print(hashlib.sha256(load().encode([f"text {i} of many" for i in range(3000)]).tobytes()).hexdigest())
"""


def ran(script, parallel=None):
    """What a process with this setting of the tokenizer's threads printed; it must not complain."""
    given = {name: value for name, value in os.environ.items() if name != "TOKENIZERS_PARALLELISM"}
    given |= {} if parallel is None else {"TOKENIZERS_PARALLELISM": parallel}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=given)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def bits(vectors):
    return vectors.view(np.uint32)


def test_a_vector_is_the_mean_of_the_vectors_of_the_tokens():
    import safetensors.numpy
    import tokenizers

    folder = pathlib.Path(importlib.util.find_spec("wordllama").submodule_search_locations[0])
    table = safetensors.numpy.load_file(folder / "weights/l2_supercat_256.safetensors")["embedding.weight"]
    tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizers/l2_supercat_tokenizer_config.json"))
    wanted = [table[tokenizer.encode(each, add_special_tokens=False).ids].astype(float).mean(axis=0) for each in TEXTS]
    found = load().encode(TEXTS)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_a_text_has_the_same_bits_alone_and_in_any_batch():
    encoder = load()
    texts = [" ".join(TEXTS[: i % 8 + 1]) + "!" * (i % 5) for i in range(3000)]
    together = encoder.encode(texts)
    assert (bits(encoder.encode(texts[::-1])[::-1]) == bits(together)).all()
    for i in (0, 1, 7, 1500, 2999):
        assert (bits(encoder.encode([texts[i]])[0]) == bits(together[i])).all()


def test_blank_texts_are_zero():
    assert not load().encode(["", " ", "\n\t"]).any()


def test_any_text_has_a_finite_vector():
    strange = ["\ud800", "a\udfffb", "\0", "\0" * 50_000, "\ufeff", "‮abc", "a" * 1_000_000, "\U0010ffff"]
    found = load().encode(strange)
    assert np.isfinite(found).all()
    assert found.any(axis=1).all()


def test_of_a_long_text_the_first_10000_characters_count():
    long = "the price of oil fell. " * 50_000
    assert (load().encode([long]) == load().encode([long[:10_000]])).all()
    assert (load().encode([long]) != load().encode([long[:9_000]])).any()


def test_special_tokens_written_in_a_text_do_no_harm():
    found = load().encode(["</s>", "<s>", "<unk>"])
    assert np.isfinite(found).all()
    assert not found[2].any()  # there is no other token in it


def test_it_has_a_name_a_checksum_and_a_width():
    encoder = load()
    assert (encoder.name, encoder.width) == ("static", 256)
    assert encoder.checksum == load("static").checksum
    assert encoder.checksum == "eb77ae2d5183eb3cbed41fc897dac09430b0d6a014074e34beb926110f3b4994"
    encoder.check({"name": "static", "checksum": encoder.checksum, "width": 256})


def test_a_process_may_fork_after_it_has_encoded():
    assert ran(FORKING) == ""


def test_threads_of_the_tokenizer_change_no_bit():
    assert ran(DIGEST, "true") == ran(DIGEST, "false") == ran(DIGEST)


def test_the_encoder_separates_news_by_their_topic():
    folder = os.environ.get("ASKWHEN_DATA")
    if not folder or not pathlib.Path(folder, "agnews.csv.gz").exists():
        pytest.skip("set ASKWHEN_DATA to a folder that holds agnews.csv.gz")
    from sklearn.linear_model import LogisticRegression

    with gzip.open(pathlib.Path(folder, "agnews.csv.gz"), "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    labels = np.array([row["label"] for row in rows])
    known = np.random.default_rng(0).permutation(len(rows)) < len(rows) // 20
    vectors = load().encode(row["text"] for row in rows)
    model = LogisticRegression(max_iter=1000).fit(vectors[known], labels[known])
    assert model.score(vectors[~known], labels[~known]) > 0.78  # words counted by hash_text reach 0.70
