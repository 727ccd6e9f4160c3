"""A sampler as one file of numbers, without code: what is in the file, and how a sampler becomes it."""

from .file_format import read, write

__all__ = ["read", "write"]
