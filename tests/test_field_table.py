"""The table of the field: the same lateness for every method, cells that outlive a kill, limits, and who leads."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import askwhen as aw

HERE = pathlib.Path(__file__).parents[1] / "benchmarks"
TOY = '''
import os, signal, time
import numpy as np
from field.contract import Method, Source

class Toy:
    """Says the class it heard last, and asks about every fifth row from the one of its seed on."""
    def __init__(self, stream, task):
        self.last, self.seed = 0, task.seed
    def predict(self, t):
        return self.last, t % 5 == self.seed % 5
    def learn(self, t, c):
        self.last = c

class Slow(Toy):
    def learn(self, t, c):
        time.sleep(0.02)
        self.last = c

class Hungry(Toy):
    def predict(self, t):
        while "HUNGRY" in os.environ:
            pass
        return 0, False

class Failing(Toy):
    def predict(self, t):
        raise ValueError("no such row")

class Dying(Toy):
    def predict(self, t):
        os.kill(os.getpid(), signal.SIGKILL)

def rows(rng):
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] > 0).astype(int)

METHODS = [Method(each.__name__, "toys", each) for each in (Toy, Slow, Hungry, Failing, Dying)]
STREAMS = [Source("toy stream", "Gaussian.", rows, needs_data=False)]
'''


@pytest.fixture(autouse=True)
def on_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.py"
    path.write_text(TOY)
    return path


def command(toy, *options):
    return [sys.executable, str(HERE / "field_table.py"), "--also", str(toy), "--streams", "toy stream", *options]


def run(toy, *options, **more):
    environment = {name: value for name, value in os.environ.items() if name != "ASKWHEN_DATA"} | more
    done = subprocess.run(command(toy, *options), capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    return done


def results(folder):
    """What came of every cell, without what it took."""
    found = {}
    for path in sorted(folder.rglob("*.json")):
        facts = json.loads(path.read_text())
        del facts["seconds"], facts["measured"]
        found[str(path.relative_to(folder))] = facts
    return found


def two_classes(n=60, seed=0):
    from field.contract import Stream

    X = np.random.default_rng(seed).standard_normal((n, 3))
    return Stream("toy", X, (X[:, 0] + X[:, 1] > 0).astype(int), [-1.0, 1.0], True)


class Noting:
    """Notes when it predicts and when which label comes."""

    def __init__(self, asks):
        self.asks, self.notes = asks, []

    def predict(self, t):
        self.notes.append(("predict", t))
        return 0, self.asks(t)

    def learn(self, t, c):
        self.notes.append(("learn", t, c))


@pytest.mark.parametrize("delay", [0, 1, 2, 7, 30, 100])
@pytest.mark.parametrize("asks", [lambda t: True, lambda t: t % 3 == 0])
def test_a_label_comes_before_the_round_that_is_delay_later(delay, asks):
    from field.contract import Method, Task, play

    stream, learner = two_classes(), Noting(asks)
    played = play(Method("noting", "toys", lambda stream, task: learner), stream, Task(0.5, 0), delay)
    expected = []
    for t in range(60):
        there = t - max(delay, 1)
        if there >= 0 and asks(there):
            expected.append(("learn", there, stream.y[there]))
        expected.append(("predict", t))
    assert learner.notes == expected
    assert played.asked == sum(map(asks, range(60))) / 60
    assert played.accuracy == np.mean(stream.y == 0)


def test_a_purse_is_for_late_labels_or_always():
    from field.contract import SPARE, Method, Task, play

    stream = two_classes(200)
    asked = {
        (purse, delay): play(
            Method("greedy", "toys", lambda stream, task: Noting(lambda t: True), purse=purse),
            stream,
            Task(0.2, 0),
            delay,
        ).asked
        for purse in ("never", "late", "always")
        for delay in (0, 50)
    }
    assert asked == {
        ("never", 0): 1.0,
        ("never", 50): 1.0,
        ("late", 0): 1.0,
        ("late", 50): 0.2,
        ("always", 0): 0.2,
        ("always", 50): 0.2,
    }
    learner = Noting(lambda t: True)
    play(Method("greedy", "toys", lambda stream, task: learner, purse="always"), stream, Task(0.2, 0), 0)
    there = [note[1] for note in learner.notes if note[0] == "learn"]
    assert all(place < 0.2 * (t + 1) + SPARE for place, t in enumerate(there))


@pytest.mark.parametrize("k", [2, 3])
def test_the_default_plays_what_a_run_plays(k):
    from field.contract import Stream, Task, play
    from field.methods.askwhen_sampler import METHODS

    X = np.random.default_rng(3).standard_normal((80, 3))
    y = np.array([0, 1, 2])[(X[:, 0] > 0).astype(int) + (k == 3) * (X[:, 1] > 0)]
    labels = [-1.0, 1.0] if k == 2 else [0, 1, 2]
    stream = Stream("toy", X, y, labels, True)
    trace = aw.Sampler(rule=aw.BudgetRule(0.2), seed=5, classes=None if k == 2 else labels).run(X, np.array(labels)[y])
    played = play(METHODS[0], stream, Task(0.2, 5), 0)
    assert played == (1.0 - trace.mistakes / 80, trace.questions / 80)


@pytest.mark.parametrize("share", [0.02, 0.1])
@pytest.mark.parametrize("drift", [-0.9, 0.0, 0.9])
def test_asking_by_margin_keeps_to_the_share(share, drift):
    from field.askers import PATIENCE, SPARE, ByMargin
    from field.contract import Task

    class Drifting:
        """Knows nothing for twenty rounds; then its margins rise, fall, or are all the same."""

        def chances(self, t):
            margin = 0.0 if t < 20 else 0.5 + 0.5 * drift * (2 * t / 2000 - 1)
            return np.array([0.5 + 0.5 * margin, 0.5 - 0.5 * margin])

        def learn(self, t, c):
            pass

    asker = ByMargin(Drifting(), two_classes(2000), Task(share, 3))
    asked = np.cumsum([asker.predict(t)[1] for t in range(2000)])
    assert asked[-1] >= share * 2000 - PATIENCE
    assert (asked < share * np.arange(1, 2001) + SPARE + 1).all()


def test_the_search_ends_at_the_share_with_the_best_setting():
    from field.results import Played
    from field.search import tuned

    def play(setting, knob):
        return Played({"a": 0.7, "b": 0.9, "never": 1.0}[setting], 0.0 if setting == "never" else min(1.0, knob**2))

    near = {}
    setting, knob = tuned(play, ("a", "b", "never"), (1e-4, 1e2), 0.1, near)
    assert setting == "b"
    assert abs(knob**2 / 0.1 - 1.0) < 0.1
    assert near["b"] == knob
    tries = []
    tuned(lambda setting, knob: tries.append(knob) or play(setting, knob), ("b",), (1e-4, 1e2), 0.1, near)
    assert tries == [knob]


def test_refitted_models_know_only_what_was_delivered():
    from field.contract import Task
    from field.methods.refitted import METHODS

    stream = two_classes(40)
    asker = METHODS[0].start(stream, Task(0.5, 0, 1.0))
    model = asker.model
    assert np.array_equal(model.chances(0), [0.5, 0.5])
    for t in (3, 1, 7, 9, 12, 20):
        model.learn(t, int(stream.y[t]))
    assert model.told == [3, 1, 7, 9, 12, 20]
    assert model.labels == stream.y[model.told].tolist()
    before = model.chances(30).copy()
    stream.y[25:] = 1 - stream.y[25:]  # labels that were never delivered
    model.block = model.block[:0]
    assert np.array_equal(model.chances(30), before)


def test_a_run_that_was_killed_goes_on(toy, tmp_path):
    options = ["--methods", "Toy; Slow", "--shares", "0.2,0.1", "--delays", "0,7,30"]
    whole = run(toy, "--out", str(tmp_path / "whole"), *options)
    folder = tmp_path / "killed"
    killed = subprocess.Popen(
        command(toy, "--out", str(folder), *options), start_new_session=True, stderr=subprocess.PIPE
    )
    slow = folder / "rounds-5000" / "toy-stream" / "slow"
    until = time.monotonic() + 120
    while not list(slow.glob("*.json")) and time.monotonic() < until:
        time.sleep(0.01)
    os.killpg(killed.pid, signal.SIGKILL)
    killed.communicate()
    finished = {path: path.stat().st_mtime_ns for path in folder.rglob("*.json")}
    assert 7 <= len(finished) < 12
    again = run(toy, "--out", str(folder), *options)
    assert results(folder) == results(tmp_path / "whole")
    assert {path: path.stat().st_mtime_ns for path in finished} == finished
    assert again.stdout == whole.stdout


def test_one_method_takes_no_other_with_it_and_is_tried_again(toy, tmp_path):
    options = ["--out", str(tmp_path / "out"), "--shares", "0.2", "--delays", "0,7"]
    names = "Toy; Hungry; Failing; Dying"
    shown = run(toy, *options, "--methods", names, "--minutes", "0.02", HUNGRY="yes").stdout
    rows = {line.split(" | ")[0].strip("| "): line for line in shown.splitlines() if line.startswith("|")}
    assert rows["Hungry"].count("over 0.02 min") == 2
    assert rows["Failing"].count("failed") == rows["Dying"].count("failed") == 2
    found = results(tmp_path / "out" / "rounds-5000" / "toy-stream")
    spent = [json.loads(path.read_text())["seconds"] for path in (tmp_path / "out").rglob("hungry/*.json")]
    assert sorted(spent) == [0.0, 60.0 * 0.02]
    assert found["failing/0.2-late-0.json"]["why"] == "ValueError: no such row"
    assert found["dying/0.2-late-0.json"]["why"] == "its process ended with -9"
    assert found["toy/0.2-late-0.json"]["state"] == found["toy/0.2-late-7.json"]["state"] == "done"
    assert found["toy/0.2-late-0.json"]["versions"]["askwhen"] == aw.__version__

    again = run(toy, *options, "--methods", "Toy; Hungry", "--minutes", "0.5", "--seeds", "2")
    found = results(tmp_path / "out" / "rounds-5000" / "toy-stream")
    assert found["hungry/0.2-late-7.json"]["state"] == "done"
    assert len(found["toy/0.2-late-0.json"]["played"]) == 2
    assert "over" not in again.stdout


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--methods", "Teapot"], "there is no method 'Teapot'"),
        (["--streams", "elec3"], "there is no stream 'elec3'"),
        (["--shares", "many"], "--shares must be numbers with commas between them, got 'many'"),
        (["--shares", "1.5"], "--shares must be above 0 and at most 1"),
        (["--streams", "elec2"], "ASKWHEN_DATA must name the folder of the data sets"),
        (["--streams", "synthetic", "--show"], "has no cells of these"),
    ],
)
def test_bad_options_are_refused_in_a_sentence(options, sentence, tmp_path, monkeypatch, capsys):
    import field_table

    monkeypatch.delenv("ASKWHEN_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["field_table.py", "--out", str(tmp_path), *options])
    with pytest.raises(SystemExit):
        field_table.main()
    assert sentence in capsys.readouterr().err


def test_the_method_of_the_how_to_plays():
    from field.contract import Method, Task, play
    from field.search import tuned

    text = (HERE.parent / "CONTRIBUTING.md").read_text()
    code = text[text.index("class Knn:") :].partition("```")[0]
    found = {"np": np, "Method": Method}
    exec(code, found)
    (method,) = found["METHODS"]
    stream = two_classes(120)

    def once(setting, knob):
        return play(method, stream, Task(0.2, 0, setting, knob), 5)

    best = once(*tuned(once, method.settings, method.knobs, 0.2))
    assert 0.15 <= best.asked <= 0.2
    assert best.accuracy > 0.7


def cells(**accuracies):
    from field.cells import DONE, STOPPED, Cell, Key
    from field.results import Played

    found = {}
    for who, values in accuracies.items():
        for share, value in zip((0.1, 0.02), values, strict=True):
            cell = Cell(STOPPED, minutes=2) if value is None else Cell(DONE, [Played(value, share)])
            found[Key("toy", who, share, 0)] = cell
    return {key._replace(method=key.method.replace("default", "askwhen, default")): cell for key, cell in found.items()}


def test_who_leads_is_said_first_even_where_it_is_not_the_default():
    from field.pages import lost, of_stream, who_leads

    found, methods = (
        cells(default=(0.9, 0.7), other=(0.8, 0.75), third=(0.95, None)),
        ["askwhen, default", "other", "third"],
    )
    assert who_leads(found, ["toy"], methods)["rows"] == [
        ["10 %, at once", "1", "0", "third 1"],
        ["2 %, at once", "1", "0", "other 1"],
    ]
    assert lost(found, ["toy"], methods)["rows"] == [
        ["toy", "10 %, at once", "third", "95.0", "90.0", "5.0"],
        ["toy", "2 %, at once", "other", "75.0", "70.0", "5.0"],
    ]
    assert of_stream(found, "toy", methods)["rows"] == [
        ["askwhen, default", "90.0", "70.0"],
        ["other", "80.0", "**75.0**"],
        ["third", "**95.0**", "over 2 min"],
    ]


def test_what_has_been_run_and_what_not_is_said():
    from field.contract import Source
    from field.pages import what_was_run

    found = cells(default=(0.9, 0.7), other=(0.8, None))
    sources = {name: Source(name, "", lambda rng: (None, None)) for name in ("toy", "not played", "nor this")}
    assert what_was_run(found, sources, ["askwhen, default", "other"], 24)["rows"] == [
        ["toy", "4 of 24", "1", "0", "1", "10 %, at once; 2 %, at once"],
        ["not yet: not played; nor this", "0 of 24", "", "", "", ""],
    ]
    assert what_was_run(found, sources, ["askwhen, default", "other", "third"], 36)["rows"][0][-1] == "none"


def test_a_stream_has_a_picture_for_each_lateness_with_the_best_of_each_package():
    from field.contract import Method
    from field.pages import picture

    found = cells(default=(0.9, 0.7), other=(0.8, 0.75), third=(0.95, 0.5))
    methods = {"askwhen, default": "askwhen", "other": "a package", "third": "a package"}
    drawn = picture(found, "toy", {name: Method(name, package) for name, package in methods.items()}, 0)
    assert drawn.startswith("<svg")
    assert "askwhen, default" in drawn
    assert "third" in drawn
    assert "other" not in drawn
    assert picture(found, "toy", {name: Method(name, package) for name, package in methods.items()}, 100) is None


def test_the_page_and_its_data_are_written_from_the_cells(toy, tmp_path, monkeypatch):
    import field_table
    import record
    import tables
    from field.cells import Store

    store = Store(tmp_path / "out", 5000)
    for key, cell in cells(default=(0.9, 0.7), other=(0.8, 0.75)).items():
        store.write(key._replace(stream="toy stream", method=key.method.replace("other", "Toy")), cell)
    pages = tmp_path / "measurements"
    (pages / "figures").mkdir(parents=True)
    (pages / "figures" / "field-gone.svg").touch()
    (pages / "field.md").write_text(f"# The page\n\n{field_table.MARKER}\n\nwhat was there before\n")
    monkeypatch.setattr(field_table, "PAGES", pages)
    monkeypatch.setattr(record, "DATA", pages / "data")
    options = ["--also", str(toy), "--out", str(tmp_path / "out"), "--methods", "askwhen, default; Toy"]
    monkeypatch.setattr(sys, "argv", ["field_table.py", "--record", "--streams", "toy stream", *options])
    field_table.main()
    text = tables.written((pages / "field.md").read_text(), pages / "data")
    assert text.startswith("# The page\n")
    assert "what was there before" not in text
    assert "### toy stream\n\nGaussian.\n\n![" in text
    assert "| Toy | 80.0 | **75.0** |" in text
    assert [path.name for path in (pages / "figures").iterdir()] == ["field-toy-stream-late-0.svg"]
    facts = json.loads((pages / "data" / "field.json").read_text())
    assert facts["versions"]["askwhen"] == aw.__version__
    assert ["toy stream", "Toy", 0.02, 0, "done", "", None, 0.0, 0.75, 0.02] in facts["cells"]
    assert facts["tables"]["where another method leads"]["rows"] == [
        ["toy stream", "2 %, at once", "Toy", "75.0", "70.0", "5.0"]
    ]


def test_a_stream_that_lacks_a_method_is_not_counted():
    from field.pages import who_leads

    found = cells(default=(0.9, 0.7), other=(0.8, 0.6))
    assert [row[1:] for row in who_leads(found, ["toy"], ["askwhen, default", "other"])["rows"]] == [["1", "1", ""]] * 2
    lacking = who_leads(found, ["toy"], ["askwhen, default", "other", "not yet"])
    assert [row[1:] for row in lacking["rows"]] == [["0", "0", ""]] * 2


def test_who_asks_for_more_than_the_share_does_not_lead():
    from field.results import Played, leading

    found = {"keeps": [Played(0.8, 0.1)], "asks more": [Played(0.9, 0.12)], "as good": [Played(0.8, 0.11)]}
    assert leading(found, 0.1) == {"keeps", "as good"}
