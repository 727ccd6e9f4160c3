"""Folders in the format of model2vec: their vectors by definition, and unsound ones refused by name."""

import shutil

import numpy as np
import pytest

import askwhen as aw
from askwhen.encoders import is_installed, load
from tests.encoders.folders import WORDS, vectors_by_definition, write_folder

if not is_installed():
    pytest.skip("folders of model2vec need an extra: pip install 'askwhen[text]'", allow_module_level=True)

TEXTS = ["red sky", "blue", "red red green blue sea sky", "purple", "purple sea", ""]
RNG = np.random.default_rng(1)
ROWS = RNG.standard_normal((6, 4)).astype(np.float32)
WEIGHTS = RNG.random(6)
MAPPING = np.array([0, 2, 2, 1, 0, 1])


@pytest.mark.parametrize("normalize", [None, False, True])
@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("mapping", [None, MAPPING])
def test_vectors_are_those_of_the_definition(tmp_path, normalize, weights, mapping):
    rows = ROWS if mapping is None else ROWS[:3]
    tensors = {"embeddings": rows}
    tensors |= {} if weights is None else {"weights": weights}
    tensors |= {} if mapping is None else {"mapping": mapping}
    encoder = load(write_folder(tmp_path / "tiny", normalize, **tensors))
    wanted = vectors_by_definition(TEXTS, rows, weights, mapping, normalize)
    np.testing.assert_allclose(encoder.encode(TEXTS), wanted, atol=1e-6)
    assert (encoder.name, encoder.width) == ("tiny", 4)


def test_texts_without_known_tokens_are_zero(tmp_path):
    found = load(write_folder(tmp_path, normalize=True)).encode(["purple", "", "purple rain"])
    assert found.tolist() == [[0.0] * 4] * 3


@pytest.mark.parametrize("dtype", [np.float16, np.float64, np.int8])
def test_numbers_of_other_types_are_taken(tmp_path, dtype):
    rows = (10 * ROWS).astype(dtype)
    found = load(write_folder(tmp_path, embeddings=rows)).encode(TEXTS)
    np.testing.assert_allclose(found, vectors_by_definition(TEXTS, rows), rtol=1e-6)


def test_the_table_may_be_named_as_sentence_transformers_does(tmp_path):
    rows = (
        write_folder(tmp_path / "a", embeddings=ROWS),
        write_folder(tmp_path / "b", table="embedding.weight", **{"embedding.weight": ROWS}),
    )
    first, second = (load(folder).encode(TEXTS) for folder in rows)
    assert (first == second).all()


def test_the_same_bits_alone_and_in_a_batch(tmp_path):
    encoder = load(write_folder(tmp_path, normalize=True, weights=WEIGHTS))
    texts = TEXTS * 300
    together = encoder.encode(texts)
    assert all((encoder.encode([text])[0] == together[i]).all() for i, text in enumerate(texts[:20]))
    assert (together == np.tile(together[: len(TEXTS)], (300, 1))).all()


def test_the_path_may_be_text_and_relative(tmp_path, monkeypatch):
    write_folder(tmp_path / "potion")
    monkeypatch.chdir(tmp_path / "potion")
    assert load(".").name == "potion"
    assert load(str(tmp_path / "potion") + "/").name == "potion"


def test_the_checksum_depends_on_the_content_and_on_nothing_else(tmp_path):
    first = load(write_folder(tmp_path / "a"))
    shutil.copytree(tmp_path / "a", tmp_path / "b")
    with (tmp_path / "b" / "tokenizer.json").open("a") as file:
        file.write("\n")
    (tmp_path / "b" / "README.md").write_text("a card")
    same = load(tmp_path / "b")
    assert first.checksum == same.checksum
    first.check(same.descriptor())
    others = [
        load(write_folder(tmp_path / "c", normalize=True)),
        load(write_folder(tmp_path / "d", embeddings=ROWS)),
        load(write_folder(tmp_path / "e", weights=WEIGHTS)),
        load("static"),
    ]
    path = write_folder(tmp_path / "f") / "tokenizer.json"
    path.write_text(path.read_text().replace('"sea": 5', '"ocean": 5'))
    others.append(load(tmp_path / "f"))
    assert len({first.checksum, *(each.checksum for each in others)}) == 6
    for other in others:
        with pytest.raises(aw.InputError, match=r"must be those of a \(checksum \w{8}, 4 numbers\), got \w+ \("):
            other.check(first.descriptor())


UNSOUND = {
    "no vectors": (lambda folder: (folder / "model.safetensors").unlink(), "has no model.safetensors, as a folder"),
    "nothing": (
        lambda folder: [(folder / name).unlink() for name in ("model.safetensors", "tokenizer.json")],
        "has no model.safetensors and no tokenizer.json, as a folder of model2vec has.",
    ),
    "no safetensors": (
        lambda folder: (folder / "model.safetensors").write_bytes(b"nothing of the kind"),
        "cannot read vectors from {folder}/model.safetensors: ",
    ),
    "half a file": (
        lambda folder: (folder / "model.safetensors").write_bytes((folder / "model.safetensors").read_bytes()[:-9]),
        "cannot read vectors from {folder}/model.safetensors: ",
    ),
    "no tokenizer": (
        lambda folder: (folder / "tokenizer.json").write_text("[1, 2]"),
        "{folder}/tokenizer.json does not describe a tokenizer: ",
    ),
    "bytes as tokenizer": (
        lambda folder: (folder / "tokenizer.json").write_bytes(b"\xff\xfe"),
        "{folder}/tokenizer.json does not describe a tokenizer: ",
    ),
    "no JSON": (lambda folder: (folder / "config.json").write_text("{"), "{folder}/config.json is not JSON: "),
    "a list": (lambda folder: (folder / "config.json").write_text("[]"), "{folder}/config.json must be an object in"),
    "perhaps": (
        lambda folder: (folder / "config.json").write_text('{"normalize": "perhaps"}'),
        "{folder}/config.json must be an object in which normalize is true or false.",
    ),
    "another table": (
        lambda folder: write_folder(folder, table="vectors"),
        "{folder}/model.safetensors must hold a tensor named embeddings or embedding.weight, got vectors.",
    ),
    "a vector": (
        lambda folder: write_folder(folder, embeddings=ROWS[0]),
        "embeddings of {folder}/model.safetensors must be an array of numbers of 2 dimensions, got float32 of shape "
        "(4,).",
    ),
    "no width": (lambda folder: write_folder(folder, embeddings=ROWS[:, :0]), "got float32 of shape (6, 0)."),
    "truth values": (lambda folder: write_folder(folder, embeddings=ROWS > 0), "got bool of shape (6, 4)."),
    "NaN": (
        lambda folder: write_folder(folder, embeddings=np.where(ROWS > 0, np.nan, ROWS)),
        "embeddings of {folder}/model.safetensors must hold finite numbers only.",
    ),
    "too large": (
        lambda folder: write_folder(folder, embeddings=ROWS.astype(float) * 1e300),
        "must hold finite numbers only.",
    ),
    "too few": (
        lambda folder: write_folder(folder, embeddings=ROWS[:5]),
        "{folder}/model.safetensors has vectors for 5 tokens, but {folder}/tokenizer.json has a token 5.",
    ),
    "mapping too large": (
        lambda folder: write_folder(folder, mapping=MAPPING + 4),
        "the mapping of {folder}/model.safetensors must hold the numbers of 6 rows.",
    ),
    "mapping below zero": (lambda folder: write_folder(folder, mapping=MAPPING - 1), "the numbers of 6 rows."),
    "mapping of floats": (lambda folder: write_folder(folder, mapping=MAPPING / 2), "the numbers of 6 rows."),
    "mapping too short": (lambda folder: write_folder(folder, mapping=MAPPING[:4]), "has vectors for 4 tokens, but"),
    "too few weights": (
        lambda folder: write_folder(folder, weights=WEIGHTS[:5]),
        "{folder}/model.safetensors must have one weight for each of 6 tokens, got 5.",
    ),
    "NaN as weight": (
        lambda folder: write_folder(folder, weights=WEIGHTS * np.nan),
        "weights of {folder}/model.safetensors must hold finite numbers only.",
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_an_unsound_folder_is_refused_in_one_sentence(tmp_path, name):
    spoil, sentence = UNSOUND[name]
    folder = write_folder(tmp_path / "tiny")
    load(folder)
    spoil(folder)
    with pytest.raises(aw.InputError) as caught:
        load(folder)
    said = str(caught.value)
    assert sentence.replace("{folder}", str(folder)) in said
    assert said.startswith("encoders.load: ")
    assert said.endswith(".")
    assert not said.endswith("..")
    assert "\n" not in said


def test_a_tokenizer_that_fails_is_reported_in_one_sentence(tmp_path):
    folder = write_folder(tmp_path)
    path = folder / "tokenizer.json"
    path.write_text(path.read_text().replace('"unk_token": "[UNK]"', '"unk_token": "[NONE]"'))
    encoder = load(folder)
    assert encoder.encode(["red"]).any()
    with pytest.raises(aw.InputError, match=r"^encode: the tokenizer cannot take these texts: .*\.$"):
        encoder.encode(["purple"])


def test_every_token_has_its_own_vector(tmp_path):
    found = load(write_folder(tmp_path, embeddings=ROWS)).encode(WORDS[1:])
    assert (found == ROWS[1:]).all()
