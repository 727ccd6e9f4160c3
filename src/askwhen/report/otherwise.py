"""Tables of what one would have had otherwise: models that are refitted again and again, with as many labels."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..evaluate.comparison.comparing import Cell, Comparison
from ..evaluate.progress import Progress
from .page import boxed, note, section
from .scales import count, loss, measure, share, wanted
from .svg import escape

TITLE = "What you would have had otherwise"


def short_name(name: str) -> str:
    """The name of a refitted model on a page that says how the models are refitted."""
    return name.replace(", refitted, labels ", " ")


def points(difference: float) -> str:
    """A difference of two accuracies."""
    return f"{100 * difference:.1f} points".replace("-", "\N{MINUS SIGN}")


def of_run(progress: Progress) -> str:
    """The table beside a run; nothing where no model was played."""
    if not progress.refitted:
        return ""
    regression = progress.estimate is None
    labels = count(round(float(progress.running.question_rate[-1]) * int(progress.rounds[-1])))
    if regression:
        heads, own = ["mean squared error"], [loss(progress.error)]
    else:
        heads, own = ["accuracy", "this run is better by"], [share(1 - progress.error), ""]
    rows = [_row("this run", [*own, labels, ""], best=True)]
    for each in sorted(progress.refitted, key=lambda each: each.score, reverse=not regression):
        score = [loss(each.score)] if regression else [share(each.score), points(1 - progress.error - each.score)]
        rows.append(_row(short_name(each.name), [*score, count(each.labels), count(each.refits)]))
    return _table("this run", [*heads, "labels", "refits"], [rows], progress.left_out)


def of_comparison(comparison: Comparison) -> str:
    """The table beside a comparison, at each share of labels; nothing where no model was played.

    The models are compared with the first algorithm that chooses its labels: the best one is known in hindsight only.
    """
    groups, first = [], ""
    for part in sorted({cell.share for cell in comparison.refitted}):
        own = next((cell for cell in comparison.cells if math.isclose(cell.share, part, rel_tol=1e-9)), None)
        first = first if own is None else own.algorithm
        others = sorted((cell for cell in comparison.refitted if cell.share == part), key=lambda cell: -cell.mean)
        cells = others if own is None else [own, *others]
        groups.append([_row_of(cell, own, int(comparison.rounds[-1])) for cell in cells])
    if not groups:
        return ""
    heads = ["accuracy", f"{first} is better by" if first else "", "± 95%", "labels", "refits", "seconds"]
    return _table(first or "algorithms", heads, groups, comparison.left_out)


def _row_of(cell: Cell, own: Cell | None, rows: int) -> str:
    texts = [
        share(cell.mean),
        "" if own is None or cell is own else points(own.mean - cell.mean),
        f"{cell.margin_of_error:.1%}" if math.isfinite(cell.margin_of_error) else "\N{EN DASH}",
        count(float(cell.asked.mean()) * rows),
        "" if cell.refits is None else count(cell.refits),
        measure(cell.seconds),
    ]
    name = f"{cell.algorithm}, {wanted(cell.share)} of the labels" if cell is own else short_name(cell.algorithm)
    return _row(name, texts, best=cell is own)


def _row(name: str, texts: Sequence[str], *, best: bool = False) -> str:
    numbers = "".join(f"<td>{escape(text)}</td>" for text in texts)
    kind = ' class="best"' if best else ""
    return f'<tr{kind}><th scope="row" class="text">{escape(name)}</th>{numbers}</tr>'


def _table(own: str, heads: Sequence[str], groups: Sequence[Sequence[str]], left_out: Sequence[str]) -> str:
    read = (
        f"Models of scikit-learn, fitted again whenever their labels have grown by about 15%. Like {own}, they predict "
        "each row before they may ask for its label, and see nothing that comes later. They ask for as many labels: at "
        "random, or by margin, where the two best probabilities are closest."
    )
    names = "".join(f'<th scope="col">{escape(head)}</th>' for head in heads)
    bodies = "".join(f"<tbody>{''.join(rows)}</tbody>" for rows in groups)
    content = f'<table><thead><tr><th scope="col" class="text">model</th>{names}</tr></thead>{bodies}</table>'
    return section(TITLE, read, boxed(content, TITLE.lower()), note(" ".join(left_out)), long=True)
