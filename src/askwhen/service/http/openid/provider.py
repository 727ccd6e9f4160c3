"""The OpenID provider: its addresses, its keys, and the identity that it vouches for."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

import httpx
import msgspec

from ...errors import NotSignedInError, UnreachableError
from ..role_table import is_name
from .attempt import Attempt
from .options import OpenId

PATIENCE = 10.0
"""Seconds to wait for the provider."""

METADATA_AGE = 3600.0
MOST_GROUPS = 200
log = logging.getLogger("askwhen.service")


class Metadata(msgspec.Struct):
    """What the provider publishes of itself (OpenID Connect Discovery)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    userinfo_endpoint: str | None = None
    token_endpoint_auth_methods_supported: tuple[str, ...] = ("client_secret_basic",)


class User(NamedTuple):
    """A user whom the provider has identified."""

    name: str
    groups: list[str]


class Provider:
    """Client of the provider. The first sign-in sends the first request."""

    def __init__(self, openid: OpenId) -> None:
        self._openid = openid
        self._http: httpx.AsyncClient | None = None
        self._metadata: Metadata | None = None
        self._read = 0.0
        from .identity_token import KeySource, claims_of  # cryptography takes long to import, and few need it

        self._keys, self._claims_of = KeySource(self._fetch_keys), claims_of

    async def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            await self._http.aclose()

    async def address(self, attempt: Attempt, redirect: str) -> str:
        """The address to which a browser is sent to sign in."""
        found = await self._found()
        query = {
            "response_type": "code",
            "client_id": self._openid.client,
            "redirect_uri": redirect,
            "scope": self._openid.scope,
            "state": attempt.state,
            "nonce": attempt.nonce,
            "code_challenge": attempt.challenge,
            "code_challenge_method": "S256",
        }
        joint = "&" if "?" in found.authorization_endpoint else "?"
        return f"{found.authorization_endpoint}{joint}{urlencode(query)}"

    async def user(self, attempt: Attempt, code: str, redirect: str) -> User:
        """The user for whom the provider gave a code."""
        found, openid = await self._found(), self._openid
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": redirect,
            "code_verifier": attempt.verifier,
        }
        auth = None
        if openid.secret and "client_secret_basic" in found.token_endpoint_auth_methods_supported:
            auth = httpx.BasicAuth(quote(openid.client, safe=""), quote(openid.secret, safe=""))
        else:
            form["client_id"] = openid.client
            if openid.secret:
                form["client_secret"] = openid.secret
        reply = await self._send("POST", found.token_endpoint, data=form, auth=auth)
        if not isinstance(reply.get("id_token"), str):
            raise NotSignedInError("the identity provider gave no identity; try again.", owner="openid")
        claims = await self._claims_of(reply["id_token"], self._keys, found.issuer, openid.client, attempt.nonce)
        missing = [each for each in (openid.name, openid.groups) if claim(claims, each) is None]
        if missing and found.userinfo_endpoint and isinstance(reply.get("access_token"), str):
            bearer = {"Authorization": f"Bearer {reply['access_token']}"}
            more = await self._send("GET", found.userinfo_endpoint, headers=bearer)
            if more.get("sub") != claims["sub"]:
                raise NotSignedInError("the identity provider contradicts itself about the user.", owner="openid")
            claims = more | claims
        return user_of(claims, openid)

    async def _found(self) -> Metadata:
        """The provider's description of itself, read once an hour; the last one while the provider does not answer."""
        if self._metadata is not None and time.monotonic() - self._read < METADATA_AGE:
            return self._metadata
        address = f"{self._openid.issuer.rstrip('/')}/.well-known/openid-configuration"
        try:
            found = msgspec.convert(await self._send("GET", address), Metadata)
        except UnreachableError:
            if self._metadata is None:
                raise
            return self._metadata
        except msgspec.ValidationError as error:
            log.warning("the identity provider", extra={"facts": {"said": str(error)}})
            raise UnreachableError(
                "the identity provider does not describe itself as expected.", owner="openid"
            ) from error
        if found.issuer != self._openid.issuer:
            log.warning("the identity provider", extra={"facts": {"issuer": found.issuer[:500]}})
            raise UnreachableError(
                f"the identity provider calls itself {found.issuer[:200]}, and openid-issuer is another address.",
                owner="openid",
            )
        self._metadata, self._read = found, time.monotonic()
        return found

    async def _fetch_keys(self) -> dict[str, Any]:
        return await self._send("GET", (await self._found()).jwks_uri)

    async def _send(self, method: str, address: str, **given: Any) -> dict[str, Any]:
        """A JSON object from the provider."""
        if self._http is None:
            self._http = httpx.AsyncClient(timeout=PATIENCE, headers={"Accept": "application/json"})
        try:
            reply = await self._http.request(method, address, **given)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            log.warning("the identity provider", extra={"facts": {"error": type(error).__name__, "said": str(error)}})
            raise UnreachableError("the identity provider does not answer; try again later.", owner="openid") from error
        try:
            found = msgspec.json.decode(reply.content)
        except (ValueError, msgspec.MsgspecError):
            found = None
        if reply.status_code != 200 or not isinstance(found, dict):
            said = str(found.get("error", ""))[:100] if isinstance(found, dict) else ""
            log.warning("the identity provider", extra={"facts": {"status": reply.status_code, "said": said}})
            if reply.status_code >= 500:
                raise UnreachableError("the identity provider does not answer; try again later.", owner="openid")
            raise NotSignedInError(f"the identity provider refuses the sign-in{said and ': '}{said}.", owner="openid")
        return found


def claim(claims: Mapping[str, Any], name: str) -> Any:
    """A claim by its name, or by a path with dots into nested ones; None where there is none.

    Examples
    --------
    >>> claim({"realm_access": {"roles": ["a"]}, "x.y": 1}, "realm_access.roles")
    ['a']
    >>> claim({"realm_access": {"roles": ["a"]}, "x.y": 1}, "x.y")
    1
    """
    if not name or name in claims:
        return claims.get(name)
    found: Any = claims
    for part in name.split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    return found


def user_of(claims: Mapping[str, Any], openid: OpenId) -> User:
    """The name and the groups of a user, as the claims have them."""
    name, groups = claim(claims, openid.name), claim(claims, openid.groups)
    if not isinstance(name, str) or not is_name(name):
        raise NotSignedInError(
            f"the identity provider gives no name in the claim {openid.name}; an admin chooses another one with "
            "openid-name.",
            owner="openid",
        )
    if openid.name == "email" and claims.get("email_verified") is not True:
        raise NotSignedInError(
            f"the identity provider has not verified the address {name}; an admin may choose another claim with "
            "openid-name.",
            owner="openid",
        )
    listed = [groups] if isinstance(groups, str) else groups if isinstance(groups, list) else []
    return User(name, [each for each in listed if isinstance(each, str)][:MOST_GROUPS])
