"""Labelling by hand: answered, skipped, undone, quit or crashed, the answers stay, and the sampler is theirs."""

import pathlib
import random
import subprocess
import sys

import numpy as np
import pytest

import askwhen as aw
from askwhen.labelling.answers import Answers, StoredAnswer
from askwhen.labelling.session import Labelling

X = np.random.default_rng(3).standard_normal((400, 3))
CLASSES = ["ham", "spam"]
OPEN = []
ROOT = pathlib.Path(__file__).parents[2]


def rows(skip, passed):
    for i in range(skip):
        passed(i, {"id": i})
    return ((X[i], {"id": i}) for i in range(skip, len(X)))


def fresh(classes=CLASSES):
    if len(classes) > 2:
        return aw.OneVsRest(classes, aw.Perceptron(), aw.BudgetRule(0.2), seed=5)
    return aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.2), seed=5)


def opened(path, classes=CLASSES, read=rows):
    answers = Answers(path)
    OPEN.append(answers)
    return Labelling(read, fresh(classes), answers, classes, path.with_suffix(".askwhen"))


@pytest.fixture(autouse=True)
def _closed():
    yield
    while OPEN:
        OPEN.pop().close()


def straight(given, until, classes=CLASSES):
    """The sampler that these answers make in a plain loop, stopped at the same question."""
    sampler, known = fresh(classes), {answer.row: answer.label for answer in given}
    for i in range(until):
        ask = sampler.ask(X[i])
        if ask.query and i in known:
            if not known[i]:
                sampler.forget(ask)
            elif len(classes) > 2:
                sampler.tell(ask, known[i])
            else:
                sampler.tell(ask, 1 if known[i] == classes[1] else -1)
    return sampler


def content(sampler, tmp_path):
    sampler.save(tmp_path / "compared.askwhen")
    return (tmp_path / "compared.askwhen").read_bytes()


@pytest.mark.parametrize("classes", [CLASSES, ["a", "b", "c"]], ids=["two", "three"])
@pytest.mark.parametrize("seed", range(4))
def test_any_order_of_doing_ends_where_a_plain_loop_does(seed, classes, tmp_path):
    path, rng = tmp_path / "answers.csv", random.Random(seed)
    loop, told = opened(path, classes=classes), {}
    for _ in range(120):
        question = loop.next()
        if question is None:
            break
        assert question.record["id"] == question.row == question.ask.round
        do = rng.choices(["answer", "skip", "undo", "save", "crash", "quit"], [8, 1, 3, 1, 1, 1])[0]
        if do == "answer":
            told[question.row] = rng.choice(classes)
            loop.answer(told[question.row])
        elif do == "skip":
            told[question.row] = ""
            loop.answer("")
        elif do == "undo" and loop.undo():
            told.popitem()
        elif do == "save":
            loop.save()
        elif do in ("crash", "quit"):
            if do == "quit":
                loop.save()
            loop.close()
            loop = opened(path, classes)
            assert loop.next() == question
    question = loop.next()
    loop.close()
    assert [answer[:2] for answer in opened(path, classes=classes)._answers.given] == list(told.items())
    until = len(X) if question is None else question.row + 1
    expected = straight([StoredAnswer(*pair) for pair in told.items()], until, classes)
    assert content(loop.sampler, tmp_path) == content(expected, tmp_path)


def test_a_stream_ends_and_goes_on_when_it_has_grown(tmp_path):
    few = opened(tmp_path / "a.csv", read=lambda skip, passed: rows_until(skip, 60))
    answer_all(few)
    assert few.sampler.round == 60
    few.save()
    few.close()
    more = opened(tmp_path / "a.csv")
    assert more.sampler.round == 60
    assert more.next().row >= 60


def answer_all(loop):
    while loop.next() is not None:
        loop.answer("ham")


def rows_until(skip, n):
    return ((X[i], {"id": i}) for i in range(skip, n))


def test_answers_edited_by_hand_make_the_sampler_again(tmp_path):
    path = tmp_path / "a.csv"
    loop = opened(path)
    for label in ("ham", "spam", "ham"):
        loop.next()
        loop.answer(label)
    loop.save()
    loop.close()
    text = path.read_text()
    assert opened(path).sampler.round > 0
    OPEN[-1].close()
    path.write_text(text.replace(",spam,", ",ham,"))
    again = opened(path)
    assert again.sampler.round == 0
    question = again.next()
    assert content(again.sampler, tmp_path) == content(straight(again._answers.given, question.row + 1), tmp_path)


def test_every_answer_is_on_the_disk_at_once_and_a_torn_line_is_taken_away(tmp_path):
    path = tmp_path / "a.csv"
    loop = opened(path)
    question = loop.next()
    loop.answer("spam")
    assert path.read_text().splitlines()[1].startswith(f"{question.row},spam,1,")
    loop.close()
    with path.open("a") as file:
        file.write("17,ha")
    loop = opened(path)
    assert [answer[:2] for answer in loop._answers.given] == [(question.row, "spam")]
    assert not path.read_text().endswith("17,ha")


def test_an_answer_is_stored_before_it_is_learnt(tmp_path):
    """Killed at once after the answer, without any saving, a process has lost nothing."""
    path = tmp_path / "a.csv"
    script = (
        "import os, pathlib, sys; from tests.labelling.test_session import opened\n"
        "loop = opened(pathlib.Path(sys.argv[1]))\n"
        "for label in ('ham', 'spam'): loop.next(); loop.answer(label)\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", script, str(path)], cwd=ROOT).returncode == -9
    assert [answer.label for answer in opened(path)._answers.given] == ["ham", "spam"]


def test_two_cannot_write_to_one_file(tmp_path):
    first = Answers(tmp_path / "a.csv")
    with pytest.raises(aw.InputError, match=r"a.csv is open elsewhere; two cannot write to it at once\.$"):
        Answers(tmp_path / "a.csv")
    first.close()
    Answers(tmp_path / "a.csv").close()


def test_what_is_no_answer_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "a.csv"
    loop = opened(path)
    with pytest.raises(aw.InputError, match="there is no open question to answer"):
        loop.answer("ham")
    loop.next()
    with pytest.raises(aw.InputError, match="the label must be one of ham, spam, got 'eggs'"):
        loop.answer("eggs")
    assert path.read_text() == "row,label,probability,time,record\n"
    assert not loop.undo()
    loop.close()
    path.write_text("something else\n")
    with pytest.raises(aw.InputError, match="line 1, is not an answer; it must be a row and a label"):
        Answers(path)
    with pytest.raises(aw.InputError, match="cannot write"):
        Answers(tmp_path / "nowhere" / "a.csv")
    (tmp_path / "m.askwhen").write_text("nonsense")
    with (
        pytest.raises(aw.InputError, match="m.askwhen does not hold a sampler for these 2 labels"),
        Answers(tmp_path / "m.csv") as held,
    ):
        Labelling(rows, fresh(), held, CLASSES, tmp_path / "m.askwhen")


def test_counts_are_of_the_answers(tmp_path):
    loop = opened(tmp_path / "a.csv")
    for label in ("ham", "", "ham"):
        loop.next()
        loop.answer(label)
    assert loop.counts() == {"ham": 2, "spam": 0, "skipped": 1}


def three_answers(path):
    loop = opened(path)
    for label in ("ham", "spam", "ham"):
        loop.next()
        loop.answer(label)
    loop.save()
    loop.close()


@pytest.mark.parametrize("saved", [True, False])
def test_answers_about_another_file_are_refused(tmp_path, saved):
    three_answers(tmp_path / "a.csv")
    if not saved:
        (tmp_path / "a.askwhen").unlink()

    def others(skip, passed):
        for i in range(skip):
            passed(i, {"id": i + 1})
        return ((X[i], {"id": i + 1}) for i in range(skip, len(X)))

    with pytest.raises(aw.InputError, match=r"row 0 of .*a.csv was about another record; was the file changed"):
        opened(tmp_path / "a.csv", read=others).next()


def test_other_labels_are_refused_and_swapped_ones_are_learnt_anew(tmp_path):
    path = tmp_path / "a.csv"
    three_answers(path)
    with pytest.raises(aw.InputError, match=r"has the label 'ham' in row 0, which is not one of a, b; name the same"):
        opened(path, classes=["a", "b"])
    OPEN.pop().close()
    swapped = opened(path, classes=["spam", "ham"])
    assert swapped.sampler.round == 0
    question = swapped.next()
    expected = straight(swapped._answers.given, question.row + 1, ["spam", "ham"])
    assert content(swapped.sampler, tmp_path) == content(expected, tmp_path)
    assert swapped.unused == 3 - (swapped.sampler.questions - 1)


def test_other_settings_make_the_sampler_again_and_say_what_is_not_used(tmp_path):
    path = tmp_path / "a.csv"
    loop = opened(path)
    for _ in range(40):
        loop.next()
        loop.answer("ham")
    loop.save()
    loop.close()
    answers = Answers(path)
    OPEN.append(answers)
    rare = Labelling(rows, aw.Sampler(aw.Perceptron(), aw.FixedRate(0.3), seed=5), answers, CLASSES, loop._model)
    assert rare.sampler.round == 0
    rare.next()
    assert 0 < rare.unused < 40


def test_what_was_interrupted_half_way_is_not_saved_and_is_made_again(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    three_answers(path)
    loop = opened(path)
    loop.next()

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(loop.sampler, "tell", interrupted)
    with pytest.raises(KeyboardInterrupt):
        loop.answer("spam")  # on the disk, and not learnt
    loop.save()
    loop.close()
    again = opened(path)
    question = again.next()
    assert [answer.label for answer in again._answers.given] == ["ham", "spam", "ham", "spam"]
    assert content(again.sampler, tmp_path) == content(straight(again._answers.given, question.row + 1), tmp_path)


def test_the_reading_of_rows_ends_with_the_session(tmp_path):
    ended = []

    def reading(skip, passed):
        try:
            yield from rows(skip, passed)
        finally:
            ended.append(skip)

    loop = opened(tmp_path / "a.csv", read=reading)
    loop.next()
    assert ended == []
    loop.close()
    assert ended == [0]
