"""Which algorithm for a file, as ``askwhen compare`` and ``askwhen tune`` find out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__, evaluate
from ..algorithms import algorithm
from ..errors import InputError, argument
from ..evaluate import Comparison, Tried
from ..prepare import Prepare
from ..report import write_comparison
from .observer import Progresses, silent, unseen
from .outputs import check_outputs
from .source import Source, class_names, share_of

Settings = Iterable[tuple[str, Any]]
"""Letters with their values; ``lasec-ss.c`` is that of one algorithm of several."""


class Compared(NamedTuple):
    """A comparison, and how many instances it was made on."""

    comparison: Comparison
    instances: int


class Tuned(NamedTuple):
    """What was tried, the best first, on how many instances, and a doubt about the order of their labels."""

    tried: list[Tried]
    instances: int
    order_warning: str | None


def compare(
    file: str,
    reading: dict[str, Any],
    algorithms: Sequence[str],
    labels: Sequence[float],
    *,
    settings: Settings = (),
    repeats: int = 20,
    shuffle: bool = False,
    everything: bool = False,
    seed: int = 0,
    raw: bool = False,
    classes: Sequence[str] | None = None,
    report: str | None = None,
    command: str = "",
    cluster: str | None = None,
    progress: Progresses = unseen,
    results: Callable[[Compared], None] = silent,
) -> Compared:
    """Compare algorithms on a file at the same shares, or numbers, of labels.

    ``progress``, ``results``, ``raw`` and ``command`` are as for :func:`askwhen.workflows.run.run`; the other arguments
    are those of :func:`askwhen.evaluate.compare`.
    """
    check_outputs(file, report=report)
    names = _names("compare", classes)
    source = Source(file, reading, "binary" if names is None else "class")
    source.classes = names
    letters = _letters(settings, algorithms)
    X, y = source.load_known()
    with progress(f"comparing on {len(y):,} instances", 1) as move:
        found = evaluate.compare(
            X,
            y,
            algorithms,
            [share_of(each, len(y)) for each in labels],
            repeats=repeats,
            letters=letters,
            prepare=None if raw else Prepare(),
            shuffle=shuffle,
            seed=seed,
            everything=everything,
            classes=names,
            cluster=cluster,
            watch=lambda done, total, last: move(done / total, last=last),
        )
    compared = Compared(found, len(y))
    results(compared)
    if report is not None:
        about = {"Stream": f"{source.name}, {len(y):,} instances", "repeats": str(repeats), "askwhen": __version__}
        write_comparison(report, found, title=f"askwhen compare: {Path(file).name}", facts=about, command=command)
    return compared


def tune(
    file: str,
    reading: dict[str, Any],
    algorithms: Sequence[str],
    labels: float,
    *,
    settings: Settings = (),
    head: int = 5000,
    repeats: int = 3,
    seed: int = 0,
    raw: bool = False,
    classes: Sequence[str] | None = None,
    cluster: str | None = None,
    progress: Progresses = unseen,
) -> Tuned:
    """Try algorithms and their letters on the first ``head`` instances of a file, at one share of labels.

    ``progress`` and ``raw`` are as for :func:`askwhen.workflows.run.run`; the other arguments are those of
    :func:`askwhen.evaluate.tune`.
    """
    names = _names("tune", classes)
    source = Source(file, reading, "binary" if names is None else "class")
    source.classes = names
    X, y = source.load_known(head)
    with progress(f"trying on {len(y):,} instances", 1) as move:
        tried = evaluate.tune(
            X,
            y,
            share_of(labels, len(y)),
            algorithms,
            letters=dict(settings),
            prepare=None if raw else Prepare(),
            repeats=repeats,
            seed=seed,
            classes=names,
            cluster=cluster,
            watch=lambda done, total, last: move(done / total, last=last),
        )
    return Tuned(tried, len(y), evaluate.order_warning(y, names))


def _names(owner: str, classes: Sequence[str] | None) -> list[Any] | None:
    """The labels by name, all of them: what is compared must know them from the start."""
    found = class_names(owner, classes)
    if found == "open":
        raise InputError(f"{argument('classes')} must name the labels here.", owner=owner)
    return found  # type: ignore[no-any-return]


def _letters(settings: Settings, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The letters that were set for each algorithm; one without a name is for all that have it."""
    chosen = [algorithm(name) for name in names]
    found: dict[str, dict[str, Any]] = {each.name: {} for each in chosen}
    for setting, value in settings:
        name, dot, letter = setting.rpartition(".")
        takers = [each for each in chosen if (each.name == name.lower() if dot else letter in each.letters)]
        if not takers:
            raise InputError(f"no algorithm here takes {setting!r}.", owner="compare")
        for each in takers:
            found[each.name][letter] = value
    return found
