"""Plays two samplers on one stream and estimates which is more accurate, to decide about replacing a live model.

Both use the same random draw, and the label is asked for when either of them would ask: with probability P, the larger
of theirs. Each is given only the labels it would have asked for itself, so each is exactly what it would be alone.

Rounds in which both predict the same label do not contribute to the difference. With two labels, exactly one of two
different predictions is right, so the difference follows from the number S of a's mistakes among the D rounds in which
the predictions differ: it is (D - 2 S) / rounds. S is bounded by the bets of :mod:`askwhen.betting`, at
any time, however often you look. With more classes both may be wrong, and the mistakes of each are bounded. Before the
random draw of a round, the probability of a's mistake is predicted as r_b / (r_a + r_b), where r is |margin| over its
running mean.
"""

from __future__ import annotations

import copy
import os
from typing import Any, NamedTuple

import numpy as np

from ...betting import LEVELS
from ...compiled.frames import new_frame
from ...compiled.steps import entry_point
from ...contracts.learner import is_sound
from ...engine.engine import Engine, Waiting
from ...engine.inputs.argument_checks import check_new_label, check_origin, dimensions_of, open_question
from ...engine.inputs.instance_checks import check_instances
from ...engine.inputs.registry import OWN_KERNEL
from ...engine.inputs.two_labels import NO_PAIR, Pair, sign_of
from ...engine.state_arrays import arrays_of, copy_state, with_arrays
from ...engine.tally.paired_rounds import BOTH, compare_rounds, settle_one
from ...engine.tally.round_tally import DERIVED, LATER, Tally, complete, forget_round, new_tally
from ...errors import InputError, SnapshotError
from ...linalg.rows import shape_of
from ...linalg.vectors import LARGEST, all_within
from ...sampler import Sampler
from ...snapshot import engine_state, file_format
from ...snapshot.header import UNREADABLE, count
from ...system.fork_safe_lock import new_lock
from ...trace.trace import Ask, Trace
from ...validation import check_number, check_seed
from ...weights.kernels import Kernel
from ..estimation.difference import Difference, difference_of
from ..estimation.tally_views import sides_of

_KIND = "side_by_side"
_COUNTS = ("round", "questions", "updates", "volunteered", "switches", "names", "pair")
"""Attributes of an engine that a run changes, other than the states."""


class PairAsk(NamedTuple):
    """The predictions of both samplers for one instance; if ``query``, answer with ``pair.tell(ask, y)``."""

    round: int
    a: Ask
    b: Ask
    probability: float
    query: bool


class _OpenQuestion(NamedTuple):
    """An open question: its place in the tally (-1 if the predictions did not differ), and the levels of its bets."""

    ask: PairAsk
    place: int
    levels: int


class SideBySide:
    """Plays two samplers on one stream with the same random draws, and estimates which of them is more accurate.

    A label is asked for where either of them would ask; each is given only the labels it would have asked for itself.
    So both stay within their own budgets, and no more labels are asked for than the sum of both.

    Parameters
    ----------
    a, b : Sampler
        Two classifiers of the same labels, two or more, new or loaded from a file. They are played in place, and can be
        used on their own again at any time.
    seed : int, optional
        Random seed.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((20000, 5))
    >>> y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    >>> pair = aw.SideBySide(aw.Sampler(seed=7), aw.Sampler(aw.AutoLasec(), prepare=aw.Prepare(), seed=7), seed=7)
    >>> traces = pair.run(X, y)
    >>> pair.difference().low > 0.2
    True
    """

    def __init__(self, a: Sampler, b: Sampler, seed: int | None = None) -> None:
        for name, sampler in (("a", a), ("b", b)):
            if not isinstance(sampler, Sampler) or sampler.classes is None or sampler.tasks:
                raise InputError(f"{name} must be a Sampler that predicts labels, got {sampler!r}.", owner="SideBySide")
        if not _predict_alike(a, b):
            raise InputError(
                f"a and b must predict the same labels, got {a.classes} and {b.classes}.", owner="SideBySide"
            )
        if a is b:
            raise InputError("a and b must be two samplers, got the same one twice.", owner="SideBySide")
        check_seed("SideBySide", seed)
        self._initialise(a, b, np.random.Generator(np.random.PCG64(None if seed is None else int(seed))))

    def _initialise(self, a: Sampler, b: Sampler, draws: np.random.Generator) -> None:
        self.a, self.b = a, b
        self._several = a.engine.most > 0 or len(a.classes or ()) > 2
        self._draws = draws
        self._tally: Tally = new_tally((1000,))
        self._sizes = np.zeros(2)
        self._round = self._questions = 0
        self._open: dict[int, _OpenQuestion] = {}
        self._lock = new_lock(self)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return copy.deepcopy({name: value for name, value in self.__dict__.items() if name != "_lock"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=new_lock(self))

    def __copy__(self) -> SideBySide:
        """A copy shares nothing."""
        return copy.deepcopy(self)

    def __repr__(self) -> str:
        return f"<SideBySide({self.a!r}, {self.b!r}) in round {self._round}>"

    @property
    def round(self) -> int:
        """Number of rounds played; also the number of the next round."""
        return self._round

    @property
    def questions(self) -> int:
        """Number of labels asked for."""
        return self._questions

    @property
    def pending(self) -> list[PairAsk]:
        """Open questions, oldest first."""
        return [waiting.ask for waiting in self._open.values()]

    def ask(self, x: Any, time: Any = None) -> PairAsk:
        """Play one round: let both predict x, and decide whether its label is worth asking for.

        Parameters
        ----------
        x : array or one row of a CSR matrix
            The instance.
        time : float or date, optional
            Current time, for a budget per period of time; it must not go back.
        """
        with self._lock:
            self.a.check(x, time)
            self.b.check(x, time)  # check both first, so that both play the round or neither does
            draw = float(self._draws.random())
            a, b = self.a.ask_on(draw, x, time), self.b.ask_on(draw, x, time)
            chance, query = self._union(a.probability, b.probability), a.query or b.query
            ask = PairAsk(self._round, a, b, chance, query)
            differs = self._side(a) != self._side(b)
            nothing = ([False], [False], [False])
            levels = self._count([a.margin], [b.margin], [differs], [chance], [query], *nothing)
            if query:
                place = int(self._tally.count[0]) - 1 - self._several if differs else -1
                self._open[self._round] = _OpenQuestion(ask, place, levels)
                self._questions += 1
            self._round += 1
            return ask

    def _side(self, ask: Ask) -> Any:
        """The class that is predicted, or of two labels whether the positive one is, however it is written."""
        return ask.margin > 0.0 if self.a.engine.answers is None else ask.prediction

    def _union(self, a: Any, b: Any) -> Any:
        """The probability that either asks: rules ask for small random draws, audits for large ones."""
        rules, audits = np.zeros_like(np.asarray(a, float)), np.zeros_like(np.asarray(a, float))
        for chance, sampler in ((a, self.a), (b, self.b)):
            rate = 0.0 if sampler.audit is None else sampler.audit.rate
            audit = np.where(np.asarray(chance) > 0.0, rate, 0.0)
            rules, audits = np.maximum(rules, np.asarray(chance) - audit), np.maximum(audits, audit)
        found = np.minimum(rules + audits, 1.0)
        return found if found.ndim else float(found)

    def _count(self, *rounds: Any) -> int:
        floats, flags = (0, 1, 3), (2, 4, 5, 6, 7)
        kinds = {**dict.fromkeys(floats, np.float64), **dict.fromkeys(flags, np.bool_)}
        arrays: list[Any] = [np.ascontiguousarray(each, kinds[i]) for i, each in enumerate(rounds)]
        (_held, address), kind = new_frame(self._tally)
        given = (self._sizes, *arrays, self._several)
        return int(entry_point(compare_rounds, kind, *given)(address, *given))

    def tell(self, ask: PairAsk | int, y: Any) -> None:
        """Give the label of a question; each sampler learns it if it would have asked for it itself.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        y : label
            Its label.
        """
        with self._lock:
            waiting = self._waiting("tell", ask)
            label = y.item() if isinstance(y, np.generic) else y
            if self.a.engine.answers is None:
                label = self._sign(y) > 0.0
            elif self.a.engine.most:
                label = check_new_label("tell", self.a.classes or [], y)
            elif not isinstance(label, (str, int, float)) or label not in (self.a.classes or ()):
                raise InputError(f"y must be one of {self.a.classes}, got {y!r}.", owner="tell")
            for sampler, each in ((self.a, waiting.ask.a), (self.b, waiting.ask.b)):
                if (
                    each.query and each.round in sampler.engine.pending
                ):  # one of them may have been given the label directly
                    sampler.tell(each, y)
            if waiting.place >= 0:
                ago = int(self._tally.count[0]) - waiting.place
                wrong = [bool(self._side(each) != label) for each in (waiting.ask.a, waiting.ask.b)]
                answer = (ago, waiting.ask.probability, waiting.levels, *wrong, self._several)
                (_held, address), kind = new_frame(self._tally)
                entry_point(settle_one, kind, *answer)(address, *answer)
            del self._open[waiting.ask.round]

    def _sign(self, y: Any) -> float:
        """One of two labels as -1 or +1; a sampler that was not told any label yet learns how they are written."""
        sign, pair = sign_of("tell", y, _pair_of(self.a, self.b))
        for sampler in (self.a, self.b):
            if pair.written is not None and sampler.engine.pair.known < 2:
                sampler.engine.pair = pair
        return sign

    def forget(self, ask: PairAsk | int) -> None:
        """Drop a question that will never be answered, by what ``ask`` returned or the number of its round.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        """
        with self._lock:
            waiting = self._waiting("forget", ask)
            for sampler, each in ((self.a, waiting.ask.a), (self.b, waiting.ask.b)):
                if each.query and each.round in sampler.engine.pending:
                    sampler.forget(each)
            if waiting.place >= 0:
                for ago, P, level, first in self._open_bets(waiting):
                    forget_round(self._tally, ago, P, level, first)
            del self._open[waiting.ask.round]

    def _open_bets(self, waiting: _OpenQuestion) -> list[Waiting]:
        """The bets of an open question: on a's mistake and, with several classes, on b's."""
        ago, P = int(self._tally.count[0]) - waiting.place, waiting.ask.probability
        found = [(ago, P, waiting.levels % BOTH, True), (ago - 1, P, waiting.levels // BOTH, False)]
        return found if self._several else found[:1]

    def _waiting(self, owner: str, ask: PairAsk | int) -> _OpenQuestion:
        found = open_question(owner, self._open, ask.round if isinstance(ask, PairAsk) else ask)
        if isinstance(ask, PairAsk):
            check_origin(owner, found.ask.a.origin, ask.a)
        return found

    def run(self, X: Any, y: Any, times: Any = None) -> tuple[Trace, Trace]:
        """Play a round for every row of X, giving each asked label immediately: the same bits as ``ask`` and ``tell``.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        y : array
            Their labels.
        times : array, optional
            Time of each row, for a budget per period of time.
        """
        with self._lock:
            n = shape_of(check_instances("run", X, self.a.engine.form))[0]
            if dimensions_of("run", y) != 1:
                raise InputError("y must hold one label for each row of X.", owner="run")
            generator, engine = self._draws.bit_generator.state, self.a.engine
            saved = {name: copy.copy(getattr(engine, name)) for name in _COUNTS}
            before, draws = engine.checkpoint(), self._draws.random(n)
            try:
                a = self.a.run_on(draws, X, y, times)
                b = self.b.run_on(draws, X, y, times)
            except BaseException:
                engine.restore(before)
                for name, value in saved.items():
                    setattr(engine, name, value)
                self._draws.bit_generator.state = generator
                raise
            differs, asked = a.signs != b.signs, a.queried | b.queried
            chance = self._union(a.probability, b.probability)
            self._count(a.margin, b.margin, differs, chance, asked, asked, a.mistaken, b.mistaken)
            self._round += a.rounds
            self._questions += int(np.count_nonzero(asked))
            return a, b

    def difference(self, confidence: float = 0.95) -> Difference:
        """The accuracy of a less that of b, over all rounds, from the labels that were asked for.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence of the interval, which holds however often you look.
        """
        level = "a number strictly between 0 and 1"
        check_number("difference", "confidence", confidence, level, 0.0, 1.0, open_high=True)
        with self._lock:
            rounds, questions = self._round, self._questions
            waiting = [bet for each in self._open.values() if each.place >= 0 for bet in self._open_bets(each)]
            b, a = sides_of(copy_state(self._tally), waiting)
        return difference_of(a, b, rounds, questions, self._several, confidence)

    def save(self, path: str | os.PathLike[str], *, note: str | None = None) -> None:
        """Write both samplers, the random generator, the open questions and the tally of the difference to one file.

        Parameters
        ----------
        path : str or path
            The file.
        note : str, optional
            Any text to store in the file.
        """
        with self._lock:
            header: dict[str, Any] = {
                _KIND: {
                    "round": self._round,
                    "questions": self._questions,
                    "coins": self._draws.bit_generator.state,
                    "open": [
                        [o.ask.round, o.ask.probability, o.place, o.levels, list(o.ask.a), list(o.ask.b)]
                        for o in self._open.values()
                    ],
                }
            }
            tally = arrays_of(self._tally, "tally").items()
            arrays: dict[str, Any] = {name: array for name, array in tally if name.split(".")[1] not in DERIVED}
            arrays["sizes"] = self._sizes
            for name, sampler in (("a", self.a), ("b", self.b)):
                header[name], own = engine_state.dump(sampler.engine, [])
                arrays |= {f"{name}.{key}": array for key, array in own.items()}
            file_format.write(path, header, arrays, note)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None, parts: Any = ()) -> SideBySide:
        """A pair that continues exactly where ``save`` left it; see ``Sampler.load``.

        Parameters
        ----------
        path : str or path
            The file.
        kernel : Kernel, optional
            Your own kernel, if the samplers had one: a file holds no code.
        parts : iterable of classes, optional
            Your own learner, rule or drift detector, for the same reason.
        """
        header, arrays = file_format.read(path)
        try:
            engine_state.check_kind(header, "SideBySide")
            a, b = (Sampler.of(_engine(header[name], arrays, name, kernel, parts)) for name in ("a", "b"))
            if a.classes is None or not _predict_alike(a, b):
                raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")
            about = header[_KIND]
            made = cls.__new__(cls)
            made._initialise(a, b, np.random.Generator(np.random.PCG64()))
            made._draws.bit_generator.state = about["coins"]
            made._round, made._questions = (count(about[name]) for name in ("round", "questions"))
            own = made._tally
            derived, later = ({f"tally.{name}": getattr(own, name) for name in names} for names in (DERIVED, LATER))
            made._tally = with_arrays(own, "tally", later | arrays | derived)
            made._sizes = arrays["sizes"]
            sizes = made._sizes.shape == (2,) and made._sizes.dtype == float and all_within(made._sizes, 0.0, LARGEST)
            counts = made._questions <= made._round >= int(made._tally.count[0]) // (1 + made._several)
            if not (sizes and counts and is_sound(made._tally)):
                raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")
            complete(made._tally)
            for line in about["open"]:
                number, waiting = _read_open_question(line, made)
                made._open[number] = waiting
            return made
        except SnapshotError:
            raise
        except UNREADABLE as error:
            raise SnapshotError(
                "the file does not hold a SideBySide that this version can read.", owner="load"
            ) from error


def _engine(header: dict[str, Any], arrays: dict[str, np.ndarray], name: str, kernel: Any, parts: Any) -> Engine:
    own = {key.removeprefix(f"{name}."): array for key, array in arrays.items() if key.startswith(f"{name}.")}
    needs = header["parts"][0][1].get("kernel") == OWN_KERNEL
    return engine_state.restore(header, own, kernel if needs else None, given=parts)[0]


def _read_open_question(line: list[Any], pair: SideBySide) -> tuple[int, _OpenQuestion]:
    """Read an open question from a file's header, whose content is not trusted."""
    number, chance, place, levels, *asks = line
    number = count(number, pair.round - 1)
    place = -1 if place == -1 else count(place, int(pair._tally.count[0]) - 1)
    if max(divmod(count(levels), BOTH)) >= LEVELS:
        raise SnapshotError(f"the open question of round {number} cannot be used.", owner="load")
    a, b = (Ask(*each) for each in asks)
    known = all(
        sampler.engine.may_predict(ask.prediction) and type(ask.query) is bool
        for ask, sampler in ((a, pair.a), (b, pair.b))
    ) and (a.query or b.query)
    if not known or number in pair._open or type(chance) is not float or not 0.0 < chance <= 1.0:
        raise SnapshotError(f"the open question of round {number} cannot be used.", owner="load")
    return number, _OpenQuestion(PairAsk(number, a, b, chance, True), place, levels)


def _predict_alike(a: Sampler, b: Sampler) -> bool:
    """Whether two samplers predict the same labels, as far as they are known; open ones are as many at most."""
    if a.engine.answers is not None or b.engine.answers is not None:
        return (a.engine.most or a.engine.classes) == (b.engine.most or b.engine.classes)
    known = [each.engine.pair.labels for each in (a, b) if each.engine.pair.known == 2]
    return a.engine.regression == b.engine.regression and known[1:] in ([], known[:1])


def _pair_of(a: Sampler, b: Sampler) -> Pair:
    """How two labels are written, as far as either sampler knows it."""
    return max(a.engine.pair, b.engine.pair, NO_PAIR, key=lambda pair: pair.known)
