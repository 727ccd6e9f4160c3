"""Gold questions: questions whose label is known, mixed in among others to see how good each person's answers are.

A *place* for a gold question is put among the others when the model decides an instance, with a probability in
proportion to the one with which the model asks: so its number, its age and its place in the queue are those of any
other question. Which gold question it is, is drawn for the first person who meets it, among those that this person has
not had; then it stays. All draws are from the system's source of random numbers, and only their outcome is stored: from
the seed of a stream, which annotators can read, they could be computed.
"""

from __future__ import annotations

import secrets

import msgspec

UNCHOSEN = -1
"""The number of the gold question of a place, before it is chosen; 0 stands for questions of the model."""

MOST_GOLD = 2_000
"""Largest number of gold questions of a stream."""

NOT_NEEDED = "it was not needed any more"


class GoldAnswer(msgspec.Struct, array_like=True, gc=False):
    """What a person answered to a gold question, and the number of the question under which they got it."""

    round: int
    label: str
    time: float


class GoldItem(msgspec.Struct):
    """A gold question: the event of its instance, and its label.

    ``had`` has the number of the question under which each person got it, ``UNCHOSEN`` for those who knew it before.
    ``given`` are the answers that are counted.
    """

    seq: int
    label: str
    content: str = ""
    had: dict[str, int] = {}
    given: dict[str, GoldAnswer] = {}


class GoldQuestions(msgspec.Struct):
    """The gold questions of a stream, the ``last`` number of one, and counts of their places."""

    by_number: dict[int, GoldItem] = {}
    last: int = 0
    placed: int = 0
    chosen: int = 0
    told: int = 0
    forgotten: int = 0

    def left_for(self, annotator: str) -> list[int]:
        """The numbers of those that an annotator has not had."""
        return [number for number, item in self.by_number.items() if annotator not in item.had]

    def drawn_for(self, annotator: str) -> int | None:
        """One of them, at random; None where there is none."""
        left = self.left_for(annotator)
        return left[secrets.randbelow(len(left))] if left else None

    def note_had(self, number: int, annotator: str, round: int) -> None:
        """Note that an annotator got a gold question."""
        if number in self.by_number:
            self.by_number[number].had.setdefault(annotator, round)


def is_drawn(share: float, probability: float) -> bool:
    """Whether a gold question follows an instance about which the model asks with this probability.

    So that a share of all questions is gold, there are share / (1 - share) of them for each other question.
    """
    return secrets.randbits(53) < share / (1.0 - share) * probability * 2.0**53
