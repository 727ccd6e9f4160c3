"""A place for answers may be any that keeps them: the session is the same."""

from askwhen.labelling.answers import Answers, StoredAnswer
from askwhen.labelling.session import Labelling
from tests.labelling.test_session import CLASSES, content, fresh, rows


class Memory:
    """Answers in a list, as a service's table would hold them."""

    name = "memory"

    def __init__(self):
        self.rows = []

    @property
    def given(self):
        return tuple(self.rows)

    def add(self, answer, probability):
        self.rows.append(answer)

    def undo(self):
        return self.rows.pop()

    def close(self):
        pass


def played(store, model, labels):
    loop = Labelling(rows, fresh(), store, CLASSES, model)
    for label in labels:
        loop.next()
        if label == "undo":
            loop.undo()
        else:
            loop.answer(label)
    loop.save()
    return loop


def test_a_session_is_the_same_wherever_its_answers_go(tmp_path):
    labels = ["ham", "spam", "undo", "", "spam", "ham", "undo", "undo", "spam"]
    memory = Memory()
    with Answers(tmp_path / "answers.csv") as file:
        ours = played(file, tmp_path / "ours.askwhen", labels)
        theirs = played(memory, tmp_path / "theirs.askwhen", labels)
        assert list(memory.given) == file.given
        assert content(ours.sampler, tmp_path) == content(theirs.sampler, tmp_path)
        assert (tmp_path / "ours.askwhen").read_bytes() == (tmp_path / "theirs.askwhen").read_bytes()
    again = Labelling(rows, fresh(), memory, CLASSES, tmp_path / "theirs.askwhen")
    assert again.sampler.round == theirs.sampler.round


def test_a_file_of_answers_keeps_them_and_takes_the_last_away(tmp_path):
    with Answers(tmp_path / "answers.csv") as file:
        file.add(StoredAnswer(3, "ham", "abc"), 0.5)
        file.add(StoredAnswer(7, ""), 1.0)
    with Answers(tmp_path / "answers.csv") as file:
        assert file.given == [StoredAnswer(3, "ham", "abc"), StoredAnswer(7, "")]
        assert file.undo() == StoredAnswer(7, "")
    with Answers(tmp_path / "answers.csv") as file:
        assert file.given == [StoredAnswer(3, "ham", "abc")]
