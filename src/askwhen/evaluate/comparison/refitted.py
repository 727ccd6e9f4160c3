"""Models of scikit-learn that are refitted again and again: what one would have done without this package.

Each is played as a stream. It predicts every row before it may see its label, asks for exactly the given number of
labels, and is fitted again to all asked labels whenever they have grown by 15 % (and by two; by more where a budget is
so large that this would be more than about fifty fits).

==========  ==========================================================================================
start       the first ten labels, or half of the budget: each row with probability 1/2
at random   each row with probability left / rows left, so that every later row is equally likely
by margin   the rows whose two best probabilities are closest: each row whose gap is among the smallest
            left / rows left of the gaps of the last 200 rows under the same model, ties at random
==========  ==========================================================================================

A gap is ranked with one random draw for each row, so that equal gaps, as of a tree with few leaves, are asked about at
random instead of all at once. The gaps of the last rows are computed again when a model is fitted.
"""

from __future__ import annotations

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ...errors import argument
from ...system.extras import needs_extra
from .model_rows import ModelRows

_FIRST_LABELS, _FIRST_RATE = 10, 0.5
_RECENT = 200
_GROWTH, _MOST_REFITS = 1.15, 50
_BLOCK = 512
_WIDEST = 1000

LINEAR = {False: "logistic regression", True: "ridge regression"}
BOOSTING = "gradient boosting"

Tick = Callable[[int], None]
"""Called now and then with the number of rows played; an exception that it raises ends the play."""
Predictor = Callable[[slice], tuple[np.ndarray, Any]]
"""Predictions for some rows, and for classes the gaps between their two best probabilities."""


class RefittedModel(NamedTuple):
    """A model, and whether its labels are asked for by margin or at random."""

    is_linear: bool
    by_margin: bool
    regression: bool = False

    @property
    def name(self) -> str:
        """What tables call it."""
        model = LINEAR[self.regression] if self.is_linear else BOOSTING
        return f"{model}, refitted, labels {'by margin' if self.by_margin else 'at random'}"


class RefittedPlay(NamedTuple):
    """The predictions of all rows (numbers of classes, or numbers), which labels were asked for, and how many fits."""

    prediction: np.ndarray
    queried: np.ndarray
    refits: int


def require_models(owner: str) -> None:
    """Raise if scikit-learn is not installed."""
    with needs_extra("sklearn", argument("baselines"), owner):
        import sklearn.linear_model  # noqa: F401


def models_for(rows: ModelRows, classes: int = 2, regression: bool = False) -> tuple[list[RefittedModel], list[str]]:
    """The models that suit these instances, and what others were not given, in sentences."""
    features, trees = rows.dense_features, classes if classes > 2 else 1
    boosting, left_out = False, ""
    if not features:
        left_out = "is left out: it takes numbers and vectors, and these rows have only words."
    elif features * trees > _WIDEST:
        wide = f"{features:,} features" + (f" and {classes:,} classes" if trees > 1 else "")
        left_out = f"is left out: refitting it would take too long with {wide}."
    else:
        boosting = True
        left_out = "is given the numbers and vectors only, and not the words." if rows.words.shape[1] else ""
    models = [
        RefittedModel(is_linear, by_margin, regression)
        for is_linear in ((True, False) if boosting else (True,))
        for by_margin in ((False,) if regression else (False, True))
    ]
    return models, [f"{BOOSTING.capitalize()} {left_out}"] if left_out else []


@contextlib.contextmanager
def fitting() -> Iterator[None]:
    """Ignore warnings of models that are fitted to few labels, and multiply with one thread: more only wait here.

    Both are settings of the whole process, so this is entered once around all plays and not in their threads.
    """
    from sklearn.exceptions import ConvergenceWarning
    from threadpoolctl import threadpool_limits

    with warnings.catch_warnings(), threadpool_limits(1, user_api="blas"):
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def play_refitted(
    model: RefittedModel, rows: ModelRows, y: np.ndarray, labels: int, seed: int, tick: Tick | None = None
) -> RefittedPlay:
    """Play a stream with a refitted model.

    Parameters
    ----------
    model : RefittedModel
        What is fitted, and how it asks.
    rows : ModelRows
        The instances.
    y : array
        Numbers of classes from 0, or numbers.
    labels : int
        The number of labels to ask for.
    seed : int
        Random seed; models that are played with the same seed share the first labels.
    tick : callable, optional
        Called before every fit and every block of rows.
    """
    from threadpoolctl import threadpool_limits

    played = _Play(model, rows, y, min(labels, len(y)), seed)
    with threadpool_limits(1, user_api="openmp"):  # of this thread only: plays are in parallel already
        for t in range(len(y)):
            played.next(t, tick)
    queried = np.zeros(len(y), np.bool_)
    queried[played.asked] = True
    return RefittedPlay(played.prediction, queried, played.refits)


class _Play:
    """A stream that is being played."""

    def __init__(self, model: RefittedModel, rows: ModelRows, y: np.ndarray, labels: int, seed: int) -> None:
        self.model, self.rows, self.y, self.labels = model, rows, y, labels
        self.draws = np.random.default_rng(seed).random(len(y))
        self.prediction = np.zeros(len(y), y.dtype)
        self.gap = np.zeros(len(y))
        self.asked: list[int] = []
        self.refits = 0
        self._predictor: Predictor | None = None
        self._predicted = 0
        self._due = 1
        self._growth = max(_GROWTH, labels ** (1.0 / _MOST_REFITS))

    def next(self, t: int, tick: Tick | None) -> None:
        """Play a row."""
        if t == self._predicted:
            if tick is not None:
                tick(t)
            self._predict(t)
        if self._asks(t):
            self.asked.append(t)
            if len(self.asked) >= self._due:
                self._refit(t)

    def _asks(self, t: int) -> bool:
        """Whether the label of a row is asked for."""
        rate, draw = (self.labels - len(self.asked)) / (len(self.y) - t), self.draws[t]
        if len(self.asked) < min(_FIRST_LABELS, self.labels // 2):
            return bool(draw < max(rate, _FIRST_RATE))
        if not self.model.by_margin:
            return bool(draw < rate)
        recent, gap = self.gap[max(t - _RECENT, 0) : t], self.gap[t]
        smaller, equal = np.count_nonzero(recent < gap), np.count_nonzero(recent == gap) + 1
        return bool((smaller + draw * equal) / (len(recent) + 1) < rate)

    def _predict(self, t: int) -> None:
        """Predict a block of rows that begins here, with the model as it is."""
        here = slice(t, min(t + _BLOCK, len(self.y)))
        self._predicted = here.stop
        if self._predictor is not None:
            self.prediction[here], self.gap[here] = self._predictor(here)

    def _refit(self, t: int) -> None:
        """Fit to the asked labels; rows that were predicted ahead are predicted again."""
        labels = self.y[self.asked]
        if self.model.regression or (labels != labels[0]).any():
            self._predictor = self._fitted(t + 1, labels)
            self.refits += 1
            self._due = max(len(labels) + 2, math.ceil(self._growth * len(labels)))
            if self.model.by_margin:
                recent = slice(max(t + 1 - _RECENT, 0), t + 1)
                self.gap[recent] = self._predictor(recent)[1]
        else:  # a classifier needs a second class: until it comes, the only one is predicted
            self._predictor = lambda here: (np.full(here.stop - here.start, labels[0]), 0.0)
            self._due = len(labels) + 1
        self._predicted = t + 1

    def _fitted(self, seen: int, labels: np.ndarray) -> Predictor:
        """The model, fitted to the asked labels, when so many rows were seen."""
        features = self._features(seen)
        fitted = _new_model(self.model, len(labels), self.rows.is_numbers)
        fitted.fit(features(self.asked), labels)
        if self.model.regression:
            return lambda here: (fitted.predict(features(here)), 0.0)

        def predicted(here: slice) -> tuple[np.ndarray, np.ndarray]:
            chances = fitted.predict_proba(features(here))
            best = np.partition(chances, -2, axis=1)
            return fitted.classes_[chances.argmax(axis=1)], best[:, -1] - best[:, -2]

        return predicted

    def _features(self, seen: int) -> Callable[[Any], Any]:
        """How rows are given to a model that is fitted when so many were seen."""
        rows, asked = self.rows, self.asked
        if self.model.is_linear:
            scaling, words = rows.scaling(seen), rows.words_in(asked)
            return lambda at: rows.linear(at, scaling, words)
        varying = rows.varying(asked)
        return lambda at: rows.trees(at, varying)


def _new_model(model: RefittedModel, labels: int, is_numbers: bool) -> Any:
    """A model as scikit-learn makes it, but for two settings that do better with few labels.

    Rows of unit norm (vectors and words) need weaker regularisation than numbers, and trees need smaller leaves, or
    they would not grow.
    """
    if model.is_linear:
        from sklearn.linear_model import LogisticRegression, Ridge

        C = 1.0 if is_numbers else 10.0
        return Ridge(alpha=1.0 / C) if model.regression else LogisticRegression(C=C, max_iter=1000)
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    made = HistGradientBoostingRegressor if model.regression else HistGradientBoostingClassifier
    return made(min_samples_leaf=max(1, min(20, labels // 10)), early_stopping=False, random_state=0)
