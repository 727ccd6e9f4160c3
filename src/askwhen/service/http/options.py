"""Options of the HTTP API."""

from __future__ import annotations

from dataclasses import dataclass

from ..use_cases.webhook_delivery.mail import MailServer
from .openid.options import OpenId
from .proxy_auth import Proxy


@dataclass(frozen=True)
class Options:
    """Limits and features of the API.

    Attributes
    ----------
    tokens : bool
        Whether every request needs a token. Otherwise all requests are allowed, and annotators give their names
        themselves, until the first token is made.
    largest_body, largest_line : int
        Bytes of a body, and of a line of NDJSON, whose body may be of any length.
    requests : float
        Number of requests a second that each token may send, on average.
    heartbeat : float
        Seconds between keep-alive messages on a stream of events.
    slowest : float
        Longest pause between two parts of a body, in seconds.
    webhook_networks : tuple of str
        Networks that webhooks may reach although they are not public.
    root : str
        The path prefix of the service behind a proxy, such as /askwhen; empty at the root of a host.
    behind_proxy : bool
        Whether only a proxy reaches the service, so that its X-Forwarded-Proto header is trusted.
    access_log : bool
        Whether every request is logged.
    proxy : Proxy, optional
        Proxies that sign users in.
    openid : OpenId, optional
        A provider that signs users in.
    mail : MailServer, optional
        Sends mails.
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
    openid: OpenId | None = None
    mail: MailServer | None = None
