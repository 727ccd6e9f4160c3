"""Label a file by hand, as ``askwhen label`` does: ask a person about what is worth a label, learn, save, go on."""

from __future__ import annotations

import enum
import time
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ..contracts.sampler import SamplerLike
from ..data.advice import shown_only
from ..data.unlabelled import read_records
from ..labelling.answers import Answers, AnswerStore
from ..labelling.session import Labelling, Question
from ..learners import Mixture
from ..prepare import Prepare
from ..rules import BudgetRule
from ..sampler import Sampler
from .observer import Say, silent
from .outputs import check_outputs
from .source import Source, share_of
from .tasks import write_prodigy


class Wish(enum.Enum):
    """What a person may want other than to give a label."""

    UNDO = "take the last answer back"
    AGAIN = "see the question again"
    QUIT = "stop for now"


class Person(Protocol):
    """Whoever answers: at a keyboard, or in a test."""

    def listening(self) -> AbstractContextManager[Any]:
        """Open while questions are asked."""
        ...

    def waiting(self) -> AbstractContextManager[Any]:
        """Open while the next instance worth a label is looked for."""
        ...

    def answer(self, question: Question, session: Labelling, note: str) -> str | Wish:
        """A label, an empty one to skip the instance, or a wish; ``note`` says what became of the last answer."""
        ...


class Labelled(NamedTuple):
    """What came of a sitting: whether the stream came to its end, the sampler, the answers so far, and the files."""

    ended: bool
    sampler: SamplerLike
    counts: dict[str, int]
    answers: str
    model: str


def label(
    file: str,
    person: Person,
    reading: dict[str, Any] | None = None,
    *,
    classes: Sequence[str] = ("no", "yes"),
    labels: float = 0.1,
    answers: str | AnswerStore | None = None,
    model: str | None = None,
    prodigy: str | None = None,
    seed: int = 0,
    raw: bool = False,
    say: Say = silent,
) -> Labelled:
    """Ask a person about the instances of a file that are worth a label, until it ends or the person has had enough.

    The same call goes on where the last one stopped, however it stopped.

    Parameters
    ----------
    file : str
        A table without labels: CSV, TSV, Parquet or NDJSON.
    person : Person
        Answers.
    reading : dict, optional
        Arguments of :func:`askwhen.data.unlabelled.read_records`.
    classes : sequence of str
        The labels; two or more.
    labels : float
        How many rows to ask about: a share, or a number above 1.
    answers : str or AnswerStore, optional
        Where answers go: a CSV file, by default the file's name with .labels.csv, or another place.
    model : str, optional
        Where the sampler goes; by default the file's name with .askwhen.
    prodigy : str, optional
        Where all answers go as Prodigy's annotated tasks, each time the person has had enough.
    seed, raw
        The seed of the coins, and whether instances are taken as they are, without scaling them.
    say : callable
        Is told sentences for the person.
    """
    stem, reading = Path(file).name.split(".")[0], reading or {}
    model, answers = model or f"{stem}.askwhen", f"{stem}.labels.csv" if answers is None else answers
    check_outputs(file, model=model, answers=answers if isinstance(answers, str) else None, prodigy=prodigy)
    prepare, rule = None if raw else Prepare(), _rule(labels, Source(file, reading))
    store = Answers(answers) if isinstance(answers, str) else answers
    several = list(classes) if len(classes) > 2 else None
    learner = Mixture(classes=None if several is None else len(several))
    fresh: SamplerLike = Sampler(learner, rule, prepare=prepare, seed=seed, classes=several)
    about: dict[str, Any] = {"reading": {name: value for name, value in reading.items() if value and name != "format"}}
    notes: dict[str, None] = {}  # without repetition: undoing reads the file again
    session = Labelling(
        lambda skip, passed: read_records(
            file,
            skip=skip,
            passed=passed,
            named=lambda names: about.update(names=names),
            unlearnt=lambda names: notes.update({shown_only(names): None}),
            **reading,
        ),
        fresh,
        store,
        list(classes),
        model,
        about=about,
    )
    if store.given:
        say(f"Going on after {len(store.given)} answers in {store.name}.")
    try:
        ended = _ask(session, person, notes)
    finally:
        session.save()
        session.close()
    for note in notes:
        say(note)
    if prodigy is not None:
        write_prodigy(prodigy, file, reading, store.given, classes)
    if session.unused:
        say(f"{session.unused} answers were not learnt from: with these settings their rows are not asked about.")
    return Labelled(ended, session.sampler, session.counts(), store.name, model)


def _rule(labels: float, source: Source) -> BudgetRule:
    """A budget for a share of the rows, or for a number of labels."""
    rows = source.count() or 1
    return BudgetRule(share_of(labels, rows), most=None if labels <= 1.0 else int(labels), length=rows)


def _ask(session: Labelling, person: Person, notes: Iterable[str]) -> bool:
    """Ask until the stream ends (True) or the person has had enough (False); the first question shows the notes."""
    note: str | None = None
    saved, saving = 0.0, 0.0
    try:
        with person.listening():
            while True:
                with person.waiting():
                    question = session.next()
                if question is None:
                    return True
                answer = person.answer(question, session, " ".join(notes) if note is None else note)
                if answer is Wish.QUIT:
                    return False
                if answer is Wish.UNDO:
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
