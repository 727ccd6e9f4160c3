"""Checks that every learner, rule and drift detector must pass: call them from the tests of your own parts.

They play short streams and compare what must be equal: compiled rounds and plain Python, ``run`` and an ask/tell loop,
dense and sparse instances, a run and the same run saved and loaded in the middle. A failure raises an AssertionError of
one sentence; a part that does not fit into a sampler at all raises an ``InputError``, as the sampler would.

>>> import askwhen as aw
>>> from askwhen.checks import check_rule
>>> check_rule(aw.MarginRule(0.3))
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .contracts.learner import enter, grow, hear, learn, learns, leave, quadratic, ready, score
from .contracts.sampler import Parts
from .data.synthetic import switching
from .engine.batch_run import prepared
from .errors import InputError
from .learners import LeastSquares, Perceptron
from .linalg.rows import DenseRows, size
from .linalg.vectors import SOUND
from .rules import Always, FixedRate
from .sampler import Sampler
from .trace.trace import Trace, join
from .validation import short

__all__ = ["check_drift", "check_learner", "check_rule"]

_ROUNDS, _D = 240, 5
_CLOSE = 1e-9


def check_learner(learner: Any) -> None:
    """Check a learner: under a rule that asks about everything, and under one that asks by chance.

    Parameters
    ----------
    learner : object
        The learner to check: an instance of its class.
    """
    name = f"check_learner: {short(learner)}"
    for rule in (Always(), FixedRate(0.4)):
        _check_rounds(name, Parts(learner, rule), bool(learner.regression))
    _check_plain(name, learner)
    _check_late(name, Parts(learner, FixedRate(0.7)), bool(learner.regression))
    _check_refusal(name, learner)


def check_rule(rule: Any) -> None:
    """Check a rule: it gives probabilities, asks with these, and none depends on the random draw of its round.

    Parameters
    ----------
    rule : object
        The rule to check.
    """
    name, learner = f"check_rule: {short(rule)}", _learner_for(rule)
    trace = _check_rounds(name, Parts(learner, rule), False)
    chance, coin = trace.probability, trace.coin
    _demand(bool(((chance >= 0.0) & (chance <= 1.0)).all()), f"{name}: a probability is not between 0 and 1.")
    clear = np.abs(coin - chance) > _CLOSE
    wrong = np.flatnonzero(((coin < chance) != trace.queried) & clear)
    _demand(len(wrong) == 0, f"{name}: round {_first(wrong)} asks, or does not ask, against its probability.")
    other = _played(Parts(learner, rule), *_stream(False), seed=2)
    differ = np.flatnonzero(other.queried != trace.queried)
    same = (differ[0] if len(differ) else _ROUNDS - 1) + 1
    moved = np.flatnonzero(other.probability[:same] != chance[:same])
    _demand(len(moved) == 0, f"{name}: the probability of round {_first(moved)} depends on its own random draw.")
    _check_late(name, Parts(learner, rule), False)


def check_drift(drift: Any, learner: Any = None) -> None:
    """Check a drift detector, with least squares unless another learner is given.

    Parameters
    ----------
    drift : object
        The drift detector to check.
    learner : object, optional
        The learner that it monitors.
    """
    learner = LeastSquares() if learner is None else learner
    name = f"check_drift: {short(drift)}"
    for rule in (Always(), FixedRate(0.5)):
        _check_rounds(name, Parts(learner, rule, drift), bool(learner.regression))
    _check_late(name, Parts(learner, FixedRate(0.7), drift), bool(learner.regression))


def _learner_for(rule: Any) -> Any:
    return LeastSquares() if rule.needs_uncertainty else Perceptron()


def _stream(regression: bool) -> tuple[np.ndarray, np.ndarray]:
    """A short stream that switches once, with some zeros in it."""
    X, y = switching(_ROUNDS, _D, _ROUNDS // 2, seed=3)
    X[np.abs(X) < 0.2] = 0.0
    return (X, X @ np.linspace(-1.0, 1.0, _D)) if regression else (X, y)


def _times(parts: Parts) -> np.ndarray | None:
    """Time stamps, for a rule that needs some."""
    return np.arange(float(_ROUNDS)) if getattr(parts.rule, "per", None) is not None else None


def _played(parts: Parts, X: Any, y: np.ndarray, seed: int = 1) -> Trace:
    found = Sampler(*parts, seed=seed).run(X, y, times=_times(parts))
    assert isinstance(found, Trace)
    return found


def _check_rounds(name: str, parts: Parts, regression: bool) -> Trace:
    """Check that run, ask with tell, and save with load give the same bits, dense and sparse."""
    X, y = _stream(regression)
    rows = sp.csr_matrix(X)
    dense, sparse = _played(parts, X, y), _played(parts, rows, y)
    for form, instances, whole in (("dense", X, dense), ("sparse", rows, sparse)):
        _same_bits(f"{name}: run and ask/tell of {form} instances", whole, *_asked(parts, instances, y))
        _same_bits(f"{name}: a run and one saved and loaded of {form} instances", whole, *_halves(parts, instances, y))
    differ = np.flatnonzero(np.abs(dense.margin - sparse.margin) > _CLOSE * np.maximum(1.0, np.abs(dense.margin)))
    tie = (np.abs(dense.margin) < _CLOSE) | (np.abs(dense.coin - dense.probability) < _CLOSE)
    _demand(
        len(differ) == 0 or bool(tie[: differ[0] + 1].any()),
        f"{name}: dense and sparse instances differ in round {_first(differ)}.",
    )
    return dense


def _asked(parts: Parts, X: Any, y: np.ndarray) -> tuple[list[float], list[float], list[bool]]:
    sampler, asks, times = Sampler(*parts, seed=1), [], _times(parts)
    for i in range(_ROUNDS):
        ask = sampler.ask(X[i], time=None if times is None else times[i])
        asks.append(ask)
        if ask.query:
            sampler.tell(ask, float(y[i]))
    return [ask.margin for ask in asks], [ask.probability for ask in asks], [ask.query for ask in asks]


def _halves(parts: Parts, X: Any, y: np.ndarray) -> tuple[list[float], list[float], list[bool]]:
    sampler, cut, times = Sampler(*parts, seed=1), _ROUNDS // 2 + 7, _times(parts)
    own = [type(part) for part in parts if part is not None]
    before, after = (None, None) if times is None else (times[:cut], times[cut:])
    first = sampler.run(X[:cut], y[:cut], times=before)
    with tempfile.TemporaryDirectory() as folder:
        sampler.save(Path(folder) / "half")
        second = Sampler.load(Path(folder) / "half", parts=own).run(X[cut:], y[cut:], times=after)
    assert isinstance(first, Trace)
    assert isinstance(second, Trace)
    whole = join([first, second])
    return whole.margin.tolist(), whole.probability.tolist(), whole.queried.tolist()


def _same_bits(what: str, trace: Trace, margins: list[float], chances: list[float], queried: list[bool]) -> None:
    columns = (trace.margin, margins), (trace.probability, chances), (trace.queried, queried)
    differ = [i for one, other in columns for i in np.flatnonzero(one != np.asarray(other)).tolist()]
    _demand(not differ, f"{what} differ in round {min(differ, default=0)}.")


def _check_plain(name: str, learner: Any) -> None:
    """Check that the source, run as plain Python, gives the same margins up to rounding."""
    X, y = _stream(bool(learner.regression))
    trace, engine = _played(Parts(learner, Always()), X, y), Sampler(learner, Always(), seed=1).engine
    engine.begin("check_learner", "X", _D, False)
    state, randomness = engine.learner, engine.draws.randomness
    seen = X if engine.prepare is None else prepared(engine, DenseRows(X)).X  # type: ignore[union-attr]
    for i, x in enumerate(seen):
        enter(state, x)
        if not ready(state, x):
            state = grow(state, size(x), randomness)
        m, norm2, status = score(state, x)
        _demand(status == SOUND, f"{name}: plain Python refuses round {i}, which the compiled round plays.")
        q = quadratic(state, x)
        p = m / (1.0 + q)
        close = abs(p - trace.margin[i]) <= 1e-7 * max(1.0, abs(p))
        _demand(close, f"{name}: plain Python and the compiled round differ in round {i}.")
        leave(state)
        mistaken = not learner.regression and (1.0 if m > 0.0 else -1.0) != y[i]
        if learns(state, mistaken):
            hear(state, y[i], 1.0)
            learn(state, x, norm2, m, q, y[i])


def _check_late(name: str, parts: Parts, regression: bool) -> None:
    """Check labels that come late, out of order or never: late ones are learnt, and open questions are saved."""
    X, y = _stream(regression)
    sampler, rng, times = Sampler(*parts, seed=1), np.random.default_rng(4), _times(parts)
    for i in range(_ROUNDS):
        sampler.ask(X[i], time=None if times is None else times[i])
        waiting = sampler.pending
        if waiting and rng.random() < 0.5:
            ask = waiting[rng.integers(len(waiting))]
            sampler.tell(ask, float(y[ask.round])) if rng.random() < 0.9 else sampler.forget(ask)
    with tempfile.TemporaryDirectory() as folder:
        sampler.save(Path(folder) / "late")
        loaded = Sampler.load(Path(folder) / "late", parts=[type(part) for part in parts if part is not None])
    for each in (sampler, loaded):
        for ask in each.pending:
            each.tell(ask, float(y[ask.round]))
    same = np.array_equal(sampler.margins(X), loaded.margins(X))
    _demand(same, f"{name}: a sampler with open questions differs after saving and loading.")
    _demand(bool(np.isfinite(sampler.margins(X)).all()), f"{name}: after late labels a margin is not finite.")


def _check_refusal(name: str, learner: Any) -> None:
    """Check that an instance that is not finite raises an error and changes nothing."""
    X, y = _stream(bool(learner.regression))
    sampler = Sampler(learner, Always(), seed=1)
    sampler.run(X[:50], y[:50])
    before = sampler.margins(X)
    bad = X[:3].copy()
    bad[1, 2] = np.nan
    for form in (bad, sp.csr_matrix(bad)):
        try:
            sampler.run(form, y[:3])
        except InputError:
            same = np.array_equal(before, sampler.margins(X)) and sampler.round == 50
            _demand(same, f"{name}: a refused instance changes the sampler.")
        else:
            _demand(False, f"{name}: an instance with NaN is not refused.")


def _first(rounds: np.ndarray) -> int:
    return int(rounds[0]) if len(rounds) else 0


def _demand(holds: bool, sentence: str) -> None:
    if not holds:
        raise AssertionError(sentence)
