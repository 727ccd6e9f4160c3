"""Settings of an existing stream that can be changed, and those that cannot.

Labels, features, algorithm, budget and seed determine the model: with other values the rounds in the log would not give
the same decisions when they are played again. How questions are given out and shown does not affect decisions.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...errors import InputError
from ..events.enum_errors import explained
from ..events.settings import Settings, check_settings

CHANGEABLE = ("slots", "decide", "order", "lease", "grace", "forget", "erase", "guess", "view", "mode", "backlog")
_NESTED = ("view", "backlog")

Changes = dict[str, Any]
"""New values by the names of settings; those of the view and the backlog are nested."""


def changed(settings: Settings, *all_changes: Changes) -> Settings:
    """Settings after some changes, in order."""
    if not all_changes:
        return settings
    found: Changes = msgspec.to_builtins(settings)
    for changes in all_changes:
        for name, value in changes.items():
            found[name] = found[name] | value if name in _NESTED and isinstance(value, dict) else value
    return msgspec.convert(found, Settings)


def differences(settings: Settings, changes: Changes) -> Changes:
    """The changes that differ from the current settings; invalid ones, and those that cannot be made, are refused."""
    try:
        new = changed(settings, changes)
    except msgspec.ValidationError as error:
        text = explained(str(error), Settings).replace("`$.", "`")
        raise InputError(f"{text[:1].lower()}{text[1:]}.", owner="stream", parameter="settings") from error
    for name in Settings.__struct_fields__:
        if name not in CHANGEABLE and getattr(new, name) != getattr(settings, name):
            raise InputError(
                f"{name} cannot be changed, since decisions in the log depend on it; make another stream like it.",
                owner="stream",
                parameter=name,
            )
    check_settings(new)
    before, after = msgspec.to_builtins(settings), msgspec.to_builtins(new)
    found = _different(before, after, CHANGEABLE)
    for name in found.keys() & set(_NESTED):
        found[name] = _different(before[name], after[name], after[name])
    return found


def _different(before: Changes, after: Changes, names: Iterable[str]) -> Changes:
    return {name: after[name] for name in names if after[name] != before[name]}
