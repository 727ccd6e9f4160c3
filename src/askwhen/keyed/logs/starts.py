"""Where to begin to read a partition that has no stored offset, or whose offset has expired."""

from __future__ import annotations

from datetime import UTC, datetime

from ...errors import InputError

EARLIEST, LATEST = "earliest", "latest"


def check_start(given: str) -> str:
    """Refuse what is neither earliest, latest nor a time."""
    start_of(given)
    return given


def start_of(given: str) -> str | float:
    """EARLIEST, LATEST, or a time in seconds since 1970; a time without a zone is in UTC."""
    if given in (EARLIEST, LATEST):
        return given
    try:
        time = datetime.fromisoformat(given)
    except (ValueError, TypeError):
        raise InputError(
            f"start must be earliest, latest or a time as in 2026-01-31T12:00:00Z, got {given!r}.", owner="keyed"
        ) from None
    return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()


def expired(name: str, at: int, first: int) -> InputError:
    """The error for messages that were removed before they were read."""
    return InputError(
        f"messages of {name} from {at} up to {first} were removed before they were read; to go on without them, give "
        "--from earliest, --from latest or --from TIME (start= in Python).",
        owner="keyed",
    )


def replaced(name: str, at: int, end: int) -> InputError:
    """The error for a partition that ends before what was read of it."""
    return InputError(
        f"{name} ends at {end} and was read up to {at}: it was deleted or replaced; give a new store to read it from "
        "its beginning.",
        owner="keyed",
    )
