"""Sentences about an estimated accuracy: how good it is, what that assumes, and what to do to know it better."""

from __future__ import annotations

from typing import Protocol

from .estimate import Estimate
from .sample_size import Needed

_MOST_LABELS = 10_000_000


class Judged(Protocol):
    """What the sentences need of an :class:`~askwhen.evaluate.Accuracy`."""

    @property
    def overall(self) -> Estimate:
        """The accuracy over all rounds."""
        ...

    @property
    def confidence(self) -> float:
        """Probability that an interval covers the true value."""
        ...

    @property
    def answered(self) -> int:
        """Number of questions with an answer."""
        ...

    @property
    def unanswered(self) -> int:
        """Number of questions without one."""
        ...

    @property
    def waiting(self) -> int:
        """Number of questions that can still be answered."""
        ...

    @property
    def unobserved(self) -> float:
        """Share of the rounds in which nothing could be asked."""
        ...

    @property
    def target(self) -> float | None:
        """The next smaller width to aim at."""
        ...

    def needed(self, width: float) -> Needed:
        """Number of further labels until the interval has a width."""
        ...


def of_accuracy(found: Judged, what: str = "The accuracy", rounds: str = "rounds") -> str:
    """The overall accuracy in a sentence: the value if it is known, the interval, and what answers stand for."""
    overall = found.overall
    ends = f"{overall.low:.1%} to {overall.high:.1%}"
    if overall.is_known:
        head = f"{what} is {overall.value:.1%} ({ends} with {found.confidence:.0%} confidence, however often you look)"
    else:
        head = f"{what} is not known yet with {overall.why_unknown} ({ends})"
    return f"{head}: {_basis(found, rounds)}."


def _basis(found: Judged, rounds: str) -> str:
    """What an estimate is made from."""
    if found.answered + found.unanswered == 0:
        return "no question was asked"
    if found.unanswered:
        counts = f"{found.answered:,} of {_count(found.answered + found.unanswered, 'question')}"
        return (
            f"{counts} {_are(found.answered)} answered, and the interval takes the others for right and for wrong"
            + (", while the value takes them to be like the answered ones" if found.overall.is_known else "")
        )
    answered = f"all {_count(found.answered, 'question')} are answered"
    if found.answered == 1:
        answered = "the only question is answered"
    if found.unobserved > 0.0:
        return f"{answered}, but nothing could be asked in {found.unobserved:.1%} of the {rounds}"
    return f"{answered}, so that the estimate is unbiased" if found.overall.is_known else answered


def advice(found: Judged, waiting: int | None = None, disputed: int = 0) -> str:
    """What to do to know the accuracy better, empty where there is nothing: first what waits, then more labels.

    ``waiting`` is the number of questions that wait for an answer, by default all open ones, and ``disputed`` of those
    on which people disagree.
    """
    waiting = found.waiting if waiting is None else waiting
    parts = []
    if waiting:
        parts.append(f"answer the {_count(waiting, 'question')} that {'waits' if waiting == 1 else 'wait'}")
    if disputed:
        parts.append(f"decide the {_count(disputed, 'disputed one' if waiting else 'disputed question')} in the review")
    first = " and ".join(parts)
    first = first[:1].upper() + first[1:]
    more = "" if waiting + disputed > found.answered else _more_labels(found)
    if not (first and more):
        return f"{first or more}." if first or more else ""
    return f"{first}; then, {more[0].lower()}{more[1:]}."


def _more_labels(found: Judged) -> str:
    """The number of labels that would narrow the interval; empty where that is not known."""
    if found.target is None:
        return ""
    by_rule, at_random = found.needed(found.target)
    asks = [
        f"about {_rounded(labels)} more labels {how}"
        for labels, how in ((at_random, "at random"), (by_rule, "by this rule"))
        if labels is not None and 0 < labels <= _MOST_LABELS
    ]
    within = f"{50.0 * found.target:g} point" + ("" if found.target == 0.02 else "s")
    return f"To know this within {within} either way, ask for {' or '.join(asks)}" if asks else ""


def _rounded(labels: int) -> str:
    """A number of labels rounded to two digits, since it is only an expectation."""
    places = max(len(str(labels)) - 2, 0)
    return f"{round(labels, -places):,}"


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}" + ("" if number == 1 else "s")


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
