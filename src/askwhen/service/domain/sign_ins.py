"""Browsers that are signed in. Each has a secret of its own in a cookie, of which only the hash is stored.

So ending a sign-in ends it on one device, and no browser keeps a token.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ..errors import NotFoundError, NotSignedInError
from ..events.kinds import Fact, SignedIn, SignedOut, TokenRevoked
from .subscribers import Subscribers
from .tokens import ALL

PREFIX = "awsignin_"
"""How the secret of every sign-in begins, which tells it from a token."""

MOST = 50
"""Sign-ins of one name; a further one ends the oldest."""

_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    (r"iPhone|iPad", "iOS"),
    (r"Android", "Android"),
    (r"Windows", "Windows"),
    (r"Mac OS X|Macintosh", "macOS"),
    (r"CrOS", "ChromeOS"),
    (r"Linux", "Linux"),
)


class SignIn(msgspec.Struct):
    """A sign-in: when it was made, and when it was last used since this process started, None where it was not."""

    facts: SignedIn
    since: float
    seen: float | None = None

    @property
    def number(self) -> str:
        """The public number, which is not secret."""
        return self.facts.sign_in

    @property
    def name(self) -> str:
        """The name of the person."""
        return self.facts.name


def browser_of(header: str) -> str:
    """A short description of a browser, from its User-Agent header; empty where it is not known.

    Examples
    --------
    >>> browser_of("Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0")
    'Firefox on Linux'
    >>> browser_of("curl/8.0")
    ''
    """
    program = next((name for sign, name in _BROWSERS if sign in header), "")
    system = next((name for pattern, name in _SYSTEMS if re.search(pattern, header)), "")
    return f"{program} on {system}" if program and system else program


def digest_of(secret: str) -> str:
    """The hash of the secret of a sign-in, which is stored."""
    return hashlib.blake2b(
        secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"askwhen signin"
    ).hexdigest()


def new_sign_in(
    name: str,
    way: Literal["token", "openid"],
    expires: float,
    token: str = "",
    groups: Sequence[str] = (),
    browser: str = "",
) -> tuple[str, SignedIn]:
    """The secret of a new sign-in, and the fact to be recorded about it."""
    number, secret = secrets.token_hex(6), PREFIX + secrets.token_urlsafe(32)
    return secret, SignedIn(number, name, digest_of(secret), way, expires, token, list(groups), browser)


class SignIns:
    """All sign-ins that have neither ended nor expired, by their hashes. ``changes`` wakes whatever depends on them."""

    def __init__(self, changes: Subscribers) -> None:
        self._changes = changes
        self._by_digest: dict[str, SignIn] = {}

    def apply(self, fact: Fact, time: float) -> None:
        """Apply a sign-in or its end, at a time; a revoked token ends the sign-ins by it."""
        if isinstance(fact, SignedIn):
            self._drop(each for each in self._by_digest.values() if time >= each.facts.expires)
            mine = [each for each in self._by_digest.values() if each.name == fact.name]
            self._drop(mine[: len(mine) - MOST + 1] if len(mine) >= MOST else ())
            self._by_digest[fact.digest] = SignIn(fact, time)
        elif isinstance(fact, SignedOut):
            self._drop(each for each in self._by_digest.values() if each.number == fact.sign_in)
        elif isinstance(fact, TokenRevoked):
            self._drop(each for each in self._by_digest.values() if each.facts.token == fact.token)
        else:
            return
        self._changes.notify(ALL)

    def _drop(self, gone: Iterable[SignIn]) -> None:
        for each in list(gone):
            del self._by_digest[each.facts.digest]

    def of_secret(self, secret: str, now: float) -> SignIn:
        """The sign-in with this secret."""
        found = self._by_digest.get(digest_of(secret))
        if found is None or now >= found.facts.expires:
            raise NotSignedInError("the sign-in has ended; sign in again.", owner="token")
        found.seen = now
        return found

    def find(self, number: str, now: float) -> SignIn:
        """A sign-in by its public number."""
        for each in self._by_digest.values():
            if each.number == number and now < each.facts.expires:
                return each
        raise NotFoundError(f"there is no sign-in {number[:100]}.", owner="sign-in")

    def all(self, now: float) -> list[SignIn]:
        """All sign-ins, those of one person together, the latest first."""
        present = [each for each in self._by_digest.values() if now < each.facts.expires]
        return sorted(present, key=lambda each: (each.name, -each.since, each.number))
