"""The pages as a browser shows them: nothing fetched, nothing cut, nothing pale."""

import dataclasses

import numpy as np
import pytest

import askwhen as aw
from askwhen.report import picture, promise_picture, write_comparison, write_promise_curve, write_run
from tests.report.made import COMMAND, advisers_of, progress_of, trace_of, twelve, with_advisers, with_refitted

FACTS = {"file": "/a/path/without/any/space/" + "in_it" * 40 + ".csv", "name" * 30: "value " * 60, "seed": "7"}
WIDTHS = (1400, 800, 380)
PAGES = ("run", "regressor", "tiny", "comparison", "plan")

OUTSIDE = """width => [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.scroll table') && e.getClientRects().length)
    .map(e => [e.outerHTML.slice(0, 120), e.getBoundingClientRect()])
    .filter(([_, box]) => box.width && (box.left < -0.5 || box.right > width + 0.5)).map(([html]) => html)"""

OVERLAPS = """() => [...document.querySelectorAll('svg[role=img]')].flatMap(svg => {
    const texts = [...svg.querySelectorAll('text')].filter(t => t.getClientRects().length);
    const boxes = texts.map(t => t.getBoundingClientRect());
    const found = [];
    for (let i = 0; i < boxes.length; i++) for (let j = 0; j < i; j++) {
        const [a, b] = [boxes[i], boxes[j]];
        const wide = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const high = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (wide > 0.5 && high > 3) found.push([texts[i].textContent, texts[j].textContent]);
    }
    return found;
})"""

PALE = """least => {
    const rgb = text => { const n = text.match(/[\\d.]+/g).map(Number), most = text.startsWith('color(') ? 255 : 1;
        return [n[0] * most, n[1] * most, n[2] * most, n.length > 3 ? n[3] : 1]; };
    const light = c => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const behind = e => { const seen = []; for (; e; e = e.parentElement) {
        seen.push(rgb(getComputedStyle(e).backgroundColor)); if (seen.at(-1)[3] === 1) break; }
        const over = (below, c) => below.map((v, i) => c[3] * c[i] + (1 - c[3]) * v);
        return seen.reverse().reduce(over, [255, 255, 255]); };
    const found = [], seen = { count: 0 };
    for (const e of document.querySelectorAll('body *')) {
        if (![...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()) || !e.getClientRects().length) continue;
        if (['STYLE', 'title', 'desc'].includes(e.tagName)) continue;
        const style = getComputedStyle(e), svg = e instanceof SVGElement;
        const [a, b] = [light(rgb(svg ? style.fill : style.color).slice(0, 3)), light(behind(e))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        seen.count++;
        if (ratio < least) found.push([e.textContent.slice(0, 40), ratio]);
    }
    return [seen.count, found];
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("reports")
    more = {"facts": FACTS, "command": COMMAND + " --long" * 60}
    X = np.random.default_rng(0).standard_normal((3000, 5))
    y = np.where(X[:, 0] > 0, 1, -1)
    rule, chunks = aw.PromiseRule(0.1), [(X[at : at + 60], y[at : at + 60]) for at in range(0, 3000, 60)]
    progress = aw.evaluate.progressive(aw.Sampler(rule=rule, seed=7), chunks, window=50)
    trace = aw.Sampler(rule=rule, seed=7).run(X, y)
    progress.switches.extend([400, 1700])
    progress = dataclasses.replace(progress, advisers=advisers_of(y))
    levels = [f"c = {10**k:,}" for k in range(trace.drift_weights.shape[1])]
    write_run(made / "run.html", progress, trace, title="A run " + "x" * 90, budget=0.1, levels=levels, **more)
    curve = aw.evaluate.promise_curve(trace, rate=0.1)
    write_promise_curve(made / "plan.html", curve, title="Plan", **more)
    (made / "plan.svg").write_text(promise_picture(curve, title="Errors against questions"), encoding="utf-8")
    trace = trace_of(2_000_000)
    write_run(made / "regressor.html", progress_of(trace, 9999, regression=True), trace, title="Errors", **more)
    trace = trace_of(1, margin=np.nan)
    write_run(made / "tiny.html", progress_of(trace, 1, known=False), trace, title="One round", **more)
    write_comparison(made / "comparison.html", with_advisers(with_refitted(twelve())), title="Twelve", **more)
    (made / "picture.svg").write_text(picture(twelve(), 0.1, title="Over time"), encoding="utf-8")
    return made


@pytest.fixture
def show(show, folder):
    return lambda name, *args, **kwargs: show(folder / name, *args, **kwargs)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("width", WIDTHS)
def test_nothing_is_cut_or_overlaps(show, name, width):
    page = show(f"{name}.html", width)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    assert width >= page.evaluate("document.documentElement.scrollWidth")
    assert page.evaluate(OUTSIDE, width) == []
    assert page.evaluate(OVERLAPS) == []
    for figure in page.locator("figure").all():
        assert figure.locator("svg[role=img]:visible").count() == 1


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_stands_out_from_what_is_behind_it(show, name, scheme):
    page = show(f"{name}.html", scheme=scheme)
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 20, 23)"
    assert (scheme == "dark") == dark
    texts, pale = page.evaluate(PALE, 4.5)
    assert texts > 50
    assert pale == []


@pytest.mark.parametrize("name", PAGES)
def test_print_is_light_and_keeps_charts_whole(show, name):
    page = show(f"{name}.html", width=700, scheme="dark", media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate(PALE, 4.5)[1] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    assert page.locator("details:visible").count() == 0
    figures = "[...document.querySelectorAll('figure')]"
    assert page.evaluate(f"{figures}.every(f => getComputedStyle(f).breakInside === 'avoid')")
    assert page.evaluate(f"Math.max(...{figures}.map(f => f.getBoundingClientRect().height))") < 800
    assert page.pdf(format="A4").startswith(b"%PDF")


@pytest.mark.parametrize("width", [380, 400])
def test_a_narrow_page_shows_names_and_accuracies_and_keeps_names_while_scrolling(show, width):
    page = show("comparison.html", width)
    box = page.locator(".scroll").last
    edges = "b => [...b.querySelectorAll('tr > :nth-child(3)')].map(e => e.getBoundingClientRect().right)"
    right = box.evaluate("b => b.getBoundingClientRect().right")
    assert "accuracy" in box.locator("thead th").nth(2).inner_text()
    assert max(box.evaluate(edges)) <= right + 0.5
    moved = box.evaluate("b => { b.scrollLeft = 1000; return b.scrollLeft; }")
    assert moved > 50
    names = "b => [...b.querySelectorAll('tr > :first-child')].map(e => e.getBoundingClientRect().left)"
    left = box.evaluate("b => b.getBoundingClientRect().left")
    assert min(box.evaluate(names)) >= left - 0.5


def test_charts_and_scrolling_tables_have_names(show):
    page = show("run.html")
    for what in ("svg[role=img]", ".scroll"):
        names = [element.get_attribute("aria-label") for element in page.locator(what).all()]
        assert names
        assert all(names)
    assert page.get_by_role("img", name="Accuracy over time").count() == 1
    assert page.get_by_role("heading", level=1).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", ["picture", "plan"])
def test_a_picture_reads_on_its_own(show, folder, name, scheme):
    (folder / "around.html").write_text(
        "<!doctype html><body style='background:{}'>{}</body>".format(
            "#0d1117" if scheme == "dark" else "#fff", (folder / f"{name}.svg").read_text(encoding="utf-8")
        ),
        encoding="utf-8",
    )
    page = show("around.html", width=1000, scheme=scheme)
    assert page.evaluate(OVERLAPS) == []
    assert page.evaluate(PALE, 4.5)[1] == []
    boxes = "[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect())"
    frame = page.evaluate("(b => [b.left, b.right, b.bottom])(document.querySelector('svg').getBoundingClientRect())")
    assert page.evaluate(f"Math.min(...{boxes}.map(b => b.left))") >= frame[0]
    assert page.evaluate(f"Math.max(...{boxes}.map(b => b.right))") <= frame[1]
    assert page.evaluate(f"Math.max(...{boxes}.map(b => b.bottom))") <= frame[2]


def test_a_picture_alone_is_shown_as_an_image(show, folder):
    (folder / "image.html").write_text("<!doctype html><img src='picture.svg'>", encoding="utf-8")
    page = show("image.html")
    assert page.evaluate("document.querySelector('img').naturalWidth") == 912
