"""Encoders by what a user says: "static", a folder, or a function."""

from __future__ import annotations

import hashlib
import importlib.util
import os
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

from ..errors import InputError, argument
from ..system.extras import needs_extra
from .encoder import Encoder
from .token_vectors import TokenVectors, read_folder

STATIC = "static"
_EXTRA = "text"
_loaded: dict[tuple[Any, ...], Encoder] = {}
_FILES = ("weights/l2_supercat_256.safetensors", "tokenizers/l2_supercat_tokenizer_config.json")


AUTO: Literal["auto"] = "auto"
NONE = "none"
"""Names for the installed encoder, if there is one and there are texts, and for none."""


def load(
    encoder: str | os.PathLike[str] | Callable[[list[str]], Any] | Encoder = STATIC, *, name: str | None = None
) -> Encoder:
    """An encoder of texts.

    Parameters
    ----------
    encoder : str, path or callable, default "static"
        "static": the 32,000 vectors of 256 numbers that the package wordllama brings, which ``pip install
        'askwhen[text]'`` installs. A folder: vectors in the format of model2vec, that is model.safetensors and
        tokenizer.json. A callable takes a list of texts and returns an array with one row for each. Nothing is
        downloaded.
    name : str, optional
        Name of a callable, which stands for its checksum: give another model another name. Without one, its vectors
        are not cached.

    Examples
    --------
    >>> import askwhen as aw
    >>> aw.encoders.load(lambda texts: [[len(text), text.count("!")] for text in texts], name="two counts").width
    2
    """
    if name is not None and (not callable(encoder) or not isinstance(name, str) or not name):
        raise InputError(
            f"{argument('name')} must be the name of a callable, got {name!r} for {encoder!r}.", owner="encoders.load"
        )
    if isinstance(encoder, Encoder):
        return encoder
    if callable(encoder):
        checksum = (
            None if name is None else hashlib.sha256(b"callable " + name.encode("utf-8", "surrogatepass")).hexdigest()
        )
        found = name or str(getattr(encoder, "__qualname__", type(encoder).__qualname__))
        return Encoder(found, checksum, None, encoder)
    if encoder == STATIC:
        return _installed()
    if not isinstance(encoder, str | os.PathLike) or not Path(encoder).is_dir():
        raise InputError(
            f"an encoder must be {STATIC!r}, a directory with model.safetensors and tokenizer.json, or a callable, got "
            f"{encoder!r}.",
            owner="encoders.load",
        )
    return _encoder(Path(encoder).resolve().name, read_folder(Path(encoder)))


def chosen(encoder: Any) -> Encoder | Literal["auto"] | None:
    """What was said about vectors of texts: the encoder, None for none, or ``AUTO``, which is not loaded yet."""
    if encoder is None or encoder == NONE:
        return None
    return AUTO if isinstance(encoder, str) and encoder == AUTO else load(encoder)


def settled(encoder: Encoder | Literal["auto"] | None) -> Encoder | None:
    """The encoder, now that there are texts: for ``AUTO`` the static one, where it is installed."""
    if encoder != AUTO:
        return encoder
    return _installed() if is_installed() else None


def find(descriptor: Mapping[str, Any]) -> Encoder:
    """The encoder of a descriptor: one that this process has loaded, or the installed one.

    Parameters
    ----------
    descriptor : dict
        What ``Encoder.descriptor`` gave, as models and files store it.
    """
    known = _loaded.get(_key(descriptor))
    if known is not None:
        return known
    if descriptor.get("name") != STATIC:
        raise InputError(
            f"texts were encoded by {descriptor.get('name')!r}, which must be given again as {argument('encoder')}.",
            owner="encoders.find",
        )
    found = _installed()
    found.check(descriptor)
    return found


def remember(encoder: Encoder) -> dict[str, Any]:
    """The descriptor of an encoder, by which ``find`` has it from now on.

    Parameters
    ----------
    encoder : Encoder
        One that is loaded.
    """
    descriptor = encoder.descriptor()
    _loaded[_key(descriptor)] = encoder
    return descriptor


def _key(descriptor: Mapping[str, Any]) -> tuple[Any, ...]:
    checksum = descriptor.get("checksum")
    return (checksum,) if checksum else (descriptor.get("name"), descriptor.get("width"))


def is_installed() -> bool:
    """Whether the extra ``text`` is installed, so that ``load("static")`` works."""
    return all(_found(module) is not None for module in ("wordllama", "safetensors", "tokenizers"))


def _found(module: str) -> Any:
    try:
        return importlib.util.find_spec(module)
    except ImportError:
        return None


@cache
def _installed() -> Encoder:
    """The encoder whose files the package wordllama brings; the package itself is not imported."""
    with needs_extra(_EXTRA, "the static encoder", "encoders.load"):
        spec = importlib.util.find_spec("wordllama")
        if spec is None or not spec.submodule_search_locations:
            raise ModuleNotFoundError("No module named 'wordllama'", name="wordllama")
    folder = Path(next(iter(spec.submodule_search_locations)))
    vectors, tokenizer = (folder / file for file in _FILES)
    missing = next((path for path in (vectors, tokenizer) if not path.is_file()), None)
    if missing is not None:
        raise InputError(
            f"the installed wordllama has no file {missing}: pip install 'wordllama>=0.3.9'.", owner="encoders.load"
        )
    return _encoder(STATIC, TokenVectors(vectors, tokenizer))


def _encoder(name: str, table: TokenVectors) -> Encoder:
    return Encoder(name, table.checksum, table.width, table.embed)
