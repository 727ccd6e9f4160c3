"""Options that several commands share, and how their values are written."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import click


class Written(float):
    """A number that is written as it was given."""

    given: str


class AlgorithmName(click.ParamType[str]):
    """The name of an algorithm."""

    name = "name"

    def convert(self, value: Any, param: Any, ctx: Any) -> str:
        """A name that there is."""
        import difflib

        from ..algorithms import algorithms

        known = list(algorithms())
        if str(value).lower() not in known:
            near = difflib.get_close_matches(str(value).lower(), known, 3, 0.5)
            hint = f", perhaps {' or '.join(near)}" if near else ""
            self.fail(f"there is no {value!r}{hint}; `askwhen algorithms` lists them all.", param, ctx)
        return str(value)


class Share(click.ParamType[float]):
    """A share of labels: 10% or 0.1."""

    name = "share"

    def __init__(self, below: bool = False) -> None:
        self._below = below

    def convert(self, value: Any, param: Any, ctx: Any) -> float:
        """A number above 0 and up to 1."""
        if isinstance(value, Written):
            return value
        text = str(value).strip()
        try:
            found = float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
        except ValueError:
            found = 0.0
        if not 0.0 < found <= 1.0:
            self.fail(f"{text!r} is no share of labels; write 10% or 0.1.", param, ctx)
        if self._below and found == 1.0:
            self.fail(
                "shares here are below 100%; name an algorithm that asks for every label beside them.", param, ctx
            )
        made = Written(found)
        made.given = text
        return made


class Listed(click.ParamType[list[Any]]):
    """Values with commas between."""

    def __init__(self, each: Any, name: str) -> None:
        self.each = each
        self.name = name

    def convert(self, value: Any, param: Any, ctx: Any) -> list[Any]:
        """A list of at least one value."""
        if isinstance(value, list):
            return value
        parts = [part.strip() for part in str(value).split(",") if part.strip()]
        if not parts:
            self.fail("give at least one.", param, ctx)
        found: list[Any] = Given(self.each.convert(part, param, ctx) for part in parts)
        found.given = str(value)  # type: ignore[attr-defined]
        return found


class Given(list[Any]):
    """A list that remembers how it was written."""

    given: str


class Setting(click.ParamType[tuple[str, Any]]):
    """A letter and its value, as in a=0.05; for one algorithm of several, lasec-ss.a=0.05."""

    name = "letter=value"

    def convert(self, value: Any, param: Any, ctx: Any) -> tuple[str, Any]:
        """The letter and a number, or true or false."""
        if isinstance(value, tuple):
            return value
        letter, equals, text = str(value).partition("=")
        if not letter or not equals:
            self.fail(f"{value!r} is no setting; write a letter and its value, as in a=0.05.", param, ctx)
        found: Any = {"true": True, "false": False}.get(text.strip().lower())
        if found is None:
            try:
                found = float(text)
            except ValueError:
                self.fail(f"{text!r} is neither a number nor true or false.", param, ctx)
            found = int(found) if found.is_integer() and "." not in text and "e" not in text.lower() else found
        return Pair((letter.strip(), found))


class Pair(tuple[str, Any]):
    """A setting that is written as it was given."""

    @property
    def given(self) -> str:
        """As in a=0.05."""
        return f"{self[0]}={self[1]}"


def _complete_algorithm(ctx: Any, param: Any, incomplete: str) -> list[str]:
    from ..algorithms import algorithms

    before, comma, last = incomplete.rpartition(",")
    return [before + comma + name for name in algorithms() if name.startswith(last.lower())]


ALGORITHM = functools.partial(click.option, shell_complete=_complete_algorithm)

SETTINGS = click.option(
    "--set",
    "settings",
    type=Setting(),
    multiple=True,
    help="A letter of the algorithm, as in --set a=0.05; may be given again and again.",
)
RAW = click.option("--raw", is_flag=True, help="Take instances as they are, without scaling them.")
SEED = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seeds the coins.")


def reading(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say how a file is read; the command is given them as ``reading``."""
    options = {
        "format": click.option(
            "--format",
            type=click.Choice(["svmlight", "vw", "csv", "tsv", "parquet", "ndjson"]),
            help="What the file holds; by default what its name says.",
        ),
        "label": click.option("--label", metavar="COLUMN", help="The column of labels."),
        "text": click.option("--text", metavar="COLUMN", help="A column of text, whose words are hashed."),
        "time": click.option("--time", metavar="COLUMN", help="The column of times."),
        "drop": click.option("--drop", metavar="COLUMN", multiple=True, help="A column to leave out."),
        "positive": click.option("--positive", metavar="LABEL", help="The label that counts as +1; others are -1."),
        "n_features": click.option(
            "--features", "n_features", type=click.IntRange(1), metavar="N", help="How many features there are."
        ),
        "zero_based": click.option("--zero-based", is_flag=True, help="Features of an svmlight file count from 0."),
    }

    @functools.wraps(function)
    def gathered(*args: Any, **kwargs: Any) -> Any:
        chosen = {name: kwargs.pop(name) for name in options}
        return function(*args, reading=chosen, **kwargs)

    for option in reversed(options.values()):
        gathered = option(gathered)
    return gathered
