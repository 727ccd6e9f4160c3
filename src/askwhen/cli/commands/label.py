"""``askwhen label``: the human loop in a terminal, one key for each label."""

from __future__ import annotations

import string
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from ..command import Out, again, command
from ..options import FORMAT, RAW, SEED, TABLES, Labels, Listed, reading
from ..terminal import show
from ..terminal.keys import Keys, has_terminal
from ..terminal.progress import say_if_compiling

_UNDO, _SKIP, _QUIT, _SEARCH = ("u", "\x7f", "\x08"), (" ",), ("q", "\x03", "\x04", ""), ("/",)


@command
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--classes",
    type=Listed(click.STRING, "label,label,..."),
    default="no,yes",
    show_default=True,
    help="The labels to choose from; two or more.",
)
@click.option(
    "--labels",
    type=Labels(),
    default="10%",
    show_default=True,
    help="How many rows to ask about: a share, or a number, as in 500.",
)
@reading({"format": FORMAT, **TABLES})
@click.option("--answers", metavar="FILE", help="Where answers go; by default FILE's name with .labels.csv.")
@click.option("--model", metavar="FILE", help="Where the sampler goes; by default FILE's name with .askwhen.")
@click.option("--guess", is_flag=True, help="Show what the sampler would have said.")
@SEED
@RAW
def label(
    out: Out,
    file: str,
    classes: list[str],
    labels: float,
    reading: dict[str, Any],
    answers: str | None,
    model: str | None,
    guess: bool,
    seed: int,
    raw: bool,
) -> None:
    """Label by hand what is worth a label.

    Shows the instances of FILE that are worth a label, and learns from every answer at once.

    FILE is CSV, TSV, Parquet or NDJSON without labels. Every answer is on the disk before the next question; quit
    whenever you like, and the same command goes on where you stopped. To change an answer of long ago, edit the file
    of answers: the sampler is made again from it when its lines are no longer those it has learnt from.

    \b
    askwhen label mails.csv --text body --classes ham,spam
    """
    keys = keys_of(classes)
    if not has_terminal():
        raise aw.InputError("answers come from a keyboard, and there is no terminal here.", owner="label")
    from ...workflows.label import label as label_by

    say_if_compiling(out)
    found = label_by(
        file,
        _Screen(out, Path(file).name, reading["text"], keys, classes, guess),
        reading,
        classes=classes,
        labels=labels,
        answers=answers,
        model=model,
        seed=seed,
        raw=raw,
        say=out.say,
    )
    report = aw.evaluate.accuracy(found.sampler)
    estimate = report.overall
    facts = {
        "ended": found.ended,
        "rows_seen": found.sampler.round,
        "questions": found.sampler.questions,
        "labels": found.counts,
        "accuracy": {"value": estimate.value, "low": estimate.low, "high": estimate.high} if report.answered else None,
        "answers": found.answers,
        "model": found.model,
    }
    out.result(facts, show.label_table(facts))
    if not found.ended:
        out.say(f"To go on:\n  {again()}")


def keys_of(classes: list[str]) -> dict[str, str]:
    """A key for every label: its first letter where no other begins so, else its number, else any letter that is free.

    Labels that are single digits are their own keys.

    Labels for which no key is left are found by typing a part of their name.
    """
    if len(classes) < 2 or len(set(classes)) < len(classes) or not all(name.isprintable() for name in classes):
        raise click.UsageError("--classes takes two or more different labels with commas between, as in ham,spam.")
    if all(len(name) == 1 and name.isdigit() for name in classes):
        return {name: name for name in classes}
    firsts = [name[0].lower() for name in classes]
    taken = (*_UNDO, *_QUIT)
    own = {first for first in firsts if firsts.count(first) == 1 and first.isalpha() and first not in taken}
    spare = [key for key in string.ascii_lowercase if key not in own and key not in taken]
    keys: dict[str, str] = {}
    for number, (name, first) in enumerate(zip(classes, firsts, strict=True), 1):
        if first in own:
            keys[first] = name
        elif number <= 9:
            keys[str(number)] = name
        elif spare:
            keys[spare.pop(0)] = name
    return keys


class _Screen:
    """What the person at the keyboard sees."""

    def __init__(
        self, out: Out, name: str, text: tuple[str, ...], keys: dict[str, str], classes: list[str], guess: bool
    ) -> None:
        self._console = out.stderr()
        self._name = name
        self._text = text
        self._keys = keys
        self._classes = classes
        self._guess = guess
        self._keyboard = Keys()

    def listening(self) -> Any:
        """Take single keys."""
        return self._keyboard.listening()

    def waiting(self) -> Any:
        """Say what takes so long."""
        return self._console.status("looking for an instance worth asking about")

    def answer(self, question: Any, session: Any, note: str) -> Any:
        """Show an instance, and wait for a key."""
        from ...workflows.label import Wish

        self._show(question, session.sampler, note)
        key = self._key()
        if key in _QUIT or key in _UNDO:
            return Wish.QUIT if key in _QUIT else Wish.UNDO
        chosen = "" if key in _SKIP else self._search() if key in _SEARCH else self._keys[key]
        return Wish.AGAIN if chosen is None else chosen

    def _key(self) -> str:
        """A key that means something."""
        while True:
            key = self._keyboard.next()
            if key in self._keys or key in (*_UNDO, *_SKIP, *_QUIT, *_SEARCH):
                return key

    def _search(self) -> str | None:
        """The label whose name holds what is typed, once there is an Enter; None if it is given up."""
        from rich.text import Text

        typed = ""
        while True:
            fitting = [name for name in self._classes if typed in name.lower()]
            fitting.sort(key=lambda name: not name.lower().startswith(typed))
            shown = ", ".join(fitting[:12]) + (f" and {len(fitting) - 12} more" if len(fitting) > 12 else "")
            self._console.print(Text(f"  /{typed}   {shown or 'no label'}   [enter] takes the first", style="dim"))
            key = self._keyboard.next()
            if key in ("\r", "\n") and fitting:
                return fitting[0]
            if key in ("\x1b", "\x03", "\x04", ""):
                return None
            typed = typed[:-1] if key in ("\x7f", "\x08") else typed + key if key.isprintable() else typed

    def _show(self, question: Any, sampler: Any, note: str) -> None:
        from rich.padding import Padding
        from rich.text import Text

        console = self._console
        console.clear()
        asked = f"{sampler.questions:,} of {sampler.round:,} rows asked about ({sampler.questions / sampler.round:.1%})"
        found = aw.evaluate.accuracy(sampler)
        honest = f"accuracy {found.overall}" if found.answered else "accuracy not known yet"
        console.rule(Text(f" {self._name}, row {question.row:,} "), style="dim")
        console.print(Text(f"{asked}, {honest}", style="dim"))
        console.print()
        record = dict(question.record)
        body = "\n\n".join(plain(record.pop(name, "")) for name in self._text)
        others = "\n".join(f"{key}: {plain(_number(value))}" for key, value in record.items())
        room = max(console.height - 9, 4)
        for content, style in ((others, "dim"), (body, "")):
            if content:
                console.print(Padding(Text(_shortened(content, console.width - 4, room), style=style), (0, 2, 1, 2)))
        if self._guess:
            said = dict(zip(sampler.classes, self._classes, strict=True))[question.ask.prediction]
            console.print(Text(f"  The sampler would have said: {said}\n", style="italic dim"))
        line = Text("  ")
        for key, name in self._keys.items():
            line.append(f"[{key}]", style="bold")
            line.append(f" {name}   ")
        line.append("[/] search   " if len(self._classes) > 9 else "", style="dim")
        line.append("[space] skip   [u] undo   [q] quit", style="dim")
        console.print(line)
        if note:
            console.print(Text(f"  {note}", style="dim"))


def plain(value: Any) -> str:
    """A text without characters that would command the terminal."""
    return "".join(each if each.isprintable() or each in "\n\t" else "\N{REPLACEMENT CHARACTER}" for each in str(value))


def _number(value: Any) -> Any:
    """A whole number without the point that a column of numbers gives it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _shortened(text: str, width: int, rows: int) -> str:
    """As much of a text as fits on so many rows, and how much more there is."""
    used, kept = 0, []
    for line in text.splitlines() or [""]:
        used += 1 + len(line) // max(width, 1)
        if used > rows:
            break
        kept.append(line)
    shown = "\n".join(kept) or text[: width * rows]
    rest = len(text) - len(shown)
    return shown if rest <= 0 else f"{shown}\n... and {rest:,} more characters"
