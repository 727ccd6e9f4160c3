"""Options that several commands share, and the types of their values."""

from __future__ import annotations

import functools
import math
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import click

import askwhen


class Written(float):
    """A number that remembers how it was written."""

    given: str


class AlgorithmName(click.ParamType[str]):
    """The name of an algorithm."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name of an algorithm that exists."""
        import difflib

        from ..algorithms import algorithms

        known = list(algorithms())
        if str(value).lower() not in known:
            near = difflib.get_close_matches(str(value).lower(), known, 3, 0.5)
            hint = f", perhaps {' or '.join(near)}" if near else ""
            self.fail(f"there is no {value!r}{hint}; `askwhen algorithms` lists them all.", param, ctx)
        return str(value)


class WrittenPair(tuple[float, float]):
    """Two numbers, written with a comma between."""

    __slots__ = ()

    @property
    def given(self) -> str:
        """The two with a comma between."""
        return f"{self[0]:g},{self[1]:g}"


class Costs(click.ParamType[tuple[float, float]]):
    """The costs of a false positive and of a false negative, as in 1,20."""

    name = "costs"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float]:
        """Two positive numbers."""
        if isinstance(value, tuple):
            return value
        try:
            positive, negative = (float(part) for part in str(value).split(","))
        except ValueError:
            positive = negative = 0.0
        if not (0.0 < positive < math.inf and 0.0 < negative < math.inf):
            self.fail(
                f"{value!r} is not a pair of costs; write those of a false positive and a false negative, as in 1,20.",
                param,
                ctx,
            )
        return WrittenPair((positive, negative))


class Labels(click.ParamType[float]):
    """A number of labels: a share, as in 10% or 0.1, or a count, as in 500."""

    name = "labels"

    def __init__(self, below: bool = False) -> None:
        self._below = below

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A share above 0 and up to 1, or a whole number above 1."""
        if isinstance(value, Written):
            return value
        text = str(value).strip()
        try:
            found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            found = 0.0
        is_count = found > 1.0 and found.is_integer() and not text.endswith("%")
        if not (0.0 < found <= 1.0 or is_count):
            self.fail(
                f"{text!r} is not a number of labels; write a share, as in 10% or 0.1, or a number, as in 500.",
                param,
                ctx,
            )
        if text == "1":
            self.fail("'1' could mean one label or all of them; write 100% for all.", param, ctx)
        if self._below and found == 1.0:
            self.fail(
                "shares here are below 100%; to compare with all labels, add an algorithm that asks for every label.",
                param,
                ctx,
            )
        made = Written(found)
        made.given = text
        return made


class Errors(click.ParamType[float]):
    """A share of errors, as in 5% or 0.05."""

    name = "share"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """A share between 0 and 1."""
        if isinstance(value, Written):
            return value
        text = str(value).strip()
        try:
            found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            found = 0.0
        if not 0.0 < found < 1.0:
            self.fail(f"{text!r} is not a share of errors; write one below 100%, as in 5% or 0.05.", param, ctx)
        made = Written(found)
        made.given = text
        return made


ERRORS = click.option(
    "--errors",
    type=Errors(),
    help="Promise that at most this share of the delivered labels is wrong, as in 5%; ask only as much as that needs.",
)
WITHIN = click.option(
    "--within",
    type=click.FloatRange(0.0, min_open=True),
    metavar="NUMBER",
    help="With --errors, for numbers: how far a prediction may be off without being wrong.",
)


class Seconds(click.ParamType[float | None]):
    """A time: 60s, 5m, 1h, a number of seconds, or never."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | None:
        """Seconds, or None for never."""
        text = str(value).strip().lower()
        if value is None or text in ("never", "0"):
            return None
        unit = {"s": 1.0, "m": 60.0, "h": 3600.0}.get(text[-1:], 0.0)
        try:
            found = float(text[:-1]) * unit if unit else float(text)
        except ValueError:
            found = 0.0
        if not 0.0 < found < float("inf"):
            self.fail(f"{value!r} is not a time; write 60s, 5m, 1h or never.", param, ctx)
        made = Written(found)
        made.given = text
        return made


class ColumnNames(click.ParamType[tuple[str, ...]]):
    """Names of columns with commas between; a name that holds a comma goes between double quotes."""

    name = "column,column,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """Names, as they are in the table."""
        import csv

        if isinstance(value, tuple):
            return value
        found = tuple(ColumnName(each.strip()) for each in next(csv.reader([str(value)]), []) if each.strip())
        if not found:
            self.fail("give at least one column.", param, ctx)
        return found


class ColumnName(str):
    """The name of a column."""

    @property
    def given(self) -> str:
        """As it is written on a command line."""
        return '"{}"'.format(self.replace('"', '""')) if set(self) & {",", '"'} else str(self)


class Listed(click.ParamType[list[Any]]):
    """Values with commas between."""

    def __init__(self, each: click.ParamType[Any], name: str) -> None:
        self.each = each
        self.name = name

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> list[Any]:
        """A list of at least one value."""
        if isinstance(value, list):
            return value
        values = [each.strip() for each in str(value).split(",") if each.strip()]
        if not values:
            self.fail("give at least one.", param, ctx)
        found: list[Any] = WrittenList(self.each.convert(each, param, ctx) for each in values)
        found.given = str(value)  # type: ignore[attr-defined]
        return found


class WrittenList(list[Any]):
    """A list that remembers how it was written."""

    given: str


class Setting(click.ParamType[tuple[str, Any]]):
    """A hyperparameter and its value, as in a=0.05; for one algorithm of several, lasec-ss.a=0.05."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Any]:
        """The name and a number, or true or false."""
        if isinstance(value, tuple):
            return value
        name, equals, text = str(value).partition("=")
        if not name or not equals:
            self.fail(f"{value!r} is not a setting; write a name and a value, as in a=0.05.", param, ctx)
        found: Any = {"true": True, "false": False}.get(text.strip().lower())
        if found is None:
            try:
                found = float(text)
            except ValueError:
                self.fail(f"{text!r} is neither a number nor true or false.", param, ctx)
            found = int(found) if found.is_integer() and "." not in text and "e" not in text.lower() else found
        return Pair((name.strip(), found))


class Pair(tuple[str, Any]):
    """A setting, written as name=value."""

    @property
    def given(self) -> str:
        """As in a=0.05."""
        return f"{self[0]}={self[1]}"


def _complete_algorithm(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from ..algorithms import algorithms

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in algorithms() if name.startswith(last.lower())]


class AdviceOption(click.ParamType[Any]):
    """An adviser and its columns, as in gpt=answer or gpt=answer:confidence."""

    name = "name=column[:column]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The name of the adviser, the column of its labels, and that of its confidences or None."""
        if isinstance(value, tuple):
            return value
        name, _, columns = str(value).partition("=")
        label, _, confidence = columns.partition(":")
        if not name.strip() or not label.strip() or ("=" in str(value) and columns.endswith(":")):
            self.fail(
                f"{value!r} is not advice; write a name and the column of its labels, as in gpt=answer, and a column "
                "of confidences if there is one, as in gpt=answer:confidence.",
                param,
                ctx,
            )
        from ..workflows.advice_columns import AdviceColumn

        return AdviceColumn(name.strip(), label.strip(), confidence.strip() or None)


ADVICE = click.option(
    "--advice",
    type=AdviceOption(),
    multiple=True,
    help="A language model, or whatever answers already: its name and the column of its labels, as in gpt=answer, with "
    "the column of its confidences as in gpt=answer:confidence; repeatable.",
)
ALGORITHM = functools.partial(click.option, shell_complete=_complete_algorithm)


def several_algorithms(default: str, what: str = "Names, separated by commas") -> Callable[..., Any]:
    """The option ``--algorithms``."""
    return ALGORITHM(
        "--algorithms",
        "-a",
        type=Listed(AlgorithmName(), "name,name,..."),
        default=default,
        show_default=True,
        help=f"{what}; see `askwhen algorithms`.",
    )


SETTINGS = click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="Set a hyperparameter by its symbol in the paper, as in --set a=0.05; repeatable.",
)
RAW = click.option("--raw", is_flag=True, help="Do not scale the features.")
CLASSES = click.option(
    "--classes",
    type=Listed(click.STRING, "label,label,..."),
    help="All labels, if there are more than two. For run and plan, `open` if they are not known beforehand.",
)
CLUSTER = click.option(
    "--cluster",
    metavar="ADDRESS",
    help="Run on a Ray cluster: its host:port, `auto` on one of its machines, or `local` to start one here.",
)
BASELINES = click.option(
    "--baselines",
    is_flag=True,
    help="Also play models of scikit-learn that are refitted again and again, with as many labels.",
)
SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Random seed.")


def _all(ctx: click.Context, param: click.Parameter, value: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    """All names that an option was given, however often it was given."""
    return tuple(name for each in value for name in each)


_COLUMNS = functools.partial(click.option, type=ColumnNames(), multiple=True, callback=_all)
_FORMATS = [each.name for each in pkgutil.iter_modules([f"{askwhen.__path__[0]}/data/formats"])]
"""The names of the file formats: their modules are only listed, since importing them would make --help wait."""

FORMAT = click.option(
    "--format",
    type=click.Choice(_FORMATS),
    help="Format of the file; by default taken from the ending of its name.",
)
TEXT = _COLUMNS("--text", help="Columns to take for texts, whatever they look like; each word becomes a feature.")
DROP = _COLUMNS("--drop", help="Columns to ignore.")
CATEGORIES = _COLUMNS("--categories", help="Columns to take for categories; each value becomes a feature.")
NUMBERS = _COLUMNS("--numbers", help="Columns to take for numbers; what is not a number is missing.")
VECTOR = _COLUMNS(
    "--vector", help="Columns to take for vectors: lists of numbers, or the prefix of columns such as e0, e1, e2."
)
DECIMAL = click.option(
    "--decimal",
    type=click.Choice([",", "."]),
    help="Mark before decimals, for columns whose numbers do not show it, as 1,250 does not.",
)
ENCODER = click.option(
    "--encoder",
    metavar="NAME",
    help="What makes vectors of texts, beside their words: `static` (the default where the extra text is installed), a "
    "folder in the format of model2vec, or `none`.",
)
WHAT_COLUMNS = click.option(
    "--columns", is_flag=True, help="Only print what each column is taken for, and why; nothing is learnt."
)
DELIMITER = click.option("--delimiter", metavar="CHARACTER", help="Character between columns, as in ';' or '\\t'.")
ENCODING = click.option(
    "--encoding", metavar="NAME", help="Text encoding of the file, as in latin-1; by default UTF-8."
)
MISSING = click.option(
    "--missing",
    type=click.Choice(["auto", "feature", "refuse"]),
    default="auto",
    show_default=True,
    help="What to do with an empty number: take 0 and mark it by a feature, which columns without a gap in the first "
    "rows share (auto) or each column has (feature); or refuse the file.",
)
FEATURES = click.option(
    "--features",
    "n_features",
    type=click.IntRange(1),
    metavar="N",
    help="Number of features of an svmlight file, or of hash buckets for words and categories.",
)

TABLES = {
    "text": TEXT,
    "categories": CATEGORIES,
    "numbers": NUMBERS,
    "vector": VECTOR,
    "decimal": DECIMAL,
    "encoder": ENCODER,
    "drop": DROP,
    "missing": MISSING,
    "delimiter": DELIMITER,
    "encoding": ENCODING,
    "n_features": FEATURES,
}
"""Options for converting rows of a table to instances, labelled or not."""

STREAMS = {
    "format": FORMAT,
    "label": click.option("--label", metavar="COLUMN", help="Column of labels."),
    "time": click.option("--time", metavar="COLUMN", help="Column of times."),
    "time_format": click.option(
        "--time-format",
        metavar="FORMAT",
        help="Format of times and dates, as in '%d/%m/%Y %H:%M'; by default detected.",
    ),
    "positive": click.option("--positive", metavar="LABEL", help="The label that counts as +1; others are -1."),
    "fold_labels": click.option(
        "--fold-labels", is_flag=True, help="Take labels that differ only by case or blanks for one."
    ),
    **TABLES,
    "zero_based": click.option("--zero-based", is_flag=True, help="Features of an svmlight file are numbered from 0."),
}
"""Options for reading a file of labelled instances."""


def reading(options: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Options that say how a file is read; the command is given them together as ``reading``."""

    def gathering(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def gathered(*args: Any, **kwargs: Any) -> Any:
            chosen = {name: kwargs.pop(name) for name in options}
            if chosen.get("delimiter") == "\\t":
                chosen["delimiter"] = "\t"
            return function(*args, reading=chosen, **kwargs)

        for option in reversed(options.values()):
            gathered = option(gathered)
        return gathered

    return gathering
