"""The labels of a sampler that does not predict -1 and +1: one of several classes, or a set of labels.

A learner works with numbers. A class is its index; a set of labels is a bit mask, whose bit 0 is the first label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contracts.learner import State
from ..weights.class_slots import FIRST_SLOTS
from .tally.class_tally import (
    ClassTally,
    count_class,
    doubt_class,
    new_class_tally,
    note_classes,
    settle_class,
    widen_class_tally,
)
from .tally.label_tally import LabelTally, count_labels, doubt_labels, new_label_tally, note_labels, settle_labels


class Classes:
    """One of several classes. If ``most`` is positive, classes are open: labels add new ones, up to that number."""

    multi = False

    def __init__(self, names: list[Any], most: int = 0) -> None:
        self.names = names
        self.most = most
        self.places = {label: k for k, label in enumerate(names)}
        self.tally: ClassTally = new_class_tally(FIRST_SLOTS + 1 if most else len(names), most > 0)

    @property
    def begun(self) -> int:
        """Number of classes that a learner is started with; 0 for open classes."""
        return 0 if self.most else len(self.names)

    @property
    def least_certainty(self) -> float:
        """The least probability of the predicted class, which is the likeliest: 0 while there are fewer than two."""
        return 1.0 / len(self.names) if len(self.names) > 1 else 0.0

    def decode(self, best: int) -> Any:
        """The class of a learner's number; None before the first class is known."""
        return self.names[best] if best >= 0 else None

    def number(self, prediction: Any) -> int:
        """The learner's number of a prediction."""
        return -1 if prediction is None else self.places[prediction]

    def decode_all(self, best: np.ndarray) -> np.ndarray:
        """The classes of many numbers."""
        unknown = (best < 0).any()  # index -1 is then the None that is appended
        return np.asarray((np.array([*self.names, None], object) if unknown else np.array(self.names))[best])

    def count(self, best: int, P: float, level: int, asked: bool) -> None:
        """Count a round."""
        count_class(self.tally, best, P, level, asked)

    def settle(self, prediction: Any, y: float, P: float, level: int) -> None:
        """Count an answer."""
        settle_class(self.tally, self.number(prediction), int(y), P, level)

    def note(self, *rounds: Any) -> None:
        """Count rounds with immediate answers: predictions, labels, probabilities, asked, levels."""
        note_classes(self.tally, *rounds)

    def doubt(self, tally: State, prediction: Any, P: float, level: int) -> None:
        """Count a question without an answer in a tally."""
        doubt_class(tally, self.number(prediction), P, level)

    def reserve_classes(self, slots: int) -> None:
        """Make the tally large enough for this many classes."""
        if len(self.tally.sums) <= slots:
            self.tally = widen_class_tally(self.tally, slots + 1)

    def add(self, label: Any) -> None:
        """Add a class."""
        self.places[label] = len(self.names)
        self.names.append(label)

    def rename(self, label: Any, new: Any) -> None:
        """Give a class another name, which no other one may have."""
        self.names[self.places[label]] = new
        self.places = {name: k for k, name in enumerate(self.names)}

    def remove(self, label: Any) -> None:
        """Remove a class, which must be the last one that was added."""
        del self.places[label]
        self.names.pop()


class LabelSets:
    """Any of several labels at once."""

    multi = True
    most = 0
    least_certainty = 0.0  # a whole set may well be more likely wrong than right

    def __init__(self, names: list[Any]) -> None:
        self.names = names
        self.places = {label: k for k, label in enumerate(names)}
        self.tally: LabelTally = new_label_tally(len(names))

    @property
    def begun(self) -> int:
        """Number of labels that a learner is started with."""
        return len(self.names)

    def decode(self, best: int) -> tuple[Any, ...]:
        """The labels of a learner's number."""
        return tuple(name for j, name in enumerate(self.names) if best >> j & 1)

    def number(self, prediction: Any) -> int:
        """The learner's number of a set of labels."""
        return sum(1 << self.places[label] for label in set(prediction))

    def decode_all(self, best: np.ndarray) -> np.ndarray:
        """The labels of many numbers, as a matrix of flags with a column for each label."""
        return np.asarray((best[:, None] >> np.arange(len(self.names))) & 1, np.bool_)

    def rename(self, label: Any, new: Any) -> None:
        """Give a label another name, which no other one may have."""
        self.names[self.places[label]] = new
        self.places = {name: k for k, name in enumerate(self.names)}

    def count(self, best: int, P: float, level: int, asked: bool) -> None:
        """Count a round."""
        count_labels(self.tally, best, P, level, asked)

    def settle(self, prediction: Any, y: float, P: float, level: int) -> None:
        """Count an answer."""
        settle_labels(self.tally, self.number(prediction), int(y), P, level)

    def note(self, *rounds: Any) -> None:
        """Count rounds with immediate answers: predictions, labels, probabilities, asked, levels."""
        note_labels(self.tally, *rounds)

    def doubt(self, tally: State, prediction: Any, P: float, level: int) -> None:
        """Count a question without an answer in a tally."""
        doubt_labels(tally, self.number(prediction), P, level)
