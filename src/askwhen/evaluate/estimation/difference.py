"""The difference of two accuracies over the same rounds, from bets on the rounds in which the predictions differ.

With two labels exactly one of two different predictions is right, so that the mistakes S of a among the D rounds in
which they differ decide: the difference is (D - 2 S) / rounds. With more, the mistakes of each are bounded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .tally_views import TallyView


@dataclass(frozen=True)
class Difference:
    """The accuracy of a less that of b, over all rounds, with an interval that holds however often you look.

    Attributes
    ----------
    value, low, high : float
        The estimate, clipped to the interval, and the interval. If ``low`` is above 0, a is known to be better.
    unbiased : float
        The estimate before clipping.
    rounds, apart : int
        Number of rounds played, and of those in which the two predicted different labels.
    questions, answered : int
        Number of labels asked for, and of labels given for rounds in which the two differed.
    confidence : float
        Probability that the interval covers the true difference at all times, however often you look.
    names : (str, str)
        What a and b are called.
    """

    value: float
    low: float
    high: float
    unbiased: float
    rounds: int
    apart: int
    questions: int
    answered: int
    confidence: float
    names: tuple[str, str] = ("a", "b")

    def __str__(self) -> str:
        if self.rounds == 0:
            return "nothing is known of the difference yet: no round was played"
        result = "not known which is better"
        if self.low > 0.0 or self.high < 0.0:
            result = f"{self.names[self.low <= 0.0]} is better"
        ends = f"{100 * self.low:+.1f} to {100 * self.high:+.1f}"
        return (
            f"{result}: {100 * self.value:+.1f} points ({ends}) over {self.rounds} rounds, in {self.apart} of which "
            f"they differed, at {self.confidence:.0%} confidence"
        )


def difference_of(
    a: TallyView,
    b: TallyView,
    rounds: int,
    questions: int,
    several: bool,
    confidence: float,
    names: tuple[str, str] = ("a", "b"),
) -> Difference:
    """The difference from the rounds in which the two differ: the mistakes of a and, if ``several`` labels, of b."""
    if rounds == 0:
        return Difference(math.nan, -1.0, 1.0, math.nan, 0, 0, 0, 0, confidence, names)
    alpha, differing, observed = 1.0 - confidence, float(a.rounds), float(a.rounds - a.unobserved)
    # Rounds that could not be asked about are assumed to be like the others.
    scale = differing / observed if observed > 0.0 else 0.0
    if several:
        (few, many), (other_few, other_many) = a.mistakes(alpha / 2.0), b.mistakes(alpha / 2.0)
        low, high, unbiased = float(other_few - many), float(other_many - few), float(b.estimate - a.estimate)
    else:
        few, many = a.mistakes(alpha)
        low, high = differing - 2.0 * float(many), differing - 2.0 * float(few)
        unbiased = observed - 2.0 * float(a.estimate)
    low, high, unbiased = low / rounds, high / rounds, scale * unbiased / rounds
    value = min(max(unbiased, low), high)
    unbiased = unbiased if a.is_whole else math.nan
    answered = int(a.answered)
    return Difference(value, low, high, unbiased, rounds, int(differing), questions, answered, confidence, names)
