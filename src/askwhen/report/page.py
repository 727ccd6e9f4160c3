"""The HTML page of a report: document, sections, figures, tables, and writing it to a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence

from ..errors import InputError
from ..system.atomic_file import whole_file
from .style import PAGE
from .svg import Plot, Size, escape, swatch

WIDE = (Size("wide", 960, 340), Size("medium", 560, 310), Size("narrow", 330, 260))
HALF = (Size("medium", 500, 300), WIDE[2])


def page(title: str, lead: str, body: Iterable[str]) -> str:
    """A whole page; its content security policy forbids to fetch anything."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{PAGE}</style></head>\n<body><main>\n"
        f'<header><p class="eyebrow">askwhen</p><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p></header>\n'
        + "\n".join(body)
        + "\n</main></body></html>\n"
    )


def section(heading: str, read: str, *content: str, long: bool = False) -> str:
    """A part of the page: its heading, a sentence on how to read it, and its content."""
    kind = ' class="long"' if long else ""
    return f'<section{kind}><h2>{escape(heading)}</h2><p class="read">{escape(read)}</p>{"".join(content)}</section>'


def note(text: str) -> str:
    """A remark below a chart."""
    return f'<p class="read">{escape(text)}</p>' if text else ""


def warning(text: str | None) -> str:
    """A warning about the whole page, if there is one."""
    return f'<p class="warning" role="note">{escape(text)}</p>' if text else ""


def figure(
    name: str,
    about: str,
    draw: Callable[[Size], Plot],
    legend: Iterable[str],
    sizes: Sequence[Size] = WIDE,
    *,
    direct: bool = False,
) -> str:
    """A chart below its legend, drawn for several widths; the page shows the one that fits.

    With ``direct`` the lines have their names at their ends, and a legend only where the page is too narrow for that.
    """
    items = "".join(f"<li>{item}</li>" for item in legend)
    shown = [f'<ul class="legend{" spare" if direct else ""}">{items}</ul>'] if items else []
    for size in sizes:
        plot = draw(size)
        most = "" if size.name == "wide" else f' style="max-width:{1.34 * size.width:.0f}px"'
        frame = f'class="{size.name}"{most} viewBox="0 0 {plot.size.width} {plot.size.height}" role="img"'
        shown.append(f'<svg {frame} aria-label="{escape(name)}"><desc>{escape(about)}</desc>{plot}</svg>')
    return f'<figure><div class="plots">{"".join(shown)}</div></figure>'


def entry(name: str, series: int, *, kind: str = "line", marker: bool = False, band: bool = False, of: int = 0) -> str:
    """An entry of a legend."""
    return f"{swatch(series, kind=kind, marker=marker, band=band, of=of)}<span>{escape(name)}</span>"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], name: str) -> str:
    """A table of texts in a scrolling box, the first column aligned left and the others right."""
    head = "".join(f'<th scope="col"{_left(k)}>{escape(text)}</th>' for k, text in enumerate(heads))
    body = "".join(
        "<tr>" + "".join(f"<td{_left(k)}>{escape(text)}</td>" for k, text in enumerate(row)) + "</tr>" for row in rows
    )
    return boxed(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>", name)


def _left(column: int) -> str:
    return ' class="text"' if column == 0 else ""


def boxed(content: str, name: str) -> str:
    """A box that scrolls horizontally, also by keyboard."""
    return f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(name)}">{content}</div>'


def details(summary: str, content: str) -> str:
    """A part that opens on a click, and is left out in print."""
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"


def pairs(facts: Mapping[str, object]) -> str:
    """A list of names and values."""
    items = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in facts.items())
    return f'<dl class="facts">{items}</dl>'


def origin(facts: Mapping[str, object], command: str) -> list[str]:
    """The last parts of every report: its parameters, and the command that makes it again."""
    return [
        section("Parameters", "The parameters of this report.", pairs(facts)) if facts else "",
        section(
            "Command",
            "This command makes the same report again, with the same numbers.",
            f"<pre><code>{escape(command)}</code></pre>",
        ),
    ]


def write(owner: str, path: str | os.PathLike[str], text: str) -> None:
    """Write a file that appears, or replaces another, only when it is complete."""
    if not isinstance(path, (str, os.PathLike)):
        raise InputError(f"path must be the name of a file, got {path!r}.", owner=owner)
    try:
        with whole_file(path) as file:
            file.write(text.encode("utf-8"))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"cannot write {os.fsdecode(path)}: {reason}.", owner="report") from error
