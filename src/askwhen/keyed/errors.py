"""The errors of keyed streams."""

from __future__ import annotations

from ..errors import AskwhenError


class CutOffError(AskwhenError):
    """Another worker has taken this partition over; the last batch of this one was not committed."""


class StoreError(AskwhenError):
    """The store, the log in Redis or the labelling service cannot be used, or does not fit."""


REPAIR = "put a backup in its place, or play the log again into a new store"


def damaged(what: str, why: object) -> StoreError:
    """The error for a part of a store that cannot be read."""
    return StoreError(f"{what} is damaged ({str(why).rstrip('.')}): {REPAIR}.", owner="keyed")
