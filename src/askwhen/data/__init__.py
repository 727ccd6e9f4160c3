"""Instances: files as streams, data sets by name, synthetic streams, hashed words."""

from .hashing import hash_text
from .schema import Schema
from .schema_given import make_schema
from .sets import Data, load, names
from .stream import Stream, read
from .synthetic import drifting, noisy_linear, regrouped, spherical, switching, zipf_text

__all__ = [
    "Data",
    "Schema",
    "Stream",
    "drifting",
    "hash_text",
    "load",
    "make_schema",
    "names",
    "noisy_linear",
    "read",
    "regrouped",
    "spherical",
    "switching",
    "zipf_text",
]
