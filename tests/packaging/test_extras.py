"""Without an extra, every command and every optional part of the library says in one sentence what to install."""

import functools
import importlib.metadata
import json
import os
import pathlib
import pickle
import re
import subprocess
import sys
import tomllib

import pytest

from askwhen.errors import InputError, MissingExtraError

pytestmark = pytest.mark.xdist_group("extras")  # they share one long setup
ROOT = pathlib.Path(__file__).parents[2]
TOOLS = {"dev", "docs", "peers"}
"""Extras that only developers need: nothing in the package imports their modules."""


def plain(name):
    return re.sub(r"[-_.]+", "-", re.match(r"[\w.-]+", name)[0]).lower()


@functools.cache
def modules_of_all():
    """The modules of every distribution that is installed here."""
    found = {}
    for module, owners in importlib.metadata.packages_distributions().items():
        for owner in owners:
            found.setdefault(plain(owner), set()).add(module)
    return found


def modules_of(distributions):
    """The modules of distributions; one that is not installed has the module of its name."""
    return {module for name in distributions for module in modules_of_all().get(name, {name.replace("-", "_")})}


def extras():
    """The modules of each extra that has some of its own, as pyproject.toml says."""
    given = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = {extra: {plain(line) for line in lines} - {"askwhen"} for extra, lines in given.items()}
    return {extra: modules_of(names) for extra, names in named.items() if names}


EXTRAS = extras()


def scenarios():
    """Each extra absent: with all its modules, and with those that no other extra brings."""
    for extra in sorted(EXTRAS.keys() - TOOLS):
        others = set().union(*(modules for name, modules in EXTRAS.items() if name != extra))
        yield extra, extra, EXTRAS[extra]
        if EXTRAS[extra] - others not in (set(), EXTRAS[extra]):
            yield extra, f"{extra}, beside all others", EXTRAS[extra] - others
    yield None, "tools of developers", set().union(*(EXTRAS[name] for name in TOOLS))


SCENARIOS = list(scenarios())


@pytest.fixture(scope="module")
def said():
    """What every trial said in every scenario."""
    given = json.dumps({name: sorted(modules) for _, name, modules in SCENARIOS})
    script = pathlib.Path(__file__).with_name("absent.py")
    alone = {name: value for name, value in os.environ.items() if name != "ASKWHEN_DATA"}  # data sets are fetched
    done = subprocess.run([sys.executable, script], input=given, capture_output=True, text=True, env=alone)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize(("extra", "name", "modules"), SCENARIOS, ids=[name for _, name, _ in SCENARIOS])
def test_without_an_extra_its_install_line_is_said(said, extra, name, modules):
    wrong = {
        trial: text
        for trial, text in said[name].items()
        if "should not happen" in text or text.startswith(("ModuleNotFoundError", "ImportError", "AttributeError"))
    }
    assert wrong == {}
    named = {each: trial for trial, text in said[name].items() for each in re.findall(r"askwhen\[(\w+)\]'\.", text)}
    assert {each for each in named if not EXTRAS[each] & (modules | {"ray"})} == set()
    assert extra in named or extra is None


def test_the_commands_of_the_readme_name_their_extra(said):
    readme = (ROOT / "README.md").read_text()
    first = re.search(r"pip install .*", readme)[0]
    assert first.startswith("pip install 'askwhen[data]'")
    line = "askwhen: a csv file needs pyarrow: pip install 'askwhen[data]'.\n"
    assert said["data"]["askwhen run rows.csv --label y -a perceptron --quiet"] == line
    assert "askwhen serve --demo" in readme
    served = said["service"]["askwhen serve --demo"]
    assert re.fullmatch(r"askwhen: this command needs \w+: pip install 'askwhen\[service\]'\.\n", served)


def test_the_error_is_an_import_error_too_and_can_be_sent_between_processes():
    error = MissingExtraError("a client needs httpx: pip install.", owner="Client", name="httpx", extra="service")
    found = pickle.loads(pickle.dumps(error))
    assert isinstance(found, ImportError)
    assert isinstance(found, InputError)
    assert (str(found), found.name, found.extra) == (str(error), "httpx", "service")
