"""Shows one instance to an annotator at the keyboard, with the keys that answer it."""

from __future__ import annotations

import json
import math
import string
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from .keys import Keys

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

UNDO, SKIP, QUIT, SEARCH, UNSURE = ("u", "\x7f", "\x08"), (" ",), ("q", "\x03", "\x04", ""), ("/",), ("?",)
MORE = ("\r", "\n")
_GIVEN_UP, _BACK = ("\x1b", "\x03", "\x04", ""), ("\x7f", "\x08")
_NUMBERED = 9
_MOST_FOUND = 12
_SHORT = 60
_LONGEST = 200_000


def keys_of(labels: list[str], growing: bool = False) -> dict[str, str]:
    """A key for every label: its first letter if no other label has it, else its number, else any letter that is free.

    Labels that are single digits are their own keys. Where more labels may come, keys are numbers, so that none of
    them changes its meaning. Labels for which no key is left are found by typing a part of their name.
    """
    if all(len(name) == 1 and name.isdigit() for name in labels) and not growing:
        return {name: name for name in labels}
    firsts = ["" if growing else name[0].lower() for name in labels]
    taken = (*UNDO, *QUIT)
    own = {first for first in firsts if firsts.count(first) == 1 and first.isalpha() and first not in taken}
    spare = [key for key in string.ascii_lowercase if key not in own and key not in taken]
    keys: dict[str, str] = {}
    for number, (name, first) in enumerate(zip(labels, firsts, strict=True), 1):
        if first in own:
            keys[first] = name
        elif number <= _NUMBERED:
            keys[str(number)] = name
        elif spare:
            keys[spare.pop(0)] = name
    return keys


def plain(value: Any) -> str:
    """A text without control characters, which could change the terminal."""
    return "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in str(value))


def fields(record: Any, text: Iterable[str] = ()) -> tuple[str, str]:
    """The texts to show for a record: its other columns, one on each line, and the columns of text."""
    if not isinstance(record, dict):
        return "", plain(_written(record))
    rest = dict(record)
    body = "\n\n".join(plain(rest.pop(name, "")) for name in text)
    return "\n".join(f"{plain(name)}: {plain(_written(value))}" for name, value in rest.items()), body


def _written(value: Any) -> Any:
    """A value as people write it: a whole number without the point that a column of numbers gives it."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list) and all(isinstance(each, (int, float)) for each in value):
        return ", ".join(f"{each:.6g}" for each in value)
    if not isinstance(value, (dict, list)):
        return value
    short = json.dumps(value, ensure_ascii=False)
    return short if len(short) < _SHORT else json.dumps(value, ensure_ascii=False, indent=2)


class Screen:
    """A console that shows one question after another, and its keyboard."""

    def __init__(self, console: Console) -> None:
        self.console, self.keyboard = console, Keys()

    def head(self, title: str, status: str) -> None:
        """Clear the screen and print the heading of a question."""
        from rich.text import Text

        self.console.clear()
        self.console.rule(Text(f" {title} "), style="dim")
        self.console.print(Text(status, style="dim"))
        self.console.print()

    def instance(self, others: str, body: str, taken: int, page: int = 0, more: str = "enter") -> None:
        """Show an instance, or a page of it, on the rows of the screen that are not taken; ``more`` is for the next."""
        from rich.console import Group
        from rich.padding import Padding

        room, rest = max(self.console.height - taken, 6), ""
        for content, style, rows in ((others, "dim", max(room // 3, 3) if body else room), (body, "", room)):
            if content:
                shown, lines = self._page_of(content, style, min(rows, room) - 1, page)
                room -= len(shown) + 1
                rest = f"... {lines}, [{more}] for more" if lines else rest
                self.console.print(Padding(Group(*shown), (0, 2, 1, 2)))
        self.note(rest)

    def _page_of(self, content: str, style: str, rows: int, page: int) -> tuple[Any, str]:
        """The lines of a text that fit on this page, and which lines they are, if not all fit."""
        from rich.text import Text

        lines = Text(content[:_LONGEST], style=style).wrap(self.console, max(self.console.width - 4, 1))
        if len(lines) <= rows:
            return lines, ""
        first = page % -(-len(lines) // rows) * rows
        last = min(first + rows, len(lines))
        return lines[first:last], f"lines {first + 1:,} to {last:,} of {len(lines):,}"

    def guess(self, who: str, label: str) -> None:
        """Show the predicted label."""
        from rich.text import Text

        self.console.print(Text(f"  {who} would have said: {plain(label)}\n", style="italic dim"))

    def offers(self, keys: dict[str, str], others: Iterable[str]) -> list[Text]:
        """The meanings of the keys, in lines that break only between two of them."""
        from rich.text import Text

        found = [Text.assemble((f"[{key}]", "bold"), f" {plain(name)}") for key, name in keys.items()]
        lines = [Text("  ")]
        for each in [*found, *(Text(other, style="dim") for other in others)]:
            if len(lines[-1]) > 2 and lines[-1].cell_len + each.cell_len + 3 > self.console.width:
                lines.append(Text("  "))
            lines[-1].append("   " if len(lines[-1]) > 2 else "").append_text(each)
        return lines

    def print(self, lines: Iterable[Text]) -> None:
        """Show lines."""
        for line in lines:
            self.console.print(line)

    def note(self, text: str, style: str = "dim") -> None:
        """Print a message below."""
        from rich.padding import Padding
        from rich.text import Text

        if text:
            self.console.print(Padding(Text(plain(text), style=style), (0, 0, 0, 2)))

    def search(self, labels: list[str], new: bool = False) -> str | None:
        """The first label whose name contains the typed text when Enter is pressed; None if the search is cancelled.

        With ``new``, the typed text may be a label that was never given before.
        """
        from rich.text import Text

        typed = ""
        while True:
            fitting = [name for name in labels if typed.lower() in name.lower()]
            fitting.sort(key=lambda name: not name.lower().startswith(typed.lower()))
            shown = ", ".join(fitting[:_MOST_FOUND])
            shown += f" and {len(fitting) - _MOST_FOUND} more" if len(fitting) > _MOST_FOUND else ""
            made = typed.strip() if new and not fitting else ""
            ends = (
                f"new label {made!r}   [enter] makes it" if made else f"{shown or 'no label'}   [enter] takes the first"
            )
            self.console.print(Text(f"  /{typed}   {ends}", style="dim"))
            key = self.keyboard.next(exact=new)
            if key in MORE and (fitting or made):
                return fitting[0] if fitting else made
            if key in _GIVEN_UP:
                return None
            typed = typed[:-1] if key in _BACK else typed + key if key.isprintable() else typed

    def number(self, typed: str, bounds: Sequence[float] | None) -> float | None:
        """The number that is typed when Enter is pressed; None if that is cancelled."""
        from rich.text import Text

        said = "[enter] gives it"
        while True:
            self.console.print(Text(f"  {typed}   {said}", style="dim"))
            key = self.keyboard.next()
            if key in MORE:
                found = number_in(typed, bounds)
                if found is not None:
                    return found
                said = f"give a number from {bounds[0]:g} to {bounds[1]:g}" if bounds else "that is not a number"
            elif key in _GIVEN_UP:
                return None
            else:
                typed = typed[:-1] if key in _BACK else typed + key if key.isprintable() else typed


def number_in(text: str, bounds: Sequence[float] | None = None) -> float | None:
    """A number as people write it, also with a decimal comma; None where it is not one, or beyond the bounds."""
    try:
        found = float(text.replace(",", ".") if "." not in text else text)
    except ValueError:
        return None
    low, high = bounds or (-math.inf, math.inf)
    return found if math.isfinite(found) and low <= found <= high else None
