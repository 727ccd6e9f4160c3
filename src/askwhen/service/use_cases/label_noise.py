"""What the labels of a stream are, how often two people differ, and what that means for the estimated accuracy."""

from __future__ import annotations

from typing import Any

from ...evaluate.estimation.share import share_interval
from ..domain.annotator_stats import ENOUGH
from ..domain.stream import ServiceStream
from ..events.numbers import NUMBERS
from ..events.settings import Settings

_DECIDES = {
    "majority": "what most of {} people answered, or a reviewer decided",
    "unanimity": "what {} people agree on, or a reviewer decided",
    "adjudicator": "what a reviewer decided after the answers of {} people",
    "weighted": "what the answers of {} people decide, weighed by how good each person's are, or a reviewer decided",
}


def facts(stream: ServiceStream, confidence: float) -> dict[str, Any]:
    """What counts as the truth in the accuracy, and how many of the questions with two answers have different ones.

    The interval is for the questions that two people answered. Those of overlap are drawn independently of what the
    question is, so that it is also one for all questions that were asked. Where questions had more than two answers,
    their pairs depend on each other, and there is none.
    """
    tables = stream.questions.stored.people.pairs.values()
    counts = [(a == b, n) for table in tables for a, line in table.items() for b, n in line.items()]
    compared, differ = sum(n for _, n in counts), sum(n for same, n in counts if not same)
    found: dict[str, Any] = {"compared": compared, "differ": differ, "share": None, "low": 0.0, "high": 1.0}
    has_share = _most_answers(stream) <= 2
    if has_share:
        found["low"], found["high"] = share_interval(differ, compared, confidence)
        found["share"] = differ / compared if compared >= ENOUGH else None
    sentence = _sentence(stream.settings, found, confidence, stream.state.gold > 0, has_share)
    return {"sentence": sentence, "noise": found}


def _most_answers(stream: ServiceStream) -> int:
    """Largest number of answers that a question of the stream may have, or might have had before."""
    settings = stream.current.created
    every = [{"slots": settings.slots, "overlap": settings.overlap}, *(changes for _, changes in stream.state.changes)]
    slots: int = max(each["slots"] for each in every if "slots" in each)
    return slots + any(each.get("overlap") for each in every)


def _sentence(settings: Settings, noise: dict[str, Any], confidence: float, has_gold: bool, has_share: bool) -> str:
    """For people who read the accuracy."""
    if settings.slots > 1:
        label = _DECIDES[settings.decide].format(settings.slots)
    elif settings.decide == "adjudicator":
        label = "what a reviewer decided after one person's answer"
    elif settings.overlap and settings.decide == "weighted":
        label = (
            "one person's answer; where a second answer differs, what the two decide, weighed by how good "
            "each person's are, or what a reviewer decided"
        )
    elif settings.overlap:
        label = "one person's answer, or what a reviewer decided where a second answer differs"
    else:
        label = "one person's answer, or what a reviewer decided"
    parts = [
        f"What counts as right: a label is {label}. The interval takes labels for the truth; wrong ones are not in it."
    ]
    if noise["share"] is not None:
        ends = f"{100 * noise['low']:.1f}% to {100 * noise['high']:.1f}% at {100 * confidence:.4g}% confidence"
        same = "numbers too far from each other" if settings.labels == NUMBERS else "different labels"
        parts.append(
            f"Of {noise['compared']:,} questions that two people answered, {100 * noise['share']:.1f}% have {same} "
            f"({ends}); at least half as large a share of single answers to them is wrong. The accuracy can be off, up "
            "or down, by as much as labels are wrong."
        )
    elif not has_share and noise["compared"] >= ENOUGH:
        parts.append(
            f"In {noise['differ']:,} of {noise['compared']:,} comparisons of two people's answers they differ; "
            "there is no interval, since questions of this stream have, or could have under earlier settings, three "
            "answers or more, so that comparisons depend on each other."
        )
    if has_gold:
        parts.append("Gold questions are not part of the accuracy; they show how good each person's answers are.")
    return " ".join(parts)
