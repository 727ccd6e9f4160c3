"""Many rows at once: play rounds in compiled chunks, learn unsolicited labels, and score rows without a round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.drift import NoDrift
from ..contracts.learner import experts, with_lookahead
from ..errors import INSTANCES, InputError, at_row
from ..linalg.rows import Rows, SparseRows, copy_rows, part_of, row, shape_of
from ..linalg.vectors import SOUND, UNSOUND
from ..prepare import PrepareState, ViewsState, as_always, empty_output, transform_rows
from ..trace.trace import Trace
from .engine import Engine, too_many_classes
from .inputs.advice import Columns
from .inputs.instance_checks import canonical, describe_unsound, is_canonical
from .label_spaces import Classes
from .round.advised import rounds_of
from .round.ahead import Played, is_ahead, play_ahead
from .round.each_class import calls_of
from .round.rounds import Record, learn_rows, new_record, run_rounds, score_rows
from .tally.error_model import boundary
from .tally.many_rounds import note_rounds_at
from .tally.round_tally import counts_in_rounds

_CHUNK = 1 << 16
_PREPARED = 1 << 22  # the most prepared numbers that are held at once
NO_TIMES = np.zeros(0)
NO_FLAGS = np.zeros(0, np.bool_)
_NO_PLACES = np.zeros(0, np.int64)
NO_ADVICE: Mapping[str, Columns] = {}


class RowBatch(NamedTuple):
    """Rows that are played one after the other; each asked label is learnt before the next row.

    Attributes
    ----------
    rows, labels, times
        A row for each round; ``times`` is empty where the rule needs none.
    every_margin : bool
        Whether margins are computed also where they cannot change a decision.
    keep : bool
        Whether the trace records every round, and not only the counts.
    before : int
        Number of rows of X that came earlier, so that error messages give the row number within X.
    is_prepared : bool
        Whether the rows are already prepared for the learner.
    unsolicited : array of bool
        Rounds whose label is learnt even if it is not asked for.
    draws : array, optional
        Random draws to use instead of the engine's own.
    new : sequence
        With open classes: labels that are not a class yet, numbered after the known classes.
    advice : dict
        What each adviser says of the rows, by name.
    """

    rows: Rows
    labels: np.ndarray
    every_margin: bool
    keep: bool
    times: np.ndarray = NO_TIMES
    before: int = 0
    is_prepared: bool = False
    unsolicited: np.ndarray = NO_FLAGS
    draws: np.ndarray | None = None
    new: Sequence[Any] = ()
    advice: Mapping[str, Columns] = NO_ADVICE


def part_of_batch(batch: RowBatch, first: int, last: int) -> RowBatch:
    """Some of the rows."""
    here = slice(first, last)
    return batch._replace(
        rows=part_of(batch.rows, first, last),
        labels=batch.labels[here],
        times=batch.times[here],
        before=batch.before + first,
        unsolicited=batch.unsolicited[here],
        draws=None if batch.draws is None else batch.draws[here],
    )


def run(engine: Engine, batch: RowBatch) -> Trace:
    """Play a round for every row; rounds before an error stay played."""
    try:
        return _Run(engine, batch).play()
    finally:
        if engine.advisers is not None:
            engine.advisers.hand_over(engine, None)


class _Run:
    """A batch that is being played, chunk by chunk."""

    def __init__(self, engine: Engine, batch: RowBatch) -> None:
        self._engine, self._batch, self._rows = engine, batch, batch.rows
        self._n, self._d = shape_of(batch.rows)
        self._prepares = engine.prepare is not None and not batch.is_prepared
        self._size = chunk_size(engine) if self._prepares else _CHUNK
        length = self._n if batch.keep else min(self._n, self._size)
        self._record = new_record(length, len(experts(engine.learner)), engine.answers is not None)
        self._floor, self._blind = engine.least_chance(), engine.is_blind(batch.every_margin)
        self._places = _NO_PLACES
        if batch.new:
            engine.reserve_classes(len(engine.places) + len(batch.new))
            self._places = np.r_[np.arange(len(engine.places)), np.full(len(batch.new), -1)]
        self._given: Any = None
        if engine.advisers is not None:
            self._given = engine.advisers.given_rows(engine.learner, batch.advice, self._n, self._places)
        self._is_ahead = plays_ahead(engine, batch)
        engine.learner = with_lookahead(engine.learner)
        self._frame: Any = None
        if not self._is_ahead:
            example = (0, batch.labels, NO_TIMES, 0, True, 0.0, True, NO_FLAGS, self._places, self._record)
            self._frame, kind = engine.session.context(engine)
            self._play = entry_point(run_rounds, kind, *example, what=engine.parts.learner)

    def play(self) -> Trace:
        engine, (start, unsolicited) = self._engine, (self._engine.round, self._batch.unsolicited)
        counts, switches, learnt = np.zeros(3, np.int64), list[int](), 0
        for first in range(0, self._n, self._size):
            last = min(self._n, first + self._size)
            here = slice(first, last) if self._batch.keep else slice(0, last - first)
            record = Record(*(array[here] for array in self._record))
            self._play_chunk(record, first, last)
            if not (engine.regression or counts_in_rounds(engine.tally) or self._is_ahead):
                self._count(record, self._batch.labels[first:last])
            if engine.advisers is not None:
                given = rounds_of(self._given, first, last)
                engine.advisers.count_run(given, self._batch.labels[first:last], record)
            if len(unsolicited):
                learnt += int(np.count_nonzero(unsolicited[first:last] & ~record.queried))
            counts += [np.count_nonzero(flags) for flags in (record.queried, record.updated, record.mistaken)]
            switches.extend((np.flatnonzero(record.switched) + start + first).tolist())
        self._open_classes()
        trace = self._trace(start, counts.tolist(), switches)
        engine.round += self._n
        engine.questions += trace.questions
        engine.updates += trace.updates
        engine.volunteered += learnt
        engine.switches.extend(switches)
        return trace

    def _play_chunk(self, record: Record, first: int, last: int) -> None:
        """Play rows from first to last; the compiled loop stops where a state must grow, and goes on afterwards."""
        engine, batch = self._engine, self._batch
        if batch.draws is None:
            engine.draws.generator.random(out=record.coin)
        else:
            record.coin[:] = batch.draws[first:last]
        if engine.advisers is not None:
            engine.advisers.hand_over(engine, rounds_of(self._given, first, last))
            self._frame, _ = engine.session.context(engine)
        before = batch.before + first
        chunk = prepared(engine, part_of(self._rows, first, last), before) if self._prepares else None
        done = 0
        while done < last - first:
            part = chunk or part_of(self._rows, first, last)
            (_held, address), _ = new_frame(part)
            done, status = self._play_rows(address, done, record, first, last)
            if status == UNSOUND and not self._prepares and not is_canonical(row(part, done), self._d):
                self._rows = canonical("run", self._rows)
            elif status != SOUND:
                engine.make_ready(status, row(part, done), "run", at_row(before + done))
                if not self._is_ahead:
                    self._frame, _ = engine.session.context(engine)

    def _play_rows(self, rows: int, done: int, record: Record, first: int, last: int) -> tuple[int, int]:
        """Play rows in compiled code, until one cannot be taken: (its number, the status)."""
        batch, what = self._batch, self._engine.parts.learner
        labels = batch.labels[first:last]
        if self._is_ahead:
            levels = np.zeros(0, np.int8)
            columns = (record.prediction, record.queried, record.updated, record.mistaken, levels)
            played = Played(labels, record.coin, record.margin, record.probability, *columns)
            (_held, number), played_kind = new_frame(played)
            address, kind = self._engine.session.ahead(self._engine)
            play = entry_point(play_ahead, kind, 0, played_kind, 0, 0, what=what)
            return play(address, rows, number, number, done)  # type: ignore[no-any-return]
        times, given = batch.times[first:last], batch.unsolicited[first:last]
        how = (batch.every_margin, self._floor, self._blind, given, self._places)
        return self._play(self._frame[1], rows, labels, times, done, *how, record)  # type: ignore[no-any-return]

    def _count(self, record: Record, labels: np.ndarray) -> None:
        """Count rounds in the tallies, where the compiled rounds have not done so."""
        engine, places = self._engine, self._places
        rounds = (record.probability, record.margin, record.prediction, record.queried, record.mistaken)
        (_block, counted), counting = self._frame[0][-1]
        levels = np.zeros(len(record.best), np.int8)
        note_rounds_at(counted, counting, *rounds, self._floor, self._blind, levels)
        if engine.answers is not None:
            numbers = places[labels.astype(int)].astype(float) if self._batch.new else labels
            engine.answers.note(record.best, numbers, record.probability, record.queried, levels)

    def _open_classes(self) -> None:
        """Add the names of new classes, in the order in which they appeared."""
        engine, places, new = self._engine, self._places, self._batch.new
        if new:
            opened = np.argsort(places[len(engine.places) :])[np.count_nonzero(places < 0) :].tolist()
            for code in opened:
                cast(Classes, engine.answers).add(new[code])

    def _trace(self, start: int, counts: list[int], switches: list[int]) -> Trace:
        engine, several, record = self._engine, self._engine.answers is not None, self._record
        if not self._batch.keep:
            record = new_record(0, record.experts.shape[1], several)
        questions, updates, mistakes = counts
        return Trace(
            start=start,
            rounds=self._n,
            questions=questions,
            updates=updates,
            mistakes=mistakes,
            margin=record.margin,
            prediction=engine.predictions(record),
            probability=record.probability,
            coin=record.coin,
            queried=record.queried,
            updated=record.updated,
            mistaken=record.mistaken,
            switches=np.array(switches, np.int64),
            drift_weights=record.experts,
            floor=self._floor,
            blind=self._blind,
            costs=engine.costs,
            several=several,
            pair=engine.pair.written,
            experts=engine.expert_names(),
            **self._delivered(record),
        )

    def _delivered(self, record: Record) -> dict[str, Any]:
        """With a promise: the delivered labels, and which are withheld."""
        engine = self._engine
        if engine.promise is None:
            return {}
        queried, labels = record.queried, self._batch.labels[: len(record.queried)]
        if engine.answers is not None:
            numbers = self._places[labels.astype(int)] if self._batch.new else labels.astype(int)
            found = engine.answers.decode_all(np.where(queried, numbers, record.best))
        elif engine.regression:
            found = np.where(queried, labels, record.margin)
        else:
            found = engine.pair.decode(np.where(queried, labels, record.prediction).astype(np.int8))
        withheld = record.probability == 0.0
        if withheld.any():
            found = found.astype(float if engine.regression else object)
            found[withheld] = np.nan if engine.regression else None
        return {"delivered": found, "withheld": withheld}


def plays_ahead(engine: Engine, batch: RowBatch) -> bool:
    """Whether the rounds of a batch depend on nothing but margins, draws and labels; see ``round.ahead``."""
    alone = isinstance(engine.drift, NoDrift) and engine.audit.rate == 0.0 and engine.advisers is None
    plain = not (engine.regression or engine.costs or engine.needs_time) and engine.answers is None
    return alone and plain and not len(batch.unsolicited) and is_ahead(engine.learner, engine.rule)


def learn(engine: Engine, rows: Rows, labels: np.ndarray, new: Sequence[Any] = ()) -> None:
    """Learn unsolicited labels: no round is played, and nothing is counted as asked.

    With open classes, ``new`` labels open their classes first; that does not change what is learnt. If a row is
    refused, these classes are closed again.
    """
    for opened, label in enumerate(new):
        if engine.open(label) is None:
            for known in reversed(new[:opened]):
                engine.close(known)
            raise too_many_classes("learn", engine.most, at_row(int(np.argmax(labels == len(engine.places)))))
    try:
        _learn(engine, rows, labels)
    except BaseException:
        for label in reversed(new):
            engine.close(label)
        raise


def _learn(engine: Engine, rows: Rows, labels: np.ndarray) -> None:
    engine.restart_if_due()
    seen = rows if engine.prepare is None else _transformed(engine.prepare, rows, True, "learn", 0)
    (_held, address), _ = new_frame(part_of(seen, 0, len(labels)))
    done = 0
    while done < len(labels):
        learner, kind = engine.session.learner_alone(engine)
        step = entry_point(learn_rows, kind, 0, labels, 0, True, what=engine.parts.learner)
        done, status = step(learner, address, labels, done, engine.regression)
        if status != SOUND:
            engine.make_ready(status, row(seen, done), "learn", at_row(done))
    engine.volunteered += len(labels)


def margins(engine: Engine, rows: Rows, live: bool = False, advice: Mapping[str, Columns] = NO_ADVICE) -> np.ndarray:
    """Margins of many rows, without playing a round: as of the next round if ``live``, else of what lasts."""
    n, d = shape_of(rows)
    if engine.learner is not None and d != engine.shape.d:
        raise InputError(f"{INSTANCES} must have {engine.shape.d} columns as before, got {d}.", owner="margins")
    prepare, learner = engine.prepare, engine.learner
    if learner is None:
        prepare, learner, _ = engine.first_states("margins", "X", d, isinstance(rows, SparseRows))
    if engine.advisers is not None:
        learner = learner._replace(given=engine.advisers.given_rows(learner, advice, n, _NO_PLACES))
    rows = seen_rows(prepare, rows if live else as_always(prepare, rows))
    p = np.empty((n, 1 if engine.classes is None else len(engine.classes)))
    calls, _learning = calls_of(learner, isinstance(rows, SparseRows), False, engine.parts.learner, not live)
    (_block, address), kind = new_frame(calls)
    score = entry_point(score_rows, kind, 0, 1, p)
    (_held, seen), _ = new_frame(part_of(rows, 0, n))
    stopped, status = score(address, seen, n, p)
    if status == UNSOUND and not is_canonical(row(rows, stopped), shape_of(rows)[1]):
        rows = canonical("margins", rows)
        (_held, seen), _ = new_frame(part_of(rows, 0, n))
        stopped, status = score(address, seen, n, p)
    if status != SOUND:
        raise engine.refusal(status, row(rows, stopped), "margins", at_row(stopped))
    return p if engine.classes is not None else p[:, 0] - boundary(engine.tally.model, engine.tally.log_cost)


def chunk_size(engine: Engine) -> int:
    """Number of rows that are prepared at once."""
    return _CHUNK if engine.sees_sparse else max(1, min(_CHUNK, _PREPARED // engine.dimension))


def prepared(engine: Engine, rows: Rows, before: int = 0) -> Rows:
    """Rows as the learner sees them; the running statistics of the preparation are updated."""
    assert engine.prepare is not None
    return _transformed(engine.prepare, rows, True, "run", before)


def seen_rows(prepare: PrepareState | ViewsState | None, rows: Rows) -> Rows:
    """Rows as the learner sees them; the running statistics of the preparation stay as they are."""
    return rows if prepare is None else _transformed(prepare, rows, False, "margins", 0)


def _transformed(prepare: PrepareState | ViewsState, rows: Rows, learns: bool, owner: str, before: int) -> Rows:
    """Rows as the learner sees them; a row with values that are not finite, or too large, is refused."""
    n, d = shape_of(rows)
    out = empty_output(prepare, rows)
    done, status = transform_rows(prepare, part_of(rows, 0, n), n, out, learns)
    if isinstance(rows, SparseRows) and status == UNSOUND and not is_canonical(row(rows, done), d):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        alone = SparseRows(rows.data[first:last], rows.indices[first:last], rows.indptr - first, d)
        rows, before_it = canonical(owner, alone), out
        out = empty_output(prepare, rows)
        copy_rows(before_it, out, done)  # these rows were canonical, so sorting has not changed them
        more, status = transform_rows(prepare, part_of(rows, done, n), n - done, part_of(out, done, n), learns)
        done += more
    if status != SOUND:
        raise describe_unsound(owner, row(rows, done), at_row(before + done))
    return out
