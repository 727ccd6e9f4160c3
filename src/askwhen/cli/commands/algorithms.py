"""``askwhen algorithms``: list the algorithms."""

from __future__ import annotations

import click

from ..command import Output, command


@command
@click.argument("name", required=False)
def algorithms(out: Output, name: str | None) -> None:
    """List the algorithms with their hyperparameters and papers.

    NAME shows only one of them. The hyperparameter with a star sets how many labels are asked for; the values that are
    shown are the defaults, which --set changes.
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
