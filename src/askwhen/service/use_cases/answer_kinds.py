"""What people answer the questions of a stream with, as other tools must know it."""

from __future__ import annotations

from ..events import label_sets, numbers
from ..events.label_sets import Label
from ..events.numbers import NUMBERS
from ..events.settings import Settings

SINGLE, SEVERAL, NUMBER = "one label", "several labels", "a number"


def kind_of(settings: Settings) -> str:
    """One of the kinds of answers."""
    return NUMBER if settings.labels == NUMBERS else SEVERAL if settings.several else SINGLE


def read(text: str, answer: str) -> Label:
    """A label of the log as clients see it."""
    return label_sets.read(text) if answer == SEVERAL else numbers.read(text) if answer == NUMBER else text
