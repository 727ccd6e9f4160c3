"""Figures as SVG documents of their own, legible on light and on dark pages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .scales import Format, extent, percent, plain, widened
from .style import PICTURE
from .svg import Axis, Plot, Size, escape, text_width


class FigureLine(NamedTuple):
    """A line of a figure: its name, its points, and half the length of its error bars, if it has any."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    half: Sequence[float] | None = None


def line_figure(
    lines: Sequence[FigureLine],
    *,
    title: str,
    across: str,
    up: str,
    shares: bool = True,
    shares_across: bool = False,
    log: bool = False,
    log_up: bool = False,
) -> str:
    """Lines with error bands, each with its name at its end.

    Parameters
    ----------
    lines : sequence of FigureLine
        The lines.
    title, across, up : str
        The title, and the names of the axes.
    shares, shares_across : bool
        Whether values up and across are shares, and written in percent.
    log, log_up : bool
        Whether the axis across, and the one up, are logarithmic.
    """
    halves = [np.zeros(len(line.y)) if line.half is None else np.nan_to_num(np.asarray(line.half)) for line in lines]
    low, high = extent(
        *(np.asarray(line.y) - half for line, half in zip(lines, halves, strict=True)),
        *(np.asarray(line.y) + half for line, half in zip(lines, halves, strict=True)),
    )
    left, right = extent(*(np.asarray(line.x, float) for line in lines))
    up_format: Format = percent if shares else plain
    across_format: Format = percent if shares_across else plain
    if log_up:
        low, high = 10.0 ** math.floor(math.log10(low)), 10.0 ** math.ceil(math.log10(high))
    y = Axis(*((low, high) if log_up else widened(low, high)), up, up_format, log=log_up)
    start = left if left < 0.0 or log else 0.0 if left < 0.25 * right else widened(left, right)[0]
    x = Axis(start, right, across, across_format, log=log)
    room = max(text_width(line.name) for line in lines) + 50
    plot = Plot(Size("wide", 900, 400 + max(0, len(lines) - 16) * 17), x, y, right=room)
    for k, (line, half) in enumerate(zip(lines, halves, strict=True)):
        points, values = np.asarray(line.x, float), np.asarray(line.y, float)
        if line.half is not None:
            plot.band(points, values - half, values + half, k)
    for k, line in enumerate(lines):
        plot.line(np.asarray(line.x, float), np.asarray(line.y, float), k)
    plot.labels([(float(line.x[-1]), float(line.y[-1]), line.name, k) for k, line in enumerate(lines)])
    return document(plot, title, "; ".join(f"{line.name} ends at {line.y[-1]:.3g}" for line in lines))


def histogram_figure(counts: dict[str, Sequence[float]], *, title: str, across: str, up: str, bins: int = 20) -> str:
    """Histograms of values, one outline for each name."""
    low, high = extent(*(np.asarray(values, float) for values in counts.values() if len(values)))
    edges = np.linspace(*widened(low, high), bins + 1)
    heights = {name: np.histogram(values, edges)[0] for name, values in counts.items()}
    top = max((int(found.max()) for found in heights.values()), default=1)
    room = max(text_width(name) for name in counts) + 50
    x = Axis(float(edges[0]), float(edges[-1]), across)
    plot = Plot(Size("wide", 900, 400), x, Axis(*widened(0.0, float(max(top, 1))), up, whole=True), right=room)
    ends = []
    for k, (name, found) in enumerate(heights.items()):
        plot.bars(edges, found.astype(float), k)
        ends.append((float(edges[-1]), float(found[-1]), name, k))
    plot.labels(ends)
    about = "; ".join(f"{name}: {len(values)} values" for name, values in counts.items())
    return document(plot, title, about)


def document(plot: Plot, title: str, about: str) -> str:
    """A chart as a document of its own."""
    height = plot.size.height + 40
    frame = f'viewBox="-6 -34 912 {height}" width="912" height="{height}" role="img" aria-labelledby="t d"'
    heading = f'<text class="heading" x="0" y="-14">{escape(title)}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {frame}><title id="t">{escape(title)}</title>'
        f'<desc id="d">{escape(about)}</desc><style>{PICTURE}</style>{heading}{plot}</svg>\n'
    )
