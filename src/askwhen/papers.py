"""The algorithms of the papers, by the papers' names and hyperparameters; :mod:`askwhen.algorithms` has the table."""

from __future__ import annotations

import inspect
from typing import Any

from .algorithms import Algorithm, algorithms
from .errors import InputError
from .prepare import Prepare
from .sampler import Sampler


def paper_names() -> list[str]:
    """The names that :func:`paper` knows."""
    return [name.upper() for name, each in algorithms().items() if not each.is_ours]


def paper_letters(name: str) -> dict[str, bool]:
    """The hyperparameters of an algorithm in the paper's order, and whether each must be given.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`, in any case.
    """
    parameters = inspect.signature(_of_paper(name).parts).parameters.values()
    return {parameter.name: parameter.default is parameter.empty for parameter in parameters}


def paper(
    name: str, *, seed: int | None = None, kernel: Any = None, prepare: Prepare | None = None, **letters: Any
) -> Sampler:
    """A sampler for an algorithm of the papers, by its name and hyperparameters.

    Parameters
    ----------
    name : str
        One of :func:`paper_names`, in any case.
    seed : int, optional
        Random seed.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    prepare : Prepare, optional
        Scale raw features before the learner sees them; the papers take instances as they are.
    **letters
        The algorithm's hyperparameters, all of them, by the symbols of its paper.

    Examples
    --------
    >>> import askwhen as aw
    >>> aw.paper("LASEC-SS", b=1.0, c=300.0, a=0.05, seed=7)
    <Sampler(Lasec(b=1.0, c=300.0), MarginRule(scale=0.05)) in round 0 with 0 questions open>
    """
    expected = paper_letters(name)
    wanted = ", ".join(expected) or "no hyperparameters"
    for each in letters:
        if each not in expected:
            raise InputError(f"{name.upper()} takes {wanted}, got {each!r}.", owner="paper")
    for each, required in expected.items():
        if required and each not in letters:
            raise InputError(f"{name.upper()} takes {wanted}, and {each!r} is missing.", owner="paper")
    return _of_paper(name).build(letters, prepare=prepare, kernel=kernel, seed=seed)


def _of_paper(name: str) -> Algorithm:
    found = algorithms().get(name.lower()) if isinstance(name, str) else None
    if found is None or found.is_ours:
        raise InputError(f"name must be one of {', '.join(paper_names())}, got {name!r}.", owner="paper")
    return found
