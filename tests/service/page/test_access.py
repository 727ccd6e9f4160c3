"""Every page for everybody: axe-core finds nothing, and finds what a page broken on purpose has."""

import re

import numpy as np
import pytest
from axe_playwright_python.base import AXE_SCRIPT

import askwhen as aw
from tests.service.page.person import asked, press

pytestmark = pytest.mark.xdist_group("page")

OUTSIDE = """width => [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.scroll table, .part, .unseen, .jump') && e.getClientRects().length)
    .map(e => [e.outerHTML.slice(0, 120), e.getBoundingClientRect()])
    .filter(([_, box]) => box.width && (box.left < -0.5 || box.right > width + 0.5)).map(([html]) => html)"""
PAGES = (
    "sign-in",
    "home",
    "label",
    "keys",
    "search",
    "review",
    "dashboard",
    "form",
    "change",
    "import",
    "tokens",
    "me",
    "invitation",
    "lost",
)


@pytest.fixture(scope="module")
def shown(server):
    """A stream with something on every page."""
    with aw.Client(server.url, server.tokens["root"]) as client:
        stream = client.create(
            "shown",
            labels=["ham", "spam", "other"],
            features={"kind": "text", "places": 64},
            budget={"rate": 1.0},
            slots=2,
            grace=0.0,
            view={"highlight": "offer|free"},
            seed=1,
        )
        rng = np.random.default_rng(1)
        for i in range(60):
            stream.ask(f"Mail {i}: a free offer.\n" + " ".join(rng.choice(["word", "long", "text"], 60)))
        for who in ("ann", "bob"):
            with aw.Client(server.url, server.tokens[who]) as other:
                theirs = other.stream("shown")
                for k in range(20):
                    label = ["ham", "spam", "other"][k % 3] if k % 4 or who == "ann" else "ham"
                    theirs.tell(theirs.next()["question"], label, lead=2.0)
    return "shown"


@pytest.fixture
def show(visit, shown):
    """Open one of the pages, as it looks when somebody uses it; at the end they leave it, so that others are asked."""
    pages = []

    def opened(name, **given):
        who = None if name == "sign-in" else "root"
        address = {
            "form": "/new",
            "tokens": "/tokens",
            "me": "/me",
            "invitation": "/invitation#awinvite_x",
            "home": "/",
        }.get(name, f"/{name}/{shown}")
        address = f"/label/{shown}" if name in ("sign-in", "keys", "search") else address
        address = "/dashboard/nowhere" if name == "lost" else address
        page = visit(who, address, loud=name in ("lost", "sign-in"), **given)
        pages.append(page)
        if name in ("label", "keys", "search", "review"):
            asked(page)
        if name == "label":
            press(page, "1")
            page.locator(".last", has_text="The model guessed").wait_for()
        if name == "keys":
            page.keyboard.press("?")
            page.wait_for_selector("dialog[open]")
        if name == "search":
            page.keyboard.press("/")
            page.keyboard.type("o")
            page.wait_for_selector(".label.active")
        if name == "dashboard":
            page.get_by_text("Live.").wait_for()
        if name == "me":
            page.get_by_role("region", name="Your tokens").wait_for()
        page.locator("h1, h2").first.wait_for()
        page.evaluate("() => document.querySelectorAll('details').forEach(d => { d.open = true; })")
        return page

    yield opened
    for page in pages:
        page.goto("about:blank")


def violations(page):
    page.evaluate(AXE_SCRIPT)
    found = page.evaluate("() => axe.run(document, {resultTypes: ['violations']})")
    assert len(found["passes"]) > 10
    return [(each["id"], [node["html"][:200] for node in each["nodes"][:3]]) for each in found["violations"]]


def luminance(colour):
    """How bright a colour such as rgb(17, 20, 23) is, as the guidelines on contrast have it."""
    parts = [int(part) / 255.0 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def check_fits(page, width):
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.evaluate(OUTSIDE, width) == []


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_in_light_and_dark_and_everything_fits(show, name):
    page = show(name)
    assert violations(page) == []
    page.emulate_media(color_scheme="dark")
    check_fits(page, 380)
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 20, 23)"
    assert violations(page) == []
    check_fits(page, 2560)


@pytest.mark.parametrize("name", ["label", "review"])
def test_with_large_letters_or_a_phone_held_across_nothing_covers_the_question(show, name):
    page = show(name)
    for width, height in ((640, 360), (740, 340), (320, 480), (380, 620), (640, 600), (640, 660)):
        page.set_viewport_size({"width": width, "height": height})
        question, panel = (page.locator(part).bounding_box() for part in (".question", ".panel"))
        assert question["height"] >= 100.0, (width, height)
        below = question["y"] + question["height"] <= panel["y"] + 0.5
        run_in_background = question["x"] + question["width"] <= panel["x"] + 0.5
        assert below or run_in_background, (width, height)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_what_is_broken_on_purpose(show):
    page = show("form")
    page.evaluate(
        """() => { document.querySelector('label[for=name]').remove();
        for (const read of document.querySelectorAll('.read')) read.style.color = '#ccc'; }"""
    )
    found = dict(violations(page))
    assert {"color-contrast", "label"} <= set(found)


def test_focus_is_visible_and_everything_is_reached_by_tab(show):
    page = show("label", width=1000)
    seen = []
    for _ in range(40):
        page.keyboard.press("Tab")
        name, outline = page.evaluate(
            """() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.getAttribute('aria-label') || e.textContent, [s.outlineStyle, parseFloat(s.outlineWidth)]]; }"""
        )
        if seen and name == seen[0]:
            break
        seen.append(name)
        if page.evaluate("document.activeElement !== document.body"):
            assert outline[0] != "none", name
            assert outline[1] >= 2.0, name
    for wanted in ("Skip to the content", "Dashboard", "Sign out", "Text", "1ham", "2spam", "Undoz", "Keys?"):
        assert wanted in seen


def test_new_questions_are_said_to_screen_readers(show):
    page = show("label")
    said = page.locator("#said")
    assert said.get_attribute("aria-live") == "polite"
    said.filter(has_text="New question. Mail").wait_for()


def test_less_motion_where_somebody_asked_for_it(visit, shown):
    page = visit("ann", f"/label/{shown}", reduced_motion="reduce")
    asked(page)
    moving = page.evaluate(
        """() => [...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e);
        return parseFloat(s.transitionDuration) > 0 || s.animationName !== 'none'; }).length"""
    )
    assert moving == 0


def test_axe_finds_nothing_while_no_question_waits(visit, made):
    page = visit("ann", f"/label/{made([]).name}")
    page.get_by_text("No question is waiting").first.wait_for()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert violations(page) == []
        soft, behind = page.evaluate(
            """() => [getComputedStyle(document.querySelector('.label')).color,
            getComputedStyle(document.body).backgroundColor]"""
        )
        light, dark = sorted(map(luminance, (soft, behind)), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5
