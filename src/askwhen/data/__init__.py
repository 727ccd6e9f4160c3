"""Instances: files as streams, data sets by name, synthetic streams, words as features."""

from .hashing import hash_text
from .stream import Stream, read

__all__ = ["Stream", "hash_text", "read"]
