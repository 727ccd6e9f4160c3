"""Advice that comes with an instance: mixed in as by the library, stored with the decision, replayed bit for bit."""

import contextlib

import msgspec
import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.service.domain.event_sourced_stream import StreamState
from askwhen.service.events.advice import Said
from askwhen.service.events.kinds import facts_of, id_of
from askwhen.service.events.settings import Backlog, Budget, check_settings
from askwhen.service.use_cases import instances, label_changes, questions, replaying, streams
from askwhen.service.use_cases.accuracy_history import AccuracyHistory
from askwhen.service.use_cases.adviser_reports import AdviserReports
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

THREE = ["ham", "spam", "junk"]
N = 140
RNG = np.random.default_rng(5)
X = RNG.standard_normal((N, 3)).round(4)
PLACE = (X @ RNG.standard_normal((3, 3))).argmax(axis=1)
RIGHT = RNG.random((N, 3)) < [0.85, 0.7, 0.6]
SURE = RNG.choice([0.6, 0.8, 0.95], N)
OTHER = RNG.integers(0, 100, (N, 3))
SHARES = RNG.dirichlet(np.ones(3), N).round(3)


def truth(i, words):
    return words[PLACE[i % N] % len(words)]


def said(i, words):
    """What three advisers say of instance i, in the forms that a request may have; the last one is often silent."""
    first, second = (truth(i, words) if RIGHT[i, a] else words[OTHER[i, a] % len(words)] for a in range(2))
    shares = SHARES[i][: len(words)]
    stated = dict(zip(words, (shares / shares.sum()).tolist(), strict=True))
    gpt = {"label": first, "confidence": float(SURE[i])} if i % 2 else [first, float(SURE[i])]
    return {"gpt": gpt, "rules": second if i % 3 else None} | ({"old": stated} if i % 4 == 1 and i > 20 else {})


def in_library(advice):
    """The same in the forms of the library."""
    found = {}
    for name, each in advice.items():
        if isinstance(each, dict) and "label" in each:
            each = (each["label"], each["confidence"])
        found[name] = tuple(each) if isinstance(each, list) else each
    return found


def raws(words, first=0, last=N):
    return [Raw(X[i].tolist(), f"n{i}", advice=said(i, words)) for i in range(first, last)]


def advised(words=THREE[:2], advisers=("gpt", "rules", "old"), **given):
    who = advisers if isinstance(advisers, str) else list(advisers)
    return settings(labels=words, advisers=who, budget=Budget(rate=0.4), grace=0.0, **given)


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def stored(stream):
    """Everything that a snapshot stores."""
    seq, state, _ = stream.dump()
    return seq, msgspec.json.decode(state, type=StreamState), bits(stream.model.sampler)


async def answer(coordinator, stream, time, words, most=1):
    """Answer the next questions by the truth; returns how many there were."""
    for number in range(most):
        coordinator.tick()
        await coordinator.commits.settled()
        shown = await questions.next_question(coordinator, stream, "ann")
        if shown is None:
            return number
        event = coordinator.event(stream, stream.questions.open[shown.question].seq)
        await questions.answer(coordinator, stream, shown.question, "ann", truth(int(id_of(event)[1:]), words))
        time.now += 1.0
        coordinator.tick()
    return most


KINDS = {
    "two labels": (THREE[:2], ("gpt", "rules", "old")),
    "three labels": (THREE, ("gpt", "rules", "old")),
    "open labels": ("open", ("gpt", "rules", "old")),
    "any adviser": (THREE[:2], "any"),
    "open labels, any adviser": ("open", "any"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_predictions_are_those_of_the_library_also_after_a_crash_and_from_a_snapshot(address, kind):
    labels, advisers = KINDS[kind]
    words = THREE if labels == "open" else labels
    given = {"labels": words} if len(words) == 2 else {"classes": labels}
    library = aw.Sampler(rule=aw.BudgetRule(0.4), seed=7, advisers=advisers, **given)

    async def play(coordinator, stream, time, first, last):
        for raw in raws(words, first, last):
            i = int(raw.id[1:])
            found = await instances.play(coordinator, stream, raw)
            ask = library.ask(X[i], advice=in_library(raw.advice))
            assert (found.prediction, found.margin, found.asked) == (
                None if labels == "open" and ask.prediction is None else str(ask.prediction),
                ask.margin,
                ask.query,
            )
            assert (found.probability, found.certainty) == (ask.probability, ask.certainty)
            while ask.query and await answer(coordinator, stream, time, words):
                library.tell(ask, truth(i, words))
        await coordinator.commits.settled()
        return stored(stream), log_of(coordinator, stream)

    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised(labels, advisers))
            before = await play(coordinator, stream, time, 0, 60)
        async with open_coordinator(address, time, ticks=False) as coordinator:  # from the log
            stream = coordinator.stream("mails")
            assert (stored(stream), log_of(coordinator, stream)) == before
            before = await play(coordinator, stream, time, 60, 100)
        async with open_coordinator(address, time, ticks=False) as coordinator:  # from a snapshot
            stream = coordinator.stream("mails")
            assert (stored(stream), log_of(coordinator, stream)) == before
            await play(coordinator, stream, time, 100, N)
            assert stream.model.advisers == ["gpt", "rules", "old"]
            events = log_of(coordinator, stream)
            follower = Library(stream.settings)
            follower.follow(events)
            assert bits(follower.sampler) == bits(stream.model.sampler)
            ours, theirs = (aw.evaluate.advisers(each) for each in (stream.model.sampler, library))
            for name, each in ours.items():
                assert (each.rounds, each.overall.low, each.overall.high, each.gain.low) == (
                    theirs[name].rounds,
                    theirs[name].overall.low,
                    theirs[name].overall.high,
                    theirs[name].gain.low,
                )
            assert ours["gpt"].overall.low > 0.5
            assert ours["gpt"].rounds == N

    run(go())


def test_the_log_has_the_advice_with_the_decision_and_streams_without_advice_are_as_before(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised())
            plain = await streams.create(coordinator, "plain", settings())
            for each in (stream, plain):
                await instances.play(coordinator, each, Raw([1.0, 2.0, 3.0], "a"))
            advice = {"gpt": ["spam", 1], "rules": {"ham": 0.25, "spam": 0.75}, "old": None}
            await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.1], "b", advice=advice))
            await coordinator.commits.settled()
            first, second = [facts_of(event) for event in log_of(coordinator, stream) if event.kind == "instance"]
            assert first.advice is None
            assert second.advice == {"gpt": Said("spam", 1.0), "rules": Said(shares={"ham": 0.25, "spam": 0.75})}
            assert second.advice["rules"].named == ("spam", 0.75)
            assert not any("advice" in event.facts for event in log_of(coordinator, plain))

    run(go())


def test_a_backlog_keeps_the_advice_until_it_is_decided(address):
    words, given = THREE[:2], advised(mode="backlog", backlog=Backlog(questions=2, shuffle=True))

    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", given)
            await instances.play_all(coordinator, stream, raws(words))
            await answer(coordinator, stream, time, words, 5)
            await coordinator.commits.settled()
            before = stored(stream), log_of(coordinator, stream), len(stream.backlog)
        async with open_coordinator(address, time, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert (stored(stream), log_of(coordinator, stream), len(stream.backlog)) == before
            while len(stream.backlog) or stream.questions.waiting:
                coordinator.tick()
                await answer(coordinator, stream, time, words)
            events = log_of(coordinator, stream)
            history.check(events)
            follower = Library(stream.settings)
            follower.follow(events)
            assert bits(follower.sampler) == bits(stream.model.sampler)
            heard = {id_of(each): facts_of(each).advice for each in events if each.kind == "instance"}
            assert {id: set(each) for id, each in heard.items()} == {
                raw.id: {name for name, each in raw.advice.items() if each is not None} for raw in raws(words)
            }

    run(go())


@pytest.mark.parametrize("labels", [THREE[:2], "open"])
def test_provisional_and_current_predictions_know_the_advice(tmp_path, labels):
    words = THREE if labels == "open" else labels

    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised(labels))
            for raw in raws(words, 0, 60):
                await instances.play(coordinator, stream, raw)
                await answer(coordinator, stream, time, words, 10)
            x = X[0].tolist()
            both = [Raw(x, str(i), advice={"gpt": [word, 0.95], "rules": word}) for i, word in enumerate(words[:2])]
            (ham, spam), library = (
                (await instances.play_all(coordinator, stream, both, backlog=True)),
                stream.model.sampler,
            )
            values = [-1, 1] if labels != "open" else words
            advice = {"gpt": (values[:2], [0.95, 0.95]), "rules": values[:2]}
            p = library.probabilities(np.array([x, x]), live=True, advice=advice)
            p = np.column_stack([1.0 - p, p]) if p.ndim == 1 else p
            known = words if labels != "open" else library.classes
            assert [ham.prediction, spam.prediction] == [known[k] for k in p.argmax(axis=1)]
            assert [ham.certainty, spam.certainty] == p.max(axis=1).tolist()
            assert ham.prediction != spam.prediction or abs(ham.certainty - spam.certainty) > 0.1
            (again,) = await instances.play_all(coordinator, stream, both[1:], backlog=True)
            assert (again.again, again.prediction, again.certainty) == (True, spam.prediction, spam.certainty)

    run(go())


def test_labels_that_are_renamed_merged_or_added_are_renamed_in_advice_too(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised(THREE))
            for raw in raws(THREE, 3, 100):
                await instances.play(coordinator, stream, raw)
                await answer(coordinator, stream, time, THREE)
            await instances.play_all(coordinator, stream, raws(THREE, 0, 3), backlog=True)
            await label_changes.rename(coordinator, stream, "ham", "wanted", "root")
            known = accounts(stream)
            await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.0], "n140", advice={"gpt": "ham"}))  # on its way
            assert facts_of(log_of(coordinator, stream)[-1]).advice == {"gpt": Said("wanted")}
            with pytest.raises(InputError, match="advice of 'gpt': the label must be one of wanted, spam, junk"):
                await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.0], "g", advice={"gpt": "eggs"}))
            await label_changes.merge(coordinator, stream, "junk", "spam", "root")
            assert stream.model.sampler.classes == [-1, 1]
            merged = ["wanted", "spam", "spam"]
            assert (len(known), accounts(stream)["gpt"].rounds) == (3, 98)
            shown = [fact.advice for fact in decided(coordinator, stream)]
            assert {
                label for each in shown for said in each.values() for label in [said.named[0], *(said.shares or {})]
            } == {
                "wanted",
                "spam",
            }
            both = [said for each in shown for said in each.values() if said.shares is not None]
            assert all(sum(each.shares.values()) == pytest.approx(1.0) for each in both)
            while await answer(coordinator, stream, time, merged, 200):  # decides the three that wait, too
                coordinator.tick()
            assert not len(stream.backlog)
            for raw in raws(["wanted", *THREE[1:]], 100, N):  # junk is the former name of some spam
                await instances.play(coordinator, stream, raw)
                await answer(coordinator, stream, time, merged)
            await replaying.replay(coordinator, stream, "root")
            assert accounts(stream)["gpt"].rounds == N + 1
            await coordinator.commits.settled()
            before = stored(stream)
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            assert stored(coordinator.stream("mails")) == before

    def accounts(stream):
        return aw.evaluate.advisers(stream.model.sampler)

    def decided(coordinator, stream):
        with contextlib.closing(coordinator.reader()) as reader:
            names = stream.label_names
            return [names.facts(each) for each in reader.events(stream.number, 0, 1 << 40, ("instance",))]

    run(go())


def test_a_label_that_is_renamed_while_its_question_is_open_counts_as_right(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            given = settings(labels="open", advisers=["gpt"], budget=Budget(rate=1.0), grace=0.0)
            stream = await streams.create(coordinator, "mails", given)
            for i in range(3):
                await instances.play(coordinator, stream, Raw([1.0 + i], f"n{i}", advice={"gpt": "ham"}))
            await label_changes.add(coordinator, stream, ["ham"], "root")
            await label_changes.rename(coordinator, stream, "ham", "wanted", "root")
            for i in range(3):
                await questions.answer(coordinator, stream, i, "ann", "wanted")
            coordinator.tick()
            found = aw.evaluate.advisers(stream.model.sampler)["gpt"].accuracy
            assert (found.answered, found.overall.high) == (3, 1.0)
            assert stream.model.sampler.engine.advisers.accounts[0].tally.sums[:, 1].sum() == 0.0

    run(go())


def test_an_adviser_that_is_added_later_is_heard_from_then_on(tmp_path):
    async def go():
        time, words = Time(), THREE[:2]
        async with open_coordinator(tmp_path / "log.db", time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised(words, ["gpt", "rules"]))
            for i in range(40):
                raw = Raw(X[i].tolist(), advice={"gpt": said(i, words)["gpt"]})
                await instances.play(coordinator, stream, raw)
            with pytest.raises(InputError, match="the adviser 'old' is not known; the advisers are 'gpt', 'rules'"):
                await instances.play(coordinator, stream, Raw(X[0].tolist(), advice={"old": "ham"}))
            await streams.change_settings(coordinator, "mails", {"advisers": ["gpt", "rules", "old"]}, "root")
            for i in range(40, 60):
                await instances.play(coordinator, stream, raws(words)[i])
            assert stream.model.advisers == ["gpt", "rules", "old"]
            assert aw.evaluate.advisers(stream.model.sampler)["old"].rounds == 5
            await streams.change_settings(coordinator, "mails", {"advisers": "any"}, "root")
            await instances.play(coordinator, stream, Raw(X[0].tolist(), advice={"new": "ham"}))
            assert stream.model.advisers == ["gpt", "rules", "old", "new"]
            await coordinator.commits.settled()
            before = stored(stream)
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            stream = coordinator.stream("mails")
            assert stored(stream) == before
            await replaying.replay(coordinator, stream, "root")
            assert stream.model.advisers == ["gpt", "rules", "old", "new"]

    run(go())


CHANGES = {
    "an end": (["gpt", "rules"], None, "from its first instance on, or never"),
    "a begin": (None, ["gpt"], "from its first instance on, or never"),
    "one less": (["gpt", "rules"], ["rules"], "not taken away: .gpt. is missing"),
    "no longer any": ("any", ["gpt"], "those that came cannot be taken away"),
    "one twice": (["gpt"], ["gpt", "gpt"], "different names"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_changes_of_advisers_that_make_no_sense_are_refused(tmp_path, name):
    before, after, sentence = CHANGES[name]

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            await streams.create(coordinator, "mails", settings(advisers=before))
            with pytest.raises(InputError, match=sentence) as caught:
                await streams.change_settings(coordinator, "mails", {"advisers": after}, "root")
            assert "\n" not in str(caught.value)
            assert log_of(coordinator, coordinator.stream("mails")) == []

    run(go())


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"advisers": []}, "different names"),
        ({"advisers": [f"a{i}" for i in range(10_000)]}, "at most 100 advisers, got 10,000"),
        ({"advisers": ["x" * 101]}, "a text of up to 100 characters"),
        ({"advisers": ["gpt"], "several": True, "labels": THREE}, "no advice where several labels may apply"),
    ],
)
def test_advisers_that_a_stream_cannot_have_are_refused(given, sentence):
    with pytest.raises(InputError, match=sentence):
        check_settings(settings(**given))


def test_other_algorithms_take_no_advice(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            with pytest.raises(InputError, match="advisers are for the default learner"):
                await streams.create(coordinator, "mails", settings(algorithm="perceptron", advisers=["gpt"]))

    run(go())


NAN = float("nan")
BAD = {
    "no adviser that is known": (
        {"claude": "spam"},
        "the adviser 'claude' is not known; the advisers are 'gpt', 'rules'",
    ),
    "no label of the stream": ({"gpt": "eggs"}, "advice of 'gpt': the label must be one of ham, spam, got 'eggs'"),
    "no label": ({"gpt": {"label": ["spam"]}}, "a label must be a text, got .'spam'"),
    "a number": ({"gpt": 0.8}, "it must be a label, "),
    "a flag": ({"gpt": True}, "it must be a label, "),
    "nothing in an object": ({"gpt": {}}, "it must be a label, "),
    "more than a confidence": ({"gpt": {"label": "spam", "model": "4o"}}, "beside the label it may have a confidence"),
    "too much in a list": ({"gpt": ["spam", 0.8, 1]}, "it must be a label, "),
    "a confidence above 1": ({"gpt": ["spam", 1.8]}, "a confidence must be a number from 0 to 1, got 1.8"),
    "a confidence that is a text": ({"gpt": {"label": "spam", "confidence": "high"}}, "from 0 to 1, got 'high'"),
    "probabilities of another sum": ({"gpt": {"spam": 0.7, "ham": 0.7}}, "probabilities must sum to 1, got .* 1.4"),
    "a probability of another label": ({"gpt": {"spam": 0.7, "eggs": 0.3}}, "one of ham, spam, got 'eggs'"),
    "a probability that is a text": ({"gpt": {"spam": "0.7", "ham": 0.3}}, "from 0 to 1, got '0.7'"),
    "a probability that is not there": ({"gpt": {"spam": None, "ham": 1.0}}, "must sum to 1"),
    "a probability that is NaN": ({"gpt": {"spam": NAN, "ham": 1.0}}, "must sum to 1"),
    "ten thousand advisers": ({f"a{i}": "spam" for i in range(10_000)}, "the adviser 'a0' is not known"),
}


@pytest.mark.parametrize("backlog", [True, False])
@pytest.mark.parametrize("name", BAD)
def test_bad_advice_is_refused_in_one_sentence_and_nothing_is_stored(tmp_path, name, backlog):
    advice, sentence = BAD[name]

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", advised(advisers=["gpt", "rules"]))
            fine = Raw([1.0, 2.0, 3.0], "fine", advice={"gpt": "spam"})
            bad = Raw([1.0, 2.0, 3.0], "bad", advice=advice)
            refused, taken = await instances.play_all(coordinator, stream, [bad, fine], backlog)
            assert not isinstance(taken, InputError)
            with pytest.raises(InputError, match=sentence):
                raise refused
            assert "\n" not in str(refused)
            assert (stream.state.round + len(stream.backlog), stream.model.advisers) == (1, ["gpt", "rules"])

    run(go())


def test_too_many_advisers_are_refused_where_any_are_taken(tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, crash=True, ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", settings(advisers="any", budget=Budget(rate=1.0)))
            many = {f"a{i}": "spam" for i in range(10_000)}
            with pytest.raises(InputError, match="at most 100 advisers, got 10,000"):
                await instances.play(coordinator, stream, Raw([1.0], advice=many))
            two = [Raw([float(i)], advice={f"{i}-{k}": "spam" for k in range(60)}) for i in range(2)]
            found = await instances.play_all(coordinator, stream, two)
            assert "at most 100 advisers, got 120" in str(found[1])
            assert len(stream.model.advisers) == 60
            # More may come to a backlog before the first of them is decided: those beyond the most are not counted.
            late = [Raw([float(i)], advice={f"{i}-{k}": "spam" for k in range(30)}) for i in range(2, 5)]
            await instances.play_all(coordinator, stream, late, backlog=True)
            await coordinator.commits.settled()
            stream.decide_until(100, time.now, 100)
            assert (len(stream.backlog), len(stream.model.advisers)) == (0, 100)
            await coordinator.committed(stream)
            before = stored(stream)
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            assert stored(coordinator.stream("mails")) == before

    run(go())


def test_a_stream_without_advisers_refuses_advice(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time(), ticks=False) as coordinator:
            stream = await streams.create(coordinator, "mails", settings())
            with pytest.raises(InputError, match="takes no advice; make one with the setting advisers"):
                await instances.play(coordinator, stream, Raw([1.0], advice={"gpt": "spam"}))
            assert stream.state.round == 0

    run(go())


PRICES = (20.0 + 4.0 * X[:, 0]).round(2)
BAD_NUMBERS = {
    "a text": ({"old": "cheap"}, "advice of 'old': the label must be a number, got 'cheap'"),
    "a confidence": ({"old": [12.0, 0.8]}, "advice of 'old': it must be a number"),
    "a flag": ({"old": True}, "advice of 'old': it must be a number, got True"),
    "beyond the bounds": ({"old": 1e6}, "advice of 'old': label must be a number from 0 to 100"),
    "infinity": ({"old": float("inf")}, "advice of 'old': the label must be a number, got 'inf'"),
}


def test_numbers_are_advised_by_numbers_as_in_the_library_and_have_no_accuracy(tmp_path):
    library = aw.Sampler(rule=aw.BudgetRule(0.4, by="uncertainty"), seed=7, advisers=["old"], regression=True)

    async def go():
        time, path, asked = Time(), tmp_path / "log.db", []
        given = {"labels": "numbers", "within": 2.0, "bounds": [0.0, 100.0], "grace": 0.0}
        async with open_coordinator(path, time, crash=True, ticks=False) as coordinator:
            wanted = settings(advisers=["old"], budget=Budget(rate=0.4), **given)
            stream = await streams.create(coordinator, "prices", wanted)
            for i, price in enumerate(PRICES.tolist()):
                says = [round(price + 3.0, 2), None, {"label": price}, str(price)][i % 4]
                found = await instances.play(coordinator, stream, Raw(X[i].tolist(), f"n{i}", advice={"old": says}))
                heard = {0: price + 3.0, 1: None, 2: price, 3: price}[i % 4]
                ask = library.ask(X[i], advice={"old": None if heard is None else round(heard, 2)})
                assert (found.prediction, found.margin, found.asked) == (ask.prediction, ask.margin, ask.query)
                if found.asked:
                    asked += [i] if i % 4 == 2 else []
                    await questions.answer(coordinator, stream, found.question, "ann", str(price))
                    coordinator.tick()
                    library.tell(ask, price)
            for name, (advice, sentence) in BAD_NUMBERS.items():
                with pytest.raises(InputError, match=sentence):
                    await instances.play(coordinator, stream, Raw([1.0, 2.0, 3.0], name, advice=advice))
            assert stream.state.round == N
            shown = await questions.show(coordinator, stream, asked[0])
            assert [(each.adviser, each.label) for each in shown.advice] == [("old", PRICES[asked[0]])]
            before = stored(stream)  # what a guess leaves behind in the memory of the last round is no matter
            both = [Raw(X[0].tolist(), "p", advice={"old": 1.0}), Raw(X[0].tolist(), "q", advice={"old": 90.0})]
            low, high = await instances.play_all(coordinator, stream, both, backlog=True)
            assert low.prediction < high.prediction
            assert await AdviserReports().of(stream) is None
            assert await AccuracyHistory(coordinator).look(stream) in (True, False)
        async with open_coordinator(path, time, ticks=False) as coordinator:
            assert stored(coordinator.stream("prices")) == before

    run(go())
