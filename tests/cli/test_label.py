"""``askwhen label`` through a real terminal: keys go in, the screen comes out, answers stay."""

import csv
import json
import pathlib
import random
import signal

import pexpect
import pytest

import askwhen as aw
from askwhen.cli.terminal.screen import keys_of, plain
from askwhen.data.unlabelled import read_records
from tests.cli.running import askwhen, environment, refused
from tests.forking import Terminal
from tests.soak import times

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled
GOOD, BAD = ["meeting", "report", "lunch", "project", "review"], ["winner", "prize", "free", "cash", "offer"]
ARGUMENTS = ("label", "mails.csv", "--text", "body", "--classes", "ham,spam", "--features", "64", "--labels", "20%")


@pytest.fixture(autouse=True)
def mails():
    rng = random.Random(1)
    with (HERE / "mails.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "size"])
        for i in range(150):
            words = rng.choices(BAD if i % 3 == 0 else GOOD, k=6)
            writer.writerow([f"mail-{i}", " ".join(words) + ("\x1b]0;taken over\x07" if i == 0 else ""), len(words)])


def opened(*more):
    return Terminal([*ARGUMENTS, *more], environment(TERM="xterm"))


def right(row):
    return "s" if row % 3 == 0 else "h"


def next_row(terminal):
    terminal.expect(r"mails.csv, row ([\d,]+) ")
    row = int(terminal.match[1].replace(",", ""))
    terminal.expect("quit")
    return row


def answers():
    with (HERE / "mails.labels.csv").open(newline="") as file:
        return [(int(line["row"]), line["label"]) for line in csv.DictReader(file)]


def ended(terminal):
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.exitstatus


def test_keys_answer_skip_undo_and_quit_and_the_same_command_goes_on():
    terminal = opened()
    rows = []
    for key in ("right", "right", " ", "u", "right", "x", "right"):
        if key != "x":
            rows.append(next_row(terminal))
        terminal.send(right(rows[-1]) if key == "right" else key)  # x means nothing, and nothing happens
    rows.append(next_row(terminal))
    assert rows[3] > rows[2] == rows[4]  # skipped, then taken back, so asked again
    words = {"s": "spam", "h": "ham"}
    told = [(row, words[right(row)]) for row in (rows[0], rows[1], rows[4], rows[5])]
    assert answers() == told
    terminal.send("q")
    terminal.expect("To go on:")
    terminal.expect("askwhen label mails.csv --classes ham,spam --labels 20% --text body --features 64")
    assert ended(terminal) == 0

    terminal = opened()
    terminal.expect("Going on after 4 answers in mails.labels.csv.")
    assert next_row(terminal) == rows[-1]
    terminal.send("u")  # also after coming back
    assert next_row(terminal) == rows[-2]
    terminal.send(right(rows[-2]))
    assert next_row(terminal) == rows[-1]
    terminal.send("\x03")  # Ctrl-C quits like any other way
    assert ended(terminal) == 0
    assert answers() == told


def test_killed_at_any_time_nothing_that_was_answered_is_lost():
    told = []
    for _ in range(times(3, 40)):
        terminal = opened()
        for _ in range(3):
            row = next_row(terminal)
            terminal.send(right(row))
            told.append(row)
        next_row(terminal)
        terminal.kill(signal.SIGKILL)
        terminal.close()
        assert [row for row, _ in answers()] == told


def test_to_the_end_it_learns_what_the_library_learns():
    terminal = opened("--json", "--encoder", "none")
    while True:
        if terminal.expect([r"mails.csv, row ([\d,]+) ", r'"ended": true']) == 1:
            break
        row = int(terminal.match[1])
        terminal.expect("quit")
        terminal.send(right(row))
    terminal.expect(pexpect.EOF)
    found = json.loads('{\n  "ended": true' + terminal.before)
    terminal.close()
    told = dict(answers())
    assert (found["rows_seen"], found["questions"]) == (150, len(told))
    assert 28 <= len(told) <= 30  # a fifth of the file, and no more
    sampler = aw.Sampler(rule=aw.BudgetRule(0.2, length=150), seed=0)
    for x, record in read_records("mails.csv", text="body", n_features=64):
        ask = sampler.ask(x)
        if ask.query:
            sampler.tell(ask, 1 if told[int(record["id"].removeprefix("mail-"))] == "spam" else -1)
    made = aw.Sampler.load("mails.askwhen")
    assert made.weights.tolist() == sampler.weights.tolist()
    assert (made.round, made.questions) == (sampler.round, sampler.questions)


def test_several_labels_have_keys_of_their_own():
    terminal = opened("--classes", "sun,rain,snow", "--answers", "a.csv", "--model", "m.askwhen", "--guess")
    terminal.expect(r"\[1\]\S* sun +\S*\[r\]\S* rain +\S*\[3\]\S* snow")
    terminal.send("3")
    terminal.expect(": snow.")
    terminal.send("q")
    assert ended(terminal) == 0
    assert (HERE / "a.csv").read_text().splitlines()[1].startswith("0,snow,")
    assert aw.Sampler.load("m.askwhen").classes == ["sun", "rain", "snow"]


def test_a_text_cannot_command_the_terminal():
    terminal = opened()
    terminal.expect("quit")
    assert "taken over" in terminal.before
    assert "\x1b]0;" not in terminal.before
    assert plain("a\x1b[2Jb\tc\nd\u202e") == "a\N{REPLACEMENT CHARACTER}[2Jb\tc\nd\N{REPLACEMENT CHARACTER}"
    terminal.send("q")
    ended(terminal)


def test_what_is_wrong_is_said_in_one_sentence():
    terminal = Terminal(["label", "mails.csv", "--text", "no"], environment())
    terminal.expect("askwhen: mails.csv has no column 'no'; it has 'id', 'body', 'size'.")
    assert ended(terminal) == 1
    assert "--classes takes two or more different labels" in refused(*ARGUMENTS, "--classes", "a", code=2)
    done = askwhen(*ARGUMENTS, "--model", "no/where.askwhen")
    assert done.returncode == 1


def test_keys_are_letters_where_they_are_free():
    assert keys_of(["ham", "spam"]) == {"h": "ham", "s": "spam"}
    assert keys_of(["up", "quiet", "down"]) == {"1": "up", "2": "quiet", "d": "down"}
    assert keys_of(["no", "new"]) == {"1": "no", "2": "new"}
    many = [f"topic {k}" for k in range(40)]
    keys = keys_of(many)
    assert list(keys.values()) == many[: len(keys)]
    assert len(keys) == 9 + 24
    assert not {"u", "q", "/", " "} & {*keys}


def test_a_label_without_a_key_is_found_by_a_part_of_its_name():
    names = ",".join(f"topic {k}" for k in range(40))
    terminal = opened("--classes", names, "--answers", "a.csv", "--model", "m.askwhen")
    terminal.expect("search")
    terminal.send("/")
    terminal.expect("topic 0, topic 1")
    terminal.send("39")
    terminal.expect("topic 39   ")
    terminal.send("\r")
    terminal.expect(": topic 39.")
    terminal.send("/topic 3\x7f\x1b")  # given up: the question stays
    terminal.expect("search")
    terminal.send("q")
    assert ended(terminal) == 0
    assert [line.split(",")[1] for line in (HERE / "a.csv").read_text().splitlines()[1:]] == ["topic 39"]


def test_what_was_labelled_by_hand_predicts_the_rest():
    terminal = opened()
    for _ in range(6):
        terminal.send(right(next_row(terminal)))
    next_row(terminal)
    terminal.send("q")
    assert ended(terminal) == 0
    done = askwhen("predict", "mails.askwhen", "mails.csv", "--quiet")
    assert (done.returncode, done.stderr) == (0, "")
    found = [line["label"] for line in csv.DictReader(done.stdout.splitlines())]
    assert len(found) == 150
    assert sum(label == ("spam" if row % 3 == 0 else "ham") for row, label in enumerate(found)) > 120
    rest = askwhen("predict", "mails.askwhen", "mails.csv", "--rest", "--json", "--quiet").stdout.splitlines()
    assert [json.loads(line)["label"] for line in rest] == found[aw.Sampler.load("mails.askwhen").round :]


def test_keys_typed_ahead_are_taken_and_arrows_are_not_an_escape():
    terminal = opened()
    first = next_row(terminal)
    terminal.send("\x1b[A\x1bOBhs")  # two arrows, then two answers at once
    terminal.expect(r": spam\.")
    assert [label for _, label in answers()] == ["ham", "spam"]
    assert answers()[0][0] == first
    terminal.send("q")
    assert ended(terminal) == 0
