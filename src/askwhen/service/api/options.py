"""What whoever runs the service may choose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """Limits and manners of the API.

    Attributes
    ----------
    tokens : bool
        Whether every request needs a token. Without, everybody may do everything, and gives a name to answer by,
        until the first token is made.
    largest_body, largest_line : int
        Bytes of a body, and of a line of NDJSON, whose body may be of any length.
    requests : float
        How many requests a second each token may send, on average.
    heartbeat : float
        Seconds between signs of life on a stream of events.
    slowest : float
        Seconds that a body may pause for.
    """

    tokens: bool = False
    largest_body: int = 1 << 20
    largest_line: int = 1 << 20
    requests: float = 20_000.0
    heartbeat: float = 15.0
    slowest: float = 30.0
