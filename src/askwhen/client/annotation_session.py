"""A person's seat at a stream: the question in front of them, the next one, and what they have done.

Whoever sits here never waits for the service: answers go into the outbox, and a :class:`Courier` takes them from there.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from typing import Any, NamedTuple

from .messages import new_key
from .outbox import Entry, Outbox

_REMEMBERED = 50
_LONGEST_LEAD = 86400.0

TAKEN_BACK = "The last answer was taken back."
FINAL = "A question that was skipped does not come back; [u] again takes back the answer before."

Shown = dict[str, Any]


class Given(NamedTuple):
    """What was done to a question, which an undo may take back."""

    question: Shown
    entry: Entry


class Refused(NamedTuple):
    """An answer that the service did not take, and why."""

    question: int
    why: str


class Seat:
    """The seat. Whoever changes it, in one thread or the other, has its ``turn``.

    Parameters
    ----------
    stream : str
        The name of the stream.
    annotator : str or None
        Who sits here, where no tokens are asked for.
    outbox : Outbox
        Where answers wait.

    Attributes
    ----------
    current : dict or None
        The question in front; those in ``ahead`` come next.
    is_empty, is_elsewhere, is_reachable : bool
        Whether the service has no question now; whether another seat of the same person has the only one; whether the
        last request came through.
    refused : list of Refused
        Answers that were not taken.
    given : Counter
        How often each label was given here, None for unsure; what was taken back does not count.
    skipped : int
        How many questions were left to others.
    lost, note : str
        Why the question in front was taken away, and what came of the last undo; until the next answer.
    undoing : bool
        Whether the service is asked to take an answer back: ``wish``, or without one the last that it knows of.
    sending : str
        The key of the answer that is on its way.
    error : Exception or None
        Why the seat cannot go on.
    """

    def __init__(self, stream: str, annotator: str | None, outbox: Outbox) -> None:
        self.stream, self.annotator, self.outbox = stream, annotator, outbox
        self.turn = threading.Condition()
        self.current: Shown | None = None
        self.ahead: list[Shown] = []
        self.is_empty = self.is_elsewhere = self.undoing = False
        self.is_reachable = True
        self.refused: list[Refused] = []
        self.given: Counter[str | None] = Counter()
        self.skipped = 0
        self.lost = self.note = self.sending = ""
        self.wish: Given | None = None
        self.error: Exception | None = None
        self._past: deque[Given] = deque(maxlen=_REMEMBERED)
        self._since = time.monotonic()

    @property
    def waiting(self) -> int:
        """How many answers the service does not have yet."""
        return len(self.outbox.waiting)

    @property
    def held(self) -> list[Shown]:
        """The question in front and those that come next."""
        return [*([] if self.current is None else [self.current]), *self.ahead]

    def answer(self, question: Shown, label: str | None) -> bool:
        """Give a label to a question; without one, unsure. It is on the disk when this returns.

        False where that question is not the one in front any more: a key is for what is on the screen.
        """
        lead = min(time.monotonic() - self._since, _LONGEST_LEAD)
        return self._give(question, "answer", label, round(lead, 3))

    def skip(self, question: Shown) -> bool:
        """Leave a question to others."""
        return self._give(question, "skip", None, None)

    def _give(self, question: Shown, act: str, label: str | None, lead: float | None) -> bool:
        with self.turn:
            if self.current is not question:
                return False
            about = (self.stream, question["question"], act, label, lead, self.annotator, question["opened"])
            entry = Entry(new_key(), *about)
            self.outbox.add(entry)
            self._past.append(Given(question, entry))
            self.count(entry, 1)
            self.lost = self.note = ""
            self.current = None
            self.bring()
            self.turn.notify_all()
            return True

    def undo(self) -> None:
        """Take the last answer back; ``note`` says what came of it.

        One that was not sent yet comes back at once; of another the service is asked, ``undoing`` it meanwhile.
        """
        with self.turn:
            if self._past:
                last = self._past.pop()
                waits = any(entry.key == last.entry.key for entry in self.outbox.waiting)
                if waits and self.sending != last.entry.key:
                    self.outbox.done(last.entry.key, sync=True)
                    self.count(last.entry, -1)
                    self.put_back(last.question)
                    self.note = TAKEN_BACK
                    return
                if last.entry.act == "skip":
                    self.note = FINAL
                    return
                self.wish = last
            self.undoing = True
            self.turn.notify_all()

    # What follows is done in one's turn.

    def count(self, entry: Entry, times: int) -> None:
        """Count what was done, or no longer."""
        if entry.act == "skip":
            self.skipped += times
        else:
            self.given[entry.label] += times

    def bring(self) -> None:
        """Put the next question in front, where there is none and one is there."""
        if self.current is None and self.ahead:
            self.current = self.ahead.pop(0)
            self._since = time.monotonic()
            self.is_empty = self.is_elsewhere = False

    def put_back(self, question: Shown) -> None:
        """Put a question in front that was answered before."""
        if self.current is not None:
            self.ahead.insert(0, self.current)
        self.current, self._since = question, time.monotonic()

    def lose(self, question: Shown, why: str) -> bool:
        """A question is no longer this person's; False where it was answered meanwhile."""
        if self.current is question:
            self.current = None
            self.lost = f"The last question needs no answer any more: {why}"
            self.bring()
        elif question in self.ahead:
            self.ahead.remove(question)
        else:
            return False
        self.outbox.let_go(self.stream, question["question"])
        return True

    def undone(self, why: str, question: Shown | None = None, again: bool = False) -> None:
        """An undo came to its end: with its question, or without; ``again`` says whether it may be tried again."""
        wish, self.wish, self.undoing, self.note = self.wish, None, False, why
        if question is not None:
            self.outbox.hold(self.stream, question["question"])
            self.put_back(question)
            if wish is not None:
                self.count(wish.entry, -1)
        elif wish is not None and again:
            self._past.append(wish)
