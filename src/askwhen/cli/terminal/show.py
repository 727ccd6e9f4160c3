"""Results as tables for a terminal and as facts for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import askwhen as aw

from .advisers import adviser_facts, adviser_rows
from .advisers import comparison_facts as comparison_advisers
from .intervals import interval, interval_facts
from .promises import promise_facts, promise_of, promise_rows
from .summary import in_percent, of_comparison, of_run
from .tables import facts_table, new_list, new_table

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table


def run_facts(
    sampler: aw.Sampler,
    progress: aw.evaluate.Progress,
    seconds: float,
    rate: float,
    name: str | None = None,
    words: Sequence[Any] | None = None,
) -> dict[str, Any]:
    """The result of a run, for programs.

    ``name`` is the algorithm's, where it is known; ``words`` are the labels -1 and +1 in the file, where it has others.
    """
    from ...workflows.run import parts_of

    n, last, promise = int(progress.rounds[-1]), progress.running, promise_of(sampler, words)
    shown = ["-1", "+1"] if words is None else [str(word) for word in words]
    facts: dict[str, Any] = {"rounds": n, "first_round": sampler.round - n}
    if progress.estimate is None:
        facts["squared_error"] = progress.error
        facts["root_squared_error"] = math.sqrt(progress.error)
        facts["label_variance"], facts["r_squared"] = progress.label_variance, progress.r_squared
    else:
        facts |= _accuracy_facts(progress, progress.estimate, n, shown)
    return facts | {
        "questions": round(float(last.question_rate[-1]) * n),
        "label_share": float(last.question_rate[-1]),
        "updates": int(last.updates[-1]),
        "switches": [int(at) for at in progress.switches],
        "seconds": seconds,
        "rounds_per_second": rate,
        "sampler": parts_of(sampler),
        "baselines": progress.baselines,
        "refitted": [_refitted_facts(each, progress.estimate is None) for each in progress.refitted],
        "left_out": progress.left_out,
        "advisers": adviser_facts(sampler),
        "order_warning": progress.order_warning,
        "summary": of_run(sampler, progress, name, shown),
        "promise": None if promise is None else promise_facts(promise, progress.promise),
    }


def _refitted_facts(found: aw.evaluate.Refitted, regression: bool) -> dict[str, Any]:
    score = "squared_error" if regression else "accuracy"
    return {"model": found.name, score: found.score, "labels": found.labels, "refits": found.refits}


def _accuracy_facts(
    progress: aw.evaluate.Progress, estimate: aw.evaluate.Accuracy, n: int, words: list[str]
) -> dict[str, Any]:
    """The accuracy of a run that predicts labels, counted and estimated."""
    last, overall = progress.running, estimate.overall
    facts: dict[str, Any] = {
        "accuracy": 1 - progress.error,
        "mistakes": round(progress.error * n),
        "error_bound": progress.error_bound,
        "confidence": 1 - progress.delta,
        "f_measure": float(last.f_measure[-1]),
        "estimate": interval_facts(overall),
        "recent": {str(length): interval_facts(found) for length, found in estimate.windows.items() if length < n},
        "needed": _needed(estimate),
        "sentence": estimate.sentence(),
        "advice": estimate.advice(),
    }
    if estimate.cost is not None:
        facts["cost"] = interval_facts(estimate.cost)
    if progress.cost is not None:
        facts["mean_cost"] = progress.cost
        facts["baseline_costs"] = {
            f"always {word}": cost for word, cost in zip(words, progress.baseline_costs.values(), strict=True)
        }
    if progress.confusion_of_two is not None:
        facts["precision"], facts["recall"] = float(last.precision[-1]), float(last.recall[-1])
        facts["classes"], facts["confusion"] = words, progress.confusion_of_two.tolist()
    if progress.classes is not None and progress.confusion is not None:
        facts["classes"] = progress.classes
        facts["confusion"] = progress.confusion.tolist()
        facts["unpredicted"] = [] if progress.unpredicted is None else progress.unpredicted.tolist()
        facts["by_class"] = {str(label): _by_class(found) for label, found in estimate.classes.items()}
    return facts


def _by_class(found: aw.evaluate.ClassAccuracy) -> dict[str, Any]:
    return {name: interval_facts(getattr(found, name)) for name in ("precision", "recall", "f_measure")}


def _needed(found: aw.evaluate.Accuracy) -> dict[str, Any] | None:
    """Number of labels that the next narrower interval needs."""
    return None if found.target is None else {"width": found.target} | found.needed(found.target)._asdict()


def lead(facts: dict[str, Any]) -> list[Any]:
    """The lines before a table: a summary, and a warning if the order of the labels makes it doubtful."""
    from rich.markup import escape

    warning = facts["order_warning"]
    return [escape(facts["summary"]), *([f"[bold]{escape(warning)}[/]"] if warning else []), ""]


def run_table(facts: dict[str, Any]) -> Group:
    """The result of a run, for people."""
    from rich.console import Group
    from rich.markup import escape

    table = new_list()
    first, n = facts["first_round"], facts["rounds"]
    for at, (name, text) in enumerate(promise_rows(facts["promise"]) if facts["promise"] else []):
        table.add_row(name, escape(text) if at else f"[bold]{escape(text)}[/]")
    table.add_row("rows", f"{n:,}" + (f" (after {first:,} before)" if first else ""))
    if "squared_error" in facts:
        table.add_row("mean squared error", f"[bold]{facts['squared_error']:.4g}[/]")
        table.add_row("its root (RMSE)", f"{facts['root_squared_error']:.4g}")
        table.add_row("variance of labels", f"{facts['label_variance']:.4g}")
        if facts["r_squared"] is not None:
            table.add_row("R2", f"{facts['r_squared']:.3f}, the share of that variance that is explained")
    else:
        if "mean_cost" in facts:
            _add_costs(table, facts)
        mistakes = f"{facts['mistakes']:,} mistake{'' if facts['mistakes'] == 1 else 's'}"
        table.add_row(
            "accuracy", f"[bold]{in_percent(facts['accuracy'])}[/], {mistakes}, all labels of the file counted"
        )
        table.add_row("from asked labels", f"{interval(facts['estimate'])} at {facts['confidence']:.0%} confidence")
        table.add_row("", "what you would know live, valid however often you look")
        for length, late in facts["recent"].items():
            table.add_row(f"last {int(length):,} rows", f"{interval(late)}, from asked labels")
        if "by_class" in facts:
            _add_classes(table, facts)
        else:
            for name in ("precision", "recall", "f_measure"):
                value = "unknown" if math.isnan(facts[name]) else f"{facts[name]:.3f}"
                of = f" of {escape(facts['classes'][1])}" if name != "f_measure" else ""
                table.add_row(name.replace("f_measure", "F-measure") + of, value)
    for name, shown in adviser_rows(facts["advisers"]):
        table.add_row(escape(name), escape(shown))
    for at, (name, score) in enumerate(facts["baselines"].items()):
        shown = f"{score:.4g}" if "squared_error" in facts else in_percent(score)
        table.add_row("" if at else "baselines", f"{shown}, {name}")
    table.add_row("labels asked", f"{facts['questions']:,} ({in_percent(facts['label_share'])})")
    table.add_row("updates", f"{facts['updates']:,}")
    switches = facts["switches"]
    some = ", ".join(f"{at:,}" for at in switches[:8]) + (", ..." if len(switches) > 8 else "")
    table.add_row("switches", f"{len(switches)} (rows {some})" if switches else "0")
    table.add_row("speed", f"{facts['rounds_per_second']:,.0f} rows per second, {facts['seconds']:.1f} seconds in all")
    for name in ("model", "trace", "report"):
        if facts[name]:
            table.add_row(name, escape(facts[name]))
    advice = facts.get("advice")
    return Group(*lead(facts), table, *_confusion(facts), *_refitted(facts), *(["", escape(advice)] if advice else []))


def _refitted(facts: dict[str, Any]) -> list[Any]:
    """A table of what one would have had with refitted models."""
    if not facts["refitted"]:
        return []
    regression = "squared_error" in facts
    score = "squared_error" if regression else "accuracy"
    table = new_table("what you would have had otherwise", "labels", score.replace("_", " "), "this run", "refits")
    for each in sorted(facts["refitted"], key=lambda each: each[score], reverse=not regression):
        if regression:
            shown, better = f"{each[score]:.4g}", ratio(facts[score], each[score])
        else:
            shown, better = in_percent(each[score]), points(facts[score] - each[score])
        table.add_row(each["model"], f"{each['labels']:,}", shown, better, str(each["refits"]))
    return ["", table, *facts["left_out"]]


def points(difference: float) -> str:
    """By how many points an accuracy is better."""
    return f"{100 * abs(difference):.1f} points {'better' if difference >= 0 else 'worse'}"


def ratio(error: float, other: float) -> str:
    """How large an error is, as a multiple of another."""
    return f"{error / other:.2f} times this error" if other > 0 else ""


def _add_costs(table: Table, facts: dict[str, Any]) -> None:
    """The cost of a row: in the run, estimated from the asked labels, and if the same label were always predicted."""
    from rich.markup import escape

    table.add_row("cost of a row", f"[bold]{facts['mean_cost']:.3g}[/], all labels of the file counted")
    cost = facts["cost"]
    known = interval(cost, "{:.3g}".format)
    table.add_row("from asked labels", f"{known} at {facts['confidence']:.0%} confidence")
    for at, (name, each) in enumerate(facts["baseline_costs"].items()):
        table.add_row("" if at else "baselines by cost", f"{each:.3g}, {escape(name)}")


def _confusion(facts: dict[str, Any]) -> list[Any]:
    """A confusion table of two labels."""
    from rich.markup import escape

    if "by_class" in facts or "confusion" not in facts:
        return []
    words = [escape(word) for word in facts["classes"]]
    table = new_table("label", *(f"predicted {word}" for word in words))
    for word, counts in zip(words, facts["confusion"], strict=True):
        table.add_row(word, *(f"{count:,}" for count in counts))
    return ["", table]


def _add_classes(table: Table, facts: dict[str, Any]) -> None:
    """A row for each class: how often it came, how often it was predicted, and its recall from the asked labels."""
    from rich.markup import escape

    for k, (label, counts) in enumerate(zip(facts["classes"], facts["confusion"], strict=True)):
        came, found = sum(counts) + sum(facts["unpredicted"][k : k + 1]), counts[k]
        each = facts["by_class"].get(str(label))
        recall = f"; from asked labels {interval(each['recall'])}" if each else ""
        right = f"{in_percent(found / came)} of {came:,} found{recall}" if came else "never came"
        table.add_row(escape(str(label)), right)


def algorithm_table(facts: list[dict[str, Any]]) -> Table:
    """Algorithms, one in each row; the hyperparameter that sets how many labels are asked for has a star."""
    table = new_table("algorithm", "hyperparameters", "what it does", "from")
    for each in facts:
        hyperparameters = []
        for symbol, usual in each["letters"].items():
            shown = f"{symbol}*" if symbol == each["scale"] else symbol
            hyperparameters.append(shown if usual is None else f"{shown}={usual:g}")
        table.add_row(f"[bold]{each['name']}[/]", " ".join(hyperparameters), each["line"], each["source"])
    return table


def data_table(facts: list[dict[str, Any]]) -> Table:
    """Data sets, and which of them are here."""
    table = new_table("data set", "here", "files")
    for each in facts:
        here = "no" if each["missing"] else "yes"
        table.add_row(f"[bold]{each['name']}[/]", here, ", ".join(each["files"]) or "comes with scikit-learn")
    return table


def comparison_table(comparison: aw.evaluate.Comparison) -> Table:
    """Accuracy of each algorithm and baseline at each share, the best algorithm of a share in bold."""
    table = new_table("labels", "algorithm", "asked", "accuracy", "hyperparameters", "seconds")
    best = {
        cell.share: max(each.mean for each in comparison.cells if each.share == cell.share) for cell in comparison.cells
    }
    before = None
    simple = {id(cell) for cell in comparison.baselines}
    rules = {id(cell) for cell in (*comparison.baselines, *comparison.refitted)}
    everything = [*comparison.cells, *comparison.baselines, *comparison.refitted]
    for cell in sorted(everything, key=lambda cell: (cell.share, -cell.mean)):
        error = "" if math.isnan(cell.margin_of_error) else f" ± {100 * cell.margin_of_error:.1f}"
        accuracy = f"{100 * cell.mean:.1f}{error} %"
        bold = id(cell) not in rules and cell.mean == best[cell.share]
        table.add_row(
            "" if cell.share == before else f"{100 * cell.share:.3g} %",
            cell.algorithm,
            in_percent(float(cell.asked.mean())),
            f"[bold]{accuracy}[/]" if bold else accuracy,
            hyperparameters_of(cell.letters) if cell.refits is None else refits_of(cell, comparison),
            "" if math.isnan(cell.seconds) else f"{cell.seconds:.2g}",
            style="dim" if id(cell) in simple else None,
        )
        before = cell.share
    return table


def refits_of(cell: aw.evaluate.Cell, comparison: aw.evaluate.Comparison) -> str:
    """The labels and the fits of a refitted model."""
    labels = float(cell.asked.mean()) * float(comparison.rounds[-1])
    return f"{labels:,.0f} labels, {cell.refits:.0f} refits"


def comparison_facts(comparison: aw.evaluate.Comparison) -> dict[str, Any]:
    """A comparison, for programs."""
    return {
        "repeats": comparison.repeats,
        "rounds": comparison.rounds,
        "cells": [_cell_facts(cell) for cell in comparison.cells],
        "baselines": [_cell_facts(cell) for cell in comparison.baselines],
        "refitted": [_cell_facts(cell) | {"refits": cell.refits} for cell in comparison.refitted],
        "left_out": comparison.left_out,
        "advisers": comparison_advisers(comparison),
        "order_warning": comparison.order_warning,
        "summary": of_comparison(comparison),
    }


def _cell_facts(cell: aw.evaluate.Cell) -> dict[str, Any]:
    return {
        "algorithm": cell.algorithm,
        "labels": cell.share,
        "letters": cell.letters,
        "asked": float(cell.asked.mean()),
        "accuracy": cell.mean,
        "margin_of_error": cell.margin_of_error,
        "accuracies": cell.accuracy,
        "windows": cell.windows.mean(axis=0),
        "seconds": cell.seconds,
    }


def pictures(comparison: aw.evaluate.Comparison) -> list[Any]:
    """Accuracy against labels, where there are several shares, and against time at the largest."""
    import shutil

    from .plot import lines

    width = min(shutil.get_terminal_size((100, 24)).columns, 110)
    by_name = {name: [cell for cell in comparison.cells if cell.algorithm == name] for name in comparison.algorithms}
    found: list[Any] = []
    if len(comparison.shares) > 1:
        points = {name: cells for name, cells in by_name.items() if len(cells) > 1}
        against = {
            name: ([100 * c.asked.mean() for c in cells], [c.mean for c in cells]) for name, cells in points.items()
        }
        if against:
            found += [lines(against, width=width, height=18, across="labels asked, %", up="accuracy"), ""]
    share = max(comparison.shares)
    cells = [cell for cell in comparison.cells if cell.share in (share, 1.0)]
    over_time = {cell.algorithm: (comparison.rounds, cell.windows.mean(axis=0)) for cell in cells}
    title = f"accuracy over time, {100 * share:.3g} % of the labels"
    if all(cell.share == 1.0 for cell in cells):
        title = "accuracy over time, all labels"
    return [*found, lines(over_time, width=width, height=18, across="rows", up=title), ""]


def tried_table(tried: list[aw.evaluate.Tried], most: int = 12) -> Table:
    """What was tried, the best first."""
    table = new_table("algorithm", "hyperparameters", "asked", "accuracy")
    for at, each in enumerate(tried[:most]):
        accuracy = in_percent(each.accuracy)
        shown = f"[bold]{accuracy}[/]" if at == 0 else accuracy
        table.add_row(each.algorithm, hyperparameters_of(each.letters), in_percent(each.asked), shown)
    if len(tried) > most:
        table.add_row(f"and {len(tried) - most} more", "", "", "")
    return table


def hyperparameters_of(values: dict[str, Any]) -> str:
    """Hyperparameters with their values, as they are shown."""
    return " ".join(f"{name}={value:.4g}" for name, value in values.items())


def label_table(facts: dict[str, Any]) -> Table:
    """The result of labelling by hand."""
    found = facts["accuracy"]
    given = ", ".join(f"{count:,} {name}" for name, count in facts["labels"].items())
    promise = facts["promise"]
    shown = ({} if promise is None else {"promise": promise["sentence"]}) | {
        "rows seen": f"{facts['rows_seen']:,}" + (", all of them" if facts["ended"] else ""),
        "asked about": f"{facts['questions']:,}",
        "answers": given,
        "accuracy": "not known yet" if found is None else interval(found),
        "in words": facts["sentence"],
        "next": facts["advice"],
        "answers in": facts["answers"],
        "sampler in": facts["model"],
    }
    if facts.get("delivered"):
        shown["delivered in"] = facts["delivered"]
    if promise is not None and promise["warning"]:
        shown["warning"] = promise["warning"]
    return facts_table(shown, adviser_rows(facts["advisers"]))
