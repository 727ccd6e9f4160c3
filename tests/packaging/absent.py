"""Every command and every optional part of the library, tried without some modules: python absent.py < SCENARIOS.

The scenarios are a JSON object of lists of modules by name. Each runs in a fork of this process, in a folder of its
own, and without Ray, which would wait minutes for a cluster. Printed is a JSON object of what each trial said, by
scenario.
"""

import asyncio
import contextlib
import importlib
import importlib.abc
import io
import json
import os
import pathlib
import sys
import tempfile
import warnings

import click
from click.testing import CliRunner

import askwhen as aw
from askwhen.cli.main import main

SLOW = [
    *(f"askwhen.{part}" for part in ("experiments", "labelling", "report.run", "workflows.predict", "workflows.run")),
    *("litestar.openapi.config", "pandas", "pyarrow.csv", "pyarrow.parquet", "rich.progress", "rich.table"),
    *("river.base", "sklearn.datasets", "sklearn.svm", "uvicorn"),
]
"""Imported once, before the forks: a fork takes back those that are to be absent, and ours import none of them."""
NOBODY = "http://127.0.0.1:1"
STUDIO = f"--server {NOBODY} --stream s"
COMMANDS = [
    "demo --report nowhere/report.html",
    "run rows.csv --label y -a perceptron --quiet",
    f"run rows.csv --label y --server {NOBODY} --stream s",
    "compare rows.csv --label y -a random --labels 50% --repeats 1 --cluster 127.0.0.1:1",
    "run rows.csv --label y -a random --baselines",
    "compare rows.csv --label y -a random --labels 50% --repeats 1 --baselines",
    "tune rows.csv --label y -a random --labels 50% --repeats 1 --cluster 127.0.0.1:1",
    "plan rows.csv --label y --cluster 127.0.0.1:1",
    "label rows.csv",
    f"label --server {NOBODY}",
    "predict model.askwhen rows.csv",
    "serve --demo --show-config",
    "token make ann --role annotator --db log.db",
    f"token list --server {NOBODY}",
    "token list --db log.db",
    "token revoke 1 --db log.db",
    "replay s --db log.db",
    "backup copy.db --db log.db",
    "restore copy.db --db other.db",
    "migrate-db log.db third.db",
    "erase s --round 1 --db log.db",
    "webhook make https://example.org/hook --kind question.opened --db log.db",
    "webhook list --db log.db",
    "webhook dead 1 --db log.db",
    "webhook test 1 --db log.db",
    "webhook resend 1 --db log.db",
    "webhook remove 1 --db log.db",
    f"label-studio import tasks.json {STUDIO}",
    f"label-studio export tasks.json {STUDIO}",
    f"label-studio sync {STUDIO} --studio {NOBODY} --project 1",
    "keyed events --store store --out decisions",
    "keyed redis://127.0.0.1:1/0?streams=a --store store",
    "keyed kafka://127.0.0.1:1/ --store store",
    "keyed nats://127.0.0.1:1/ --store store",
    "keyed events --store postgresql://127.0.0.1:1/none",
    "keyed events --store asking --out asked --questions nowhere",
    "keyed tables --store rows --out table-decisions",
    "keyed events --store placed --cluster 127.0.0.1:1",
    "feed events nowhere --store fed",
    "explain trace.parquet --round 0",
    "algorithms",
    f"data a9a --url {NOBODY}",
    "reproduce lasec-usps --quick --cluster 127.0.0.1:1",
    "warm -a perceptron",
    "completion bash",
]
WITHOUT = {"litestar": ["serve --demo"], "msgspec": ["warm --service"]}
"""What would go on for long where this module is there."""


def trace():
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=1).run([[1.0], [2.0]], [1, -1])


def spans():
    from askwhen.service.http.middleware.tracing import spans

    spans(True)


def experiment():
    from askwhen.experiments.passive_aggressive import _cell

    _cell("nothing", 0, 1, False)


async def nothing():
    yield b""


def parquet_of_the_page():
    with contextlib.suppress(ModuleNotFoundError):  # the service itself may be absent
        from askwhen.service.http.parquet_unpacker import Unpacker

        asyncio.run(Unpacker().rows(nothing()))


CALLS = {
    **{f"aw.{name}": lambda name=name: getattr(aw, name) for name in aw.__all__},
    "adapters.river": lambda: importlib.import_module("askwhen.adapters.river"),
    "best_linear": lambda: aw.evaluate.best_linear([[1.0], [2.0]], [1, -1]),
    "digits": lambda: aw.data.load("digits"),
    "experiment": experiment,
    "parquet": lambda: aw.data.read("rows.parquet"),
    "parquet of the page": parquet_of_the_page,
    "spans": spans,
    "static vectors": lambda: aw.encoders.load("static").encode(["a text"]),
    "to_arrow": lambda: trace().to_arrow(),
    "to_csv": lambda: trace().to_csv("trace.csv"),
    "to_pandas": lambda: trace().to_pandas(),
    "to_parquet": lambda: trace().to_parquet("trace.parquet"),
    "to_polars": lambda: trace().to_polars(),
    "zstandard": lambda: aw.data.read("rows.csv.zst", label="y"),
}


class Absent(importlib.abc.MetaPathFinder):
    """Says that some modules are not installed."""

    def __init__(self, names):
        self.names = names

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def leaves(group, path=()):
    """The names of all commands that have no commands of their own."""
    for name, each in group.commands.items():
        if isinstance(each, click.Group):
            yield from leaves(each, (*path, name))
        else:
            yield " ".join((*path, name))


def prepare():
    """Files for the commands, in the current folder."""
    rows = [f"{i % 3},{i % 2},{i % 2}" for i in range(20)]
    pathlib.Path("rows.csv").write_text("\n".join(["a,b,y", *rows]) + "\n")
    for name in ("rows.parquet", "rows.csv.zst", "trace.parquet"):
        pathlib.Path(name).write_bytes(b"nothing")
    pathlib.Path("tasks.json").write_text("[]")
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    sampler.run([[1.0, 0.0]], [1])
    sampler.save("model.askwhen")
    for folder, file in (("events", "one.ndjson"), ("tables", "one.parquet")):
        pathlib.Path(folder).mkdir()
        pathlib.Path(folder, file).write_text('{"key": "ann", "x": [1.0]}\n')


def said_by_command(line):
    result = CliRunner().invoke(main, line.split())
    error = result.exception
    return result.output if error is None or isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"


def said_by_call(call):
    try:
        call()
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def tried(modules):
    """What every trial says without these modules."""
    modules = [*modules, "ray"]
    for name in [name for name in sys.modules if name.partition(".")[0] in modules]:
        del sys.modules[name]
    sys.meta_path.insert(0, Absent(modules))
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.chdir(folder)
        prepare()
        lines = COMMANDS + [line for module in modules for line in WITHOUT.get(module, [])]
        said = {f"askwhen {line}": said_by_command(line) for line in lines}
        with contextlib.redirect_stderr(io.StringIO()):
            said |= {name: said_by_call(call) for name, call in CALLS.items()}
        os.chdir("/")
    return said


def main_of_all():
    missing = [name for name in leaves(main) if not any(f"{line} ".startswith(f"{name} ") for line in COMMANDS)]
    assert not missing, f"try these commands too: {missing}"
    trace()  # compiled once, for all forks
    for name in SLOW:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    found = {}
    for name, modules in json.load(sys.stdin).items():
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                with open(writer, "w") as file:
                    json.dump(tried(modules), file)
                os._exit(0)
            except BaseException:
                sys.excepthook(*sys.exc_info())
                os._exit(1)
        os.close(writer)
        with open(reader) as file:
            text = file.read()
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, name
        found[name] = json.loads(text)
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main_of_all()
