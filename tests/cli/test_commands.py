"""The other commands, each as a process of its own, and what all of them have in common."""

import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import askwhen as aw
from askwhen.cli.commands.explain import why
from tests.cli.running import (
    COMMAND,
    askwhen,
    environment,
    facts,
    from_scratch,
    inside,
    refused,
    stream,
    write_csv,
    write_svmlight,
)

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled
NAMES = [
    "demo",
    "run",
    "plan",
    "compare",
    "tune",
    "label",
    "predict",
    "serve",
    "token",
    "replay",
    "backup",
    "restore",
    "migrate-db",
    "erase",
    "webhook",
    "label-studio",
    "keyed",
    "feed",
    "explain",
    "algorithms",
    "data",
    "reproduce",
    "warm",
    "completion",
]


def test_help_lists_every_command_and_loads_nothing_heavy():
    code = (
        "import sys; from askwhen.cli.main import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: print(sorted({'numba', 'numpy', 'scipy', 'rich', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    lines = done.stdout.splitlines()
    assert lines[-1] == "[]"
    listed = [line.split()[0] for line in lines[lines.index("Commands:") + 1 : -1]]
    assert listed == NAMES
    assert not any(line.endswith("...") for line in lines[1:])  # each is said in full


GROUPS = ("token", "webhook", "label-studio")


@pytest.mark.parametrize(
    "name", [*(name for name in NAMES if name not in GROUPS), "token make", "webhook make", "label-studio sync"]
)
def test_every_command_has_help_and_the_common_options(name):
    done = inside(*name.split(), "--help")
    assert done.returncode == 0
    for option in ("--json", "--quiet", "--debug"):
        assert option in done.stdout


def test_the_version_is_the_packages():
    assert from_scratch("--version").stdout == f"askwhen, version {aw.__version__}\n"


def test_algorithms_are_all_there():
    found = facts("algorithms")
    assert [each["name"] for each in found][5:] == [name.lower() for name in aw.paper_names()]
    assert facts("algorithms", "LASEC-SS") == [
        {
            "name": "lasec-ss",
            "letters": {"b": 1.0, "c": 100.0, "a": None},
            "scale": "a",
            "source": "Moroshko, Crammer 2014",
            "line": "follows a drift of level c, asks near its boundary",
        }
    ]
    assert "there is no 'nonsense'" in refused("algorithms", "nonsense")


def test_data_sets_are_listed_and_fetched(tmp_path):
    found = {each["name"]: each for each in facts("data", ASKWHEN_DATA="", XDG_CACHE_HOME=str(tmp_path))}
    assert list(found) == aw.data.names()
    assert found["a9a"]["missing"] == ["a9a.xz", "a9a.t.xz"]
    digits = facts("data", "digits")
    assert (digits["instances"], digits["features"]) == (1797, 64)
    said = refused("data", "elec2", ASKWHEN_DATA="", XDG_CACHE_HOME=str(tmp_path))
    assert "there is no elec2.csv.gz: put it into a directory that ASKWHEN_DATA names, or give --url" in said


def test_a_data_set_is_run_by_its_name():
    found = facts("run", "digits", "--positive", "3", "--algorithm", "perceptron")
    assert found["rounds"] == 1797
    assert found["accuracy"] > 0.9


def test_why_a_round_asked_is_explained():
    path = write_svmlight(HERE / "s.svm")
    facts("run", path, "--algorithm", "sel-p", "--set", "b=0.5", "--trace", "t.parquet")
    trace = aw.data.read(path).load()
    sampler = aw.paper("SEL-P", b=0.5, seed=0, prepare=aw.Prepare())
    expected = sampler.run(*trace)
    for number in (0, 17, int(np.flatnonzero(expected.queried)[40]), int(np.flatnonzero(~expected.queried)[40])):
        found = facts("explain", "t.parquet", "--round", number)
        assert (found["margin"], found["coin"]) == (expected.margin[number], expected.coin[number])
        assert ("so it asked." in found["why"] or "certain to ask" in found["why"]) == expected.queried[number]
        assert found["sampler"]["rule"] == "MarginRule(scale=0.5)"
    facts("run", path, "--trace", "d.parquet")
    found = facts("explain", "d.parquet", "--round", 2000)
    view, weight = next(iter(found["views"].items()))
    assert sorted(found["views"]) == ["curved", "deviation", "linear", "ranks"]
    assert f"The view that decided most was {view!r}, with {weight:.0%} of the weight." in found["why"]
    found = facts("explain", "t.parquet", "--round", number)
    said = askwhen("explain", "t.parquet", "--round", number).stdout
    assert found["why"].split(".")[0] in " ".join(said.split())
    asked = "asked" if found["queried"] else "did not ask"
    assert said.splitlines()[0] == f"Why round {number} {asked} for its label:"
    assert "t.parquet holds rounds 0 to 2999, not 3000." in refused("explain", "t.parquet", "--round", "3000")
    assert "there is no file nothing.csv." in refused("explain", "nothing.csv", "--round", "0")
    assert "Missing option '--round'" in refused("explain", "t.parquet", code=2)


def test_every_kind_of_round_has_its_words():
    facts = {"round": 4, "prediction": 1, "updated": False, "mistaken": False, "switched": False, "coin": 0.25}
    not_computed = facts | {"margin": np.nan, "probability": np.nan, "queried": False}
    assert "its margin was not needed" in why(not_computed)
    assert "bounds on the margin were enough to decide: it did not ask." in why(not_computed)
    assert "certain not to ask" in why(facts | {"margin": 0.5, "probability": 0.0, "queried": False})
    switched = facts | {"margin": -0.0, "probability": 0.5, "queried": True, "switched": True, "updated": True}
    assert why(switched).endswith("and the learner moved; a switch was declared in this round.")
    number = facts | {"margin": 0.5, "prediction": 0.5, "probability": 1.0, "queried": True}
    assert "The label came, and the learner stayed as it was." in why(number)


def test_a_comparison_is_that_of_the_library(show):
    path = write_csv(HERE / "s.csv")
    args = ("--label", "spam", "-a", "sel-p,perceptron,pa-i-active", "--labels", "10%,0.3", "--repeats", 2)
    args += ("--set", "pa-i-active.C=0.5", "--report", "c.html")
    found = facts("compare", path, *args)
    X, y = stream()
    expected = aw.evaluate.compare(
        X,
        y,
        ["sel-p", "perceptron", "pa-i-active"],
        [0.1, 0.3],
        repeats=2,
        letters={"pa-i-active": {"C": 0.5}},
        prepare=aw.Prepare(),
    )
    assert [cell["accuracy"] for cell in found["cells"]] == pytest.approx([cell.mean for cell in expected.cells])
    assert [cell["letters"] for cell in found["cells"]] == [cell.letters for cell in expected.cells]
    assert [(cell["algorithm"], cell["labels"]) for cell in found["baselines"]] == [
        ("last label told", 0.1),
        ("last label told", 0.3),
        ("last label told", 1.0),
        ("majority so far", 1.0),
    ]
    assert [cell["accuracy"] for cell in found["baselines"]] == [cell.mean for cell in expected.baselines]
    shown = askwhen("compare", path, *args)
    best = max((cell for cell in expected.cells if cell.share == 0.3), key=lambda cell: cell.mean)
    assert shown.stdout.splitlines()[0] == found["summary"]
    assert found["summary"] == (
        f"With 30 % of 3,000 labels {best.algorithm.upper()} did best, right in {100 * best.mean:.1f} %; always saying "
        f"the more frequent label would have been right in {100 * expected.baselines[-1].mean:.1f} %."
    )
    for cell in expected.baselines:
        assert re.search(rf"{cell.algorithm} +{100 * cell.asked.mean():.1f} % +{100 * cell.mean:.1f} ±", shown.stdout)
    assert f"{100 * expected.cells[0].mean:.1f} ±" in shown.stdout
    assert "labels asked, %" in shown.stdout
    assert "accuracy over time, 30 % of the labels" in shown.stdout
    page = show((HERE / "c.html").resolve())
    assert "askwhen compare s.csv --algorithms sel-p,perceptron,pa-i-active --labels 10%,0.3" in page.inner_text("body")
    said = refused("compare", path, *args[:2], "--labels", "5%,100%", code=2)
    assert "shares here are below 100%" in said
    assert "no algorithm here takes 'q'." in refused("compare", path, *args, "--set", "q=1")
    told = facts("compare", path, "--label", "spam", "-a", "sel-p", "--labels", "20%", "--repeats", 1, "--everything")
    assert [cell["algorithm"] for cell in told["baselines"]][2:] == ["sel-p, all labels"]


def test_tune_prints_a_command_that_runs():
    path = write_csv(HERE / "s.csv")
    found = facts("tune", path, "--label", "spam", "-a", "sel-p,pa-i-active", "--labels", "20%", "--head", 1000)
    best, words = found["best"], found["command"].split()
    assert found["head"] == 1000
    assert len(found["tried"]) == 5
    assert words[:5] == ["askwhen", "run", "s.csv", "--label", "spam"]
    done = facts(*words[1:])
    assert 0.1 < done["label_share"] < 0.3
    assert best["algorithm"] in words
    shown = askwhen("tune", path, "--label", "spam", "-a", "sel-p", "--labels", "20%", "--head", 300)
    assert shown.stdout.splitlines()[-1].startswith("askwhen run s.csv --label spam --algorithm sel-p --set b=")


def test_a_shell_completes_commands_options_and_algorithms():
    script = from_scratch("completion", "bash")
    assert script.returncode == 0
    assert "_ASKWHEN_COMPLETE" in script.stdout

    def completed(line):
        words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split(" ")) - 1), "_ASKWHEN_COMPLETE": "bash_complete"}
        done = subprocess.run(COMMAND, capture_output=True, text=True, env=environment(**words))
        return [word.partition(",")[2] for word in done.stdout.splitlines()]

    assert completed("askwhen com") == ["compare", "completion"]
    assert "--algorithm" in completed("askwhen run f --al")
    assert completed("askwhen run f --algorithm lasec") == ["lasec", "lasec-ss"]
    assert completed("askwhen data us") == ["usps", "usenet2"]


def test_the_demo_labels_a_pile_within_its_promise_beside_fixed_budgets(show):
    done = askwhen("demo", "--picture", "p.svg")
    assert done.returncode == 0
    lines = done.stdout.split("\n")
    found = re.fullmatch(
        r"10,000 labels delivered, ([\d,]+) by you; at most ([\d.]+) % of them are wrong, 95 % confidence\.", lines[0]
    )
    asked, certified = int(found[1].replace(",", "")), float(found[2])
    assert certified <= 5.0
    rows = [re.split(r"\s{2,}", line) for line in lines[3:7]]
    names = ["at most 5 % errors", "one label in ten", "one label in ten, at random"]
    assert [row[0] for row in rows] == [*names, "as many labels as the promise, at random"]
    assert rows[0][1:] == [found[1], rows[0][2], f"at most {found[2]} %"]
    wrong = [float(row[2].removesuffix(" %")) for row in rows]
    assert wrong[0] <= certified
    assert wrong[0] < 0.6 * wrong[3]
    assert wrong[1] < wrong[2]
    most = [float(row[3].removeprefix("at most ").removesuffix(" %")) for row in rows]
    assert all(np.array(wrong) < most)
    assert any("\u2801" <= letter <= "\u28ff" for letter in done.stdout)
    assert f"5 %: {asked:,}" in done.stdout
    report = (HERE / "askwhen-demo.html").resolve()
    assert str(report) in done.stdout
    assert report.stat().st_size < 300_000
    assert (HERE / "p.svg").stat().st_size < 100_000
    shown = show(report).inner_text("body")
    assert "Certificate over time" in shown
    assert f"{rows[1][1]} labels asked for, {wrong[1]}% wrong" in shown


def test_the_first_pages_have_the_numbers_of_the_demo():
    root = pathlib.Path(aw.__file__).parents[2]
    facts_of_demo = facts("demo")
    for each in (facts_of_demo["ways"][k] for k in (0, 1, 3)):
        cells = f"{each['questions']:,} | {100 * each['wrong']:.1f} % | at most {100 * each['at_most']:.1f} %"
        assert f"| {each['name']} | {cells} |" in (root / "README.md").read_text()
    first, last = facts_of_demo["ways"][0], facts_of_demo["ways"][3]
    index = " ".join((root / "docs" / "index.md").read_text().split())
    assert f"{first['questions']:,} labels are asked for, at most {100 * first['at_most']:.1f} %" in index
    assert f"and {100 * first['wrong']:.1f} % are. With as many labels at random, {100 * last['wrong']:.1f} %" in index


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_a_run_opens_in_a_browser(show, scheme):
    path = write_csv(HERE / "s.csv")
    found = facts(
        "run", path, "--label", "spam", "--algorithm", "bbq-switch", "--set", "kappa=0.5", "--report", "r.html"
    )
    text = show((HERE / "r.html").resolve(), scheme=scheme).inner_text("body")
    assert f"{100 * found['accuracy']:.1f}%" in text
    assert "askwhen run s.csv --algorithm bbq-switch --set kappa=0.5 --label spam --report r.html" in text


def test_an_experiment_prints_published_beside_measured_and_writes_figures():
    found = facts("reproduce", "switch-regression", "--quick", "--out", "r")["switch-regression"]
    assert found["source"] == "Kravchik 2014"
    assert found["tables"][0]["rows"][0][:2] == ["optimum", [0.1473, 0.0005]]
    assert [pathlib.Path(path).exists() for path in found["figures"]] == [True, True]
    text = (HERE / "r" / "switch-regression.md").read_text()
    assert "| optimum | 0.1473 (0.0005) | " in text
    assert "(switch-regression-delay-detector.svg)" in text
    shown = inside("reproduce", "switch-regression", "--quick", "--out", "r")  # now from what was kept
    assert "published mean squared error" in shown.stdout
    assert refused("reproduce", "nothing", code=2).endswith("'pa-svm', 'online-to-batch', 'all'.")


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["completion", "bash"], ["run", "--help"]])
def test_help_that_cannot_be_printed_is_one_sentence(words):
    with open("/dev/full", "w") as full:
        done = subprocess.run([*COMMAND, *words], stdout=full, stderr=subprocess.PIPE, text=True, env=environment())
    assert done.returncode == 1
    assert done.stderr == "askwhen: the results cannot be printed: No space left on device.\n"


def test_what_the_help_lists_is_what_there_is():
    """The lists are written out in the commands, so that help does not wait for what they name."""
    from askwhen.cli.commands import reproduce, tune
    from askwhen.data.formats import FORMATS
    from askwhen.evaluate.comparison.tuning import CANDIDATES
    from askwhen.experiments import EXPERIMENTS

    def option(command, name):
        return next(each for each in command.params if each.name == name)

    assert list(EXPERIMENTS) == list(reproduce.NAMES)
    assert list(FORMATS) == list(option(tune.tune, "format").type.choices)
    assert option(tune.tune, "algorithms").default.split(",") == list(CANDIDATES)
