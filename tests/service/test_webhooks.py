"""Webhooks: committed with what they tell of, signed, sent until they are taken, never to where they must not go."""

import asyncio
import contextlib
import json
import socket
import threading
import time as clock
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import httpcore
import httpx
import numpy as np
import pytest
from click.testing import CliRunner
from standardwebhooks import Webhook

import askwhen as aw
from askwhen.cli.main import main
from askwhen.errors import InputError
from askwhen.service.domain import webhooks as hooks
from askwhen.service.errors import NotFoundError
from askwhen.service.events.kinds import facts_of
from askwhen.service.events.settings import Budget
from askwhen.service.use_cases import instances, questions, reports, streams, webhooks
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.webhook_delivery import delivery as couriers
from askwhen.service.use_cases.webhook_delivery.addresses import RestrictedBackend, check_url, may_reach, networks_of
from askwhen.service.use_cases.webhook_delivery.alarms import Alarms
from askwhen.service.use_cases.webhook_delivery.delivery import WebhookSender
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.receiver import Receiver, babbles, drips, hangs, hangs_up, promises
from tests.service.serving import Server

LOOPBACK = networks_of(["127.0.0.0/8"])
QUESTIONS = ["question.opened", "question.answered"]


@pytest.fixture
def receiver():
    with Receiver() as receiver:
        yield receiver


@contextlib.asynccontextmanager
async def served(address, time, **given):
    """A desk with a courier, which sends when it is told to."""
    async with open_coordinator(address, time, **given) as coordinator:
        sender = WebhookSender(coordinator, LOOPBACK)
        await sender.start()
        try:
            yield coordinator, sender
        finally:
            await sender.close()


async def send(sender):
    sender.look()
    await sender.idle()


async def asked(coordinator, count=1, **given):
    """Questions on a stream that asks about everything."""
    stream = coordinator.streams.get("mails")
    if stream is None:
        stream = await streams.create(
            coordinator, "mails", settings(algorithm="perceptron", budget=None, grace=0.0, **given)
        )
    for i in range(count):
        await instances.play(coordinator, stream, Raw([float(i), 1.0], show="secret text", subject="secret subject"))
    return stream


def waiting(coordinator, hook):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.messages(hook)


def test_what_happens_is_told_signed_and_without_contents(address, receiver):
    async def go():
        time = Time(1_800_000_000.0)
        async with served(address, time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, QUESTIONS, None, None, LOOPBACK)
            stream = await streams.create(coordinator, "mails", settings(algorithm="perceptron", budget=None))
            await instances.play(coordinator, stream, Raw([1.0, 2.0], "m1", 0.5, "secret text", "secret subject"))
            await questions.answer(coordinator, stream, 0, "ann", "spam", "k")
            assert [each.due for each in waiting(coordinator, hook.hook)] == [1_800_000_000.0] * 2
            await send(sender)
            assert waiting(coordinator, hook.hook) == []
            return hook

    hook = run(go())
    opened, answered = sorted(receiver.told, key=lambda each: each["type"], reverse=True)
    assert opened["type"] == "question.opened"
    assert opened["timestamp"] == datetime.fromtimestamp(1_800_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
    data = opened["data"]
    assert (data["stream"], data["question"], data["round"], data["id"]) == ("mails", 0, 0, "m1")
    assert (data["probability"], data["priority"], data["prediction"]) == (1.0, 0.5, "ham")
    wanted = {"stream": "mails", "question": 0, "annotator": "ann", "label": "spam", "unsure": False}
    assert (answered["type"], answered["data"]) == ("question.answered", wanted)
    for headers, body in receiver.got:
        lower = {name.lower(): value for name, value in headers.items()}
        check = Webhook(hook.secret)
        assert check.verify(body, lower) == json.loads(body), "signed by the wall clock, whatever the desk's says"
        with pytest.raises(Exception, match="signature"):
            check.verify(body + b" ", lower)
        assert b"secret" not in body


def test_messages_of_one_moment_are_sent_in_the_order_of_their_causes(address, receiver, monkeypatch):
    monkeypatch.setattr(couriers, "AT_ONCE", 1)

    async def go():
        async with served(address, Time()) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, QUESTIONS, None, None, LOOPBACK)
            stream = await asked(coordinator, 18)
            for question in range(12):
                await questions.answer(coordinator, stream, question, "ann", "spam")
            assert len({(each.made, each.due) for each in waiting(coordinator, hook.hook)}) == 1
            stored = [json.loads(each.body) for each in waiting(coordinator, hook.hook)]
            while waiting(coordinator, hook.hook):
                await send(sender)
            return stored

    stored = run(go())
    causes = [("question.opened", i) for i in range(18)] + [("question.answered", i) for i in range(12)]
    for found in (stored, receiver.told):
        assert [(each["type"], each["data"]["question"]) for each in found] == causes


def test_only_what_is_wanted_is_told(address, receiver):
    async def go():
        time = Time()
        async with served(address, time) as (coordinator, sender):
            stream = await asked(coordinator)
            other = await streams.create(coordinator, "other", settings(algorithm="perceptron", budget=None))
            await webhooks.make(coordinator, receiver.url, ["question.opened"], ["mails"], None, LOOPBACK)
            await asked(coordinator)
            await instances.play(coordinator, other, Raw([1.0]))
            await questions.answer(coordinator, stream, 0, "ann", "spam")
            await streams.rename(coordinator, "mails", "post")
            await instances.play(coordinator, stream, Raw([1.0, 3.0]))
            await send(sender)

    run(go())
    assert sorted((each["data"]["stream"], each["data"]["round"]) for each in receiver.told) == [
        ("mails", 1),
        ("post", 2),
    ]


def test_a_receiver_that_fails_hangs_and_lies_gets_it_in_the_end(address, receiver, monkeypatch):
    monkeypatch.setattr(couriers, "PATIENCE", 0.4)
    bad = [500, 302, hangs, hangs_up, babbles, drips, (503, {"Retry-After": "50"}), (429, {"Retry-After": "nonsense"})]
    receiver.answers = list(bad)

    async def go():
        time = Time()
        async with served(address, time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator)
            for i in range(len(bad)):
                await send(sender)
                (message,) = waiting(coordinator, hook.hook)
                assert (message.attempts, bool(message.problem)) == (i + 1, True)
                pause = couriers.PAUSES[min(i, len(couriers.PAUSES) - 1)]
                assert 0.8 * pause <= message.due - time.now <= max(1.2 * pause, 50.0)
                if i == 6:
                    assert message.due - time.now >= 50.0
                await send(sender)
                assert len(receiver.got) == i + 1
                time.now = message.due
            await send(sender)
            assert waiting(coordinator, hook.hook) == []

    run(go())
    assert len(receiver.got) == len(bad) + 1
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1
    assert len({body for _, body in receiver.got}) == 1


def test_a_status_is_enough_whatever_the_body_does(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(couriers, "PATIENCE", 120.0)
    receiver.answers = [promises]

    async def go():
        async with served(tmp_path / "log.db", Time()) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator)
            await send(sender)
            assert waiting(coordinator, hook.hook) == []

    run(go())


def test_what_nobody_takes_for_a_day_is_dead_and_can_be_sent_again(address, receiver):
    receiver.then = 500

    async def go():
        time = Time()
        async with served(address, time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator, 2)
            while any(each.due is not None for each in waiting(coordinator, hook.hook)):
                await send(sender)
                time.now += 3600.0
            assert len(receiver.got) == sum(each.attempts for each in waiting(coordinator, hook.hook)) > 10
            assert time.now == 1000.0 + 86_400.0 + 3600.0  # the last attempt was after a day
            dead = await webhooks.dead(coordinator, hook.hook)
            assert [each.problem for each in dead] == ["it answered with status 500"] * 2
            facts = await webhooks.facts(coordinator, hook)
            assert (facts["waiting"], facts["dead"]) == (0, 2)
            with pytest.raises(NotFoundError, match="no message 'msg_no' waits to be sent again"):
                await webhooks.resend(coordinator, hook.hook, [dead[0].id, "msg_no"])
            assert len(await webhooks.dead(coordinator, hook.hook)) == 2
            receiver.then = 200
            assert await webhooks.resend(coordinator, hook.hook, [dead[0].id]) == 1
            await send(sender)
            assert [each.id for each in waiting(coordinator, hook.hook)] == [dead[1].id]
            assert await webhooks.resend(coordinator, hook.hook) == 1
            await send(sender)
            assert waiting(coordinator, hook.hook) == []

    run(go())


def test_old_dead_messages_go_after_a_month(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(couriers, "LONGEST", 0.0)
    receiver.then = 500

    async def go():
        time = Time()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator)
            await send(sender)
            await sender.purge()
            assert len(await webhooks.dead(coordinator, hook.hook)) == 1
            time.now += 31 * 86_400.0
            await sender.purge()
            assert await webhooks.dead(coordinator, hook.hook) == []

    run(go())


def test_a_receiver_that_is_gone_is_left_alone_until_told_otherwise(address, receiver):
    receiver.then = 410

    async def go():
        time = Time()
        async with served(address, time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator)
            await send(sender)
            assert "410" in hook.stopped
            await asked(coordinator, 2)
            time.now += 90_000.0
            await send(sender)
            assert len(receiver.got) == 1
            assert hook.dropped == 2
        receiver.then = 200
        async with served(address, time) as (coordinator, sender):
            assert coordinator.webhooks.all[hook.hook].stopped
            assert await webhooks.resend(coordinator, hook.hook) == 1
            await asked(coordinator)
            await send(sender)
            assert not coordinator.webhooks.all[hook.hook].stopped
            assert waiting(coordinator, hook.hook) == []
            assert len(receiver.got) == 3

    run(go())


def test_one_who_hangs_does_not_hold_up_the_others(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(couriers, "PATIENCE", 120.0)

    async def go():
        async with served(tmp_path / "log.db", Time()) as (coordinator, sender):
            with Receiver(then=hangs) as slow:
                await webhooks.make(coordinator, slow.url, ["question.opened"], None, None, LOOPBACK)
                await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
                await asked(coordinator, 40)
                sender.look()  # once: whoever is done makes room for the next
                end = clock.monotonic() + 60.0
                while len(receiver.got) < 40 and clock.monotonic() < end:
                    await asyncio.sleep(0.02)
                assert len(receiver.got) == 40
                assert len(slow.got) <= couriers.AT_ONCE

    run(go())


def test_an_end_in_the_middle_of_a_commit_harms_nobody(tmp_path, receiver):
    """The courier waits for the same commit as others do; they still hear of it once it has gone."""

    async def go():
        async with served(tmp_path / "log.db", Time()) as (coordinator, sender):
            await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator)
            write, go_on = coordinator._store.write, threading.Event()
            coordinator._store.write = lambda *given: (go_on.wait(5.0), write(*given))
            sender.look()
            while not coordinator.commits._waits and coordinator.commits.started is None:
                await asyncio.sleep(0.01)
            waiting = asyncio.ensure_future(coordinator.commits.settled())
            await asyncio.sleep(0.05)
            await sender.close()
            go_on.set()
            await waiting

    run(go())


def test_after_its_end_a_courier_sends_nothing(tmp_path, receiver):
    async def go():
        async with served(tmp_path / "log.db", Time()) as (coordinator, sender):
            await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator, 30)
            sender.look()
            while not receiver.got:
                await asyncio.sleep(0.001)
            await sender.close()
            sender.look()  # as somebody does who was done in the same moment
            assert not sender._tasks

    run(go())


def test_after_a_crash_what_was_not_told_is_told(address, receiver):
    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator, 3)
        async with served(address, time) as (coordinator, sender):
            await send(sender)
            assert sorted(each["data"]["round"] for each in receiver.told) == [0, 1, 2]
            await asked(coordinator, 1)
            await send(sender)
        async with served(address, time) as (coordinator, sender):
            await send(sender)

    run(go())
    assert len(receiver.got) == 4


def test_a_webhook_that_is_removed_is_told_nothing(address, receiver):
    async def go():
        time = Time()
        async with served(address, time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator, 2)
            await webhooks.remove(coordinator, hook.hook)
            await asked(coordinator)
            await send(sender)
            assert waiting(coordinator, hook.hook) == []
            with pytest.raises(NotFoundError, match="there is no webhook"):
                await webhooks.remove(coordinator, hook.hook)
        async with served(address, time) as (coordinator, sender):
            assert not coordinator.webhooks.all

    run(go())
    assert receiver.got == []


def test_messages_beyond_the_limit_are_counted_and_not_kept(tmp_path, receiver, monkeypatch):
    monkeypatch.setattr(hooks, "MOST_WAITING", 3)

    async def go():
        async with served(tmp_path / "log.db", Time()) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["question.opened"], None, None, LOOPBACK)
            await asked(coordinator, 5)
            assert (len(waiting(coordinator, hook.hook)), hook.dropped) == (3, 2)
            await send(sender)
            await asked(coordinator)
            assert len(waiting(coordinator, hook.hook)) == 1

    run(go())


@pytest.mark.parametrize(
    ("budget", "spent"), [(Budget(rate=0.5, most=4), 1), (Budget(per=10.0, count=2), 3), (Budget(rate=0.2), 0)]
)
def test_a_budget_that_is_spent_is_told_once(tmp_path, receiver, budget, spent):
    X = np.random.default_rng(3).standard_normal((300, 3))

    async def go():
        time = Time()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            await webhooks.make(coordinator, receiver.url, ["budget.spent"], None, None, LOOPBACK)
            stream = await streams.create(coordinator, "mails", settings(budget=budget))
            for i in range(300 if budget.count is None else 270):
                await instances.play(coordinator, stream, Raw(X[i].tolist()))
                time.now += 0.1
                if i == 150:
                    await coordinator.committed(stream, snapshot=True)
            await send(sender)
            with contextlib.closing(coordinator.reader()) as reader:
                return [facts_of(e) for e in reader.events(stream.number, 0, 1 << 40) if e.kind == "instance"]

    facts = run(go())
    assert len(receiver.told) == spent == sum(fact.spent for fact in facts)
    for told in receiver.told:
        assert facts[told["data"]["round"]].why == "the budget is spent"
        assert facts[told["data"]["round"] - 1].probability > 0.0


def test_an_accuracy_below_the_bound_is_told_once_until_it_is_better(tmp_path, receiver, monkeypatch):
    said = {"value": 0.95, "low": 0.9, "high": 0.99, "why_unknown": ""}

    async def report(coordinator, stream, confidence):
        return {"accuracy": {"recent": said}}

    monkeypatch.setattr(reports, "report", report)

    async def go():
        time = Time()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, receiver.url, ["accuracy.below"], None, 0.9, LOOPBACK)
            alarms, told = Alarms(coordinator), []
            for value, high in (
                (0.95, 0.99),
                (0.85, 0.95),
                (0.8, 0.89),
                (0.7, 0.8),
                (0.85, 0.95),
                (0.91, 0.95),
                (0.8, 0.88),
            ):
                said.update(value=value, high=high)
                await asked(coordinator)
                await alarms.look()
                await send(sender)
                told.append(len(receiver.got))
            assert told == [0, 0, 1, 1, 1, 1, 2]
            assert hook.low == {1}
            await alarms.look()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            await Alarms(coordinator).look()
            await send(sender)
            assert len(receiver.got) == 2
            said.update(value=None, high=None)
            await asked(coordinator)
            await Alarms(coordinator).look()

    run(go())
    data = receiver.told[0]["data"]
    assert (data["stream"], data["bound"], data["recent"]["high"]) == ("mails", 0.9, 0.89)


def test_a_real_fall_of_the_accuracy_is_noticed(tmp_path, receiver):
    X = np.random.default_rng(4).standard_normal((900, 3))

    async def go():
        time = Time()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            await webhooks.make(coordinator, receiver.url, ["accuracy.below"], None, 0.8, LOOPBACK)
            stream = await streams.create(
                coordinator, "mails", settings(algorithm="perceptron", budget=None, grace=0.0)
            )
            alarms = Alarms(coordinator)
            for i, x in enumerate(X):
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                label = "spam" if x[0] > 0 else "ham"
                if i >= 300:
                    label = "spam" if found.prediction == "ham" else "ham"
                await questions.answer(coordinator, stream, found.round, "ann", label)
                time.now += 1.0
                if i == 299:
                    coordinator.tick()
                    await alarms.look()
                    await send(sender)
                    assert receiver.got == []
            coordinator.tick()
            await alarms.look()
            await send(sender)

    run(go())
    (told,) = receiver.told
    assert told["data"]["recent"]["high"] < 0.8


def test_a_switch_is_told(tmp_path, receiver):
    rng = np.random.default_rng(0)

    async def go():
        time = Time()
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            await webhooks.make(coordinator, receiver.url, ["switch.detected"], None, None, LOOPBACK)
            given = settings(
                algorithm="bbq-switch",
                letters={"kappa": 0.7, "L0": 100, "K": 1, "delta": 0.9},
                budget=None,
                grace=0.0,
                raw=True,
            )
            stream = await streams.create(coordinator, "mails", given)
            for i in range(600):
                x = rng.standard_normal(2)
                x /= np.linalg.norm(x)
                found = await instances.play(coordinator, stream, Raw(x.tolist()))
                if found.asked:
                    truth = x[0] if i < 300 else -x[0]
                    await questions.answer(coordinator, stream, found.round, "ann", "spam" if truth > 0 else "ham")
                time.now += 1.0
                coordinator.tick()
            await send(sender)
            return stream.model.sampler.switches

    switches = run(go())
    assert len(switches) > 0
    assert len(receiver.told) == len(switches)


NO_HOSTS = (
    "http://[v1.x]/",
    "http://a..b/",
    "http://.a/",
    f"http://{'a' * 64}.org/",
    "http://xn--a/",
    "http://%41.org/",
)


def test_addresses_that_others_cannot_reach_are_refused():
    for url in (
        "http://127.0.0.1/hook",
        "http://localhost:80/",
        "http://a.localhost/",
        "https://10.1.2.3/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://169.254.169.254/latest/meta-data",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://[fe80::1]/",
        "http://100.64.0.1/",
        "http://2130706433/",
        "http://0x7f.1/",
    ):
        with pytest.raises(InputError, match="not a public address; serve with --webhook-allow"):
            check_url(url)
    for url in (
        "ftp://example.org/",
        "example.org",
        "",
        "http://",
        "http://a b/",
        "http://[::1/",
        "http://x:99999/",
        *NO_HOSTS,
    ):
        with pytest.raises(InputError, match="url must be an address as https"):
            check_url(url)
    for url in ("http://u:p@example.org/", "http://example.org/#a"):
        with pytest.raises(InputError, match="no user, password or fragment"):
            check_url(url)
    check_url("https://example.org:8443/a?b=c")
    check_url("http://10.1.2.3/", networks_of(["10.0.0.0/8"]))
    assert may_reach("8.8.8.8")
    assert not may_reach("192.168.0.1", networks_of(["10.0.0.0/8", "::1"]))
    with pytest.raises(InputError, match="a network as"):
        networks_of(["somewhere"])


@pytest.mark.parametrize("url", [*NO_HOSTS[:2], "http://xn--a/"])
def test_an_address_that_is_none_is_a_failed_attempt(tmp_path, monkeypatch, url):
    """Older versions have taken such addresses."""
    monkeypatch.setattr(webhooks, "check_url", lambda *_: None)

    async def go():
        time = Time(1_800_000_000.0)
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            hook = await webhooks.make(coordinator, url, QUESTIONS, None, None, LOOPBACK)
            await asked(coordinator)
            await send(sender)
            (message,) = waiting(coordinator, hook.hook)
            assert (message.attempts, coordinator.webhooks.failed[hook.hook]) == (1, 1)
            assert message.problem
            assert message.due > time.now

    run(go())


def test_a_name_that_leads_inside_is_not_followed(receiver, monkeypatch):
    """The name is looked up once: what was checked is what is connected to."""
    looked = []

    async def go(allowed):
        loop = asyncio.get_running_loop()

        async def getaddrinfo(host, port, **_):
            looked.append(host)
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

        monkeypatch.setattr(loop, "getaddrinfo", getaddrinfo, raising=False)
        backend = RestrictedBackend(networks_of(allowed))
        stream = await backend.connect_tcp("inside.example.org", receiver.server.server_port, timeout=2.0)
        await stream.aclose()

    with pytest.raises(
        httpcore.ConnectError, match=r"inside.example.org leads to 127.0.0.1, which is not a public address"
    ):
        run(go([]))
    run(go(["127.0.0.1"]))
    assert looked == ["inside.example.org"] * 2


def test_what_cannot_be_meant_is_refused(tmp_path, receiver):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            await asked(coordinator)
            for given, said in (
                ((["nothing"],), "kinds must be some of question.opened"),
                (([],), "kinds must be some of"),
                ((["accuracy.below"],), "go together"),
                ((QUESTIONS, None, 0.9), "go together"),
                ((["accuracy.below"], None, 1.5), "between 0 and 1"),
                ((QUESTIONS, []), "name at least one stream"),
            ):
                with pytest.raises(InputError, match=said):
                    await webhooks.make(coordinator, "https://example.org/", *given)
            with pytest.raises(NotFoundError, match="there is no stream 'none'"):
                await webhooks.make(coordinator, "https://example.org/", QUESTIONS, ["none"])
            assert not coordinator.webhooks.all

    run(go())


def test_over_http_and_by_command_under_kills(tmp_path, receiver):
    """Every question that a client was told of is told to the receiver, though the service is killed in between."""

    def command(*words):
        with ThreadPoolExecutor(1) as alone:  # a browser's tests may have left a loop running in this thread
            done = alone.submit(CliRunner().invoke, main, ["webhook", *map(str, words)]).result()
        return done.stdout, done.stderr

    receiver.answers = [500, hangs_up]
    with Server(tmp_path / "log.db", "--webhook-allow", "127.0.0.0/8") as server:
        with aw.Client(server.url) as client:
            stream = client.create("mails", algorithm="perceptron", grace=0.0)
            refused = command("make", "http://10.0.0.1/", "--kind", "question.opened", "--server", server.url)[1]
            assert "10.0.0.1 is not a public address" in refused
            given = ("make", receiver.url, "--kind", "question.opened", "--server", server.url, "--json")
            made = json.loads(command(*given)[0])
            assert made["secret"].startswith("whsec_")
            opened = set()
            for i in range(24):
                opened.add(stream.ask([float(i), 1.0], id=f"n{i}").round)
                if i in (9, 19):
                    server.kill()
                    server.start()
            client.send("POST", f"/v1/webhooks/{made['webhook']}/test")
            end = clock.monotonic() + 60.0
            while clock.monotonic() < end:
                told = [each for each in receiver.told if each["type"] == "question.opened"]
                (facts,) = client.send("GET", "/v1/webhooks")
                if opened <= {each["data"]["round"] for each in told} and facts["waiting"] == 0:
                    break
                clock.sleep(0.1)
            assert {each["data"]["round"] for each in told} == opened
            assert "test" in {each["type"] for each in receiver.told}
            assert "secret" not in facts
            counts = httpx.get(f"{server.url}/metrics").text
            assert f'askwhen_webhook_waiting_messages{{webhook="{made["webhook"]}"}} 0.0' in counts
            ids = {}
            for headers, body in receiver.got:
                assert ids.setdefault(headers["webhook-id"], body) == body
        server.stop()
    db = ("--db", tmp_path / "log.db")
    assert made["webhook"] in command("list", *db)[0]
    assert "Everything was delivered." in command("dead", made["webhook"], *db)[0]
    assert "0 messages" in command("resend", made["webhook"], *db)[0]
    assert "is on its way" in command("test", made["webhook"], *db)[0]
    assert "is removed." in command("remove", made["webhook"], *db)[0]
    assert "There are no webhooks." in command("list", *db)[0]
