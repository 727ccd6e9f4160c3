"""Static vectors: a text is the mean of the vectors of its tokens, which a table holds.

A sum runs over the tokens of a text in their order, in float32, so that its bits do not depend on other texts. A table
of model2vec may hold fewer vectors than there are tokens, with the row of each token in ``mapping``, and a factor for
each token in ``weights``. Unknown tokens are left out, as model2vec does.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..system.extras import optional
from .encoder import reason

_OWNER = "encoders.load"
_NAMES = ("embeddings", "embedding.weight")  # in files of model2vec, and of sentence-transformers and wordllama
_TREATMENT = b"askwhen.encoders 1"  # part of every checksum: to be raised if texts are ever treated otherwise


class TokenVectors:
    """A tokenizer with the vectors of its tokens, read from two files.

    Attributes
    ----------
    checksum : str
        SHA-256 of the vectors, the tokenizer, and whether vectors are scaled to unit length.
    width : int
        How many numbers a vector has.
    """

    def __init__(self, vectors: Path, tokenizer: Path, normalize: bool = False) -> None:
        # One thread for each process: threads of the tokenizer would make forks warn, and may not survive them.
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        self._normalize = normalize
        self._read_vectors(vectors)
        self.width = int(self._rows.shape[1])
        written = _read(tokenizer).rstrip()  # versions of a package that end the file otherwise are the same to us
        self._tokenizer = _tokenizer(written, tokenizer)
        last = max(self._tokenizer.get_vocab(True).values(), default=0)
        if last >= len(self._mapping):
            raise InputError(
                f"{vectors} has vectors for {len(self._mapping)} tokens, but {tokenizer} has a token {last}.",
                owner=_OWNER,
            )
        unknown = getattr(self._tokenizer.model, "unk_token", None)
        self._unknown = None if unknown is None else self._tokenizer.token_to_id(unknown)
        parts = (_TREATMENT, _digest(vectors), hashlib.sha256(written).digest(), bytes([normalize]))
        self.checksum = hashlib.sha256(b"".join(parts)).hexdigest()

    def _read_vectors(self, path: Path) -> None:
        """Read the table, and the row and the factor of each token."""
        tensors = _tensors(path)
        name = next((each for each in _NAMES if each in tensors), None)
        if name is None:
            held = ", ".join(sorted(tensors)) or "nothing"
            raise InputError(f"{path} must hold a tensor named {' or '.join(_NAMES)}, got {held}.", owner=_OWNER)
        self._rows = _floats(path, name, tensors[name], 2)
        rows = len(self._rows)
        mapping = tensors.get("mapping", np.arange(rows))
        if mapping.ndim != 1 or mapping.dtype.kind not in "iu" or not ((mapping >= 0) & (mapping < rows)).all():
            raise InputError(f"the mapping of {path} must hold the numbers of {rows} rows.", owner=_OWNER)
        self._mapping = mapping.astype(np.int32)
        self._weights = _floats(path, "weights", tensors.get("weights", np.ones(len(mapping))), 1)
        if len(self._weights) != len(mapping):
            raise InputError(
                f"{path} must have one weight for each of {len(mapping)} tokens, got {len(self._weights)}.",
                owner=_OWNER,
            )

    def embed(self, texts: list[str]) -> np.ndarray:
        """The vectors of texts; zero for one without a known token."""
        try:
            tokens = [each.ids for each in self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)]
        except Exception as error:  # tokenizers raises no narrower one
            raise InputError(f"the tokenizer cannot take these texts: {reason(error)}.", owner="encode") from error
        ends = np.cumsum([0, *map(len, tokens)])
        ids = np.fromiter(itertools.chain.from_iterable(tokens), np.int64, ends[-1])
        if self._unknown is not None:
            is_known = ids != self._unknown
            ends = np.concatenate(([0], np.cumsum(is_known)))[ends]
            ids = ids[is_known]
        # A product with a sparse matrix adds the rows of the table up without copying them first.
        counted = sp.csr_matrix((self._weights[ids], self._mapping[ids], ends), (len(texts), len(self._rows)))
        vectors = counted @ self._rows
        vectors /= np.maximum(np.diff(ends), 1).astype(np.float32)[:, None]
        if self._normalize:
            with np.errstate(over="ignore"):
                lengths = np.sqrt((vectors * vectors).sum(axis=1, keepdims=True))
            vectors /= np.where(lengths > 0.0, lengths, np.float32(1.0))
        return np.asarray(vectors)


def read_folder(folder: Path) -> TokenVectors:
    """The vectors in a folder of model2vec: model.safetensors, tokenizer.json and, if there is one, config.json."""
    missing = [name for name in ("model.safetensors", "tokenizer.json") if not (folder / name).is_file()]
    if missing:
        raise InputError(f"{folder} has no {' and no '.join(missing)}, as a folder of model2vec has.", owner=_OWNER)
    path = folder / "config.json"
    config: Any = {}
    if path.exists():
        try:
            config = json.loads(_read(path))
        except ValueError as error:
            raise InputError(f"{path} is not JSON: {reason(error)}.", owner=_OWNER) from error
    normalize = config.get("normalize", False) if isinstance(config, dict) else None
    if not isinstance(normalize, bool | None) or not isinstance(config, dict):
        raise InputError(f"{path} must be an object in which normalize is true or false.", owner=_OWNER)
    return TokenVectors(folder / "model.safetensors", folder / "tokenizer.json", bool(normalize))


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {reason(error)}.", owner=_OWNER) from error


def _digest(path: Path) -> bytes:
    """The SHA-256 of a file, which may be large."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def _tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of a file that are of use here."""
    safetensors = optional("safetensors", "reading vectors", _OWNER, "text")
    try:
        with safetensors.safe_open(os.fspath(path), framework="numpy") as file:
            names = set(file.keys())
            wanted = names & {*_NAMES, "mapping", "weights"} or names
            return {name: np.asarray(file.get_tensor(name)) for name in wanted}
    except Exception as error:  # safetensors raises its own error, and what numpy raises for types that it lacks
        raise InputError(f"cannot read vectors from {path}: {reason(error)}.", owner=_OWNER) from error


def _tokenizer(written: bytes, path: Path) -> Any:
    """The tokenizer that a file of JSON describes, without limits to length and without padding."""
    tokenizers = optional("tokenizers", "reading a tokenizer", _OWNER, "text")
    try:
        found = tokenizers.Tokenizer.from_str(written.decode())
        found.no_truncation()
        found.no_padding()
    except Exception as error:  # tokenizers raises no narrower one
        raise InputError(f"{path} does not describe a tokenizer: {reason(error)}.", owner=_OWNER) from error
    return found


def _floats(path: Path, name: str, tensor: np.ndarray, dimensions: int) -> np.ndarray:
    """A tensor as float32, whose numbers are finite."""
    if tensor.ndim != dimensions or tensor.size == 0 or tensor.dtype.kind not in "fiu":
        raise InputError(
            f"{name} of {path} must be an array of numbers of {dimensions} dimensions, got {tensor.dtype} of shape "
            f"{tensor.shape}.",
            owner=_OWNER,
        )
    with np.errstate(over="ignore"):
        found = np.ascontiguousarray(tensor, np.float32)
    if not np.isfinite(found).all():
        raise InputError(f"{name} of {path} must hold finite numbers only.", owner=_OWNER)
    return found
