"""Labelling by hand: choose the instance to show next, and let the sampler learn from the answers.

The stored answers are the only truth. Each is stored before the sampler learns from it, and the sampler can be rebuilt
from them, to the bit: its state depends only on the instances, the random draws and the answers.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import json
import os
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from ..contracts.sampler import SamplerLike
from ..errors import AskwhenError, InputError
from ..snapshot import file_format
from ..trace.trace import Ask
from .answers import AnswerStore, StoredAnswer, digest_of

_UNDOABLE = 10  # answers that can be undone without rebuilding the sampler

Skipped = Callable[[int, dict[str, Any]], None]
"""Receives the number and the record of a row that is skipped."""
ReadRecords = Callable[[int, Skipped], Iterator[tuple[Any, dict[str, Any]]]]
"""Returns instances with their records; takes the number of rows to skip, and a function that receives those."""


class ShownInstance(NamedTuple):
    """An instance that is worth a label: its row, its record, and what the sampler says of it."""

    row: int
    record: dict[str, Any]
    ask: Ask


class Labelling:
    """Goes through a stream, stops at every instance worth asking about, and learns from the answers.

    Parameters
    ----------
    rows : callable
        ``rows(skip, skipped)`` returns instances with their records.
    fresh : Sampler, or anything that does what it does
        A sampler that has played no round.
    answers : Answers, or any other AnswerStore
        Stores answers, and has those that were given before.
    classes : list of str
        The labels. For a Sampler two, of which the second counts as +1.
    model : str or path
        Where the sampler is saved. A saved one is resumed if it has learnt from exactly these answers, with the
        settings of the fresh one; otherwise the sampler is rebuilt from the answers.
    about : dict, optional
        Facts to store in the sampler's note: how its file is read, for predictions.
    content : callable, optional
        Gives the content of a record. A record whose content was answered before then takes that answer, in a round
        that asks for certain, at no cost to the budget; the sampler must be a ``Sampler``.
    advice : callable, optional
        Gives what advisers say of a row, by its number, for a ``Sampler`` with advisers. It is not shown to people.

    Attributes
    ----------
    unused : int
        Number of answers that the rebuilt sampler did not learn from, since it would not have asked for them.
    """

    def __init__(
        self,
        rows: ReadRecords,
        fresh: SamplerLike,
        answers: AnswerStore,
        classes: list[str],
        model: str | os.PathLike[str],
        about: dict[str, Any] | None = None,
        content: Callable[[dict[str, Any]], str] | None = None,
        advice: Callable[[int], Any] | None = None,
    ) -> None:
        # One parameter for each thing that a session is made of; they are documented by name.
        self._about = {} if about is None else about
        self._content = content
        self._advice = advice
        self._rows = rows
        self._fresh = fresh
        self._answers = answers
        self._classes = classes
        self._undoable: deque[tuple[SamplerLike, ShownInstance]] = deque(maxlen=_UNDOABLE)
        self._past: deque[tuple[int, Any, dict[str, Any]]] = deque()
        self._records: Iterator[tuple[Any, dict[str, Any]]] = iter(())
        self._model = model
        self._settings = repr((classes, _without_length(fresh.parts), fresh.seed)).replace(", length=None", "")
        if content is not None:
            self._settings += " with repeats"
        if advice is not None:
            self._settings += f" with advice {self._about.get('advice')!r}"
        strange = next((answer for answer in answers.given if answer.label not in ("", *classes)), None)
        if strange is not None:
            raise InputError(
                f"{answers.name} has the label {strange.label!r} in row {strange.row}, which is not one of "
                f"{', '.join(classes)}; name the same labels as before, or other files.",
                owner="label",
            )
        self._start(self._saved() or copy.deepcopy(fresh))

    def _saved(self) -> SamplerLike | None:
        """The saved sampler, if it has learnt from exactly these answers."""
        if not Path(self._model).exists():
            return None
        try:
            note = file_format.read(self._model)[0].get("note")
            sampler = type(self._fresh).load(self._model)
        except AskwhenError as error:
            raise InputError(
                f"{self._model} does not hold a sampler for these {len(self._classes)} labels; give as many as before, "
                "or remove it, and it is rebuilt from the answers.",
                owner="label",
            ) from error
        waiting = {ask.round for ask in sampler.pending}
        rows = [answer.row for answer in self._answers.given]
        learnt = sum(row < sampler.round and row not in waiting for row in rows)
        return sampler if self._digest(learnt) in (note, _answers_of(note)) else None

    def _digest(self, count: int) -> str:
        """Fingerprint of the settings and the first ``count`` answers."""
        text = f"({self._settings}, {list(self._answers.given[:count])!r})"
        return f"{count} answers, {hashlib.sha256(text.encode()).hexdigest()}"

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        """Inside, the sampler is changing: if that is interrupted it is not saved, since the answers can rebuild it."""
        self._whole = False
        yield
        self._whole = True

    def save(self) -> None:
        """Save the sampler, with a fingerprint of the answers that it has learnt from."""
        if not self._whole:
            return
        digest = self._digest(len(self._answers.given))
        self.sampler.save(self._model, note=json.dumps({"answers": digest, "words": self._classes, **self._about}))

    def _start(self, sampler: SamplerLike) -> None:
        self.sampler = sampler
        self._whole = True
        self.unused = 0
        self._undoable.clear()
        self._past.clear()
        self._open: ShownInstance | None = None
        self._known = {answer.row: answer for answer in self._answers.given}
        self._labels: dict[str, tuple[int, str]] = {}
        first = min([sampler.round, *(ask.round for ask in sampler.pending)])
        self._stop_reading()
        self._records = self._rows(first, self._pass)
        numbered = enumerate(self._records, first)
        self._ahead: Iterator[tuple[int, Any, dict[str, Any]]] = ((row, x, record) for row, (x, record) in numbered)
        self._again: deque[tuple[int, Any, dict[str, Any]]] = deque()

    def _pass(self, row: int, record: dict[str, Any]) -> None:
        """Take note of a record that the sampler knows already."""
        self._check(row, record)
        if row in self._known:
            self._note(row, record, self._known[row].label)

    def _note(self, row: int, record: dict[str, Any], label: str) -> None:
        """Know the label of a content; the first answer is that of its copies."""
        if self._content is not None and label:
            self._labels.setdefault(self._content(record), (row, label))

    def _known_label(self, row: int, record: dict[str, Any]) -> str | None:
        """The answer to an earlier record with the same content, unless this one has an answer of its own."""
        if self._content is None or row in self._known or not self._labels:
            return None
        return self._labels.get(self._content(record), (row, None))[1]

    def _check(self, row: int, record: dict[str, Any]) -> None:
        """Refuse a record that an answer was not about."""
        answer = self._known.get(row)
        if answer is not None and answer.record not in ("", digest_of(record)):
            raise InputError(
                f"row {row} of {self._answers.name} was about another record; was the file changed, or is it "
                "another one?",
                owner="label",
            )

    def next(self) -> ShownInstance | None:
        """The next instance worth a label, the same until it is answered; None at the end of the stream."""
        given = self._known = {answer.row: answer for answer in self._answers.given}
        with self._changing():
            return self._next(given)

    def _next(self, given: dict[int, StoredAnswer]) -> ShownInstance | None:
        while self._open is None:
            found = self._again.popleft() if self._again else next(self._ahead, None)
            if found is None:
                return None
            row, x, record = found
            if self._undoable:
                self._past.append(found)
            waiting = {ask.round: ask for ask in self.sampler.pending}
            label = None if row < self.sampler.round else self._known_label(row, record)
            if label is not None:
                sampler: Any = self.sampler
                played = sampler.play(x, decision="certain", **self._advised(row))
                self._learn(ShownInstance(row, record, played.ask), label)
                continue
            ask = waiting.get(row) if row < self.sampler.round else self.sampler.ask(x, **self._advised(row))
            if ask is None or not ask.query:
                self.unused += row in given
                continue
            question = ShownInstance(row, record, ask)
            if row in given:
                self._pass(row, record)
                self._learn(question, given[row].label)
            else:
                self._open = question
        return self._open

    def _advised(self, row: int) -> dict[str, Any]:
        """What advisers say of a row, as an argument of a round."""
        return {} if self._advice is None else {"advice": self._advice(row)}

    def answer(self, label: str) -> None:
        """Give the label of the open question; an empty one skips it."""
        question = self._open
        if question is None:
            raise InputError("there is no open question to answer.", owner="label")
        if label and label not in self._classes:
            raise InputError(f"the label must be one of {', '.join(self._classes)}, got {label!r}.", owner="label")
        with self._changing():
            before = copy.deepcopy(self.sampler)
            answer = StoredAnswer(question.row, label, digest_of(question.record))
            self._answers.add(answer, float(question.ask.probability))
            self._learn(question, label)
            self._note(question.row, question.record, label)
            self._undoable.append((before, question))
            self._forget_past()
            self._open = None

    def _learn(self, question: ShownInstance, label: str) -> None:
        if not label:
            self.sampler.forget(question.ask)
        else:
            words = dict(zip(self._classes, self.sampler.classes or (), strict=True))
            self.sampler.tell(question.ask, words[label])

    def undo(self) -> bool:
        """Take the last answer back and ask again; False if there is none."""
        if not self._answers.given:
            return False
        with self._changing():
            self._undo()
        return True

    def _undo(self) -> None:
        undone = self._answers.undo().row
        self._labels = {content: known for content, known in self._labels.items() if known[0] != undone}
        if not self._undoable:
            self._start(copy.deepcopy(self._fresh))
            return
        self.sampler, self._open = self._undoable.pop()
        self._again.extendleft(reversed([found for found in self._past if found[0] > self._open.row]))
        while self._past and self._past[-1][0] > self._open.row:
            self._past.pop()

    def _forget_past(self) -> None:
        """Discard the instances that no undo can come back to."""
        first = self._undoable[0][1].row
        while self._past and self._past[0][0] <= first:
            self._past.popleft()

    def _stop_reading(self) -> None:
        """End the reading of rows now, and not when the garbage is collected: it stores the vectors of texts."""
        end = getattr(self._records, "close", None)
        if end is not None:
            end()

    def close(self) -> None:
        """End the reading, and release the store of the answers."""
        try:
            self._stop_reading()
        finally:
            self._answers.close()

    def counts(self) -> dict[str, int]:
        """Number of answers with each label, and of skipped ones."""
        labels = [answer.label for answer in self._answers.given]
        return {each: labels.count(each) for each in self._classes} | {"skipped": labels.count("")}


def _without_length(parts: Any) -> Any:
    """Parts whose rule lacks the length of the file, so that added rows do not change the fingerprint."""
    length = getattr(parts.rule, "length", None)
    return parts if length is None else parts._replace(rule=dataclasses.replace(parts.rule, length=None))


def _answers_of(note: Any) -> Any:
    """The fingerprint of the answers that a saved sampler has learnt from, in its note."""
    try:
        return json.loads(note)["answers"]
    except (TypeError, ValueError, KeyError):
        return None
