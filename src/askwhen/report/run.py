"""The report of one run."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..errors import InputError
from ..evaluate.comparison.baselines import EVERYTHING, MAJORITY, MEAN
from ..evaluate.estimation.estimate import Estimate
from ..evaluate.progress import Progress
from ..trace.trace import Trace
from . import advisers, promise
from .class_tables import classes, confusion, matrix_of
from .otherwise import of_run, points
from .page import HALF, details, entry, figure, note, origin, page, section, table, warning
from .scales import count, extent, loss, measure, percent, plain, share, wanted, widened
from .series import margins_of, questions_of, weights_of, window_rows, windows_of
from .svg import Axis, Plot, Size, escape

POINTS = 300
STRETCHES = 160
ROWS = 40
HINTS = 100
ALONE, SO_FAR, ESTIMATE, SIMPLE = 0, 5, 1, -1
ASKED, UNASKED, BUDGET = 1, 0, 5


def run_page(
    progress: Progress,
    trace: Trace,
    title: str,
    facts: Mapping[str, str],
    command: str,
    budget: float | None,
    levels: Sequence[str],
    words: Sequence[str],
) -> str:
    """The whole page of a run."""
    if progress.several:
        raise InputError(
            "progress must be of one task, got several; write a report for each of them.", owner="write_run"
        )
    if trace.rounds != int(progress.rounds[-1]):
        rounds = f"as many rounds as progress, {int(progress.rounds[-1])}, got {trace.rounds}"
        raise InputError(f"trace must have {rounds}.", owner="write_run")
    switches = [int(place) for place in progress.switches]
    body = [
        warning(progress.order_warning),
        _headline(progress, trace, budget, words),
        *promise.of_run(progress, trace),
        _scores(progress, switches),
        of_run(progress),
        advisers.of_run(progress),
        _baselines(progress, words) if progress.baselines else "",
        *([classes(progress), confusion(progress)] if progress.classes is not None else []),
        _two_labels(progress, words),
        f'<div class="grid2">{_questions(progress, trace, budget)}{_margins(trace)}</div>',
        _drift(trace, switches, levels) if trace.drift_weights.size else "",
        _windows(progress),
        *origin(facts, command),
    ]
    return page(title, _lead(progress, trace, words), body)


def _lead(progress: Progress, trace: Trace, words: Sequence[str]) -> str:
    asked = f"{count(trace.questions)} of {count(trace.rounds)} labels were asked for ({_part(trace.questions, trace)})"
    found = progress.baselines
    if progress.promise is not None:
        return f"{asked}; {promise.sentence(progress.promise)}."
    if progress.estimate is None:
        simple = f"; always predicting the mean so far has an error of {loss(found[MEAN])}" if found else ""
        return f"{asked}, and the predictions have a mean squared error of {loss(progress.error)}{simple}."
    if progress.cost is not None:
        simple = " and ".join(
            f"{cost:.3g} if {word} were always predicted"
            for word, cost in zip(words, progress.baseline_costs.values(), strict=True)
        )
        return f"{asked}, and the mean cost of a row was {progress.cost:.3g}; it would be {simple}."
    simple = f"; always predicting the most frequent label so far is right in {share(found[MAJORITY])}" if found else ""
    return f"{asked}, and {share(1 - progress.error)} of the predictions were right{simple}."


def _part(number: int, trace: Trace) -> str:
    return share(number / max(trace.rounds, 1))


def _headline(progress: Progress, trace: Trace, budget: float | None, words: Sequence[str]) -> str:
    allowed = "" if budget is None else f", {wanted(budget)} allowed"
    tiles = [] if progress.promise is None else [_tile(*each, big=True) for each in promise.tiles(progress.promise)]
    if progress.estimate is None:
        tiles += _regression_tiles(progress, trace)
    else:
        right = f"{count(trace.rounds - trace.mistakes)} of {count(trace.rounds)} predictions right"
        found, sure = progress.estimate.overall, f"{1 - progress.delta:.0%} confidence"
        interval = f"{share(found.low)} to {share(found.high)} at {sure}, however often you look"
        interval = " ".join([f"{interval}.", progress.estimate.sentence(), progress.estimate.advice()]).strip()
        bound = f"expected error at {sure}, if instances are independent"
        tiles += [
            *_cost_tiles(progress, sure),
            _tile("Accuracy", share(1 - progress.error), right, big=True),
            _tile(
                "Accuracy from asked labels",
                _known(found),
                interval,
                _range(found.low, found.high, 1 - progress.error),
                big=True,
            ),
            *_late_tiles(progress, trace, sure),
            _tile("Error at most", share(min(progress.error_bound, 1.0)), bound, big=True),
        ]
    rate = f"{_part(trace.questions, trace)} of {count(trace.rounds)} rows{allowed}"
    tiles.append(_tile("Labels asked", count(trace.questions), rate))
    if progress.estimate is not None:
        tiles.append(_tile("Mistakes", count(trace.mistakes), f"{_part(trace.mistakes, trace)} of the rows"))
    tiles += [
        _tile("Updates", count(trace.updates), f"{_part(trace.updates, trace)} of the rows"),
        _tile("Switches", count(len(trace.switches)), "times the learner was restarted"),
    ]
    return f'<dl class="tiles">{"".join(tiles)}</dl>'


def _known(found: Estimate) -> str:
    """A share, or "not known yet"."""
    return share(found.value) if found.is_known else "not known yet"


def _regression_tiles(progress: Progress, trace: Trace) -> list[str]:
    """The error of a regressor, and the share of the labels' variance that it explains."""
    tiles = [
        _tile("Mean squared error", loss(progress.error), f"over {count(trace.rounds)} rows"),
        _tile("Root mean squared error", loss(math.sqrt(progress.error)), "in the unit of the labels"),
    ]
    if progress.r_squared is not None:
        remark = f"of the labels' variance, {loss(progress.label_variance)}, is explained"
        tiles.append(_tile("R2", f"{progress.r_squared:.3f}", remark))
    return tiles


def _cost_tiles(progress: Progress, sure: str) -> list[str]:
    """The mean cost of a row, where there are costs: with all labels known, and estimated from the asked labels."""
    assert progress.estimate is not None
    cost = progress.estimate.cost
    if progress.cost is None or cost is None:
        return []
    ends = f"{cost.low:.3g} to {cost.high:.3g} at {sure}"
    return [
        _tile("Cost of a row", f"{progress.cost:.3g}", "on average, all labels known", big=True),
        _tile("Cost from asked labels", f"{cost.value:.3g}" if cost.is_known else "not known yet", ends, big=True),
    ]


def _two_labels(progress: Progress, words: Sequence[str]) -> str:
    """Precision, recall and the confusion table of two labels."""
    counts = progress.confusion_of_two
    if counts is None:
        return ""
    last = progress.running
    read = f"From all labels of the stream; precision, recall and F are those of {words[1]}."
    ratios = [("precision", last.precision), ("recall", last.recall), ("F-measure", last.f_measure)]
    scores = [[name, "unknown" if math.isnan(values[-1]) else share(values[-1])] for name, values in ratios]
    return section(
        "Two labels", read, table(["score", "value"], scores, "scores"), matrix_of(list(words), counts.tolist())
    )


def _late_tiles(progress: Progress, trace: Trace, sure: str) -> list[str]:
    """The accuracy of the last rows, in the longest window that is shorter than the run."""
    assert progress.estimate is not None
    windows = [(n, found) for n, found in progress.estimate.windows.items() if n < trace.rounds]
    tiles = []
    if windows:
        n, found = windows[-1]
        ends = f"{share(found.low)} to {share(found.high)} at {sure}"
        tiles.append(_tile(f"The last {count(n)} rows", _known(found), ends, big=True))
    return tiles


def _tile(name: str, value: str, remark: str, picture: str = "", *, big: bool = False) -> str:
    shown = f'<span class="value">{escape(value)}</span>{picture}<div class="note">{escape(remark)}</div>'
    return f'<div class="tile{" big" if big else ""}"><dt>{escape(name)}</dt><dd>{shown}</dd></div>'


def _range(low: float, high: float, known: float) -> str:
    """The interval as a bar from 0 to 100 %, with a mark at the accuracy that the simulation knows."""
    if not all(map(math.isfinite, (low, high, known))):
        return ""
    strip = f'<i style="left:{low:.2%};width:{max(high - low, 0.0):.2%}"></i><b style="left:{known:.2%}"></b>'
    return f'<span class="range" aria-hidden="true">{strip}</span>'


def _row_axis(rows: int) -> Axis:
    return Axis(0.0, float(max(rows, 1)), "rows", plain, whole=True)


def _marks(switches: list[int]) -> list[tuple[float, str]]:
    if len(switches) <= HINTS:
        return [(place, f"switch in row {count(place + 1)}") for place in switches]
    return [(switches[k], "") for k in np.unique(np.linspace(0, len(switches) - 1, POINTS).astype(int))]


def _switch_entry(switches: list[int]) -> list[str]:
    return [entry("switch", SO_FAR, kind="switch")] if switches else []


def _scores(progress: Progress, switches: list[int]) -> str:
    windows, regression = windows_of(progress, POINTS), progress.estimate is None
    few = windows_of(progress, HINTS)
    shown, known = (loss, "squared error") if regression else (share, "accuracy")
    late = windows.low[len(windows.low) // 4 :]  # the interval is wide at first, and may leave the chart there
    drawn = (windows.score, windows.so_far, windows.value, windows.baseline)
    low, high = extent(*drawn, late, windows.high[len(windows.high) // 4 :])
    low, high = widened(0.0 if regression else low, high)
    low, high = (low, high) if regression else (max(low, 0.0), min(high, 1.0))
    values = Axis(low, high, "mean squared error" if regression else "accuracy", plain if regression else percent)
    hints = []
    for k, span in enumerate(few.spans):
        exact = f"rows {span}\n{known} here {shown(few.score[k])}\n{known} so far {shown(few.so_far[k])}"
        sure = f"\nestimate {shown(few.value[k])} ({shown(few.low[k])} to {shown(few.high[k])})"
        hints.append(exact if regression else exact + sure)

    def draw(size: Size) -> Plot:
        plot = Plot(size, _row_axis(int(progress.rounds[-1])), values)
        if not regression:
            plot.band(windows.rounds, windows.low, windows.high, ESTIMATE)
        plot.uprights(_marks(switches))
        plot.line(windows.rounds, windows.baseline, SIMPLE, kind="thin")
        plot.line(windows.rounds, windows.score, ALONE, kind="thin")
        plot.line(windows.rounds, windows.so_far, SO_FAR, kind="line solid")
        plot.line(windows.rounds, windows.value, ESTIMATE)
        if size.name != "narrow":
            plot.hints(np.append(0, few.rounds), hints)
        return plot

    legend = [
        entry(f"{known} in each window", ALONE, kind="thin"),
        entry(f"{known} so far, all labels known", SO_FAR, kind="line solid"),
    ]
    read = "Lower is better: the thin line is the error in each window, the thick one the error over all rows so far."
    about = f"From {shown(windows.so_far[0])} after the first window to {shown(windows.so_far[-1])} at the end."
    if not regression:
        sure = f"estimate from the asked labels, with its {1 - progress.delta:.0%} interval"
        legend.append(entry(sure, ESTIMATE, band=True))
        read = (
            "This is a simulation, so the accuracy is known: the thick line should lie inside the band, which is what "
            "you would know live, from the asked labels."
        )
        about += f" The estimate ends at {progress.estimate.overall}."
    if progress.baselines:
        legend.append(entry(f"{MEAN if regression else MAJORITY} in each window", SIMPLE, kind="thin"))
    name = "Squared error over time" if regression else "Accuracy over time"
    return section(name, read, figure(name, about, draw, legend + _switch_entry(switches)))


def _baselines(progress: Progress, words: Sequence[str]) -> str:
    regression, here = progress.estimate is None, 1 - progress.error
    if regression:
        heads, rows = ["rule", "mean squared error"], [["this run", loss(progress.error)]]
        rows += [[name, loss(error)] for name, error in progress.baselines.items()]
    else:
        heads, rows = ["rule", "accuracy", "this run is better by"], [["this run", share(here), ""]]
        rows += [[name, share(right), points(here - right)] for name, right in progress.baselines.items()]
    rule = "the mean of all earlier labels" if regression else "the most frequent label so far"
    read = f"Simple rules on the same rows: always predicting {rule}, and predicting the last label asked for."
    if EVERYTHING in progress.baselines:
        read += " The last line is the same learner, given every label."
    always = zip(words, progress.baseline_costs.values(), strict=False)
    costs = [[f"always {word}", f"{cost:.3g}"] for word, cost in always]
    if progress.cost is None:
        return section("Baselines", read, table(heads, rows, "baselines"))
    by_cost = table(["rule", "cost of a row"], [["this run", f"{progress.cost:.3g}"], *costs], "baselines by cost")
    return section("Baselines", read, by_cost, table(heads, rows, "baselines"))


def _questions(progress: Progress, trace: Trace, budget: float | None) -> str:
    rounds, asked = questions_of(progress, trace, POINTS)
    allowed = None if budget is None or not math.isfinite(budget) else budget * rounds
    low, high = widened(0.0, float(max(asked[-1], 0 if allowed is None else allowed[-1], 1)))
    few_rounds, few = questions_of(progress, trace, 20)

    def draw(size: Size) -> Plot:
        plot = Plot(size, _row_axis(int(rounds[-1])), Axis(low, high, "labels asked for", plain, whole=True))
        plot.line(rounds, asked, ASKED, kind="line solid")
        if allowed is not None:
            plot.line(rounds, allowed, BUDGET, kind="line dotted")
        return plot

    legend = [entry("labels asked for", ASKED, kind="line solid")]
    read = "The steeper the line, the more labels were asked for."
    if allowed is not None and budget is not None:
        legend.append(entry(f"budget, {wanted(budget)} of the rows", BUDGET, kind="line dotted"))
        read += " It should stay at or below the budget."
    numbers_so_far = [[count(r), count(q), share(q / r)] for r, q in zip(few_rounds[1:], few[1:], strict=True)]
    numbers = details("Numbers", table(["rows", "asked", "share so far"], numbers_so_far, "labels asked for over time"))
    about = f"{count(asked[-1])} labels were asked for in {count(rounds[-1])} rows."
    chart = figure("Labels asked for over time", about, draw, legend, HALF)
    return section("Questions over time", read, chart, numbers)


def _margins(trace: Trace) -> str:
    found = margins_of(trace)
    name = "Margins of asked and unasked rows"
    missing = trace.rounds - (found.computed if found else 0)
    absent = f"The margin was not computed in {count(missing)} of {count(trace.rounds)} rows ({_part(missing, trace)})"
    absent = f"{absent}, which are left out." if missing else ""
    read = (
        "A large margin is a sure prediction; of two labels its sign is the label. Outlines show shares of their rows."
    )
    if found is None:
        return section(name, "No margin is known, so there is nothing to draw here.", note(absent))
    high = widened(0.0, max(found.asked.max(), found.unasked.max(), 1e-6))[1]

    def draw(size: Size) -> Plot:
        ends = float(found.edges[0]), float(found.edges[-1])
        plot = Plot(size, Axis(*ends, "margin"), Axis(0.0, high, "share of the rows asked, or not asked", percent))
        for heights, series in ((found.unasked, UNASKED), (found.asked, ASKED)):
            if heights.any():
                plot.bars(found.edges, heights, series)
        return plot

    groups = {"asked": (found.asked, ASKED), "not asked": (found.unasked, UNASKED)}
    legend = [entry(group, series) for group, (heights, series) in groups.items() if heights.any()]
    empty = [group for group, (heights, _) in groups.items() if not heights.any()]
    outside = (
        f"The chart covers the middle 99% and leaves out {count(found.outside)} of {count(found.computed)} margins."
    )
    remarks = [f"No row was {group}." for group in empty] + ([outside] if found.outside else []) + [absent]
    edges = [measure(edge) for edge in found.edges]
    bins = [
        [f"{edges[k]} to {edges[k + 1]}", share(found.asked[k]), share(found.unasked[k])]
        for k in range(len(found.asked))
    ]
    numbers = details("Numbers", table(["margin", "asked", "not asked"], bins, name))
    about = "Two histograms on one axis, each as shares of its own rows."
    return section(name, read, figure(name, about, draw, legend, HALF), note(" ".join(filter(None, remarks))), numbers)


def _drift(trace: Trace, switches: list[int], levels: Sequence[str]) -> str:
    rounds, weights = weights_of(trace, STRETCHES)
    few_rounds, few = weights_of(trace, 20)
    given = list(levels) or list(trace.experts)
    names = [str(given[k]) if k < len(given) else f"level {k + 1}" for k in range(weights.shape[1])]
    read = "Each colour is a learner for one level of drift; its height is its weight in the prediction."
    if any("," in name for name in names):  # views with several drift levels each: one colour for each view
        names, (weights, few) = by_view(names, weights, few)
        read = "Each colour is one view of the instances; its height is its weight in the prediction."
    number = len(names)
    x, heights = np.append(0, rounds), np.vstack([weights[:1], weights])
    tops = np.clip(np.cumsum(heights, axis=1), 0.0, 1.0)
    bottoms = np.column_stack([np.zeros(len(x)), tops[:, :-1]])

    def draw(size: Size) -> Plot:
        plot = Plot(size, _row_axis(trace.rounds), Axis(0.0, 1.0, "weight", percent))
        for k in range(number):
            plot.stack(x, bottoms[:, k], tops[:, k], k, number)
        plot.uprights(_marks(switches))
        return plot

    legend = [entry(name, k, of=number) for k, name in enumerate(names)] + _switch_entry(switches)
    final = ", ".join(f"{name} {share(weight)}" for name, weight in zip(names, weights[-1], strict=True))
    averages = [[count(r), *map(share, row)] for r, row in zip(few_rounds, few, strict=True)]
    numbers = details("Numbers", table(["rows until", *names], averages, "weights of the experts, averaged"))
    name = "Drift weights over time"
    return section(name, read, figure(name, f"Weights at the end: {final}.", draw, legend), numbers)


def by_view(names: list[str], *weights: np.ndarray) -> tuple[list[str], list[np.ndarray]]:
    """The views of a mixture, which begin the names of its experts, and the summed weight of each view."""
    view_of = [name.partition(",")[0] for name in names]
    views = list(dict.fromkeys(view_of))
    member = np.array([[view == each for view in views] for each in view_of], float)
    return views, [each @ member for each in weights]


def _windows(progress: Progress) -> str:
    windows = windows_of(progress, ROWS)
    heads, rows = window_rows(windows, progress.estimate is None)
    read = "One line for each window of rows."
    if windows.joined > 1:
        read = f"Each line joins {windows.joined} of {count(len(progress.rounds))} windows, the last one those left."
    return section("Windows", read, table(heads, rows, "windows of rows"), long=True)
