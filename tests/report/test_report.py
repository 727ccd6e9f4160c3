"""What is written: numbers, escaping, edges, files."""

import dataclasses
import html
import math
import re
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.evaluate import PromiseCurve, PromiseHistory, PromisePoint, Refitted
from askwhen.report import picture, promise_picture, write_comparison, write_promise_curve, write_run
from askwhen.report.run import by_view
from tests.report.made import (
    COMMAND,
    FACTS,
    REFITTED,
    advisers_of,
    comparison_of,
    progress_of,
    trace_of,
    twelve,
    with_advisers,
    with_refitted,
)

HOSTILE = "<script>alert(1)</script> & \"quotes\" 'too' \x00 \ud800"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "report.html"


def run_text(path, trace, progress, **more):
    write_run(path, progress, trace, **({"title": "A run", "facts": FACTS, "command": COMMAND} | more))
    return path.read_text(encoding="utf-8")


def comparison_text(path, comparison, **more):
    write_comparison(path, comparison, **({"title": "Many", "facts": FACTS, "command": COMMAND} | more))
    return path.read_text(encoding="utf-8")


def check_pictures(text):
    found = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    for picture_text in found:
        for element in ElementTree.fromstring(picture_text).iter():
            for name, value in element.attrib.items():
                if name not in ("aria-label", "class"):
                    assert not re.search(r"nan|inf(?!o)", value, flags=re.IGNORECASE), (element.tag, name, value)
    return found


def plain(text):
    text = re.sub(r"<style>.*?</style>", "", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", text)))


def test_the_headline_has_the_numbers_of_the_run(path):
    trace = trace_of(3000, levels=3, switches=[700, 1900])
    progress = progress_of(trace, 500)
    text = plain(run_text(path, trace, progress, budget=0.25))
    assert f"Accuracy {1 - progress.error:.1%} {3000 - trace.mistakes:,} of 3,000 predictions right" in text
    assert f"{progress.estimate.overall.value:.1%} 70.0% to 100.0% at 95% confidence" in text
    assert f"Error at most {progress.error_bound:.1%}" in text
    assert f"Labels asked {trace.questions:,} {trace.questions / 3000:.1%} of 3,000 rows, 25% allowed" in text
    assert f"Mistakes {trace.mistakes:,}" in text
    assert f"Updates {trace.updates:,}" in text
    assert "Switches 2" in text


def test_the_table_has_a_row_for_each_window(path):
    trace = trace_of(2500, switches=[700])
    progress = progress_of(trace, 1000)
    text = plain(run_text(path, trace, progress))
    assert "One line for each window of rows." in text
    scores, curve = progress.windows, progress.curve
    for k, span in enumerate(("1 to 1,000", "1,001 to 2,000", "2,001 to 2,500")):
        interval = f"{curve.value[k]:.1%} {curve.low[k]:.1%} to {curve.high[k]:.1%}"
        row = f"{span} {scores.accuracy[k]:.1%} {progress.running.accuracy[k]:.1%} {interval}"
        asked = f"{progress.counts[k, 0, 4]:.0f} {scores.question_rate[k]:.1%} {scores.updates[k]} {int(k == 0)}"
        assert f"{row} {asked}" in text


def test_many_windows_are_joined_without_losing_any(path):
    trace = trace_of(10_000)
    progress = progress_of(trace, 10)
    text = run_text(path, trace, progress)
    windows = text[text.index("<h2>Windows") :]
    rows = re.findall(r"<tr><td.*?</tr>", windows)
    assert "Each line joins 25 of 1,000 windows" in plain(text)
    assert len(rows) == 40
    asked = [int(re.findall(r"<td[^>]*>(.*?)</td>", row)[5].replace(",", "")) for row in rows]
    assert trace.questions == sum(asked)
    assert f"{1 - trace.mistaken[:250].mean():.1%}" in rows[0]


def test_a_regressor_has_squared_errors_and_no_interval(path):
    trace = trace_of(1000)
    progress = progress_of(trace, 100, regression=True)
    text = plain(run_text(path, trace, progress))
    assert f"Mean squared error {progress.error:#.4g}" in text
    for absent in ("confidence", "interval", "Accuracy", "Mistakes", "estimate"):
        assert absent not in text


def test_experts_of_one_view_are_drawn_as_one(path):
    trace = trace_of(500, levels=3)
    names = ["curved, c = 10", "ranks, c = 1", "curved, c = 1"]
    text = plain(run_text(path, trace, progress_of(trace, 100), levels=names))
    assert "Each colour is one view of the instances" in text
    assert "rows until curved ranks" in text
    final = trace.drift_weights[-1]
    views, weights = by_view(names, final[None])
    assert views == ["curved", "ranks"]
    np.testing.assert_allclose(weights[0][0], [final[0] + final[2], final[1]])


def test_levels_are_named_in_order_and_those_without_a_name_are_numbered(path):
    trace = trace_of(500, levels=3)
    text = plain(run_text(path, trace, progress_of(trace, 100), levels=["none", "slow"]))
    assert "none slow level 3" in text
    text = plain(run_text(path, trace_of(500), progress_of(trace, 100)))
    assert "Drift weights" not in text


def test_a_trace_that_starts_later_gives_the_same_page(path):
    first, later = (trace_of(500, switches=[100, 400], start=start) for start in (0, 12_345))
    same = [run_text(path, trace, progress_of(trace, 100)) for trace in (first, later)]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    ("n", "window", "made", "known"),
    [
        (1, 1000, {}, True),
        (1, 1, {"queried": False, "margin": np.nan}, False),
        (7, 1000, {"queried": False}, False),
        (50, 10, {"queried": True, "levels": 1}, True),
        (50, 10, {"margin": np.nan, "levels": 2}, False),
        (50, 1, {"margin": 0.0}, True),
        (50, 7, {"margin": 1e12, "switches": range(50)}, True),
        (900, 1, {"margin": np.inf, "switches": range(900), "levels": 9}, False),
        (2000, 1, {"margin": np.append(np.linspace(-1, 1, 1999), 1e9)}, True),
    ],
)
@pytest.mark.parametrize("regression", [False, True])
def test_edges_give_a_whole_page(path, n, window, made, known, regression):
    trace = trace_of(n, **made)
    progress = progress_of(trace, window, regression=regression, known=known)
    text = run_text(path, trace, progress, budget=0.1)
    assert len(check_pictures(text)) > 4
    assert not re.search(r"\bnan\b|\binf\b", plain(text))


def test_unknown_margins_and_outliers_are_told(path):
    some = np.where(np.arange(1000) < 400, np.nan, np.linspace(-1, 1, 1000))
    trace = trace_of(1000, margin=some)
    text = plain(run_text(path, trace, progress_of(trace, 100)))
    assert "The margin was not computed in 400 of 1,000 rows (40.0%)" in text
    trace = trace_of(1000, margin=np.append(np.linspace(-1, 1, 999), 1e6), queried=False)
    text = plain(run_text(path, trace, progress_of(trace, 100)))
    assert "The chart covers the middle 99% and leaves out 1 of 1,000 margins." in text
    assert "No row was asked." in text


def test_a_trace_of_counts_alone_is_enough(path):
    trace, empty = trace_of(1000, levels=2), np.zeros(0)
    names = ("margin", "prediction", "probability", "coin", "queried", "updated", "mistaken")
    bare = dataclasses.replace(trace, **dict.fromkeys(names, empty), drift_weights=np.zeros((0, 2)))
    text = plain(run_text(path, bare, progress_of(trace, 100)))
    assert f"Labels asked {trace.questions}" in text
    assert "No margin is known" in text


@pytest.mark.parametrize("where", ["title", "command", "name", "value", "levels"])
def test_text_of_the_user_is_escaped(path, where):
    trace = trace_of(100, levels=1)
    more = {
        "title": {"title": HOSTILE},
        "command": {"command": HOSTILE},
        "name": {"facts": {HOSTILE: "1"}},
        "value": {"facts": {"name": HOSTILE}},
        "levels": {"levels": [HOSTILE]},
    }[where]
    text = run_text(path, trace, progress_of(trace, 50), **more)
    assert "<script" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot;" in text
    check_pictures(text)


def test_names_and_letters_of_algorithms_are_escaped(path):
    comparison = comparison_of([HOSTILE, "B"])
    comparison.cells[1].letters[HOSTILE] = HOSTILE
    text = comparison_text(path, comparison)
    assert "<script" not in text
    check_pictures(text)
    ElementTree.fromstring(picture(comparison, 0.1, title=HOSTILE))


def test_the_table_of_a_comparison_has_its_numbers_and_the_best_in_bold(path):
    comparison = twelve()
    text = comparison_text(path, comparison)
    rows = re.findall(r"<tr( class=best)?>(<th.*?)</tr>", text)
    cells = {(cell.algorithm, cell.share): cell for cell in comparison.cells}
    simple = {(cell.algorithm, cell.share): cell for cell in comparison.baselines}
    assert len(cells) == 32
    assert len(rows[1:]) == 32 + 5
    for bold, row in rows[1:]:
        found = re.findall(r"<t[hd].*?</t[hd]>", row)
        name, wanted, accuracy, half, asked, _, seconds, letters = (plain(part).strip() for part in found)
        key = name, 1.0 if wanted == "all" else float(wanted[:-1]) / 100
        cell = (cells | simple)[key]
        rivals = [other.mean for other in comparison.cells if other.share == cell.share]
        assert (key in cells and cell.mean == max(rivals)) == bool(bold)
        assert f"{cell.asked.mean():.1%}" == asked
        assert f"{cell.mean:.1%}" == accuracy
        assert f"{cell.margin_of_error:.1%}" == half
        assert (f"{cell.seconds:.4g}" if key in cells else "\N{EN DASH}") == seconds
        assert (f"b = 1, a = {cell.letters['a']:.4g}" if key in cells else "") == letters


def test_the_best_and_the_majority_are_told_first(path):
    comparison = twelve()
    best = max((cell for cell in comparison.cells if cell.share == 0.2), key=lambda cell: cell.mean)
    text = plain(comparison_text(path, comparison))
    assert (
        f"With 20% of the labels the accuracy of {best.algorithm} was {best.mean:.1%}; that of always predicting"
        in text
    )
    assert "label so far was 55.0%." in text
    bare = plain(comparison_text(path, dataclasses.replace(comparison, baselines=[])))
    assert f"{best.algorithm} was {best.mean:.1%}." in bare


@pytest.mark.parametrize("shares", [(0.1,), (0.05, 0.1)])
def test_swatches_show_what_the_charts_show(path, shares):
    text = comparison_text(path, twelve(shares=shares))
    pictures = re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL)
    swatches = [each for each in pictures if 'class="swatch' in each]
    charts = "".join(each for each in pictures if 'role="img"' in each)
    assert len(swatches) > 20

    def markers(drawn):
        return set(re.findall(r'class="marker"[^>]*? d="([^"]*)"', drawn))

    def lines(drawn):
        return set(re.findall(r'class="(line|thin)"(?: stroke-dasharray="([^"]*)")?', drawn))

    assert markers("".join(swatches)) == markers(charts)
    assert bool(markers(charts)) == (len(shares) > 1)
    assert lines("".join(swatches)) == lines(charts)


def test_baselines_stand_in_the_report_of_a_run(path):
    trace = trace_of(3000)
    progress = progress_of(trace, 500)
    text = run_text(path, trace, progress)
    right = 1 - progress.error
    assert f"{right:.1%} of the predictions were right; always predicting the most frequent label" in plain(text)
    assert "is right in 60.0%." in plain(text)
    better = [f"{100 * (right - simple):.1f} points" for simple in (0.6, 0.7)]
    rows = f"this run {right:.1%} majority so far 60.0% {better[0]} last label told 70.0% {better[1]}"
    assert rows in plain(text)
    assert "majority so far in each window" in text
    assert text.count('<g class="base"><path class="thin"') == 3  # a line for each width
    bare = plain(run_text(path, trace, dataclasses.replace(progress, baseline_counts={})))
    assert "majority" not in bare
    told = plain(run_text(path, trace, progress_of(trace, 500, regression=True)))
    assert (
        f"mean squared error of {progress_of(trace, 500, regression=True).error:#.4g}; always predicting the mean"
        in told
    )
    assert "mean so far 6.000 last label told 7.000" in told


def test_labels_in_blocks_are_told_above_everything(path):
    trace, said = trace_of(300), "The labels come in blocks & so on."
    text = run_text(path, trace, dataclasses.replace(progress_of(trace, 100), order_warning=said))
    assert '<p class="warning" role="note">The labels come in blocks &amp; so on.</p>' in text
    assert 'class="warning"' not in run_text(path, trace, progress_of(trace, 100))
    found = dataclasses.replace(twelve(), order_warning=said)
    assert 'class="warning"' in comparison_text(path, found)


@pytest.mark.parametrize(("n", "window", "rows"), [(1049, 1000, 1), (1050, 1000, 2), (569, 50, 11), (25, 10, 3)])
def test_what_is_left_at_the_end_is_no_window_of_its_own_if_it_is_small(path, n, window, rows):
    trace = trace_of(n)
    progress = progress_of(trace, window)
    text = run_text(path, trace, progress)
    found = re.findall(r"<tr><td.*?</tr>", text[text.index("<h2>Windows") :])
    assert len(found) == rows
    begins = (rows - 1) * window
    assert f"{begins + 1:,} to {n:,} {1 - trace.mistaken[begins:].mean():.1%}" in plain(found[-1])
    assert f"{progress.curve.value[-1]:.1%}" in found[-1]


@pytest.mark.parametrize(
    "comparison",
    [
        comparison_of(["A"], shares=(0.1,), repeats=1, windows=1),
        comparison_of([], full=["A", "B"], shares=()),
        comparison_of(["A", "B"], repeats=1),
        comparison_of(["A" * 200, "B"], windows=2000),
        twelve(shares=(0.001, 0.1)),
    ],
)
def test_comparisons_of_any_shape_give_a_whole_page(path, comparison):
    text = comparison_text(path, comparison)
    check_pictures(text)
    assert not re.search(r"\bnan\b|\binf\b", plain(text))


def test_cells_without_a_number_give_a_whole_page(path):
    comparison = comparison_of(["A", "B"])
    for name in ("asked", "accuracy", "windows"):
        getattr(comparison.cells[0], name)[:] = math.nan
    check_pictures(comparison_text(path, comparison))
    check_pictures(picture(comparison, 0.05, title="Unknown"))


def test_a_picture_is_a_small_document_that_names_every_algorithm():
    found = picture(twelve(windows=5000), 0.1, title="Over time")
    root = ElementTree.fromstring(found)
    assert len(found.encode()) < 100_000
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "prefers-color-scheme:dark" in found
    told = {element.text for element in root.iter("{http://www.w3.org/2000/svg}text")}
    assert {"Over time", "SEL-P", "BBQ-SWITCH-FREE", "PA-II-ACTIVE"} <= told
    check_pictures(found)


def test_a_share_that_was_not_compared_is_refused():
    with pytest.raises(InputError, match=r"^picture: share must be one of 0.05, 0.1, 0.2, got 0.3\.$"):
        picture(comparison_of(["A"]), 0.3, title="None")


def test_a_trace_of_other_rounds_and_several_tasks_are_refused(path):
    trace = trace_of(100)
    progress = progress_of(trace, 10)
    with pytest.raises(InputError, match="trace must have as many rounds as progress, 100, got 99"):
        run_text(path, trace_of(99), progress)
    with pytest.raises(InputError, match="progress must be of one task"):
        run_text(path, trace, dataclasses.replace(progress, several=True))
    assert not path.exists()


def test_a_file_that_cannot_be_written_is_told_in_one_sentence(tmp_path):
    lost = tmp_path / "no" / "run.html"
    with pytest.raises(InputError, match=rf"^report: cannot write {lost}: No such file or directory\.$"):
        comparison_text(lost, comparison_of(["A"]))
    with pytest.raises(InputError, match=r"^report: cannot write .*: Is a directory\.$"):
        comparison_text(tmp_path, comparison_of(["A"]))
    for wrong in (None, 3):
        with pytest.raises(InputError, match="write_comparison: path must be the name of a file"):
            write_comparison(wrong, comparison_of(["A"]), title="", facts={}, command="")


def test_an_old_file_stays_until_the_new_one_is_complete(path, monkeypatch):
    path.write_text("old")

    def fail(self, target):
        assert path.read_text() == "old"
        assert self.read_text(encoding="utf-8").endswith("</html>\n")
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", fail)
        with pytest.raises(InputError, match="No space left on device"):
            comparison_text(path, comparison_of(["A"]))
    assert path.read_text() == "old"
    assert [path] == list(path.parent.iterdir())
    assert comparison_text(path, comparison_of(["A"])) != "old"
    assert [path] == list(path.parent.iterdir())


def test_a_run_is_shown_beside_refitted_models_the_best_first(path):
    trace = trace_of(1000)
    progress = progress_of(trace, 100)
    assert "What you would have had otherwise" not in plain(run_text(path, trace, progress))
    models = [Refitted(REFITTED[0], 0.7, 200, 21), Refitted(REFITTED[1], 0.95, 201, 22)]
    progress = dataclasses.replace(progress, refitted=models, left_out=["Gradient boosting is left out: why."])
    text = plain(run_text(path, trace, progress))
    right = 1 - progress.error
    own = f"model accuracy this run is better by labels refits this run {right:.1%} {trace.questions}"
    best = f"logistic regression by margin 95.0% \N{MINUS SIGN}{100 * (0.95 - right):.1f} points 201 22"
    other = f"logistic regression at random 70.0% {100 * (right - 0.7):.1f} points 200 21"
    assert f"{own} {best} {other} Gradient boosting is left out: why." in text
    progress = dataclasses.replace(progress_of(trace, 100, regression=True), refitted=[Refitted("ridge", 0.5, 200, 21)])
    text = plain(run_text(path, trace, progress))
    assert (
        f"model mean squared error labels refits this run {progress.error:#.4g} {trace.questions} ridge 0.5000" in text
    )


def test_a_comparison_is_shown_beside_refitted_models_at_each_share(path):
    made = with_refitted(comparison_of(["default", "other"], full=["PERCEPTRON"]), ["Trees are left out."])
    page = comparison_text(path, made)
    check_pictures(page)
    text = plain(page)
    assert "model accuracy default is better by ± 95% labels refits seconds" in text
    for part in (0.05, 0.1, 0.2):
        own = next(cell for cell in made.cells if cell.share == part)
        shown = f"default, {100 * part:g}% of the labels {own.mean:.1%} {own.margin_of_error:.1%}"
        assert shown in text
        labels = f"{15_000 * part:,.0f}"
        best = f"gradient boosting by margin 74.0% {100 * (own.mean - 0.74):.1f} points 0.0% {labels} 23 2.5"
        assert text.index(shown) < text.index(best)
    assert "Trees are left out." in text
    assert "What you would have had otherwise" not in plain(comparison_text(path, comparison_of(["default"])))
    only = with_refitted(comparison_of([], full=["PERCEPTRON"]))
    assert "model accuracy ± 95% labels refits seconds gradient boosting by margin 74.0%" in plain(
        comparison_text(path, only)
    )


def history_of(trace, error=0.05):
    """Four chunks, of which the last leaves 4 % certified, 3 % wrong and a tenth of the rows without a label."""
    rounds = trace.rounds * np.arange(1, 5) // 4
    delivered = rounds - np.array([0, 0, 0, trace.rounds // 10])
    wrong = (0.03 * delivered).astype(int)
    certified, estimated = np.array([0.9, 0.05, 0.045, 0.04]), np.array([np.nan, 0.01, 0.02, 0.025])
    return PromiseHistory(error, 0.95, rounds, rounds // 5, delivered, wrong, certified, estimated)


def test_a_promise_has_its_certificate_over_time_and_what_others_would_have_asked_for(path):
    trace = trace_of(4000)
    progress = dataclasses.replace(progress_of(trace, 500), promise=history_of(trace))
    text = run_text(path, trace, progress)
    pictures, shown = check_pictures(text), plain(text)
    share = f"{trace.questions / 4000:.1%}"
    certified = "at most 4.0% of the 3,600 delivered labels are wrong, with 95% confidence"
    assert f"{trace.questions:,} of 4,000 labels were asked for ({share}); {certified}; here, where all" in shown
    assert "Wrong labels at most 4.0% of the delivered labels are wrong, at 95% confidence and at any time" in shown
    assert "Wrong labels 3.0% 108 of 3,600 delivered labels" in shown
    assert "Coverage 90.0% 400 rows have no label" in shown
    assert "1,000 1,000 200 90.0% 3.0%" in shown  # the first line of the numbers
    places = [
        shown.index(name) for name in ("Certificate over time", "Errors against questions", "Questions over time")
    ]
    assert places == sorted(places)
    charts = [re.search('aria-label="([^"]*)"', each)[1] for each in pictures if "aria-label" in each]
    assert charts.count("Certificate over time") == charts.count("Errors against questions") == 3
    assert re.findall(r"\b(1|2|5|10|20)% [\d,]+ \S+% \S+% \S+%", shown) == ["1", "2", "5", "10", "20"]
    unknown = run_text(path, trace_of(4000, margin=np.nan), progress)
    assert "Errors against questions" not in unknown
    assert "Certificate over time" in unknown


@pytest.mark.parametrize("rate", [None, 0.1])
def test_a_plan_has_its_points_as_a_chart_and_as_a_table(path, rate):
    def point(error, asked, wrong):
        each = (
            np.array([asked, asked + 20]),
            np.array([990, 1000]),
            np.array([wrong, wrong]),
            np.array([error, error]),
        )
        return PromisePoint(error, 1000, *each)

    curve = PromiseCurve([point(0.02, 600, 10), point(0.05, 300, 30), point(0.1, 100, 60)], 1000, 2, 0.95, rate=rate)
    write_promise_curve(path, curve, title="Plan", facts=FACTS, command=COMMAND)
    text = path.read_text(encoding="utf-8")
    shown = plain(text)
    assert check_pictures(text)
    assert "For at most 5% errors, with 95% confidence and at any time, 310 of 1,000 labels were asked for" in shown
    assert ("and 99.5% of the rows got a label." in shown) == (rate is not None)
    assert ("and 69.0% were saved." in shown) == (rate is None)
    assert "5% 310 69.0% 3.0% 5.0%" + " 99.5%" * (rate is not None) in shown
    assert ('aria-label="Coverage"' in text) == (rate is not None)
    drawn = promise_picture(curve, title="Errors & questions")
    assert "Errors &amp; questions" in drawn
    assert check_pictures(drawn)


def test_a_run_shows_its_advisers_with_what_is_known_of_them(path):
    trace = trace_of(3000)
    y = np.where(np.random.default_rng(4).random(3000) < 0.5, 1, -1)
    found = advisers_of(y, 1000)
    progress = dataclasses.replace(progress_of(trace, 1000), advisers=found)
    text = run_text(path, trace, progress)
    pictures = check_pictures(text)
    assert any("Accuracy of advisers over time" in each for each in pictures)
    shown, gpt = plain(text), next(each for each in found if each.name == "gpt")
    overall, late = gpt.found.overall, gpt.found.accuracy.windows[1000]
    row = f"gpt {overall.value:.1%} {gpt.accuracy:.1%} {late.low:.1%} to {late.high:.1%}"
    assert row in shown
    assert f"{gpt.found.random_labels:,} 100.0%" in shown
    behind = gpt.found.against[found[0].name]
    points = [f"{100 * share:+.1f}".replace("-", "\N{MINUS SIGN}") for share in (behind.value, behind.low, behind.high)]
    assert f"{points[0]} ({points[1]} to {points[2]}) {gpt.found.random_labels:,}" in shown
    assert "falls & <rises> has become worse: right in at most" in shown
    assert "leak is right in more than 99.5% of its answers" in shown
    assert f'aria-label="{overall.low:.1%} to {overall.high:.1%}"' in text
    assert "Advisers" not in plain(run_text(path, trace, progress_of(trace, 1000)))


def test_a_comparison_shows_its_advisers(path):
    text = comparison_text(path, with_advisers(comparison_of(["default", "random"])))
    check_pictures(text)
    shown = plain(text)
    assert "gpt 75.0% 100.0% default 5% 74.0% 4 of 5" in shown
    assert "old & <new> 50.0% 30.0% default 5% not known yet 5 of 5" in shown
    assert "gpt alone 75.0%" in text
    assert "default, without advice" in shown
    assert "Advisers" not in plain(comparison_text(path, comparison_of(["default"])))
