"""One attempt to sign in, which the browser keeps in a cookie until the provider sends it back.

Nothing of it is kept here, so that an attempt survives a restart, and attempts cannot fill the memory.
"""

from __future__ import annotations

import base64
import hashlib
import secrets

import msgspec
from litestar.datastructures import Cookie

from ...errors import NotSignedInError
from ..cookies import AnyRequest

PREFIX = "askwhen-sign-in-"
SECONDS = 600
LONGEST_NEXT = 500
PATH = "/sign-in"
"""Where the sign-in begins; the cookie is sent to no other path."""


class Attempt(msgspec.Struct):
    """The values that bind the provider's reply to this browser and this attempt, and the page to go to afterwards."""

    state: str
    nonce: str
    verifier: str
    next: str

    @property
    def challenge(self) -> str:
        """The hash of the verifier, which the provider is given first (PKCE, S256)."""
        return base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()


def new_attempt(next: str, root: str) -> Attempt:
    """A new attempt; it ends at a page of this service, whatever ``next`` says."""
    return Attempt(
        secrets.token_urlsafe(24), secrets.token_urlsafe(24), secrets.token_urlsafe(48), _own_page(next, root)
    )


def _own_page(next: str, root: str) -> str:
    """A path of this service: an address of another host could be a trap."""
    is_path = next.startswith(f"{root}/") and not next.startswith("//") and "\\" not in next
    return next if is_path and len(next) <= LONGEST_NEXT and next.isascii() and next.isprintable() else f"{root}/"


def cookie_of(attempt: Attempt, secure: bool, root: str) -> Cookie:
    """The cookie of an attempt: it comes back with the provider's redirect, hence lax."""
    value = base64.urlsafe_b64encode(msgspec.json.encode(attempt)).decode().rstrip("=")
    return _cookie(attempt.state, value, SECONDS, secure, root)


def no_cookie(state: str, secure: bool, root: str) -> Cookie:
    """The cookie that deletes it."""
    return _cookie(state, "", 0, secure, root)


def _cookie(state: str, value: str, age: int, secure: bool, root: str) -> Cookie:
    key = PREFIX + state[:8]
    return Cookie(key=key, value=value, max_age=age, path=root + PATH, secure=secure, httponly=True, samesite="lax")


def attempt_of(request: AnyRequest, state: str) -> Attempt:
    """The attempt to which the provider's reply belongs; refused where this browser has begun no such attempt."""
    value = request.cookies.get(PREFIX + state[:8], "")
    try:
        found = msgspec.json.decode(base64.urlsafe_b64decode(value + "=" * (-len(value) % 4)), type=Attempt)
    except (ValueError, msgspec.MsgspecError):
        found = None
    if found is None or not secrets.compare_digest(found.state.encode(), state.encode()):
        raise NotSignedInError(
            "this browser has not begun to sign in, or more than ten minutes ago; try again.", owner="openid"
        )
    return found
