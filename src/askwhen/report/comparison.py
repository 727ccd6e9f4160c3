"""The report of a comparison, and one picture of it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InputError
from ..evaluate.comparison.baselines import EVERYTHING, LAST, MAJORITY, WITHOUT_ADVICE
from ..evaluate.comparison.comparing import Cell, Comparison
from . import advisers
from .figures import document
from .otherwise import of_comparison, short_name
from .page import WIDE, boxed, entry, figure, origin, page, section, warning
from .scales import Scale, count, ends, extent, measure, percent, plain, share, wanted, widened
from .svg import Axis, Plot, Size, escape, swatch, text_width

POINTS = 250
SIMPLE = (MAJORITY, LAST)
ALONE = " alone"
HEADS = ("algorithm", "wanted", "accuracy", "± 95%", "asked", "interval", "seconds", "parameters")


def comparison_page(comparison: Comparison, title: str, facts: Mapping[str, str], command: str) -> str:
    """The whole page of a comparison."""
    if not comparison.cells:
        raise InputError("comparison must have cells, got none.", owner="write_comparison")
    shares = _shares(comparison)
    body = [
        warning(comparison.order_warning),
        _against_labels(comparison, shares) if len(shares) > 1 else "",
        of_comparison(comparison),
        advisers.of_comparison(comparison),
        _over_time(comparison, shares or [1.0]),
        _results(comparison, shares),
        *origin(facts, command),
    ]
    times = "once" if comparison.repeats == 1 else f"{count(comparison.repeats)} times with different seeds"
    number = len(comparison.algorithms)
    who = "One algorithm" if number == 1 else f"{number} algorithms"
    lead = f"{who} over {count(comparison.rounds[-1])} rows, run {times}. {_best(comparison)}"
    return page(title, lead.rstrip(), body)


def _best(comparison: Comparison) -> str:
    """The best accuracy, compared with that of a simple rule."""
    best = comparison.best
    if not math.isfinite(best.mean):
        return ""
    part = f"{wanted(best.share)} of the labels" if best.share < 1 else "all labels"
    accuracy = f"With {part} the accuracy of {best.algorithm} was {share(best.mean)}"
    if comparison.majority is None:
        return f"{accuracy}."
    return f"{accuracy}; that of always predicting the most frequent label so far was {share(comparison.majority)}."


def picture_of(comparison: Comparison, part: float, title: str) -> str:
    """An SVG document: accuracy over time at one share of labels."""
    cells = _at(comparison, part)
    if not cells:
        known = ", ".join(f"{value:g}" for value in sorted({cell.share for cell in comparison.cells}))
        raise InputError(f"share must be one of {known}, got {part}.", owner="picture")
    height = 380 + max(0, len(cells) - 14) * 17
    plot = _lines(comparison, cells, Size("wide", 900, height))
    return document(plot, title, _ranking(cells))


def _shares(comparison: Comparison) -> list[float]:
    return sorted({cell.share for cell in comparison.cells if cell.share < 1})


def _at(comparison: Comparison, part: float) -> list[Cell]:
    """The cells at a share of labels."""
    return [cell for cell in comparison.cells if math.isclose(cell.share, part, rel_tol=1e-9)]


def _series(comparison: Comparison, cell: Cell) -> int:
    """The series of an algorithm, the same in every chart and with every label; simple rules are below 0."""
    if cell.algorithm in SIMPLE:
        return -1 - SIMPLE.index(cell.algorithm)
    if cell.refits is not None:
        return -1 - len(SIMPLE) - list(_firsts(comparison.refitted)).index(cell.algorithm)
    if cell.algorithm.endswith((ALONE, WITHOUT_ADVICE)):
        names = [WITHOUT_ADVICE, *(each.name + ALONE for each in comparison.advisers)]
        at = next(k for k, name in enumerate(names) if cell.algorithm.endswith(name))
        return -1 - len(SIMPLE) - len(_firsts(comparison.refitted)) - at
    return comparison.algorithms.index(cell.algorithm.removesuffix(f", {EVERYTHING}"))


def _name(cell: Cell) -> str:
    if cell.refits is not None:
        return short_name(cell.algorithm)
    plain_name = cell.share < 1 or cell.algorithm == MAJORITY or cell.algorithm.endswith((EVERYTHING, ALONE))
    return cell.algorithm if plain_name else f"{cell.algorithm} (all labels)"


def _kind(cell: Cell) -> str:
    """The kind of a line: thin for what is given every label, or learns nothing."""
    simple = cell.algorithm in SIMPLE or cell.algorithm.endswith(WITHOUT_ADVICE)
    return "thin" if cell.share >= 1 or simple or cell.refits is not None else "line"


def _entry(comparison: Comparison, cell: Cell, *, marker: bool = False) -> str:
    """An entry of a legend, drawn as in the chart."""
    return entry(_name(cell), _series(comparison, cell), kind=_kind(cell), marker=marker and cell.share < 1)


def _drawn(comparison: Comparison) -> list[Cell]:
    """Algorithms, refitted models and baselines, but for "last label told" with every label: that is in the table."""
    simple = [cell for cell in comparison.baselines if cell.share < 1 or cell.algorithm != LAST]
    return comparison.cells + comparison.refitted + simple + _alone(comparison)


def _alone(comparison: Comparison) -> list[Cell]:
    """Each adviser by itself, which asks for no label."""
    return [
        Cell(each.name + ALONE, {}, 1.0, np.zeros(1), np.array([each.accuracy]), each.windows[None], math.nan)
        for each in comparison.advisers
        if math.isfinite(each.accuracy)
    ]


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else math.nan


def _ranking(cells: Sequence[Cell]) -> str:
    ranked = sorted(cells, key=lambda cell: -cell.mean)
    return "Mean accuracy: " + ", ".join(f"{_name(cell)} {share(cell.mean)}" for cell in ranked) + "."


def _half(cell: Cell) -> str:
    return f"± {cell.margin_of_error:.1%}" if math.isfinite(cell.margin_of_error) else "unknown"


def _against_labels(comparison: Comparison, shares: list[float]) -> str:
    cells = _drawn(comparison)
    tuned, full = [cell for cell in cells if cell.share < 1], [cell for cell in cells if cell.share >= 1]
    asked = {id(cell): _mean(cell.asked) for cell in tuned}
    low, high = extent(*([cell.mean - _known(cell), cell.mean + _known(cell)] for cell in cells))
    values = Axis(*_clipped(*widened(low, high)), "mean accuracy", percent)
    least, most = extent([at for at in asked.values() if at > 0])
    least, most = (least, most) if math.isfinite(least) else (0.01, 1.0)
    log = most / least >= 4
    least, most = (least / 1.25, most * 1.25) if log else (0.98 * least - 0.1 * (most - least), 1.02 * most)
    x = Axis(least, most, "share of labels asked for" + " (logarithmic)" * log, percent, log=log)

    def draw(size: Size) -> Plot:
        names = [_name(cell) for cell in tuned + full]
        plot = Plot(size, x, values, right=_label_width(size, names))
        labels = []
        for cell in full:
            series = _series(comparison, cell)
            plot.line(np.array([least, most]), np.array([cell.mean, cell.mean]), series, kind="thin")
            labels.append((most, cell.mean, _name(cell), series))
        for name in dict.fromkeys(map(_name, tuned)):
            cells = sorted((cell for cell in tuned if _name(cell) == name), key=lambda cell: asked[id(cell)])
            series = _series(comparison, cells[0])
            if len(cells) > 1:
                at = np.array([asked[id(cell)] for cell in cells])
                plot.line(at, np.array([cell.mean for cell in cells]), series, kind=_kind(cells[0]))
            for cell in cells:
                hint = f"{name}\nasked {share(asked[id(cell)])}\naccuracy {share(cell.mean)} {_half(cell)}"
                plot.point(max(asked[id(cell)], least), cell.mean, cell.margin_of_error, series, hint)
            labels.append((asked[id(cells[-1])], cells[-1].mean, name, series))
        if size.name != "narrow":
            plot.labels(labels)
        return plot

    read = "Higher is better, further left is cheaper; bars are 95% intervals of the mean over the repeats."
    if full:
        read += " Horizontal lines are given every label" + (", or ask for none." if comparison.advisers else ".")
    name = "Accuracy against labels"
    legend = [_entry(comparison, cell, marker=True) for cell in _firsts(cells).values()]
    return section(name, read, figure(name, _ranking(cells), draw, legend, _sizes(len(legend)), direct=True))


def _firsts(cells: Sequence[Cell]) -> dict[str, Cell]:
    """The first cell of each algorithm."""
    found: dict[str, Cell] = {}
    for cell in cells:
        found.setdefault(cell.algorithm, cell)
    return found


def _known(cell: Cell) -> float:
    return cell.margin_of_error if math.isfinite(cell.margin_of_error) else 0.0


def _clipped(low: float, high: float) -> tuple[float, float]:
    return max(low, 0.0), min(high, 1.0)


def _label_width(size: Size, names: Sequence[str]) -> float:
    """Width that the names of lines need to the right of a chart."""
    if size.name == "narrow":
        return 24.0
    return min(40.0 + max(text_width(name) * 1.06 for name in names), size.width * 0.4)


def _sizes(number: int) -> list[Size]:
    """Sizes of charts that are tall enough for this many names at their side."""
    return [Size(name, width, max(height, 76 + 17 * number)) for name, width, height in WIDE[:2]] + [WIDE[2]]


def _over_time(comparison: Comparison, shares: list[float]) -> str:
    parts = []
    # With several shares one simple rule is enough here; the other is in the chart of accuracy against labels.
    simple = [cell for cell in _drawn(comparison) if cell in comparison.baselines]
    baselines = [cell for cell in simple if cell.algorithm != LAST or len(shares) == 1]
    for part in shares:
        cells = _at(comparison, part) + (_at(comparison, 1.0) if part < 1 else [])
        otherwise = [cell for cell in comparison.refitted if math.isclose(cell.share, part, rel_tol=1e-9)]
        cells += sorted(otherwise, key=lambda cell: -cell.mean)[:1]  # the best: more lines could not be told apart
        cells += [cell for cell in baselines if cell.share in (part, 1.0)]
        cells += _alone(comparison)
        name = f"{wanted(part)} of the labels" if part < 1 else "All labels"
        legend = [_entry(comparison, cell) for cell in cells]

        def draw(size: Size, cells: list[Cell] = cells) -> Plot:
            return _lines(comparison, cells, size)

        chart = figure(f"Accuracy over time, {name}", _ranking(cells), draw, legend, _sizes(len(cells)), direct=True)
        parts.append(f'<div class="part"><h3>{escape(name)}</h3>{chart}</div>')
    read = (
        "Each line is the mean over the repeats in each window of rows; a dip shows a change that the algorithm had "
        "not learnt yet."
    )
    return section("Accuracy over time", read, *parts, long=True)


def _lines(comparison: Comparison, cells: Sequence[Cell], size: Size) -> Plot:
    """Accuracy over time: the mean over the repeats in each window; windows are joined where there are too many."""
    stops = ends(len(comparison.rounds), POINTS)
    starts, rounds = np.append(0, stops[:-1]), comparison.rounds[stops - 1]
    lines = {}
    for cell in cells:
        mean = np.asarray(cell.windows, float).mean(axis=0)
        sizes = np.diff(comparison.rounds, prepend=0)
        lines[id(cell)] = np.add.reduceat(mean * sizes, starts) / np.add.reduceat(sizes, starts)
    low, high = widened(*extent(*lines.values()))
    x = Axis(0.0, float(max(comparison.rounds[-1], 1)), "rows", plain, whole=True)
    plot = Plot(
        size,
        x,
        Axis(*_clipped(low, high), "accuracy in each window", percent),
        right=_label_width(size, [_name(c) for c in cells]),
    )
    for cell in cells:
        plot.line(rounds, lines[id(cell)], _series(comparison, cell), kind=_kind(cell))
    if size.name != "narrow":
        plot.labels([(float(rounds[-1]), float(lines[id(c)][-1]), _name(c), _series(comparison, c)) for c in cells])
    return plot


def _results(comparison: Comparison, shares: list[float]) -> str:
    everything = comparison.cells + comparison.baselines
    low, high = extent(*([cell.mean - _known(cell), cell.mean + _known(cell)] for cell in everything))
    scale = Scale(*_clipped(*widened(low, high)), 0.0, 1.0)
    groups = [[cell for cell in everything if math.isclose(cell.share, part, rel_tol=1e-9)] for part in [*shares, 1.0]]
    bodies = []
    for cells in filter(None, groups):
        rivals = [cell for cell in cells if cell in comparison.cells and math.isfinite(cell.mean)]
        best = max(rivals, key=lambda cell: cell.mean, default=None)
        rows = [_row(comparison, cell, scale, cell is best) for cell in sorted(cells, key=lambda c: -c.mean)]
        bodies.append(f"<tbody>{''.join(rows)}</tbody>")
    left = {"algorithm", "parameters", "interval"}
    heads = "".join(f'<th scope="col"{" class=text" if head in left else ""}>{escape(head)}</th>' for head in HEADS)
    strip = f"The bars show the accuracy from {share(scale.low)} to {share(scale.high)}"
    read = f"Shares of labels wanted and asked for; the best accuracy at each share is bold. {strip}, with intervals."
    content = f"<table><thead><tr>{heads}</tr></thead>{''.join(bodies)}</table>"
    return section("Results", read, boxed(content, "results of every algorithm"), long=True)


def _row(comparison: Comparison, cell: Cell, scale: Scale, best: bool) -> str:
    marker = cell.share < 1 and len(_shares(comparison)) > 1  # as in the chart of accuracy against labels
    drawn = swatch(_series(comparison, cell), kind=_kind(cell) if cell in _drawn(comparison) else "", marker=marker)
    name = f"{drawn} {escape(cell.algorithm)}"
    part = wanted(cell.share) if cell.share < 1 else "all"
    half = f"{cell.margin_of_error:.1%}" if math.isfinite(cell.margin_of_error) else "\N{EN DASH}"
    hyperparameters = ", ".join(f"{name} = {_number(value)}" for name, value in cell.letters.items())
    seconds = measure(cell.seconds) if math.isfinite(cell.seconds) else "\N{EN DASH}"
    numbers = "".join(f"<td>{text}</td>" for text in (part, share(cell.mean), half, share(_mean(cell.asked))))
    return (
        f'<tr{" class=best" if best else ""}><th scope="row" class="text">{name}</th>{numbers}'
        f'<td class="text">{_strip(cell, scale)}</td><td>{seconds}</td>'
        f'<td class="text wrap">{escape(hyperparameters)}</td></tr>'
    )


def _number(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _strip(cell: Cell, scale: Scale) -> str:
    """The mean on a bar over the whole scale, with its interval."""
    if not math.isfinite(cell.mean):
        return ""
    low, high = scale.at(cell.mean - _known(cell)), scale.at(cell.mean + _known(cell))
    marks = f'<i style="left:{low:.2%};width:{high - low:.2%}"></i><b style="left:{scale.at(cell.mean):.2%}"></b>'
    return f'<span class="range" aria-hidden="true">{marks}</span>'
