"""Mixture, the recommended learner: its parameters, and which form of it learns instances of which width and kinds."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from ..contracts.kinds import Kinds, check_kinds
from ..contracts.views import RECENT_LABELS, Layout, layout_of, layout_of_kinds
from ..errors import InputError
from ..validation import check_count, check_flag
from ..weights.choose_form import check_memory
from ..weights.class_slots import MOST_LABELS
from .cluster_expert import NAME as CLUSTERS
from .mixture_classes import SeveralState, has_clusters, recent_label_features, start_several
from .mixture_sparse import start_diagonal
from .mixture_sparse_classes import start_several_diagonal
from .mixture_state import MixtureState, start_mixture
from .view_blocks import (
    levels_of,
    matrix_bytes,
)
from .word_experts import NAMES as OF_WORDS

MOST_CLASSES = 1000
"""Largest number of classes; more are most likely free text."""

WIDEST = 400
"""Sparse instances with more features are learnt by :mod:`askwhen.learners.mixture_sparse`. At 10 % of the labels that
is better by 0.3 to 2.6 points with 512 hashed words (rcv1, spam, reuters), and 50 times as fast; the views are better
by 0.4 with the 300 features of w8a, and by 3.1 with the 256 of usps."""

NARROWEST_DIRECTION, WIDEST_DIRECTION = 100, 4096
"""Instances of so many numbers are also seen by their direction. Wider ones are learnt feature by feature."""


@dataclass(frozen=True)
class Mixture:
    """The default learner of ``Sampler()``: mixes linear and curved, steady and drifting experts as the stream needs.

    Parameters
    ----------
    regression : bool, default False
        Predict numbers instead of -1 and +1.
    classes : int, optional
        Predict one of this many classes, 0, 1, .. instead; ``Sampler(classes=[...])`` gives them names. 0 for open
        classes.
    multi : bool, default False
        With ``classes``: several of them may apply at once, see :class:`askwhen.MultiLabel`.
    kinds : Kinds, optional
        How many features are numbers, vectors and words, in this order, where they are not all of one kind.
    version : {2, 1}, default 2
        1 is the learner of release 0.1, which does not see vectors by their direction, and whose predictions after the
        stream still follow the last labels. Files, logs and stores of that release go on with it.

    Notes
    -----
    From up to 400 numbers it learns several views, each with several drift levels: the features, a curved function of
    them, their deviation from recent values, and their ranks with recent labels. From vectors, and from dense instances
    of 100 to 4,096 features, it learns the direction too. From words, and from sparse instances of more than 400
    features, it learns each feature separately, in O(nnz) a round. The names of the experts are in
    ``sampler.experts``, and their weights in ``sampler.drift_weights``.

    References
    ----------
    Moroshko, Crammer: Selective sampling with drift, 2014. Herbster, Warmuth: Tracking the best expert, 1998. Rahimi,
    Recht: Random features for large-scale kernel machines, 2007. Duchi, Hazan, Singer: Adaptive subgradient methods,
    2011.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> y = np.where((X ** 2).sum(axis=1) < 2.4, 1, -1)
    >>> sampler = aw.Sampler(aw.Mixture(), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=7)
    >>> sampler.run(X[:1500], y[:1500]).questions <= 165
    True
    >>> bool((sampler.predict(X[1500:]) == y[1500:]).mean() > 0.9)
    True
    """

    regression: bool = False
    classes: int | None = None
    multi: bool = False
    kinds: Kinds | None = None
    version: int = 2

    has_uncertainty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "regression", self.regression)
        check_flag(self, "multi", self.multi)
        if self.version not in (1, 2) or isinstance(self.version, bool):
            raise InputError.about("Mixture", "version", "1 or 2", self.version)
        if self.kinds is not None:
            object.__setattr__(self, "kinds", check_kinds("Mixture", self.kinds))
        if self.multi and (self.classes is None or not 2 <= self.classes <= MOST_LABELS):
            raise InputError(
                f"multi needs classes from 2 to {MOST_LABELS}, got classes={self.classes!r}.", owner="Mixture"
            )
        if self.classes is not None:
            if self.classes != 0 or isinstance(self.classes, bool):
                check_count(self, "classes", self.classes)
            if self.regression or not (self.classes == 0 or 2 <= self.classes <= MOST_CLASSES):
                raise InputError(
                    f"there must be 2 to {MOST_CLASSES:,} classes, which cannot be combined with regression, got "
                    f"{self.classes!r}.",
                    owner="Mixture",
                )

    def names(self, d: int, sparse: bool) -> list[str]:
        """The names of the experts, for instances of d features: the view and the drift level, or the algorithm."""
        layout = self.layout(d, sparse)
        if layout is None:
            return list(OF_WORDS)
        names = [f"{view}, c = {c:g}" for view, levels in levels_of(layout).items() for c in levels]
        if self.classes is not None and has_clusters(layout, self.classes, self.multi):
            names.append(f"direction, {CLUSTERS}")
        return names + [f"words, {name}" for name in OF_WORDS if layout.lines]

    def with_kinds(self, kinds: Kinds) -> Mixture:
        """The same learner for instances of these kinds; those of numbers or of words alone need no kinds."""
        if self.kinds is not None or self.version == 1 or not (kinds.vectors or (kinds.numbers and kinds.words)):
            return self
        return dataclasses.replace(self, kinds=kinds)

    def layout(self, d: int, sparse: bool) -> Layout | None:
        """The layout of the views of instances with d features, or None where it learns from the instance itself."""
        told = RECENT_LABELS if self.classes is None else recent_label_features(self.classes)
        if self.kinds is not None:
            return layout_of_kinds(self.kinds, told)
        has_direction = self.version > 1 and NARROWEST_DIRECTION <= d <= WIDEST_DIRECTION
        if d > WIDEST and (sparse or not has_direction):
            return None
        return layout_of(d, told, has_direction)

    def start_views(self, layout: Layout) -> MixtureState | SeveralState:
        """The state before the first round, for rows of this layout."""
        each = 64 if self.classes is None else 4  # of several classes, most words never have a line
        check_memory(self, layout.features, matrix_bytes(layout) + each * layout.lines)
        if self.classes is not None:
            return start_several(layout, self.classes, self.multi, self.version > 1)
        return start_mixture(layout, self.regression, self.version > 1)

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round, for instances of dimension d that are too wide for several views."""
        if self.classes is not None:
            check_memory(self, d, 4 * d)
            return start_several_diagonal(d, self.classes, self.multi)
        return start_diagonal(d, self.regression)
