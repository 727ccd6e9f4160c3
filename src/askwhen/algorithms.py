"""Every algorithm by its name, ready for a stream: the papers', and ours beside them.

An algorithm has letters, its parameters; one of them, its scale, says how much it asks. Letters that are not given have
their usual values, which suit prepared instances.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from .errors import InputError
from .learners import AutoLasec, LeastSquares
from .papers import PAPERS, paper, paper_letters
from .prepare import Prepare
from .rules import BudgetRule, FixedRate
from .sampler import Sampler

USUAL: dict[str, Any] = {"b": 1.0, "c": 100.0, "C": 1.0, "eta": 0.1, "lam": 0.01, "B": 100, "rate": 0.1}
"""What a letter of a learner is where none is given."""


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that can be built by its name.

    Attributes
    ----------
    name, source, line : str
        Its name in small letters, where it comes from, and what it does.
    letters : tuple of str
        Its parameters.
    scale : str or None
        The one that says how much it asks; None where it asks for every label.
    """

    name: str
    source: str
    line: str
    letters: tuple[str, ...]
    scale: str | None

    def build(
        self,
        letters: dict[str, Any] | None = None,
        *,
        share: float | None = None,
        most: int | None = None,
        prepare: Prepare | None = None,
        kernel: Any = None,
        seed: int | None = None,
    ) -> Sampler:
        """A sampler. Letters that are missing have their usual values.

        With a share of labels in place of its scale, an algorithm asks by a ``BudgetRule`` of that rate, or by its own
        rule where that has a rate. Whatever asks by a budget never asks for more than ``most`` labels.
        """
        given = dict(letters or {})
        for letter in given:
            if letter not in self.letters:
                takes = ", ".join(self.letters) or "no letters"
                raise InputError(f"this algorithm takes {takes}, got {letter!r}.", owner=self.name)
        if share is not None and self.scale in given:
            raise InputError(
                f"give either {self.scale} or a share of labels, since both say how much it asks.", owner=self.name
            )
        given = self.usual() | given
        if share is not None and self.scale is not None:
            given[self.scale] = share if self.scale == "rate" else 0.5
        if self.scale is not None and self.scale not in given:
            raise InputError(f"give {self.scale}, which says how much it asks, or a share of labels.", owner=self.name)
        if self.name in OURS:
            (learner, rule), drift = OURS[self.name](**given), None
        else:
            made = paper(self.name, **given)
            learner, rule, drift = made.learner, made.rule, made.drift
        if share is not None and self.scale != "rate":
            rule = BudgetRule(share, by="uncertainty" if learner.regression else "margin")
        if most is not None and isinstance(rule, BudgetRule):
            rule = dataclasses.replace(rule, most=most)
        if kernel is not None:
            learner = dataclasses.replace(learner, kernel=kernel)
        return Sampler(learner, rule, drift, prepare, seed=seed)

    def usual(self) -> dict[str, Any]:
        """The letters that have a usual value here."""
        wanted = [letter for letter in self.letters if letter in USUAL and (letter != self.scale or letter == "rate")]
        return {letter: USUAL[letter] for letter in wanted}


def _default(rate: float) -> tuple[Any, ...]:
    return AutoLasec(), BudgetRule(rate)


def _random(rate: float) -> tuple[Any, ...]:
    return AutoLasec(), FixedRate(rate)


def _regression(rate: float, b: float = 1.0) -> tuple[Any, ...]:
    return LeastSquares(b, regression=True), BudgetRule(rate, by="uncertainty")


OURS: dict[str, Any] = {"default": _default, "random": _random, "regression": _regression}


def algorithms() -> dict[str, Algorithm]:
    """All of them, ours first."""
    ours = [
        Algorithm(
            "default", "askwhen", "finds the drift level itself, asks within a budget: take this", ("rate",), "rate"
        ),
        Algorithm("random", "askwhen", "the same learner, asks at random: what others must beat", ("rate",), "rate"),
        Algorithm("regression", "askwhen", "numbers: asks where it is uncertain, in a budget", ("rate", "b"), "rate"),
    ]
    papers = [
        Algorithm(name.lower(), entry.source, entry.line, tuple(paper_letters(name)), entry.scale)
        for name, entry in PAPERS.items()
    ]
    return {found.name: found for found in ours + papers}


def algorithm(name: str) -> Algorithm:
    """An algorithm by its name, in any case."""
    found = algorithms().get(name.lower()) if isinstance(name, str) else None
    if found is None:
        raise InputError(f"there is no {name!r}; askwhen algorithms lists them all.", owner="algorithm")
    return found
