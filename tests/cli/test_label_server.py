"""``askwhen label --server`` through a real terminal and against a real service: whatever ends, no answer is lost."""

import json
import pathlib
import random
import re
import signal
import time
import uuid

import pexpect
import pytest

import askwhen as aw
from askwhen.client import Stream
from tests.cli.running import environment, refused
from tests.forking import Terminal
from tests.service.serving import Server
from tests.soak import times

pytestmark = pytest.mark.xdist_group("cli")
HERE = pathlib.Path()
HOSTILE = "\x1b]0;taken over\x07"


@pytest.fixture(scope="module")
def only_server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "log.db") as server:
        yield server


@pytest.fixture
def server(only_server):
    """A service, whatever became of it in the test before."""
    return only_server if only_server.process.poll() is None else only_server.start()


@pytest.fixture
def client(server):
    with aw.Client(server.url, timeout=120.0) as client:
        yield client


@pytest.fixture
def make(client, request):
    """A stream of its own for the test, with so many open questions."""

    def made(questions, **settings):
        name = f"{request.node.name[5:60]}-{uuid.uuid4().hex[:8]}"
        given = {"labels": ["ham", "spam"], "features": {"kind": "text"}, "algorithm": "perceptron", "grace": 0.0}
        stream = client.create(name, seed=1, **given | settings)
        if questions:
            assert all(found.query for found in stream.ask_many([f"mail {i}" for i in range(questions)]))
        return stream

    return made


def opened(server, stream, *more, columns=100):
    where = ("label", "--server", server.url, "--stream", stream.name, "--annotator", "ann")
    state = environment(TERM="xterm", XDG_STATE_HOME=str(HERE.resolve()))
    terminal = Terminal([*where, *more], state, columns=columns)
    terminal.timeout = 30
    return terminal


def question(terminal):
    terminal.expect(r"question ([\d,]+) ")
    found = int(terminal.match[1].replace(",", ""))
    terminal.expect("quit")
    return found


def after(terminal, keys, note):
    """The question that is on the screen once these keys were typed and this was said of them."""
    terminal.send(keys)
    found = question(terminal)
    terminal.expect_exact(note)
    return found


def ended(terminal):
    terminal.expect(pexpect.EOF)
    terminal.close()
    return terminal.exitstatus


def answers(stream):
    """What stands on the server: every answer that was not taken back, by its question."""
    rows = [row for row in stream.export() if not row["undone"]]
    found = {row["question"]: row["answer"] for row in rows}
    assert len(found) == len(rows)  # none was taken twice
    return found


def waits(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def kept():
    """What is in the outboxes of this folder."""
    lines = [line for path in (HERE / "askwhen").glob("*.outbox") for line in path.read_text().splitlines()]
    said = [json.loads(line) for line in lines]
    done = {each["done"] for each in said if "done" in each}
    return [each for each in said if each.get("key", "done") not in {*done, "done"}]


def held():
    """The questions that terminals of this folder have in hand."""
    return {int(path.name.split(".")[-2]) for path in (HERE / "askwhen").glob("*.hold")}


def test_twenty_questions_with_every_key(server, make):
    stream = make(24)
    terminal = opened(server, stream)
    told, round = {}, question(terminal)
    for i in range(20):
        told[round] = "spam" if i % 3 == 0 else "ham"
        round = after(terminal, "s" if i % 3 == 0 else "h", f"Question {round}: {told[round]}.")
    skipped, round = round, after(terminal, " ", f"Question {round}: skipped.")
    unsure, round = round, after(terminal, "?", f"Question {round}: unsure.")
    terminal.expect("21 answers, all safe on the server")
    assert after(terminal, "u", "The last answer was taken back") == unsure
    terminal.send("/")
    terminal.expect("ham, spam")
    assert after(terminal, "sp\r", f"Question {unsure}: spam.") == round
    told[unsure] = "spam"
    terminal.expect("21 answers, all safe on the server")
    terminal.send("q")
    terminal.expect("13 ham, 8 spam, 1 skipped")
    assert ended(terminal) == 0
    assert answers(stream) == told
    assert skipped not in told
    assert [path.suffix for path in (HERE / "askwhen").iterdir()] == [".device"]  # nothing else is left


def test_the_server_is_killed_while_somebody_answers(server, make):
    stream = make(6)
    terminal = opened(server, stream)
    told = {question(terminal): "ham"}
    terminal.send("h")
    told[question(terminal)] = "spam"
    waits(lambda: held() == {1, 2})  # the answer is on the server, and the next question here
    server.kill()
    terminal.send("s")
    told[question(terminal)] = "ham"  # it was fetched ahead
    terminal.send("h")
    terminal.expect("2 answers are kept on this machine")
    assert [each["label"] for each in kept()] == ["spam", "ham"]
    server.start()
    told[question(terminal)] = "spam"
    terminal.send("s")
    terminal.expect("4 answers, all safe on the server")
    terminal.send("q")
    assert ended(terminal) == 0
    assert answers(stream) == told


def test_the_terminal_is_killed_before_the_reply_and_the_next_one_sends_the_answer(server, make):
    stream = make(3)
    terminal = opened(server, stream)
    first = question(terminal)
    server.process.send_signal(signal.SIGSTOP)  # takes the request, and does not reply
    try:
        terminal.send("s")
        waits(kept)
        terminal.kill(signal.SIGKILL)
        terminal.close()
    finally:
        server.process.send_signal(signal.SIGCONT)
    assert [each["question"] for each in kept()] == [first]
    terminal = opened(server, stream)
    terminal.expect("the answers that an earlier session could not send: 1")
    assert question(terminal) != first
    terminal.send("q")
    assert ended(terminal) == 0
    assert answers(stream) == {first: "spam"}
    assert kept() == []


def test_what_could_not_be_sent_is_told_and_sent_by_the_next_sitting(server, make):
    stream = make(3)
    terminal = opened(server, stream)
    first = question(terminal)
    server.kill()
    terminal.send("h")
    terminal.expect("1 answer is kept on this machine")
    terminal.send("q")
    terminal.expect("1 ham")
    terminal.expect("Answers that are not on the server yet: 1, stored in ")
    assert ended(terminal) == 1
    server.start()
    terminal = opened(server, stream)
    question(terminal)
    terminal.send("\x03")
    assert ended(terminal) == 0
    assert answers(stream) == {first: "ham"}


def test_a_question_is_held_while_somebody_thinks_and_given_back_at_the_end(server, make):
    stream = make(2, lease=3.0)
    terminal = opened(server, stream)
    assert question(terminal) == 0
    waits(lambda: held() == {0, 1})  # one is on the screen, the other was fetched ahead
    end = time.monotonic() + 3.6
    while time.monotonic() < end:
        assert stream.next("bob") is None
        time.sleep(0.1)
    terminal.send("q")
    assert ended(terminal) == 0
    assert stream.next("bob")["question"] == 0


def test_two_terminals_of_one_person_never_show_the_same_question(server, make):
    stream = make(16)
    terminals = [opened(server, stream), opened(server, stream)]
    seen = [[question(terminal)] for terminal in terminals]
    for _ in range(6):
        for terminal, mine in zip(terminals, seen, strict=True):
            mine.append(after(terminal, "h", f"Question {mine[-1]}: ham."))
    assert len({*seen[0], *seen[1]}) == 14
    for terminal, mine in zip(terminals, seen, strict=True):
        terminal.send("q")
        assert ended(terminal) == 0
        mine.pop()
    assert answers(stream) == dict.fromkeys(seen[0] + seen[1], "ham")


def test_a_terminal_on_another_machine_gets_other_questions(server, make):
    stream = make(12)
    terminals = [opened(server, stream, "--outbox", folder) for folder in ("here", "there")]
    seen = [question(terminal) for terminal in terminals]
    for _ in range(4):
        for terminal in terminals:
            terminal.send("h")
            seen.append(question(terminal))
    assert len({*seen}) == 10
    for terminal in terminals:
        terminal.send("q")
        assert ended(terminal) == 0
    assert answers(stream) == dict.fromkeys(seen[:-2], "ham")


def test_where_nobody_needs_to_answer_it_waits_and_goes_on_by_itself(server, make):
    stream = make(0)
    terminal = opened(server, stream)
    terminal.expect("No question is open now")
    terminal.send("sss")  # of no question
    stream.ask("a prize" + HOSTILE)
    terminal.expect("question 0 ")
    terminal.expect("quit")
    assert "taken over" in terminal.before
    assert "\x1b]0;" not in terminal.before
    assert answers(stream) == {}
    terminal.send("s")
    terminal.expect("No question is open now")
    terminal.send("u")
    assert question(terminal) == 0
    terminal.send("hq")
    assert ended(terminal) == 0
    assert answers(stream) == {0: "ham"}


def test_new_labels_are_typed_and_the_guess_is_shown_only_where_the_stream_says_so(server, make):
    stream = make(0, labels="open", algorithm="default", guess=True)
    stream.ask("grey and wet")
    terminal = opened(server, stream, "--json", columns=40)
    terminal.expect("another")
    terminal.send("/Rain\r")
    waits(lambda: answers(stream) == {0: "Rain"})
    later = next(found for found in map(stream.ask, (f"sunny and warm, day {i}" for i in range(100))) if found.query)
    terminal.expect("would have said: Rain")
    terminal.expect(r"\[1\]\S* Rain")
    terminal.send("1")
    terminal.expect("2 answers, all safe")
    terminal.send("q")
    terminal.expect(r'"labels": \{\s+"Rain": 2\s+\}')
    assert ended(terminal) == 0
    assert answers(stream) == {0: "Rain", later.round: "Rain"}


def test_several_labels_are_picked_and_given(server, make):
    stream = make(4, labels=["sport", "local", "money"], several=True, algorithm="default")
    terminal = opened(server, stream, "--json")
    assert question(terminal) == 0
    terminal.send("s")
    terminal.expect(r"\[enter\] give sport")
    terminal.send("lm")
    terminal.expect(r"\[enter\] give local, money, sport")
    terminal.send("m")
    terminal.expect(r"\[enter\] give local, sport")
    assert after(terminal, "\r", "Question 0: local, sport.") == 1
    terminal.send("\r")  # pressed twice
    terminal.expect("Nothing is picked")
    assert after(terminal, "-", "Question 1: none of them.") == 2
    assert after(terminal, "?", "Question 2: unsure.") == 3
    terminal.send("/mon\r")
    terminal.expect(r"\[enter\] give money")
    terminal.send("\r")
    terminal.expect("4 answers, all safe")
    terminal.send("u")
    assert question(terminal) == 3
    terminal.send("q")
    terminal.expect(r'"answered": 3,\s+"labels": \{\s+"sport": 1,\s+"local": 1,\s+"money": 0\s+\},\s+"unsure": 1')
    assert ended(terminal) == 0
    assert answers(stream) == {0: '["local","sport"]', 1: "[]", 2: None}


def test_numbers_are_typed(server, make):
    stream = make(4, labels="numbers", within=1.0, bounds=[-10, 100], algorithm="default")
    terminal = opened(server, stream)
    assert question(terminal) == 0
    assert after(terminal, "12,5\r", "Question 0: 12.5.") == 1
    terminal.send("1000\r")
    terminal.expect("give a number from -10 to 100")
    assert after(terminal, "\x7f\x7f\r", "Question 1: 10.") == 2
    terminal.send("7\x1b")  # thought better of it
    assert question(terminal) == 2
    terminal.send("-3\r")
    question(terminal)
    terminal.expect("3 answers, all safe")
    terminal.send("q")
    terminal.expect("3 given")
    assert ended(terminal) == 0
    assert answers(stream) == {0: 12.5, 1: 10.0, 2: -3.0}


def test_all_of_a_long_text_can_be_read_on_a_small_screen(server, make):
    stream = make(0, labels=[f"topic {k}" for k in "abcdefghijkl"])
    words = [f"word{i:03}" for i in range(400)]
    stream.ask(" ".join(words))
    terminal = opened(server, stream, columns=40)
    read = []
    for _ in range(60):
        question(terminal)
        shown = terminal.before
        assert shown.count("\n") < 24
        read += re.findall(r"word\d{3}", shown)
        if read[-1] == words[-1]:
            break
        terminal.send("\r")
    assert read == words
    terminal.send("q")
    assert ended(terminal) == 0
    assert answers(stream) == {}


def test_a_question_that_is_taken_away_leaves_the_screen(server, make):
    stream = make(3, lease=1.0)
    terminal = opened(server, stream)
    assert question(terminal) == 0
    stream.tell(0, "ham", annotator="ann")  # on the page, say
    assert question(terminal) == 1
    terminal.expect("The last question needs no answer any more: ann has answered this question already")
    terminal.send("s")
    question(terminal)
    terminal.send("q")
    assert ended(terminal) == 0
    assert answers(stream) == {0: "ham", 1: "spam"}


def test_what_is_wrong_is_said_in_one_sentence(server, make, client):
    stream = make(0)
    client.create("another-one", labels=["ham", "spam"])
    terminal = Terminal(["label", "--server", server.url], environment())
    terminal.expect(r"askwhen: the service has several streams; name one as --stream: .*another-one")
    assert ended(terminal) == 1
    terminal = opened(server, Stream(client, "no-such"))
    terminal.expect("askwhen: there is no stream 'no-such'.")
    assert ended(terminal) == 1
    terminal = Terminal(["label", "--server", "http://127.0.0.1:9"], environment())
    terminal.expect("askwhen: the service cannot be reached: ")
    assert ended(terminal) == 1
    assert "either a FILE, or a service" in refused("label", code=2)
    assert "--stream goes with --server" in refused("label", __file__, "--stream", "a", code=2)
    assert "--classes does not go with --server" in refused(
        "label", "--server", server.url, "--classes", "a,b", "--stream", stream.name, code=2
    )


def test_whoever_has_a_token_has_its_name_and_keeps_answers_when_it_is_revoked(tmp_path):
    with Server(tmp_path / "log.db") as server, aw.Client(server.url, timeout=120.0) as client:
        stream = client.create(
            "mails", labels=["ham", "spam"], algorithm="perceptron", features={"kind": "text"}, seed=1
        )
        head = client.send("POST", "/v1/tokens", json={"name": "eve", "roles": ["admin"]})["secret"]
        with aw.Client(server.url, head, timeout=120.0) as admin:
            stream = admin.stream("mails")
            assert len([found for found in stream.ask_many(["a", "b", "c"]) if found.query]) == 3
            made = admin.send("POST", "/v1/tokens", json={"name": "ann", "roles": ["annotator"]})
            state = environment(TERM="xterm", XDG_STATE_HOME=str(tmp_path))
            words = ["label", "--server", server.url]
            terminal = Terminal(words, state)
            terminal.expect("askwhen: a token is needed")
            assert ended(terminal) == 1
            mine = state | {"ASKWHEN_TOKEN": made["secret"]}
            terminal = Terminal([*words, "--annotator", "bob"], mine)
            terminal.expect("askwhen: annotator must be the name of the token, or left out.")
            assert ended(terminal) == 1
            terminal = Terminal(words, mine)
            assert question(terminal) == 0
            assert after(terminal, "h", "Question 0: ham.") == 1
            terminal.expect("1 answer, all safe on the server")
            admin.send("DELETE", f"/v1/tokens/{made['token']}")
            terminal.send("s")
            kept, revoked = "Answers that are not on the server yet: 1, stored in ", "askwhen: the token is not known."
            if terminal.expect([kept, revoked]) == 0:  # else it had noticed before the key came
                terminal.expect(revoked)
            assert ended(terminal) == 1
            (row,) = stream.export()
            assert (row["annotator"], row["answer"]) == ("ann", "ham")


def test_whatever_is_killed_and_whenever_every_answer_comes_once(server, make, tmp_path):
    for trial in range(times(1, 6)):
        rng, stream, told = random.Random(trial), make(30), {}
        while len(told) < times(6, 20):
            terminal = opened(server, stream)
            round = question(terminal)
            for _ in range(rng.randint(2, 6)):
                terminal.send("s")
                told[round] = "spam"
                if rng.random() < 0.3:
                    time.sleep(0.3 * rng.random())
                    server.kill()
                    server.start(wait=rng.random() < 0.5)
                round = question(terminal)
                while round in told:  # drawn again
                    round = question(terminal)
            time.sleep(0.02 * rng.random())
            terminal.kill(signal.SIGKILL)
            terminal.close()
            server.wait()
        terminal = opened(server, stream)
        terminal.expect(["question", "No question is open"])
        terminal.send("q")
        assert ended(terminal) == 0
        assert answers(stream) == told
