"""``askwhen label``: the human loop in a terminal, one key for each label."""

from __future__ import annotations

import string
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from ..command import Out, again, command
from ..options import FORMAT, RAW, SEED, TABLES, Labels, Listed, reading, share_of
from ..source import Source, say_if_compiling
from ..terminal import show
from ..terminal.keys import Keys, has_terminal
from ..writing import check_outputs

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
    stem = Path(file).name.split(".")[0]
    model, answers = model or f"{stem}.askwhen", answers or f"{stem}.labels.csv"
    check_outputs(file, model=model, answers=answers)
    from ...data.records import read_records
    from ...labelling.answers import Answers
    from ...labelling.session import Labelling

    several = len(classes) > 2
    prepare, rule = None if raw else aw.Prepare(), _rule(labels, lambda: Source(file, reading).count())
    kept = Answers(answers)
    say_if_compiling(out)
    fresh = (
        aw.OneVsRest(list(classes), rule=rule, prepare=prepare, seed=seed)
        if several
        else aw.Sampler(aw.AutoLasec(), rule, prepare=prepare, seed=seed)
    )
    about: dict[str, Any] = {"reading": {name: value for name, value in reading.items() if value and name != "format"}}
    loop = Labelling(
        lambda skip, passed: read_records(
            file, skip=skip, passed=passed, named=lambda names: about.update(names=names), **reading
        ),
        fresh,
        kept,
        list(classes),
        model,
        about=about,
    )
    if kept.given:
        out.say(f"Going on after {len(kept.given)} answers in {answers}.")
    try:
        ended = _Screen(out, Path(file).name, reading["text"], keys, classes, guess).loop(loop)
    finally:
        loop.save()
        loop.close()
    if loop.unused:
        out.say(f"{loop.unused} answers were not learnt from: with these settings their rows are not asked about.")
    facts = _facts(loop, ended) | {"answers": answers, "model": model}
    out.result(facts, show.label_table(facts))
    if not ended:
        out.say(f"To go on:\n  {again()}")


def _rule(labels: float, rows: Callable[[], int | None]) -> aw.BudgetRule:
    """A budget for a share of the rows, or for a number of labels."""
    if labels <= 1.0:
        return aw.BudgetRule(float(labels))
    return aw.BudgetRule(share_of(labels, rows() or 1), most=int(labels))


def keys_of(classes: list[str]) -> dict[str, str]:
    """A key for every label: its first letter where no other begins so, else its number, else any letter that is free.

    Labels for which no key is left are found by typing a part of their name.
    """
    if len(classes) < 2 or len(set(classes)) < len(classes) or not all(name.isprintable() for name in classes):
        raise click.UsageError("--classes takes two or more different labels with commas between, as in ham,spam.")
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


def _facts(loop: Any, ended: bool) -> dict[str, Any]:
    sampler = loop.sampler
    report = aw.evaluate.accuracy(sampler)
    found = report.overall
    return {
        "ended": ended,
        "rows_seen": sampler.round,
        "questions": sampler.questions,
        "labels": loop.counts(),
        "accuracy": {"value": found.value, "low": found.low, "high": found.high} if report.answered else None,
    }


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
        self._note = ""
        self._keyboard = Keys()
        self._saved = self._saving = 0.0

    def loop(self, loop: Any) -> bool:
        """Ask until the stream ends (True) or the person has had enough (False)."""
        try:
            with self._keyboard.listening():
                return self._loop(loop)
        except KeyboardInterrupt:
            return False

    def _loop(self, loop: Any) -> bool:
        while True:
            with self._console.status("looking for an instance worth asking about"):
                question = loop.next()
            if question is None:
                return True
            self._show(question, loop)
            key = self._key()
            if key in _QUIT:
                return False
            if key in _UNDO:
                self._note = "The last answer was taken back." if loop.undo() else "There is nothing to undo."
                continue
            chosen = "" if key in _SKIP else self._search() if key in _SEARCH else self._keys[key]
            if chosen is None:
                self._note = ""
                continue
            loop.answer(chosen)
            self._note = f"Row {question.row:,}: {chosen}." if chosen else "Skipped."
            self._save(loop)

    def _save(self, loop: Any) -> None:
        """Save, if that takes no more than a small part of the time; the answers are safe without."""
        now = time.perf_counter()
        if now - self._saved < 20.0 * self._saving:
            return
        loop.save()
        self._saved = time.perf_counter()
        self._saving = self._saved - now

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

    def _show(self, question: Any, loop: Any) -> None:
        from rich.padding import Padding
        from rich.text import Text

        console, sampler = self._console, loop.sampler
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
        if self._note:
            console.print(Text(f"  {self._note}", style="dim"))


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
