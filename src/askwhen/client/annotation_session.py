"""A person who answers questions of a stream: the question in front of them, the next one, and what they have done.

The person never waits for the service: answers go into the outbox, and a :class:`.SyncWorker` takes them from there.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from typing import Any, NamedTuple

from .messages import Label, new_key
from .outbox import Entry, Outbox

_MOST_UNDOS = 50
_LONGEST_LEAD = 86400.0

TAKEN_BACK = "The last answer was taken back."
FINAL = "A question that was skipped does not come back; [u] again takes back the answer before."

Question = dict[str, Any]
"""A question as the service sends it."""


class Submission(NamedTuple):
    """An answer or a skip, and its question; an undo may take it back."""

    question: Question
    entry: Entry


class RefusedAnswer(NamedTuple):
    """An answer that the service refused, and why."""

    question: int
    why: str


class AnnotationSession:
    """The state that the user interface and the :class:`.SyncWorker` share.

    Each thread holds ``condition`` while it changes the state, and notifies it where the other one has something to do.

    Parameters
    ----------
    stream : str
        The name of the stream.
    annotator : str or None
        Who answers, where the service asks for no tokens.
    outbox : Outbox
        Where answers wait.

    Attributes
    ----------
    current : dict or None
        The question in front; those in ``ahead`` come next.
    is_empty, is_elsewhere, is_reachable : bool
        Whether the service has no question now; whether another session of the same person has the only one; whether
        the last request came through.
    refused : list of RefusedAnswer
        Answers that were not taken.
    given : Counter
        How often each label was given here, None for unsure; what was taken back does not count.
    answered, skipped : int
        Number of answers that were given here, and of questions that were left to others.
    lost, note : str
        Why the question in front was taken away, and what came of the last undo; until the next answer.
    undoing : bool
        Whether the service is asked to take an answer back: ``to_undo``, or without one the last that it knows of.
    sending : str
        The key of the answer that is being sent.
    error : Exception or None
        Why the session cannot go on.
    """

    def __init__(self, stream: str, annotator: str | None, outbox: Outbox) -> None:
        self.stream, self.annotator, self.outbox = stream, annotator, outbox
        self.condition = threading.Condition()
        self.current: Question | None = None
        self.ahead: list[Question] = []
        self.is_empty = self.is_elsewhere = self.undoing = False
        self.is_reachable = True
        self.refused: list[RefusedAnswer] = []
        self.given: Counter[str | float | None] = Counter()
        self.answered = self.skipped = 0
        self.lost = self.note = self.sending = ""
        self.to_undo: Submission | None = None
        self.error: Exception | None = None
        self._history: deque[Submission] = deque(maxlen=_MOST_UNDOS)
        self._shown_at = time.monotonic()

    @property
    def waiting(self) -> int:
        """Number of answers that the service does not have yet."""
        return len(self.outbox.waiting)

    @property
    def held(self) -> list[Question]:
        """The question in front and those that come next."""
        return [*([] if self.current is None else [self.current]), *self.ahead]

    def answer(self, question: Question, label: Label | None) -> bool:
        """Give a label, several, or a number; without one, unsure. It is on the disk when this returns.

        False if that question is not the one in front any more: a key press is for what was on the screen.
        """
        lead = min(time.monotonic() - self._shown_at, _LONGEST_LEAD)
        return self._submit(question, "answer", label, round(lead, 3))

    def skip(self, question: Question) -> bool:
        """Leave a question to others."""
        return self._submit(question, "skip", None, None)

    def _submit(self, question: Question, act: str, label: Label | None, lead: float | None) -> bool:
        with self.condition:
            if self.current is not question:
                return False
            about = (self.stream, question["question"], act, label, lead, self.annotator, question["opened"])
            entry = Entry(new_key(), *about)
            self.outbox.add(entry)
            self._history.append(Submission(question, entry))
            self.count(entry, 1)
            self.lost = self.note = ""
            self.current = None
            self.show_next()
            self.condition.notify_all()
            return True

    def undo(self) -> None:
        """Take the last answer back; ``note`` says what came of it.

        An answer that was not sent yet comes back at once. For another one the service is asked, and ``undoing`` is
        True until it has replied.
        """
        with self.condition:
            if self._history:
                last = self._history.pop()
                is_waiting = any(entry.key == last.entry.key for entry in self.outbox.waiting)
                if is_waiting and self.sending != last.entry.key:
                    self.outbox.done(last.entry.key, sync=True)
                    self.count(last.entry, -1)
                    self.put_back(last.question)
                    self.note = TAKEN_BACK
                    return
                if last.entry.act == "skip":
                    self.note = FINAL
                    return
                self.to_undo = last
            self.undoing = True
            self.condition.notify_all()

    # Callers of the methods below hold the condition.

    def count(self, entry: Entry, times: int) -> None:
        """Add to the count of a label, or of skips; -1 after an undo."""
        if entry.act == "skip":
            self.skipped += times
        else:
            self.answered += times
            for label in entry.label if isinstance(entry.label, list) else [entry.label]:
                self.given[label] += times

    def show_next(self) -> None:
        """Put the next question in front, if there is one and none is in front."""
        if self.current is None and self.ahead:
            self.current = self.ahead.pop(0)
            self._shown_at = time.monotonic()
            self.is_empty = self.is_elsewhere = False

    def put_back(self, question: Question) -> None:
        """Put a question in front that was answered before."""
        if self.current is not None:
            self.ahead.insert(0, self.current)
        self.current, self._shown_at = question, time.monotonic()

    def lose(self, question: Question, why: str) -> bool:
        """Remove a question whose lease is lost; False if it was answered meanwhile."""
        if self.current is question:
            self.current = None
            self.lost = f"The last question needs no answer any more: {why}"
            self.show_next()
        elif question in self.ahead:
            self.ahead.remove(question)
        else:
            return False
        self.outbox.let_go(self.stream, question["question"])
        return True

    def end_undo(self, why: str, question: Question | None = None, again: bool = False) -> None:
        """End an undo, with its question if it succeeded; ``again`` if it may be tried again."""
        submission, self.to_undo, self.undoing, self.note = self.to_undo, None, False, why
        if question is not None:
            self.outbox.hold(self.stream, question["question"])
            self.put_back(question)
            if submission is not None:
                self.count(submission.entry, -1)
        elif submission is not None and again:
            self._history.append(submission)
