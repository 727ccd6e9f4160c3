"""How people see the instances of a stream."""

from __future__ import annotations

import re
from typing import Literal
from urllib.parse import urlsplit

import msgspec

from ...errors import InputError

MOST_PLACES, LONGEST = 50, 500
_SIGNS = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?(?:<?[=!]|:|<\w+>)|.", re.DOTALL)
"""The tokens of a pattern: an escape, a character class, the start of a group, or one character."""


class View(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """How instances are shown: ``show`` of an instance, or else its ``x``.

    ``kind`` is found from what is shown unless it is given; ``highlight`` is a pattern whose matches in texts are
    marked; ``direction`` is that of texts. Images and sounds are loaded from addresses that begin with one of
    ``media`` and from nowhere else. Reviewers see no names where ``blind``, and ``review`` is the share of all
    questions that they are shown in addition to the disputed and the corrected ones.
    """

    kind: Literal["auto", "text", "code", "table", "image", "audio", "json"] = "auto"
    highlight: str = ""
    direction: Literal["auto", "ltr", "rtl"] = "auto"
    media: list[str] = []
    blind: bool = False
    review: float = 0.1


def check_view(view: View) -> None:
    """Refuse an invalid view, in one sentence."""
    if len(view.highlight) > LONGEST:
        raise InputError.about("stream", "highlight", f"a pattern of at most {LONGEST} characters", view.highlight[:50])
    if _repeats_repeated(view.highlight):
        expected = "a pattern without +, * or {} after a group that has one of them or ? in it"
        raise InputError.about("stream", "highlight", expected, view.highlight)
    if not 0.0 <= view.review <= 1.0:
        raise InputError.about("stream", "review", "a share between 0 and 1", view.review)
    if len(view.media) > MOST_PLACES:
        raise InputError.about("stream", "media", f"at most {MOST_PLACES} addresses", len(view.media))
    for place in view.media:
        if source_of(place) is None:
            expected = "addresses such as https://images.example.org/mails/, without spaces, quotes, ? and #"
            raise InputError.about("stream", "media", expected, place[:200])


def _repeats_repeated(pattern: str) -> bool:
    """Whether a pattern can take exponential time on a hostile text, as (a+)+ and (a+b?)* do."""
    groups, closed = [False], False
    for sign in _SIGNS.findall(pattern):
        if sign in ("+", "*", "{") and closed:
            return True
        closed = sign == ")" and len(groups) > 1 and groups.pop()
        if sign.startswith("("):
            groups.append(False)
        elif closed or sign in ("+", "*", "{", "?"):
            groups[-1] = True
    return False


def source_of(place: str) -> str | None:
    """An address as a source in a content security policy, or None where it cannot be one.

    Examples
    --------
    >>> source_of("https://images.example.org/mails/")
    'https://images.example.org/mails/'
    >>> source_of("https://images.example.org; script-src *")
    """
    if len(place) > LONGEST or not place.isascii() or not place.isprintable() or set(place) & set(" ;,'\"?#*\\<>@"):
        return None
    try:
        found = urlsplit(place)
        _ = found.port
    except ValueError:
        return None
    return place if found.scheme in ("http", "https") and found.hostname and found.path.endswith("/") else None
