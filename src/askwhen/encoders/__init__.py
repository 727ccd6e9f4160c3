"""Vectors of texts, without a network: encoders that are installed, in a folder, or functions of the caller."""

from .encoder import Encoder
from .loading import AUTO as AUTO
from .loading import NONE as NONE
from .loading import chosen as chosen
from .loading import find, is_installed, load, remember
from .loading import settled as settled
from .vector_cache import VectorCache, cached_vectors

__all__ = ["Encoder", "VectorCache", "cached_vectors", "find", "is_installed", "load", "remember"]
