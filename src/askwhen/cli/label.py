"""``askwhen label``: the human loop in a terminal, one key for each label."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from . import show
from .command import Out, again, command
from .keys import Keys, has_terminal
from .options import RAW, SEED, Listed, Share
from .source import say_if_compiling
from .writing import check_outputs

_UNDO, _SKIP, _QUIT = ("u", "\x7f", "\x08"), (" ",), ("q", "\x03", "\x04", "")


@command
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--text", metavar="COLUMN", help="The column of text to show, whose words are the features.")
@click.option(
    "--classes",
    type=Listed(click.STRING, "label,label,..."),
    default="no,yes",
    show_default=True,
    help="The labels to choose from; two or more.",
)
@click.option("--labels", type=Share(), default="10%", show_default=True, help="How many rows to ask about.")
@click.option("--drop", metavar="COLUMN", multiple=True, help="A column neither to show nor to learn from.")
@click.option("--format", type=click.Choice(["csv", "tsv", "parquet", "ndjson"]), help="By default what the name says.")
@click.option("--features", type=click.IntRange(1), metavar="N", help="How many places words are hashed to.")
@click.option("--answers", metavar="FILE", help="Where answers go; by default FILE's name with .labels.csv.")
@click.option("--model", metavar="FILE", help="Where the sampler goes; by default FILE's name with .askwhen.")
@click.option("--guess", is_flag=True, help="Show what the sampler would have said.")
@SEED
@RAW
def label(
    out: Out,
    file: str,
    text: str | None,
    classes: list[str],
    labels: float,
    drop: tuple[str, ...],
    format: str | None,
    features: int | None,
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
        raise aw.InputError("label: answers come from a keyboard, and there is no terminal here.")
    stem = Path(file).name.split(".")[0]
    model, answers = model or f"{stem}.askwhen", answers or f"{stem}.labels.csv"
    check_outputs(file, model=model, answers=answers)
    from .. import labelling
    from ..data.records import read_records

    several = len(classes) > 2
    prepare, rule = None if raw else aw.Prepare(), aw.BudgetRule(labels)
    kept = labelling.Answers(answers)
    say_if_compiling(out)
    fresh = (
        aw.OneVsRest(list(classes), rule=rule, prepare=prepare, seed=seed)
        if several
        else aw.Sampler(aw.AutoLasec(), rule, prepare=prepare, seed=seed)
    )
    loop = labelling.Labelling(
        lambda skip, passed: read_records(
            file, text=text, drop=tuple(drop), format=format, n_features=features, skip=skip, passed=passed
        ),
        fresh,
        kept,
        list(classes),
        model,
    )
    if kept.given:
        out.say(f"Going on after {len(kept.given)} answers in {answers}.")
    try:
        ended = _Screen(out, Path(file).name, text, keys, guess).loop(loop)
    finally:
        loop.save()
        loop.close()
    if loop.unused:
        out.say(f"{loop.unused} answers were not learnt from: with these settings their rows are not asked about.")
    facts = _facts(loop, ended) | {"answers": answers, "model": model}
    out.result(facts, show.label_table(facts))
    if not ended:
        out.say(f"To go on:\n  {again()}")


def keys_of(classes: list[str]) -> dict[str, str]:
    """A key for every label: its first letter where that is free, else its number."""
    if (
        not 2 <= len(classes) <= 9
        or len(set(classes)) < len(classes)
        or not all(name.isprintable() for name in classes)
    ):
        raise click.UsageError("--classes takes 2 to 9 different labels with commas between, as in ham,spam.")
    firsts = [name[0].lower() for name in classes]
    keys: dict[str, str] = {}
    for number, (name, first) in enumerate(zip(classes, firsts, strict=True), 1):
        free = firsts.count(first) == 1 and first.isalpha() and first not in (*_UNDO, *_QUIT)
        keys[first if free else str(number)] = name
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

    def __init__(self, out: Out, name: str, text: str | None, keys: dict[str, str], guess: bool) -> None:
        self._console = out.stderr()
        self._name = name
        self._text = text
        self._keys = keys
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
            loop.answer("" if key in _SKIP else self._keys[key])
            self._note = "Skipped." if key in _SKIP else f"Row {question.row:,}: {self._keys[key]}."
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
            if key in self._keys or key in (*_UNDO, *_SKIP, *_QUIT):
                return key

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
        body = plain(record.pop(self._text, "")) if self._text else ""
        others = "\n".join(f"{key}: {plain(_number(value))}" for key, value in record.items())
        room = max(console.height - 9, 4)
        for content, style in ((others, "dim"), (body, "")):
            if content:
                console.print(Padding(Text(_shortened(content, console.width - 4, room), style=style), (0, 2, 1, 2)))
        if self._guess:
            said = question.ask.prediction if isinstance(sampler, aw.OneVsRest) else self._word(question.ask.prediction)
            console.print(Text(f"  The sampler would have said: {said}\n", style="italic dim"))
        line = Text("  ")
        for key, name in self._keys.items():
            line.append(f"[{key}]", style="bold")
            line.append(f" {name}   ")
        line.append("[space] skip   [u] undo   [q] quit", style="dim")
        console.print(line)
        if self._note:
            console.print(Text(f"  {self._note}", style="dim"))

    def _word(self, prediction: int) -> str:
        return list(self._keys.values())[1 if prediction > 0 else 0]


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
