"""The wheel and the sdist hold what they should, and every documented installation works from the wheel.

A clean environment is made without the network: of the distributions that the tests run with, it gets those that
pip would choose for the line, and no other. pip then installs the wheel there and finds nothing missing, or fails.
``make packages`` does the same through the network, for every extra and every Python at hand.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import venv
import zipfile
from importlib.metadata import distribution

import pytest
from packaging.requirements import Requirement

import askwhen
from tests.packaging import carrying

ROOT = pathlib.Path(__file__).parents[2]
LINE = re.compile(r"""pip install ['"]?askwhen\[([\w,]+)\]""")
SMOKE = pathlib.Path(__file__).with_name("smoke.py")
OFFLINE = ("--quiet", "--no-index", "--no-compile", "--disable-pip-version-check")
pytestmark = pytest.mark.xdist_group("packages")  # which share one build


def documented():
    """Extras of every pip install 'askwhen[...]' in the pages and the messages."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    found = {each for page in pages for each in LINE.findall(page.read_text())}
    return ["", *sorted(found)]


def tree(folder):
    return {path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stdout + made.stderr
    return next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))


def chosen(text, found):
    """Names of the distributions that a requirement brings, with those that they bring."""
    wanted = Requirement(text)
    extras = tuple(sorted(wanted.extras)) or ("",)
    if (wanted.name, extras) in found:
        return
    found.add((wanted.name, extras))
    for line in distribution(wanted.name).requires or ():
        marker = Requirement(line).marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
            chosen(line, found)


def requirements(wheel, extra):
    """Names of the distributions that a wheel needs with an extra."""
    with zipfile.ZipFile(wheel) as archive:
        path = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        lines = archive.read(path).decode().splitlines()
    found = set()
    for line in lines:
        if line.startswith("Requires-Dist: "):
            needed = Requirement(line.removeprefix("Requires-Dist: "))
            if needed.marker is None or any(needed.marker.evaluate({"extra": one}) for one in extra.split(",")):
                chosen(str(needed).split(";")[0], found)
    return {name for name, _ in found}


def lend(name, site):
    """Link what a distribution of this environment installed into another one."""
    lender = distribution(name)
    for top in {file.parts[0] for file in lender.files} - {"..", "__pycache__"}:
        link = site / top
        if not link.exists():
            link.symlink_to(lender.locate_file(top))


def test_the_wheel_has_the_package_and_nothing_else(packages):
    wheel, _ = packages
    source = {path.relative_to(ROOT / "src").as_posix() for path in tree(ROOT / "src" / "askwhen")}
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
        about = {name.split("/", 1)[1] for name in archive.namelist() if ".dist-info/" in name}
    assert held == source
    assert {"askwhen/py.typed", "askwhen/__init__.pyi", "askwhen/service/http/routes/web/shell.html"} <= held
    assert "licenses/LICENSE" in about


def test_a_wheel_for_one_platform_also_has_compiled_steps(packages, tmp_path):
    steps = tmp_path / "steps"
    (steps / "askwhen.engine").mkdir(parents=True)
    (steps / "about.json").write_text("{}")
    (steps / "askwhen.engine" / "step.nbc").write_bytes(b"machine code")
    wheel = pathlib.Path(shutil.copy(packages[0], tmp_path))
    made = carrying.carrying(wheel, steps, carrying.tag())
    command = [sys.executable, "-m", "pip", "install", *OFFLINE, "--no-deps", "--target", tmp_path / "site", made]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    site = tmp_path / "site"
    assert (site / "askwhen/compiled/carried/askwhen.engine/step.nbc").read_bytes() == b"machine code"
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made) as new:
        assert {name for name in new.namelist() if "/carried/" not in name} == set(old.namelist())
        record = next(name for name in new.namelist() if name.endswith("RECORD"))
        lines = [line.rsplit(",", 2) for line in new.read(record).decode().splitlines()]
        assert sorted(name for name, *_ in lines) == sorted(new.namelist())
        for name, digest, size in lines[:-1]:
            content = new.read(name)
            found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
            assert (digest, size) == (f"sha256={found}", str(len(content)))
            if name in old.namelist() and not name.endswith("/WHEEL"):
                assert content == old.read(name)


def test_the_sdist_has_what_the_tests_need(packages):
    _, sdist = packages
    with tarfile.open(sdist) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames()}
    rooms = [ROOT / each for each in ("src/askwhen", "tests", "benchmarks", "examples", "docs", "deploy")]
    needed = {path.relative_to(ROOT).as_posix() for room in rooms for path in tree(room)}
    needed = {name for name in needed if not name.startswith("docs/examples/")}  # make docs draws them
    single = {
        "Containerfile",
        ".containerignore",
        "conftest.py",
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        "README.md",
        "CHANGELOG.md",
    }
    assert sorted((needed | single | {"LICENSE", "CITATION.cff", "CONTRIBUTING.md", "RELEASING.md"}) - held) == []


def test_the_citation_names_this_version():
    text = (ROOT / "CITATION.cff").read_text()
    assert f"\nversion: {askwhen.__version__}\n" in text


def test_the_changelog_has_versions_and_dates_and_begins_with_this_one():
    found = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \((unreleased|\d{4}-\d\d-\d\d)\)", each) for each in found)
    assert found[0].startswith(f"{askwhen.__version__} (")
    assert not any("unreleased" in each for each in found[1:])


def test_what_is_documented_is_an_extra():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert {each for line in documented() for each in line.split(",")} - set(extras) == {""}
    assert "service" in documented()


@pytest.mark.parametrize("extra", documented())
def test_an_installation_from_the_wheel_works(packages, tmp_path, extra):
    wheel, _ = packages
    venv.create(tmp_path / "clean", with_pip=False)
    python = tmp_path / "clean" / "bin" / "python"
    site = pathlib.Path(sysconfig.get_path("purelib", "venv", {"base": str(tmp_path / "clean")}))
    for name in requirements(wheel, extra):
        lend(name, site)
    line = f"askwhen[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)
    command = [sys.executable, "-m", "pip", "--python", str(python), "install", *OFFLINE, line]
    installed = subprocess.run(command, capture_output=True, text=True)
    assert installed.returncode == 0, installed.stderr
    tried = extra.split(",") if extra else ["bare"]
    found = subprocess.run([python, "-I", "-W", "error", SMOKE, *tried], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines() == [f"{part} works" for part in tried]
