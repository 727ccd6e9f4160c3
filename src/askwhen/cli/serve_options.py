"""Options that may come from the command line, the environment or a file, made from the service's table of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from ..errors import InputError
from ..service.process.configuration import (
    BY_NAME,
    OPTIONS,
    ROLES,
    Option,
    from_environment,
    read_file,
    unknown_variables,
)

_FILE = "askwhen.cli.serve_options"


class Configured(click.Option):
    """An option that knows where its value came from, and says so where it is refused."""

    def __init__(self, *args: Any, option: Option, **kwargs: Any) -> None:
        self.option = option
        super().__init__(*args, **kwargs)

    def resolve_envvar_value(self, ctx: click.Context) -> str | None:
        """The value in the environment, or in the file that the environment names."""
        try:
            return from_environment(self.option)[0]
        except InputError as error:
            raise click.UsageError(error.sentence) from error

    def type_cast_value(self, ctx: click.Context, value: Any) -> Any:
        """The value, or a refusal that names the file or the variable."""
        try:
            found = super().type_cast_value(ctx, value)
            if found != found:
                raise click.BadParameter("nan is not a number.", ctx, self)
        except click.BadParameter as error:
            where = source_of(ctx, self.option)
            if where == "command line":
                raise
            raise click.UsageError(f"{where}: {self.option.name}: {error.message}") from error
        if self.option.kind != "list":
            return found
        return tuple(part.strip() for each in found for part in each.split(",") if part.strip())

    def value_from_envvar(self, ctx: click.Context) -> Any:
        """A list is one text in the environment, with commas."""
        value = self.resolve_envvar_value(ctx)
        return [value] if value is not None and self.option.kind == "list" else super().value_from_envvar(ctx)


def source_of(ctx: click.Context, option: Option) -> str:
    """The origin of a value: the command line, a variable, a file, or the default."""
    source = ctx.get_parameter_source(option.key)
    if source is ParameterSource.ENVIRONMENT:
        return from_environment(option)[1]
    if source is ParameterSource.DEFAULT_MAP:
        return str(ctx.meta[_FILE])
    return "command line" if source is ParameterSource.COMMANDLINE else "default"


def option(name: str) -> Callable[[Any], Any]:
    """One option of the table, for a command."""
    found = BY_NAME[name]
    given: dict[str, Any] = {"help": found.help, "metavar": found.metavar, "envvar": found.variable}
    if found.kind == "switch":
        given |= {"is_flag": True, "metavar": None}
    elif found.kind in ("file", "folder"):
        is_file = found.kind == "file"
        given["type"] = click.Path(exists=True, file_okay=is_file, dir_okay=not is_file)
    elif found.kind == "list":
        given["multiple"] = True
    elif found.kind == "whole":
        given["type"] = click.IntRange(_whole(found.least), _whole(found.most))
    elif found.kind == "number":
        given["type"] = click.FloatRange(found.least, found.most)
    if found.default not in (None, False, "", ()):
        given |= {"show_default": True}
    return click.option(f"--{name}", found.key, cls=Configured, option=found, default=found.default, **given)


def _whole(limit: float | None) -> int | None:
    return None if limit is None else int(limit)


def _load(ctx: click.Context, parameter: click.Parameter, path: str | None) -> str | None:
    if path is not None and not ctx.resilient_parsing:
        try:
            ctx.default_map = read_file(path)
        except InputError as error:
            raise click.UsageError(error.sentence) from error
        ctx.meta[_FILE] = path
    return path


def configured(function: Any) -> Any:
    """Every option of the table, the file that may hold them, and one that shows them."""
    function = click.option(
        "--show-config",
        is_flag=True,
        help="Print all options with their values and where each value came from, then exit.",
    )(function)
    for each in reversed(OPTIONS):
        function = option(each.name)(function)
    return click.option(
        "--config",
        metavar="FILE",
        is_eager=True,
        callback=_load,
        envvar="ASKWHEN_CONFIG",
        show_envvar=True,
        help="A TOML file with any of these options, under the same names.",
    )(function)


def roles(ctx: click.Context) -> dict[str, Any]:
    """The roles of people whom a proxy or a provider signs in, from the file."""
    found = (ctx.default_map or {}).get(ROLES)
    if found is None:
        return {}
    from ..service.http.role_table import checked_roles

    return checked_roles(found, str(ctx.meta[_FILE]))


def effective(ctx: click.Context) -> dict[str, dict[str, Any]]:
    """Every option by its name: its value without secrets, and where it came from."""
    return {each.name: {"value": each.shown(ctx.params[each.key]), "from": source_of(ctx, each)} for each in OPTIONS}


def ignored() -> list[str]:
    """A message for each environment variable that looks like an option and is not one."""
    return [f"{name} is not an option of askwhen serve, and is ignored." for name in unknown_variables()]
