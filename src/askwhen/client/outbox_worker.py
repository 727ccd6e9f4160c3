"""Synchronises an annotation session with the service, in a thread.

Answers come first and in order, then an undo, then leases that run out, then the next question. A request that does not
reach the service is sent again; a refusal is reported to the session.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..errors import AskwhenError, InputError
from .annotation_session import TAKEN_BACK, AnnotationSession, Question, RefusedAnswer
from .errors import ConflictError, NotAllowedError, NotFoundError, UnreachableError
from .messages import new_key
from .outbox import Entry
from .sync import Stream

_PREFETCHED = 1
_SHORT, _PAUSE, _LONGEST_PAUSE = 0.25, 1.0, 4.0
_FIRST_RETRY, _LONGEST_RETRY = 0.5, 8.0
_RENEW_WITHIN = 60.0
_LEAVING = 3.0
"""Seconds that ``leave`` waits for answers which are still to be sent."""

_NOT_NOW = "The server cannot be reached, so that nothing is taken back now."


class SyncWorker:
    """The thread that sends and fetches for a session; starts at once.

    Parameters
    ----------
    session : AnnotationSession
        The state shared with the user interface.
    stream : Stream
        Of a client without retries and with a timeout of a few seconds.
    lease : float
        Seconds for which the stream leases a question.
    on_change : callable
        Called in this thread when there is something new to show.
    """

    def __init__(self, session: AnnotationSession, stream: Stream, lease: float, on_change: Callable[[], None]) -> None:
        self._session, self._outbox, self._stream, self._on_change = session, session.outbox, stream, on_change
        self._renewing = min(lease / 3.0, _RENEW_WITHIN)
        self._renew_at = time.monotonic() + self._renewing
        self._fetch_at = 0.0
        self._next_key = new_key()
        self._pause, self._retry = _PAUSE, _FIRST_RETRY
        self._left = self._is_closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Send what can be sent, release the leases, and end."""
        with self._session.condition:
            self._left = True
            self._session.condition.notify_all()
        self._thread.join(_LEAVING)
        with self._session.condition:
            # A request that still hangs may not touch the outbox any more; its answer is sent again by a later process.
            self._is_closed = True
            self._outbox.close()

    def _work(self) -> None:
        session = self._session
        while True:
            try:
                pause = self._step()
                self._reached(True)
                self._retry = _FIRST_RETRY
            except UnreachableError:
                self._reached(False)
                if session.undoing:
                    self._end_undo(_NOT_NOW, again=True)
                pause, self._retry = self._retry, min(2.0 * self._retry, _LONGEST_RETRY)
                if self._left:
                    return
            except Exception as error:
                session.error = error  # the user interface raises it: a thread that just ended would look like a pause
                self._on_change()
                return
            with session.condition:
                if self._left and not self._outbox.waiting:
                    break
                urgent = session.is_reachable and (self._outbox.waiting or session.undoing)
                if pause > 0.0 and not (self._left or urgent):
                    session.condition.wait(pause)
        self._release_all()

    def _reached(self, is_reachable: bool) -> None:
        if is_reachable != self._session.is_reachable:
            self._session.is_reachable = is_reachable
            self._on_change()

    def _step(self) -> float:
        """Do the most urgent thing; seconds until there is something to do again."""
        session = self._session
        with session.condition:
            entry = self._outbox.waiting[0] if self._outbox.waiting else None
            session.sending = "" if entry is None else entry.key
        if entry is not None:
            try:
                self._send(entry)
            finally:
                session.sending = ""
            self._fetch_at = 0.0
            return 0.0
        now = time.monotonic()
        if self._left:
            return 0.0
        if session.undoing:
            self._undo()
            return 0.0
        if now >= self._renew_at:
            self._renew_at = now + self._renewing
            self._renew()
            return 0.0
        may_fetch = len(session.held) < 1 + (_PREFETCHED if self._outbox.is_alone else 0)
        if may_fetch and now >= self._fetch_at:
            self._fetch_at = time.monotonic() + self._fetch()
            return 0.0
        return max(min(self._renew_at, self._fetch_at if may_fetch else self._renew_at) - now, 0.01)

    def _act(self, question: int | None, what: str, **given: Any) -> Any:
        return self._stream.act(question, what, self._session.annotator, **given)

    # Answers.

    def _send(self, entry: Entry) -> None:
        refused, is_gone = None, False
        try:
            self._deliver(entry)
        except (ConflictError, NotFoundError, NotAllowedError, InputError) as error:
            if error.parameter == "annotator" or (isinstance(error, NotAllowedError) and not entry.found):
                raise  # not about this answer: it stays where it is
            is_gone = isinstance(error, NotAllowedError) or error.owner == "stream"
            refused = RefusedAnswer(entry.question, error.sentence) if entry.act == "answer" else None
        session = self._session
        with session.condition:
            if self._is_closed:
                return
            if is_gone:  # the stream may have been renamed for a while
                self._outbox.set_aside(entry.key)
            else:
                self._outbox.done(entry.key)
            if not any(each["question"] == entry.question for each in session.held):
                self._outbox.let_go(entry.stream, entry.question)
            session.refused += [] if refused is None else [refused]
        self._on_change()

    def _deliver(self, entry: Entry) -> None:
        stream = Stream(self._stream.client, entry.stream)
        if entry.found and entry.opened is not None:
            found = _question(stream, entry.question)
            if found["opened"] != entry.opened:
                raise ConflictError(f"the stream {entry.stream} has been replaced by another one.", owner="label")
        if entry.act == "skip":
            stream.act(entry.question, "skip", entry.annotator, key=entry.key)
        else:
            stream.tell(entry.question, entry.label, key=entry.key, lead=entry.lead, annotator=entry.annotator)

    def _undo(self) -> None:
        submission = self._session.to_undo
        try:
            key = {} if submission is None else {"key": f"undo {submission.entry.key}"}  # so that it is done once
            found = self._act(None if submission is None else submission.entry.question, "undo", **key)
            question = _question(self._stream, found["question"]) if submission is None else submission.question
        except (ConflictError, NotFoundError) as error:
            self._end_undo(f"Nothing was taken back: {error.sentence}")
            return
        note = found.get("note", "")
        self._end_undo(f"{TAKEN_BACK.rstrip('.')}; {note}." if note else TAKEN_BACK, question)

    def _end_undo(self, why: str, question: Question | None = None, again: bool = False) -> None:
        with self._session.condition:
            if self._is_closed:
                return
            self._session.end_undo(why, question, again)
        self._on_change()

    # Questions.

    def _renew(self) -> None:
        for held in self._session.held:
            try:
                self._act(held["question"], "renew")
            except (ConflictError, NotFoundError) as error:
                with self._session.condition:
                    is_lost = self._session.lose(held, error.sentence)
                if is_lost:
                    self._on_change()

    def _fetch(self) -> float:
        """Ask for the next question; seconds to wait before the one after."""
        session, outbox, name = self._session, self._outbox, self._stream.name
        found = self._stream.next(session.annotator, self._next_key, outbox.device)
        self._next_key = new_key()
        with session.condition:
            if found is None or self._is_closed:
                return self._wait(empty=True)
            number = found["question"]
            mine = [*(each["question"] for each in session.held), *(each.question for each in outbox.waiting)]
            if number in mine:  # the service did not have its answer yet, or we are at the limit of leases
                return _SHORT
            if not outbox.hold(name, number):
                return self._wait(empty=False)
        if not outbox.is_alone:
            try:
                self._act(number, "renew")  # another session of this person may have answered it in this moment
            except ConflictError:
                outbox.let_go(name, number)
                return _SHORT
        with session.condition:
            session.ahead.append(found)
            self._pause = _PAUSE
            session.show_next()
        self._on_change()
        return 0.0

    def _wait(self, empty: bool) -> float:
        session = self._session
        is_news = (session.is_empty, session.is_elsewhere) != (empty, not empty)
        session.is_empty, session.is_elsewhere = empty, not empty
        if is_news and session.current is None:
            self._on_change()
        pause, self._pause = self._pause, min(1.5 * self._pause, _LONGEST_PAUSE)
        return pause

    def _release_all(self) -> None:
        for held in self._session.held:
            try:
                self._act(held["question"], "release")
            except AskwhenError:
                continue


def _question(stream: Stream, number: int) -> Question:
    found: Question = stream.client.send("GET", f"/v1/streams/{stream.name}/questions/{number}")
    return found
