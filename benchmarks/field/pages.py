"""Tables of the cells, who leads, and a picture for each stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from askwhen.report.figures import FigureLine, line_figure

from .cells import DONE, FAILED, LEFT_OUT, STOPPED, Cell, Key
from .contract import Method, Source
from .methods.askwhen_sampler import DEFAULT
from .results import Played, leading, mean_of, text_of

Cells = dict[Key, Cell]
Condition = tuple[int, float]
"""How late labels are, and their share."""

MARKER = "<!-- streams: what follows is written by benchmarks/field_table.py -->"
LEADERS, LOST, RUN = "who leads", "where another method leads", "what has been run"


def when(delay: int) -> str:
    """How late labels are, in words."""
    return "at once" if delay <= 1 else f"{delay:,} late"


def said(condition: Condition) -> str:
    """A condition in words."""
    return f"{100 * condition[1]:g} %, {when(condition[0])}"


def conditions(cells: Cells) -> list[Condition]:
    """All that there are: at once first, and many labels first."""
    return sorted({(key.delay, key.share) for key in cells}, key=lambda each: (each[0], -each[1]))


def results(cells: Cells, stream: str, condition: Condition) -> dict[str, list[Played]]:
    """The finished cells of a stream, by their methods."""
    return {
        key.method: cell.played
        for key, cell in cells.items()
        if key.stream == stream and (key.delay, key.share) == condition and cell.state == DONE
    }


def is_complete(cells: Cells, stream: str, condition: Condition, methods: Sequence[str]) -> bool:
    """Whether every method has been played, or has a reason why not."""
    return all(Key(stream, method, condition[1], condition[0]) in cells for method in methods)


def text(cell: Cell | None, key: Key, leads: bool) -> str:
    """A cell of a table."""
    if cell is None:
        return ""
    if cell.state == DONE:
        return text_of(cell.played, key.share, leads)
    return {LEFT_OUT: "-", STOPPED: f"over {cell.minutes:g} min", FAILED: "failed"}[cell.state]


def of_stream(cells: Cells, stream: str, methods: Sequence[str]) -> dict[str, Any]:
    """The table of one stream: a row for each method, a column for each share and delay."""
    columns = [each for each in conditions(cells) if results(cells, stream, each)]
    leads = {each: leading(results(cells, stream, each), each[1]) for each in columns}
    rows = []
    for method in methods:
        keys = [Key(stream, method, share, delay) for delay, share in columns]
        if any(key in cells for key in keys):
            rows.append([method, *(text(cells.get(key), key, method in leads[key.delay, key.share]) for key in keys)])
    return {"columns": ["", *map(said, columns)], "rows": rows, "right": list(range(1, len(columns) + 1))}


def who_leads(cells: Cells, streams: Sequence[str], methods: Sequence[str]) -> dict[str, Any]:
    """For each share and delay, on how many complete streams each method leads."""
    rows = []
    for condition in conditions(cells):
        complete = [name for name in streams if is_complete(cells, name, condition, methods)]
        found = Counter(who for name in complete for who in leading(results(cells, name, condition), condition[1]))
        ranked = sorted(found, key=lambda who: (-found[who], methods.index(who)))
        others = ", ".join(f"{who} {found[who]}" for who in ranked if who != DEFAULT)
        rows.append([said(condition), str(len(complete)), str(found[DEFAULT]), others])
    return {"columns": ["labels", "streams", DEFAULT, "others"], "rows": rows, "right": [1, 2]}


def lost(cells: Cells, streams: Sequence[str], methods: Sequence[str]) -> dict[str, Any]:
    """Where the default does not lead: who does, and both accuracies; the largest differences first."""
    found = []
    for condition in conditions(cells):
        for name in streams:
            there = results(cells, name, condition)
            leaders = leading(there, condition[1])
            if is_complete(cells, name, condition, methods) and DEFAULT not in leaders and DEFAULT in there:
                who = min(leaders, key=methods.index)
                ahead = mean_of(there[who]).accuracy - mean_of(there[DEFAULT]).accuracy
                texts = [text_of(there[each], condition[1], False) for each in (who, DEFAULT)]
                found.append((ahead, [name, said(condition), who, *texts, f"{100 * ahead:.1f}"]))
    found.sort(key=lambda each: -round(each[0], 6))
    columns = ["stream", "labels", "who leads", "its accuracy", "the default's", "points ahead"]
    rows = [row for _, row in found] or [["none", *[""] * (len(columns) - 1)]]
    return {"columns": columns, "rows": rows, "right": [3, 4, 5]}


def what_was_run(cells: Cells, sources: dict[str, Source], methods: Sequence[str], wanted: int) -> dict[str, Any]:
    """How much of the table there is, by stream; the last row names those that have not been played."""
    rows = []
    played = [name for name in sources if any(key.stream == name for key in cells)]
    for name in played:
        there = [cell for key, cell in cells.items() if key.stream == name]
        states = Counter(cell.state for cell in there)
        finished = states[DONE] + states[LEFT_OUT] + states[STOPPED]
        whole = [said(each) for each in conditions(cells) if is_complete(cells, name, each, methods)]
        counts = [states[STOPPED], states[FAILED], max(len(cell.played) for cell in there)]
        rows.append([name, f"{finished} of {wanted}", *map(str, counts), "; ".join(whole) or "none"])
    if missing := [name for name in sources if name not in played]:
        rows.append(["not yet: " + "; ".join(missing), f"0 of {wanted}", "", "", "", ""])
    columns = ["stream", "cells", "stopped", "failed", "seeds", "complete for all methods"]
    return {"columns": columns, "rows": rows, "right": [1, 2, 3, 4]}


def picture(cells: Cells, stream: str, methods: dict[str, Method], delay: int) -> str | None:
    """Accuracy against the share of labels that come so late: the best method of each package."""
    there = [results(cells, stream, each) for each in reversed(conditions(cells)) if each[0] == delay]
    if len(there) < 2:
        return None
    most = there[-1]
    best: dict[str, str] = {}
    for method in (each for each in methods if each in most):
        family = method if methods[method].package == "askwhen" else methods[method].package
        if family not in best or mean_of(most[method]).accuracy > mean_of(most[best[family]]).accuracy:
            best[family] = method
    lines = []
    for method in best.values():
        points = sorted((mean_of(each[method]) for each in there if method in each), key=lambda point: point.asked)
        lines.append(FigureLine(method, [p.asked for p in points], [p.accuracy for p in points]))
    if len(lines) < 2:
        return None
    late = "labels at once" if delay <= 1 else f"labels {delay:,} rounds late"
    title = f"{stream}, {late}: the best of each package"
    return line_figure(lines, title=title, across="share of labels asked for", up="accuracy", shares_across=True)


def sections(cells: Cells, sources: dict[str, Source], pictures: dict[str, list[str]]) -> str:
    """The part of the page with the streams: what each is, its pictures, and where its table goes."""
    parts = []
    for name, source in sources.items():
        if any(key.stream == name for key in cells):
            shown = "".join(
                f"![{name}: accuracy against the share of labels](figures/{file})\n\n"
                for file in pictures.get(name, [])
            )
            parts.append(f"### {name}\n\n{source.about}\n\n{shown}<!-- table: field: {name} -->\n<!-- end -->\n")
    return "\n".join(parts)
