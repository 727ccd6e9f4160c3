"""Columns of a file in which advisers say what the labels are, known by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from ..domain.stream import ServiceStream
from .advice_columns import advisers_of

_SAID, _SURE = ("", "advice", "label", "answer", "says"), ("confidence", "probability", "score")
_EXPORTED = (("advice.", "advice"), ("confidence.", "confidence"))
"""How exports call these columns."""


class AdviceUse(NamedTuple):
    """The use of a column: an adviser's labels, or what it states of them."""

    use: Literal["advice", "confidence"]
    adviser: str


def advice_uses(stream: ServiceStream, names: Sequence[str]) -> dict[str, AdviceUse]:
    """Those of some columns that advice is in; a confidence needs a column with labels."""
    if stream.settings.advisers is None:
        return {}
    by_name: dict[str, AdviceUse] = {}
    for adviser in advisers_of(stream):
        for words, use in ((_SAID, "advice"), (_SURE, "confidence")):
            for word in words:
                found = AdviceUse(use, adviser)  # type: ignore[arg-type]
                by_name |= {_folded(adviser + word): found, _folded(word + adviser): found}
    uses = {name: by_name[_folded(name)] for name in names if _folded(name) in by_name}
    if stream.settings.advisers == "any":
        for prefix, use in _EXPORTED:
            called = {name: name.removeprefix(prefix) for name in names if name.startswith(prefix) and name != prefix}
            uses |= {name: AdviceUse(use, adviser) for name, adviser in called.items()}  # type: ignore[arg-type]
    there = {each.adviser for each in uses.values() if each.use == "advice"}
    return {name: each for name, each in uses.items() if each.adviser in there}


def _folded(name: str) -> str:
    """A name without what people write in different ways."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())
