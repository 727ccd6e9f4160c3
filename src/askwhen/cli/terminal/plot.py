"""Lines in a terminal, eight dots to a character."""

from __future__ import annotations

from typing import Any

import numpy as np

COLOURS = ("bright_blue", "yellow", "green", "magenta", "cyan", "red", "white", "bright_green", "bright_magenta")
_DOTS = np.array([[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]])


def lines(series: dict[str, tuple[Any, Any]], *, width: int, height: int, across: str, up: str) -> Any:
    """A picture of lines, each a name with its points; names stand where the lines end.

    Parameters
    ----------
    series : dict
        For each name the values across and up, which must be finite.
    width, height : int
        The size of the picture in characters, with axes and names.
    across, up : str
        What is on the axes; values up are shares, and shown in percent.
    """
    from rich.text import Text

    names = max(len(name) for name in series)
    columns, rows = max(width - names - 10, 16), max(height - 3, 4)
    xs, ys = (np.concatenate([np.asarray(points[k], float) for points in series.values()]) for k in (0, 1))
    left, right = float(xs.min()), float(xs.max())
    low, high = float(ys.min()), float(ys.max())
    right, high = (right if right > left else left + 1.0), (high if high > low else low + 0.01)
    dots = np.zeros((rows, columns), int)
    owner = np.full((rows, columns), -1)
    ends: dict[int, int] = {}
    for k in reversed(range(len(series))):  # the first is drawn last, over the others
        x, y = (np.asarray(values, float) for values in list(series.values())[k])
        order = np.argsort(x, kind="stable")
        at = np.linspace(x.min(), x.max(), columns * rows * 4)  # so dense that steep lines have no gaps
        across_dots = np.rint((at - left) / (right - left) * (2 * columns - 1)).astype(int)
        up_dots = np.rint((high - np.interp(at, x[order], y[order])) / (high - low) * (4 * rows - 1)).astype(int)
        for i, j in zip(up_dots, across_dots, strict=True):
            mine = owner[i // 4, j // 2] == k
            dots[i // 4, j // 2] = (dots[i // 4, j // 2] if mine else 0) | _DOTS[i % 4, j % 2]
            owner[i // 4, j // 2] = k
        ends[k] = int(up_dots[-1] // 4)
    places = _apart(ends, rows)
    picture = Text(f"{up}\n", style="dim")
    for i in range(rows):
        shown = i in (0, rows - 1, (rows - 1) // 2)
        value = round(100 * (high - (high - low) * i / (rows - 1)), 1) + 0.0  # never -0.0
        picture.append(f"{value:6.1f} % " if shown else " " * 9, style="dim")
        picture.append("│", style="dim")
        for j in range(columns):
            k = int(owner[i, j])
            picture.append(chr(0x2800 + int(dots[i, j])) if dots[i, j] else " ", style=COLOURS[k % 9] if k >= 0 else "")
        here = next((k for k, place in places.items() if place == i), None)
        if here is not None:
            picture.append(" " + list(series)[here], style=COLOURS[here % 9])
        picture.append("\n")
    picture.append(f"{'':9}└{'─' * columns}\n", style="dim")
    first, last = f"{left:,.4g}" if left < 10 else f"{left:,.0f}", f"{right:,.4g}" if right < 10 else f"{right:,.0f}"
    middle = max(columns - len(first) - len(last), len(across) + 2)
    picture.append(f"{'':10}{first}{across:^{middle}}{last}", style="dim")
    return picture


def _apart(ends: dict[int, int], rows: int) -> dict[int, int]:
    """A row of its own for every name, near where its line ends."""
    order = sorted(ends, key=lambda k: (ends[k], k))
    places: dict[int, int] = {}
    free = 0
    for rank, k in enumerate(order):
        room = rows - (len(order) - rank)
        places[k] = min(max(ends[k], free), max(room, 0))
        free = places[k] + 1
    return places
