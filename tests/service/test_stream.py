"""A stream and its log: the same bits as the library, and the same again from the log."""

import contextlib
import json

import msgspec
import numpy as np
import pytest

from askwhen.algorithms import algorithm
from askwhen.data import hash_text
from askwhen.errors import InputError
from askwhen.prepare import Prepare
from askwhen.service.domain.stream import NewInstance, ServiceStream
from askwhen.service.errors import ConflictError, NotFoundError, StoreError
from askwhen.service.events.settings import Budget, Features, Settings, check_settings
from tests.service import history
from tests.service.library import Library, bits
from tests.soak import times

LABELS = {2: ["ham", "spam"], 5: ["a", "b", "c", "d", "e"], 4: ["s", "t", "u", "v"]}
"""Those of 4 are open: not known beforehand."""


class Log:
    """The events of one stream in a list."""

    def __init__(self, settings):
        self.settings, self.events, self.truth = settings, [], {}
        self.stream = self.fresh()

    def fresh(self):
        return ServiceStream(1, "one", self.settings, self.look, self.look_all)

    def look(self, seq):
        return self.events[seq - 1]

    def look_all(self, question):
        return [event for event in self.events if event.question == question]

    def commit(self):
        self.events += self.stream.uncommitted
        self.stream.uncommitted.clear()


def settings(k=2, **given):
    given.setdefault("budget", Budget(rate=0.3))
    given.setdefault("version", 2)
    given.setdefault("certainty", 2)
    return Settings(labels="open" if k == 4 else LABELS[k], seed=7, **given)


def play_scenario(log, rounds, seed, d=6):
    """Instances, and people who answer late, out of order, skip, are unsure, undo, or never come back."""
    rng = np.random.default_rng(seed)
    stream, now, k = log.stream, max(1000.0, log.stream.state.time), len(log.settings.labels)  # "open" has 4
    w = rng.standard_normal((k, d))
    truth = log.truth
    people = ["ann", "bob", "cid"]
    for i in range(rounds):
        if i % (rounds // 3) == 0:
            w = rng.standard_normal((k, d))
        x = rng.standard_normal(d)
        event, _ = stream.play(NewInstance(x, key=f"i:{seed}:{i}"), now)
        truth[json.loads(event.facts)["round"]] = LABELS[k][int(np.argmax(w @ x))]
        now += rng.exponential(1.0)
        if rng.random() < 0.01:
            now -= 50.0  # a clock that jumps: the stream's own time does not go back
        who = people[rng.integers(3)]
        for _ in range(rng.integers(3)):
            lease = stream.commands.next(who, stream._time(now))
            if lease is not None:
                stream.record(lease, now)
                round = lease[0]
                what = rng.random()
                late = now + (400.0 if rng.random() < 0.05 else rng.exponential(3.0))
                try:
                    if what < 0.05:
                        stream.record(stream.commands.skip(round, who, stream._time(late)), late)
                    elif what < 0.1:
                        stream.answer(round, who, None, late, None, None)
                    elif what < 0.2:
                        pass
                    else:
                        label = truth[round] if rng.random() < 0.9 else LABELS[k][rng.integers(k)]
                        stream.answer(round, who, label, late, 2.0, f"a:{seed}:{i}:{round}:{who}")
                except ConflictError:
                    pass
        if rng.random() < 0.05:
            with contextlib.suppress(ConflictError, NotFoundError):
                stream.undo(None if rng.random() < 0.5 else int(rng.integers(i + 1)), who, now)
        stream.tick(now)
        log.commit()
    return now


SHAPES = [
    {},
    {"slots": 3, "decide": "majority", "forget": 90.0},
    {"slots": 2, "decide": "unanimity", "order": "valuable"},
    {"grace": 0.0, "budget": Budget(per=100.0, count=50), "order": "priority"},
]


@pytest.mark.parametrize("k", [2, 4, 5])
@pytest.mark.parametrize("shape", SHAPES, ids=["one slot", "majority", "unanimity", "by time"])
def test_the_stream_and_the_library_have_the_same_bits(k, shape):
    log = Log(settings(k, **shape))
    play_scenario(log, times(600, 10_000), seed=k)
    library = Library(log.settings)
    library.follow(log.events)
    assert library.rounds == times(600, 10_000)
    assert bits(library.sampler) == bits(log.stream.model.sampler)
    kinds = {event.kind for event in log.events}
    assert {"instance", "leased", "answered", "skipped", "undone", "told"} <= kinds
    assert library.sampler.updates > 0
    history.check(log.events)


@pytest.mark.parametrize("k", [2, 4, 5])
@pytest.mark.parametrize("shape", SHAPES[:2], ids=["one slot", "majority"])
def test_the_log_makes_the_same_stream_again_from_anywhere(k, shape):
    log = Log(settings(k, **shape))
    snapshots = [(0, None, None)]
    for part in range(3):
        play_scenario(log, 150, seed=part)
        seq, state, pack = log.stream.dump()
        snapshots.append((seq, state, pack()))
    last = snapshots.pop()
    for seq, state, model in snapshots:
        again = log.fresh()
        if state is not None:
            again.restore(seq, state, model)
        again.current.read(log.events[seq:])
        found = again.dump()
        assert found[0] == last[0]
        assert json.loads(found[1]) == json.loads(last[1])
        assert found[2]() == last[2]


def test_a_round_that_decides_otherwise_is_seen():
    log = Log(settings())
    play_scenario(log, 60, seed=1)
    at = next(i for i, event in enumerate(log.events) if event.kind == "instance" and i > 20)
    facts = json.loads(log.events[at].facts)
    facts["margin"] = float(np.nextafter(facts["margin"], 9.0))
    log.events[at] = log.events[at]._replace(facts=json.dumps(facts))
    with pytest.raises(StoreError, match="played again, does not give the decision in the log"):
        log.fresh().current.read(log.events)


def test_a_log_with_a_gap_is_refused():
    log = Log(settings())
    play_scenario(log, 60, seed=1)
    del log.events[30]
    with pytest.raises(StoreError, match="lacks event 31"):
        log.fresh().current.read(log.events)


def test_no_slot_is_held_by_two_and_nobody_has_two_of_one_question():
    log = Log(settings(slots=3, forget=500.0))
    play_scenario(log, 400, seed=5)
    filled = history.check(log.events)
    assert len(filled) > 50


def test_text_is_hashed_as_the_library_does():
    log = Log(settings(features=Features(kind="text", places=1 << 12)))
    event, _ = log.stream.play(NewInstance(log.stream.reader.instance("To be or not to be"), b'"To be"'), 0.0)
    log.commit()
    assert (log.stream.current.instance(event.seq) != hash_text(["to be or not to be"], 1 << 12)).nnz == 0
    assert event.shown == b'"To be"'


@pytest.mark.parametrize(
    ("features", "x", "said"),
    [
        (Features(), "text", "x must be an array of numbers, got a text."),
        (Features(), [1.0, True], r"x\[1\] must be a number, got a truth value."),
        (Features(), [1.0, None], r"x\[1\] must be a number, got nothing."),
        (Features(), [], "x must have between 1 and 100,000 numbers, got 0."),
        (Features(), [10**400], "x must have numbers that a double can hold."),
        (Features(), [float("inf")], "x must have finite numbers."),
        (Features(names=["a", "b"]), [1.0], "x must have 2 numbers, one for each name, got 1."),
        (Features(names=["a", "b"]), {"a": 1.0}, "'b' must be a number, got nothing."),
        (Features(names=["a"]), {"a": 1.0, "c": 2.0}, "x has 'c', which is not a feature of this stream."),
        (Features(kind="text"), 3, "x must be a text, got a number."),
        (Features(kind="hashed"), [1], "x must be an object of features, got an array."),
        (Features(kind="hashed"), {"a": {}}, "'a' must be a number, a text or a truth value, got an object."),
        (Features(kind="mixed", text=["t"], names=["n"]), {"t": "a", "n": "b"}, "'n' must be a number, got a text."),
        (Features(kind="mixed", text=["t"], names=["n"]), {"n": 1}, "'t' must be a text, got nothing."),
    ],
)
def test_wrong_input_is_refused_in_a_sentence(features, x, said):
    log = Log(settings(features=features))
    with pytest.raises(InputError, match=said):
        log.stream.reader.instance(x)


def test_input_of_every_kind_becomes_features():
    kinds = {
        "numbers": (Features(names=["a", "b"]), {"b": 2, "a": 1.5}),
        "hashed": (Features(kind="hashed", places=64), {"colour": "red", "size": 3, "new": True}),
        "mixed": (Features(kind="mixed", text=["t", "u"], names=["n"], places=64), {"t": "a b", "u": "a", "n": 7}),
    }
    found = {name: Log(settings(features=f)).stream.reader.instance(x) for name, (f, x) in kinds.items()}
    assert found["numbers"].tolist() == [1.5, 2.0]
    assert (found["hashed"].shape, found["hashed"].sum()) == ((1, 64), 5.0)
    assert (found["mixed"].shape, found["mixed"].sum(), found["mixed"][0, 0]) == ((1, 65), 10.0, 7.0)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"labels": ["a"]}, "labels must be between 2 and 1,000 different texts"),
        ({"labels": ["a", "a"]}, "different"),
        ({"labels": ["a", "\n"]}, "label must be a printable text"),
        ({"slots": 0}, "slots must be between 1 and 99, got 0."),
        ({"grace": -1.0}, "grace must be a number of seconds between 0 and 86400, got -1.0."),
        ({"features": Features(kind="mixed")}, "mixed features need both text and names."),
        ({"features": Features(names=["a", "a"])}, "names and text must be at most 10,000 different names"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(given, said):
    with pytest.raises(InputError, match=said):
        check_settings(msgspec.structs.replace(settings(), **given))


def test_algorithms_go_by_name_with_their_letters():
    log = Log(settings(algorithm="lasec-ss", letters={"b": 1.0, "c": 300.0, "a": 0.05}, budget=None, raw=True))
    assert (log.stream.model.sampler.learner.c, log.stream.model.sampler.rule.scale) == (300.0, 0.05)
    for wrong, said in (
        ({"algorithm": "none"}, "there is no 'none'"),
        ({"algorithm": "regression"}, "predicts numbers"),
        ({"budget": Budget(rate=3.0)}, "rate must be a number above 0 and at most 1"),
        ({"labels": LABELS[5], "letters": {"q": 7.0}}, "takes rate, got 'q'"),
        ({"algorithm": "random", "budget": Budget(per=3600.0, count=5)}, "a rule of its own"),
        ({"algorithm": "random", "budget": Budget(rate=0.2, most=5)}, "a rule of its own"),
        ({"labels": LABELS[5], "letters": {"rate": 0.5}}, "give either rate or a share"),
    ):
        with pytest.raises(InputError, match=said):
            Log(msgspec.structs.replace(settings(), **wrong))


@pytest.mark.parametrize("name", ["random", "auto-lasec", "perceptron", "perceptron-ss", "lasec-ss", "pa-i"])
@pytest.mark.parametrize("k", [5, 4])
def test_every_algorithm_takes_several_labels(name, k):
    rng = np.random.default_rng(2)
    log = Log(settings(k, algorithm=name, grace=0.0))
    sampler = algorithm(name).build(share=0.3, prepare=Prepare(), seed=7, classes="open" if k == 4 else LABELS[5])
    for i in range(60):
        x = rng.standard_normal(4)
        _, fact = log.stream.play(NewInstance(x), float(i))
        ask = sampler.ask(x)
        assert (fact.prediction, fact.margin, fact.asked) == (ask.prediction, ask.margin, ask.query)
        if ask.query:
            label = LABELS[k][int(np.argmax(x))]
            log.stream.answer(fact.round, "ann", label, float(i), None, None)
            sampler.tell(ask, label)
        log.commit()
    assert sampler.questions > 5
    again = log.fresh()
    again.current.read(log.events)
    assert bits(again.model.sampler) == bits(sampler)
