"""Several classes in the report of a run: recall and precision of each, and the confusion matrix."""

from __future__ import annotations

import math
from typing import Any

from ..evaluate.progress import Progress
from .page import boxed, details, section, table
from .scales import count, share
from .svg import escape

MOST_COLUMNS = 16
"""Largest number of classes with a column each; above it, the most frequent confusions are listed instead."""

_LISTED = 20


def classes(progress: Progress) -> str:
    """Rows and recall of each label, and the recall and precision that are estimated from the asked labels."""
    assert progress.classes is not None
    assert progress.confusion is not None
    by_label = progress.estimate.classes
    heads = ["label", "rows", "recall", "estimated recall", "estimated precision"]
    rows = []
    for k, (label, counts) in enumerate(zip(progress.classes, progress.confusion.tolist(), strict=True)):
        unpredicted = 0 if progress.unpredicted is None else int(progress.unpredicted[k])
        came, each = sum(counts) + unpredicted, by_label.get(label)
        known = [_with_ends(each.recall), _with_ends(each.precision)] if each is not None else ["", ""]
        rows.append([str(label), count(came), share(counts[k] / came) if came else "", *known])
    read = "This is a simulation, so all labels are known: the number of rows of each, and the share predicted right"
    read += "; then the estimates from the asked labels, with 95% intervals." if by_label else "."
    return section("Classes", read, table(heads, rows, "classes"))


def confusion(progress: Progress) -> str:
    """The confusion matrix or, where it would be too wide, the most frequent confusions."""
    assert progress.classes is not None
    assert progress.confusion is not None
    names, counts = [str(label) for label in progress.classes], progress.confusion.tolist()
    if len(names) > MOST_COLUMNS:
        return _most_frequent(names, counts)
    read = (
        "Number of rows by label and predicted class. The stronger a cell's colour, the larger its share of the label; "
    )
    read += "right predictions have a frame."
    return section("Confusion matrix", read, matrix_of(names, counts), _by_asked_labels(progress))


def matrix_of(names: list[str], counts: list[list[int]]) -> str:
    """Number of rows by label (rows) and predicted class (columns)."""
    cells = [[(count(n), n / max(sum(row), 1), a == b) for b, n in enumerate(row)] for a, row in enumerate(counts)]
    return _matrix("label", "predicted as", names, names, cells)


def _most_frequent(names: list[str], counts: list[list[int]]) -> str:
    pairs = [(n, a, b) for a, row in enumerate(counts) for b, n in enumerate(row) if a != b and n]
    most = sorted(pairs, reverse=True)[:_LISTED]
    rows = [[names[a], names[b], count(n), share(n / sum(counts[a]))] for n, a, b in most]
    read = (
        f"The {len(rows)} most frequent confusions, and the share of the label that was predicted as the other class."
    )
    heads = ["label", "predicted as", "rows", "share"]
    return section("Most frequent confusions", read, table(heads, rows, "confusions"))


def _by_asked_labels(progress: Progress) -> str:
    """The confusion matrix as estimated from the asked labels, which is what you would know live."""
    found = progress.estimate.confusion
    if not found:
        return ""
    names = [str(label) for label in progress.estimate.classes]
    cells = [
        [(_with_ends(cell), 0.0 if math.isnan(cell.value) else cell.value, a == b) for b, cell in enumerate(row)]
        for a, row in enumerate(found)
    ]
    read = "<p class='read'>Share of each label among the rows in which each class was predicted.</p>"
    return details(
        "Estimated from the asked labels, with 95% intervals", read + _matrix("predicted", "label", names, names, cells)
    )


def _matrix(
    rows: str, columns: str, row_names: list[str], column_names: list[str], cells: list[list[tuple[str, float, bool]]]
) -> str:
    """A table whose cells are the darker, the larger their shares are."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in column_names)
    over = f'<tr><th class="text" scope="col">{escape(rows)}</th>'
    over += f'<th colspan="{len(column_names)}">{escape(columns)}</th></tr>'
    body = "".join(
        f'<tr><th class="text" scope="row">{escape(name)}</th>'
        + "".join(
            f'<td class="cell{" own" if own else ""}" style="--share:{100 * shade:.0f}%">{escape(text)}</td>'
            for text, shade, own in row
        )
        + "</tr>"
        for name, row in zip(row_names, cells, strict=True)
    )
    made = f'<table class="matrix"><thead>{over}<tr><th></th>{head}</tr></thead><tbody>{body}</tbody></table>'
    return boxed(made, f"{rows} and {columns}")


def _with_ends(found: Any) -> str:
    known = share(found.value) if found.is_known else "not known yet"
    return f"{known} ({share(found.low)} to {share(found.high)})"
