"""Settings of an existing stream that can be changed, and those that cannot.

Features, algorithm and seed determine the model: with other values the rounds in the log would not give the same
decisions when they are played again. How questions are given out and shown does not affect decisions. Another budget
holds for the instances that come after the change. Labels can be put into another order; to add, rename or merge them
are events of their own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from ...engine.inputs.advice import ANY
from ...errors import InputError
from ..events.enum_errors import explained
from ..events.kinds import LabelsAdded, LabelsMerged
from ..events.settings import Settings, check_settings
from .model import check_budget_change

CHANGEABLE = (
    *("slots", "decide", "order", "lease", "grace", "forget", "erase", "guess", "view", "mode", "backlog"),
    *(
        "budget",
        "labels",
        "repeats",
        "tags",
        "about",
        "colours",
        "guidelines",
        "advisers",
        "advice",
        "overlap",
        "people",
        "team",
        "specialists",
        "gold",
    ),
)
_NESTED = ("view", "backlog", "about", "colours", "people", "specialists")
_OF_LABELS = ("about", "colours", "specialists")
"""Settings with an entry for some labels."""

_ENTRIES = (*_OF_LABELS, "people")
"""Settings with an entry for some labels or people; None removes one."""

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
            if name in _ENTRIES and isinstance(value, dict):
                found[name] = {label: each for label, each in found[name].items() if each is not None}
    return msgspec.convert(found, Settings)


def relabelled(settings: Settings, label: str, new: str) -> Changes:
    """The changes of the settings when a label gets another name, or becomes part of the one that has it."""
    found: Changes = {}
    if not isinstance(settings.labels, str):
        found["labels"] = list(dict.fromkeys(new if each == label else each for each in settings.labels))
    for name in _OF_LABELS:
        given = getattr(settings, name)
        if label in given:
            found[name] = {label: None, new: msgspec.to_builtins(given.get(new, given[label]))}
    return found


def with_labels(settings: Settings, fact: LabelsAdded | LabelsMerged) -> Settings:
    """The settings after labels were added or merged."""
    if isinstance(fact, LabelsMerged):
        return changed(settings, relabelled(settings, fact.label, fact.into))
    if isinstance(settings.labels, str):
        return settings
    return changed(settings, {"labels": [*settings.labels, *fact.labels]})


def differences(settings: Settings, changes: Changes) -> Changes:
    """The changes that differ from the current settings; invalid ones, and those that cannot be made, are refused."""
    try:
        new = changed(settings, changes)
    except msgspec.ValidationError as error:
        text = explained(str(error), Settings).replace("`$.", "`")
        raise InputError(f"{text[:1].lower()}{text[1:]}.", owner="stream", parameter="settings") from error
    if new.labels != settings.labels and not _is_same_set(settings, new):
        raise InputError(
            "labels can be put into another order here; add, rename or merge them by their own calls.",
            owner="stream",
            parameter="labels",
        )
    for name in Settings.__struct_fields__:
        if name not in CHANGEABLE and getattr(new, name) != getattr(settings, name):
            raise InputError(
                f"{name} cannot be changed, since decisions in the log depend on it; make another stream like it.",
                owner="stream",
                parameter=name,
            )
    check_settings(new, settings)
    if new.budget != settings.budget:
        check_budget_change(settings, new)
    if new.advisers != settings.advisers:
        _check_more_advisers(settings, new)
    before, after = msgspec.to_builtins(settings), msgspec.to_builtins(new)
    found = _different(before, after, CHANGEABLE)
    for name in found.keys() & set(_NESTED):
        found[name] = _different(before[name], after[name], after[name])
    for name in found.keys() & set(_ENTRIES):
        found[name] |= dict.fromkeys(before[name].keys() - after[name].keys())
    return found


def _check_more_advisers(before: Settings, after: Settings) -> None:
    """Refuse to begin or end with advice in the middle of a stream, or to take an adviser away."""
    if before.advisers is None or after.advisers is None:
        raise InputError(
            "a stream takes advice from its first instance on, or never; make another stream like it.",
            owner="stream",
            parameter="advisers",
        )
    if before.advisers == ANY:
        raise InputError(
            "any adviser is taken here, and those that came cannot be taken away.", owner="stream", parameter="advisers"
        )
    gone = [] if after.advisers == ANY else [name for name in before.advisers if name not in after.advisers]
    if gone:
        raise InputError(
            f"advisers can be added, and not taken away: {gone[0]!r} is missing.", owner="stream", parameter="advisers"
        )


def _is_same_set(before: Settings, after: Settings) -> bool:
    if isinstance(before.labels, str) or isinstance(after.labels, str):
        return False
    return sorted(before.labels) == sorted(after.labels)


def _different(before: Changes, after: Changes, names: Iterable[str]) -> Changes:
    return {name: after[name] for name in names if name not in before or after[name] != before[name]}
