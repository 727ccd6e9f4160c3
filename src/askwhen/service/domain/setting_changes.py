"""What may be said anew of a stream that is there, and what may not.

The model follows from the log by labels, features, algorithm, budget and seed: with others the log would decide
otherwise when it is played again. How questions are given out and shown changes nothing that was decided.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...errors import InputError
from ..events.choices import explained
from ..events.settings import Settings, check_settings

CHANGEABLE = ("slots", "decide", "order", "lease", "grace", "forget", "erase", "guess", "view")

Changes = dict[str, Any]
"""New values by the names of settings; those of the view by their names in it."""


def changed(settings: Settings, *all_changes: Changes) -> Settings:
    """Settings after changes, one after the other."""
    if not all_changes:
        return settings
    found: Changes = msgspec.to_builtins(settings)
    for changes in all_changes:
        view = changes.get("view", {})
        found |= changes | {"view": found["view"] | view if isinstance(view, dict) else view}
    return msgspec.convert(found, Settings)


def differences(settings: Settings, changes: Changes) -> Changes:
    """Those changes that change something; refused in a sentence where one cannot be meant, or not be made."""
    try:
        new = changed(settings, changes)
    except msgspec.ValidationError as error:
        said = explained(str(error), Settings).replace("`$.", "`")
        raise InputError(f"{said[:1].lower()}{said[1:]}.", owner="stream", parameter="settings") from error
    for name in Settings.__struct_fields__:
        if name not in CHANGEABLE and getattr(new, name) != getattr(settings, name):
            raise InputError(
                f"{name} cannot be changed, since the log was decided by it; make another stream like this one.",
                owner="stream",
                parameter=name,
            )
    check_settings(new)
    before, after = msgspec.to_builtins(settings), msgspec.to_builtins(new)
    found = _different(before, after, CHANGEABLE)
    if "view" in found:
        found["view"] = _different(before["view"], after["view"], after["view"])
    return found


def _different(before: Changes, after: Changes, names: Iterable[str]) -> Changes:
    return {name: after[name] for name in names if after[name] != before[name]}
