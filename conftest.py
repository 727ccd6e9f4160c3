"""Every test and documented example runs in a folder of its own; tests that compile the same steps run together."""

import os
import shutil
import sys
import tempfile

import pytest

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # tests already fill the cores; threads of matrices would only spin

_PASSED = pytest.StashKey()

MEMORY, ROOM = "/dev/shm", 4 << 30


def _has_room(folder):
    """Whether files of tests fit here, and programs may be run from here."""
    try:
        about = os.statvfs(folder)
    except OSError:
        return False
    return about.f_bavail * about.f_frsize >= ROOM and not about.f_flag & (os.ST_NOEXEC | os.ST_RDONLY)


# Thousands of databases are synced to the disk by what is tested: half of the time was spent waiting for it. What must
# survive an end is lost neither in memory nor on a disk by a process that is killed; tests of a loss of power and of
# errors of the disk make their own.
if "TMPDIR" not in os.environ and _has_room(MEMORY):
    os.environ["TMPDIR"] = tempfile.tempdir = MEMORY


def pytest_sessionfinish(session, exitstatus):
    """Remove the folders of tests that all passed: they are in memory. Until then processes and caches use them."""
    session.config.stash[_PASSED] = exitstatus == 0


def pytest_unconfigure(config):
    """Remove them once the other processes of the tests have ended."""
    factory = getattr(config, "_tmp_path_factory", None)
    passed = config.stash.get(_PASSED, False) and not hasattr(config, "workerinput")
    if passed and factory is not None and factory.getbasetemp().is_relative_to(MEMORY):
        shutil.rmtree(factory.getbasetemp(), ignore_errors=True)


collect_ignore = ["docs/conf.py", "docs/examples"]  # settings of the site, and what the gallery writes there
collect_ignore += ["tests/preloaded.py"]  # it does something when it is imported

FIRST = ["tests/adapters", "tests/workflows", "tests/data", "tests/report"]
QUIETLY = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]


NEED_DATA = ["llm-accuracy.md", "label-with-llm.md", "when-a-person.md", "new-version.md"]
"""Pages that play real data."""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def browser():
    """Chromium; without it tests of pages are skipped, unless ASKWHEN_BROWSER says where it must be."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=60_000)  # a busy machine draws late
    found = filter(None, map(shutil.which, ("chromium", "chromium-headless-shell")))
    path = os.environ.get("ASKWHEN_BROWSER") or next(found, None)
    if path is None:
        pytest.skip("there is no Chromium; apt-get install chromium")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=QUIETLY)
        yield running
        running.close()


@pytest.fixture
def show(browser):
    """Open a page; at the end, demand that nothing else was fetched and nothing complained."""
    contexts, complaints = [], []

    def asked(route):
        if route.request.url.startswith("file://"):
            route.continue_()
        else:
            complaints.append(route.request.url)
            route.abort()

    def opened(path, width=1400, scheme="light", media="screen"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.route("**/*", asked)
        page = context.new_page()
        page.emulate_media(media=media)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(path.as_uri())
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture(scope="session")
def compiled_ahead(tmp_path_factory):
    """A cache that was empty before PA's steps were compiled into it, and what a terminal showed meanwhile."""
    import pexpect
    from tests.workflows.warm import WARM

    folder = tmp_path_factory.mktemp("ahead")
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    terminal = pexpect.spawn(sys.executable, ["-c", WARM], env=environment, encoding="utf-8", timeout=300)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0, terminal.before
    return folder, terminal.before


def pytest_configure(config):
    """Know the mark of groups where pytest-xdist is not installed, as on the oldest scikit-learn."""
    config.addinivalue_line("markers", "xdist_group(name): where there are workers, all of a group run on one")


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items):
    """Keep what shares compiled steps on one worker, or both would compile them at the same time.

    At first one worker compiles what all samplers share, while the other does what needs little of it.
    """
    from tests.table import ROWS, Row

    items.sort(key=lambda item: next((i for i, room in enumerate(FIRST) if room in item.nodeid), len(FIRST)))
    for item in items:
        if item.path.name in NEED_DATA and not os.environ.get("ASKWHEN_DATA"):
            item.add_marker(pytest.mark.skip(reason="ASKWHEN_DATA does not say where the data sets are"))
        if "browser" in getattr(item, "fixturenames", ()) and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group("cli"))  # whose reports are looked at too: one browser is enough
        for given in item.callspec.params.values() if hasattr(item, "callspec") else ():
            row = ROWS.get(given) if isinstance(given, str) else given
            if isinstance(row, Row) and item.get_closest_marker("xdist_group") is None:
                item.add_marker(pytest.mark.xdist_group(row.group))
    steps = sys.modules.get("askwhen.compiled.steps")
    if steps is not None and steps._entry_points:
        raise pytest.UsageError("a module of tests plays a sampler when it is imported: all workers compile for it")
    yield  # pytest-xdist 3.8 writes the groups where pytest 9.2 does not look for them, its issue 1386
    for item in items:
        if (named := vars(item).get("_nodeid", item.nodeid)) != item.nodeid:
            item._id = type(item.id).parse(named)
