"""Compile what the first round needs before it is played."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..evaluate.comparison.workers import Watch
from ..evaluate.estimation.accuracy import accuracy
from ..sampler import Sampler

_ROUNDS = 12
_WIDE = 300_000
"""Enough features that every learner with a form for many features takes that one."""


def warm(sampler: Sampler | None = None, X: Any = None, *, watch: Watch | None = None) -> None:
    """Compile the steps that a sampler needs to ask, tell, run and predict, and store them for every later process.

    For images and services, whose first request should not wait for the compiler. What was compiled before is only
    looked up. The sampler itself is not touched.

    Parameters
    ----------
    sampler : Sampler, optional
        By default the recommended one, ``Sampler()``.
    X : array or CSR matrix, optional
        Instances like those to come, of which only the form and the number of features matter. By default dense and
        sparse ones, few features and many.
    watch : callable, optional
        Receives how many kinds of instances are done, of how many, and which is next.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> aw.warm(aw.paper("PERCEPTRON"), np.zeros((1, 2)))
    """
    sampler = Sampler() if sampler is None else sampler
    if not isinstance(sampler, Sampler):
        raise InputError(f"sampler must be a Sampler, got {type(sampler).__name__}.", owner="warm")
    kinds = list(_kinds(X))
    for done, (what, rows) in enumerate(kinds):
        if watch is not None:
            watch(done, len(kinds), what)
        _play(sampler, rows)
    if watch is not None:
        watch(len(kinds), len(kinds), "")


def _kinds(X: Any) -> Iterator[tuple[str, Any]]:
    """Instances of every kind that there may be, or of the kind that is given."""
    rng = np.random.default_rng(0)
    if X is not None:
        d = np.shape(X)[-1]
        found = rng.standard_normal((_ROUNDS, min(d, 3)))
        yield (
            "instances like these",
            _widened(found, d) if sp.issparse(X) else np.pad(found, ((0, 0), (0, d - min(d, 3)))),
        )
        return
    few = rng.standard_normal((_ROUNDS, 3))
    yield "dense instances", few
    yield "sparse instances", sp.csr_matrix(few)
    yield "sparse instances of many features", _widened(few, _WIDE)


def _widened(few: np.ndarray, d: int) -> Any:
    found = sp.csr_matrix(few)
    found.resize(len(few), d)
    return found


def _play(sampler: Sampler, rows: Any) -> None:
    """A few rounds of every way to play them, with a sampler of the same parts."""
    parts = (sampler.learner, sampler.rule, sampler.drift, sampler.prepare, sampler.audit)
    labels, times = np.where(np.arange(_ROUNDS) % 2, 1.0, -1.0), np.arange(float(_ROUNDS))
    timed = getattr(sampler.rule, "per", None) is not None
    live = Sampler(*parts, seed=0)
    for i in range(_ROUNDS):
        ask = live.ask(rows[i], time=times[i] if timed else None)
        if ask.query:
            live.tell(ask, labels[i])
    Sampler(*parts, seed=0).run(rows, labels, times if timed else None)
    live.predict(rows)
    if not sampler.learner.regression:
        accuracy(live)
