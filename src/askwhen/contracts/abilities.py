"""Optional abilities of learners, rules and drift detectors.

:class:`~askwhen.contracts.learner.Learner`, :class:`~askwhen.contracts.rule.Rule` and
:class:`~askwhen.contracts.drift.Drift` are all that a part needs. A part that has the members of a protocol of this
module is used in the way that its docstring describes; ``provides(part, ViewLearner)`` tells whether it has them.
"""

from __future__ import annotations

from typing import Any, Protocol, Self, TypeGuard, TypeVar, runtime_checkable

from .kinds import Kinds
from .learner import Learner, State
from .views import Layout

T = TypeVar("T")

_known: dict[tuple[type, type], bool] = {}


def provides(part: object, ability: type[T]) -> TypeGuard[T]:
    """Whether a part has an ability; found once for each class, because ``isinstance`` with protocols is slow."""
    found = _known.get((type(part), ability))
    if found is None:
        found = _known[type(part), ability] = isinstance(part, ability)
    return found


@runtime_checkable
class ViewLearner(Protocol):
    """A learner that sees several views of an instance side by side, see :mod:`askwhen.contracts.views`."""

    def layout(self, d: int, sparse: bool) -> Layout | None:
        """The places of the views of instances with d features; None if it takes such instances without views."""

    def start_views(self, layout: Layout) -> State:
        """The state before the first round, for rows of this layout; ``start`` is for instances without one."""


@runtime_checkable
class KindLearner(Protocol):
    """A learner that treats numbers, vectors and words of an instance differently."""

    kinds: Kinds | None
    """How many features are of each kind; None if it takes all of them for one kind."""

    def with_kinds(self, kinds: Kinds) -> Self:
        """The same learner for instances of these kinds."""


@runtime_checkable
class MultiClassLearner(Protocol):
    """A learner of several classes. Any other learner is copied, one for each class against the rest."""

    classes: int | None
    """Number of classes, 0 for open classes, and None for two labels or for numbers."""

    multi: bool
    """Whether several labels may apply at once, instead of exactly one of them."""


@runtime_checkable
class LearningAdviser(Protocol):
    """An adviser that is asked about each row of a run, and told the labels that were asked for."""

    @property
    def rows_to_next_look(self) -> int:
        """Number of rows that it may be asked about at once."""

    def advise_rows(self, X: Any) -> tuple[list[Any], Any] | None:
        """Labels, and the probability of each of them for each row; None where it has nothing to say."""

    def tell_rows(self, X: Any, y: Any) -> None:
        """Labels that were asked for."""


@runtime_checkable
class CalledAdviser(Protocol):
    """An adviser that is called only in rounds in which its advice is likely to change what happens."""

    @property
    def price(self) -> float:
        """The price of a call, where a person's answer costs 1."""

    @property
    def rate(self) -> float | None:
        """The largest share of rounds in which it is called, or None."""

    @property
    def most(self) -> int | None:
        """The largest number of calls, or None."""

    def at_rows(self, order: Any) -> Any:
        """The adviser for the same rows in another order."""

    def check_rows(self, n: int, X: Any) -> None:
        """Refuse to be asked about n rows of X if it has nothing to say of some of them."""

    def say(self, x: Any, row: int | None = None) -> Any:
        """What it says of an instance, or of a row of many, as ``ask`` takes it; None where it has no answer."""

    def refuse(self, sentence: str) -> None:
        """Be told why what it has just said cannot be advice; it then counts as silent."""


@runtime_checkable
class ExpertLearner(Protocol):
    """A mixture of experts, whose weights the family ``experts`` gives."""

    def names(self, d: int, sparse: bool) -> list[str]:
        """One name for each expert, for instances with d features."""


@runtime_checkable
class FormLearner(Protocol):
    """A second-order learner that stores a d x d matrix (primal form), or the instances it has learnt (dual form)."""

    form: str
    """"primal", "dual", or "auto", which chooses by the size of the instances."""

    kernel: Any
    budget: int | None
    matrices: int
    """Number of matrices in primal form."""


@runtime_checkable
class KernelLearner(Protocol):
    """A learner that may have a kernel."""

    kernel: Any


@runtime_checkable
class SteeringRule(Protocol):
    """A rule that may read the margin of every round, so that ``margins=False`` must not skip any."""

    reads_every_margin: bool


@runtime_checkable
class LengthRule(Protocol):
    """A rule that may be for a known number of rounds, as a budget is for the rows of a file."""

    length: int | None

    def with_length(self, rounds: int) -> Self:
        """The same rule for this number of rounds."""

    def resized(self, state: State) -> State:
        """The given state, which was for another number of rounds, with the length of this rule."""


@runtime_checkable
class ClassDrift(Protocol):
    """A drift detector for several classes."""

    def start_classes(self, d: int, sparse: bool, k: int) -> State:
        """The state before the first round, for instances of dimension d and k classes."""


@runtime_checkable
class SelectiveDrift(Protocol):
    """A drift detector that does not work with every learner."""

    def check_learner(self, learner: Learner) -> None:
        """Raise an ``InputError`` for a learner that does not fit."""


def classes_of(learner: Any) -> int | None:
    """Number of classes that a learner is made for; None where it is for two labels or for numbers."""
    return learner.classes if provides(learner, MultiClassLearner) else None


def is_multi(learner: Any) -> bool:
    """Whether a learner is for several labels at once."""
    return provides(learner, MultiClassLearner) and learner.multi
