"""The site as it is built: nothing missing, nothing fetched, every link leads somewhere."""

import pathlib
import re
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
FETCHED = re.compile(
    r'<(?:script|img|iframe|source|video|audio|object)\b[^>]*\b(?:src|data|srcset)="([^"]*)"|<link\b([^>]*)>'
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, built from a copy, since the gallery writes among its sources; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    for part in ("docs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("examples", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", folder / "docs", folder / "site"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"


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
