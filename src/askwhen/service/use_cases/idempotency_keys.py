"""Keys that make a retry idempotent: whoever sends the same one again gets what came of the first."""

from __future__ import annotations

from ...errors import InputError

LONGEST_KEY = 200


def stored_key(letter: str, key: str | None) -> str | None:
    """The key that makes a retry idempotent, as it stands in the log: a letter for what is done keeps them apart."""
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise InputError(f"key must be a printable text of 1 to {LONGEST_KEY} characters.", owner="key")
    return f"{letter}:{key}"
