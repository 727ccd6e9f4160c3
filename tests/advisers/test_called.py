"""A function as an adviser: called where that is worth it, never twice, never depending on the random draw."""

import copy
import json
import time

import numpy as np
import pytest

import askwhen as aw

NAMES = ["ham", "spam", "junk"]


def stream(k=2, n=300, seed=0, noise=1.0):
    """Instances, labels, and what a model that is right in nine of ten would say."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.array(NAMES)[:k][(X @ rng.standard_normal((3, k)) + noise * rng.standard_normal((n, k))).argmax(axis=1)]
    return X, y, np.where(rng.random(n) < 0.9, y, rng.choice(NAMES[:k], n))


class Model:
    """A model that knows its answers by number, and counts its calls."""

    def __init__(self, says, p=0.9):
        self.says, self.p, self.asked = says, p, []

    def __call__(self, item):
        self.asked.append(item)
        return self.says[item] if self.p is None else (self.says[item], self.p)


KINDS = {
    "two": (2, {"labels": NAMES[:2]}, 0.9),
    "several": (3, {"classes": NAMES}, None),
    "open": (3, {"classes": "open"}, 0.9),
}


def sampler_of(given, advisers=("llm", "dice"), rule=None, seed=3):
    rule = aw.BudgetRule(0.3) if rule is None else rule
    return aw.Sampler(rule=rule, seed=seed, advisers=advisers if advisers == "any" else list(advisers), **given)


@pytest.mark.parametrize("advisers", [("llm", "dice"), "any"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_run_has_the_bits_of_rounds_played_live_also_saved_and_replayed(kind, advisers, tmp_path):
    k, given, p = KINDS[kind]
    X, y, says = stream(k, 200)
    dice = np.random.default_rng(1).choice(NAMES[:k], len(y))
    whole, model = sampler_of(given, advisers), Model(says, p)
    called = aw.advisers.Called(model, price=0.05, rate=0.5)
    trace = whole.run(X, y, advice={"dice": dice, "llm": called.about(range(len(y)))})
    assert 30 < called.calls < 0.5 * len(y) + 21
    played, other, log = sampler_of(given, advisers), Model(says, p), []
    live = aw.advisers.Called(other, price=0.05, rate=0.5)
    margins = []
    for i in range(len(y)):
        if i == 90:
            played.save(tmp_path / "half.askwhen")
            played = aw.Sampler.load(tmp_path / "half.askwhen")
        ask = played.ask(X[i], advice={"dice": dice[i], "llm": live.about(i)})
        margins.append(ask.margin)
        log.append(ask.advice["llm"])
        if ask.query:
            played.tell(ask, y[i])
    assert margins == trace.margin.tolist()
    assert model.asked == other.asked
    assert trace.advice["llm"] == log
    assert [i for i, said in enumerate(log) if said is not None] == model.asked
    assert str(aw.evaluate.advisers(played)["llm"]) == str(aw.evaluate.advisers(whole)["llm"])
    again = sampler_of(given, whole.advisers)
    assert again.run(X, y, advice={"dice": dice} | trace.advice).margin.tolist() == margins


def test_what_an_estimator_said_is_replayed_too():
    from sklearn.tree import DecisionTreeClassifier

    X, y, _ = stream()
    first, again = (sampler_of({"labels": NAMES[:2]}, ["tree"]) for _ in range(2))
    trace = first.run(X, y, advice={"tree": aw.advisers.Refit(DecisionTreeClassifier(max_depth=3, random_state=0))})
    assert trace.advice["tree"].shape == (len(y), 2)
    assert again.run(X, y, advice=trace.advice).margin.tolist() == trace.margin.tolist()


def test_it_is_never_called_twice_about_an_item_nor_after_a_restart(tmp_path):
    X, y, says = stream()
    says = says.astype(object)
    says[::7] = None
    model, path = Model(says), tmp_path / "llm.ndjson"
    called = aw.advisers.Called(model, log=path)
    trace = sampler_of({"labels": NAMES[:2]}, ["llm"]).run(X, y, advice={"llm": called.about(range(len(y)))})
    assert len(set(model.asked)) == len(model.asked) == called.calls == len(path.read_text().splitlines())
    with path.open("ab") as file:
        file.write(b'{"item": "cut o')  # the process died here
    late = Model(says)
    once_more = aw.advisers.Called(late, log=path)
    replayed = sampler_of({"labels": NAMES[:2]}, ["llm"])
    assert replayed.run(X, y, advice={"llm": once_more.about(range(len(y)))}).margin.tolist() == trace.margin.tolist()
    assert (late.asked, once_more.calls) == ([], 0)
    assert aw.evaluate.advisers(replayed)["llm"].calls == called.calls  # in that life, too, it was called
    assert [json.loads(line)["item"] for line in path.read_text().splitlines()] != []


def test_every_kind_of_answer_and_item_survives_the_log(tmp_path):
    answers = ["spam", ("spam", 0.8), {"spam": 0.8, "ham": 0.2}, {1: 0.25, 0: 0.75}, None, 0.7, np.float64(0.7), 1]
    items = ["a text", "a text\n", 3, 3.0, {"a": 1, "b": [2]}, np.arange(3.0), ["a", None], b"bytes"]
    said = dict(zip(map(str, map(repr, items)), answers, strict=True))
    first = aw.advisers.Called(lambda item: said[repr(item)], log=tmp_path / "log")
    found = [first.say(item) for item in items]
    again = aw.advisers.Called(lambda item: pytest.fail("was called"), log=tmp_path / "log")
    assert [again.say(item) for item in items] == found == answers


def test_errors_and_late_and_impossible_answers_are_silence():
    X, y, says = stream(n=300)

    def function(i):
        if i % 4 == 0:
            raise ConnectionError("the line is busy")
        if i % 50 == 1:
            time.sleep(5.0)
        return "eggs" if i % 4 == 2 else says[i]

    called = aw.advisers.Called(function, price=0.0, timeout=0.2)
    sampler = sampler_of({"labels": NAMES[:2]}, ["llm"])
    trace = sampler.run(X, y, advice={"llm": called.about(range(len(y)))})
    spoke = [i for i, said in enumerate(trace.advice["llm"]) if said is not None]
    assert all(i % 4 not in (0, 2) and i % 50 != 1 for i in spoke)
    found = aw.evaluate.advisers(sampler)["llm"]
    assert (found.rounds, found.calls) == (len(spoke), called.calls)
    assert called.failures == called.calls - len(spoke) > 40
    assert found.silent == pytest.approx(called.failures / called.calls)
    assert called.last_error
    assert f"{called.failures} of them without answer" in repr(called)


def test_it_is_measured_where_it_was_called_and_the_account_says_so():
    X, y, says = stream(n=500)
    sampler = sampler_of({"labels": NAMES[:2]}, ["llm"], aw.Always())
    called = aw.advisers.Called(Model(says), price=0.1)
    trace = sampler.run(X, y, advice={"llm": called.about(range(len(y)))})
    here = np.array([said is not None for said in trace.advice["llm"]])
    assert 30 < here.sum() < 350
    found = aw.evaluate.advisers(sampler)["llm"]
    assert found.overall.value == pytest.approx((says == y)[here].mean())
    assert f"over {here.sum()} rounds in which it was called" in str(found)


def test_it_is_called_where_that_is_worth_most_within_its_budget():
    X, y, says = stream(n=900, noise=0.3)
    given, rng = {"labels": NAMES[:2]}, np.random.default_rng(5)
    calls, mistakes = {}, {}
    for name, terms in {"by worth": {"price": 0.0, "rate": 0.3}, "dear": {"price": 0.2}, "few": {"most": 40}}.items():
        called = aw.advisers.Called(Model(says), **terms)
        mistakes[name] = sampler_of(given, ["llm"]).run(X, y, advice={"llm": called.about(range(len(y)))}).mistakes
        calls[name] = called.calls
    for name, share in {"none": 0.0, "at random": 0.3, "all": 1.0}.items():
        some = np.where(rng.random(len(y)) < share, says, None)
        mistakes[name] = sampler_of(given, ["llm"]).run(X, y, advice={"llm": some}).mistakes
    assert 0.25 * len(y) < calls["by worth"] <= 0.3 * len(y) + 20
    assert calls["few"] == 40
    assert 20 < calls["dear"] < 0.5 * len(y)
    assert mistakes["none"] - mistakes["by worth"] > 1.5 * (mistakes["none"] - mistakes["at random"])
    assert mistakes["none"] - mistakes["dear"] > 0.2 * calls["dear"]


def test_it_saves_people_questions_where_a_promise_asks():
    X, y, says = stream(n=1200)
    called, rule = aw.advisers.Called(Model(says), price=0.1), aw.PromiseRule(0.2, length=1200)
    advised, alone = (sampler_of({"labels": NAMES[:2]}, ["llm"], rule) for _ in range(2))
    asked = advised.run(X, y, advice={"llm": called.about(range(len(y)))}).questions
    assert asked + called.calls / 10 < 0.95 * alone.run(X, y).questions


def test_one_who_knows_nothing_is_hardly_called_any_more():
    X, y, _ = stream(n=800)
    model = Model(np.random.default_rng(4).choice(NAMES[:2], len(y)), None)
    called = aw.advisers.Called(model, price=0.05)
    sampler_of({"labels": NAMES[:2]}, ["dice"]).run(X, y, advice={"dice": called.about(range(len(y)))})
    late = [i for i in model.asked if i >= 400]
    assert 3 <= len(late) < 100
    assert max(np.diff(late)) <= 100  # now and then, since it may have become better


def test_whether_it_is_called_does_not_depend_on_the_random_draw():
    X, y, says = stream(n=120)
    sampler, model = sampler_of({"labels": NAMES[:2]}, ["llm"]), Model(says)
    called, other = aw.advisers.Called(model), aw.advisers.Called(Model(says))
    for i in range(len(y)):
        twin = copy.deepcopy(sampler)
        twin.engine.draws.ahead[:] = [0.999 * (i % 2)]
        before = len(model.asked)
        ask = sampler.ask(X[i], advice={"llm": called.about(i)})
        assert twin.ask(X[i], advice={"llm": other.about(i)}).advice == ask.advice
        assert (len(model.asked) > before) == (ask.advice["llm"] is not None)
        if ask.query:
            sampler.tell(ask, y[i])


def test_a_refused_round_calls_nothing_and_leaves_nothing():
    sampler, model = sampler_of({"labels": NAMES[:2]}, "any"), Model(["spam"] * 3)
    called = aw.advisers.Called(model)
    with pytest.raises(aw.InputError, match="finite"):
        sampler.ask([1.0, float("nan")], advice={"llm": called.about(0)})
    with pytest.raises(aw.InputError, match="advice of 'dice'"):
        sampler.ask([1.0, 2.0], advice={"llm": called.about(0), "dice": "eggs"})
    with pytest.raises(aw.InputError, match="row 2"):
        sampler.run(np.zeros((3, 2)), ["spam"] * 3, advice={"llm": called.about(range(3)), "dice": ["ham", "ham", 7]})
    assert (model.asked, sampler.advisers, sampler.round) == ([], [], 0)
    sampler.ask([1.0, 2.0], advice={"llm": called.about(0)})
    assert (model.asked, sampler.advisers) == ([0], ["llm"])


@pytest.mark.parametrize("form", ["dicts", "frame", "array", "csr"])
def test_it_is_called_with_the_row_as_it_is_given(form):
    import pandas as pd
    import scipy.sparse as sp

    X, y, _ = stream(n=60)
    rows = {
        "dicts": [dict(zip("abc", row, strict=True)) for row in X.tolist()],
        "frame": pd.DataFrame(X, columns=list("abc")),
        "array": X,
        "csr": sp.csr_matrix(X),
    }[form]
    seen = []
    called = aw.advisers.Called(lambda row: seen.append(row) or NAMES[0])
    sampler_of({"labels": NAMES[:2]}, ["llm"]).run(rows, y, advice={"llm": called})
    assert len(seen) > 5
    first = seen[0].toarray()[0] if form == "csr" else list(seen[0].values()) if isinstance(seen[0], dict) else seen[0]
    assert list(first) == X[0].tolist()
    assert isinstance(seen[0], dict) == (form in ("dicts", "frame"))


def test_bad_use_is_refused_in_a_sentence(tmp_path):
    X, y, _ = stream(n=5)
    called = aw.advisers.Called(lambda item: None)
    sampler = sampler_of({"labels": NAMES[:2]}, ["llm"])
    for make, sentence in {
        lambda: aw.advisers.Called("gpt"): "function must be callable",
        lambda: aw.advisers.Called(print, price=1.0): "price must be a number from 0 to below 1",
        lambda: aw.advisers.Called(print, rate=0.0): "rate must be a number above 0",
        lambda: aw.advisers.Called(print, most=0): "most must be a whole number",
        lambda: aw.advisers.Called(print, timeout=-1.0): "timeout must be a positive number of seconds",
        lambda: sampler.run(X, y, advice={"llm": called.about(["one"])}): "for each of the 5 rows of X, got 1",
        lambda: sampler.run(X, y, advice={"llm": called.about("text")}): "for each of the 5 rows of X, got one",
        lambda: sampler.run(None, y, advice={"llm": called}): "X is None; give it about",
        lambda: sampler.ask(X[0], advice={"gpt": called}): "'gpt' is not known; the advisers are 'llm'",
        lambda: aw.Sampler(regression=True, advisers=["llm"]).ask(X[0], advice={"llm": called}): "predicts numbers",
        lambda: aw.advisers.Called(print, log=tmp_path / "log").say(object()): "must be a text, a number, an array",
    }.items():
        with pytest.raises(aw.InputError, match=sentence):
            make()
    (tmp_path / "strange").write_text("not JSON\n")
    with pytest.raises(aw.InputError, match="line 1 of .* is not an answer"):
        aw.advisers.Called(print, log=tmp_path / "strange")
    with pytest.raises(aw.InputError, match="cannot write"):
        aw.advisers.Called(str, log=tmp_path / "no" / "folder").say("x")
    assert sampler.round == 0
