"""``askwhen data``: list the data sets, and download them."""

from __future__ import annotations

import click

from ..command import Output, command


def _complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
    from ...data import names

    return [name for name in names() if name.startswith(incomplete.lower())]


@command
@click.argument("name", required=False, shell_complete=_complete)
@click.option("--url", metavar="ADDRESS", help="URL of a directory with the files of the data set, under their names.")
def data(out: Output, name: str | None, url: str | None) -> None:
    """List the data sets, or fetch one.

    NAME is taken from the directory that ASKWHEN_DATA names, from the cache, or downloaded from --url to the cache.

    Every file is checked by its SHA-256. The other commands accept the name of a fetched data set in place of a file.
    """
    from ...data import sets
    from ..terminal import show, tables

    if name is None:
        facts = [
            {"name": each, "files": list(found), "missing": [file for file in found if not sets.is_here(file)]}
            for each, found in sets.files().items()
        ]
        out.result(facts, show.data_table(facts))
        return
    found = sets.load(name, url=url)
    n, d = found.X.shape
    about = {
        "name": name.lower(),
        "instances": n,
        "test_instances": 0 if found.X_test is None else found.X_test.shape[0],
        "features": d,
        "classes": list(found.names),
        "drifts": found.drifts,
        "sparse": hasattr(found.X, "tocsr"),
        "files": [str(sets.fetch(file)) for file in sets.files()[name.lower()]],
    }
    out.result(about, tables.facts_table(about))
