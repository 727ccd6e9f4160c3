"""Samplers as scikit-learn estimators.

``fit`` and ``partial_fit`` are simulations: they see all labels and look only at those that the sampler asked for, and
at the set of classes.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from ..sampler import Sampler


class SelectiveClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Learns two classes from a stream, from the labels it asks for.

    Without arguments this is the recommended default: ``Prepare()``, ``AutoLasec()`` and ``BudgetRule(0.1)``, one
    label in ten.

    Parameters
    ----------
    learner, rule, drift, prepare, audit : optional
        The parts of a :class:`askwhen.Sampler`.
    random_state : int, optional
        Seeds the coins.

    Attributes
    ----------
    classes_ : array
        The two classes; the second is the positive one.
    sampler_ : Sampler
        What was learnt, and how many questions it took.
    trace_ : Trace
        What happened in the last ``fit`` or ``partial_fit``.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> y = np.where(X[:, 0] > 0, "spam", "ham")
    >>> model = aw.SelectiveClassifier(random_state=7).fit(X, y)
    >>> model.sampler_.questions <= 330 and model.score(X, y) > 0.9
    True
    """

    def __init__(
        self,
        learner: Any = None,
        rule: Any = None,
        drift: Any = None,
        prepare: Any = None,
        audit: Any = None,
        random_state: int | None = None,
    ) -> None:
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self.prepare = prepare
        self.audit = audit
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.classifier_tags.multi_class = False
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Forget everything and run over the rows of X in their order."""
        self.__dict__.pop("sampler_", None)
        return self._learn(X, y, None)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Go on with more rows. The first call must name both classes, or hold both."""
        return self._learn(X, y, classes)

    def _learn(self, X: Any, y: Any, classes: Any) -> Self:
        first = not hasattr(self, "sampler_")
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64, reset=first)
        check_classification_targets(y)
        if first:
            found = unique_labels(y) if classes is None else unique_labels(classes)
            if len(found) > 2:
                raise ValueError(
                    "Only binary classification is supported. The type of the target is multiclass; use "
                    "sklearn.multiclass.OneVsRestClassifier around it."
                )
            if len(found) < 2:
                raise ValueError("SelectiveClassifier needs samples of 2 classes, got 1 class; name both as classes=.")
            self.classes_ = found
        elif classes is not None and not np.array_equal(unique_labels(classes), self.classes_):
            raise ValueError(f"classes must stay {self.classes_.tolist()}, got {list(classes)}.")
        if not np.isin(y, self.classes_).all():
            strange = y[~np.isin(y, self.classes_)][0]
            raise ValueError(f"y must hold the classes {self.classes_.tolist()}, got {strange!r}.")
        if first:
            seed = self.random_state
            self.sampler_ = Sampler(self.learner, self.rule, self.drift, self.prepare, self.audit, seed)
        self.trace_ = self.sampler_.run(X, np.where(y == self.classes_[1], 1.0, -1.0))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """The margins: positive for ``classes_[1]``."""
        check_is_fitted(self)
        return self.sampler_.margins(validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False))

    def predict(self, X: Any) -> np.ndarray:
        """The classes."""
        positive = self.decision_function(X) > 0.0
        return self.classes_[positive.astype(int)]  # type: ignore[no-any-return]
