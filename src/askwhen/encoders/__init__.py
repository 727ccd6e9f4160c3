"""Vectors of texts, without a network: encoders that are installed, in a folder, or functions of the caller."""

from .encoder import Encoder
from .loading import AUTO, NONE, chosen, find, is_installed, load, remember, settled
from .vector_cache import VectorCache, cached_vectors

__all__ = [
    "AUTO",
    "NONE",
    "Encoder",
    "VectorCache",
    "cached_vectors",
    "chosen",
    "find",
    "is_installed",
    "load",
    "remember",
    "settled",
]
