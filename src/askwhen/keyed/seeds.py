"""The seed of each key's coins, which follows from the key alone: whoever plays it, wherever, tosses the same."""

from __future__ import annotations

import hashlib
from functools import cache

from ..errors import InputError
from ..validation import check_count


def seed_of(seed: int, key: str) -> int:
    """The seed of a key's sampler: a hash of the key, keyed by the seed of the whole.

    Parameters
    ----------
    seed : int
        The seed of the whole.
    key : str
        The key.
    """
    return int.from_bytes(hashlib.blake2b(key.encode(), key=_lock(seed), digest_size=8).digest(), "little")


@cache
def _lock(seed: int) -> bytes:
    return hashlib.sha256(b"%d" % seed).digest()


def partition_of(key: str, partitions: int) -> int:
    """A partition for a key, for whoever writes the log: the same key always goes to the same one.

    Parameters
    ----------
    key : str
        The key.
    partitions : int
        How many partitions the log has.
    """
    check_count("partition_of", "partitions", partitions)
    if not isinstance(key, str):
        raise InputError.about("partition_of", "key", "a text", key)
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little") % partitions
