"""The content of instances, by which one that was answered before is known again."""

from __future__ import annotations

from hashlib import blake2b

import msgspec


class KnownAnswer(msgspec.Struct, array_like=True, gc=False):
    """The first answer to a content: the round and the event of its instance, and the label that currently counts."""

    round: int
    seq: int
    label: str


def content_of(seed: int, row: bytes, shown: bytes | None) -> str:
    """A digest of an instance, as it is predicted on and as people see it; the stream's seed is its key."""
    digest = blake2b(row, digest_size=12, key=seed.to_bytes(8, "little"))
    digest.update(b"" if shown is None else b"\0" + shown)
    return digest.hexdigest()
