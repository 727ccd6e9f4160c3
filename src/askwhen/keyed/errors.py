"""What only keyed streams can meet."""

from __future__ import annotations

from ..errors import AskwhenError


class CutOffError(AskwhenError):
    """Another worker has taken this partition over; nothing of this one's last piece was committed."""


class StoreError(AskwhenError):
    """The store cannot be used, or holds something else."""
