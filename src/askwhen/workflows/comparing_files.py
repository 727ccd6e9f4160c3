"""Compare algorithms on a file, and tune them, as ``askwhen compare`` and ``askwhen tune`` do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__, evaluate
from ..algorithms import algorithm
from ..errors import InputError, argument
from ..evaluate import Comparison, Tried
from ..evaluate.comparison.refitted import require_models
from ..prepare import Prepare
from ..report import write_comparison
from ..sampler import Sampler
from .advice_columns import AdviceColumn, advice_in, without_columns
from .observer import Observer, moving
from .outputs import check_outputs
from .source import Source, class_names, share_of

Settings = Iterable[tuple[str, Any]]
"""Hyperparameters with their values; ``lasec-ss.c`` is that of one algorithm of several."""


@dataclass(frozen=True)
class _Options:
    """Options of both a comparison and a tuning.

    ``raw`` says whether instances are taken as they are, without scaling them; the others are arguments of
    :func:`askwhen.evaluate.compare` and :func:`askwhen.evaluate.tune`.
    """

    settings: Settings = ()
    seed: int = 0
    raw: bool = False
    classes: Sequence[str] | None = None
    cluster: str | None = None

    @property
    def prepare(self) -> Prepare | None:
        """The scaling of instances, if there is any."""
        return None if self.raw else Prepare()


@dataclass(frozen=True)
class CompareOptions(_Options):
    """Options of a comparison; ``report`` is an HTML file to write, and ``command`` the command that it names.

    ``advice`` are columns of the file in which advisers say what the labels are.
    """

    repeats: int = 20
    shuffle: bool = False
    everything: bool = False
    baselines: bool = False
    report: str | None = None
    command: str = ""
    advice: Sequence[AdviceColumn] = ()


@dataclass(frozen=True)
class TuneOptions(_Options):
    """Options of a tuning, on the first ``head`` instances."""

    head: int = 5000
    repeats: int = 3


class CompareResult(NamedTuple):
    """A comparison, and the number of instances it was made on."""

    comparison: Comparison
    instances: int


class TuneResult(NamedTuple):
    """The tried candidates, the best first, the number of instances, and a warning about the order of their labels."""

    tried: list[Tried]
    instances: int
    order_warning: str | None


def compare(
    file: str,
    reading: dict[str, Any],
    algorithms: Sequence[str],
    labels: Sequence[float],
    options: CompareOptions | None = None,
    observer: Observer[CompareResult] | None = None,
) -> CompareResult:
    """Compare algorithms on a file at the same shares, or numbers, of labels."""
    options, observer = options or CompareOptions(), observer or Observer()
    check_outputs(file, report=options.report)
    if options.baselines:
        require_models("compare")
    reading = without_columns(file, reading, options.advice)
    source = _source(file, reading, _class_list("compare", options.classes, reading))
    source.announce(observer.say)
    hyperparameters = _by_algorithm(options.settings, algorithms)
    X, y = source.load_known()
    advised = Sampler(classes=source.classes)
    with observer.progress(f"comparing on {len(y):,} instances", 1) as move:
        found = evaluate.compare(
            X,
            y,
            algorithms,
            [share_of(each, len(y)) for each in labels],
            repeats=options.repeats,
            letters=hyperparameters,
            prepare=options.prepare,
            shuffle=options.shuffle,
            seed=options.seed,
            everything=options.everything,
            classes=source.classes,
            cluster=options.cluster,
            watch=moving(move),
            baselines=options.baselines,
            advice=advice_in(file, source, options.advice, advised),
        )
    result = CompareResult(found, len(y))
    observer.results(result)
    if options.report is not None:
        stream = f"{source.name}, {len(y):,} instances"
        about = {"Stream": stream, "repeats": str(options.repeats), "askwhen": __version__}
        title = f"askwhen compare: {Path(file).name}"
        write_comparison(options.report, found, title=title, facts=about, command=options.command)
    return result


def tune(
    file: str,
    reading: dict[str, Any],
    algorithms: Sequence[str],
    labels: float,
    options: TuneOptions | None = None,
    observer: Observer[TuneResult] | None = None,
) -> TuneResult:
    """Try algorithms and their hyperparameters on the first instances of a file, at one share of labels."""
    options, observer = options or TuneOptions(), observer or Observer()
    source = _source(file, reading, _class_list("tune", options.classes, reading))
    source.announce(observer.say)
    X, y = source.load_known(options.head)
    with observer.progress(f"trying on {len(y):,} instances", 1) as move:
        tried = evaluate.tune(
            X,
            y,
            share_of(labels, len(y)),
            algorithms,
            letters=dict(options.settings),
            prepare=options.prepare,
            repeats=options.repeats,
            seed=options.seed,
            classes=source.classes,
            cluster=options.cluster,
            watch=moving(move),
        )
    return TuneResult(tried, len(y), evaluate.order_warning(y, source.classes))


def _source(file: str, reading: dict[str, Any], classes: list[Any] | None) -> Source:
    """The file, whose labels must be among the classes, if there are any."""
    source = Source(file, reading, "binary" if classes is None else "class")
    source.classes = classes
    return source


def _class_list(owner: str, classes: Sequence[str] | None, reading: dict[str, Any]) -> list[Any] | None:
    """The names of all labels, which must be known from the start here."""
    found = class_names(owner, classes, reading)
    if found == "open":
        raise InputError(f"{argument('classes')} must name the labels here.", owner=owner)
    return found  # type: ignore[no-any-return]


def _by_algorithm(settings: Settings, names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """The hyperparameters that were set for each algorithm; one without an algorithm's name is for all that have it."""
    chosen = [algorithm(name) for name in names]
    found: dict[str, dict[str, Any]] = {each.name: {} for each in chosen}
    for setting, value in settings:
        name, dot, symbol = setting.rpartition(".")
        takers = [each for each in chosen if (each.name == name.lower() if dot else symbol in each.letters)]
        if not takers:
            raise InputError(f"no algorithm here takes {setting!r}.", owner="compare")
        for each in takers:
            found[each.name][symbol] = value
    return found
