"""What a report says of a promise on delivered labels: its certificate over time, and errors against questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..evaluate.comparison.promising import PromiseCurve, PromisePoint, promise_curve
from ..evaluate.progress import Progress, PromiseHistory
from ..trace.trace import Trace
from .figures import FigureLine, document, line_figure
from .page import details, entry, figure, origin, page, section, table, warning
from .scales import count, ends, percent, plain, share, wanted, widened
from .svg import Axis, Plot, Size

POINTS, ROWS = 300, 20
CERTIFIED, WRONG, ESTIMATED, PROMISED, HERE = 0, 2, 1, 5, 3
ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2)


def _certificate(history: PromiseHistory) -> str:
    """The certificate over time, beside what was promised and how many of the delivered labels were wrong."""
    at = ends(len(history.rounds), POINTS) - 1
    rounds, certified = history.rounds[at], history.certified[at]
    wrong, estimated = history.wrong[at] / np.maximum(history.delivered[at], 1), history.estimated[at]
    top = max(2.0 * history.error, float(wrong.max()))  # at first the certificate is far above, and leaves the chart
    low, high = widened(0.0, min(top, 1.0))
    y = Axis(low, min(high, 1.0), "share of the delivered labels", percent)
    seen = np.where(certified <= y.high, certified, np.nan)

    def draw(size: Size) -> Plot:
        plot = Plot(size, Axis(0.0, float(rounds[-1]), "rows", plain, whole=True), y)
        ends = np.array([0.0, float(rounds[-1])])
        plot.line(ends, np.full(2, history.error), PROMISED, kind="line dotted")
        plot.line(rounds, estimated, ESTIMATED, kind="thin")
        plot.line(rounds, wrong, WRONG)
        plot.line(rounds, seen, CERTIFIED, kind="line solid")
        return plot

    legend = [
        entry(f"promised, {wanted(history.error)}", PROMISED, kind="line dotted"),
        entry("certified: at most so many are wrong", CERTIFIED, kind="line solid"),
        entry("wrong, all labels known", WRONG),
        entry("estimated from the asked labels", ESTIMATED, kind="thin"),
    ]
    read = (
        f"With {wanted(history.confidence)} confidence, at no time more of the delivered labels are wrong than the "
        "thick line says; it stays at or below the promise. This is a simulation, so the share that is wrong is known "
        "too; live you would see the certificate and the estimate."
    )
    about = f"At the end at most {share(certified[-1])} are certified to be wrong, and {share(wrong[-1])} are."
    few = ends(len(history.rounds), ROWS) - 1
    rows = [
        [
            count(history.rounds[k]),
            count(history.delivered[k]),
            count(history.questions[k]),
            share(history.certified[k]),
            share(history.wrong[k] / max(history.delivered[k], 1)),
        ]
        for k in few
    ]
    heads = ["rows", "delivered", "asked", "certified", "wrong"]
    numbers = details("Numbers", table(heads, rows, "the certificate over time"))
    name = "Certificate over time"
    return section(name, read, figure(name, about, draw, legend), numbers)


def tiles(history: PromiseHistory) -> list[tuple[str, str, str]]:
    """What the headline of a run says: names, values and remarks."""
    delivered, wrong = int(history.delivered[-1]), int(history.wrong[-1])
    known = f"{count(wrong)} of {count(delivered)} delivered labels, all labels known"
    certified = f"of the delivered labels are wrong, at {wanted(history.confidence)} confidence and at any time"
    found = [
        ("Wrong labels at most", share(float(history.certified[-1])), f"{certified}; {wanted(history.error)} promised"),
        ("Wrong labels", share(wrong / max(delivered, 1)), known),
    ]
    withheld = int(history.rounds[-1]) - delivered
    if withheld > 0:
        found.append(("Coverage", share(delivered / int(history.rounds[-1])), f"{count(withheld)} rows have no label"))
    return found


def sentence(history: PromiseHistory) -> str:
    """What is certified at the end, and how many labels are wrong."""
    delivered, certified = int(history.delivered[-1]), float(history.certified[-1])
    wrong = share(int(history.wrong[-1]) / max(delivered, 1))
    sure = f"at most {share(certified)} of the {count(delivered)} delivered labels are wrong"
    return f"{sure}, with {wanted(history.confidence)} confidence; here, where all labels are known, {wrong} are"


def of_run(progress: Progress, trace: Trace) -> list[str]:
    """The parts of a run's report about its promise; none without one."""
    return [] if progress.promise is None else [_certificate(progress.promise), _otherwise(progress, trace)]


def _otherwise(progress: Progress, trace: Trace) -> str:
    """Errors against questions with the predictions of a run; nothing where its trace does not allow that."""
    history = progress.promise
    known = len(trace.margin) == trace.rounds and np.isfinite(trace.margin).all() and trace.rounds > 0
    if history is None or progress.estimate is None or not known:
        return ""
    curve = promise_curve(trace, errors=sorted({*ERRORS, history.error}), confidence=history.confidence, repeats=1)
    read = (
        "What other promises would have asked for, with the predictions of this run. A sampler that asks for more "
        "labels also learns more from them: askwhen plan runs every promise by itself."
    )
    chart = _against_questions(curve, here=(trace.questions / trace.rounds, history.error))
    return section("Errors against questions", read, chart, details("Numbers", _table(curve)))


def _against_questions(curve: PromiseCurve, here: tuple[float, float] | None = None) -> str:
    """The chart of errors against questions; ``here`` is a point of its own, the run that it belongs to."""
    legend = [entry("promised", CERTIFIED, marker=True), entry("wrong, all labels known", WRONG, marker=True)]
    if here is not None:
        legend.append(entry("this run", HERE, marker=True))
    return figure("Errors against questions", _about(curve), lambda size: _drawn(curve, size, here), legend)


def _drawn(curve: PromiseCurve, size: Size, here: tuple[float, float] | None = None, *, room: float = 24.0) -> Plot:
    points = curve.points
    asked = np.array([point.asked for point in points])
    promised, wrong = (np.array([getattr(point, name) for point in points]) for name in ("error", "errors"))
    right = max(float(asked.max()), 0.0 if here is None else here[0])
    x = Axis(0.0, min(widened(0.0, max(right, 0.01))[1], 1.0), "share of the labels asked for", percent)
    y = Axis(*widened(0.0, float(max(promised.max(), wrong.max()))), "share of wrong labels", percent)
    plot = Plot(size, x, y, right=room)
    order = np.argsort(asked, kind="stable")
    plot.line(asked[order], promised[order], CERTIFIED)
    plot.line(asked[order], wrong[order], WRONG)
    for point in points:
        plot.point(point.asked, point.error, np.nan, CERTIFIED, str(point))
        plot.point(point.asked, point.errors, np.nan, WRONG, str(point))
    if here is not None:
        plot.point(*here, np.nan, HERE, f"this run: {share(here[0])} asked")
    return plot


def _about(curve: PromiseCurve) -> str:
    return "; ".join(map(str, curve.points)) + "."


def _table(curve: PromiseCurve) -> str:
    heads = ["errors promised", "labels asked", "saved", "wrong labels", "certified"]
    heads += ["rows with a label"] if curve.has_budget else []
    return table(heads, [_row(curve, point) for point in curve.points], "errors against questions")


def _row(curve: PromiseCurve, point: PromisePoint) -> list[str]:
    found = [
        wanted(point.error),
        count(float(point.questions.mean())),
        share(point.saved),
        share(point.errors),
        share(float(point.certified.mean())),
    ]
    return [*found, share(point.coverage)] if curve.has_budget else found


def curve_page(curve: PromiseCurve, title: str, facts: Mapping[str, str], command: str) -> str:
    """The whole page of what promises take."""
    read = "Fewer errors take more questions. Every delivered label that was not asked for is a prediction."
    chart = section("Errors against questions", read, _against_questions(curve), _table(curve))
    body = [warning(curve.order_warning), chart, _coverage(curve) if curve.has_budget else "", *origin(facts, command)]
    return page(title, _lead(curve), body)


def _lead(curve: PromiseCurve) -> str:
    point = curve.middle
    times = "once" if curve.repeats == 1 else f"{count(curve.repeats)} times with different seeds"
    asked = f"{count(float(point.questions.mean()))} of {count(curve.rows)} labels were asked for"
    others = f", and {share(point.coverage)} of the rows got a label" if curve.has_budget else ""
    others = others or f", and {share(point.saved)} were saved"
    sure = f"with {wanted(curve.confidence)} confidence and at any time"
    return f"For at most {wanted(point.error)} errors, {sure}, {asked}{others}. Every promise was run {times}."


def _coverage(curve: PromiseCurve) -> str:
    """The chart of coverage against errors, where a budget bounds the questions."""
    errors, covered = (np.array([getattr(point, name) for point in curve.points]) for name in ("error", "coverage"))

    def draw(size: Size) -> Plot:
        x = Axis(0.0, widened(0.0, float(errors.max()))[1], "errors promised", percent)
        plot = Plot(size, x, Axis(0.0, 1.0, "rows with a label", percent))
        plot.line(errors, covered, CERTIFIED)
        for point in curve.points:
            plot.point(point.error, point.coverage, np.nan, CERTIFIED, str(point))
        return plot

    read = (
        "The budget bounds the questions. What could be neither asked about nor certified was withheld: the more "
        "errors are allowed, the more rows get a label."
    )
    return section("Coverage", read, figure("Coverage", _about(curve), draw, []))


def curve_picture(curve: PromiseCurve, title: str) -> str:
    """An SVG document: errors against questions, for light and dark pages."""
    last = curve.points[0]
    plot = _drawn(curve, Size("wide", 900, 400), room=110.0)
    plot.labels([(last.asked, last.error, "promised", CERTIFIED), (last.asked, last.errors, "wrong", WRONG)])
    return document(plot, title, _about(curve))


def certificate_figure(history: PromiseHistory, others: Mapping[str, Any], title: str) -> str:
    """An SVG document: the certificate over time, beside the wrong labels of other ways."""
    x = [float(each) for each in history.rounds]
    lines = [
        FigureLine("certified: at most", x, history.certified.tolist()),
        *(FigureLine(name, x, list(wrong)) for name, wrong in others.items()),
        FigureLine(f"wrong, {wanted(history.error)} promised", x, (history.wrong / history.delivered).tolist()),
        FigureLine("promised", [0.0, x[-1]], [history.error, history.error]),
    ]
    return line_figure(lines, title=title, across="rows", up="share of wrong labels")
