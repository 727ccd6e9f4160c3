"""Registry of learners, rules, drift detectors and kernels: describes them by name, builds them, checks that they fit.

A part is a dataclass of parameters with the members that :mod:`askwhen.contracts` asks for; other packages may define
some too. In a snapshot a part is a name with its arguments: the class name for parts of this package, module and class
for those of others. A snapshot never causes an import: a part of another package must be passed again when a file is
loaded, or be found among the entry points of installed packages, in the group ``askwhen.parts``.
"""

from __future__ import annotations

import dataclasses
import datetime
import importlib.metadata
import numbers
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ... import drift, learners, rules
from ...contracts.abilities import SelectiveDrift, provides
from ...contracts.sampler import Parts
from ...errors import InputError, SnapshotError
from ...prepare import Prepare
from ...rules import Audit
from ...validation import short
from ...weights import kernels

PARTS: dict[str, Callable[..., Any]] = {
    name: getattr(package, name) for package in (learners, rules, drift) for name in package.__all__
} | {"Prepare": Prepare}
"""The parts of this package, by name."""

KERNELS: dict[str, Callable[..., Any]] = {
    kernel.__name__: kernel for kernel in (kernels.Linear, kernels.Polynomial, kernels.Gaussian)
}
"""Kernels whose parameters are numbers, by name; a user's own kernel is code, which no snapshot holds."""

OWN_KERNEL = ["Kernel", {}]

ENTRY_POINTS = "askwhen.parts"
"""The group of entry points in which installed packages announce their parts."""

_LACKING: dict[str, dict[str, Any]] = {"BudgetRule": {"spread": False}, "Mixture": {"version": 1}}
"""Parameters that old descriptions lack, with the values that reproduce the behaviour of that time."""

_LATER: dict[str, dict[str, Any]] = {"BudgetRule": {"length": None}, "Mixture": {"version": 1, "kinds": None}}
"""Parameters that were added later, with the values at which old and new descriptions are equal: they are left out."""

_PROVIDED = {
    "learner": ("regression", "has_uncertainty", "start"),
    "rule": ("needs_uncertainty", "needs_margin", "start"),
    "drift": ("start",),
}


def name_of(kind: type) -> str:
    """The name of a part's class in a snapshot."""
    own = PARTS.get(kind.__name__) is kind or KERNELS.get(kind.__name__) is kind
    return kind.__name__ if own else f"{kind.__module__}.{kind.__qualname__}"


def describe(part: Any) -> list[Any] | None:
    """A part as its name and parameters."""
    if part is None:
        return None
    if isinstance(part, kernels.Kernel):
        return OWN_KERNEL
    later = _LATER.get(name_of(type(part)), {})
    values = {
        field.name: getattr(part, field.name)
        for field in dataclasses.fields(part)
        if field.name not in later or getattr(part, field.name) != later[field.name]
    }
    return [name_of(type(part)), {name: _plain(value) for name, value in values.items()}]


def build(described: list[Any] | None, own_kernel: Any = None, given: Iterable[type] = ()) -> Any:
    """The part that was described, with the user's own kernel and classes where the description needs them."""
    if described is None:
        return None
    name, values = described
    kind = _found(name, given)
    values = _LACKING.get(name, {}) | values
    if values.get("kernel") == OWN_KERNEL:
        if not isinstance(own_kernel, kernels.Kernel):
            got = "" if own_kernel is None else f", an aw.Kernel, got {type(own_kernel).__name__}"
            raise SnapshotError(
                f"the file was saved with a custom kernel, which must be given again as kernel={got}.", owner="load"
            )
        values["kernel"] = own_kernel
    elif own_kernel is not None and name in learners.__all__:
        raise SnapshotError("kernel applies only to a sampler that was saved with a custom kernel.", owner="load")
    elif isinstance(values.get("kernel"), list):
        values["kernel"] = build(values["kernel"])
    try:
        return kind(**values)
    except (TypeError, InputError) as error:
        raise SnapshotError(f"the parameters of {name} cannot be used ({error}).", owner="load") from error


def _found(name: Any, given: Iterable[type]) -> Callable[..., Any]:
    """The class of this name: of this package, among those given, or of an installed package."""
    known = PARTS | KERNELS
    if isinstance(name, str) and name in known:
        return known[name]
    for kind in given:
        if name_of(kind) == name:
            return kind
    if not isinstance(name, str) or "." not in name:
        raise SnapshotError(f"this version of askwhen has no {name!r}.", owner="load")
    for entry in importlib.metadata.entry_points(group=ENTRY_POINTS):
        if entry.value.replace(":", ".") == name:
            found: Callable[..., Any] = entry.load()
            return found
    raise SnapshotError(
        f"the file was saved with the part {name}, which must be given again, as in parts=[{name.split('.')[-1]}].",
        owner="load",
    )


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value):
        return describe(value)
    if isinstance(value, (datetime.timedelta, np.timedelta64)):
        return value / (np.timedelta64(1, "s") if isinstance(value, np.timedelta64) else datetime.timedelta(seconds=1))
    if isinstance(value, np.generic):
        return value.item()
    exact = isinstance(value, (bool, int)) or not isinstance(value, numbers.Real)
    return value if exact else float(value)


def check_parts(parts: Parts) -> None:
    """Refuse parts that do not fit together."""
    learner, rule, drift, prepare, audit = parts
    for name, part in (("learner", learner), ("rule", rule), ("drift", drift)):
        if part is not None or name != "drift":
            _check_provides(name, part)
    if not isinstance(prepare, (Prepare, type(None))):
        raise InputError(f"prepare must be a Prepare(...) or None, got {prepare!r}.", owner="Sampler")
    if not isinstance(audit, (Audit, type(None))):
        raise InputError(f"audit must be an Audit(...) or None, got {audit!r}.", owner="Sampler")
    for part in (rule, drift):
        if getattr(part, "needs_uncertainty", False) and not learner.has_uncertainty:
            raise InputError(
                f"{short(part)} needs a learner with an uncertainty, such as LeastSquares, got {short(learner)}.",
                owner="Sampler",
            )
    if learner.regression and rule.needs_margin:
        raise InputError(
            f"{short(rule)} asks near a decision boundary, which the regressor {short(learner)} lacks.",
            owner="Sampler",
        )
    if provides(drift, SelectiveDrift):
        drift.check_learner(learner)


def _check_provides(name: str, part: Any) -> None:
    """Refuse an object that lacks the members of a learner, a rule or a drift detector."""
    needed = _PROVIDED[name]
    others = [other for other in _PROVIDED if other != name]
    lacks = [each for each in needed if not hasattr(part, each)]
    is_other = any(all(hasattr(part, each) for each in _PROVIDED[other][:-1]) for other in others if other != "drift")
    if isinstance(part, (type, Audit)) or lacks or (name == "drift" and is_other):
        kind = {"learner": "learners", "rule": "rules", "drift": "drift detectors"}[name]
        raise InputError(
            f"{name} must be one of askwhen's {kind}, or provide {', '.join(needed)}, got {part!r}.", owner="Sampler"
        )
    if not dataclasses.is_dataclass(part):
        raise InputError(
            f"{name} must be a dataclass, so that its parameters can be saved, got {type(part).__name__}.",
            owner="Sampler",
        )
