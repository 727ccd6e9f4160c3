"""An estimator of scikit-learn as an adviser: fitted again to the labels that were asked for as they grow."""

from __future__ import annotations

import contextlib
import copy
import math
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..validation import check_count, check_number

_DENSE = 4096
"""Sparse instances with at most so many features are given to the estimator as arrays."""


class Refit:
    """Advice of a classifier that is fitted again whenever its labels have grown by a share.

    It advises the rounds from its first fit on. Whether it is due is looked at every ``every`` rounds, so that a run
    and the same rounds played live fit it at the same moments.

    Parameters
    ----------
    estimator : classifier of scikit-learn
        Anything with ``fit``, ``predict_proba`` and ``classes_``. It is copied before every fit; give it a random
        state, so that the same stream gives the same advice.
    growth : float, default 1.15
        It is fitted again when its labels have grown by this factor.
    first : int, default 10
        Number of labels before the first fit.
    every : int, default 50
        Number of rounds after which it is looked whether a fit is due.

    Attributes
    ----------
    fits : int
        Number of fits so far.
    labels : int
        Number of labels that it was told.

    Examples
    --------
    In a run it is given the labels that are asked for:

    >>> import numpy as np, askwhen as aw
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> y = np.where((X[:, 0] > 0) & (X[:, 1] > 0), "spam", "ham")
    >>> tree = aw.advisers.Refit(DecisionTreeClassifier(max_depth=3, random_state=0))
    >>> sampler = aw.Sampler(advisers=["tree"], seed=7)
    >>> trace = sampler.run(X, y, advice={"tree": tree})
    >>> tree.labels == trace.questions, tree.fits > 5
    (True, True)

    Live, tell it yourself:

    >>> ask = sampler.ask(X[0], advice={"tree": tree.advise(X[0])})
    >>> if ask.query:
    ...     sampler.tell(ask, "ham")
    ...     tree.tell(X[0], "ham")
    """

    def __init__(self, estimator: Any, growth: float = 1.15, first: int = 10, every: int = 50) -> None:
        if not hasattr(estimator, "fit") or not hasattr(estimator, "predict_proba"):
            raise InputError(
                f"estimator must be a classifier with fit and predict_proba, got {type(estimator).__name__}.",
                owner="Refit",
            )
        check_number("Refit", "growth", growth, "a number above 1", 1.0, math.inf)
        check_count("Refit", "first", first)
        check_count("Refit", "every", every)
        self.estimator, self.growth, self.first, self.every = estimator, float(growth), int(first), int(every)
        self.fits = 0
        self._rows: list[np.ndarray] = []
        self._labels: list[Any] = []
        self._fitted: Any = None
        self._due = int(first)
        self._seen = 0

    def __repr__(self) -> str:
        return f"<Refit({self.estimator!r}) after {self.fits} fits to up to {len(self._labels)} labels>"

    @property
    def labels(self) -> int:
        """Number of labels that it was told."""
        return len(self._labels)

    @property
    def rows_to_next_look(self) -> int:
        """Number of rounds until it is looked whether a fit is due."""
        return self.every - self._seen % self.every

    def advise(self, x: Any) -> dict[Any, float] | None:
        """The probability of each label for the next round's instance; None before the first fit.

        Parameters
        ----------
        x : array or one row of a CSR matrix
            The instance.
        """
        found = self.advise_rows(x if sp.issparse(x) else np.asarray(x, float).reshape(1, -1))
        return None if found is None else dict(zip(found[0], found[1][0].tolist(), strict=True))

    def advise_rows(self, X: Any) -> tuple[list[Any], np.ndarray] | None:
        """The labels, and their probabilities for the next rounds' instances; None before the first fit.

        Parameters
        ----------
        X : array or CSR matrix
            The instances, at most ``rows_to_next_look`` of them.
        """
        if self._seen % self.every == 0:
            self._fit_if_due()
        self._seen += X.shape[0]
        if self._fitted is None:
            return None
        with _quietly():
            return self._fitted.classes_.tolist(), np.asarray(self._fitted.predict_proba(_dense(X)), float)

    def tell(self, x: Any, y: Any) -> None:
        """Give it a label that was asked for.

        Parameters
        ----------
        x : array or one row of a CSR matrix
            The instance.
        y : label
            Its label.
        """
        self.tell_rows(x if sp.issparse(x) else np.asarray(x, float).reshape(1, -1), [y])

    def tell_rows(self, X: Any, y: Any) -> None:
        """Give it labels that were asked for.

        Parameters
        ----------
        X : array or CSR matrix
            The instances.
        y : list
            Their labels.
        """
        rows = _dense(X)
        self._rows.extend(rows[i : i + 1].copy() for i in range(rows.shape[0]))
        self._labels.extend(y)

    def _fit_if_due(self) -> None:
        if len(self._labels) < self._due or len(set(self._labels)) < 2:
            return
        fitted = copy.deepcopy(self.estimator)
        rows = sp.vstack(self._rows, "csr") if sp.issparse(self._rows[0]) else np.concatenate(self._rows)
        with _quietly():
            fitted.fit(rows, np.array(self._labels))
        self._fitted = fitted
        self.fits += 1
        self._due = math.ceil(self.growth * len(self._labels))


def _dense(X: Any) -> Any:
    """Rows as an estimator takes them."""
    return X.toarray() if sp.issparse(X) and X.shape[1] <= _DENSE else X.tocsr() if sp.issparse(X) else X


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without the warnings of an estimator that has few labels."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
