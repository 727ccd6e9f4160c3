"""Goes between a person's seat and the service, in a thread of its own.

Answers first and in order, then what is to be taken back, then leases that run out, then the next question. What it
cannot reach it tries again; what the service refuses it tells.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from ..errors import AskwhenError, InputError
from .annotation_session import TAKEN_BACK, Refused, Seat, Shown
from .errors import ConflictError, NotAllowedError, NotFoundError, UnreachableError
from .messages import new_key
from .outbox import Entry
from .sync import Stream

_AHEAD = 1
_SHORT, _PAUSE, _LONGEST_PAUSE = 0.25, 1.0, 4.0
_FIRST_RETRY, _LONGEST_RETRY = 0.5, 8.0
_RENEW_WITHIN = 60.0
_LEAVING = 3.0
"""Seconds that whoever leaves waits for what is still to be sent."""

_NOT_NOW = "The server cannot be reached, so that nothing is taken back now."


class Courier:
    """The courier; starts at once.

    Parameters
    ----------
    seat : Seat
        Whose.
    stream : Stream
        Of a client that tries nothing again by itself and waits a few seconds at most.
    lease : float
        For how many seconds the stream lets somebody hold a question.
    changed : callable
        Is called, in the courier's thread, when there is something new to see.
    """

    def __init__(self, seat: Seat, stream: Stream, lease: float, changed: Callable[[], None]) -> None:
        self._seat, self._outbox, self._stream, self._tell = seat, seat.outbox, stream, changed
        self._renewing = min(lease / 3.0, _RENEW_WITHIN)
        self._renew_at = time.monotonic() + self._renewing
        self._fetch_at = 0.0
        self._next_key = new_key()
        self._pause, self._retry = _PAUSE, _FIRST_RETRY
        self._left = self._is_closed = False
        self._thread = threading.Thread(target=self._work, daemon=True)
        self._thread.start()

    def leave(self) -> None:
        """Send what can be sent, give back what is held, and end."""
        with self._seat.turn:
            self._left = True
            self._seat.turn.notify_all()
        self._thread.join(_LEAVING)
        with self._seat.turn:
            self._is_closed = True  # a request that hangs comes to nothing here; its answer is sent again some day
            self._outbox.close()

    def _work(self) -> None:
        seat = self._seat
        while True:
            try:
                pause = self._step()
                self._reached(True)
                self._retry = _FIRST_RETRY
            except UnreachableError:
                self._reached(False)
                if seat.undoing:
                    self._undone(_NOT_NOW, again=True)
                pause, self._retry = self._retry, min(2.0 * self._retry, _LONGEST_RETRY)
                if self._left:
                    return
            except Exception as error:  # whoever sits there must know, whatever it is
                seat.error = error
                self._tell()
                return
            with seat.turn:
                if self._left and not self._outbox.waiting:
                    break
                urgent = seat.is_reachable and (self._outbox.waiting or seat.undoing)
                if pause > 0.0 and not (self._left or urgent):
                    seat.turn.wait(pause)
        self._release_all()

    def _reached(self, is_reachable: bool) -> None:
        if is_reachable != self._seat.is_reachable:
            self._seat.is_reachable = is_reachable
            self._tell()

    def _step(self) -> float:
        """Do the most urgent thing; how many seconds there is nothing to do then."""
        seat = self._seat
        with seat.turn:
            entry = self._outbox.waiting[0] if self._outbox.waiting else None
            seat.sending = "" if entry is None else entry.key
        if entry is not None:
            try:
                self._send(entry)
            finally:
                seat.sending = ""
            self._fetch_at = 0.0
            return 0.0
        now = time.monotonic()
        if self._left:
            return 0.0
        if seat.undoing:
            self._undo()
            return 0.0
        if now >= self._renew_at:
            self._renew_at = now + self._renewing
            self._renew()
            return 0.0
        has_room = len(seat.held) < 1 + (_AHEAD if self._outbox.is_alone else 0)
        if has_room and now >= self._fetch_at:
            self._fetch_at = time.monotonic() + self._fetch()
            return 0.0
        return max(min(self._renew_at, self._fetch_at if has_room else self._renew_at) - now, 0.01)

    def _act(self, question: int | None, what: str, **given: Any) -> Any:
        return self._stream.act(question, what, self._seat.annotator, **given)

    # Answers.

    def _send(self, entry: Entry) -> None:
        refused, is_gone = None, False
        try:
            self._deliver(entry)
        except (ConflictError, NotFoundError, NotAllowedError, InputError) as error:
            if error.parameter == "annotator" or (isinstance(error, NotAllowedError) and not entry.found):
                raise  # not about this answer: it stays where it is
            is_gone = isinstance(error, NotAllowedError) or error.owner == "stream"
            refused = Refused(entry.question, error.sentence) if entry.act == "answer" else None
        seat = self._seat
        with seat.turn:
            if self._is_closed:
                return
            if is_gone:  # it may have another name for a while
                self._outbox.set_aside(entry.key)
            else:
                self._outbox.done(entry.key)
            if not any(each["question"] == entry.question for each in seat.held):
                self._outbox.let_go(entry.stream, entry.question)
            seat.refused += [] if refused is None else [refused]
        self._tell()

    def _deliver(self, entry: Entry) -> None:
        stream = Stream(self._stream.client, entry.stream)
        if entry.found and entry.opened is not None:
            found = stream.client.send("GET", f"/v1/streams/{entry.stream}/questions/{entry.question}")
            if found["opened"] != entry.opened:
                raise ConflictError(f"the stream {entry.stream} is another one by now.", owner="label")
        if entry.act == "skip":
            stream.act(entry.question, "skip", entry.annotator, key=entry.key)
        else:
            stream.tell(entry.question, entry.label, key=entry.key, lead=entry.lead, annotator=entry.annotator)

    def _undo(self) -> None:
        wish = self._seat.wish
        try:
            key = {} if wish is None else {"key": f"undo {wish.entry.key}"}  # so that it is done once
            found = self._act(None if wish is None else wish.entry.question, "undo", **key)
            question = wish.question if wish is not None else self._look(found["question"])
        except (ConflictError, NotFoundError) as error:
            self._undone(f"Nothing was taken back: {error.sentence}")
            return
        note = found.get("note", "")
        self._undone(f"{TAKEN_BACK.rstrip('.')}; {note}." if note else TAKEN_BACK, question)

    def _undone(self, why: str, question: Shown | None = None, again: bool = False) -> None:
        with self._seat.turn:
            if self._is_closed:
                return
            self._seat.undone(why, question, again)
        self._tell()

    def _look(self, question: int) -> Shown:
        found: Shown = self._stream.client.send("GET", f"/v1/streams/{self._stream.name}/questions/{question}")
        return found

    # Questions.

    def _renew(self) -> None:
        for held in self._seat.held:
            try:
                self._act(held["question"], "renew")
            except (ConflictError, NotFoundError) as error:
                with self._seat.turn:
                    is_lost = self._seat.lose(held, error.sentence)
                if is_lost:
                    self._tell()

    def _fetch(self) -> float:
        """Ask for the next question; how many seconds to wait before the one after."""
        seat, outbox, name = self._seat, self._outbox, self._stream.name
        found = self._stream.next(seat.annotator, self._next_key, outbox.device)
        self._next_key = new_key()
        with seat.turn:
            if found is None or self._is_closed:
                return self._wait(empty=True)
            round = found["question"]
            mine = [*(each["question"] for each in seat.held), *(each.question for each in outbox.waiting)]
            if round in mine:  # the service did not have its answer yet, or we are at the limit of leases
                return _SHORT
            if not outbox.hold(name, round):
                return self._wait(empty=False)
        if not outbox.is_alone:
            try:
                self._act(round, "renew")  # another seat of this person may have answered it in this moment
            except ConflictError:
                outbox.let_go(name, round)
                return _SHORT
        with seat.turn:
            seat.ahead.append(found)
            self._pause = _PAUSE
            seat.bring()
        self._tell()
        return 0.0

    def _wait(self, empty: bool) -> float:
        seat = self._seat
        is_news = (seat.is_empty, seat.is_elsewhere) != (empty, not empty)
        seat.is_empty, seat.is_elsewhere = empty, not empty
        if is_news and seat.current is None:
            self._tell()
        pause, self._pause = self._pause, min(1.5 * self._pause, _LONGEST_PAUSE)
        return pause

    def _release_all(self) -> None:
        for held in self._seat.held:
            try:
                self._act(held["question"], "release")
            except AskwhenError:
                continue
