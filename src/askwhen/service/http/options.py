"""What whoever runs the service may choose."""

from __future__ import annotations

from dataclasses import dataclass

from .proxy_auth import Proxy


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
    webhook_networks : tuple of str
        That webhooks may reach though they are not public.
    root : str
        The path at which a proxy has the service, such as /askwhen; empty at the root of a host.
    behind_proxy : bool
        Whether only a proxy reaches the service, so that it is believed how it was spoken to.
    access_log : bool
        Whether every request has a line in the log.
    proxy : Proxy, optional
        Whose word is taken for who somebody is.
    """

    tokens: bool = False
    largest_body: int = 1 << 20
    largest_line: int = 1 << 20
    requests: float = 20_000.0
    heartbeat: float = 15.0
    slowest: float = 30.0
    webhook_networks: tuple[str, ...] = ()
    root: str = ""
    behind_proxy: bool = False
    access_log: bool = False
    proxy: Proxy | None = None
