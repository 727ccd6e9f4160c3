"""The worker of a partition ends where a plain loop over samplers does, bit for bit."""

import apsw
import pytest

import askwhen as aw
from askwhen.keyed.decisions import read
from askwhen.keyed.errors import CutOffError, StoreError
from askwhen.keyed.logs.folder import FolderLog
from askwhen.keyed.sampler_pool import SamplerPool
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.stores.sqlite_store import SqliteKeyedStore
from askwhen.keyed.worker import PartitionWorker
from tests.keyed.making import make_log
from tests.keyed.reference import fingerprint

KINDS = {
    "a Perceptron": (lambda seed: aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed), False),
    "sparse": (lambda seed: aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed), True),
    "second order, a budget": (lambda seed: aw.Sampler(aw.Lasec(1.0, 30.0), aw.BudgetRule(0.3), seed=seed), False),
    "a dual form, which grows": (
        lambda seed: aw.Sampler(aw.Perceptron(kernel=aw.Gaussian(1.0)), aw.FixedRate(0.5), seed=seed),
        False,
    ),
    "costs": (lambda seed: aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed, costs=(1, 5)), False),
    "classes": (lambda seed: aw.Sampler(aw.Perceptron(), aw.FixedRate(0.5), seed=seed, classes=[-1, 1, 2]), False),
    "a budget by time": (
        lambda seed: aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=3600, count=3), seed=seed),
        False,
    ),
    "the default": (lambda seed: aw.Sampler(seed=seed), False),
    "kinds of features": (lambda seed: aw.Sampler(seed=seed, kinds=aw.Kinds(2, (2,), 1)), True),
}


def states(store, kind, partition):
    slots = SamplerPool(kind, store.features(partition))
    found = {}
    for key, stored in store.samplers(partition):
        held = slots.restore(key, stored)
        found[key] = fingerprint(held.sampler)
    return found


def decided(bodies):
    return [each for _, body in bodies for each in read(body)]


def play_all(folder, store, kind, cache, batch):
    log = FolderLog(str(folder))
    for name in log.partitions():
        worker = PartitionWorker(
            name, log.reader(name, kind), store.claim(name, kind.written()), kind, cache=cache, batch=batch
        )
        while worker.step():
            pass
        worker.close()


@pytest.mark.parametrize("name", KINDS)
def test_a_store_ends_as_a_plain_loop_whatever_the_pieces_and_the_cache(tmp_path, name):
    make, sparse = KINDS[name]
    events, keys = {"a Perceptron": (500, 30), "the default": (120, 6)}.get(name, (150, 10))
    played = make_log(tmp_path / "log", make, events=events, keys=keys, sparse=sparse, timed="time" in name)
    kind = SamplerSpec.of(make(7), 5, sparse)
    for cache, batch in ((2, 7), (1000, 1000)):
        store = SqliteKeyedStore(str(tmp_path / f"store-{batch}"))
        play_all(tmp_path / "log", store, kind, cache, batch)
        for partition, reference in played.items():
            assert reference.fingerprints() == states(store, kind, partition)
            lines = decided(store.decisions(partition))
            assert reference.decisions == [each for each in lines if "refused" not in each]
            assert reference.refused == sum("refused" in each for each in lines) == store.counts(partition).refused
            assert reference.refused > 0 or events < 500
            waiting = sum(len(sampler.pending) for sampler in reference.samplers.values())
            counts = store.counts(partition)
            assert counts.questions == counts.answers + counts.forgotten + waiting
            assert counts.volunteered > 0 or events < 500


@pytest.mark.parametrize("labels", [("ham", "spam"), (0, 1)])
@pytest.mark.parametrize("costs", [None, (1, 5)])
def test_the_two_labels_of_a_log_may_be_given(tmp_path, labels, costs):
    """In slots and in snapshots, which samplers with costs are stored as."""

    def make(seed):
        return aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed, costs=costs, labels=labels)

    played = make_log(tmp_path / "log", make, events=150, keys=10, labels=labels)
    kind = SamplerSpec.of(make(7), 5, False)
    assert SamplerSpec.read(kind.written()) == kind
    for cache, batch in ((2, 7), (1000, 1000)):
        store = SqliteKeyedStore(str(tmp_path / f"store-{batch}"))
        play_all(tmp_path / "log", store, kind, cache, batch)
        for partition, reference in played.items():
            assert reference.fingerprints() == states(store, kind, partition)
            decisions = [each for each in decided(store.decisions(partition)) if "refused" not in each]
            assert reference.decisions == decisions
            assert {each["prediction"] for each in decisions} == set(labels)


def test_without_labels_a_log_has_those_that_it_always_had(tmp_path):
    make, _ = KINDS["a Perceptron"]
    assert "labels" not in SamplerSpec.of(make(7), 5, False).written()
    played = make_log(tmp_path / "log", make, events=150, keys=10, labels=(0, 1))
    kind = SamplerSpec.of(make(7), 5, False)
    store = SqliteKeyedStore(str(tmp_path / "store"))
    play_all(tmp_path / "log", store, kind, 10, 100)
    for partition in played:
        refused = {each["refused"] for each in decided(store.decisions(partition)) if "refused" in each}
        assert "y must be -1 or +1, got 0.0." in refused


def test_of_two_workers_with_one_partition_the_older_cannot_commit(tmp_path):
    make, _ = KINDS["a Perceptron"]
    played = make_log(tmp_path / "log", make, partitions=1)
    kind, store = SamplerSpec.of(make(7), None, False), SqliteKeyedStore(str(tmp_path / "store"))
    log = FolderLog(str(tmp_path / "log"))
    old, new = (
        PartitionWorker(
            "part-0", log.reader("part-0", kind), store.claim("part-0", kind.written()), kind, cache=10, batch=100
        )
        for _ in range(2)
    )
    with pytest.raises(CutOffError, match="another worker has taken over partition part-0"):
        old.step()
    assert store.counts("part-0").events == 0
    assert new.step() == 100
    with pytest.raises(CutOffError):
        old.step()
    while new.step():
        pass
    assert played["part-0"].fingerprints() == states(store, kind, "part-0")


def test_a_commit_that_failed_can_be_tried_again(tmp_path):
    make, _ = KINDS["a Perceptron"]
    played = make_log(tmp_path / "log", make, partitions=1)
    kind, store = SamplerSpec.of(make(7), None, False), SqliteKeyedStore(str(tmp_path / "store"))
    claimed = store.claim("part-0", kind.written())
    claimed._connection.set_busy_timeout(0)
    log = FolderLog(str(tmp_path / "log"))
    worker = PartitionWorker("part-0", log.reader("part-0", kind), claimed, kind, cache=100, batch=200)
    other = apsw.Connection(str(tmp_path / "store" / "part-0.keyed"))
    while worker.step():
        other.execute("begin immediate")
        if log.reader("part-0", kind).read(claimed.position, 1)[0].keys:
            with pytest.raises(StoreError, match="the store of partition part-0 cannot be used: .*locked"):
                worker.step()
        other.execute("rollback")
    assert played["part-0"].fingerprints() == states(store, kind, "part-0")


def test_a_store_of_another_kind_is_refused(tmp_path):
    make, _ = KINDS["a Perceptron"]
    make_log(tmp_path / "log", make, events=20)
    store = SqliteKeyedStore(str(tmp_path / "store"))
    play_all(tmp_path / "log", store, SamplerSpec.of(make(7), None, False), 10, 10)
    other = aw.Sampler(aw.Perceptron(), aw.MarginRule(0.25), seed=7)
    for wrong, differs in (
        (make(8), "seed 7 there and 8 here"),
        (other, r"rule \['MarginRule', .*0.5}\] there and \['MarginRule', .*0.25}\] here"),
    ):
        with pytest.raises(StoreError, match=f"of another kind, or with another seed: {differs}[.]$"):
            play_all(tmp_path / "log", store, SamplerSpec.of(wrong, None, False), 10, 10)


def test_what_is_no_event_is_refused_in_its_place_and_the_stream_goes_on(tmp_path):
    (tmp_path / "log").mkdir()
    lines = [
        '{"key": "a", "x": [1, 2]}',
        '{"key": "a", "x": [1, "two"]}',
        "no JSON",
        '{"key": "a", "x": [1, 2, 3]}',
        '{"key": "a", "x": [1e300, 2]}',
        '{"key": "b", "x": [1e300, 2]}',
        '{"key": "a", "round": 0}',
        '{"key": "a", "round": 7, "label": 1}',
        '{"key": "a", "x": [2, 1], "round": 3}',
        '{"key": "a", "round": 0, "label": 3}',
        '{"key": "b", "x": [2, 1], "id": "mine"}',
    ]
    (tmp_path / "log" / "part.ndjson").write_text("\n".join(lines))
    kind = SamplerSpec.of(aw.Sampler(aw.Perceptron(), aw.Always(), seed=1), None, False)
    store = SqliteKeyedStore(str(tmp_path / "store"))
    play_all(tmp_path / "log", store, kind, 10, 100)
    assert store.counts("part").events == 10, "the last line has no end yet"
    with open(tmp_path / "log" / "part.ndjson", "a") as file:
        file.write("\n")
    play_all(tmp_path / "log", store, kind, 10, 100)
    found = decided(store.decisions("part"))
    refused = {each["event"]: each["refused"] for each in found if "refused" in each}
    assert list(refused) == list(range(1, 10))
    for event, sentence in {
        1: "this is not an event: Expected",
        2: "this is not an event: JSON is malformed",
        3: "x must have 2 features as before, got 3.",
        4: "x must have a norm of at most 1e100",
        6: "an event has an x, or a round with a label or forget: true.",
        7: "round 7 has no open question",
        8: "an event with an x has no round",
        9: "y must be -1 or +1, got 3.0.",
    }.items():
        assert refused[event].startswith(sentence)
    assert [(each["key"], each["round"], each.get("id")) for each in found if "round" in each] == [
        ("a", 0, None),
        ("b", 0, "mine"),
    ]
