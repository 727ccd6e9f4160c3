"""Annotators and producers at once, in processes of their own: no slot twice, none stuck, no locked database."""

import contextlib
import multiprocessing
import time

import askwhen as aw
from askwhen.service.store import open_store
from tests.service import history
from tests.service.load import Crowd
from tests.service.serving import Server
from tests.soak import times

LABELS = ["a", "b"]


def has_enough(crowd):
    """Whether there was enough work to collide, which takes longer on a busy machine."""
    return len(crowd.instances) >= 10 and len(crowd.answers) >= 10


def crowd_process(url, producers, annotators, seconds, seed, told):
    crowd = Crowd(url, "race", producers, annotators, LABELS, seed=100 * seed)
    for thread in crowd.threads:  # names of its own
        work, name, number = thread._args
        thread._args = (work, f"{name}-{seed}", number)
    crowd.start()
    begun = time.monotonic()
    while (passed := time.monotonic() - begun) < seconds or (passed < 300.0 and not has_enough(crowd)):
        time.sleep(0.1)
    try:
        crowd.stop()
        told.put((len(crowd.instances), sorted(crowd.answers.items()), None))
    except AssertionError as error:
        told.put((0, [], str(error)))


def test_many_at_once_never_share_a_slot(tmp_path):
    address, seconds = str(tmp_path / "log.db"), times(6.0, 120.0)
    with Server(address) as server:
        with aw.Client(server.url) as client:
            client.create("race", labels=LABELS, slots=2, grace=0.1, lease=1.0, budget={"rate": 0.8}, seed=1)
        context, told = multiprocessing.get_context("spawn"), multiprocessing.get_context("spawn").Queue()
        work = [(server.url, 1, 5, seconds, i, told) for i in range(4)]
        processes = [context.Process(target=crowd_process, args=each) for each in work]
        for process in processes:
            process.start()
        found = [told.get(timeout=seconds + 400.0) for _ in processes]
        for process in processes:
            process.join(30.0)
        assert [error for _, _, error in found if error] == []
        with aw.Client(server.url) as client:  # nothing is stuck: once leases are over, everything can be answered
            time.sleep(1.2)
            stream, left = client.stream("race"), 0
            for who in ("last", "very last"):
                while (shown := stream.next(who)) is not None and left < 200:
                    stream.tell(shown["question"], "a", annotator=who)
                    left += 1
        assert "locked" not in server.log()
        server.stop()
    with contextlib.closing(open_store(address)) as store, contextlib.closing(store.reader()) as reader:
        events = reader.events(1, 0, 1 << 40)
    history.check(events)
    keys = {event.key for event in events}
    answers = [key for _, answered, _ in found for key, _ in answered]
    assert {f"a:{key}" for key in answers} <= keys
    assert len(answers) > 30
    assert sum(sent for sent, _, _ in found) > 30
