"""scikit-activeml: its strategies for streams, over softmax regression, since they bring no model.

Their budgets are tuned to the share; what they count is what they have asked for, whether or not the label has come.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from class_peers import classifier_of, reduction
from peer_labels import frequency

from ..contract import Method, Stream, Task, dense_only, takes_all
from .river_models import LinearModel

RATES = (0.3, 1.0, -1.0, -3.0)


class Strategy:
    """One strategy at work."""

    def __init__(self, which: str, stream: Stream, task: Task) -> None:
        from skactiveml import stream as strategies

        self.linear, self.told = LinearModel(stream, task.setting, True), list[int]()
        self.near = frequency(stream.dense) if which == "StreamProbabilisticAL" else None
        self.asks = getattr(strategies, which)(budget=task.knob, random_state=task.seed)
        self.classifier, self.begun = classifier_of(self.linear.model, self.near, self.told), False

    def predict(self, t: int) -> tuple[int, bool]:
        """The most probable class, and the decision of the strategy."""
        p, candidate = self.linear.chances(t), np.array([[float(t)]])
        place = int(p.argmax())
        if not self.begun:
            self.begun = True
            chosen, utilities = self.asks.query(candidate, self.classifier, return_utilities=True)
        else:  # what query comes to, without checking its arguments again, which takes three times as long
            utilities = np.array([1.0 - p.max() if self.near is None else reduction(self.near(t, self.told) * p)])
            chosen = self.asks.budget_manager_.query_by_utility(utilities)
        more = {} if self.near is None else {"utilities": utilities}
        self.asks.budget_manager_.update(candidate, chosen, **more)
        return place, len(chosen) > 0

    def learn(self, t: int, c: int) -> None:
        """One label."""
        self.told.append(t)
        self.linear.learn(t, c)


METHODS = [
    Method(
        f"scikit-activeml, {which}",
        "scikit-activeml",
        partial(Strategy, which),
        ("skactiveml",),
        RATES,
        (0.005, 1.0),
        refuses=dense_only if which == "StreamProbabilisticAL" else takes_all,
        draws=which in ("RandomVariableUncertainty", "Split"),
    )
    for which in ("VariableUncertainty", "RandomVariableUncertainty", "Split", "StreamProbabilisticAL")
]
