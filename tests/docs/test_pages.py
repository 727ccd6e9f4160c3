"""Pages whose blocks need a terminal or a running service: every block is run in order, as a reader would."""

import doctest
import os
import pathlib
import re
import subprocess
import sys

import httpx
import pexpect
import pytest

from tests.forking import Terminal
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("docs")
ROOT = pathlib.Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*\n(?:    .*\n)*)((?:(?!\$ ).*\n)*)", re.MULTILINE)  # what goes on is indented
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")


def play(page, address="localhost:8300"):
    """Run the blocks of a page in this folder; its service is at another address than the page says."""
    names = {"__name__": "__main__"}
    environment = os.environ | {"PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    for kind, block in BLOCK.findall((ROOT / "docs" / page).read_text()):
        block = block.replace("127.0.0.1:8300", address).replace("localhost:8300", address)
        if kind == "python" and ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, {}, page, None, 0)
            test.globs = names
            assert doctest.DocTestRunner().run(test, clear_globs=False).failed == 0
        elif kind == "python":
            exec(compile(block, page, "exec"), names)
        for command, wanted in COMMAND.findall(block) if kind == "console" else ():
            done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment)
            assert done.returncode == 0, (command, done.stderr)
            came = done.stdout.rstrip("\r\n") + "\n" if done.stdout else ""
            assert doctest.OutputChecker().check_output(wanted, came, doctest.ELLIPSIS), (command, came)
    return names


def test_the_tutorial_runs_from_its_first_line_to_its_last():
    names = play("learn/tutorial.md")
    found, trace = names["found"].overall, names["trace"]
    assert found.low < 1 - trace.mistakes / trace.rounds < found.high
    assert pathlib.Path("orders.html").stat().st_size > 10_000


def test_the_service_is_used_from_curl(tmp_path):
    with Server(tmp_path / "mails.db") as server:
        play("howto/service-curl.md", server.url.removeprefix("http://"))
    assert pathlib.Path("mails.askwhen").stat().st_size > 1_000


def test_the_service_is_used_by_label_studio(tmp_path):
    with Server(tmp_path / "mails.db") as server:
        play("howto/label-studio.md", server.url.removeprefix("http://"))
    assert "prize" in pathlib.Path("mails.json").read_text()


def test_the_service_is_used_from_python(tmp_path, capsys):
    with Server(tmp_path / "mails.db") as server:
        names = play("howto/service-python.md", server.url.removeprefix("http://"))
    assert len(names["asked"]) > 10
    assert len(capsys.readouterr().out.splitlines()) > 10


def test_the_service_is_used_from_a_terminal(tmp_path):
    page = "howto/service-terminal.md"
    with Server(tmp_path / "mails.db") as server:
        play(page, server.url.removeprefix("http://"))
        (command,) = re.findall(r"^askwhen (label --server .*)$", (ROOT / "docs" / page).read_text(), re.MULTILINE)
        words = command.replace("http://localhost:8300", server.url).split()
        terminal = Terminal(words, os.environ | {"TERM": "xterm", "XDG_STATE_HOME": str(tmp_path)})
        terminal.expect("minutes of the meeting")
        terminal.expect("quit")
        terminal.send("h")
        terminal.expect("1 answer, all safe on the server")
        terminal.send("q")
        terminal.expect(pexpect.EOF)
        terminal.close()
        assert terminal.exitstatus == 0
        labels = httpx.get(f"{server.url}/v1/streams/mails/export").text.splitlines()
    assert len(labels) == 5


def test_every_call_of_the_service_is_listed(tmp_path):
    with Server(tmp_path / "mails.db") as server:
        paths = httpx.get(f"{server.url}/openapi.json").json()["paths"]
    listed = re.findall(r"^\| `([A-Z]+ /\S+)` \|", (ROOT / "docs/reference/http.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(f"{method.upper()} {path}" for path, found in paths.items() for method in found)


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_outside_the_site_lead_somewhere(page):
    links = [link for link in LINK.findall((ROOT / page).read_text()) if "://" not in link]
    assert page == "CONTRIBUTING.md" or len(links) > 5
    assert [link for link in links if not (ROOT / link).exists()] == []
