"""Samplers as scikit-learn estimators.

``fit`` and ``partial_fit`` are simulations: they are given all labels, but use only those that the sampler asks for,
and the set of classes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from ..batch import online_to_batch
from ..errors import owned_by
from ..sampler import Sampler
from ..system.extras import missing_extra
from ..trace.trace import Trace

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
    from sklearn.metrics import get_scorer
    from sklearn.utils.multiclass import check_classification_targets, type_of_target, unique_labels
    from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data
except ImportError as error:
    raise missing_extra(error, "sklearn", "an estimator") from error


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """Base class with nested parameters for the parts of a sampler, as ``learner__c`` or ``rule__rate``."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters, and with ``deep`` those of the parts."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name, part in list(found.items()):
                if dataclasses.is_dataclass(part) and not isinstance(part, type):
                    fields = dataclasses.fields(part)
                    found |= {f"{name}__{field.name}": getattr(part, field.name) for field in fields}
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters of the estimator and of its parts."""
        own = {name: value for name, value in params.items() if "__" not in name}
        super().set_params(**own)
        for name, value in params.items():
            part, _, field = name.partition("__")
            if not field:
                continue
            held = getattr(self, part, None)
            if not dataclasses.is_dataclass(held) or field not in {each.name for each in dataclasses.fields(held)}:
                raise ValueError(f"Invalid parameter {name!r} for estimator {type(self).__name__}.")
            setattr(self, part, dataclasses.replace(held, **{field: value}))  # type: ignore[type-var]
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _seed(self) -> int | None:
        state = self.random_state
        if state is None or isinstance(state, (int, np.integer)):
            return None if state is None else int(state)
        return int(check_random_state(state).randint(2**31))

    def _afresh(self, learn: Callable[[], Self]) -> Self:
        """Forget what was learnt, then learn; if that raises an error, nothing is forgotten."""
        before = dict(self.__dict__)
        self.__dict__.pop("sampler_", None)
        try:
            return learn()
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    def _rows(self, X: Any, reset: bool = False) -> Any:
        return validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=reset)


class SelectiveClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Learns classes from a stream, from the labels it asks for.

    Without arguments this is the recommended default: ``Prepare()``, ``Mixture()`` and ``BudgetRule(0.1)``, one label
    in ten. Several classes have one learner too, with one question for all of them; with a given ``learner`` each class
    has its own, against the rest. A matrix of labels (multilabel) has a task with its own questions for each column.

    Parameters
    ----------
    learner, rule, drift, prepare, audit : optional
        The parts of a :class:`askwhen.Sampler`; the parameters of those that are given are ``learner__b``,
        ``rule__rate`` and so on. A drift detector is for two classes and for multilabel only.
    random_state : int, optional
        Random seed.
    costs : (float, float), optional
        Costs of a false positive and of a false negative, see :class:`askwhen.Sampler`; for two classes, of which the
        second is the positive one.

    Attributes
    ----------
    classes_ : array
        The classes in order; of two, the second is the positive one. For multilabel a list of one for each column.
    sampler_ : Sampler
        What was learnt, and how many questions it took.
    trace_ : Trace
        What happened in the last ``fit`` or ``partial_fit``; a list for multilabel.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> y = np.where(X[:, 0] > 0, "spam", "ham")
    >>> model = aw.SelectiveClassifier(random_state=7).fit(X, y)
    >>> model.sampler_.questions <= 330 and model.score(X, y) > 0.9
    True
    """

    # scikit-learn reads the parameters of each estimator from its own __init__, which must only assign them.
    def __init__(
        self,
        learner: Any = None,
        rule: Any = None,
        drift: Any = None,
        prepare: Any = None,
        audit: Any = None,
        random_state: Any = None,
        costs: Any = None,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self.prepare = prepare
        self.audit = audit
        self.random_state = random_state
        self.costs = costs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, volunteered: bool = False) -> Self:
        """Forget everything and run over the rows of X in their order.

        With ``volunteered=True`` these are labels that you already have: all of them are learnt, no round is played,
        and asking begins with ``partial_fit`` or ``sampler_.ask``. Not for multilabel.
        """
        return self._afresh(lambda: self._learn(X, y, None, volunteered))

    def partial_fit(self, X: Any, y: Any, classes: Any = None, volunteered: bool = False) -> Self:
        """Continue with more rows, or with unsolicited labels; see ``fit``.

        The first call must name the classes, or hold all of them.
        """
        return self._learn(X, y, classes, volunteered)

    def _learn(self, X: Any, y: Any, classes: Any, volunteered: bool) -> Self:
        first = not hasattr(self, "sampler_")
        y = y.toarray() if sp.issparse(y) else y
        shape = np.asarray(y).shape
        several = len(shape) == 2 and shape[1] > 1
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first, multi_output=several)
        check_classification_targets(y)
        kind = type_of_target(y)
        if y.ndim == 2 and kind != "multilabel-indicator":
            raise ValueError(f"y must be classes or a matrix of two different values, got a target of type {kind}.")
        if not first and (y.ndim == 2) != isinstance(self.classes_, list):
            raise ValueError(f"y must be {'a matrix' if y.ndim == 1 else 'a vector'} of labels as before.")
        if volunteered and y.ndim == 2:
            raise ValueError("volunteered labels are not for multilabel.")
        if y.ndim == 2:
            return self._learn_labels(X, y, first)
        if first:
            self._begin(unique_labels(y) if classes is None else unique_labels(classes))
        elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"classes must stay {self.classes_.tolist()}, got {list(classes)}.")
        if not np.isin(y, self.classes_).all():
            strange = y[~np.isin(y, self.classes_)][0]
            raise ValueError(f"y must hold the classes {self.classes_.tolist()}, got {strange.item()!r}.")
        labels = np.where(y == self.classes_[1], 1.0, -1.0) if len(self.classes_) == 2 else y
        if volunteered:
            self.sampler_.learn(X, labels)
        else:
            self.trace_ = self.sampler_.run(X, labels)
        return self

    def _begin(self, classes: np.ndarray) -> None:
        if len(classes) < 2:
            raise ValueError("SelectiveClassifier needs samples of 2 classes, got 1 class; name all as classes=.")
        seed = self._seed()
        if len(classes) == 2:
            parts = (self.learner, self.rule, self.drift, self.prepare, self.audit)
            self.sampler_: Any = Sampler(*parts, seed, costs=self.costs)
        elif self.drift is not None or self.costs is not None:
            what = "a drift detector" if self.drift is not None else "costs"
            raise ValueError(f"SelectiveClassifier takes {what} for two classes only, got {len(classes)} classes.")
        else:
            parts = (self.learner, self.rule, None, self.prepare, self.audit)
            self.sampler_ = Sampler(*parts, seed, classes=classes.tolist())
        self.classes_: Any = classes

    def _learn_labels(self, X: Any, Y: np.ndarray, first: bool) -> Self:
        """Several labels at once: a task for each column."""
        values = np.unique(Y)
        if first:
            pair = values if len(values) == 2 else np.array([0, 1])
            parts = (self.learner, self.rule, self.drift, self.prepare, self.audit)
            self.sampler_ = Sampler(*parts, self._seed(), costs=self.costs)
            self.classes_ = [pair for _ in range(Y.shape[1])]
        elif len(self.classes_) != Y.shape[1]:
            raise ValueError(f"y must have {len(self.classes_)} columns as before, got {Y.shape[1]}.")
        if not np.isin(values, self.classes_[0]).all():
            raise ValueError(f"y must hold the values {self.classes_[0].tolist()}, got {values.tolist()}.")
        positive = self.classes_[0][1]
        self.trace_ = self.sampler_.run_tasks(X, np.where(positive == Y, 1.0, -1.0))
        return self

    @property
    def delivered_(self) -> np.ndarray:
        """With ``rule=PromiseRule(...)``: the label of every row of the last ``fit`` or ``partial_fit``.

        The given one where it was asked for, the prediction elsewhere, and None where the label is withheld. What is
        promised about them is in ``sampler_.promise``.
        """
        check_is_fitted(self)
        trace = getattr(self, "trace_", None)
        if not isinstance(trace, Trace) or len(trace.withheld) != trace.rounds:
            raise AttributeError("delivered_ goes with rule=PromiseRule(...), after rounds of classes were played.")
        if len(self.classes_) > 2:
            return trace.delivered
        found = self.classes_[(np.where(trace.withheld, -1, trace.delivered) == 1).astype(int)]
        if trace.withheld.any():
            found = found.astype(object)
            found[trace.withheld] = None
        return np.asarray(found)

    def decision_function(self, X: Any) -> np.ndarray:
        """The margins: positive for ``classes_[1]`` of two; otherwise one column for each class or label."""
        check_is_fitted(self)
        rows = self._rows(X)
        with owned_by("decision_function"):
            if self.sampler_.tasks:
                return np.column_stack([task.margins(rows) for task in self.sampler_.tasks])
            return self.sampler_.margins(rows)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray:
        """The classes; for multilabel a matrix of the two values that were learnt.

        As of a sampler, a prediction is refused before any label was learnt, which the rule may never ask for.
        """
        with owned_by("predict"):
            p = self.decision_function(X)
        for sampler in self.sampler_.tasks or [self.sampler_]:
            sampler.engine.check_learnt("predict")
        if isinstance(self.classes_, list):
            return self.classes_[0][(p > 0.0).astype(int)]  # type: ignore[no-any-return]
        return self.classes_[p.argmax(axis=1) if p.ndim == 2 else (p > 0.0).astype(int)]  # type: ignore[no-any-return]

    def predict_proba(self, X: Any) -> np.ndarray:
        """The probability of each class, a column each; for multilabel, of the second value of each label.

        Learnt from the labels that were asked for, see ``Sampler.probabilities``. With several classes the most likely
        one has the probability that the prediction is right, and the others share the rest by their margins.
        """
        with owned_by("predict_proba"):
            p = self.decision_function(X)
        if isinstance(self.classes_, list):
            tasks = self.sampler_.tasks
            return np.column_stack([task.engine.probabilities(p[:, j]) for j, task in enumerate(tasks)])
        if p.ndim == 1:
            positive = self.sampler_.engine.probabilities(p)
            return np.column_stack([1.0 - positive, positive])
        return self.sampler_.engine.shares(p)  # type: ignore[no-any-return]


class SelectiveRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    """Learns numbers from a stream, from the labels it asks for.

    Without arguments this is the recommended default, which asks where it is uncertain, one label in ten:
    ``Mixture(regression=True)``, ``BudgetRule(0.1, by="uncertainty")``, ``Prepare()``.

    Parameters
    ----------
    learner, rule, drift, prepare, audit : optional
        The parts of a :class:`askwhen.Sampler`; their parameters are ``learner__b``, ``rule__rate`` and so on.
    random_state : int, optional
        Random seed.

    Attributes
    ----------
    sampler_ : Sampler
        What was learnt, and how many questions it took.
    trace_ : Trace
        What happened in the last ``fit`` or ``partial_fit``.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> model = aw.SelectiveRegressor(random_state=7).fit(X, X[:, 0] - 2 * X[:, 1] + 5)
    >>> model.sampler_.questions <= 330 and model.score(X, X[:, 0] - 2 * X[:, 1] + 5) > 0.99
    True
    """

    def __init__(
        self,
        learner: Any = None,
        rule: Any = None,
        drift: Any = None,
        prepare: Any = None,
        audit: Any = None,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self.prepare = prepare
        self.audit = audit
        self.random_state = random_state

    def fit(self, X: Any, y: Any, volunteered: bool = False) -> Self:
        """Forget everything and run over the rows of X in their order.

        With ``volunteered=True`` these are labels that you already have: all of them are learnt, no round is played,
        and asking begins with ``partial_fit`` or ``sampler_.ask``.
        """
        return self._afresh(lambda: self.partial_fit(X, y, volunteered))

    def partial_fit(self, X: Any, y: Any, volunteered: bool = False) -> Self:
        """Continue with more rows, or with unsolicited labels; see ``fit``."""
        first = not hasattr(self, "sampler_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first, y_numeric=True)
        if first:
            parts = (self.learner, self.rule, self.drift, self.prepare, self.audit)
            self.sampler_ = Sampler(*parts, self._seed(), regression=True)
        if volunteered:
            self.sampler_.learn(X, np.asarray(y, float))
        else:
            self.trace_ = self.sampler_.run(X, np.asarray(y, float))
        return self

    @property
    def delivered_(self) -> np.ndarray:
        """With ``rule=PromiseRule(..., within=...)``: the number of every row of the last fit; NaN where withheld."""
        check_is_fitted(self)
        trace = getattr(self, "trace_", None)
        if trace is None or len(trace.withheld) != trace.rounds:
            raise AttributeError("delivered_ goes with rule=PromiseRule(..., within=...), after rounds were played.")
        return trace.delivered  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray:
        """The numbers."""
        check_is_fitted(self)
        with owned_by("predict"):
            return self.sampler_.margins(self._rows(X))


class OnlineToBatchClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    """Runs a sampler over the training data and makes one classifier from all its hypotheses.

    See :func:`askwhen.online_to_batch`.

    Parameters
    ----------
    learner, rule, drift, prepare, audit : optional
        The parts of a :class:`askwhen.Sampler`.
    how : {"average", "vote", "random", "last"}, default "average"
        Which classifier is made of the hypotheses.
    passes : int, default 1
        Number of passes through the training data, from the second on in a random order.
    random_state : int, optional
        Seed of the random draws, the pick and the order.

    Attributes
    ----------
    classes_ : array
        The classes; of two, the second is the positive one.
    model_ : BatchClassifier
        The classifier.
    """

    def __init__(
        self,
        learner: Any = None,
        rule: Any = None,
        drift: Any = None,
        prepare: Any = None,
        audit: Any = None,
        how: str = "average",
        passes: int = 1,
        random_state: Any = None,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self.prepare = prepare
        self.audit = audit
        self.how = how
        self.passes = passes
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Run over the rows of X and make the classifier."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes = unique_labels(y)
        if len(classes) < 2:
            raise ValueError("OnlineToBatchClassifier needs samples of 2 classes, got 1 class.")
        parts = (self.learner, self.rule, self.drift, self.prepare, self.audit)
        if len(classes) > 2:
            sampler, labels = Sampler(*parts, self._seed(), classes=classes.tolist()), y
        else:
            sampler, labels = Sampler(*parts, self._seed()), np.where(y == classes[1], 1.0, -1.0)
        self.model_ = online_to_batch(sampler, X, labels, self.how, passes=self.passes)
        self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive for ``classes_[1]`` of two; otherwise a column for each class."""
        check_is_fitted(self)
        return self.model_.decision_function(self._rows(X))

    def predict(self, X: Any) -> np.ndarray:
        """The classes."""
        with owned_by("predict"):
            found = self.decision_function(X)
        best = found.argmax(axis=1) if found.ndim == 2 else (found > 0.0).astype(int)
        return self.classes_[best]  # type: ignore[no-any-return]


def priced(scorer: Any, price: float) -> Any:
    """A scorer that subtracts the price of the labels that a fitted estimator asked for, as a share of its rounds.

    Pipelines and meta-estimators are searched for their estimators.

    Parameters
    ----------
    scorer : str or callable
        One of scikit-learn's scorers, or its name.
    price : float
        Price of a label for every round.

    Examples
    --------
    >>> from askwhen.adapters.sklearn import priced
    >>> score = priced("accuracy", price=0.5)    # a label in ten costs 0.05 of accuracy
    """
    found = get_scorer(scorer) if isinstance(scorer, str) else scorer

    def score(estimator: Any, X: Any, y: Any) -> float:
        asked = _asked(estimator)
        if not asked:
            raise ValueError(f"priced: {type(estimator).__name__} holds nothing that asks for labels.")
        rounds, questions = np.sum(asked, axis=0)
        return float(found(estimator, X, y) - price * questions / max(rounds, 1))

    return score


def _asked(estimator: Any) -> list[tuple[int, int]]:
    """Rounds and questions of every sampler inside a fitted estimator."""
    if hasattr(estimator, "model_") and hasattr(estimator.model_, "questions"):
        return [(estimator.model_.rounds, estimator.model_.questions)]
    if hasattr(estimator, "sampler_"):
        samplers = getattr(estimator.sampler_, "tasks", None) or [estimator.sampler_]
        return [(sampler.round, sampler.questions) for sampler in samplers]
    inside = [step for _, step in getattr(estimator, "steps", [])] + list(getattr(estimator, "estimators_", []))
    inside += [getattr(estimator, name) for name in ("best_estimator_", "estimator_") if hasattr(estimator, name)]
    return [pair for each in inside for pair in _asked(each)]
