"""What all commands share: --json, --quiet, --debug, errors in one sentence, exit codes."""

from __future__ import annotations

import functools
import io
import json
import math
import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NoReturn

import click
from click.core import ParameterSource

from ..errors import ArgumentsError, AskwhenError, CacheWarning, InputWarning, Wording
from ..system.extras import extra_of, missing_extra
from .options import ColumnName, ColumnNames

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_BROKEN_PIPE = "broken pipe"


class Output:
    """The output of a command: results go to the standard output, everything else to the standard error."""

    def __init__(self, json: bool, quiet: bool, debug: bool) -> None:
        self.json = json
        self.quiet = quiet
        self.debug = debug
        self.broken = ""
        self._warned: set[str] = set()
        # Characters that the terminal's encoding lacks are replaced, as are file names that are not valid text.
        for stream, errors in ((sys.stdout, "replace"), (sys.stderr, "backslashreplace")):
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors=errors)

    def say(self, text: str) -> None:
        """Print a message on the standard error, unless --quiet was given."""
        if not self.quiet:
            click.echo(text, err=True)

    def warn(self, text: str) -> None:
        """Print a warning once: a file may be read several times."""
        if text not in self._warned:
            self._warned.add(text)
            self.say(text)

    def result(self, facts: Any, *shown: RenderableType) -> None:
        """Print the result: facts as JSON, or what is shown to a person.

        If the standard output is closed the command continues, since there may be files to write, and fails at its end.
        """
        self.print(json.dumps(_plain(facts), indent=2, allow_nan=False) if self.json else self._shown(shown))

    def print(self, text: str) -> None:
        """Write a text to the standard output."""
        if sys.stdout is None:
            self.broken = "the standard output is closed."
        if self.broken:
            return
        try:
            _write_all(f"{text}\n")
        except BrokenPipeError:
            self._close_output(_BROKEN_PIPE)
        except OSError as error:
            self._close_output(f"the results cannot be printed: {error.strerror}.")

    def _close_output(self, why: str) -> None:
        """Redirect the output, so that buffered text does not raise another error at exit."""
        self.broken = why
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _shown(self, shown: Iterable[RenderableType]) -> str:
        """The text that a person sees."""
        import shutil

        from rich.console import Console

        terminal = sys.stdout is not None and sys.stdout.isatty()
        width = max(shutil.get_terminal_size().columns, 60) if terminal else 160
        text = io.StringIO()
        console = Console(file=text, force_terminal=terminal, highlight=False, width=width)
        for each in shown:
            console.print(each)
        return "\n".join(line.rstrip() for line in text.getvalue().splitlines())

    def stderr(self) -> Console:
        """A console for progress."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, quiet=self.quiet)


def _write_all(text: str) -> None:
    """Write all of a text to the standard output, which may accept only a part of it at a time if it is unbuffered."""
    stream = sys.stdout
    if not isinstance(stream, io.TextIOWrapper):
        stream.write(text)
        stream.flush()
        return
    stream.flush()
    rest = memoryview(text.replace("\n", os.linesep).encode(stream.encoding, stream.errors or "strict"))
    while len(rest):
        rest = rest[stream.buffer.write(rest) :]
    stream.buffer.flush()


def _plain(value: Any) -> Any:
    """Numbers, texts, lists and dicts that JSON knows; a number that is not finite becomes null."""
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
        out = Output(json, quiet, debug)
        warnings.showwarning = functools.partial(_show_warning, out, warnings.showwarning)
        try:
            function(out, *args, **kwargs)
            if out.broken == _BROKEN_PIPE:  # the reading program has closed the pipe, and reports its own status
                sys.exit(1)
            if out.broken:
                _fail(out, out.broken)
        except (click.ClickException, click.exceptions.Exit):
            raise
        except KeyboardInterrupt:
            _fail(out, "interrupted.")
        except ArgumentsError as error:
            raise click.UsageError(_sentence(error)) from error
        except Exception as error:
            _fail(out, _sentence(error), suggested_command(error))

    shared = (
        click.option("--json", is_flag=True, help="Print the results as JSON."),
        click.option("--quiet", "-q", is_flag=True, help="Print no progress and no messages."),
        click.option("--debug", is_flag=True, help="Print the traceback of an error."),
    )
    for option in reversed(shared):
        guarded = option(guarded)
    return click.command()(guarded)


def _show_warning(
    out: Output, usual: Callable[..., None], message: Warning | str, category: type[Warning], *where: Any
) -> None:
    """Print our own warnings as messages; others are for developers, and shown as usual."""
    if issubclass(category, (CacheWarning, InputWarning)):
        out.warn(str(message))
    else:
        usual(message, category, *where)


def _sentence(error: Exception) -> str:
    if isinstance(error, AskwhenError):
        return error.told(OptionNames(error))  # without the name of the library's function
    if isinstance(error, ImportError) and (extra := extra_of(error)) is not None:
        return missing_extra(error, extra, "this command").sentence
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return f"an unexpected error, {type(error).__name__}: {error}; --debug shows where."


class OptionNames(Wording):
    """Words error messages for the command line: arguments are options, and instances are those of a file."""

    def __init__(self, error: AskwhenError) -> None:
        self._file, self._played = error.file, getattr(error, "played", 0)

    def argument(self, name: str, value: str) -> str:
        """An option, or an option with its value."""
        option = {"n_features": "--features"}.get(name, f"--{name.replace('_', '-')}")
        if name == "target":
            option, value = _TARGETS[value]
            value = "" if value == "open" and not _opens() else value
        return option if value in ("", "True") else f"{option} {_quoted(value)}"

    def row(self, i: int) -> str:
        """One of the instances, by its number in the whole file."""
        return f"instance {self._played + i:,}" + (f" of {self._file}" if self._file else "")

    def instances(self) -> str:
        """All that came after those that were played."""
        return f"{self._file}, after instance {self._played:,}," if self._file else "the input"


def show_error(out: Output, error: Exception) -> None:
    """Print an error in one sentence."""
    if out.debug:
        traceback.print_exception(error)
    click.echo(f"askwhen: {_sentence(error)}", err=True)


def _fail(out: Output, sentence: str, instead: str = "") -> NoReturn:
    if out.debug:
        traceback.print_exc()
    click.echo(f"askwhen: {sentence}", err=True)
    if instead:
        out.say(f"Perhaps:\n  {instead}")
    sys.exit(1)


_TARGETS = {"class": ("--classes", "open"), "number": ("--algorithm", "regression")}
"""The option for each ``target`` of the library: whether labels are classes or numbers."""


def suggested_command(error: Exception) -> str:
    """The command that was given, changed as an error suggests; empty if it suggests nothing."""
    suggested = dict(getattr(error, "mend", {}))
    context = click.get_current_context()
    options = {str(each.name): each.opts[0] for each in context.command.params}
    if "target" in suggested and context.params.get("resume"):
        return ""  # a resumed sampler keeps what its labels are
    if "target" in suggested:
        option, value = _TARGETS[suggested.pop("target")]
        if value == "open" and not _opens():
            value = ",".join(map(str, getattr(error, "got", None) or ()))
        suggested[option.removeprefix("--")] = value
    if not suggested or not all(name in options and (value or value == ()) for name, value in suggested.items()):
        return ""
    add = [
        options[name] if value is True else f"{options[name]} {_quoted(_written(value))}"
        for name, value in suggested.items()
        if value
    ]
    return command_line(drop=suggested, add=add)


def _opens() -> bool:
    """Whether the command takes ``--classes open``; others must know all classes from the start."""
    return click.get_current_context().info_name in ("run", "plan")


def _quoted(value: str) -> str:
    """A value as it is typed in a shell."""
    return shlex.quote(value.replace("\t", "\\t"))


def given_options() -> list[str]:
    """The options that were given, by the names of their parameters."""
    context = click.get_current_context()
    return [name for name in context.params if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]


def command_line(drop: Iterable[str] = (), add: Iterable[str] = ()) -> str:
    """The command that was given, quoted, without some options and with others."""
    context = click.get_current_context()
    words, wanted = [context.command_path], set(given_options()) - {"json", "quiet", "debug", *drop}
    for parameter in context.command.params:
        name = str(parameter.name)
        if name not in wanted:
            continue
        value = context.params[name]
        if isinstance(parameter, click.Argument):
            words.append(shlex.quote(str(value)))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append(parameter.opts[0])
        else:
            values = value if parameter.multiple and not isinstance(parameter.type, ColumnNames) else [value]
            words += [f"{parameter.opts[0]} {shlex.quote(_written(each))}" for each in values]
    return " ".join([*words, *add])


def _written(value: Any) -> str:
    if isinstance(value, tuple) and not hasattr(value, "given"):
        return ",".join(ColumnName(each).given for each in value)
    return value.given if hasattr(value, "given") else str(value)
