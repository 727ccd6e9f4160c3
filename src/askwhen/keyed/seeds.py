"""The random seed of each key, which depends on the key alone: any worker on any machine draws the same numbers."""

from __future__ import annotations

import hashlib
from functools import cache

from ..errors import InputError
from ..validation import check_count


def seed_of(seed: int, key: str) -> int:
    """The seed of a key's sampler: a hash of the key, keyed by the seed of all samplers.

    Parameters
    ----------
    seed : int
        The seed of the sampler that ``run`` was given.
    key : str
        The key.
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), key=_hash_key(seed), digest_size=8).digest(), "little")


@cache
def _hash_key(seed: int) -> bytes:
    return hashlib.sha256(b"%d" % seed).digest()


def partition_of(key: str, partitions: int) -> int:
    """The partition in which a writer of the log should put a key: the same key always goes to the same one.

    Parameters
    ----------
    key : str
        The key.
    partitions : int
        Number of partitions of the log.
    """
    check_count("partition_of", "partitions", partitions)
    if not isinstance(key, str):
        raise InputError.about("partition_of", "key", "a text", key)
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little") % partitions
