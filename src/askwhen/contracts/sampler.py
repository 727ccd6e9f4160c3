"""What a sampler is made of, and what it provides: all that labelling, evaluation and services need to know of one."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Self, runtime_checkable


class Parts(NamedTuple):
    """The parameters that a sampler is made of."""

    learner: Any
    rule: Any
    drift: Any = None
    prepare: Any = None
    audit: Any = None


@runtime_checkable
class Counting(Protocol):
    """What the estimate of the accuracy needs of whoever asks."""

    @property
    def classes(self) -> list[Any] | None:
        """What it predicts, or None for numbers."""

    def tally(self) -> tuple[Any, int, int, list[Any]]:
        """Sums, rounds, questions, and the open questions, as copies."""


class SamplerLike(Protocol):
    """What labelling, prediction and services need of a sampler, whatever it predicts."""

    @property
    def parts(self) -> Parts:
        """All parameters."""

    @property
    def seed(self) -> int | None:
        """What seeded the coins."""

    @property
    def classes(self) -> list[Any] | None:
        """What it predicts and is told, or None for numbers."""

    @property
    def learner(self) -> Any:
        """The learner's parameters."""

    @property
    def round(self) -> int:
        """How many rounds have been played; also the number of the next one."""

    @property
    def questions(self) -> int:
        """How many labels have been asked for."""

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
        """Play a round for every row, telling each asked label at once."""

    def margins(self, X: Any) -> Any:
        """Margins without playing a round: a number for each row, or one for each class."""

    def probabilities(self, X: Any) -> Any:
        """P(y = +1) without playing a round, or a column for each class."""

    def tally(self) -> tuple[Any, int, int, list[Any]]:
        """What the estimate of the accuracy reads."""

    def save(self, path: Any, *, note: str | None = None) -> None:
        """Write everything to a file."""

    @classmethod
    def load(cls, path: Any) -> Self:
        """One that goes on from a file exactly where ``save`` left it."""
