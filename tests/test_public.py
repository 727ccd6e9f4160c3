"""What the package shows: names, defaults, layers of plain and compiled steps."""

import ast
import dataclasses
import inspect
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.compiled import steps
from askwhen.contracts.drift import NoDrift, watches
from askwhen.contracts.learner import experts, leave
from askwhen.engine.batch_run import prepared
from askwhen.engine.inputs.instance_checks import check_instances
from askwhen.engine.inputs.registry import PARTS
from askwhen.engine.round import rounds, step_table
from askwhen.engine.state_arrays import copy_state
from askwhen.linalg.rows import DenseRows, SparseRow, SparseRows
from askwhen.linalg.rows import row as instance
from askwhen.rules.audit import audit_state
from tests.streams import STREAMS, switching_sphere
from tests.table import ROWS


def test_the_public_names_are_the_listed_ones():
    assert aw.__all__ == sorted(aw.__all__)
    assert set(dir(aw)) == set(aw.__all__)
    stub = ast.parse((pathlib.Path(aw.__file__).parent / "__init__.pyi").read_text())
    listed = next(node for node in stub.body if isinstance(node, ast.Assign))
    assert ast.literal_eval(listed.value) == aw.__all__
    for name in aw.__all__:
        found = getattr(aw, name)
        assert name in ("advisers", "data", "encoders", "evaluate", "keyed") or found.__name__ == name


def test_a_name_stays_what_it_is_whatever_is_imported_before():
    names = (
        "import askwhen.adapters.sklearn, askwhen.adapters.river, askwhen as aw; print(callable(aw.online_to_batch))"
    )
    assert subprocess.run([sys.executable, "-c", names], capture_output=True, text=True).stdout == "True\n"


@pytest.mark.parametrize("name", PARTS)
def test_documented_parameters_and_defaults_are_the_real_ones(name):
    doc = inspect.getdoc(PARTS[name])
    documented = dict(re.findall(r"^(\w+) : (.*)$", doc, flags=re.MULTILINE))
    fields = {field.name: field.default for field in dataclasses.fields(PARTS[name])}
    assert list(documented) == list(fields)
    for parameter, default in fields.items():
        found = re.search(r"default (\S+)$", documented[parameter])
        if default is dataclasses.MISSING or default is None:
            assert found is None
        else:
            assert found.group(1).strip('"') == str(default)


def plain_context(engine):
    """What a round is played on, with plain functions in the place of addresses."""
    plain = {name: getattr(step_table, f"{name}_at").py_func for name in ("look", "form", "learn", "restart")}
    note = step_table.note_at.py_func if len(experts(engine.learner)) else 0
    leaves = step_table.leave_at.py_func if type(engine.learner) in leave else 0
    learner = step_table.LearnerCalls(engine.learner, **plain, note=note, leave=leaves)
    if isinstance(engine.drift, NoDrift):
        drift = step_table.DriftCalls(0, *5 * [0], False)
    else:
        names = ("room", "begin", "watch", "absorb", "due")
        plain = {name: getattr(step_table, f"{name}_at").py_func for name in names}
        drift = step_table.DriftCalls(engine.drift, **plain, watches=watches(engine.drift))
    states = (learner, engine.rule, audit_state(engine.parts.audit), drift, engine.tally, engine.known)
    return rounds.RoundContext(*states, engine.regression)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("row", ROWS.values(), ids=str)
def test_the_same_source_runs_plain_and_compiled(row, form, monkeypatch):
    """The plain Python round against the compiled one: the same decisions, and margins but for the last bits."""
    X, y = switching_sphere(4, n=70, noise=row.noise)
    compiled = row.build(3)
    trace = compiled.run(form(X), y)
    sampler = row.build(3)
    rows = check_instances("test", form(X))
    sampler._engine.begin("test", "X", X.shape[1], isinstance(rows, SparseRows))
    if sampler._engine.prepare is not None:
        rows = prepared(sampler._engine, rows)
    record = rounds.new_record(len(y), trace.drift_weights.shape[1])
    record.coin[:] = trace.coin
    monkeypatch.setattr(rounds, "borrow", lambda value: value)
    monkeypatch.setattr(step_table, "borrow", lambda value: value)
    monkeypatch.setattr(rounds, "lend", lambda context: (context,))
    for step in ("look", "form", "learn", "restart", "note", "leave", "room", "begin", "watch", "absorb", "due"):
        monkeypatch.setattr(rounds, f"call_{step}", lambda step, state, *args: step(state, *args))
    done = 0
    while done < len(y):
        context = plain_context(sampler._engine)
        done, status = rounds.run_rounds.py_func(
            context, rows, y, np.zeros(0), done, True, 0.0, False, np.zeros(0, bool), np.zeros(0, int), record
        )
        if status == step_table.NOT_READY:
            sampler._engine.make_ready(status, instance(rows, done), "test", "x")
    np.testing.assert_allclose(record.margin, trace.margin, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(trace.queried, record.queried)
    np.testing.assert_array_equal(trace.updated, record.updated)


def test_compiled_rounds_write_only_where_they_should():
    """Borrowed arrays are not counted; the state a run was given must still be alive and unshared afterwards."""
    X, y = STREAMS["noisy"](0)
    sampler = ROWS["LASEC-SS"].build(1)
    sampler.run(X, y)
    before = copy_state(sampler._engine.learner)
    sampler.margins(X)
    for name, array in before._asdict().items():
        if isinstance(array, np.ndarray) and name != "g":
            np.testing.assert_array_equal(array, getattr(sampler._engine.learner, name))


def test_a_family_without_an_implementation_says_so():
    with pytest.raises(TypeError, match="has no implementation for int"):
        steps.Family("nothing")(3)


def test_rows_are_plain_tuples_of_arrays():
    assert DenseRows._fields == ("X",)
    assert SparseRow._fields == ("data", "indices", "start", "stop")


def in_a_process(code, **environment):
    import os

    return subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    ).stdout.strip()


def test_where_no_cache_can_be_written_everything_still_works(tmp_path):
    (tmp_path / "file").touch()
    nowhere = str(tmp_path / "file" / "below")
    code = "from askwhen.compiled.steps import cache_folder; print(cache_folder())"
    environment = {"NUMBA_CACHE_DIR": nowhere, "XDG_CACHE_HOME": nowhere}
    assert "askwhen" in in_a_process(code, **environment, TMPDIR=str(tmp_path))
    code += "; import askwhen as aw; print(aw.FixedRate(0.5))"
    blocked = f"import tempfile; tempfile.gettempdir = lambda: {nowhere!r}; "
    assert in_a_process(blocked + code, **environment).splitlines() == ["None", "FixedRate(rate=0.5, floor=0.0)"]


def test_cache_folders_that_nobody_used_for_a_month_are_removed(tmp_path):
    import os
    import time

    old, young, foreign = (f"steps-{'0' * 16}", f"steps-{'1' * 16}", "steps-of-an-experiment")
    folder = tmp_path / "askwhen"
    for name, age in ((old, 40), (young, 3), (foreign, 40)):
        (folder / name).mkdir(parents=True)
        os.utime(folder / name, (time.time() - 86400 * age,) * 2)
    in_a_process("from askwhen import Sampler", NUMBA_CACHE_DIR=str(tmp_path))
    assert not (folder / old).exists()
    assert (folder / young).exists()
    assert (folder / foreign).exists()


@pytest.mark.parametrize(
    ("name", "module", "extra"),
    [("Client", "httpx", "service"), ("AsyncClient", "httpx", "service"), ("keyed", "msgspec", "keyed")],
)
def test_a_name_whose_extra_is_missing_says_what_to_install(name, module, extra):
    asked = f"import sys; sys.modules[{module!r}] = None; import askwhen as aw; aw.{name}"
    done = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert last.startswith("askwhen.errors.MissingExtraError: ")
    assert last.endswith(f" {module}: pip install 'askwhen[{extra}]'.")
