"""Sign-in by a proxy: user names from its headers, trusted only from configured addresses, and their roles.

The address is that of the socket's peer, since any client can send headers about addresses.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import InputError
from ..domain.tokens import LONGEST_NAME, ROLES

EVERYBODY = "*"
"""Instead of a user's name: all users whom the proxy has signed in."""

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


@dataclass(frozen=True)
class Grant:
    """Roles, and the names of the streams they are for; None for all."""

    roles: frozenset[str]
    streams: frozenset[str] | None = None


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
    users, named_groups : dict
        Roles by name. A user's own line takes precedence over those of groups, and of these the first in the file:
        lines are never combined, or roles for one stream would become roles for another.
    """

    networks: tuple[Network, ...] = ()
    user: bytes = b"x-forwarded-user"
    groups: bytes = b""
    sign_out: str = ""
    users: dict[str, Grant] = field(default_factory=dict)
    named_groups: dict[str, Grant] = field(default_factory=dict)

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

    def grant(self, user: str, groups: Iterable[str]) -> Grant | None:
        """The roles of a user; None where no line is for them."""
        if user in self.users and user != EVERYBODY:
            return self.users[user]
        mine = set(groups)
        for name, found in self.named_groups.items():
            if name in mine:
                return found
        return self.users.get(EVERYBODY)


def header_value(headers: Iterable[tuple[bytes, bytes]], name: bytes) -> str:
    """The value of a header; empty where it is sent twice, since one of them may be the client's own."""
    found = [value.strip(b" \t") for each, value in headers if each == name]  # other whitespace may be part of a name
    if len(found) != 1:
        return ""
    try:
        return found[0].decode()
    except UnicodeDecodeError:
        return found[0].decode("latin-1")


def is_name(text: str) -> bool:
    """Whether a text is a valid name of a user."""
    return 0 < len(text) <= LONGEST_NAME and text.isprintable() and text != EVERYBODY


def proxy_of(given: Mapping[str, Any]) -> Proxy | None:
    """The proxy from the values of the options; None where no address is trusted."""
    roles = given.get("roles") or {}
    if not given["trust"]:
        if roles:
            raise InputError("roles are for users whom a proxy signs in, and trust names no proxy.", owner="serve")
        return None
    if not roles:
        raise InputError(
            "trust lets a proxy sign users in, but no roles are given: put [roles.users] or "
            "[roles.groups] into the configuration file.",
            owner="serve",
        )
    users, groups = roles.get("users", {}), roles.get("groups", {})
    if groups and not given["groups_header"]:
        raise InputError("roles.groups need groups-header, which names the proxy's header.", owner="serve")
    if given["sign_out"] and not given["sign_out"].startswith(("/", "https://", "http://")):
        raise InputError.about("serve", "sign-out", "a path or an address such as /oauth2/sign_out", given["sign_out"])
    return Proxy(
        tuple(_network(each) for each in given["trust"]),
        _header("user-header", given["user_header"]),
        _header("groups-header", given["groups_header"]) if given["groups_header"] else b"",
        given["sign_out"],
        {name: Grant(frozenset(each["roles"]), _streams(each)) for name, each in users.items()},
        {name: Grant(frozenset(each["roles"]), _streams(each)) for name, each in groups.items()},
    )


def _streams(line: Mapping[str, Any]) -> frozenset[str] | None:
    return frozenset(line["streams"]) if "streams" in line else None


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


def checked_roles(given: Any, path: str) -> dict[str, dict[str, Any]]:
    """Validate the roles in a configuration file."""
    if not isinstance(given, dict) or not given or not set(given) <= {"users", "groups"}:
        raise InputError(f"{path}: roles has the parts roles.users and roles.groups, and no other.", owner="config")
    for kind, lines in given.items():
        for name, line in _table(lines, f"{path}: roles.{kind}").items():
            where = f"{path}: roles.{kind}.{name}"
            _checked_line(_table(line, where), where)
    return given


def _table(given: Any, where: str) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise InputError(f'{where} must be a table, such as {{roles = ["annotator"]}}.', owner="config")
    return given


def _checked_line(line: dict[str, Any], where: str) -> None:
    if not set(line) <= {"roles", "streams"} or "roles" not in line:
        raise InputError(f"{where} must have roles, perhaps streams, and nothing else.", owner="config")
    for key, value in line.items():
        if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
            raise InputError(f"{where}: {key} must be a list of texts, got {value!r}.", owner="config")
    if not line["roles"] or not set(line["roles"]) <= set(ROLES):
        raise InputError(f"{where}: roles must be some of {', '.join(ROLES)}, got {line['roles']!r}.", owner="config")
