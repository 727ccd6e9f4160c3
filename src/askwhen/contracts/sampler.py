"""The parts of a sampler, and the interface through which labelling, evaluation and services use one."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable

from .drift import Drift
from .learner import Learner
from .rule import Rule


class Parts(NamedTuple):
    """The parameters that a sampler is made of."""

    learner: Learner
    rule: Rule
    drift: Drift | None = None
    prepare: Any = None
    audit: Any = None


@runtime_checkable
class Counting(Protocol):
    """The members that an estimate of the accuracy needs."""

    @property
    def classes(self) -> list[Any] | None:
        """The labels it predicts, or None for numbers."""

    def tally(self) -> tuple[Any, int, int, list[Any]]:
        """Sums, rounds, questions, and the open questions, as copies."""


class SamplerLike(Protocol):
    """The members of a sampler that labelling, prediction and services need, whatever it predicts."""

    @property
    def parts(self) -> Parts:
        """All parameters."""

    @property
    def seed(self) -> int | None:
        """The random seed."""

    @property
    def classes(self) -> list[Any] | None:
        """The labels it predicts and learns, or None for numbers."""

    @property
    def learner(self) -> Any:
        """The learner's parameters."""

    @property
    def round(self) -> int:
        """Number of rounds played so far; also the number of the next one."""

    @property
    def questions(self) -> int:
        """Number of labels asked for so far."""

    @property
    def pending(self) -> list[Any]:
        """The questions that wait for a label, oldest first."""

    def ask(self, x: Any, time: Any = None) -> Any:
        """Play one round: predict x and decide whether its label is worth asking for."""

    def tell(self, ask: Any, y: Any) -> None:
        """Give the label of a question."""

    def forget(self, ask: Any) -> None:
        """Drop a question that will never be answered."""

    def run(self, X: Any, y: Any, times: Any = None) -> Any:
        """Play a round for every row, and learn each asked label at once."""

    def margins(self, X: Any) -> Any:
        """Margins without playing a round: a number for each row, or one for each class."""

    def probabilities(self, X: Any) -> Any:
        """P(y = +1) without playing a round, or a column for each class."""

    def tally(self) -> tuple[Any, int, int, list[Any]]:
        """The input of the estimate of the accuracy."""

    def save(self, path: Any, *, note: str | None = None) -> None:
        """Write the whole state to a file."""

    @classmethod
    def load(cls, path: Any) -> Self:
        """Load from a file; it continues exactly where ``save`` left it."""
