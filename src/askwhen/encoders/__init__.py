"""Vectors of texts, without a network: encoders that are installed, in a folder, or functions of the caller."""

from .encoder import Encoder
from .loading import is_installed, load

__all__ = ["Encoder", "is_installed", "load"]
