"""Invitations: links that give a token once, until they expire. Only the hash of a link's secret is stored."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Iterable, Sequence

from ..errors import NotFoundError, NotSignedInError
from ..events.kinds import Fact, InvitationWithdrawn, Invited, TokenMade
from .tokens import check_grant

PREFIX = "awinvite_"
"""How the secret of every invitation begins."""


def digest_of(secret: str) -> str:
    """The hash of the secret of an invitation, which is stored."""
    return hashlib.blake2b(
        secret.encode("utf-8", "surrogatepass"), digest_size=32, person=b"askwhen invite"
    ).hexdigest()


def new_invitation(
    name: str, roles: Iterable[str], streams: Sequence[int] | None, days: float | None, expires: float, by: str
) -> tuple[str, Invited]:
    """The secret of a new invitation, and the fact to be recorded about it."""
    listed = check_grant(name, roles)
    number, secret = secrets.token_hex(6), PREFIX + secrets.token_urlsafe(32)
    given = None if streams is None else sorted(set(streams))
    return secret, Invited(number, name, digest_of(secret), listed, expires, given, days, by)


class Invitations:
    """The invitations that were neither accepted nor withdrawn, by their hashes."""

    def __init__(self) -> None:
        self._by_digest: dict[str, Invited] = {}

    def apply(self, fact: Fact) -> None:
        """Apply an invitation or its end; other facts change nothing."""
        if isinstance(fact, Invited):
            self._by_digest[fact.digest] = fact
        elif isinstance(fact, InvitationWithdrawn) or (isinstance(fact, TokenMade) and fact.invitation):
            gone = [digest for digest, each in self._by_digest.items() if each.invitation == fact.invitation]
            for digest in gone:
                del self._by_digest[digest]

    def of_secret(self, secret: str, now: float) -> Invited:
        """The invitation with this secret."""
        found = self._by_digest.get(digest_of(secret))
        if found is None or now >= found.expires:
            raise NotSignedInError(
                "this invitation was accepted or withdrawn, or it has expired; ask for another one.", owner="invitation"
            )
        return found

    def find(self, number: str, now: float) -> Invited:
        """An invitation by its public number."""
        for each in self.all(now):
            if each.invitation == number:
                return each
        raise NotFoundError(f"there is no invitation {number[:100]}.", owner="invitation")

    def all(self, now: float) -> list[Invited]:
        """All that are valid, sorted by name."""
        present = [each for each in self._by_digest.values() if now < each.expires]
        return sorted(present, key=lambda each: (each.name, each.expires, each.invitation))
