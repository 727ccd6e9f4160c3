"""What promises take: as many single runs, from instances or from a trace."""

import dataclasses

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.evaluate.comparison.known_margins import KnownMargins
from askwhen.evaluate.estimation.promise_history import rows_until_next

ERRORS = [0.3, 0.1]


def stream(n=900, noise=0.3):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n, 4))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, "spam", "ham")


def lasec():
    return aw.Sampler(aw.Lasec(1.0, 300.0, "queried"))


def single(rule, X, y, seed):
    """Questions, delivered labels, wrong ones among them, and the certificate of one run."""
    sampler = aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), rule, seed=seed)
    trace = sampler.run(X, y)
    wrong = [label is not None and label != truth for label, truth in zip(trace.delivered, y, strict=True)]
    return trace.questions, sampler.promise.delivered, sum(wrong), sampler.promise.certified


def found_in(point):
    return list(zip(*(getattr(point, name) for name in ("questions", "delivered", "wrong", "certified")), strict=True))


@pytest.mark.parametrize("budget", [{}, {"most": 150}, {"rate": 0.2}], ids=str)
def test_every_point_is_that_of_single_runs(budget):
    X, y = stream()
    seen = []
    found = aw.evaluate.promise_curve(
        X, y, ERRORS, sampler=lasec(), repeats=2, seed=5, watch=lambda *each: seen.append(each), **budget
    )
    assert [point.error for point in found.points] == [0.1, 0.3]
    for point in found.points:
        rule = aw.PromiseRule(point.error, length=len(y), **budget)
        assert found_in(point) == [single(rule, X, y, seed) for seed in (5, 6)]
        assert point.is_met
        assert point.errors <= point.error
        assert point.saved == 1.0 - point.asked == 1.0 - point.questions.mean() / 900
        assert (point.coverage == 1.0) == (not budget)
    assert found.has_budget == bool(budget)
    assert found.points[0].asked > found.points[1].asked or budget
    assert [done for done, total, _ in seen] == [1, 2, 3, 4]
    assert found.order_warning is None
    assert found.middle.error == 0.1
    assert str(found).splitlines()[0].startswith("10 % errors promised: ")


def test_other_orders_are_those_of_the_seeds_and_an_unknown_length_takes_more():
    X, y = stream()
    found = aw.evaluate.promise_curve(X, y, [0.1], sampler=lasec(), repeats=2, shuffle=True, known_length=False)
    for k, run in enumerate(found_in(found.points[0])):
        order = np.random.default_rng([0, k]).permutation(len(y))
        assert run == single(aw.PromiseRule(0.1), X[order], y[order], k)
    listed = aw.evaluate.promise_curve(X, y.tolist(), [0.1], sampler=lasec(), repeats=1, shuffle=True)
    arrays = aw.evaluate.promise_curve(X, y, [0.1], sampler=lasec(), repeats=1, shuffle=True)
    assert found_in(listed.points[0]) == found_in(arrays.points[0])
    ordered = np.argsort(y, kind="stable")
    assert "sorted" in aw.evaluate.promise_curve(X[ordered], y[ordered], [0.3], sampler=lasec()).order_warning


def test_a_trace_is_played_with_its_margins():
    X, y = stream()
    trace = aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.3), seed=3).run(X, y)
    found = aw.evaluate.promise_curve(trace, errors=ERRORS, repeats=2)
    sign = np.where(trace.margin > 0, 1, -1)
    labels = np.where(trace.mistaken, -sign, sign)
    again = aw.evaluate.promise_curve(
        trace.margin[:, None], labels, ERRORS, sampler=aw.Sampler(KnownMargins()), repeats=2
    )
    assert [found_in(point) for point in found.points] == [found_in(point) for point in again.points]
    assert found.predicted
    assert not again.predicted
    rule = aw.PromiseRule(0.1, length=len(y))
    alone = aw.Sampler(KnownMargins(), rule, seed=1)
    assert found.points[0].questions[1] == alone.run(trace.margin[:, None], labels).questions
    for wrong, says in [
        (dataclasses.replace(trace, margin=np.full(900, np.nan)), "lacks margins; run with margins=True"),
        (aw.Sampler(aw.Perceptron(), seed=1).run(X, y, trace=False), "only counts; run with trace=True"),
        (aw.Sampler(aw.LeastSquares(regression=True), seed=1).run(X, X[:, 0]), "a trace of numbers"),
    ]:
        with pytest.raises(InputError, match=says):
            aw.evaluate.promise_curve(wrong)
    with pytest.raises(InputError, match="leave out y, sampler and advice"):
        aw.evaluate.promise_curve(trace, y)


def test_classes_numbers_label_sets_and_advice():
    X, y = stream()
    several = np.array(["a", "b", "c"])[np.digitize(X[:, 0], [-0.5, 0.5])]
    for classes in (["a", "b", "c"], "open"):
        template = aw.Sampler(aw.Perceptron(), classes=classes)
        found = aw.evaluate.promise_curve(X, several, [0.3], sampler=template, repeats=1)
        sampler = aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.3, length=900), classes=classes, seed=0)
        trace = sampler.run(X, several)
        assert found_in(found.points[0]) == [
            (trace.questions, 900, (trace.delivered != several).sum(), sampler.promise.certified)
        ]
    numbers = aw.Sampler(aw.LeastSquares(regression=True))
    found = aw.evaluate.promise_curve(X, X[:, 0] ** 2, [0.3], sampler=numbers, within=0.5, repeats=1)
    sampler = aw.Sampler(numbers.learner, aw.PromiseRule(0.3, within=0.5, length=900), seed=0)
    trace = sampler.run(X, X[:, 0] ** 2)
    assert found.points[0].wrong[0] == (np.abs(trace.delivered - X[:, 0] ** 2) > 0.5).sum()
    Y = X[:, :2] > 0.3
    template = aw.MultiLabel(["one", "two"])
    found = aw.evaluate.promise_curve(X, Y, [0.3], sampler=template, repeats=1, shuffle=True)
    order = np.random.default_rng([0, 0]).permutation(900)
    sampler = aw.MultiLabel(["one", "two"], rule=aw.PromiseRule(0.3, length=900), seed=0)
    trace = sampler.run(X[order], Y[order])
    assert found.points[0].wrong[0] == (trace.delivered != Y[order]).any(axis=1).sum()
    advice = {"gpt": (y.astype(object), np.full(900, 0.9)), "rules": [None] * 900}
    template = aw.Sampler(advisers=["gpt", "rules"], labels=("ham", "spam"))
    found = aw.evaluate.promise_curve(X, y, [0.3], sampler=template, advice=advice, repeats=1, shuffle=True)
    sampler = aw.Sampler(
        advisers=["gpt", "rules"], rule=aw.PromiseRule(0.3, length=900), labels=("ham", "spam"), seed=0
    )
    said = {"gpt": (advice["gpt"][0][order], advice["gpt"][1]), "rules": advice["rules"]}
    assert found.points[0].questions[0] == sampler.run(X[order], y[order], advice=said).questions


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"sampler": 3}, "sampler must be a Sampler or a MultiLabel"),
        ({"sampler": aw.Sampler(aw.Perceptron(), costs=(1, 5))}, "leave out costs"),
        ({"sampler": aw.Sampler(aw.LeastSquares(regression=True))}, "give within"),
        ({"errors": []}, "give at least one share"),
        ({"errors": [1.5]}, "a share between 0 and 1, got 1.5"),
        ({"within": 0.5}, "within is for numbers"),
        ({"repeats": 0}, "repeats must be"),
        ({"y": None}, "y must be given"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_makes_no_sense_is_refused_before_anything_is_played(more, says):
    X, y = stream(50)
    with pytest.raises(InputError, match=says):
        aw.evaluate.promise_curve(X, **({"y": y, "sampler": lasec()} | more))
    played = lasec()
    played.run(X, y)
    with pytest.raises(InputError, match="has played 50 rounds"):
        aw.evaluate.promise_curve(X, y, sampler=played)


def test_the_history_of_a_run_has_a_point_for_each_chunk():
    X, y = stream()
    cuts = np.cumsum([50, 50, 300, 500])
    chunks = [(X[a:b], y[a:b]) for a, b in zip([0, *cuts[:-1]], cuts, strict=True)]
    one, other = (aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(0.2), seed=3) for _ in range(2))
    found = aw.evaluate.progressive(one, chunks).promise
    assert (found.error, found.confidence) == (0.2, 0.95)
    np.testing.assert_array_equal(found.rounds, cuts)
    wrong = 0
    for k, (a, b) in enumerate(zip([0, *cuts[:-1]], cuts, strict=True)):
        trace, promise = other.run(X[a:b], y[a:b]), other.promise
        wrong += (trace.delivered != y[a:b]).sum()
        here = (found.questions[k], found.delivered[k], found.wrong[k], found.certified[k], found.estimated[k])
        assert here == (promise.asked, promise.delivered, wrong, promise.certified, promise.estimated)
    assert aw.evaluate.progressive(lasec(), X, y).promise is None
    numbers = aw.Sampler(aw.LeastSquares(regression=True), aw.PromiseRule(0.3, within=0.5), seed=1)
    trace = numbers.run(X, X[:, 0])
    numbers = aw.Sampler(aw.LeastSquares(regression=True), aw.PromiseRule(0.3, within=0.5), seed=1)
    found = aw.evaluate.progressive(numbers, X, X[:, 0]).promise
    assert found.wrong[-1] == (np.abs(trace.delivered - X[:, 0]) > 0.5).sum()
    played = [0]
    while played[-1] < 1_000_000:
        played.append(played[-1] + rows_until_next(played[-1]))
    assert len(played) < 500
    assert played[:3] == [0, 50, 100]
