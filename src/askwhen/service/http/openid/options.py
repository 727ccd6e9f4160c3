"""Options of the sign-in by an OpenID provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from ....errors import InputError
from ..role_table import RoleTable, role_table

_LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class OpenId:
    """The provider, this service as its client, and what its claims mean.

    Attributes
    ----------
    issuer : str
        The address of the provider, as its tokens have it.
    client, secret : str
        As the provider has registered the service; without a secret it is a public client.
    name, groups : str
        The claims with a user's name and groups: a claim, or a path with dots into nested ones.
    scope : str
        What is asked of the provider.
    hours : float
        How long a sign-in lasts.
    roles : RoleTable
        Who has which roles.
    """

    issuer: str
    client: str
    secret: str = ""
    name: str = "email"
    groups: str = "groups"
    scope: str = "openid email profile"
    hours: float = 12.0
    roles: RoleTable = field(default_factory=RoleTable)

    @property
    def host(self) -> str:
        """What people see of the provider."""
        return urlsplit(self.issuer).netloc


def openid_of(given: Mapping[str, Any]) -> OpenId | None:
    """The provider from the values of the options; None where there is none."""
    issuer = given["openid_issuer"]
    if not issuer:
        if given["openid_client"] or given["openid_secret"]:
            raise InputError("openid-client and openid-secret need openid-issuer.", owner="serve")
        return None
    parts = urlsplit(issuer)
    is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOCAL)
    if not is_safe or not parts.netloc or parts.query or parts.fragment:
        raise InputError.about("serve", "openid-issuer", "an address that begins with https://", issuer)
    if not given["openid_client"]:
        raise InputError("openid-issuer needs openid-client, the id of this service there.", owner="serve")
    if "openid" not in given["openid_scope"].split():
        raise InputError.about("serve", "openid-scope", "scopes with openid among them", given["openid_scope"])
    roles = role_table(given)
    if not roles:
        raise InputError(
            "openid-issuer lets a provider sign users in, but no roles are given: put [roles.users] or "
            "[roles.groups] into the configuration file.",
            owner="serve",
        )
    return OpenId(
        issuer,
        given["openid_client"],
        given["openid_secret"] or "",
        given["openid_name"],
        given["openid_groups"],
        given["openid_scope"],
        given["openid_hours"],
        roles,
    )
