"""What only keyed streams can meet."""

from __future__ import annotations

from ..errors import AskwhenError


class CutOffError(AskwhenError):
    """Another worker has taken this partition over; nothing of this one's last piece was committed."""


class StoreError(AskwhenError):
    """The store cannot be used, or holds something else."""


REPAIR = "put a backup in its place, or play the log again into a new store"


def damaged(what: str, why: object) -> StoreError:
    """The error for something in a store that cannot be read."""
    return StoreError(f"{what} is damaged ({str(why).rstrip('.')}): {REPAIR}.", owner="keyed")
