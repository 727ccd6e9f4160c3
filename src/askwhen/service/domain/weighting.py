"""The label of answers that differ, weighed by how good each person's answers were so far.

By Dawid and Skene (1979): a person gives label g where t is right with a probability of their own, pi(t, g), and
given t the answers of several people are independent. With all labels equally likely beforehand, that of t is then
proportional to the product of pi(t, g) over the answers. Here pi comes from the answers that were also decided without
the person:

=========  =====================================================================================================
n(t, g)    number of those answers in which t was decided and g given; n(t) their sum over g
a          (number of equal ones + S A) / (number of all + S): the person's accuracy over all labels
pi(t, g)   (n(t, g) + S b) / (n(t) + S), with b = a where g = t, else (1 - a) shared equally by the other labels
=========  =====================================================================================================

So someone unknown is right with probability A, as if S answers had shown it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from .questions import DISPUTED, NO_LABEL, Answer

Judged = Mapping[tuple[str, str], int]
"""Number of a person's answers by (decided, given)."""

STRENGTH, USUAL = 4.0, 0.8
"""S and A."""

CONFIDENT = 0.8
"""Answers that differ decide on a label of this probability; otherwise a reviewer does."""


def weighted(answers: Sequence[Answer], judged_of: Callable[[str], Judged], labels: Sequence[str]) -> str | object:
    """What answers decide: a label, ``NO_LABEL``, or ``DISPUTED`` where a reviewer must."""
    given = [(answer.annotator, answer.label) for answer in answers if answer.label is not None]
    if len({label for _, label in given}) < 2:
        return given[0][1] if given else NO_LABEL
    found = probabilities(given, {name: judged_of(name) for name, _ in given}, labels)
    best = max(found)
    return labels[found.index(best)] if best >= CONFIDENT else DISPUTED


def likelihoods(judged: Judged, given: str, labels: Sequence[str]) -> list[float]:
    """The logarithm of pi(t, given) for each label t."""
    same = sum(n for (decided, said), n in judged.items() if decided == said)
    accuracy = (same + STRENGTH * USUAL) / (sum(judged.values()) + STRENGTH)
    totals: Counter[str] = Counter()
    for (decided, _), n in judged.items():
        totals[decided] += n
    others = (1.0 - accuracy) / max(len(labels) - 1, 1)
    return [
        math.log((judged.get((t, given), 0) + STRENGTH * (accuracy if t == given else others)) / (totals[t] + STRENGTH))
        for t in labels
    ]


def probabilities(
    answers: Sequence[tuple[str, str]], people: Mapping[str, Judged], labels: Sequence[str]
) -> list[float]:
    """The probability of each label after answers: pairs of a person and the label that they gave."""
    logs = [0.0] * len(labels)
    for person, given in answers:
        logs = [a + b for a, b in zip(logs, likelihoods(people.get(person, {}), given, labels), strict=True)]
    top = max(logs)
    weights = [math.exp(each - top) for each in logs]
    return [each / sum(weights) for each in weights]
