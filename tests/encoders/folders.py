"""Small folders in the format of model2vec, and what their vectors are by definition."""

import json

import numpy as np
import pytest

WORDS = ["[UNK]", "red", "green", "blue", "sky", "sea"]


def write_folder(folder, normalize=None, table="embeddings", **tensors):
    """A folder whose tokens are words; its tensors are random where they are not given."""
    tokenizers = pytest.importorskip("tokenizers", reason="pip install 'askwhen[text]'")
    safetensors = pytest.importorskip("safetensors.numpy", reason="pip install 'askwhen[text]'")
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.enable_truncation(3)  # which a folder may ask for, and which does not count here
    tokenizer.enable_padding()
    tokenizer.save(str(folder / "tokenizer.json"))
    rows = np.random.default_rng(0).standard_normal((len(WORDS), 4)).astype(np.float32)
    safetensors.save_file({table: rows} | tensors, folder / "model.safetensors")
    if normalize is not None:
        (folder / "config.json").write_text(json.dumps({"normalize": normalize}))
    return folder


def vectors_by_definition(texts, rows, weights=None, mapping=None, normalize=False):
    """The mean of the vectors of the known words of each text, in double precision."""
    found = np.zeros((len(texts), rows.shape[1]))
    for i, text in enumerate(texts):
        ids = [WORDS.index(word) for word in text.split() if word in WORDS[1:]]
        if ids:
            vectors = rows[[mapping[id] for id in ids] if mapping is not None else ids].astype(float)
            factors = np.ones(len(ids)) if weights is None else weights[ids]
            found[i] = (vectors * factors[:, None]).mean(axis=0)
            if normalize:
                found[i] /= np.linalg.norm(found[i])
    return found
