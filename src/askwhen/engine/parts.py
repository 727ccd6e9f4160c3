"""Learners, rules, drift guards and kernels by name, and whether they fit together.

Parameters become a class name with its arguments, and back.
"""

from __future__ import annotations

import dataclasses
import datetime
import numbers
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import drift, learners, rules
from ..contracts.sampler import Parts
from ..errors import InputError, SnapshotError
from ..prepare import Prepare
from ..rules import Audit
from ..validation import short
from ..weights import kernels

PARTS: dict[str, Callable[..., Any]] = {
    name: getattr(room, name) for room in (learners, rules, drift) for name in room.__all__
} | {"Prepare": Prepare}
"""Everything that a sampler is made of, by name."""

KERNELS: dict[str, Callable[..., Any]] = {
    kernel.__name__: kernel for kernel in (kernels.Linear, kernels.Polynomial, kernels.Gaussian)
}
"""Every kernel whose parameters are numbers, by name; a user's own is code, which no snapshot holds."""

OWN_KERNEL = ["Kernel", {}]


def describe(part: Any) -> list[Any] | None:
    """A part as its name and parameters."""
    if part is None:
        return None
    if isinstance(part, kernels.Kernel):
        return OWN_KERNEL
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return [type(part).__name__, {name: _plain(value) for name, value in values.items()}]


def build(described: list[Any] | None, own_kernel: Any = None) -> Any:
    """The part of this description, with the user's kernel where it had one."""
    if described is None:
        return None
    name, values = described
    known = PARTS | KERNELS
    if name not in known:
        raise SnapshotError(f"load: this version of askwhen has no {name!r}.")
    values = dict(values)
    if values.get("kernel") == OWN_KERNEL:
        if not isinstance(own_kernel, kernels.Kernel):
            got = "" if own_kernel is None else f", an aw.Kernel, got {type(own_kernel).__name__}"
            raise SnapshotError(
                f"load: what was saved has a kernel of its own, which must be given again as kernel={got}."
            )
        values["kernel"] = own_kernel
    elif own_kernel is not None and name in learners.__all__:
        raise SnapshotError("load: kernel is only for a sampler that was saved with a kernel of its own.")
    elif isinstance(values.get("kernel"), list):
        values["kernel"] = build(values["kernel"])
    try:
        return known[name](**values)
    except (TypeError, InputError) as error:
        raise SnapshotError(f"load: the parameters of {name} cannot be used ({error}).") from error


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
    for name, part, room in (("learner", learner, "learners"), ("rule", rule, "rules"), ("drift", drift, "drift")):
        if part is None and name == "drift":
            continue
        if type(part).__name__ not in PARTS or f".{room}." not in type(part).__module__ or isinstance(part, Audit):
            raise InputError(f"Sampler: {name} must be one of askwhen's {room}, got {part!r}.")
    if not isinstance(prepare, (Prepare, type(None))):
        raise InputError(f"Sampler: prepare must be a Prepare(...) or None, got {prepare!r}.")
    if not isinstance(audit, (Audit, type(None))):
        raise InputError(f"Sampler: audit must be an Audit(...) or None, got {audit!r}.")
    if rule.needs_uncertainty and not learner.has_uncertainty:
        raise InputError(
            f"Sampler: {short(rule)} needs a learner with an uncertainty, such as LeastSquares, got {short(learner)}."
        )
    if learner.regression and rule.needs_margin:
        raise InputError(
            f"Sampler: {short(rule)} asks near a decision boundary, which the regressor {short(learner)} has not."
        )
    if drift is not None and not learner.has_uncertainty:
        raise InputError(
            f"Sampler: {short(drift)} needs a learner with an uncertainty, such as LeastSquares, got {short(learner)}."
        )
    if drift is not None and learner.regression != (drift.noise_bound is not None):
        raise InputError("Sampler: a SwitchDetector needs noise_bound for a regressor, and only for a regressor.")
