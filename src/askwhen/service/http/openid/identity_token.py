"""Identity tokens: signature, issuer, audience, time and nonce (OpenID Connect Core, section 3.1.3.7)."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeGuard

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet
from joserfc.jws import extract_compact

from ...errors import NotSignedInError

ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519"]
"""Signatures by a private key of the provider. Those by a shared secret, or none, are never accepted."""

_KINDS = frozenset({"RSA", "EC", "OKP"})
LEEWAY = 60
"""Seconds by which the clocks may differ."""

SHORTEST_REST = 10.0
"""Seconds after which the keys may be fetched again, where a token was signed by an unknown one."""


class KeySource:
    """The public keys of the provider, fetched when they are needed, and again when it has changed them."""

    def __init__(self, fetch: Callable[[], Awaitable[dict[str, Any]]]) -> None:
        self._fetch = fetch
        self._keys: dict[str | None, dict[str, Any]] = {}
        self._read: float | None = None

    async def key(self, number: str | None) -> KeySet | None:
        """The key with this number, or all of them where the token names none."""
        if self._read is None or (number not in self._keys and time.monotonic() - self._read > SHORTEST_REST):
            found = (await self._fetch()).get("keys")
            listed = [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []
            usable = [each for each in listed if each.get("kty") in _KINDS and each.get("use", "sig") == "sig"]
            self._keys, self._read = {each.get("kid"): each for each in usable}, time.monotonic()
        if number is None and len(self._keys) == 1:
            (number,) = self._keys
        return KeySet.import_key_set({"keys": [self._keys[number]]}) if number in self._keys else None


async def claims_of(token: str, keys: KeySource, issuer: str, client: str, nonce: str) -> dict[str, Any]:
    """The claims of an identity token that the provider has made for this service and this attempt."""
    try:
        key = await keys.key(_key_number(token))
        if key is None:
            raise _refused("a key that it does not publish")
        claims = jwt.decode(token, key, algorithms=ALGORITHMS).claims
    except (JoseError, ValueError, TypeError, KeyError) as error:
        raise _refused("an identity whose signature is not valid") from error
    now, audience = time.time(), claims.get("aud")
    audiences = audience if isinstance(audience, list) else [audience]
    if claims.get("iss") != issuer or client not in audiences:
        raise _refused("an identity for another service")
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client:
        raise _refused("an identity for another service")
    expires, issued = claims.get("exp"), claims.get("iat")
    if not _is_time(expires) or not _is_time(issued) or now > expires + LEEWAY or issued > now + LEEWAY:
        raise _refused("an identity that is not valid now; do the clocks differ?")
    if claims.get("nonce") != nonce or not isinstance(claims.get("sub"), str):
        raise _refused("an identity for another attempt")
    return claims


def _key_number(token: str) -> str | None:
    found = extract_compact(token.encode()).headers().get("kid")
    return found if isinstance(found, str) else None


def _is_time(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _refused(what: str) -> NotSignedInError:
    return NotSignedInError(
        f"the identity provider gave {what}{'' if what.endswith('?') else '; try again'}.", owner="openid"
    )
