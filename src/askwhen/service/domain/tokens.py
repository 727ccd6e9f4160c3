"""Who may do what. A token is 32 random bytes, shown once; only its hash is kept.

The hash is a fast one on purpose: slow hashes are for passwords, which can be guessed. Nobody guesses 256 random bits.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from ...errors import InputError
from ..errors import NotAllowedError, NotFoundError, NotSignedInError
from ..events.kinds import Fact, TokenMade, TokenRevoked
from .subscribers import Subscribers

ROLES = ("producer", "annotator", "reviewer", "admin")
LONGEST_NAME = 100
ANYBODY = "anybody"
ALL = 0
PREFIX = "aw_"
"""Of every token, so that one is known where it is found."""


class Holder(NamedTuple):
    """Who holds a token: a name, roles, and the numbers of the streams they are for, or None for all."""

    token: str
    name: str
    roles: frozenset[str]
    streams: frozenset[int] | None
    expires: float | None

    def is_global_admin(self, now: float) -> bool:
        """Whether they may make tokens."""
        return "admin" in self.roles and self.streams is None and not self.has_expired(now)

    def has_expired(self, now: float) -> bool:
        """Whether the token is valid no longer."""
        return self.expires is not None and now >= self.expires

    def ends_before(self, other: Holder) -> bool:
        """Whether this token has an end and another one has none."""
        return self.expires is not None and other.expires is None

    def has(self, *roles: str) -> bool:
        """Whether they have one of these roles; an admin has all."""
        return "admin" in self.roles or not self.roles.isdisjoint(roles)

    def check(self, role: str, stream: int | None) -> None:
        """Refuse what the token does not allow; an admin may do everything."""
        if role != ANYBODY and not self.has(role):
            raise NotAllowedError(f"this needs the role {role}, which {self.name} has not.", owner="token")
        if self.streams is not None and (stream is None or stream not in self.streams):
            raise NotAllowedError(
                f"the token of {self.name} is not for {'all streams' if stream is None else 'this stream'}.",
                owner="token",
            )


OPEN = Holder("", "anonymous", frozenset(ROLES), None, None)
"""Everybody, where no tokens are asked for."""


def digest_of(secret: str) -> str:
    """What is kept of a token."""
    return hashlib.blake2b(secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"askwhen token").hexdigest()


def new_token(
    name: str, roles: Iterable[str], streams: Sequence[int] | None, expires: float | None
) -> tuple[str, TokenMade]:
    """A new token, and the fact to be kept of it."""
    listed = sorted(set(roles))
    if not listed or not set(listed) <= set(ROLES):
        raise InputError.about("token", "roles", f"some of {', '.join(ROLES)}", listed)
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise InputError.about("token", "name", f"a printable text of 1 to {LONGEST_NAME} characters", name[:200])
    token, secret = secrets.token_hex(6), PREFIX + secrets.token_urlsafe(32)
    given = None if streams is None else sorted(set(streams))
    return secret, TokenMade(token, name, digest_of(secret), listed, given, expires)


class Tokens:
    """The valid tokens, by what is kept of them. ``wanted`` once one was made: from then on everybody needs one.

    Whoever watches ``changes`` (at the number ``ALL``) is woken when a token is made or revoked.
    """

    def __init__(self) -> None:
        self.required = False
        self.changes = Subscribers()
        self._by_digest: dict[str, Holder] = {}

    def __len__(self) -> int:
        return len(self._by_digest)

    def apply(self, fact: Fact) -> None:
        """A token was made or revoked."""
        if isinstance(fact, TokenMade):
            self.required = True
            streams = None if fact.streams is None else frozenset(fact.streams)
            self._by_digest[fact.digest] = Holder(fact.token, fact.name, frozenset(fact.roles), streams, fact.expires)
        elif isinstance(fact, TokenRevoked):
            gone = [digest for digest, holder in self._by_digest.items() if holder.token == fact.token]
            for digest in gone:
                del self._by_digest[digest]
        self.changes.notify(ALL)

    def holder(self, secret: str, now: float) -> Holder:
        """Who holds this token."""
        found = self._by_digest.get(digest_of(secret))
        if found is None:
            raise NotSignedInError("the token is not known.", owner="token")
        if found.has_expired(now):
            raise NotSignedInError("the token has expired.", owner="token")
        return found

    def find(self, token: str) -> Holder:
        """A token by its public number."""
        for holder in self._by_digest.values():
            if holder.token == token:
                return holder
        raise NotFoundError(f"there is no token {token}.", owner="token")

    def all(self) -> list[Holder]:
        """All of them, by name."""
        return sorted(self._by_digest.values(), key=lambda holder: (holder.name, holder.token))
