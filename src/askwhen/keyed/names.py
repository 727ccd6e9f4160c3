"""Names that are not there: a hint at the nearest one that is."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def perhaps(name: object, known: Iterable[object]) -> str:
    """A hint at the known name nearest to one that is not known, for the end of a clause; empty without any."""
    by_letters = {str(each).strip().casefold(): each for each in known}
    near = difflib.get_close_matches(str(name).strip().casefold(), list(by_letters), 1)
    return f", perhaps {by_letters[near[0]]!r}" if near else ""
