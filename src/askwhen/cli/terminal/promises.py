"""Promises on delivered labels, as facts for programs and for a terminal."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Any

import askwhen as aw

from .summary import in_percent
from .tables import table_of


def promise_of(sampler: aw.Sampler, words: Sequence[Any] | None = None) -> Any:
    """What a sampler promises, with the labels as the file has them; None with another rule."""
    from ...engine.promise import Promise

    if not isinstance(sampler.rule, aw.PromiseRule):
        return None
    return sampler.promise if words is None else Promise(sampler.engine, sampler.turn, words)


def promise_facts(promise: Any, history: aw.evaluate.PromiseHistory | None = None) -> dict[str, Any]:
    """A promise; ``history`` says how many of the delivered labels were wrong, where all labels are known."""
    names = (
        "error",
        "confidence",
        "delivered",
        "answered",
        "waiting",
        "withheld",
        "coverage",
        "certified",
        "estimated",
    )
    classes = {str(label): each.certified for label, each in promise.classes.items()}
    more = {"needed": promise.needed, "classes": classes, "warning": promise.warning}
    found = {name: getattr(promise, name) for name in names} | more | {"sentence": f"{promise.certificate}."}
    if history is not None and len(history.rounds):
        delivered, wrong = int(history.delivered[-1]), int(history.wrong[-1])
        found |= {"wrong": wrong, "wrong_share": wrong / delivered if delivered else 0.0}
    return found


def promise_rows(facts: dict[str, Any]) -> list[tuple[str, str]]:
    """The rows of a table about a promise."""
    rows = [("promise", facts["sentence"])]
    if "wrong" in facts:
        wrong = f"{facts['wrong']:,} wrong, all labels of the file counted"
        rows.append(("delivered labels", f"{in_percent(1.0 - facts['wrong_share'])} right, {wrong}"))
    if facts["withheld"]:
        rows.append(("withheld", f"{facts['withheld']:,} rows without a label"))
    return rows + ([("", facts["warning"])] if facts["warning"] else [])


def curve_facts(curve: aw.evaluate.PromiseCurve) -> dict[str, Any]:
    """What promises take, for programs: means over the repeats."""
    points = [
        {
            "error": point.error,
            "questions": float(point.questions.mean()),
            "asked": point.asked,
            "saved": point.saved,
            "delivered": float(point.delivered.mean()),
            "coverage": point.coverage,
            "wrong_share": point.errors,
            "certified": float(point.certified.mean()),
            "met": point.is_met,
        }
        for point in curve.points
    ]
    names = ("rows", "repeats", "confidence", "most", "rate", "order_warning")
    return {"points": points, "summary": summary_of(curve)} | {name: getattr(curve, name) for name in names}


def summary_of(curve: aw.evaluate.PromiseCurve) -> str:
    """One sentence about one of the promises."""
    point = curve.middle
    asked = f"{point.questions.mean():,.0f} of {curve.rows:,} labels ({in_percent(point.asked)})"
    if curve.has_budget:
        return (
            f"With at most {100 * point.error:.3g} % errors, {asked} give a label to {in_percent(point.coverage)} of "
            f"the rows; {in_percent(point.errors)} of those are wrong."
        )
    return (
        f"At most {100 * point.error:.3g} % errors take {asked}; {in_percent(point.errors)} of the delivered labels "
        "are wrong."
    )


def curve_shown(curve: aw.evaluate.PromiseCurve) -> list[Any]:
    """A table of what promises take, and a picture."""
    from .plot import lines

    heads = ["errors promised", "labels asked", "saved", "wrong labels", "certified at most"]
    heads += ["rows with a label"] if curve.has_budget else []
    rows = []
    for point in curve.points:
        shares = [point.saved, point.errors, float(point.certified.mean())]
        shares += [point.coverage] if curve.has_budget else []
        asked = f"{point.questions.mean():,.0f}"
        rows.append([f"{100 * point.error:.3g} %", asked, *map(in_percent, shares)])
    if len(curve.points) < 2:
        return [table_of(heads, rows), ""]
    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    if curve.has_budget:
        series = {"coverage": ([100 * p.error for p in curve.points], [p.coverage for p in curve.points])}
        picture = lines(series, width=width, height=16, across="errors promised, %", up="rows with a label")
    else:
        asked_share = [100 * p.asked for p in curve.points]
        series = {
            "promised": (asked_share, [p.error for p in curve.points]),
            "wrong": (asked_share, [p.errors for p in curve.points]),
        }
        picture = lines(series, width=width, height=16, across="labels asked, %", up="share of wrong labels")
    return [table_of(heads, rows), "", picture, ""]


def ways_shown(ways: Sequence[Any]) -> Any:
    """A table of ways to label a pile, the promise first."""
    heads = ["", "labels asked", "wrong labels", "what you would know"]
    return table_of(
        heads,
        [
            [each.name, f"{each.questions:,}", in_percent(each.wrong), f"at most {in_percent(each.at_most)}"]
            for each in ways
        ],
    )


def certificate_shown(history: aw.evaluate.PromiseHistory, other: Any) -> Any:
    """A picture of the certificate over time, beside the wrong labels of another way."""
    from .plot import lines

    rounds, width = history.rounds, min(shutil.get_terminal_size((100, 24)).columns, 110)
    series = {
        "certified": (rounds, history.certified),
        "wrong": (rounds, history.wrong / history.delivered),
        other.name: (rounds, other.over_time),
        "promised": ([0, rounds[-1]], [history.error, history.error]),
    }
    return lines(series, width=width, height=16, across="rows", up="share of wrong labels so far")


def others_shown(curve: aw.evaluate.PromiseCurve) -> str:
    """What other promises take, in one line."""
    each = [f"{100 * point.error:.3g} %: {point.questions.mean():,.0f}" for point in curve.points]
    return f"Fewer errors take more labels: {', '.join(each)}. `askwhen plan FILE` says so for a file of yours."
