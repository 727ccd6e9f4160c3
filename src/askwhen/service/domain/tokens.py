"""Tokens and what their holders may do. A token is 32 random bytes, shown once; only its hash is stored.

The hash is a fast one on purpose: slow hashes protect passwords, which can be guessed; 256 random bits cannot.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...errors import InputError
from ..errors import NotAllowedError, NotFoundError, NotSignedInError
from ..events.kinds import Fact, TokenMade, TokenRevoked
from ..events.settings import GROUP, LONGEST_NAME, is_person
from .subscribers import Subscribers

ROLES = ("producer", "annotator", "reviewer", "admin")
ANYBODY = "anybody"
ALL = 0
PREFIX = "aw_"
"""How every token begins, so that scanners recognize leaked ones."""


class Holder(NamedTuple):
    """The holder of a token: name, roles, and the numbers of the streams that it is for, or None for all."""

    token: str
    name: str
    roles: frozenset[str]
    streams: frozenset[int] | None
    expires: float | None

    def is_global_admin(self, now: float) -> bool:
        """Whether the token is for all streams with the role admin, and so allows making tokens."""
        return "admin" in self.roles and self.streams is None and not self.has_expired(now)

    def has_expired(self, now: float) -> bool:
        """Whether the token has expired."""
        return self.expires is not None and now >= self.expires

    def ends_before(self, other: Holder) -> bool:
        """Whether this token expires and another one does not."""
        return self.expires is not None and other.expires is None

    def has(self, *roles: str) -> bool:
        """Whether the holder has one of these roles; an admin has all."""
        return "admin" in self.roles or not self.roles.isdisjoint(roles)

    def check(self, role: str | tuple[str, ...], stream: int | None) -> None:
        """Refuse what the token does not allow: it needs the role, or one of several; an admin may do everything."""
        roles = (role,) if isinstance(role, str) else role
        if ANYBODY not in roles and not self.has(*roles):
            raise NotAllowedError(f"this needs the role {' or '.join(roles)}, which {self.name} lacks.", owner="token")
        if self.streams is not None and (stream is None or stream not in self.streams):
            raise NotAllowedError(
                f"the token of {self.name} is not for {'all streams' if stream is None else 'this stream'}.",
                owner="token",
            )


OPEN = Holder("", "anonymous", frozenset(ROLES), None, None)
"""Every client, while no tokens are required."""


def digest_of(secret: str) -> str:
    """The hash of a token, which is stored."""
    return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"askwhen token").hexdigest()


def check_grant(name: str, roles: Iterable[str]) -> list[str]:
    """The roles of a token in their order; refused where they or the name are not valid."""
    listed = sorted(set(roles))
    if not listed or not set(listed) <= set(ROLES):
        raise InputError.about("token", "roles", f"some of {', '.join(ROLES)}", listed)
    if not is_person(name):
        expected = f"a printable text of 1 to {LONGEST_NAME} characters that does not begin with {GROUP}, as groups do"
        raise InputError.about("token", "name", expected, name[:200])
    return listed


def new_token(
    name: str,
    roles: Iterable[str],
    streams: Sequence[int] | None,
    expires: float | None,
    invitation: str = "",
    by: str = "",
) -> tuple[str, TokenMade]:
    """A new token, and the fact to be recorded about it."""
    listed = check_grant(name, roles)
    token, secret = secrets.token_hex(6), PREFIX + secrets.token_urlsafe(32)
    given = None if streams is None else sorted(set(streams))
    return secret, TokenMade(token, name, digest_of(secret), listed, given, expires, invitation, by)


class Tokens:
    """The valid tokens, by their hashes. Once one was made, they are ``required``.

    Subscribers of ``changes`` (at the number ``ALL``) are woken when a token is made or revoked.
    """

    def __init__(self) -> None:
        self.required = False
        self.changes = Subscribers()
        self._by_digest: dict[str, Holder] = {}
        self._digests: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def apply(self, fact: Fact) -> None:
        """Apply the creation or revocation of a token; other facts change nothing."""
        if isinstance(fact, TokenMade):
            self.required = True
            streams = None if fact.streams is None else frozenset(fact.streams)
            self._by_digest[fact.digest] = Holder(fact.token, fact.name, frozenset(fact.roles), streams, fact.expires)
            self._digests[fact.token] = fact.digest
        elif isinstance(fact, TokenRevoked):
            digest = self._digests.pop(fact.token, None)
            if digest is not None:
                del self._by_digest[digest]
        self.changes.notify(ALL)

    def holder(self, secret: str, now: float) -> Holder:
        """The holder of a token, given its secret."""
        found = self._by_digest.get(digest_of(secret))
        if found is None:
            raise NotSignedInError("the token is not known.", owner="token")
        if found.has_expired(now):
            raise NotSignedInError("the token has expired.", owner="token")
        return found

    def gives(self, name: str, stream: int, now: float) -> bool:
        """Whether a person has a token that is valid for a stream."""
        return any(
            each.name == name and (each.streams is None or stream in each.streams) and not each.has_expired(now)
            for each in self._by_digest.values()
        )

    def find(self, token: str) -> Holder:
        """The holder of a token, given its public number."""
        if token not in self._digests:
            raise NotFoundError(f"there is no token {token[:100]}.", owner="token")
        return self._by_digest[self._digests[token]]

    def all(self) -> list[Holder]:
        """All holders, sorted by name."""
        return sorted(self._by_digest.values(), key=lambda holder: (holder.name, holder.token))
