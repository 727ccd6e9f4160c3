"""Labelling a file as a function: a person, here a list of what it does, and files that the next call goes on from."""

import contextlib
import pathlib

import numpy as np
import pytest

from askwhen.snapshot import engine_state, file_format
from askwhen.workflows.label import Action, LabelOptions, label_file
from askwhen.workflows.predict import load


class Scripted:
    """Answers as it is told to, then quits."""

    def __init__(self, *actions):
        self.actions = list(actions)
        self.seen = []

    def listening(self):
        return contextlib.nullcontext()

    waiting = listening

    def answer(self, question, session, note):
        self.seen.append((question.row, note))
        action = self.actions.pop(0) if self.actions else Action.QUIT
        if isinstance(action, BaseException):
            raise action
        return action


@pytest.fixture(autouse=True)
def _table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).standard_normal((60, 3))
    np.savetxt("t.csv", X, delimiter=",", header="a,b,c", comments="")


def test_a_sitting_is_saved_and_the_next_one_goes_on(tmp_path):
    person, told = Scripted("yes", "no", Action.UNDO, "yes", "", Action.AGAIN), []
    found = label_file("t.csv", person, None, LabelOptions(labels=0.5), told.append)
    assert not found.ended
    assert found.counts == {"no": 0, "yes": 2, "skipped": 1}
    assert (found.answers, found.model) == ("t.labels.csv", "t.askwhen")
    row = person.seen[3][0]
    notes = [note for _, note in person.seen]
    assert notes[0] == "Columns: 3 numbers."
    assert notes[3:] == ["The last answer was taken back.", f"Row {row}: yes.", "Skipped.", ""]
    assert load("t.askwhen").round == found.sampler.round
    again = Scripted(*["no"] * 60)
    found = label_file("t.csv", again, None, LabelOptions(labels=0.5), told.append)
    assert found.ended
    assert told == ["Columns: 3 numbers.", "Going on after 3 answers in t.labels.csv.", "Columns: 3 numbers."]
    assert again.seen[0][0] == person.seen[-1][0]


def test_an_interrupt_is_a_pause():
    found = label_file("t.csv", Scripted("yes", KeyboardInterrupt()), None, LabelOptions(labels=0.5))
    assert not found.ended
    assert found.counts["yes"] == 1


def test_what_the_columns_are_taken_for_is_said():
    rows = "".join(f"{i},c{i},word{i % 3} text\n" for i in range(40))
    pathlib.Path("w.csv").write_text(f"size,name,body\n{rows}")
    person, told = Scripted("yes", "no"), []
    options = LabelOptions(labels=20)  # a number of labels, so rows are counted
    label_file("w.csv", person, {"text": "body"}, options, told.append)
    sentence = "Columns: 1 text; left out size (an identifier), name (an identifier)."
    assert person.seen[0][1] == sentence
    assert person.seen[1][1].startswith("Row ")
    assert told == [sentence]
    again, told = Scripted("yes"), []
    label_file("w.csv", again, {"text": "body"}, options, told.append)
    assert (again.seen[0][1], told[1:]) == (sentence, [sentence])
    told.clear()
    options = LabelOptions(labels=20, answers="a.csv")
    label_file("w.csv", Scripted("yes"), {"text": "body", "drop": "name"}, options, told.append)
    assert told == [sentence]


def repeated(path="r.csv", each=5):
    """A table in which every content comes several times, each time with another identifier."""
    X = np.repeat(np.random.default_rng(1).standard_normal((30, 2)).round(6), each, axis=0)
    X = X[np.random.default_rng(2).permutation(len(X))]
    lines = [f"n{i},{a},{b}\n" for i, (a, b) in enumerate(X.tolist())]
    pathlib.Path(path).write_text("id,a,b\n" + "".join(lines))
    return X


def bits(sampler):
    """Everything that a sampler knows."""
    header, arrays = engine_state.dump(sampler.engine, [])
    return file_format.pack(header, {name: np.array(array) for name, array in arrays.items()})


class Truthful(Scripted):
    """Answers by the sign of the first number, so many times; then quits."""

    def __init__(self, times):
        super().__init__()
        self.times, self.rows = times, []

    def answer(self, question, session, note):
        if len(self.rows) == self.times:
            return Action.QUIT
        self.rows.append(question.row)
        return "yes" if float(question.record["a"]) > 0.0 else "no"


def test_a_row_that_was_answered_before_takes_that_answer_at_no_cost():
    X, options = repeated(), LabelOptions(labels=0.3)
    person = Truthful(1000)
    found = label_file("r.csv", person, None, options)
    assert found.ended
    assert found.sampler.round == len(X)
    assert len({tuple(X[row]) for row in person.rows}) == len(person.rows) <= 45
    assert found.sampler.questions > 2 * len(person.rows)
    # The same sampler comes from the answers alone, and from several sittings with an undo.
    pathlib.Path("r.askwhen").unlink()
    rebuilt = label_file("r.csv", Truthful(0), None, options)
    assert bits(rebuilt.sampler) == bits(found.sampler)
    pieces = LabelOptions(labels=0.3, answers="p.csv", model="p.askwhen")
    for times in (3, 5, 0):
        label_file("r.csv", Truthful(times), None, pieces)
    label_file("r.csv", Scripted(Action.UNDO, Action.UNDO), None, pieces)
    last = label_file("r.csv", Truthful(1000), None, pieces)
    assert (
        pathlib.Path("p.csv").read_text().splitlines()[-1].split(",")[:2]
        == (pathlib.Path("r.labels.csv").read_text().splitlines()[-1].split(",")[:2])
    )
    assert bits(last.sampler) == bits(found.sampler)
    asked = Truthful(1000)
    options = LabelOptions(labels=0.3, answers="a.csv", model="a.askwhen", ask_repeats=True)
    again = label_file("r.csv", asked, None, options)
    assert again.sampler.questions == len(asked.rows)
    assert len({tuple(X[row]) for row in asked.rows}) < len(asked.rows)


class Knowing(Scripted):
    """Answers rightly: the first column decides. Skips one row."""

    def answer(self, question, session, note):
        self.seen.append((question.row, note))
        return "" if len(self.seen) == 5 else "yes" if float(question.record["a"]) > 0 else "no"


def test_a_promise_ends_with_a_label_for_every_row_and_says_how_good_they_are(tmp_path):
    X = np.random.default_rng(1).standard_normal((1500, 2))
    np.savetxt("pile.csv", X, delimiter=",", header="a,b", comments="")
    options = LabelOptions(labels=None, errors=0.1, delivered="delivered.csv")
    first = label_file("pile.csv", Scripted(*(["yes"] * 0)), None, options)
    assert not first.ended
    person = Knowing()
    found = label_file("pile.csv", person, None, options)
    assert found.ended
    rows = [line.split(",") for line in pathlib.Path("delivered.csv").read_text().splitlines()]
    assert rows.pop(0) == ["row", "label", "by", "certainty"]
    assert [int(row) for row, *_ in rows] == list(range(1500))
    by = [each[2] for each in rows]
    assert by.count("person") == len(person.seen) - 1 == found.sampler.promise.answered
    assert by.count("") == 1
    assert by.count("model") > 800
    assert all((0.5 <= float(each[3]) <= 1.0) == (each[2] == "model") for each in rows if each[3])
    wrong = sum(each[1] != ("yes" if x > 0 else "no") for each, x in zip(rows, X[:, 0], strict=True) if each[1])
    promise = found.sampler.promise
    assert wrong / 1499 <= promise.certified <= 0.1
    share = f"{100 * promise.certified:.1f} %"
    asked = f"{promise.answered:,} by you"
    assert found.promise == f"1,499 labels delivered, {asked}; at most {share} of them are wrong, 95 % confidence"


def delivered_in(path):
    return [line.split(",") for line in pathlib.Path(path).read_text().splitlines()[1:]]


def test_delivered_labels_are_those_of_the_session_with_repeats_and_rows_that_came_later():
    X = repeated(each=30)  # 900 rows
    options = LabelOptions(labels=None, errors=0.2, delivered="delivered.csv")
    person = Truthful(1000)
    found = label_file("r.csv", person, None, options)
    rows, promise = delivered_in("delivered.csv"), found.sampler.promise
    assert len(rows) == len(X) == promise.delivered
    assert {each[1] for each in rows} == {"no", "yes"}
    answered = {tuple(X[row]) for row in person.rows}
    first = {x: next(row for row in person.rows if tuple(X[row]) == x) for x in answered}
    by_people = [tuple(x) in first and row >= first[tuple(x)] for row, x in enumerate(X)]
    assert [each[2] == "person" for each in rows] == by_people
    assert by_people.count(True) > 3 * len(person.rows)
    assert promise.certificate.asked == by_people.count(True)
    grown = LabelOptions(labels=None, errors=0.2, delivered="grown.csv", ask_repeats=True)
    distinct = np.random.default_rng(8).standard_normal((900, 2)).round(6)
    lines = ["id,a,b\n", *(f"n{i},{a},{b}\n" for i, (a, b) in enumerate(distinct.tolist()))]
    pathlib.Path("g.csv").write_text("".join(lines[:501]))
    one = Truthful(1000)
    assert label_file("g.csv", one, None, grown).ended
    before = delivered_in("grown.csv")
    pathlib.Path("g.csv").write_text("".join(lines))
    two = Truthful(1000)
    found = label_file("g.csv", two, None, grown)
    after = delivered_in("grown.csv")
    assert after[:500] == before
    assert len(after) == 900 == found.sampler.promise.delivered
    assert [row for row, each in enumerate(after) if each[2] == "person"] == one.rows + two.rows
