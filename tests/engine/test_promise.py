"""What a sampler says about its promise: certificates, corrections, periods, snapshots, kinds of labels."""

import math

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.rules.promise_account import wealth_logs


def stream(seed, n=1500, noise=0.3):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)


def sampler(error=0.15, seed=3, **more):
    return aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(error, **more), seed=seed)


def test_the_certificate_holds_in_every_round_and_counts_add_up():
    X, y = stream(1)
    made, wrong = sampler(), 0
    for x, label in zip(X, y, strict=True):
        ask = made.ask(x)
        assert ask.delivered == (None if ask.query else ask.prediction)
        wrong += ask.delivered not in (None, label)
        if ask.query:
            assert made.promise.certified <= 0.15 or made.promise.delivered == 0
            made.tell(ask, label)
        assert wrong / made.promise.delivered <= made.promise.certified <= 0.15
    promise = made.promise
    assert (promise.delivered, promise.asked, promise.withheld) == (1500, made.questions, 0)
    assert promise.coverage == 1.0
    assert promise.is_met
    assert promise.needed == 0
    assert promise.estimated < promise.certified
    assert promise.asked < 1100
    share = f"{100 * promise.certified:.1f} %"
    sentence = f"1,500 labels delivered, {promise.asked:,} by you; at most {share} of them are wrong, 95 % confidence"
    assert str(promise.certificate) == sentence


def test_the_number_of_further_questions_is_foreseen_once_something_is_known():
    expected = came = 0.0
    for seed in range(1, 5):
        X, y = stream(seed, 4000)
        made = sampler()
        assert made.promise.expected_questions(4000) is None
        made.run(X[:1500], y[:1500])
        foreseen, before = made.promise.expected_questions(2500), made.promise.asked
        assert made.promise.expected_questions(0) == 0.0
        made.run(X[1500:], y[1500:])
        assert 0.25 < foreseen / (made.promise.asked - before) < 1.6
        expected, came = expected + foreseen, came + made.promise.asked - before
    assert 0.75 < expected / came < 1.3


def test_a_simulated_run_delivers_answers_and_predictions():
    X, y = stream(2)
    words = np.where(y > 0, "spam", "ham")
    made = sampler()
    trace = made.run(X, words)
    np.testing.assert_array_equal(trace.delivered, np.where(trace.queried, words, trace.prediction))
    assert not trace.withheld.any()
    assert (trace.delivered != words).mean() <= made.promise.certified <= 0.15
    assert set(trace.columns()) >= {"delivered", "withheld"}
    by_class = made.promise.classes
    for label in ("ham", "spam"):
        says = trace.delivered == label
        assert by_class[label].delivered == says.sum()
        assert by_class[label].asked == (says & trace.queried).sum()
        assert (words[says] != label).mean() <= by_class[label].certified < 0.5
    assert made.promise.warning is None
    other = aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.3), seed=1)
    assert len(other.run(X, words).delivered) == 0
    assert other.ask(X[0]).delivered in ("ham", "spam", None)
    with pytest.raises(InputError, match="give the sampler rule=PromiseRule"):
        other.promise  # noqa: B018


def test_a_rare_class_brings_a_warning():
    X, _ = stream(5)
    rare = np.where(X[:, 0] > 2.0, 1.0, -1.0)
    made = sampler(0.15)
    made.run(X, rare)
    assert "says little about it" in made.promise.warning
    assert made.promise.classes[1].certified > made.promise.classes[-1].certified


@pytest.mark.parametrize("told", [True, False], ids=["all told", "with a question open"])
def test_a_saved_sampler_goes_on_with_the_same_bits(tmp_path, told):
    X, y = stream(3)
    made = sampler(0.1, length=1500, most=900)
    made.promise.begin_period("first")
    late = []
    for i in range(700):
        ask = made.ask(X[i])
        if i == 300:
            made.promise.begin_period("then")
        if ask.query:
            late.append((ask, y[i]))
        if i % 10 == 9 and (told or i < 600):
            for question, label in late:
                made.tell(question, label)
            late = []
    made.save(tmp_path / "one")
    other = aw.Sampler.load(tmp_path / "one")
    other.save(tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    assert other.promise.released() == made.promise.released() != []
    for each in (made, other):
        for question, label in late:
            each.tell(question.round, label)
        each.run(X[700:], y[700:])
    assert other.promise.certificate == made.promise.certificate
    assert other.promise.periods == made.promise.periods
    assert list(made.promise.periods) == ["first", "then"]
    np.testing.assert_array_equal(wealth_logs(other.engine.rule), wealth_logs(made.engine.rule))
    assert other.promise.asked <= 900


def test_a_period_has_an_account_of_its_own():
    X, y = stream(4)
    made, began = sampler(0.15), sampler(0.15)
    made.promise.begin_period("all of it")
    made.run(X, y)
    began.run(X[:700], y[:700])
    began.promise.begin_period("later")
    trace = began.run(X[700:], y[700:])
    later = began.promise.periods["later"]
    assert (later.delivered, later.asked) == (800, trace.questions)
    assert (trace.delivered != y[700:]).mean() <= later.certified
    assert later.confidence == pytest.approx(0.975)
    whole = made.promise.periods["all of it"]
    assert whole.delivered == 1500
    assert whole.certified >= made.promise.certified


def test_what_is_answered_late_is_released_and_counted_where_it_belongs():
    X, y = stream(6)
    made = sampler()
    made.run(X[:800], np.where(y[:800] > 0, "yes", "no"))
    before = made.promise.delivered
    waiting = [ask for ask in map(made.ask, X[800:830]) if ask.query]
    assert waiting
    assert made.promise.waiting == len(waiting)
    made.promise.begin_period("new")
    base = made.promise.periods["new"]
    for ask in waiting[1:]:
        made.tell(ask, "yes")
    made.forget(waiting[0])
    assert made.promise.released() == [(ask.round, "yes") for ask in waiting[1:] if ask.round < 829]
    assert made.promise.released() == []
    assert made.promise.periods["new"] == base
    gone = made.promise.withheld + 1
    assert made.promise.delivered == before + 30 - gone


def test_another_share_is_promised_from_now_on():
    X, y = stream(7)
    made = sampler(0.2)
    made.run(X[:700], y[:700])
    certified = made.promise.certified
    made.promise.change(0.08)
    assert made.promise.certified == certified
    assert made.rule == aw.PromiseRule(0.08)
    assert not made.promise.is_met
    assert made.promise.needed == math.ceil(certified * 700 / 0.08 - 1e-9) - 700
    probability = made.run(X[700:720], y[700:720]).probability
    assert (probability == 1.0).all()
    made.run(X[720:], y[720:])
    assert made.promise.certified <= 0.08 or made.promise.needed > 0
    with pytest.raises(InputError, match="share between 0 and 1"):
        made.promise.change(1.5)


def test_corrections_of_answers_and_of_predictions():
    X, y = stream(8)
    made, asks = sampler(), []
    for x, label in zip(X, y, strict=True):
        asks.append(made.ask(x))
        if asks[-1].query:
            made.tell(asks[-1], label)
    before = made.promise.certificate
    wrong = [ask for ask in asks if not ask.query and ask.prediction != y[ask.round]]
    made.promise.correct(wrong[0], wrong[0].prediction, y[wrong[0].round])
    found = round(before.certified * before.delivered)
    assert made.promise.certified == (found - 1) / 1500
    made.promise.correct(wrong[0], y[wrong[0].round], wrong[0].prediction)
    assert made.promise.certificate == before
    asked = next(ask for ask in asks if ask.query and ask.probability < 0.4 and ask.prediction == y[ask.round])
    made.promise.correct(asked, y[asked.round], -y[asked.round])
    assert made.promise.certified > before.certified
    made.promise.correct(asked, -y[asked.round], y[asked.round])
    assert made.promise.certificate == before
    assert made.promise.corrected == 4
    question = next(ask for ask in map(made.ask, X) if ask.query)
    with pytest.raises(InputError, match="waits for its answer; use tell"):
        made.promise.correct(question, 1, -1)


@pytest.mark.parametrize("limit", [{"most": 300}, {"rate": 0.2}, {"most": 300, "length": 1500}], ids=str)
def test_with_a_budget_labels_are_withheld_before_the_draw(limit):
    X, y = stream(9)
    made = sampler(0.15, **limit)
    trace = made.run(X, y)
    assert trace.questions <= (300 if "most" in limit else 0.2 * 1500 + 20)
    assert trace.withheld.any()
    np.testing.assert_array_equal(trace.withheld, trace.probability == 0.0)
    np.testing.assert_array_equal(trace.queried, trace.coin < trace.probability)
    assert [label is None for label in trace.delivered] == trace.withheld.tolist()
    delivered = ~trace.withheld
    assert (trace.delivered[delivered] != y[delivered]).mean() <= made.promise.certified <= 0.15
    assert made.promise.coverage == delivered.mean()
    assert made.promise.coverage > (0.4 if "length" in limit else 0.25)
    assert made.labels_left() == (300 - trace.questions if "most" in limit else None)


@pytest.mark.parametrize("limit", ["most", "rate"])
def test_a_budget_for_a_known_number_of_rounds_is_spent_and_more_of_it_never_gives_less(limit):
    X, y = stream(9, 3000)
    free = sampler(0.15, length=3000)
    asked = free.run(X, y).questions
    covered = []
    for share in (0.3, 0.6, 0.9, 1.2):
        most = int(share * asked)
        made = sampler(0.15, length=3000, **{limit: most if limit == "most" else most / 3000})
        trace = made.run(X, y)
        assert trace.questions <= most
        assert made.promise.is_met
        covered.append(made.promise.coverage)
        assert trace.questions > 0.8 * min(most, asked)
    assert covered == sorted(covered)
    assert covered[2] > 0.8
    assert covered[3] == 1.0


def test_numbers_are_wrong_beyond_a_tolerance():
    X, _ = stream(10)
    y = X[:, 0] + 0.1 * np.random.default_rng(0).standard_normal(len(X))
    rule = aw.PromiseRule(0.2, within=0.25)
    one, two = (aw.Sampler(aw.LeastSquares(regression=True), rule, seed=3) for _ in range(2))
    trace = one.run(X, y)
    for x, label in zip(X, y, strict=True):
        ask = two.ask(x)
        if ask.query:
            two.tell(ask, label)
    assert two.promise.certificate == one.promise.certificate
    assert (np.abs(trace.delivered - y) > 0.25).mean() <= one.promise.certified <= 0.2
    assert trace.questions < 1200
    assert one.promise.classes == {}


@pytest.mark.parametrize("classes", [["a", "b", "c"], "open"], ids=["known", "open"])
def test_several_classes(classes):
    X, _ = stream(11)
    y = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    made, other = (aw.Sampler(classes=classes, rule=aw.PromiseRule(0.2), seed=3) for _ in range(2))
    trace = made.run(X, y)
    for x, label in zip(X, y, strict=True):
        ask = other.ask(x)
        if ask.query:
            other.tell(ask, label)
    assert other.promise.certificate == made.promise.certificate
    np.testing.assert_array_equal(trace.delivered, np.where(trace.queried, y, trace.prediction))
    for label, each in made.promise.classes.items():
        says = trace.delivered == label
        assert each.delivered == says.sum()
        assert (y[says] != label).mean() <= each.certified < 1.0


def test_a_set_of_labels_is_wrong_if_any_label_is():
    X, _ = stream(12)
    Y = X[:, :2] > 0.3
    made = aw.MultiLabel(["one", "two"], rule=aw.PromiseRule(0.25), seed=3)
    trace = made.run(X, Y)
    assert (trace.delivered != Y).any(axis=1).mean() <= made.promise.certified <= 0.25
    np.testing.assert_array_equal(trace.delivered[trace.queried], Y[trace.queried])
    assert trace.questions < 1400
    several = aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.25), seed=3)
    several.run(X, np.where(Y, 1, -1))
    assert [task.promise.delivered for task in several.tasks] == [len(X), len(X)]
    with pytest.raises(InputError, match="every task has a promise of its own"):
        several.promise  # noqa: B018
    with pytest.raises(InputError, match="a promise is about whole items"):
        aw.MultiLabel(["one", "two"], rule=aw.PromiseRule(0.25), question="each")


def test_a_detector_whose_windows_are_asked_in_any_case_leaves_the_account_alone():
    X, y = stream(13)
    detector = aw.SwitchDetector(window=40, spacing=3, delta=0.5)
    made = aw.Sampler(aw.LeastSquares(), aw.PromiseRule(0.15), detector, seed=3)
    trace = made.run(X, y)
    assert (trace.delivered != y).mean() <= made.promise.certified <= 0.15
    unseen = trace.probability < 1.0
    assert 0 < unseen.sum() < 1400


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: aw.PromiseRule(0.0), "error must be a share between 0 and 1, got 0.0"),
        (lambda: aw.PromiseRule(confidence=1.0), "confidence must be a number from 0.5 to below 1"),
        (lambda: aw.PromiseRule(rate=2.0), "rate must be a number above 0 and at most 1"),
        (lambda: aw.PromiseRule(most=0), "most must be a whole number from 1"),
        (lambda: aw.PromiseRule(within=-1.0), "within must be a positive finite number"),
        (lambda: aw.Sampler(rule=aw.PromiseRule(), costs=(1, 5)), "leave out costs"),
        (lambda: aw.Sampler(rule=aw.PromiseRule(), audit=aw.Audit(0.1)), "leave out audit"),
        (lambda: aw.Sampler(rule=aw.PromiseRule(), regression=True), "give within"),
        (lambda: aw.Sampler(rule=aw.PromiseRule(within=0.1)), "within is for numbers"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_sentence(make, says):
    with pytest.raises(InputError, match=says):
        make()
