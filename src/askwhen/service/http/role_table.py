"""Roles of users whom a proxy or an OpenID provider signs in: the lines of the configuration file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ...errors import InputError
from ..domain.tokens import ROLES
from ..events.settings import is_person

EVERYBODY = "*"
"""Instead of a user's name: all users who are signed in."""


@dataclass(frozen=True)
class Grant:
    """Roles, and the names of the streams they are for; None for all."""

    roles: frozenset[str]
    streams: frozenset[str] | None = None


@dataclass(frozen=True)
class RoleTable:
    """Roles by the names of users and groups.

    A user's own line takes precedence over those of groups, and of these the first in the file: lines are never
    combined, or roles for one stream would become roles for another.
    """

    users: dict[str, Grant] = field(default_factory=dict)
    groups: dict[str, Grant] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.users or self.groups)

    def grant(self, user: str, groups: Iterable[str]) -> Grant | None:
        """The roles of a user; None where no line is for them."""
        if user in self.users and user != EVERYBODY:
            return self.users[user]
        mine = set(groups)
        for name, found in self.groups.items():
            if name in mine:
                return found
        return self.users.get(EVERYBODY)


def is_name(text: str) -> bool:
    """Whether a text is a valid name of a user."""
    return is_person(text) and text != EVERYBODY


def role_table(given: Mapping[str, Any]) -> RoleTable:
    """The table from the values of the options; refused where nothing signs users in."""
    roles = given.get("roles") or {}
    if roles and not given["trust"] and not given["openid_issuer"]:
        raise InputError(
            "roles are for users whom a proxy or an OpenID provider signs in, but trust names no proxy and "
            "openid-issuer no provider.",
            owner="serve",
        )
    return RoleTable(*({name: _grant(line) for name, line in roles.get(kind, {}).items()} for kind in _KINDS))


_KINDS = ("users", "groups")


def _grant(line: Mapping[str, Any]) -> Grant:
    return Grant(frozenset(line["roles"]), frozenset(line["streams"]) if "streams" in line else None)


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
