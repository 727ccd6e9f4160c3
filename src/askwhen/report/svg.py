"""One chart as SVG: axes, lines, bands, areas, marks and labels.

Colours are classes: ``s0`` to ``s7`` give an element its colour through ``currentColor``, so that the style sheet of
the page sets them for light, dark and print. Dashes and markers distinguish series without colour. Series below 0 are
baselines: all in one grey, each with its own dashes.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from .scales import Format, Scale, plain, powers_of_ten, ratio_ticks, ticks

COLOURS = 8
DASHES = ("", "7 4", "2 3", "10 3 2 3", "14 4")
BASELINE_DASHES = ("2 3", "6 4", "9 3 2 3")
FONT = 12.5
_NOT_TEXT = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_MARKERS = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "M-3.6-3.6h7.2v7.2h-7.2z",
    "M0-4.8L4.6 3.6H-4.6z",
    "M0-5L5 0L0 5L-5 0z",
    "M0 4.8L4.6-3.6H-4.6z",
)


class Size(NamedTuple):
    """A width for which a chart is drawn, and its height then."""

    name: str
    width: int
    height: int


def escape(text: object) -> str:
    """Text made safe inside a page or SVG, as content or as a quoted attribute.

    Examples
    --------
    >>> escape("<b> & co")
    '&lt;b&gt; &amp; co'
    """
    return html.escape(_NOT_TEXT.sub("\N{REPLACEMENT CHARACTER}", str(text)))


def text_width(text: str, font: float = FONT) -> float:
    """Approximate width of a text, too wide rather than too narrow."""
    return font * sum(
        0.38 if c in "iljtf.,:;|' ()[]-" else 0.8 if c.isupper() or c in "mw=" else 0.64
        for c in text.replace("%", "m.")
    )


def shortened(text: str, room: float, font: float = FONT) -> str:
    """A text cut with an ellipsis so that it fits."""
    while text_width(text, font) > room and len(text) > 2:
        text = text[:-2].rstrip() + "\N{HORIZONTAL ELLIPSIS}"
    return text


def spread(places: Iterable[float], gap: float, low: float, high: float) -> list[float]:
    """Places moved as little as needed so that neighbours differ by ``gap``, between two ends if they fit.

    Examples
    --------
    >>> spread([50.0, 52.0, 10.0], 15.0, 0.0, 100.0)
    [43.5, 58.5, 10.0]
    """
    places = list(places)
    order = sorted(range(len(places)), key=lambda i: places[i])
    blocks: list[list[float]] = []  # size, and the mean of the places that the first of each block should have
    for i in order:
        blocks.append([1, places[i]])
        while len(blocks) > 1 and blocks[-2][1] + blocks[-2][0] * gap > blocks[-1][1]:
            size, wanted = blocks.pop()
            before = blocks[-1]
            before[1] = (before[0] * before[1] + size * (wanted - before[0] * gap)) / (before[0] + size)
            before[0] += size
    found = [first + k * gap for size, first in blocks for k in range(int(size))]
    for k in range(len(found)):
        found[k] = max(found[k], low + k * gap)
    for k in range(len(found)):
        found[-1 - k] = min(found[-1 - k], high - k * gap)
    return [place for _, place in sorted(zip(order, found, strict=True))]


def swatch(series: int, *, kind: str = "line", marker: bool = False, band: bool = False, of: int = 0) -> str:
    """A small picture of how a series is drawn, for a legend: its line, a switch, or an area (one ``of`` so many).

    Without a kind it is empty, as a placeholder.
    """
    style = ""
    if of:
        style, drawn = f' style="{_ramp(series, of)}"', '<rect x="3" y="1" width="20" height="12" rx="3" class="area"/>'
    elif not kind:
        drawn = ""
    elif kind == "switch":
        drawn = '<path d="M13 0V14" class="switch"/>'
    else:
        drawn = '<rect x="1" y="1" width="24" height="12" class="band"/>' if band else ""
        drawn += f'<path d="M1 7H25" class="{kind}"{_dash(series)}/>' + (_marker(series, 13, 7) if marker else "")
    frame = f'class="swatch {_colour(series)}" viewBox="0 0 26 14" width="26" height="14" aria-hidden="true"'
    return f"<svg {frame}{style}>{drawn}</svg>"


def _ramp(level: int, number: int) -> str:
    """The colour of one of several ordered levels, from light to dark, so that they differ in grey too."""
    return f"color:color-mix(in oklab,var(--ramp-b) {100 * level / max(number - 1, 1):.0f}%,var(--ramp-a))"


def _colour(series: int) -> str:
    return f"s{series % COLOURS}" if series >= 0 else "base"


def _dash(series: int) -> str:
    dash = DASHES[series % len(DASHES)] if series >= 0 else BASELINE_DASHES[(-1 - series) % len(BASELINE_DASHES)]
    return f' stroke-dasharray="{dash}"' if dash else ""


def _marker(series: int, x: float, y: float) -> str:
    return f'<path class="marker" transform="translate({x:.1f} {y:.1f})" d="{_MARKERS[series % len(_MARKERS)]}"/>'


def _path(x: np.ndarray, y: np.ndarray) -> str:
    return "M" + "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))


class Axis(NamedTuple):
    """An axis: its ends, its name with the unit, and the format of its ticks."""

    low: float
    high: float
    name: str
    format: Format = plain
    whole: bool = False
    log: bool = False


class Plot:
    """A chart of one size, built element by element.

    ``right`` is the free space to the right of the chart, for labels at the ends of lines.
    """

    def __init__(self, size: Size, x: Axis, y: Axis, *, right: float = 24.0) -> None:
        self.size = size
        self.top, self.bottom = 30.0, size.height - 46.0
        marks, step = ticks(y.low, y.high, max(2, int((self.bottom - self.top) / 44)), whole=y.whole)
        if y.log:
            marks = powers_of_ten(y.low, y.high)
        names = [y.format(mark, mark if y.log else step) for mark in marks]
        self.left = 10.0 + max((text_width(name) for name in names), default=20.0)
        self.right = size.width - max(right, text_width(x.format(x.high, 1.0)) / 2 + 4)
        self.x = Scale(x.low, x.high, self.left, self.right, x.log)
        self.y = Scale(y.low, y.high, self.bottom, self.top, y.log)
        self._parts: list[str] = []
        for mark, name in zip(marks, names, strict=True):
            at = self.y.at(mark)
            self._parts.append(f'<path class="grid" d="M{self.left:.1f} {at:.1f}H{self.right:.1f}"/>')
            self.text(self.left - 8, at + 4, name, anchor="end")
        self._below(x)
        self.text(0, 14, y.name, kind="name")
        self.text(self.right, size.height - 4, x.name, kind="name", anchor="end")

    def _below(self, x: Axis) -> None:
        """The axis at the bottom, with as many ticks as fit."""
        self._parts.append(f'<path class="axis" d="M{self.left:.1f} {self.bottom:.1f}H{self.right:.1f}"/>')
        for wanted in range(10, 0, -1):
            marks, step = ticks(x.low, x.high, wanted, whole=x.whole)
            if x.log:
                marks = ratio_ticks(x.low, x.high) if x.high < 1e3 * x.low else powers_of_ten(x.low, x.high)
                step = min(marks, default=1.0)
            names = [x.format(mark, mark if x.log else step) for mark in marks]
            at = [self.x.at(mark) for mark in marks]
            room = np.diff(at).min() if len(at) > 1 else self.right - self.left
            if x.log or max((text_width(name) for name in names), default=0.0) + 14 < room:
                break
        for place, name in zip(at, names, strict=True):
            self._parts.append(f'<path class="axis" d="M{place:.1f} {self.bottom:.1f}v5"/>')
            self.text(place, self.bottom + 19, name, anchor="middle")

    def text(self, x: float, y: float, text: str, *, kind: str = "tick", anchor: str = "start", hint: str = "") -> None:
        """Write a text; ``hint`` is shown when the pointer rests on it."""
        where = "" if anchor == "start" else f' text-anchor="{anchor}"'
        more = f"<title>{escape(hint)}</title>" if hint else ""
        self._parts.append(f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}"{where}>{escape(text)}{more}</text>')

    def line(self, x: np.ndarray, y: np.ndarray, series: int, *, kind: str = "line") -> None:
        """Draw a line, broken where a number is not finite; a point on its own is a dot."""
        known = np.isfinite(x) & np.isfinite(y)
        cuts = np.flatnonzero(np.diff(known.astype(int))) + 1
        drawn = []
        for part in np.split(np.arange(len(y)), cuts):
            if not len(part) or not known[part[0]]:
                continue
            px, py = self.x(x[part]), self.y(y[part])
            if len(part) == 1:
                drawn.append(f'<circle class="dot" cx="{px[0]:.1f}" cy="{py[0]:.1f}" r="3.5"/>')
            else:
                drawn.append(f'<path class="{kind}"{_dash(series)} d="{_path(px, py)}"/>')
        self.group(series, drawn)

    def band(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, series: int, *, kind: str = "band") -> None:
        """Fill between two lines where both are finite."""
        known = np.isfinite(low) & np.isfinite(high)
        px, below, above = self.x(x[known]), self.y(low[known]), self.y(high[known])
        if len(px) == 1:
            self.group(series, [f'<path class="bar" d="M{px[0]:.1f} {below[0]:.1f}V{above[0]:.1f}"/>'])
        elif len(px):
            outline = _path(np.append(px, px[::-1]), np.append(above, below[::-1]))
            self.group(series, [f'<path class="{kind}" d="{outline}Z"/>'])

    def stack(self, x: np.ndarray, low: np.ndarray, high: np.ndarray, level: int, number: int) -> None:
        """Fill between two lines in the colour of one of several levels."""
        outline = _path(self.x(np.append(x, x[::-1])), self.y(np.append(high, low[::-1])))
        self._parts.append(f'<path class="stack" style="{_ramp(level, number)}" d="{outline}Z"/>')

    def bars(self, edges: np.ndarray, heights: np.ndarray, series: int) -> None:
        """Draw a histogram as one outline with a faint fill."""
        x, y = self.x(np.repeat(edges, 2)), self.y(np.concatenate([[0.0], np.repeat(heights, 2), [0.0]]))
        outline = _path(x, y)
        self.group(series, [f'<path class="band" d="{outline}Z"/><path class="line"{_dash(series)} d="{outline}"/>'])

    def point(self, x: float, y: float, half: float, series: int, hint: str) -> None:
        """Draw a marker with an error bar; ``half`` is half of its length, if known."""
        if not (np.isfinite(x) and np.isfinite(y)):
            return
        px, py = self.x.at(x), self.y.at(y)
        drawn = _marker(series, px, py)
        if np.isfinite(half) and half > 0:
            low, high = self.y.at(y - half), self.y.at(y + half)
            drawn = f'<path class="bar" d="M{px:.1f} {low:.1f}V{high:.1f}m-4 0h8M{px - 4:.1f} {low:.1f}h8"/>' + drawn
        self.group(series, [f"<g>{drawn}<title>{escape(hint)}</title></g>"])

    def uprights(self, x: Iterable[tuple[float, str]]) -> None:
        """Draw vertical marks, each with a hint that is shown when the pointer rests on it."""
        for place, hint in x:
            drawn = f'<path class="switch" d="M{self.x.at(place):.1f} {self.top:.1f}V{self.bottom:.1f}"'
            self._parts.append(f"{drawn}><title>{escape(hint)}</title></path>" if hint else f"{drawn}/>")

    def hints(self, edges: np.ndarray, hints: list[str]) -> None:
        """Add hints that are shown when the pointer rests on a stretch of the x axis."""
        at = self.x(edges)
        for a, b, hint in zip(at[:-1], at[1:], hints, strict=True):
            shape = f'x="{a:.1f}" y="{self.top:.0f}" width="{b - a:.1f}" height="{self.bottom - self.top:.0f}"'
            self._parts.append(f'<rect class="hit" {shape}><title>{escape(hint)}</title></rect>')

    def labels(self, ends: list[tuple[float, float, str, int]]) -> None:
        """Write the names of lines at their right ends (x, y, text, series), moved so that no two overlap."""
        ends = [end for end in ends if np.isfinite(end[:2]).all()]
        at = [self.y.at(y) for _, y, _, _ in ends]
        for (x, _, name, series), here, place in zip(
            ends, at, spread(at, 17, self.top - 8, self.bottom + 12), strict=True
        ):
            start, stop = self.x.at(x) + 4, self.right + 22
            leader = f'<path class="leader" d="M{start:.1f} {here:.1f}H{self.right + 7:.1f}L{stop:.1f} {place:.1f}"/>'
            self.group(series, [leader])
            shown = shortened(name, self.size.width - stop - 6)
            self._parts.append(f'<g class="{_colour(series)}">')
            self.text(stop + 5, place + 4, shown, kind="label", hint=name if shown != name else "")
            self._parts.append("</g>")

    def group(self, series: int, drawn: list[str]) -> None:
        """Add elements in the colour of a series."""
        self._parts.append(f'<g class="{_colour(series)}">{"".join(drawn)}</g>')

    def __str__(self) -> str:
        return "".join(self._parts)
