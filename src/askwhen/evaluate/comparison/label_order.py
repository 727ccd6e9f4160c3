"""Detects labels that come sorted or in blocks, an order that a mixed stream would never have.

In a sorted file nearly every label equals the one before it, so that any learner looks good. The statistic is that of
the runs test (Wald, Wolfowitz 1940): if n labels, a of them +1 and b of them -1, come in any exchangeable order, each
of the n - 1 neighbouring pairs differs with probability 2ab / (n(n - 1)), so that 2ab / n changes are expected; of
several classes, the sum of a (n - a) / n over all of them.

Streams that drift change less often than that too, but not by far. Measured, changes against expected: elec2 0.30, the
spam corpus 0.22, mushrooms 0.55, topics of Reuters 0.77 and more, usenet2 1.50, shuffled files about 1; sorted files
(spambase, svmguide1, w8a) below 0.002, blocks of 100 labels 0.02. We warn below 0.05. Fewer than 20 expected changes
never warn, and chance alone gets there with probability below 1e-11.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...engine.inputs.argument_checks import dimensions_of
from ...engine.inputs.two_labels import signs_of

FEWEST = 0.05
"""Smallest share of the expected changes for which no warning is given."""


class LabelOrder:
    """Counts changes of label, chunk by chunk; for several tasks, over all of them."""

    def __init__(self) -> None:
        self._rounds = 0
        self._changes = 0
        self._counts: dict[float, np.ndarray | int] = {}
        self._last: np.ndarray | None = None

    def add(self, labels: np.ndarray) -> None:
        """Add the next labels: a row for each round, a column for each task."""
        if not len(labels):
            return
        self._changes += int(np.count_nonzero(labels[1:] != labels[:-1]))
        if self._last is not None:
            self._changes += int(np.count_nonzero(labels[0] != self._last))
        self._last = labels[-1].copy()
        for label in np.unique(labels).tolist():
            self._counts[label] = self._counts.get(label, 0) + (labels == label).sum(axis=0)
        self._rounds += len(labels)

    def warning(self) -> str | None:
        """A warning if the labels are nearly sorted, else None."""
        n = self._rounds
        expected = float(np.sum([count * (n - count) for count in self._counts.values()])) / max(n, 1)
        if self._changes >= FEWEST * expected:
            return None
        times = "once" if self._changes == 1 else f"{self._changes:,} times"
        return (
            f"The labels come sorted or in blocks: they change {times} in {n:,} rows, where in a mixed order they "
            f"would change about {expected:,.0f} times, so that any accuracy looks too good; shuffle the stream, "
            "unless this is its order in time."
        )


def order_warning(y: Any, classes: Any = None) -> str | None:
    """A warning if labels come sorted or in blocks, which makes any accuracy look too good; else None.

    Parameters
    ----------
    y : array
        Two labels, or their numbers, in their order; a matrix for several tasks.
    classes : list, optional
        The labels, where they are others.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> y = np.repeat([-1, 1], 500)
    >>> print(aw.evaluate.order_warning(y)[:36])
    The labels come sorted or in blocks:
    >>> aw.evaluate.order_warning(np.random.default_rng(0).permutation(y)) is None
    True
    """
    labels = np.asarray(y)
    if classes is not None:
        found = LabelOrder()
        found.add(np.unique(labels, return_inverse=True)[1].reshape(-1, 1))
        return found.warning()
    columns = labels.T if dimensions_of("order_warning", y) == 2 else [labels]
    found = LabelOrder()
    found.add(np.column_stack([signs_of("order_warning", column, len(labels))[0] for column in columns]))
    return found.warning()
