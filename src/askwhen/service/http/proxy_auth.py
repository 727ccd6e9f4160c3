"""Sign-in by a proxy: user names and groups from its headers, trusted only from configured addresses.

The address is that of the socket's peer, since any client can send headers about addresses.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import InputError
from .role_table import RoleTable, role_table

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Proxy:
    """Which proxies are trusted, their headers, and the roles of their users.

    Attributes
    ----------
    networks : tuple
        Addresses of trusted proxies.
    user, groups : bytes
        The names of the headers, in lower case; an empty second one ignores groups.
    sign_out : str
        The address at which users sign out of the proxy.
    roles : RoleTable
        Who has which roles.
    """

    networks: tuple[Network, ...] = ()
    user: bytes = b"x-forwarded-user"
    groups: bytes = b""
    sign_out: str = ""
    roles: RoleTable = field(default_factory=RoleTable)

    def trusts(self, client: tuple[str, int] | None) -> bool:
        """Whether headers from this address are trusted."""
        if client is None:
            return False
        try:
            address = ipaddress.ip_address(client[0].partition("%")[0])
        except ValueError:
            return False
        if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
            address = address.ipv4_mapped
        return any(address in network for network in self.networks)


def header_value(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The value of a header; empty where it is sent twice, since one of them may be the client's own."""
    found = [value.strip(b" \t") for each, value in headers if each == name]  # other whitespace may be part of a name
    if len(found) != 1:
        return ""
    try:
        return found[0].decode()
    except UnicodeDecodeError:
        return found[0].decode("latin-1")


def proxy_of(given: Mapping[str, Any]) -> Proxy | None:
    """The proxy from the values of the options; None where no address is trusted."""
    if not given["trust"]:
        return None
    roles = role_table(given)
    if not roles:
        raise InputError(
            "trust lets a proxy sign users in, but no roles are given: put [roles.users] or "
            "[roles.groups] into the configuration file.",
            owner="serve",
        )
    if roles.groups and not given["groups_header"]:
        raise InputError("roles.groups need groups-header, which names the proxy's header.", owner="serve")
    if given["sign_out"] and not given["sign_out"].startswith(("/", "https://", "http://")):
        raise InputError.about("serve", "sign-out", "a path or an address such as /oauth2/sign_out", given["sign_out"])
    return Proxy(
        tuple(_network(each) for each in given["trust"]),
        _header("user-header", given["user_header"]),
        _header("groups-header", given["groups_header"]) if given["groups_header"] else b"",
        given["sign_out"],
        roles,
    )


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as error:
        expected = "addresses or networks such as 10.0.0.2,10.1.0.0/16"
        raise InputError.about("serve", "trust", expected, text) from error


def _header(option: str, name: str) -> bytes:
    plain = name.lower()
    if not plain.isascii() or not plain.replace("-", "").replace("_", "").isalnum():
        raise InputError.about("serve", option, "the name of a header such as Remote-User", name)
    if plain in ("authorization", "cookie", "host", "x-forwarded-for", "x-request-id"):
        raise InputError(f"{option} cannot be {name}, which any client may send.", owner="serve")
    return plain.encode()
