"""How good advisers are, as facts for programs and for a terminal."""

from __future__ import annotations

from typing import Any

import askwhen as aw

from .intervals import interval, interval_facts
from .summary import in_percent
from .tables import new_table


def adviser_facts(sampler: aw.Sampler) -> list[dict[str, Any]]:
    """How good each adviser is, the best first; empty without advisers, and for numbers."""
    from ...evaluate import advisers

    if sampler.engine.advisers is None or sampler.learner.regression:
        return []
    return [
        {
            "name": name,
            "estimate": interval_facts(found.overall),
            "rows": found.rounds,
            "silent": found.silent,
            "recent": {str(n): interval_facts(each) for n, each in found.accuracy.windows.items() if n < found.rounds},
            "gain": _difference(found.gain),
            "against": {other: _difference(each) for other, each in found.against.items()},
            "random_labels": found.random_labels,
            "warning": found.warning,
            "change": found.change,
        }
        for name, found in advisers(sampler).items()
    ]


def _difference(found: aw.evaluate.Difference) -> dict[str, float]:
    return {"value": found.value, "low": found.low, "high": found.high}


def comparison_facts(comparison: aw.evaluate.Comparison) -> list[dict[str, Any]]:
    """The advisers of a comparison, for programs."""
    return [
        {
            "name": each.name,
            "accuracy": each.accuracy,
            "silent": each.silent,
            "windows": each.windows,
            "estimates": [part._asdict() for part in each.estimates],
        }
        for each in comparison.advisers
    ]


def comparison_table(comparison: aw.evaluate.Comparison) -> list[Any]:
    """The advisers of a comparison as a table; nothing without any."""
    from rich.markup import escape

    if not comparison.advisers:
        return []
    table = new_table(
        "adviser", "right, all labels", "asked by", "labels", "right, from asked labels", "interval held in"
    )
    for each in comparison.advisers:
        first = [escape(each.name), in_percent(each.accuracy)]
        for part in each.estimates:
            ends = f"{in_percent(part.low)} to {in_percent(part.high)}"
            known = f"{in_percent(part.value)}, {ends}" if part.value == part.value else f"not known yet ({ends})"
            labels = f"{100 * part.share:.3g} %"
            table.add_row(*first, part.algorithm, labels, known, f"{part.held} of {comparison.repeats}")
            first = ["", ""]
    return [table, ""]


def adviser_rows(facts: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """The rows of a table about advisers."""
    rows, best = [], facts[0]["name"] if facts else ""
    for each in facts:
        estimate = each["estimate"]
        if each["rows"] == 0:
            rows.append((each["name"], "has said nothing"))
            continue
        silent = f" of the {each['rows']:,} rows in which it says something" if each["silent"] else ""
        known = "" if estimate.get("why_unknown") else " right"
        rows.append((each["name"], f"{interval(estimate)}{known}{silent}, from asked labels"))
        compared = {"the predictions were better by": each["gain"], f"compared with {best}:": each["against"].get(best)}
        for what, found in compared.items():
            if found is not None and found["value"] == found["value"]:
                value, low, high = (f"{100.0 * found[name]:+.1f}" for name in ("value", "low", "high"))
                rows.append(("", f"{what} {value} points ({low} to {high})"))
        rows += [("", each[name]) for name in ("change", "warning") if each[name]]
    return rows
