"""Label a file by hand, as ``askwhen label`` does: ask an annotator about rows worth a label, learn, save, resume."""

from __future__ import annotations

import enum
import time
from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

from ..contracts.rule import Rule
from ..contracts.sampler import SamplerLike
from ..data.instances import Instances
from ..data.schema import Schema
from ..data.schema_json import to_json
from ..data.unlabelled import read_records
from ..labelling.answers import Answers, AnswerStore, digest_of
from ..labelling.delivered import delivered_labels, write_delivered
from ..labelling.session import Labelling, ShownInstance
from ..learners import Mixture
from ..prepare import Prepare
from ..rules import BudgetRule
from ..sampler import Sampler
from . import notes as notes_of_models
from .advice_columns import AdviceColumn, AdviceColumns, known_columns, without_columns
from .observer import Say, silent
from .outputs import check_outputs
from .source import Source, arguments, promise_of, share_of
from .tasks import write_prodigy

_OF_RECORDS = (
    *("text", "categories", "numbers", "vector", "decimal", "missing", "format", "delimiter", "encoding"),
    "n_features",
)
"""Arguments that a saved sampler stores, of those of :func:`askwhen.data.unlabelled.read_records`."""


class Action(enum.Enum):
    """Actions of an annotator other than giving a label."""

    UNDO = "take the last answer back"
    AGAIN = "see the question again"
    QUIT = "stop for now"


class Annotator(Protocol):
    """Answers questions: a person at a keyboard, or a script in a test."""

    def listening(self) -> AbstractContextManager[Any]:
        """Open while questions are asked."""
        ...

    def waiting(self) -> AbstractContextManager[Any]:
        """Open while the next instance worth a label is being found."""
        ...

    def answer(self, question: ShownInstance, session: Labelling, note: str) -> str | Action:
        """A label, an empty one to skip the instance, or an action; ``note`` is a message about the last answer."""
        ...


@dataclass(frozen=True)
class LabelOptions:
    """Options for labelling a file.

    Parameters
    ----------
    classes : sequence of str
        The labels; two or more.
    labels : float or None
        How many rows to ask about: a share, or a number above 1. With ``errors``, None: as many as the promise needs.
    errors : float, optional
        Promise that at most this share of the delivered labels is wrong, see :class:`askwhen.PromiseRule`.
    delivered : str, optional
        With ``errors``: a CSV file for the label of every row, who gave it, and how certain it is.
    answers : str or AnswerStore, optional
        Where answers go: a CSV file, by default the file's name with .labels.csv, or another store.
    model : str, optional
        Where the sampler is saved; by default the file's name with .askwhen.
    prodigy : str, optional
        A file for all answers as Prodigy's annotated tasks, written at the end of each session.
    seed, raw
        The random seed, and whether instances are taken as they are, without scaling them.
    ask_repeats : bool
        Ask also about rows with the same content as one that was answered, which otherwise take that answer.
    advice : sequence of AdviceColumn
        Columns of the file in which advisers say what the labels are; they are not shown to the annotator. By default
        those of an earlier session.
    """

    classes: Sequence[str] = ("no", "yes")
    labels: float | None = 0.1
    errors: float | None = None
    delivered: str | None = None
    answers: str | AnswerStore | None = None
    model: str | None = None
    prodigy: str | None = None
    seed: int = 0
    raw: bool = False
    ask_repeats: bool = False
    advice: Sequence[AdviceColumn] = ()


class LabelResult(NamedTuple):
    """The result of a session: whether the stream came to its end, the sampler, all answers so far, and the files.

    ``promise`` says how many labels are delivered and how many of them may be wrong, where that was promised.
    """

    ended: bool
    sampler: SamplerLike
    counts: dict[str, int]
    answers: str
    model: str
    promise: str | None = None


def label_file(
    file: str,
    annotator: Annotator,
    reading: dict[str, Any] | None = None,
    options: LabelOptions | None = None,
    say: Say = silent,
) -> LabelResult:
    """Ask an annotator about the instances of a file that are worth a label, until it ends or the annotator stops.

    The same call resumes where the last one stopped, however it stopped.

    Parameters
    ----------
    file : str
        A table without labels: CSV, TSV, Parquet or NDJSON.
    annotator : Annotator
        Answers.
    reading : dict, optional
        Arguments of :func:`askwhen.data.unlabelled.read_records`.
    options : LabelOptions, optional
        The labels, how many to ask for, and the files to write.
    say : callable
        Receives messages for the user.
    """
    stem, reading, options = Path(file).name.split(".")[0], reading or {}, options or LabelOptions()
    model = options.model or f"{stem}.askwhen"
    answers = f"{stem}.labels.csv" if options.answers is None else options.answers
    written = answers if isinstance(answers, str) else None
    check_outputs(file, model=model, answers=written, prodigy=options.prodigy, delivered=options.delivered)
    before = notes_of_models.read(model).advice if Path(model).exists() else []
    given = options.advice or known_columns(file, reading, before, say)
    reading = without_columns(file, reading, given)
    names = [each.name for each in given]
    fresh = _sampler_with(_rule(options, Source(file, reading)), options, names)
    reading = _as_before(model, reading, file)
    said = AdviceColumns(file, reading, given, fresh, _pair_of(options.classes)).of_row if given else None
    store = Answers(answers) if isinstance(answers, str) else answers
    columns = _Columns(reading)
    repeats = not options.ask_repeats and (notes_of_models.read(model).repeats if Path(model).exists() else True)
    if repeats:
        columns.about["repeats"] = True
    if given:
        columns.about["advice"] = [list(each) for each in given]
    session = Labelling(
        lambda skip, passed: _records(file, reading, columns, skip=skip, passed=passed),
        fresh,
        store,
        list(options.classes),
        model,
        about=columns.about,
        content=columns.content if repeats else None,
        advice=said,
    )
    if store.given:
        say(f"Going on after {len(store.given)} answers in {store.name}.")
    try:
        ended = _ask(session, annotator, columns)
    finally:
        session.save()
        session.close()
    if columns.summary:
        say(columns.summary)
    if options.prodigy is not None:
        write_prodigy(options.prodigy, file, reading | {"text": columns.texts}, store.given, options.classes)
    if options.delivered is not None:
        rule = cast(Any, session.sampler).rule  # the saved one: for a file that has grown, fresh knows another length
        again, content = _sampler_with(rule, options, names), columns.content if repeats else None
        labels = delivered_labels(_records(file, reading, columns), again, store.given, options.classes, content, said)
        write_delivered(options.delivered, labels)
    if session.unused:
        say(f"{session.unused} answers were not learnt from: with these settings their rows are not asked about.")
    promise = None if options.errors is None else str(cast(Sampler, session.sampler).promise.certificate)
    return LabelResult(ended, session.sampler, session.counts(), store.name, model, promise)


def _as_before(model: str, reading: dict[str, Any], file: str) -> dict[str, Any]:
    """The arguments with which a saved sampler has read the file, or those given where there is none."""
    if not Path(model).exists():
        return reading
    note = notes_of_models.read(model)
    chosen = [name for name, value in reading.items() if value and value != "auto"]
    before = notes_of_models.read_as(note, reading, chosen, file)
    found = {name: before[name] for name in _OF_RECORDS if name in before} | {"drop": reading.get("drop", ())}
    if note.schema is not None:
        return found | {"schema": note.schema}
    return found | ({} if note.names is None else {"names": note.names})


def _pair_of(classes: Sequence[str]) -> tuple[str, str] | None:
    """What -1 and +1 stand for, if there are two labels."""
    return (classes[0], classes[1]) if len(classes) == 2 else None


def _sampler_with(rule: Rule, options: LabelOptions, advisers: list[str]) -> Sampler:
    """A sampler that has learnt nothing."""
    several = list(options.classes) if len(options.classes) > 2 else None
    prepare = None if options.raw else Prepare()
    learner = Mixture(classes=None if several is None else len(several))
    return Sampler(learner, rule, prepare=prepare, seed=options.seed, classes=several, advisers=advisers or None)


class _Columns:
    """What the columns of a file are taken for: noted in the sampler, and said once to the user."""

    def __init__(self, reading: dict[str, Any]) -> None:
        told = {name: value for name, value in reading.items() if value and name not in ("format", "schema", "names")}
        self.about: dict[str, Any] = {"reading": told}
        self.texts: tuple[str, ...] = tuple(reading.get("text") or ())
        self.summary = ""
        self._schema: Schema | None = reading.get("schema")

    def content(self, record: dict[str, Any]) -> str:
        """What a record has in the columns that are not left out, as identifiers are."""
        left = {column.name for column in self._schema.columns if column.role == "dropped"} if self._schema else ()
        return digest_of({name: value for name, value in record.items() if name not in left})

    def settled(self, instances: Instances) -> None:
        """Receive it once it is known."""
        self.about["names"] = instances.names
        schema = instances.schema
        self._schema = schema
        if schema is not None:
            self.about["schema"] = to_json(schema)
            self.texts = tuple(column.name for column in schema.columns if column.role == "text")
            self.summary = schema.summary()


def text_columns(file: str, reading: dict[str, Any], advice: Sequence[AdviceColumn] = ()) -> tuple[str, ...]:
    """The columns of a file that are taken for texts, without those of advisers."""
    reading = without_columns(file, reading, advice)
    columns = _Columns(reading)
    with closing(_records(file, reading, columns)) as records:
        next(records, None)
    return columns.texts


def _records(file: str, reading: dict[str, Any], columns: _Columns, **more: Any) -> Generator[Any]:
    """Instances and records of a file."""
    chosen = arguments(reading, file) | {"drop": reading.get("drop", ())}
    return read_records(file, settled=columns.settled, **chosen, **more)


def _rule(options: LabelOptions, source: Source) -> Rule:
    """A promise, or a budget for a share of the rows or for a number of labels."""
    labels, rows = options.labels, source.count() or 1
    if options.errors is not None:
        return promise_of(options.errors, labels, rows)
    labels = 0.1 if labels is None else labels
    return BudgetRule(share_of(labels, rows), most=None if labels <= 1.0 else int(labels), length=rows)


def _ask(session: Labelling, annotator: Annotator, columns: _Columns) -> bool:
    """Ask until the stream ends (True) or the annotator stops (False); the first question shows what columns are."""
    note: str | None = None
    saved, saving = 0.0, 0.0
    try:
        with annotator.listening():
            while True:
                with annotator.waiting():
                    question = session.next()
                if question is None:
                    return True
                answer = annotator.answer(question, session, columns.summary if note is None else note)
                if answer is Action.QUIT:
                    return False
                if answer is Action.UNDO:
                    note = "The last answer was taken back." if session.undo() else "There is nothing to undo."
                elif isinstance(answer, str):
                    session.answer(answer)
                    note = f"Row {question.row:,}: {answer}." if answer else "Skipped."
                    now = time.perf_counter()
                    if now - saved >= 20.0 * saving:  # a twentieth of the time at most; the answers are safe without
                        session.save()
                        saved = time.perf_counter()
                        saving = saved - now
                else:
                    note = ""
    except KeyboardInterrupt:
        return False
