"""``askwhen label``: label by hand in a terminal, one key for each label."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

import askwhen as aw

from ..columns import show_columns
from ..command import Output, command, command_line, given_options
from ..options import ADVICE, ERRORS, FORMAT, RAW, SEED, TABLES, WHAT_COLUMNS, Labels, Listed, reading
from ..service_options import (
    ANNOTATOR,
    SERVER,
    STREAM,
    client_of,
    refuse_others,
    refuse_without_server,
    stream_of,
    token,
)
from ..terminal import promises, service_tables, show
from ..terminal.advisers import adviser_facts
from ..terminal.intervals import interval_facts
from ..terminal.keys import has_terminal
from ..terminal.progress import say_if_compiling
from ..terminal.screen import MORE, QUIT, SEARCH, SKIP, UNDO, Screen, fields, keys_of

if TYPE_CHECKING:
    from ...contracts.sampler import SamplerLike
    from ...labelling.session import Labelling, ShownInstance
    from ...workflows.label import Action, LabelResult

_REPLY_SECONDS = 10.0
"""Seconds that the service may take for a reply before it counts as unreachable."""


@command
@click.argument("file", type=click.Path(exists=True, dir_okay=False), required=False)
@SERVER
@STREAM
@ANNOTATOR
@click.option(
    "--outbox",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Directory for answers that the service does not have yet; by default ~/.local/state/askwhen.",
)
@click.option(
    "--classes",
    type=Listed(click.STRING, "label,label,..."),
    default="no,yes",
    show_default=True,
    help="Labels to choose from; two or more.",
)
@click.option(
    "--labels",
    type=Labels(),
    default="10%",
    show_default=True,
    help="How many rows to ask about: a share, as in 10%, or a number, as in 500. With --errors: the most, if given.",
)
@ERRORS
@click.option(
    "--out",
    "delivered",
    metavar="FILE",
    help="With --errors: write every row's label, who gave it and how certain it is to this CSV file.",
)
@ADVICE
@reading({"format": FORMAT, **TABLES})
@WHAT_COLUMNS
@click.option("--answers", metavar="FILE", help="File for the answers; by default FILE's name with .labels.csv.")
@click.option("--model", metavar="FILE", help="File for the sampler; by default FILE's name with .askwhen.")
@click.option("--prodigy", metavar="FILE", help="Write all answers to this file too, in Prodigy's JSONL format.")
@click.option(
    "--ask-repeats",
    is_flag=True,
    help="Ask also about rows with the same content as one that was answered; otherwise they take that answer.",
)
@click.option("--guess", is_flag=True, help="Show the label that the sampler predicts.")
@SEED
@RAW
def label(
    out: Output,
    file: str | None,
    server: str | None,
    stream: str | None,
    annotator: str | None,
    outbox: str | None,
    reading: dict[str, Any],
    columns: bool,
    guess: bool,
    **options: Any,
) -> None:
    """Label by hand the rows that are worth a label.

    Shows the rows of FILE that are worth a label, and learns from every answer at once. With --errors every row gets a
    label, yours where you are asked and the prediction elsewhere, and at most that share of them is wrong.

    FILE is CSV, TSV, Parquet, NDJSON or Prodigy's tasks, without labels. Every answer is on the disk before the next
    question; quit whenever you like, and the same command continues where you stopped. To change an old answer, edit
    the file of answers: the next session rebuilds the sampler from it.

    With --advice a language model or an old classifier helps to choose the rows and to predict the others. Its columns
    are not shown: you are asked for your own opinion, by which it is measured too.

    With --server there is no FILE: the questions are those of a stream of a labelling service, and your token is in
    ASKWHEN_TOKEN. Every answer is on this machine's disk before it is sent, and sent again until the service has it.

    \b
    askwhen label mails.csv --classes ham,spam
    askwhen label mails.csv --classes ham,spam --errors 5% --out labels.csv
    askwhen label --server http://127.0.0.1:8300 --stream mails
    """
    if (file is None) == (server is None):
        raise click.UsageError("name either a FILE, or a service as --server URL.")
    if server is not None:
        refuse_others("server", "server", "stream", "annotator", "outbox")
        _need_terminal()
        _label_at(out, server, stream, annotator, outbox)
        return
    assert file is not None
    refuse_without_server("stream", "annotator", "outbox")
    if columns:
        show_columns(out, file, reading, options["advice"])
        return
    if guess and options["advice"]:
        raise click.UsageError("--guess would show you what the advice says; leave out one of the two.")
    classes: list[str] = options["classes"]
    if len(classes) < 2 or len(set(classes)) < len(classes) or not all(name.isprintable() for name in classes):
        raise click.UsageError("--classes takes two or more different labels with commas between, as in ham,spam.")
    if options["errors"] is None and options["delivered"] is not None:
        raise click.UsageError("--out goes with --errors: it has the labels that are delivered.")
    if options["errors"] is not None and "labels" not in given_options():
        options["labels"] = None
    _need_terminal()
    from ...workflows.label import LabelOptions, label_file, text_columns

    say_if_compiling(out)
    texts = text_columns(file, reading, options["advice"])
    annotator_here = _KeyboardAnnotator(out, Path(file).name, texts, keys_of(classes), classes, guess)
    found = label_file(file, annotator_here, reading, LabelOptions(**options), out.say)
    facts = _facts(found, classes) | {"prodigy": options["prodigy"]}
    facts |= {"delivered": options["delivered"]}
    out.result(facts, show.label_table(facts))
    if found.promise is not None:
        out.say(f"{found.promise}.")
    if not found.ended:
        out.say(f"To go on:\n  {command_line()}")


def _promise(found: LabelResult, classes: list[str]) -> Any:
    """What is promised, with the labels as the user has named them."""
    return promises.promise_of(cast(Any, found.sampler), classes if len(classes) == 2 else None)


def _facts(found: LabelResult, classes: list[str]) -> dict[str, Any]:
    """The result of a session, for programs."""
    report = aw.evaluate.accuracy(found.sampler)
    return {
        "ended": found.ended,
        "rows_seen": found.sampler.round,
        "questions": found.sampler.questions,
        "labels": found.counts,
        "accuracy": interval_facts(report.overall) if report.answered else None,
        "advisers": adviser_facts(cast(Any, found.sampler)),
        "promise": None if found.promise is None else promises.promise_facts(_promise(found, classes)),
        "sentence": report.sentence(),
        "advice": report.advice(),
        "answers": found.answers,
        "model": found.model,
    }


def _need_terminal() -> None:
    if not has_terminal():
        raise aw.InputError("answers come from a keyboard, and there is no terminal here.", owner="label")


def _label_at(out: Output, server: str, stream: str | None, annotator: str | None, outbox: str | None) -> None:
    """Label for a service, until the annotator quits."""
    from ...client.annotation_session import AnnotationSession
    from ...client.outbox import Outbox, default_folder
    from ...client.outbox_worker import SyncWorker
    from ..terminal.annotation_ui import AnnotationUI

    with client_of(server, retries=0, timeout=_REPLY_SECONDS) as client:
        found = stream_of(client, stream)
        settings = found.facts()["settings"]
        box = Outbox(outbox or default_folder(), "\n".join((server.rstrip("/"), token() or "", annotator or "")))
        if box.waiting:
            out.say(f"Sending first the answers that an earlier session could not send: {len(box.waiting):,}.")
        screen = AnnotationUI(out.stderr(), found.name, settings)
        seat = AnnotationSession(found.name, annotator, box)
        worker = SyncWorker(seat, found, settings["lease"], screen.wake)
        try:
            screen.answer(seat)
        finally:
            worker.leave()
    unsent = len(box.waiting) + len(box.aside)
    known = settings["labels"]
    labels = [name for name in seat.given if name is not None] if isinstance(known, str) else known
    facts = {
        "server": server,
        "stream": found.name,
        "answered": seat.answered,
        "labels": {} if known == "numbers" else {name: seat.given[name] for name in labels},
        "unsure": seat.given[None],
        "skipped": seat.skipped,
        "not_taken": [each._asdict() for each in seat.refused],
        "unsent": unsent,
        "kept_in": str(box.path) if unsent else None,
    }
    out.result(facts, service_tables.session_table(facts))
    if unsent:
        where = f"{unsent:,}, stored in {box.path}"
        out.say(f"Answers that are not on the server yet: {where}. To send them:\n  {command_line()}")
    if seat.error is not None:
        raise seat.error
    if unsent or seat.refused:
        raise click.exceptions.Exit(1)


def _so_far(sampler: SamplerLike) -> str:
    """What is certified of the delivered labels, where errors are promised, or how accurate the predictions are."""
    promise = promises.promise_of(cast(Any, sampler))
    if promise is not None:
        return f"at most {100 * promise.certified:.1f} % of {promise.delivered:,} delivered labels are wrong"
    from ...evaluate.estimation.accuracy import overall_accuracy  # compiled steps, which take a second to import

    found = overall_accuracy(sampler)
    return f"accuracy {found}" if found.answered else "accuracy not known yet"


class _KeyboardAnnotator:
    """An annotator who labels a file at the keyboard."""

    def __init__(
        self, out: Output, name: str, text: tuple[str, ...], keys: dict[str, str], classes: list[str], guess: bool
    ) -> None:
        self._screen = Screen(out.stderr())
        self._name = name
        self._text = text
        self._keys = keys
        self._classes = classes
        self._guess = guess
        self._page = self._row = 0

    def listening(self) -> AbstractContextManager[Any]:
        """Take single keys."""
        return self._screen.keyboard.listening()

    def waiting(self) -> AbstractContextManager[Any]:
        """Show that the next question is being found."""
        return self._screen.console.status("looking for a row worth asking about")

    def answer(self, question: ShownInstance, session: Labelling, note: str) -> str | Action:
        """Show an instance, and wait for a key."""
        from ...workflows.label import Action

        self._page = self._page if question.row == self._row else 0
        self._row = question.row
        self._show(question, session.sampler, note)
        key = self._key()
        if key in MORE:
            self._page += 1
            return Action.AGAIN
        if key in QUIT or key in UNDO:
            return Action.QUIT if key in QUIT else Action.UNDO
        chosen = "" if key in SKIP else self._screen.search(self._classes) if key in SEARCH else self._keys[key]
        return Action.AGAIN if chosen is None else chosen

    def _key(self) -> str:
        """A key that means something."""
        while True:
            key = self._screen.keyboard.next()
            if key in self._keys or key in (*UNDO, *SKIP, *QUIT, *SEARCH, *MORE):
                return key

    def _show(self, question: ShownInstance, sampler: SamplerLike, note: str) -> None:
        asked = f"{sampler.questions:,} of {sampler.round:,} rows asked about ({sampler.questions / sampler.round:.1%})"
        screen = self._screen
        screen.head(f"{self._name}, row {question.row:,}", f"{asked}, {_so_far(sampler)}")
        search = ["[/] search"] if len(self._classes) > 9 else []
        offers = screen.offers(self._keys, (*search, "[space] skip", "[u] undo", "[q] quit"))
        screen.instance(*fields(question.record, self._text), 8 + len(offers) + 2 * self._guess, self._page)
        if self._guess:
            screen.guess(
                "The sampler", dict(zip(sampler.classes or (), self._classes, strict=True))[question.ask.prediction]
            )
        screen.print(offers)
        screen.note(note)
