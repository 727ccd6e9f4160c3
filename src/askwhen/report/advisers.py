"""Advisers in the reports: how often each is right, by all labels and by the asked ones, and when it has changed."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..evaluate.comparison.comparing import AdviserCell, AdviserEstimate, Comparison
from ..evaluate.estimation.difference import Difference
from ..evaluate.progress import AdviserProgress, Progress
from .page import boxed, entry, figure, note, section
from .scales import Scale, count, ends, extent, percent, plain, share, wanted, widened
from .svg import Axis, Plot, Size, escape, swatch

OURS = 5
"""The series of the run itself, as in its chart of the accuracy."""

_SERIES = (0, 1, 2, 3, 4, 6, 7)
_LINES = 7
_GROUPS = 60
_RECENT = 1000


def of_run(progress: Progress) -> str:
    """The section about the advisers of a run; nothing without any."""
    found = progress.advisers
    if not found:
        return ""
    whole = all(each.found.rounds == int(each.rounds.sum()) for each in found)
    read = (
        "How often each adviser is right in the rows in which it says something, the best first: by the asked labels, "
        f"which is what you would know live, with {1.0 - progress.delta:.0%} intervals that hold however often you "
        "look, each for one adviser. "
    )
    read += "The marks are the accuracy with all labels counted. " if whole else "Rows before this run count too. "
    read += "Differences are in points. So many random labels would give an interval as narrow."
    scale = _scale([(each.found.overall.low, each.found.overall.high, each.accuracy) for each in found])
    late = any(_late(each) for each in found)
    heads = ["adviser", "estimate", _bar_head(scale), "all labels"]
    silent = any(int(each.rounds.sum()) < int(progress.rounds[-1]) for each in found)
    heads += [f"last {count(_RECENT)} rows"] * late + ["run better by"]
    heads += ["against the best"] * (len(found) > 1) + ["random labels"]
    heads += ["speaks in"] * silent
    rows = [_row(each, progress, scale, k, whole, (late, silent)) for k, each in enumerate(found)]
    sentences = [text for each in found for text in (each.found.change, each.found.warning) if text]
    remarks = "".join(note(text) for text in sentences)
    return section("Advisers", read, _table(heads, rows), remarks, _over_time(progress), long=True)


def _signed(difference: float) -> str:
    """A difference of two accuracies in points, with its sign."""
    return f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")


def _in_points(found: Difference) -> str:
    """A difference with its interval."""
    if not math.isfinite(found.value):
        return "not known yet"
    return f"{_signed(found.value)} ({_signed(found.low)} to {_signed(found.high)})"


def _late(each: AdviserProgress) -> bool:
    """Whether there are so many rows that the last ones are others than all."""
    return _RECENT in each.found.accuracy.windows and each.found.rounds > _RECENT


def _row(
    each: AdviserProgress, progress: Progress, scale: Scale, k: int, whole: bool, columns: tuple[bool, bool]
) -> str:
    overall, (late, silent) = each.found.overall, columns
    named = f"{swatch(_SERIES[k]) if k < _LINES else ''} {escape(each.name)}"
    cells = [share(overall.value) if overall.is_known else "not known yet"]
    bar = _bar(overall.low, overall.high, each.accuracy if whole else math.nan, scale)
    more = [share(each.accuracy)]
    if late:
        recent = each.found.accuracy.windows.get(_RECENT)
        more.append(f"{share(recent.low)} to {share(recent.high)}" if recent is not None and _late(each) else "")
    random, first = each.found.random_labels, progress.advisers[0]
    more.append(_in_points(each.found.gain))
    if len(progress.advisers) > 1:
        compared = each.found.against.get(first.name)
        more.append("" if compared is None else _in_points(compared))
    more.append("" if random is None else count(random))
    if silent:
        more.append(share(float(each.rounds.sum() / max(int(progress.rounds[-1]), 1))))
    return _line(named, cells, bar, more)


def _line(named: str, before: Sequence[str], bar: str, after: Sequence[str]) -> str:
    cells = "".join(f"<td>{escape(text)}</td>" for text in before)
    rest = "".join(f"<td>{escape(text)}</td>" for text in after)
    return f'<tr><th scope="row" class="text">{named}</th>{cells}<td class="text">{bar}</td>{rest}</tr>'


def _table(heads: Sequence[str], rows: Sequence[str]) -> str:
    left = {heads[0], *(head for head in heads if head.startswith("interval"))}
    head = "".join(f'<th scope="col"{" class=text" if name in left else ""}>{escape(name)}</th>' for name in heads)
    return boxed(f"<table class=dense><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>", "advisers")


def _scale(values: Sequence[tuple[float, float, float]]) -> Scale:
    low, high = widened(*extent(*values))
    return Scale(max(low, 0.0), min(high, 1.0), 0.0, 1.0)


def _bar_head(scale: Scale) -> str:
    return f"interval, {wanted(scale.low)} to {wanted(scale.high)}"


def _bar(low: float, high: float, known: float, scale: Scale) -> str:
    """An interval on a bar over the whole scale, with a mark at the accuracy that the simulation knows."""
    at, to = scale.at(low), scale.at(high)
    mark = f'<b style="left:{scale.at(known):.2%}"></b>' if math.isfinite(known) else ""
    text = f"{share(low)} to {share(high)}"
    strip = f'<i style="left:{at:.2%};width:{to - at:.2%}"></i>{mark}'
    return f'<span class="range" role="img" aria-label="{escape(text)}" title="{escape(text)}">{strip}</span>'


def _over_time(progress: Progress) -> str:
    """The accuracy of advisers over time, all labels counted; nothing for a single window."""
    stops = ends(len(progress.rounds), _GROUPS)
    if len(stops) < 3:
        return ""
    starts, rounds = np.append(0, stops[:-1]), progress.rounds[stops - 1].astype(float)
    shown = progress.advisers[:_LINES]
    sizes = np.diff(progress.rounds, prepend=0)
    ours = np.add.reduceat(progress.windows.accuracy * sizes, starts) / np.add.reduceat(sizes, starts)
    lines = [_ratio(np.add.reduceat(each.right, starts), np.add.reduceat(each.rounds, starts)) for each in shown]
    names = [each.name for each in shown]
    legend = [entry("this run", OURS, kind="line solid")]
    legend += [entry(name, _SERIES[k], kind="line") for k, name in enumerate(names)]

    def draw(size: Size) -> Plot:
        low, high = widened(*extent(ours, *lines))
        x = Axis(0.0, float(max(rounds[-1], 1.0)), "rows", plain, whole=True)
        plot = Plot(size, x, Axis(max(low, 0.0), min(high, 1.0), "accuracy, all labels counted", percent))
        plot.line(rounds, ours, OURS, kind="line solid")
        for k, line in enumerate(lines):
            plot.line(rounds, line, _SERIES[k])
        return plot

    last = [f"{name} {share(float(line[-1]))}" for name, line in zip(names, lines, strict=True)]
    about = f"In the last of {len(stops)} windows: this run {share(float(ours[-1]))}, {', '.join(last)}."
    return figure("Accuracy of advisers over time", about, draw, legend)


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(a, b, out=np.full(len(a), np.nan), where=b > 0))


def of_comparison(comparison: Comparison) -> str:
    """The section about the advisers of a comparison; nothing without any."""
    found = comparison.advisers
    if not found:
        return ""
    read = (
        "How often each adviser is right in the rows in which it says something, the best first, all labels counted; "
        "and what you would know of it live, from the labels that an algorithm asks for: means over the repeats, with "
        "95% intervals that hold however often you look, and in how many repeats they did. The marks are the accuracy "
        "with all labels counted."
    )
    scale = _scale([(part.low, part.high, each.accuracy) for each in found for part in each.estimates])
    heads = ["adviser", "all labels", "speaks in", "asked by", "labels", "estimate", _bar_head(scale), "held in"]
    bodies = "".join(f"<tbody>{_rows_of(each, comparison.repeats, scale)}</tbody>" for each in found)
    left = {"adviser", "asked by", _bar_head(scale)}
    head = "".join(f'<th scope="col"{" class=text" if name in left else ""}>{escape(name)}</th>' for name in heads)
    content = boxed(f"<table class=dense><thead><tr>{head}</tr></thead>{bodies}</table>", "advisers")
    return section("Advisers", read, content, long=True)


def _rows_of(each: AdviserCell, repeats: int, scale: Scale) -> str:
    rows = []
    for k, part in enumerate(each.estimates or [None]):
        first = [each.name, share(each.accuracy), share(1.0 - each.silent)] if k == 0 else ["", "", ""]
        lead = f'<th scope="row" class="text">{escape(first[0])}</th><td>{first[1]}</td><td>{first[2]}</td>'
        rows.append(f"<tr>{lead}{_cells_of(part, each, repeats, scale) if part is not None else ''}</tr>")
    return "".join(rows)


def _cells_of(part: AdviserEstimate, each: AdviserCell, repeats: int, scale: Scale) -> str:
    labels = wanted(part.share) if part.share < 1 else "all"
    known = share(part.value) if math.isfinite(part.value) else "not known yet"
    bar = _bar(part.low, part.high, each.accuracy, scale)
    return (
        f'<td class="text">{escape(part.algorithm)}</td><td>{labels}</td><td>{known}</td>'
        f'<td class="text">{bar}</td><td>{count(part.held)} of {count(repeats)}</td>'
    )
