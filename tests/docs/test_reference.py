"""The reference: every public name is in it, and says what it takes."""

import inspect
import pathlib
import re

import numpydoc.docscrape
import pytest
from sphinx.util.inventory import InventoryFile

import askwhen as aw
import askwhen.adapters.river
import askwhen.adapters.sklearn
import askwhen.checks
import askwhen.contracts.drift
import askwhen.contracts.learner
import askwhen.contracts.rule
import askwhen.errors
import askwhen.evaluate.agreement
import askwhen.report
import askwhen.service.client
from askwhen.cli.main import main
from askwhen.compiled.steps import Family

pytestmark = pytest.mark.xdist_group("docs")


def own(module):
    """The public functions that a module without a list of names defines."""
    return [
        name
        for name, found in vars(module).items()
        if name[0] != "_" and inspect.isfunction(found) and found.__module__ == module.__name__
    ]


def families(module):
    return [
        name
        for name, found in vars(module).items()
        if isinstance(found, Family) and f"\n{name} = Family" in inspect.getsource(module)
    ]


MODULES = [
    aw,
    aw.advisers,
    aw.data,
    aw.encoders,
    aw.evaluate,
    aw.keyed,
    askwhen.report,
    askwhen.checks,
    askwhen.errors,
    askwhen.adapters.river,
]
MODULES += [askwhen.service.client, aw.evaluate.bounds]
NAMES = [
    *((module, name) for module in MODULES for name in module.__all__),
    *((askwhen.evaluate.agreement, name) for name in own(askwhen.evaluate.agreement)),
    (askwhen.adapters.sklearn, "priced"),
]
SERVED = (askwhen.service.client.Stream, askwhen.service.client.AsyncStream, askwhen.service.client.Decision)
# Objects that other functions make.
MADE_BY_OTHERS = (aw.BatchClassifier, aw.data.Stream, aw.encoders.Encoder, aw.evaluate.Advisers, *SERVED)
CALLED = {}
for module, name in NAMES:
    found = getattr(module, name)
    is_error = isinstance(found, type) and issubclass(found, Exception)
    if not inspect.ismodule(found) and found not in MADE_BY_OTHERS and not is_error:
        CALLED.setdefault(found, f"{module.__name__}.{name}")


CONTRACTS = [askwhen.contracts.learner, askwhen.contracts.rule, askwhen.contracts.drift]


def test_no_public_name_is_missing(site):
    with (site / "objects.inv").open("rb") as file:
        inventory = InventoryFile.load(file, "", lambda base, uri: uri)
    documented = {name for kind, found in inventory.items() if kind.startswith("py:") for name in found}
    assert len(documented) > 200
    missing = []
    for module, name in NAMES:
        found = getattr(module, name)
        known_as = {f"{other.__name__}.{each}" for other, each in NAMES if getattr(other, each) is found}
        if not inspect.ismodule(found) and not known_as & documented:
            missing.append(f"{module.__name__}.{name}")
    missing += [
        f"{module.__name__}.{name}"
        for module in CONTRACTS
        for name in families(module)
        if f"{module.__name__}.{name}" not in documented
    ]
    assert missing == []


def test_papers_are_named_by_author_and_year():
    root = pathlib.Path(__file__).parents[2]
    texts = [*(root / "docs").rglob("*.md"), *(root / "src").rglob("*.py"), root / "README.md"]
    assert len(texts) > 200
    code = re.compile(r"(?<![\d.,])00[0-4]( \||, (Theorem|Corollary|Figure|Lemma|Algorithm|section)| is [A-Z])")
    assert [str(text) for text in texts if code.search(text.read_text())] == []


def test_commands_are_those_that_there_are(site):
    page = (site / "reference" / "options.html").read_text()
    for command in main.commands.values():
        assert f'id="askwhen-{command.name}"' in page
        for name in getattr(command, "commands", ()):
            assert f'id="askwhen-{command.name}-{name}"' in page
        for option in command.params:
            for word in option.opts if option.param_type_name == "option" and not option.hidden else ():
                assert word in page, (command.name, word)


FOR_OTHER_PACKAGES = ("of", "begin_tasks", "ask_on", "run_on", "run_sets")
HELD = {
    getattr(kind, name): f"{kind.__name__}.{name}"
    for kind in (aw.Sampler, aw.MultiLabel, aw.SideBySide)
    for name in vars(kind)
    if name[0] != "_" and name not in FOR_OTHER_PACKAGES and callable(getattr(kind, name))
}


@pytest.mark.parametrize("called", CALLED | HELD, ids=(CALLED | HELD).get)
def test_what_a_name_takes_is_documented(called):
    doc = numpydoc.docscrape.get_doc_object(called)
    documented = [
        each
        for section in ("Parameters", "Attributes")
        for entry in doc[section]
        for each in entry.name.replace("*", "").split(", ")
    ]
    hidden = {field.name for field in getattr(called, "__dataclass_fields__", {}).values() if not field.repr}
    taken = [name for name in inspect.signature(called).parameters if name[0] != "_" and name not in {"self", *hidden}]
    assert [name for name in taken if name not in documented] == []
