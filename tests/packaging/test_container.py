"""The steps of the Containerfile, run without a container runtime: built, installed, compiled, served, found healthy.

Paths of the image are folders here. The lines are those of the file; only where pip finds packages differs: without the
network it takes those that the tests run with, and the image is warmed for one small algorithm, with what the tests
have compiled by then. ``make soak`` does all of it as it stands, with the network. Where the machine allows it,
everything but the data is then mounted read-only and the service runs as the file's user; in any case nothing outside
the data may change.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time

import httpx
import pytest

from askwhen.compiled.steps import cache_folder, source_hash
from tests.packaging.containerfile import lines_of, options_of, words_of
from tests.packaging.test_packages import lend, requirements
from tests.service.serving import free_port
from tests.soak import times

ROOT = pathlib.Path(__file__).parents[2]
TEXT = (ROOT / "Containerfile").read_text()
FULL = times(False, True)
PATHS = re.compile(r"(?<![\w.:/])/(source|wheels|opt/askwhen|data)\b")
pytestmark = pytest.mark.xdist_group("packages")

READ_ONLY = """
set -e
{python}
mount --bind {data} {data}
mount -o bind,remount,ro /
mount -o bind,remount,rw {data}
exec setpriv --reuid {user} --regid {user} --clear-groups -- "$@"
"""

REACHABLE = """
hold=$(mktemp -d)
mount --bind {prefix} $hold
mount -t tmpfs -o mode=755 none {closed}
mkdir -p {prefix}
mount --move $hold {prefix}
"""


class Image:
    """What the file makes, in a folder."""

    def __init__(self, folder, arguments):
        self.folder, self.arguments = folder, arguments
        self.environment = {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": "/nowhere"}
        self.work, self.user, self.command, self.health = folder, None, None, None

    def path(self, text):
        return PATHS.sub(lambda found: str(self.folder / found[1]), text)

    def filled(self, text):
        """A text with the file's arguments and variables."""
        values = self.arguments | self.environment
        return re.sub(r"\$\{?(\w+)\}?", lambda found: values.get(found[1], found[0]), text)

    def do(self, word, rest):
        if word == "ARG":
            name, _, default = rest.partition("=")
            self.arguments.setdefault(name, default)
        elif word == "ENV":
            given = dict(each.split("=", 1) for each in shlex.split(rest))
            if not FULL:  # the steps of the tests are for this processor
                given = {name: value for name, value in given.items() if not name.startswith("NUMBA_CPU")}
            self.environment |= {name: self.path(self.filled(value)) for name, value in given.items()}
        elif word == "WORKDIR":
            self.work = pathlib.Path(self.path(rest))
            self.work.mkdir(parents=True, exist_ok=True)
        elif word == "COPY":
            self.copy(*options_of(rest))
        elif word == "RUN":
            self.run(rest)
        elif word == "USER":
            self.user = rest.partition(":")[0]
        elif word == "HEALTHCHECK":
            self.health = words_of(rest)
        elif word == "CMD":
            self.command = words_of(rest)

    def copy(self, options, words):
        *sources, target = words
        target = self.work / self.path(target)
        if "from" in options:
            return  # the stages share one folder
        for source in sources:
            if (ROOT / source).is_dir():
                shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy(ROOT / source, target)

    def run(self, command):
        if not FULL and "pip install" in command:
            site = pathlib.Path(sysconfig.get_path("purelib", "venv", {"base": str(self.folder / "opt/askwhen")}))
            for name in requirements(next((self.folder / "wheels").glob("*.whl")), self.arguments["EXTRAS"]):
                lend(name, site)
        if not FULL and "askwhen warm" in command:
            self.lend_steps()
        offline = {} if FULL else {"PIP_NO_INDEX": "1", "PIP_NO_BUILD_ISOLATION": "0"}
        environment = self.environment | PIP | offline
        command = self.path(self.filled(command if IS_ROOT else command.replace("chown", "true")))
        done = subprocess.run(["sh", "-c", command], cwd=self.work, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stdout[-1000:], done.stderr[-3000:])

    def lend_steps(self):
        """Copy the steps that the tests have compiled."""
        there = pathlib.Path(self.environment["NUMBA_CACHE_DIR"]) / "askwhen" / f"steps-{source_hash()}"
        shutil.copytree(cache_folder(), there, ignore=shutil.ignore_patterns("*.tmp.*"))


PIP = {name: value for name, value in os.environ.items() if name.startswith("PIP_") or name == "HOME"}
IS_ROOT = hasattr(os, "getuid") and os.getuid() == 0


def contained(image):
    """What goes before a command so that it runs as the file says: as its user, with all but the data read-only."""
    prefix = pathlib.Path(sys.base_prefix)
    closed = [each for each in reversed(prefix.parents) if not each.stat().st_mode & 0o001]
    python = REACHABLE.format(prefix=prefix, closed=closed[0]) if closed else ""
    script = READ_ONLY.format(python=python, data=image.folder / "data", user=image.user)
    tried = ["unshare", "--mount", "sh", "-c", script, "sh"] if IS_ROOT and shutil.which("unshare") else ["false"]
    done = subprocess.run([*tried, "true"], capture_output=True)
    return tried if done.returncode == 0 else []


@pytest.fixture(scope="module")
def image():
    arguments = {} if FULL else {"ALGORITHMS": "perceptron"}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="askwhen-image-"))
    folder.chmod(0o755)
    try:
        image = Image(folder, arguments)
        for word, rest in lines_of(TEXT):
            image.do(word, rest)
        yield image
    finally:
        shutil.rmtree(folder)


def listed(folder):
    return {path: (path.lstat().st_size, path.lstat().st_mtime_ns) for path in folder.rglob("*")}


def test_the_image_serves_read_only_and_compiles_nothing(image):
    before = listed(image.folder / "opt")
    assert any(path.suffix == ".nbc" for path in before), "steps were compiled when it was made"
    environment = image.environment | {"ASKWHEN_PORT": str(free_port()), "ASKWHEN_BEHIND_PROXY": "true"}
    around, given = contained(image), {"env": environment, "cwd": image.folder / "data", "text": True}
    made = subprocess.run(
        [*around, "askwhen", "token", "make", "root", "--role", "admin", "--json"], **given, stdout=-1
    )
    assert made.returncode == 0
    secret = re.search(r"aw_[\w-]+", made.stdout)[0]
    service = subprocess.Popen([*around, *image.command], **given, stderr=subprocess.PIPE)
    try:
        end = time.monotonic() + 60.0
        while subprocess.run([*around, *image.health], **given, capture_output=True).returncode:
            assert time.monotonic() < end
            assert service.poll() is None, service.stderr.read()
            time.sleep(0.2)
        url, headers = f"http://127.0.0.1:{environment['ASKWHEN_PORT']}", {"Authorization": f"Bearer {secret}"}
        with httpx.Client(base_url=url, headers=headers) as http:
            algorithm = image.arguments["ALGORITHMS"].split(",")[0]
            for name, labels in (("two", ["a", "b"]), ("three", ["a", "b", "c"])):
                given = {"name": name, "settings": {"labels": labels, "algorithm": algorithm, "seed": 1, "grace": 0.0}}
                assert http.post("/v1/streams", json=given).status_code == 201
                found = http.post(f"/v1/streams/{name}/instances", json={"x": [1.0, 2.0]}).json()
                assert found["asked"], found
                assert http.post(f"/v1/streams/{name}/questions/0/answer", json={"label": "a"}).status_code == 200
                assert http.get(f"/v1/streams/{name}/report").status_code == 200
            assert http.get("/").status_code == 200
    finally:
        service.terminate()
        _, log = service.communicate(timeout=30.0)
    assert "cannot be kept" not in log, log
    assert listed(image.folder / "opt") == before
    assert sorted(path.name for path in (image.folder / "data").iterdir()) == ["askwhen.db", "askwhen.db.lock"]
    assert subprocess.run([*around, *image.health], env=environment, capture_output=True).returncode != 0
    if around:
        assert (image.folder / "data" / "askwhen.db").stat().st_uid == int(image.user) != 0


def test_the_image_holds_what_its_file_copies_and_no_more():
    copied = {
        word for kind, rest in lines_of(TEXT) if kind == "COPY" and "--from" not in rest for word in rest.split()[:-1]
    }
    allowed = {line[1:] for line in (ROOT / ".containerignore").read_text().splitlines() if line.startswith("!")}
    assert copied == allowed
    assert all((ROOT / each).exists() for each in copied)


def test_compose_gives_the_service_what_it_asks_for(tmp_path, monkeypatch):
    text = (ROOT / "deploy" / "compose.yaml").read_text()
    from askwhen.service.process.configuration import OPTIONS

    known = {option.variable for option in OPTIONS} | {"ASKWHEN_DB_FILE"}
    named = set(re.findall(r"\bASKWHEN_\w+", text + TEXT))
    assert named <= known
    assert "read_only: true" in text
    assert (
        ROOT / "deploy" / re.search(r"context: (\S+)", text)[1] / re.search(r"dockerfile: (\S+)", text)[1]
    ).is_file()
    used, defined = set(re.findall(r"/run/secrets/([\w-]+)", text)), set(re.findall(r"([\w-]+): \{file:", text))
    assert used == defined


def test_base_images_can_be_pinned_by_digest():
    """Every image of others comes from an argument or a variable, and the docs say how to find its digest."""
    bases = [rest.split()[0] for word, rest in lines_of(TEXT) if word == "FROM"]
    assert bases == ["${BASE}", "${BASE}"]
    assert re.search(r"^ARG BASE=python:\$\{PYTHON\}-slim$", TEXT, re.MULTILINE)
    compose = (ROOT / "deploy" / "compose.yaml").read_text()
    images = [each for each in re.findall(r"image: (\S+)", compose) if each != "askwhen"]
    assert images == ["${POSTGRES_IMAGE:-postgres:17}"]
    version = re.search(r"^ARG PYTHON=(\S+)$", TEXT, re.MULTILINE)[1]
    assert f"BASE: ${{PYTHON_IMAGE:-python:{version}-slim}}" in compose
    docs = (ROOT / "docs" / "operate.md").read_text()
    for name, tag in (("PYTHON_IMAGE", f"python:{version}-slim"), ("POSTGRES_IMAGE", "postgres:17")):
        assert f'"{name}={tag}@$(digest {tag})"' in docs
