"""Addresses that webhooks may have: the service must not be made to call hosts that only it can reach."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import re
import socket
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import urlsplit

import httpcore
import httpx

from ....errors import InputError

LONGEST_URL, LONGEST_HOST = 2_000, 253
_names = re.compile(r"([A-Za-z0-9_-]{1,63}\.)*[A-Za-z0-9_-]{1,63}\.?").fullmatch
_EMBEDDING = [
    ipaddress.ip_network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "::/96", "::ffff:0:0:0/96")
]
"""IPv6 addresses that hold an IPv4 address, which may be a private one."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def networks_of(words: Iterable[str]) -> tuple[Network, ...]:
    """Networks by their names, as 10.0.0.0/8, or single addresses."""
    found = []
    for word in words:
        try:
            found.append(ipaddress.ip_network(word))
        except ValueError:
            raise InputError.about("webhook", "allow", "a network as 10.0.0.0/8, or an address", word) from None
    return tuple(found)


def may_reach(address: str, allowed: Sequence[Network] = ()) -> bool:
    """Whether an address is public or explicitly allowed."""
    found = ipaddress.ip_address(address.partition("%")[0])
    mapped = getattr(found, "ipv4_mapped", None)
    found = found if mapped is None else mapped
    if any(found in network for network in allowed if network.version == found.version):
        return True
    embeds = found.version == 6 and any(found in network for network in _EMBEDDING)
    return found.is_global and not found.is_multicast and not embeds


def check_url(url: str, allowed: Sequence[Network] = ()) -> None:
    """Refuse an invalid or private URL; host names are resolved and checked at each delivery."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
        _ = httpx.URL(url).host  # stricter than urlsplit, and used for sending
    except (ValueError, httpx.InvalidURL):
        host, parts = None, urlsplit("")
    fine = 0 < len(url) <= LONGEST_URL and url.isascii() and url.isprintable() and " " not in url
    if not fine or parts.scheme not in ("http", "https") or not host or not _is_host(host):
        raise InputError.about("webhook", "url", "an address as https://example.org/hook", url[:200])
    if parts.username is not None or parts.password is not None or parts.fragment:
        raise InputError("url must have no user, password or fragment.", owner="webhook", parameter="url")
    with contextlib.suppress(OSError):
        host = socket.inet_ntoa(socket.inet_aton(host))  # 2130706433 and 0x7f.1 are addresses too
    try:
        ipaddress.ip_address(host)
    except ValueError:
        private = host == "localhost" or host.endswith(".localhost")
        if private and not may_reach("127.0.0.1", allowed):
            _refuse(host)
        return
    if not may_reach(host, allowed):
        _refuse(host)


def _is_host(host: str) -> bool:
    """Whether this can be the name of a host, or an address."""
    with contextlib.suppress(ValueError):
        return bool(ipaddress.ip_address(host))
    return len(host) <= LONGEST_HOST and _names(host) is not None


def _refuse(host: str) -> None:
    raise InputError(
        f"{host} is not a public address; serve with --webhook-allow to allow its network.",
        owner="webhook",
        parameter="url",
    )


class RestrictedBackend(httpcore.AsyncNetworkBackend):
    """Resolves a host once and connects only to allowed addresses, so that DNS cannot change between check and use."""

    def __init__(self, allowed: Sequence[Network]) -> None:
        self._allowed, self._inner = allowed, httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first allowed address of a host."""
        try:
            found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise httpcore.ConnectError(f"{host} is not known") from error
        addresses = [str(each[4][0]) for each in found]
        public = [each for each in addresses if may_reach(each, self._allowed)]
        if not public:
            raise httpcore.ConnectError(f"{host} leads to {addresses[0]}, which is not a public address")
        return await self._inner.connect_tcp(public[0], port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await self._inner.sleep(seconds)
