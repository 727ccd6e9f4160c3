"""What all commands have in common: --json, --quiet, --debug, errors in one sentence, exit codes."""

from __future__ import annotations

import functools
import json
import math
import os
import re
import shlex
import sys
import traceback
from collections.abc import Callable, Iterable
from typing import Any, NoReturn

import click
from click.core import ParameterSource


class Out:
    """Where a command writes: results to the standard output, everything else to the standard error."""

    def __init__(self, json: bool, quiet: bool, debug: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.debug = debug

    def say(self, text: str) -> None:
        """A message for the person who looks on."""
        if not self.quiet:
            click.echo(text, err=True)

    def result(self, facts: Any, *shown: Any) -> None:
        """What came of it: facts as JSON, or what is shown to a person."""
        if self.json:
            click.echo(json.dumps(_plain(facts), indent=2, allow_nan=False))
            return
        from rich.console import Console

        console = Console(highlight=False, width=160)
        if sys.stdout.isatty():
            console = Console(highlight=False)
            console.width = max(console.width, 60)
        with console.capture() as captured:
            for each in shown:
                console.print(each)
        click.echo("\n".join(line.rstrip() for line in captured.get().splitlines()))

    def stderr(self) -> Any:
        """A console for progress."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, quiet=self.quiet)


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and dicts that JSON knows; what is no finite number becomes null."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def command(function: Callable[..., Any]) -> click.Command:
    """A command that is given ``out``, and whose errors are one sentence and exit code 1."""

    @functools.wraps(function)
    def guarded(*args: Any, json: bool, quiet: bool, debug: bool, **kwargs: Any) -> None:
        out = Out(json, quiet, debug)
        try:
            function(out, *args, **kwargs)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except BrokenPipeError:
            # Whoever read has had enough; what is still buffered must not raise again at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except KeyboardInterrupt:
            _fail(out, "interrupted.")
        except Exception as error:
            _fail(out, _sentence(error))

    shared = (
        click.option("--json", is_flag=True, help="Print the results as JSON."),
        click.option("--quiet", "-q", is_flag=True, help="No progress and no messages."),
        click.option("--debug", is_flag=True, help="Show where an error comes from."),
    )
    for option in reversed(shared):
        guarded = option(guarded)
    return click.command()(guarded)


def _sentence(error: Exception) -> str:
    from ..errors import AskwhenError

    if isinstance(error, AskwhenError):
        # The library names its functions and their arguments; here they are commands and options.
        said = re.sub(r"^(\w+: )", "", str(error))
        return re.sub(
            r"\b(label|text|drop|positive|format|features|url)=", r"--\1", said.replace("n_features=", "features=")
        )
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return f"an error that should not happen, {type(error).__name__}: {error}; --debug shows where."


def _fail(out: Out, sentence: str) -> NoReturn:
    if out.debug:
        traceback.print_exc()
    click.echo(f"askwhen: {sentence}", err=True)
    sys.exit(1)


def again(drop: Iterable[str] = (), add: Iterable[str] = ()) -> str:
    """The command line that was given, quoted, without some options and with others."""
    context = click.get_current_context()
    words, dropped = [context.command_path], {"json", "quiet", "debug", *drop}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name in dropped or context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            words.append(shlex.quote(str(value)))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
        else:
            values = value if parameter.multiple else [value]
            words += [f"{parameter.opts[0]} {shlex.quote(_written(each))}" for each in values]
    return " ".join([*words, *add])


def _written(value: Any) -> str:
    return value.given if hasattr(value, "given") else str(value)
