"""Ways of asking for models that bring none: by entropy, and by the margin among recent ones."""

from __future__ import annotations

from collections import deque
from typing import Protocol

import numpy as np

from class_peers import draws, wish

from .contract import SPARE, Stream, Task

RECENT, PATIENCE = 200, 20
"""So many margins the smallest ones are told by; and so many labels behind the share, everything is asked about."""


class Model(Protocol):
    """A classifier that says how probable every class is."""

    def chances(self, t: int) -> np.ndarray:
        """The probability of every class in round t; all are equal before two classes are known."""

    def learn(self, t: int, c: int) -> None:
        """The label of round t has come."""


class ByEntropy:
    """Asks as river's EntropySampler does: with the probability entropy ** (1 / knob)."""

    def __init__(self, model: Model, stream: Stream, task: Task) -> None:
        self.model, self.power, self.draws = model, 1.0 / task.knob, draws(len(stream.y), task.seed)
        self.learn = model.learn

    def predict(self, t: int) -> tuple[int, bool]:
        """The most probable class, and whether to ask."""
        p = self.model.chances(t)
        return int(p.argmax()), bool(self.draws[t] < wish(p, self.power))


class ByMargin:
    """Asks where the margin of the two most probable classes is among the smallest of recent rounds.

    How many of them that is, is the share, and more where it has asked too rarely so far, or less. Before anything is
    known it asks about everything, as long as a purse lasts. Equal margins are told apart by a random draw, or trees,
    which have few, would ask about many or none.
    """

    def __init__(self, model: Model, stream: Stream, task: Task) -> None:
        self.model, self.share, self.draws = model, task.share, draws(len(stream.y), task.seed)
        self.learn, self.recent, self.asked = model.learn, deque[float](maxlen=RECENT), 0

    def predict(self, t: int) -> tuple[int, bool]:
        """The most probable class, and whether to ask."""
        p, behind = self.model.chances(t), self.share * (t + 1) - self.asked
        second, first = np.partition(p, -2)[-2:]
        asks = True
        if first > p.min():  # something is known
            margin = float(first - second) + 1e-9 * float(self.draws[t])
            self.recent.append(margin)
            level = min(max(self.share + behind / PATIENCE, 0.0), 1.0)
            asks = bool(margin <= np.quantile(self.recent, level))
        asks = asks and behind + SPARE > 0.0
        self.asked += asks
        return int(p.argmax()), asks


class AtRandom:
    """Asks with the probability of the share."""

    def __init__(self, model: Model, stream: Stream, task: Task) -> None:
        self.model, self.share, self.draws = model, task.share, draws(len(stream.y), task.seed)
        self.learn = model.learn

    def predict(self, t: int) -> tuple[int, bool]:
        """The most probable class, and whether to ask."""
        return int(self.model.chances(t).argmax()), bool(self.draws[t] < self.share)
