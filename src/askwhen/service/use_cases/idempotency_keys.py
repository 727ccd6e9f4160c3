"""Keys that make a retry idempotent: the same key gets the result of the first request."""

from __future__ import annotations

from ...errors import InputError

LONGEST_KEY = 200


def stored_key(letter: str, key: str | None) -> str | None:
    """A key as it is stored in the log; ``letter`` stands for the kind of request, so that their keys cannot clash."""
    if key is None:
        return None
    if not 0 < len(key) <= LONGEST_KEY or not key.isprintable():
        raise InputError(f"key must be a printable text of 1 to {LONGEST_KEY} characters.", owner="key")
    return f"{letter}:{key}"
