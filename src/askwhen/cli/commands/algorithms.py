"""``askwhen algorithms``: what there is to choose from."""

from __future__ import annotations

import click

from ..command import Output, command


@command
@click.argument("name", required=False)
def algorithms(out: Output, name: str | None) -> None:
    """List the algorithms: letters, paper, one line.

    NAME shows one of them alone. The letter with a star says how much is asked; letters with a value have it unless
    --set says otherwise.
    """
    from ... import algorithms as catalogue
    from ..terminal.show import algorithm_table

    found = list(catalogue.algorithms().values()) if name is None else [catalogue.algorithm(name)]
    facts = [
        {
            "name": each.name,
            "letters": {letter: each.usual().get(letter) for letter in each.letters},
            "scale": each.scale,
            "source": each.source,
            "line": each.line,
        }
        for each in found
    ]
    out.result(facts, algorithm_table(facts))
