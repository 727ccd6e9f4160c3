"""``askwhen run`` on real files and pipes: the same numbers as the library, and none of them lost."""

import gzip
import json
import pathlib
import re
import shlex
import signal
import subprocess
import time

import click
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.cli.commands.run import run
from askwhen.trace.files import read_trace
from tests.cli.running import (
    COMMAND,
    D,
    N,
    as_read,
    askwhen,
    environment,
    facts,
    inside,
    refused,
    stream,
    svmlight_lines,
    write_csv,
)
from tests.cli.running import write_svmlight as write
from tests.forking import Forked

SEL_P = ("--algorithm", "sel-p", "--set", "b=0.5", "--seed", 3)
HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


def test_every_way_to_the_same_stream_gives_the_librarys_numbers():
    path = write(HERE / "s.svm")
    packed = HERE / "s.svm.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    table = write_csv(HERE / "s.csv")
    X, y = stream()
    sampler = aw.paper("SEL-P", b=0.5, seed=3)
    expected = aw.evaluate.progressive(sampler, X, y)
    for args, more in (
        ((packed,), {}),
        ((table, "--label", "spam"), {}),
        (("-", "--format", "svmlight", "--features", D), {"stdin": path.read_text()}),
    ):
        found = facts("run", *args, *SEL_P, "--raw", by=askwhen, **more)
        assert found["accuracy"] == pytest.approx(1 - expected.error, abs=1e-12)
        assert (found["questions"], found["updates"]) == (sampler.questions, sampler.updates)
        assert found["error_bound"] == pytest.approx(expected.error_bound)
        assert found["rounds"] == N
        if args == (table, "--label", "spam"):  # the same instances, kept as dense ones
            overall = expected.estimate.overall
            assert found["estimate"] == pytest.approx(
                {"value": overall.value, "low": overall.low, "high": overall.high}
            )


def test_a_person_reads_the_same_as_a_program():
    path = write(HERE / "s.svm")
    found = facts("run", path, *SEL_P)
    done = askwhen("run", path, *SEL_P)
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == found["summary"]
    assert lines[-2:] == ["", found["advice"]]
    assert found["advice"].startswith("To know this within")
    table, counts = lines[2 : lines.index("", 2)], lines[lines.index("", 2) + 1 : -2]
    shown = dict(re.split(r"\s{2,}", line, maxsplit=1) for line in table if not line.startswith(" "))
    of_file = ", all labels of the file counted"
    assert shown["accuracy"] == f"{100 * found['accuracy']:.1f} %, {found['mistakes']:,} mistakes{of_file}"
    assert shown["labels asked"] == f"{found['questions']:,} ({100 * found['label_share']:.1f} %)"
    assert shown["from asked labels"].startswith(f"{100 * found['estimate']['value']:.1f} %, ")
    assert "independent" not in done.stdout  # the bound for independent instances is in the report
    assert shown["precision of +1"] == f"{found['precision']:.3f}"
    assert shown["recall of +1"] == f"{found['recall']:.3f}"
    assert counts[0].split("  ") == ["label", "predicted -1", "predicted +1"]
    assert [[int(n.replace(",", "")) for n in line.split()[1:]] for line in counts[1:]] == found["confusion"]
    (_, fp), (fn, tp) = found["confusion"]
    assert (fp + fn, tp / (tp + fp), tp / (tp + fn)) == (found["mistakes"], found["precision"], found["recall"])
    assert "\x1b" not in done.stdout + done.stderr


def started(*args):
    return Forked(["run", *map(str, args)], environment())


def feed(process, lines):
    """Give lines to a run, and wait until it has played them and reads on."""
    process.stdin.write("".join(lines))
    process.stdin.flush()
    while True:
        call = pathlib.Path(f"/proc/{process.pid}/syscall").read_text().split()
        if len(call) > 1 and call[0] in ("0", "63") and call[1] == "0x0":  # read of the standard input
            return
        time.sleep(0.05)


def interrupted(process, lines, how=signal.SIGINT):
    """Interrupt a run that waits for more lines than these."""
    feed(process, lines)
    process.send_signal(how)
    out, err = process.communicate(timeout=300)
    return process.returncode, out, err


def test_an_interrupted_run_goes_on_as_if_nothing_had_been():
    lines = svmlight_lines(*stream())
    path = write(HERE / "whole.svm")
    reading = ("--format", "svmlight", "--features", D)
    whole = facts("run", path, "--features", D, *SEL_P, "--trace", "whole.parquet", "--model", "whole.askwhen")

    process = started("-", *reading, *SEL_P, "--trace", "t.parquet", "--model", "m.askwhen")
    code, out, err = interrupted(process, lines[:1234])
    assert code == 1
    assert "Interrupted after 1,234 rows. To go on, with the remaining lines:" in err
    assert re.search(r"rows +1,234\n", out)
    assert aw.Sampler.load("m.askwhen").round == 1234
    say = shlex.split(err.strip().splitlines()[-1])
    assert say[1:] == [
        *("run", "-", *map(str, reading), "--trace", "t.parquet", "--model", "m.askwhen", "--resume", "m.askwhen")
    ]
    found = facts(*say[1:], by=askwhen, stdin="".join(lines[1234:]))

    # Only the note differs, which says what file was played: lines from a pipe are of none.
    (header, arrays), (expected, wanted) = (aw.snapshot.read(name) for name in ("m.askwhen", "whole.askwhen"))
    assert header | {"note": ""} == expected | {"note": ""}
    assert {name: array.tobytes() for name, array in arrays.items()} == {k: v.tobytes() for k, v in wanted.items()}
    for name, values in read_trace("whole.parquet").trace.columns().items():
        np.testing.assert_array_equal(read_trace("t.parquet").trace.columns()[name], values)
    same = (
        "accuracy",
        "mistakes",
        "questions",
        "updates",
        "rounds",
        "estimate",
        "error_bound",
        "f_measure",
        "baselines",
    )
    for name in same:
        assert found[name] == whole[name], name


def test_a_file_is_gone_on_with_after_the_rounds_that_were_played():
    path = write(HERE / "whole.svm")
    (HERE / "head.svm").write_text("".join(svmlight_lines(*stream())[:700]))
    facts("run", path, "--features", D, *SEL_P, "--model", "whole.askwhen")
    facts("run", "head.svm", "--features", D, *SEL_P, "--model", "m.askwhen")
    found = facts("run", path, "--features", D, "--resume", "m.askwhen", "--model", "m.askwhen")
    assert (found["first_round"], found["rounds"]) == (700, N - 700)
    assert pathlib.Path("m.askwhen").read_bytes() == pathlib.Path("whole.askwhen").read_bytes()
    assert "whole.svm holds no instance after the first 3,000." in refused("run", path, "--resume", "m.askwhen")


def test_all_rows_of_another_file_are_played_when_a_run_is_resumed():
    path = write(HERE / "first.svm")
    lines = svmlight_lines(*stream())
    (HERE / "other.svm").write_text("".join(lines[::-1]))
    facts("run", path, "--features", D, *SEL_P, "--model", "m.askwhen")
    done = askwhen("run", "other.svm", "--features", D, "--resume", "m.askwhen", "--model", "m.askwhen", "--json")
    found = json.loads(done.stdout)
    assert (found["first_round"], found["rounds"]) == (N, N)
    said = "This is not the file that the saved sampler has played: all rows of other.svm are played."
    assert said in done.stderr
    with (HERE / "other.svm").open("a") as file:
        file.writelines(lines[:100])
    done = askwhen("run", "other.svm", "--features", D, "--resume", "m.askwhen", "--json")
    assert json.loads(done.stdout)["rounds"] == 100  # the file has grown, and only its new rows are played
    assert f"Skipping the first {N:,} rows of other.svm, which were played before." in done.stderr
    expected = aw.paper("SEL-P", b=0.5, seed=3, prepare=aw.Prepare())
    X, y = stream()
    expected.run(sp.csr_matrix(X), y)
    assert found["mistakes"] == expected.run(sp.csr_matrix(X[::-1]), y[::-1]).mistakes


@pytest.mark.parametrize(("rows", "share", "most"), [(111, "10%", 12), (300, "5%", 15), (30, "10%", 3), (40, "25", 25)])
def test_a_share_of_a_file_is_never_exceeded(rows, share, most):
    lines = svmlight_lines(*stream())[:rows]
    (HERE / "s.svm").write_text("".join(lines))
    reading = ("--format", "svmlight", "--features", D)
    asked = facts("run", "s.svm", *reading, "--labels", share)["questions"]
    assert most - 2 <= asked <= most
    if share.endswith("%"):  # how long a stream is nobody knows: the rule asks ahead at first
        assert facts("run", "-", *reading, "--labels", share, stdin="".join(lines))["questions"] > most


def test_a_share_holds_over_a_file_that_has_grown():
    lines = svmlight_lines(*stream())
    asked = 0
    for rows in (200, 400, 1000):
        (HERE / "s.svm").write_text("".join(lines[:rows]))
        going_on = ("--resume", "m.askwhen") if asked else ("--labels", "10%")
        asked += facts("run", "s.svm", "--features", D, *going_on, "--model", "m.askwhen")["questions"]
        assert rows / 10 - 3 <= asked <= rows / 10


def test_without_a_model_an_interrupt_finds_a_name_of_its_own():
    process = started("-", "--format", "svmlight", "--features", D, *SEL_P)
    code, _, err = interrupted(process, svmlight_lines(*stream())[:50], signal.SIGTERM)
    assert code == 1
    assert "--resume standard-input.askwhen" in err
    assert aw.Sampler.load("standard-input.askwhen").round == 50


def test_a_bad_line_is_named_and_what_was_played_before_is_saved():
    lines = svmlight_lines(*stream())
    lines[2999] = "+1 1:0.5 2:oops\n"
    path = HERE / "bad.svm"
    path.write_text("".join(lines))
    assert "bad.svm, line 3000, " in refused("run", path, "--features", D, *SEL_P, by=askwhen)
    assert not list(HERE.glob("*.askwhen"))  # no round had been played
    process = started("-", "--format", "svmlight", "--features", D, *SEL_P)
    feed(process, lines[:40])
    _, err = process.communicate("+1 nonsense\n", timeout=300)
    assert process.returncode == 1
    assert "Saved after 40 rows. To go on, with the remaining lines:" in err
    assert aw.Sampler.load("standard-input.askwhen").round == 40


def test_numbers_are_learnt_too():
    X, _ = stream()
    rows = [",".join(map(repr, [*x.tolist(), float(2 * x[0] - x[1] + 5)])) for x in X]
    (HERE / "n.csv").write_text("\n".join([",".join([*"abcdef", "y"]), *rows]))
    found = facts("run", "n.csv", "--algorithm", "regression", "--labels", "5%")
    y = 2 * X[:, 0] - X[:, 1] + 5
    sampler = aw.Sampler(rule=aw.BudgetRule(0.05, by="uncertainty", length=N), seed=0, regression=True)
    assert found["squared_error"] == pytest.approx(aw.evaluate.progressive(sampler, as_read(X), y).error)
    assert found["questions"] == sampler.questions
    assert "accuracy" not in found
    assert found["root_squared_error"] == pytest.approx(found["squared_error"] ** 0.5)
    assert found["label_variance"] == pytest.approx(y.var())
    assert found["r_squared"] == pytest.approx(1 - found["squared_error"] / y.var())
    shown = askwhen("run", "n.csv", "--algorithm", "regression", "--labels", "5%").stdout
    assert re.search(rf"R2 +{found['r_squared']:.3f}, ", shown)
    assert re.search(rf"variance of labels +{y.var():.4g}\n", shown)


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["nothing.svm"], "there is no file nothing.svm, and no data set of that name."),
        (["s.csv"], "s.csv needs --label, the name of its label column; it has 'f0', 'f1'"),
        (["s.csv", "--label", "nothing"], "s.csv has no column 'nothing'; it has 'f0'"),
        (["s.csv", "--label", "spam", "--text", "body"], "s.csv has no column 'body'; it has 'f0'"),
        (["s.csv", "--label", "spam", "--positive", "maybe"], "no instance of s.csv has the label 'maybe'"),
        (["s.csv", "--label", "spam", "--algorithm", "sel-p"], "give b, which sets how often it asks, or a share"),
        (["s.csv", "--label", "spam", "--set", "q=1"], "this algorithm takes rate, got 'q'."),
        (
            ["s.csv", "--label", "spam", "--model", "no/where.askwhen"],
            "cannot write no/where.askwhen: there is no folder",
        ),
        (["s.csv", "--label", "spam", "--trace", "no/where.csv"], "cannot write no/where.csv: there is no folder"),
        (
            ["s.csv", "--label", "spam", "--trace", "s.csv"],
            "--trace s.csv is the input too; give it a name of its own.",
        ),
        (["s.csv", "--label", "spam", "--model", "./s.csv"], "--model ./s.csv is the input too; give it a name of its"),
        (["s.csv", "--label", "spam", "--model", "r", "--report", "r"], "--report r is --model too; give it a name"),
        (["s.csv", "--label", "spam", "--report", "/dev/null"], "cannot write /dev/null: it is not a regular file."),
        (["."], ". is a directory, not a file."),
        (["utf16.csv"], "utf16.csv is not in UTF-8; name its encoding by --encoding, such as 'utf-16'"),
        (["huge.csv"], "instance 1 of huge.csv must have a norm of at most 1e100"),
        (["s.csv", "--label", "spam", "--trace", "t.txt"], "a trace must be a .parquet or .csv file, got t.txt."),
        (["s.csv", "--label", "spam", "--report", "no/r.html"], "cannot write no/r.html: there is no folder"),
        (["s.csv", "--label", "spam", "--resume", "s.csv"], "s.csv is not an askwhen snapshot."),
        (["-", "--format", "svmlight"], "give --features, since the standard input can be read only once."),
        (["unknown.xyz"], "there is no file unknown.xyz, and"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(args, sentence):
    (HERE / "s.csv").write_text("f0,f1,spam\n1,2,yes\n2,1,no\n")
    (HERE / "utf16.csv").write_text("a,label\n1,1\n", encoding="utf-16-le")
    (HERE / "huge.csv").write_text("a,label\n1,1\n1e200,0\n")
    by = askwhen if "column" in sentence or "folder" in sentence else inside
    assert sentence in refused("run", *args, by=by, stdin="")


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "Missing argument 'FILE'"),
        (
            ["s.csv", "--labels", "lots"],
            "'lots' is not a number of labels; write a share, as in 10% or 0.1, or a number, as in 500.",
        ),
        (
            ["s.csv", "--labels", "0"],
            "'0' is not a number of labels; write a share, as in 10% or 0.1, or a number, as in 500.",
        ),
        (["s.csv", "--set", "a"], "'a' is not a setting; write a name and a value, as in a=0.05."),
        (["s.csv", "--set", "a=x"], "'x' is neither a number nor true or false."),
        (["s.csv", "--resume", "m", "--seed", "1"], "--seed goes with a new sampler; a resumed one keeps what it has."),
        (["s.csv", "--nonsense"], "No such option"),
        (["s.csv", "--algorithm", "lasek-ss"], "there is no 'lasek-ss', perhaps lasec-ss"),
    ],
)
def test_a_command_that_makes_no_sense_is_a_usage_error(args, sentence):
    assert sentence in refused("run", *args, code=2)


def test_debug_shows_where_an_error_comes_from():
    done = askwhen("run", "nothing.svm", "--debug")
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert done.stderr.endswith("askwhen: there is no file nothing.svm, and no data set of that name.\n")


def test_a_pipe_that_is_closed_early_is_no_disaster():
    command = " ".join([*map(shlex.quote, COMMAND), "algorithms", "|", "head", "-1"])
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment())
    assert done.stdout.startswith("algorithm ")
    assert done.stderr == ""


def test_a_run_of_a_part_goes_on_after_that_part():
    path = write(HERE / "s.svm")
    found = facts("run", path, "--features", D, *SEL_P, "--skip", 2900)
    assert found["rounds"] == 100
    facts("run", path, "--features", D, *SEL_P, "--model", "m.askwhen", "--skip", 2500)
    assert facts("run", path, "--features", D, "--resume", "m.askwhen", "--skip", 0)["rounds"] == N
    with click.Context(run, info_name="askwhen run"):
        from askwhen.cli.terminal.observers import RunTerminal

        resume_command = RunTerminal(None, None).resume_command
        assert resume_command("m.askwhen", 1250).endswith("askwhen run --resume m.askwhen --skip 1250")
        assert resume_command("m.askwhen", None).endswith("askwhen run --resume m.askwhen")


def test_a_sampler_of_python_goes_on_with_a_file_in_its_own_labels():
    X, y = stream()
    write_csv(HERE / "s.csv")
    for labels, other in ((("ham", "spam"), aw.Sampler(seed=4)), ((0, 1), aw.Sampler(seed=4))):
        sampler = aw.Sampler(seed=4)
        names = [f"f{j}" for j in range(D)]
        sampler.run(pd.DataFrame(X[:500], columns=names), np.where(y[:500] > 0, labels[1], labels[0]))
        sampler.save(HERE / "m.askwhen")
        other.run(X[:500], y[:500])
        options = ("--label", "spam", "--skip", 500, "--model", "n.askwhen", "--trace", "t.csv", "--report", "r.html")
        facts("run", "s.csv", "--resume", "m.askwhen", *options)
        expected = other.run(X[500:], y[500:])
        found = aw.Sampler.load(HERE / "n.askwhen")
        assert found.classes == list(labels)
        np.testing.assert_array_equal(found.margins(X), other.margins(X))
        trace = read_trace(HERE / "t.csv").trace
        np.testing.assert_array_equal(trace.signs, expected.signs)
        assert set(trace.prediction.tolist()) == set(labels)
        asked = int(np.flatnonzero(expected.queried)[-1]) + 500
        said = facts("explain", "t.csv", "--round", asked)
        assert said["prediction"] in map(str, labels)
        assert f"predicted {said['prediction']}: its margin" in said["why"]
        (HERE / "t.csv").unlink()


def test_a_positive_label_that_never_comes_is_said_at_once():
    write_csv(HERE / "s.csv")
    said = refused("run", "s.csv", "--label", "spam", "--positive", "maybe")
    assert said == "askwhen: no instance of s.csv has the label 'maybe' that is --positive; its labels are 'no', 'yes'."
    assert [path.name for path in HERE.iterdir()] == ["s.csv"]  # no round was played, and none saved
    options = ("--format", "csv", "--label", "spam", "--positive", "maybe")
    done = inside("run", "-", *options, stdin=(HERE / "s.csv").read_text())
    assert re.match(
        r"Columns: 6 numbers\.\nNone of the first [123],\d\d\d instances has the label 'maybe'\.\n", done.stderr
    )
    assert done.returncode == 1


def test_a_short_run_says_nothing_of_checkpoints_and_a_log_has_no_empty_lines():
    write_csv(HERE / "s.csv")
    done = askwhen("run", "s.csv", "--label", "spam", "--trace", "t.csv", "--model", "m.askwhen")
    assert (done.returncode, done.stderr) == (0, "Columns: 6 numbers.\n")
    done = askwhen("run", "s.csv", "--label", "nope")
    assert done.stderr.startswith("askwhen: s.csv has no column 'nope'")


def test_seed_labels_are_learnt_before_the_first_round():
    X, y = stream()
    X = as_read(X)
    write_csv(HERE / "s.csv")
    lines = (HERE / "s.csv").read_text().splitlines()
    (HERE / "seeds.csv").write_text("\n".join(lines[:201]))
    (HERE / "rest.csv").write_text("\n".join([lines[0], *lines[201:]]))
    found = facts("run", "rest.csv", "--label", "spam", "--seed-labels", "seeds.csv", "--model", "m.askwhen")
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=N - 200), seed=0)
    sampler.learn(X[:200], y[:200])
    assert found["mistakes"] == sampler.run(X[200:], y[200:]).mistakes
    assert aw.Sampler.load("m.askwhen").volunteered == 200
    (HERE / "other.csv").write_text("\n".join([",".join(["other", *lines[0].split(",")[1:]]), *lines[1:9]]))
    assert "other" in refused("run", "rest.csv", "--label", "spam", "--seed-labels", "other.csv")
    assert "there is no file nowhere.csv" in refused(
        "run", "rest.csv", "--label", "spam", "--seed-labels", "nowhere.csv"
    )
    done = inside("run", "rest.csv", "--resume", "m.askwhen", "--seed-labels", "seeds.csv")
    assert done.returncode == 2
    assert "--seed-labels goes with a new sampler" in done.stderr


def test_several_classes_are_run_reported_saved_and_gone_on_with():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((900, 3))
    kinds = np.array(["ant", "bee", "cat"])[X.argmax(axis=1)]
    lines = [",".join([*(f"{value:.4f}" for value in x), kind]) for x, kind in zip(X, kinds, strict=True)]
    for name, part in (("all.csv", lines), ("head.csv", lines[:600])):
        (HERE / name).write_text("\n".join(["a,b,c,kind", *part]) + "\n")
    asked = ("--label", "kind", "--classes", "ant,bee,cat", "--labels", "20%")
    found = facts("run", "all.csv", *asked, "--report", "r.html", "--trace", "t.parquet", "--model", "whole.askwhen")
    assert found["classes"] == ["ant", "bee", "cat"]
    assert np.sum(found["confusion"]) == 900
    assert np.trace(found["confusion"]) == 900 - found["mistakes"]
    assert set(found["by_class"]) == {"ant", "bee", "cat"}
    assert "<h2>Classes</h2>" in (HERE / "r.html").read_text()
    shown = askwhen("run", "all.csv", *asked).stdout
    assert " found; from asked labels " in next(line for line in shown.splitlines() if line.startswith("bee"))
    alike = ("--label", "kind", "--classes", "ant,bee,cat", "--algorithm", "perceptron-ss", "--set", "a=1")
    facts("run", "all.csv", *alike, "--model", "whole.askwhen")
    facts("run", "head.csv", *alike, "--model", "m.askwhen")
    facts("run", "all.csv", "--label", "kind", "--resume", "m.askwhen", "--model", "m.askwhen")
    assert aw.Sampler.load("m.askwhen").round == 900
    X = as_read(X)
    np.testing.assert_array_equal(aw.Sampler.load("m.askwhen").margins(X), aw.Sampler.load("whole.askwhen").margins(X))
    assert facts("run", "all.csv", *asked, "--algorithm", "perceptron-ss")["classes"] == ["ant", "bee", "cat"]
    assert "--costs are for two labels" in refused("run", "all.csv", *asked, "--costs", "1,2", code=2)
    alone = ("run", "all.csv", "--label", "kind", "--classes", "ant")
    assert "--classes takes two or more different labels" in refused(*alone, code=2)


def test_classes_appear_and_every_round_is_explained():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((600, 3))
    kinds = np.array(["ant", "bee", "cat"])[X.argmax(axis=1)]
    lines = [",".join([*(f"{value:.4f}" for value in x), kind]) for x, kind in zip(X, kinds, strict=True)]
    (HERE / "all.csv").write_text("\n".join(["a,b,c,kind", *lines]) + "\n")
    given = ("all.csv", "--label", "kind", "--classes")
    found = facts("run", *given, "open", "--trace", "t.parquet", "--report", "r.html", "--model", "m.askwhen")
    assert set(found["classes"]) == {"ant", "bee", "cat"}
    assert np.sum(found["confusion"]) <= 600
    page = (HERE / "r.html").read_text()
    assert "Confusion matrix" in page
    assert "Estimated from the asked labels" in page
    assert "predicted no class, since no label was known yet" in askwhen("explain", "t.parquet", "--round", "0").stdout
    why = askwhen("explain", "t.parquet", "--round", "599").stdout
    assert "half the gap to the next best class" in " ".join(why.split())
    three = (*given, "ant,bee,cat", "--labels", "20%", "--repeats", "2", "--algorithms", "default,perceptron-ss")
    compared = facts("compare", *three, "--report", "c.html")
    assert [cell["algorithm"] for cell in compared["cells"]] == ["default", "perceptron-ss"]
    assert all(cell["accuracy"] > 0.5 for cell in compared["cells"])
    tuned = facts("tune", *given, "ant,bee,cat", "--algorithms", "default,perceptron-ss", "--head", "300")
    assert "--classes ant,bee,cat" in tuned["command"]
    assert tuned["best"]["accuracy"] > 0.5
    assert "--classes must name the labels here" in refused("compare", *given, "open")


def test_costs_are_told_and_the_command_can_be_given_again():
    path = write_csv(HERE / "c.csv")
    found = facts("run", path, "--label", "spam", "--costs", "1,5", "--report", "c.html")
    assert found["cost"]["low"] <= found["cost"]["value"] <= found["cost"]["high"]
    page = (HERE / "c.html").read_text()
    assert "--costs 1,5" in page
    assert "Cost of a row" in page
    (tn, fp), (fn, tp) = found["confusion"]
    assert found["mean_cost"] == pytest.approx((fp + 5 * fn) / N)
    assert found["baseline_costs"] == pytest.approx({"always no": 5 * (fn + tp) / N, "always yes": (tn + fp) / N})
    assert f"had a cost of {found['mean_cost']:.3g} per row; it would have cost" in found["summary"]
    assert f"the mean cost of a row was {found['mean_cost']:.3g}" in page
    shown = askwhen("run", path, "--label", "spam", "--costs", "1,5").stdout
    assert re.search(rf"cost of a row +{found['mean_cost']:.3g}, ", shown)
    assert f"{found['baseline_costs']['always no']:.3g}, always no" in shown
    assert "is not a pair of costs" in refused("run", path, "--label", "spam", "--costs", "1", code=2)
