"""Files as people have them: the options of ``askwhen run`` that say how one is read, and how many labels there are."""

import json
import pathlib
import shlex

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from tests.cli.running import D, N, as_read, facts, inside, refused, stream, write_csv, write_table
from tests.cli.test_predict import mails

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


def test_a_number_of_labels_is_never_exceeded():
    write_csv(HERE / "s.csv")
    found = facts("run", "s.csv", "--label", "spam", "--labels", "200")
    assert 180 <= found["questions"] <= 200
    done = inside(
        "run", "-", "--format", "csv", "--label", "spam", "--labels", "100", stdin=(HERE / "s.csv").read_text()
    )
    assert "asking for one label in ten, until 100 are asked" in done.stderr
    assert "100 (3.3 %)" in done.stdout
    compared = facts("compare", "s.csv", "--label", "spam", "--labels", "300", "-a", "default", "--repeats", 2)
    assert [cell["labels"] for cell in compared["cells"]] == [pytest.approx(0.1)]


def test_ordinary_lines_of_json_are_read():
    rows = mails(HERE / "mails.csv").read_text().splitlines()[1:]
    lines = []
    for row in rows:
        name, subject, body, size = row.split(",")
        lines.append({"id": name, "subject": subject, "body": body, "size": int(size), "label": "winner" in body})
    (HERE / "mails.ndjson").write_text("\n".join(map(json.dumps, lines)))
    found = facts(
        "run", "mails.ndjson", "--label", "label", "--text", "body,subject", "--drop", "id", "--features", 256
    )
    assert found["rounds"] == 60
    done = inside("run", "mails.ndjson", "--label", "label", "--text", "body")
    assert done.returncode == 0
    assert done.stderr.startswith(
        "Columns: 1 text; left out id (an identifier), subject (always 're'), size (always 6).\n"
    )


def test_tables_that_are_written_otherwise_are_read():
    X, y = stream()
    rows = [f"{a:.3f};{'' if i % 7 == 0 else b};k\xf6ln;{int(label > 0)}" for i, ((a, b), label) in
            enumerate(zip(X[:, :2].tolist(), y.tolist(), strict=True))]  # fmt: skip
    (HERE / "s.csv").write_bytes("\n".join(["a;b;city;label", *rows]).encode("latin-1"))
    args = ("s.csv", "--encoding", "latin-1", "--categories", "city")
    for more in ((), ("--missing", "feature"), ("--delimiter", ";")):
        assert facts("run", *args, *more)["rounds"] == N
    assert "column 'b' of s.csv is empty or NaN in instance 0" in refused("run", *args, "--missing", "refuse")
    assert "leave out --missing refuse, or name it in --drop" in refused("run", *args, "--missing", "refuse")
    assert "--encoding" in refused("run", "s.csv", "--drop", "b", "--text", "city")


def test_a_sorted_file_is_shuffled_on_request_and_goes_on_in_the_same_order():
    X, y = stream()
    order = np.argsort(y, kind="stable")
    write_table(HERE / "s.csv", "abcdefy", np.column_stack([X, y])[order])
    assert "sorted or in blocks" in facts("run", "s.csv")["order_warning"]
    whole = facts("run", "s.csv", "--shuffle", "--seed", 3, "--model", "whole.askwhen")
    assert whole["order_warning"] is None
    shuffled = np.random.default_rng(3).permutation(N)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=N), seed=3)
    sampler.run(as_read(X[order][shuffled]), y[order][shuffled])
    assert whole["questions"] == sampler.questions


def test_three_labels_are_no_pair():
    (HERE / "s.csv").write_text("a,label\n" + "1,1\n2,0\n3,-1\n" * 5)
    assert "has the labels -1, 0 and 1, which are not a pair" in refused("run", "s.csv")


def test_options_are_written_again_as_they_were_given():
    (HERE / "s.csv").write_text('a,"b,c",d,label\n' + "1,2,3,1\n2,3,4,0\n" * 30)
    assert facts("run", "s.csv", "--drop", '"b,c",d')["rounds"] == 60
    assert facts("run", "s.csv", "--drop", '"b,c"', "--drop", "d")["rounds"] == 60


def test_baselines_stand_beside_the_result_and_all_labels_on_request():
    write_csv(HERE / "s.csv")
    found = facts("run", "s.csv", "--label", "spam", "--everything")
    assert list(found["baselines"]) == ["majority so far", "last label told", "all labels"]
    assert found["summary"].startswith(f"With {found['questions']} of 3,000 labels the default was right in ")


def test_vw_of_few_features_has_a_place_for_each():
    X, y = stream()
    names = [f"f{j}" for j in range(D)]
    lines = [
        f"{int(label)} | " + " ".join(f"{name}:{float(value)!r}" for name, value in zip(names, x, strict=True))
        for x, label in zip(X, y, strict=True)
    ]
    (HERE / "s.vw").write_text("\n".join(lines))
    found = facts("run", "s.vw", "--model", "few.askwhen")
    sampler = aw.Sampler.load("few.askwhen")
    assert len(sampler.engine.prepare.mean) == 2 * D
    wide = aw.data.read("s.vw").load()[0]
    own = wide[:, np.unique(wide.indices)]
    trace = aw.Sampler(rule=aw.BudgetRule(0.1, length=N), seed=0).run(sp.hstack([own, sp.csr_matrix((N, D))], "csr"), y)
    assert found["mistakes"] == trace.mistakes
    whole = inside("predict", "few.askwhen", "s.vw", "--quiet").stdout
    assert inside("predict", "few.askwhen", "-", "--format", "vw", "--quiet", stdin="\n".join(lines)).stdout == whole
    (HERE / "new.vw").write_text("1 | f0:1 unheard:1\n")
    assert inside("predict", "few.askwhen", "new.vw", "--quiet").returncode == 0
    many = " ".join(f"w{i}:1" for i in range(600))
    (HERE / "many.vw").write_text(f"1 | {many}\n-1 | w0:1\n" * 30)
    facts("run", "many.vw", "--algorithm", "sel-p", "--set", "b=1", "--model", "many.askwhen")
    assert len(aw.Sampler.load("many.askwhen").weights) == (1 << 18) + 1


def pasted(said):
    """The command that a refusal suggests, as words."""
    before, _, line = said.partition("\nPerhaps:\n  askwhen ")
    assert before.splitlines()[-1].startswith("askwhen: ")
    return shlex.split(line)


def test_a_refusal_has_a_command_that_works():
    paid = ["none yet" if i == 29 else i * i for i in range(60)]
    rows = [
        f"c{i};{'york' if i % 3 else ''};{'ab'[i % 2]};{paid[i]};{i + 1},250;{'spam' if i % 5 else 'ham'}"
        for i in range(60)
    ]
    (HERE / "a b.csv").write_text("\n".join(['id;city;"first, last";paid;"a,b";Class', *rows]))
    words = ["run", "a b.csv", "--labels", "50%"]
    for _ in range(3):  # the delimiter, the label, the columns
        done = inside(*words)
        assert done.returncode == 1
        words = pasted(done.stderr)
    assert words[:2] == ["run", "a b.csv"]
    assert dict(zip(words[2::2], words[3::2], strict=True)) == {
        "--labels": "50%",
        "--delimiter": ";",
        "--label": "Class",
        "--numbers": "paid",
        "--decimal": ",",
    }
    done = inside(*words)
    assert (
        done.stderr.splitlines()[1] == "Labels: 'spam' is the positive one, 'ham' the other; --positive says otherwise."
    )
    assert "instances          60" in done.stdout or "rows               60" in done.stdout


def test_what_is_suggested_suits_the_command():
    (HERE / "s.csv").write_text("a,label\n" + "1,ant\n2,bee\n3,cow\n" * 10)
    assert pasted(inside("run", "s.csv").stderr)[-2:] == ["--classes", "open"]
    done = inside("compare", "s.csv")
    assert "or give --classes to predict one of them" in done.stderr
    assert pasted(done.stderr)[-2:] == ["--classes", "ant,bee,cow"]
    (HERE / "s.csv").write_text("a,label\n" + "".join(f"{i},{i}.5\n" for i in range(50)))
    assert pasted(inside("run", "s.csv").stderr)[-2:] == ["--algorithm", "regression"]
    assert "Perhaps" not in inside("run", "s.csv", "--quiet").stderr


def test_a_resumed_run_is_not_advised_to_learn_something_else():
    X, y = stream()
    rows = [",".join(map(repr, [*map(float, x), int(label), float(x[0])])) for x, label in zip(X, y, strict=True)]
    (HERE / "s.csv").write_text("\n".join(["a,b,c,d,e,f,y,z", *rows]) + "\n")
    facts("run", "s.csv", "--label", "y", "--drop", "z", "--algorithm", "sel-p", "--set", "b=1", "--model", "m.askwhen")
    done = inside("run", "s.csv", "--label", "z", "--drop", "y", "--resume", "m.askwhen")
    assert done.returncode == 1
    assert "--algorithm regression" not in done.stderr.partition("Perhaps:")[2]
