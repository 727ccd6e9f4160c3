"""Progress on the standard error: a bar, and a message while the first run compiles."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from ..command import Output


@contextlib.contextmanager
def progress_bar(out: Output, what: str, total: int | None, *columns: str) -> Iterator[Callable[..., None]]:
    """A bar on the standard error; gives a function that moves it and fills in its columns."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    shown = [TextColumn("{task.description}"), BarColumn(bar_width=24)]
    shown += [TextColumn(f"{{task.fields[{name}]}}") for name in columns]
    console = out.stderr()
    # Outside a terminal a bar does not move, and would leave an empty line.
    looks: dict[str, Any] = {"disable": out.quiet or not console.is_terminal, "transient": True}
    with Progress(*shown, TimeElapsedColumn(), console=console, redirect_stdout=False, **looks) as bar:
        fields: dict[str, Any] = dict.fromkeys(columns, "")
        task = bar.add_task(what, total=total, **fields)

        def move(done: int | None = None, **facts: Any) -> None:
            bar.update(task, completed=done, **facts)

        yield move


def is_cold() -> bool:
    """Whether nothing has been compiled yet."""
    from ...compiled.steps import cache_folder

    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbi"), None) is None


def say_if_compiling(out: Output) -> None:
    """Warn that the first run takes longer."""
    from ...compiled.notices import tell_nothing

    if out.quiet:
        tell_nothing()
    if is_cold():
        tell_nothing()
        out.say("Compiling, since this is the first run: up to half a minute for each kind of learner.")
