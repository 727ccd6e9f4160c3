"""The site as it is built: nothing missing, nothing fetched, every link leads somewhere."""

import functools
import http.server
import re
import threading

import pytest

pytestmark = pytest.mark.xdist_group("docs")
FETCHED = re.compile(
    r'<(?:script|img|iframe|source|video|audio|object)\b[^>]*\b(?:src|data|srcset)="([^"]*)"|<link\b([^>]*)>'
)


def fetched_by(page):
    """What a browser would load to show a page."""
    for source, link in FETCHED.findall(page.read_text()):
        if source:
            yield source
        elif "stylesheet" in link or "icon" in link or "preload" in link:
            yield re.search(r'href="([^"]*)"', link).group(1)


def test_nothing_is_fetched_from_elsewhere(site):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 10
    outside = [(page.name, found) for page in pages for found in fetched_by(page) if re.match(r"(https?:)?//", found)]
    assert outside == []
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(@import|url\()\s*[\"']?(https?:)?//", sheet.read_text()), sheet


def test_code_is_highlighted(site):
    page = (site / "learn" / "tutorial.html").read_text()
    assert 'class="gp"' in page  # a prompt of Python
    assert 'class="kn"' in page  # its import


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    """The site as a server on this machine shows it."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


PAGES = ["index", "learn/tutorial", "reference/api/evaluate", "reference/options", "reference/glossary"]


@pytest.mark.parametrize(("width", "scheme"), [(380, "dark"), (380, "light"), (1400, "dark")])
def test_pages_are_readable_in_every_width_and_light(browser, address, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    fetched, errors = [], []
    page = context.new_page()
    page.on("request", lambda request: fetched.append(request.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    for name in PAGES:
        page.goto(f"{address}/{name}.html")
        assert scheme == page.evaluate("document.documentElement.dataset.theme")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, name
    context.close()
    assert errors == []
    assert [url for url in fetched if not url.startswith((address, "data:"))] == []


def test_the_search_finds_a_name_and_a_word(browser, address):
    page = browser.new_page()
    for asked, wanted in (("BudgetRule", "askwhen.BudgetRule"), ("moderation", "moderation queue")):
        page.goto(f"{address}/search.html?q={asked}")
        page.wait_for_selector("#search-results li a")
        assert wanted in page.inner_text("#search-results")
    page.close()
