"""Snapshots: save a sampler to one file of numbers, without code, and load it again."""

from .file_format import read, write

__all__ = ["read", "write"]
