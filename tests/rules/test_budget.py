"""A budget is held: on every stream, in every window, by round and by time."""

import datetime
import math

import numpy as np
import pytest

import askwhen as aw
from tests.streams import drifting


@pytest.mark.parametrize("spread", [True, False])
@pytest.mark.parametrize(("n", "rate"), [(111, 0.1), (300, 0.05), (30, 0.1), (1000, 0.07), (5, 0.5), (40, 1.0)])
def test_a_share_of_a_known_length_is_never_exceeded_and_nearly_used_up(n, rate, spread):
    most = math.ceil(rate * n - 1e-9)
    for name, (X, y) in hostile_streams(n).items():
        sampler = aw.Sampler(rule=aw.BudgetRule(rate, length=n, spread=spread), seed=3)
        asked = sampler.run(X, y).questions
        assert most - 2 <= asked <= most, name


def test_a_share_of_all_asks_for_all():
    for n in (1, 2, 3, 40):
        for seed in range(6):
            X = np.random.default_rng(seed).standard_normal((n, 3))
            rules = (aw.BudgetRule(1.0, length=n), aw.BudgetRule(1.0, length=n, spread=False), aw.BudgetRule(1.0))
            for rule in rules:
                assert aw.Sampler(rule=rule, seed=seed).run(X, np.where(X[:, 0] > 0, 1, -1)).questions == n


def test_without_a_length_the_rule_asks_ahead_and_after_it_goes_on_as_a_stream():
    X, y = hostile_streams(6000)["noise"]
    assert aw.Sampler(rule=aw.BudgetRule(0.1), seed=3).run(X[:111], y[:111]).questions > 20
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=500), seed=3)
    assert sampler.run(X[:500], y[:500]).questions <= 50
    assert 500 <= sampler.run(X[500:], y[500:]).questions <= 600


def test_a_budget_of_a_length_is_the_same_live_in_parts_and_after_a_save(tmp_path):
    X, y = hostile_streams(400)["easy"]
    rule = aw.BudgetRule(0.1, length=400)
    trace = aw.Sampler(rule=rule, seed=3).run(X, y)
    sampler = aw.Sampler(rule=rule, seed=3)
    sampler.run(X[:150], y[:150])
    sampler.save(tmp_path / "m.askwhen")
    sampler = aw.Sampler.load(tmp_path / "m.askwhen")
    assert sampler.rule == rule
    asks = []
    for x, label in zip(X[150:], y[150:], strict=True):
        asks.append(sampler.ask(x))
        if asks[-1].query:
            sampler.tell(asks[-1], label)
    assert [ask.probability for ask in asks] == trace.probability[150:].tolist()
    assert sampler.questions == trace.questions
    with pytest.raises(aw.InputError, match="length goes with a rate"):
        aw.BudgetRule(per=10, count=3, length=5)


def hostile_streams(n=16_000, d=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    coins = np.where(rng.random(n) < 0.5, 1.0, -1.0)
    sizes = np.where(np.arange(n) < n // 2, 1.0, 1e6)
    blocks = np.repeat(rng.standard_normal((n // 400 + 1, d)), 400, axis=0)[:n]
    switching = np.where(np.arange(n) // 1000 % 2 == 0, y, -y)
    return {
        "all margins zero": (np.zeros((n, d)), coins),
        "all margins huge": (1e6 * X, y),
        "suddenly huge": (sizes[:, None] * X, y),
        "suddenly tiny": (X / sizes[:, None], y),
        "switches": (X, switching),
        "bursts of one instance": (blocks, coins),
        "noise": (X, coins),
        "easy": (X, y),
    }


@pytest.mark.parametrize("rate", [0.01, 0.05, 0.1, 0.5])
@pytest.mark.parametrize("name", hostile_streams(n=4))
def test_every_window_stays_within_the_larger_of_a_tenth_and_fifteen_labels(name, rate):
    X, y = hostile_streams()[name]
    for sampler in (
        aw.Sampler(aw.AutoLasec(), aw.BudgetRule(rate), prepare=aw.Prepare(), seed=3),
        aw.Sampler(aw.Perceptron(), aw.BudgetRule(rate), audit=aw.Audit(0.2 * rate), seed=3),
    ):
        spent = np.concatenate([[0], np.cumsum(sampler.run(X, y).queried)])
        windows = spent[6000:] - spent[1000:-5000]
        assert np.abs(windows - 5000 * rate).max() <= max(500 * rate, 15)
        rounds = np.arange(len(spent))
        assert (spent <= rate * rounds + 440 * rate + 8).all()  # the hard cap, from the first round on


def test_the_switch_detector_cannot_break_the_budget():
    X, y = drifting(0, n=8000, every=2000)
    rule, drift = aw.BudgetRule(0.05), aw.SwitchDetector(50, 3, 0.05)
    trace = aw.Sampler(aw.LeastSquares(), rule, drift, seed=1).run(X, y)
    spent = np.concatenate([[0], np.cumsum(trace.queried)])
    assert np.abs(spent[6000:] - spent[1000:-5000] - 250).max() <= 25
    assert (trace.probability == 0).any()  # the detector's windows want every label, and the budget forbids


@pytest.mark.parametrize("most", [1, 40, 400])
def test_a_number_of_labels_is_never_exceeded_and_well_used(most, tmp_path):
    X, y = drifting(0, n=4000)
    sampler = aw.Sampler(rule=aw.BudgetRule(min(most / 4000, 1.0), most=most), audit=aw.Audit(0.01), seed=1)
    sampler.run(X[:2000], y[:2000])
    sampler.save(tmp_path / "half.askwhen")
    sampler = aw.Sampler.load(tmp_path / "half.askwhen")
    trace = sampler.run(X[2000:], y[2000:])
    assert 0.9 * most <= sampler.questions <= most
    sampler.run(X, y)  # however long the stream goes on
    assert sampler.questions == most
    if most == 1:
        assert (trace.probability == 0).any()


def test_a_number_of_labels_goes_with_a_rate():
    with pytest.raises(aw.InputError, match="most goes with a rate; a budget by time has its count"):
        aw.BudgetRule(per=60, count=3, most=5)
    with pytest.raises(aw.InputError, match="most must be"):
        aw.BudgetRule(0.1, most=0)


@pytest.mark.parametrize("per", [86_400.0, datetime.timedelta(days=1), np.timedelta64(1, "D")])
def test_no_day_costs_more_than_its_count(per):
    rng = np.random.default_rng(0)
    X, y = drifting(0, n=9000)
    gaps = np.where(rng.random(9000) < 0.5, 20.0, 200.0)  # about 785 instances a day
    times = 1.6e9 + np.cumsum(gaps)
    sampler = aw.Sampler(aw.AutoLasec(), aw.BudgetRule(per=per, count=40), prepare=aw.Prepare(), seed=1)
    trace = sampler.run(X, y, times=times)
    days = (times // 86_400).astype(int)
    by_day = np.bincount(days - days[0], trace.queried)
    assert by_day.max() <= 40
    assert by_day[1:-1].min() >= 32  # and it is worth having: days are nearly used up
    live = aw.Sampler(aw.AutoLasec(), aw.BudgetRule(per=per, count=40), prepare=aw.Prepare(), seed=1)
    stamps = np.datetime64(0, "s") + (1e6 * times).astype("timedelta64[us]")
    for i in range(300):
        ask = live.ask(X[i], time=[float(times[i]), stamps[i], stamps[i].astype(datetime.datetime)][i % 3])
        assert ask.query == trace.queried[i]
        if ask.query:
            live.tell(ask, y[i])


@pytest.mark.parametrize("busy", [24.0, 8.0, 1 / 60])
def test_busy_hours_use_up_the_day(busy):
    rng = np.random.default_rng(0)
    times = np.sort(np.concatenate([day * 86_400 + 3600 * busy * rng.random(200) for day in range(12)]))
    X = rng.standard_normal((2400, 3))
    trace = aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=86_400, count=30), seed=1).run(
        X, np.sign(X[:, 0]), times=times
    )
    by_day = np.bincount((times // 86_400).astype(int), trace.queried)
    assert by_day.max() <= 30
    assert by_day[2:].min() >= 27


def test_a_burst_in_one_second_meets_the_cap():
    trace = aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=60, count=5, floor=0.5), seed=1).run(
        np.zeros((1000, 2)), np.ones(1000), times=np.zeros(1000)
    )
    assert trace.questions == 5
    assert (trace.probability[np.flatnonzero(trace.queried)[-1] + 1 :] == 0).all()


def test_times_are_checked():
    by_time = aw.BudgetRule(per=60, count=5)
    X, y = np.ones((3, 2)), np.ones(3)
    sampler = aw.Sampler(aw.Perceptron(), by_time, seed=1)
    with pytest.raises(aw.InputError, match="ask: time must be given"):
        sampler.ask(X[0])
    with pytest.raises(aw.InputError, match="run: times must be given"):
        sampler.run(X, y)
    with pytest.raises(aw.InputError, match="run: times must not go back, but time 2"):
        sampler.run(X, y, times=[1, 3, 2])
    with pytest.raises(aw.InputError, match="one time for each of the 3"):
        sampler.run(X, y, times=[1, 3])
    with pytest.raises(aw.InputError, match="finite"):
        sampler.run(X, y, times=[1, 2, np.nan])
    with pytest.raises(aw.InputError, match="numbers, datetime or datetime64"):
        sampler.ask(X[0], time="noon")
    with pytest.raises(aw.InputError, match="numbers, datetime or datetime64"):
        sampler.run(X, y, times=[None, None, None])
    with pytest.raises(aw.InputError, match="masked"):
        sampler.run(X, y, times=np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]))
    with pytest.raises(aw.InputError, match="too short to be resolved"):
        aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=1e-12, count=1)).ask(X[0], time=1e9)
    assert sampler.round == 0
    sampler.run(X, y, times=[1, 2, 3])
    with pytest.raises(aw.InputError, match="ask: time must not go back, got 2.0 after 3.0"):
        sampler.ask(X[0], time=2)
    with pytest.raises(aw.InputError, match="run: times must not go back"):
        sampler.run(X, y, times=[2, 3, 4])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give rate, or both per and count"),
        ({"per": 60}, "give rate, or both per and count"),
        ({"rate": 0.1, "per": 60, "count": 3}, "either rate, or per and count"),
        ({"rate": 0.0}, "above 0 and at most 1"),
        ({"rate": 1.5}, "above 0 and at most 1"),
        ({"rate": 0.1, "floor": 2}, "floor must be"),
        ({"rate": 0.1, "floor": 0.2}, "floor must be a number from 0 to the rate"),
        ({"per": datetime.timedelta(0), "count": 3}, "per must be"),
        ({"per": datetime.timedelta(seconds=-9), "count": 3}, "per must be"),
        ({"per": np.timedelta64("NaT"), "count": 3}, "per must be"),
        ({"per": np.timedelta64(1, "M"), "count": 3}, "per must not be in months"),
        ({"rate": 0.1, "by": np.ones(2)}, "by must be"),
        ({"rate": 0.1, "by": "mood"}, "by must be"),
        ({"per": -1, "count": 3}, "per must be"),
        ({"per": 60, "count": 2.5}, "count must be"),
    ],
)
def test_budgets_that_make_no_sense_are_refused(arguments, message):
    with pytest.raises(aw.InputError, match=message):
        aw.BudgetRule(**arguments)


def test_a_timedelta_survives_the_snapshot(tmp_path):
    sampler = aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=datetime.timedelta(hours=1), count=7), seed=1)
    sampler.ask([1.0, 2.0], time=5)
    sampler.save(tmp_path / "m")
    assert aw.Sampler.load(tmp_path / "m").rule.per == 3600.0


def test_dates_with_and_without_time_zones_are_the_same_moments():
    naive = [datetime.datetime(2026, 1, 1, hour) for hour in range(24)]
    aware = [t.replace(tzinfo=datetime.UTC).astimezone(datetime.timezone(datetime.timedelta(hours=-7))) for t in naive]
    stamps = np.array(naive, "datetime64[s]")
    seconds = stamps.astype("int64")
    X, y = np.zeros((24, 2)), np.ones(24)
    found = [
        aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=36_000, count=2), seed=1).run(X, y, times=times).probability
        for times in (naive, aware, stamps, seconds)
    ]
    for other in found[1:]:
        np.testing.assert_array_equal(found[0], other)
