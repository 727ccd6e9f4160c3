"""Estimates with their intervals, as facts for programs and as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import askwhen as aw

from .summary import in_percent


def interval_facts(found: aw.evaluate.Estimate) -> dict[str, Any]:
    """An estimate, for programs: while the value is not known it is null, and ``why_unknown`` says why."""
    ends = {"value": found.value, "low": found.low, "high": found.high}
    return ends | ({"why_unknown": found.why_unknown} if found.why_unknown else {})


def interval(found: dict[str, Any], shown: Callable[[float], str] = in_percent) -> str:
    """A share with its interval; while it is not known, only the interval and the reason."""
    ends, why = f"{shown(found['low'])} to {shown(found['high'])}", found.get("why_unknown")
    return f"not known yet with {why} ({ends})" if why else f"{shown(found['value'])}, {ends}"
