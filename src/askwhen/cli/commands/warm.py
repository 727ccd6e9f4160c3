"""``askwhen warm``: compile ahead, for images and services."""

from __future__ import annotations

import time

import click

import askwhen as aw

from ..command import Output, command
from ..options import several_algorithms
from ..terminal.progress import progress_bar
from ..terminal.tables import facts_table


@command
@several_algorithms("default")
@click.option("--service", is_flag=True, help="Compile only what streams of the service need.")
def warm(out: Output, algorithms: list[str], service: bool) -> None:
    """Compile algorithms before their first use.

    The first use of an algorithm compiles it, which takes seconds, and stores the result for every later process of
    the same user. This command does it now, for dense and sparse features: when a container image is built, or before a
    service starts.

    \b
    askwhen warm
    askwhen warm --algorithms default,lasec-ss
    askwhen warm --service
    """
    from ...algorithms import algorithm
    from ...compiled.notices import tell_nothing
    from ...compiled.steps import cache_folder

    if service:
        from ...service.process.precompile import compile_streams
    tell_nothing()
    folder, started, took = cache_folder(), time.perf_counter(), {}
    if folder is None:
        raise aw.InputError("there is no directory for compiled code; set XDG_CACHE_HOME to one.")
    with progress_bar(out, "compiling", len(algorithms), "what") as move:
        for at, name in enumerate(algorithms):
            begun = time.perf_counter()
            if service:
                move(at, what=name)
                compile_streams(name)
            else:
                sampler = algorithm(name).build(share=0.5, prepare=aw.Prepare())
                aw.warm(
                    sampler,
                    watch=lambda done, total, what, at=at, name=name: move(at + done / total, what=f"{name}, {what}"),  # type: ignore[misc]
                )
            took[name] = time.perf_counter() - begun
    facts = {"seconds": time.perf_counter() - started, "algorithms": took, "folder": str(folder)}
    shown = {name: f"{seconds:.1f} seconds" for name, seconds in took.items()}
    out.result(facts, facts_table(shown | {"steps in": str(folder)}))
