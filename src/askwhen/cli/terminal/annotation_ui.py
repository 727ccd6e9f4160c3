"""An annotator answers the questions of a service in a terminal."""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING, Any

from .screen import MORE, QUIT, SEARCH, SKIP, UNDO, UNSURE, Screen, fields, keys_of

if TYPE_CHECKING:
    from rich.console import Console

_TAB, _NONE, _NUMBER = ("\t",), "-", tuple("0123456789+-.,")
_TAKEN = 8
"""Rows of the screen besides the instance, the guess and the keys."""


class AnnotationUI:
    """Shows the questions of a stream and sends keys as answers, until the annotator quits.

    Parameters
    ----------
    console : Console
        For the standard error.
    name : str
        The name of the stream.
    settings : dict
        The settings of the stream.
    """

    def __init__(self, console: Console, name: str, settings: dict[str, Any]) -> None:
        self._screen, self._name = Screen(console), name
        self._open, self._guess = settings["labels"] == "open", settings["guess"]
        self._several, self._is_number = bool(settings.get("several")), settings["labels"] == "numbers"
        self._bounds = settings.get("bounds")
        self._more = _TAB if self._several else MORE
        self._picked: set[str] = set()
        self._text = settings["features"].get("text") or ["text"]
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._keys: dict[str, str] = {}
        self._labels: list[str] = []
        self._page = 0

    def wake(self) -> None:
        """Let the screen be drawn again, since something has changed; may be called in any thread."""
        with contextlib.suppress(BlockingIOError):  # full: the reader has been woken and not read yet
            os.write(self._wake, b".")

    def answer(self, seat: Any) -> None:
        """Ask until the annotator quits or an error ends the session."""
        try:
            with contextlib.suppress(KeyboardInterrupt), self._screen.keyboard.listening():
                self._ask(seat)
        finally:
            self._screen.console.print()

    def _ask(self, seat: Any) -> None:
        note = status = ""
        seen: Any = None
        number = asked = None
        while seat.error is None:
            shown = seat.current
            if number != _number(shown):
                self._page, self._picked = 0, set()
            number = _number(shown)
            message = seat.note or seat.lost or note
            safe = safety(seat)[0]
            state = (number, message, self._why(seat), self._page, {*self._picked}, "" if seat.is_reachable else safe)
            if number != asked and seen is not None:
                self._screen.keyboard.forget()  # keys are for the question that was on the screen
            if state != seen:
                self._draw(seat, shown, message)
            elif safe != status:
                self._status(seat, overwrite=True)
            status, seen, asked = safe, state, number
            key = self._screen.keyboard.next_or(self._woken)
            if key is None:
                os.read(self._woken, 1 << 16)
            elif key in QUIT:
                return
            elif key in self._more:
                self._page += 1
            elif not seat.undoing:
                note = self._act(seat, shown, key, note)
                asked = _number(seat.current)  # brought by this key: what is typed ahead is for it
                seen = () if key in SEARCH or (self._is_number and key in _NUMBER) else seen

    def _act(self, seat: Any, shown: Any, key: str, note: str) -> str:
        """Do what a key means; the message about it."""
        if key in UNDO:
            seat.undo()
            return note
        types = self._is_number and key in _NUMBER
        gives = self._several and key in (*MORE, _NONE)
        if shown is None or not (types or gives or key in (*SKIP, *SEARCH, *UNSURE, *self._keys)):
            return note
        if key in SKIP:
            return f"Question {shown['question']:,}: skipped." if seat.skip(shown) else note
        label: Any = None if key in UNSURE else self._keys.get(key)
        if types:
            label = self._screen.number(key, self._bounds)
        elif gives and key in MORE and not self._picked:  # a key that was pressed twice says nothing
            return f"Nothing is picked; [{_NONE}] says that none applies."
        elif gives:
            label = [] if key == _NONE else sorted(self._picked)
        elif key in SEARCH:
            label = self._screen.search(self._labels, self._open)
        if label is None and key not in UNSURE:
            return ""
        if self._several and isinstance(label, str):
            self._picked ^= {label}
            return ""
        return f"Question {shown['question']:,}: {said(label)}." if seat.answer(shown, label) else note

    @staticmethod
    def _why(seat: Any) -> str:
        """The reason why no question is shown."""
        if seat.current is not None:
            return ""
        if not seat.is_reachable:
            return "Waiting for the server."
        if seat.is_empty:
            return "No question is open now. The next one appears by itself."
        if seat.is_elsewhere:
            return "Another terminal of yours has the next question. This one continues by itself."
        return "Asking for a question."

    def _draw(self, seat: Any, shown: Any, note: str) -> None:
        screen, answered = self._screen, seat.answered
        title = self._name if shown is None else f"{self._name}, question {shown['question']:,}"
        screen.head(title, f"{answered:,} answered in this session, {seat.skipped:,} skipped")
        if shown is None:
            screen.note(self._why(seat), "")
            screen.console.print()
            screen.print(screen.offers({}, ("[u] undo", "[q] quit")))
        else:
            self._labels = [] if self._is_number else shown["labels"]
            self._keys = keys_of(self._labels, self._open)
            self._show(shown)
        screen.note(note)
        for each in seat.refused[-3:]:
            screen.note(f"The answer to question {each.question:,} was not taken: {each.why}", "bold")
        self._status(seat)

    def _show(self, shown: dict[str, Any]) -> None:
        record = shown.get("x") if shown.get("show") is None else shown["show"]
        text = [name for name in self._text if isinstance(record, dict) and name in record]
        search = ["[/] another"] if self._open else ["[/] search"] if len(self._labels) > 9 else []
        if self._is_number:
            search = ["[0-9] a number, then [enter]"]
        elif self._several:
            search += [f"[enter] give {said(sorted(self._picked))}"] if self._picked else [f"[{_NONE}] none of them"]
        others = (*search, "[?] unsure", "[space] skip", "[u] undo", "[q] quit")
        offers, guess = self._screen.offers(self._keys, others), shown.get("guess") if self._guess else None
        taken = _TAKEN + len(offers) + 2 * (guess is not None)
        self._screen.instance(*fields(record, text), taken, self._page, "tab" if self._several else "enter")
        if guess is not None:
            self._screen.guess("The model", said(guess))
        self._screen.print(offers)

    def _status(self, seat: Any, overwrite: bool = False) -> None:
        """The last line: which answers the server has, and which it does not have yet."""
        from rich.control import Control
        from rich.segment import ControlType
        from rich.text import Text

        console, (text, style) = self._screen.console, safety(seat)
        if overwrite:
            console.control(Control(ControlType.CARRIAGE_RETURN, (ControlType.ERASE_IN_LINE, 2)))
        console.print(Text(f"  {text}", style=style), end="", no_wrap=seat.is_reachable, overflow="ellipsis")


def _number(shown: Any) -> int | None:
    return None if shown is None else shown["question"]


def said(label: Any) -> str:
    """An answer in words: a label, several, a number, or none."""
    if isinstance(label, list):
        return ", ".join(label) or "none of them"
    return f"{label:.6g}" if isinstance(label, float) else label or "unsure"


def safety(seat: Any) -> tuple[str, str]:
    """Which answers the server has and which it does not have yet, in words, and their style."""
    waits, answered = seat.waiting, seat.answered
    some = f"{waits} answer{'' if waits == 1 else 's'}"
    if not seat.is_reachable and waits:
        kept = "is kept on this machine, and sent" if waits == 1 else "are kept on this machine, and sent"
        return f"The server cannot be reached. {some} {kept} when it is back; you may quit.", "bold"
    if not seat.is_reachable:
        return "The server cannot be reached; trying again.", "bold"
    if seat.undoing:
        return "Taking the last answer back", "dim"
    if waits:
        return f"Sending {some}, kept here meanwhile", "dim"
    if seat.refused:
        return f"{len(seat.refused)} not taken, all others safe on the server", "bold"
    return (f"{answered:,} answer{'' if answered == 1 else 's'}, all safe on the server" if answered else "", "dim")
