"""Messages for people: sentences, digests, quiet hours, mail by a real SMTP server, chat tools."""

import contextlib
import email
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from click.testing import CliRunner

from askwhen.cli.main import main
from askwhen.errors import InputError
from askwhen.service.domain import notices
from askwhen.service.domain.webhook_kinds import KINDS
from askwhen.service.http.options import Options
from askwhen.service.store import open_store
from askwhen.service.use_cases import instances, questions, streams, tokens, webhooks
from askwhen.service.use_cases.webhook_delivery import mail as mails
from askwhen.service.use_cases.webhook_delivery.chat import CHATS
from askwhen.service.use_cases.webhook_delivery.delivery import WebhookSender
from askwhen.service.use_cases.webhook_delivery.mail import MailServer, mail_server
from askwhen.service.use_cases.webhook_delivery.queue_alarms import QueueAlarms
from askwhen.service.use_cases.webhooks import People
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running
from tests.service.mail import Mailbox, certificate
from tests.service.receiver import Receiver
from tests.service.test_webhooks import LOOPBACK

BERLIN = ZoneInfo("Europe/Berlin")
WAITING = ["questions.waiting", "questions.disputed"]


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


@pytest.mark.parametrize(
    ("now", "digest", "quiet", "due"),
    [
        ("2026-11-19T10:20", 0, "", "2026-11-19T10:20"),
        ("2026-11-19T10:20", 1, "", "2026-11-19T11:00"),
        ("2026-11-19T11:00", 1, "", "2026-11-19T12:00"),
        ("2026-11-19T10:20", 24, "", "2026-11-20T00:00"),
        ("2026-11-19T23:50", 7, "", "2026-11-20T00:00"),
        ("2026-11-19T22:00", 0, "22:00-07:00", "2026-11-20T07:00"),
        ("2026-11-19T06:59", 0, "22:00-07:00", "2026-11-19T07:00"),
        ("2026-11-19T07:00", 0, "22:00-07:00", "2026-11-19T07:00"),
        ("2026-11-19T12:30", 0, "12:00-13:00", "2026-11-19T13:00"),
        ("2026-11-19T10:20", 24, "22:00-07:30", "2026-11-20T07:30"),
        ("2026-10-24T23:00", 0, "22:00-07:00", "2026-10-25T07:00"),
    ],
)
def test_messages_are_due_with_the_next_digest_and_after_quiet_hours(now, digest, quiet, due):
    assert notices.due(at(now), digest, quiet, "Europe/Berlin") == at(due)


@pytest.mark.parametrize(
    ("kind", "data", "said"),
    [
        ("questions.waiting", {"waiting": 12, "oldest": 3.5 * 3600}, "12 questions wait, the oldest for 3 hours."),
        ("questions.waiting", {"waiting": 1, "oldest": 86400.0}, "1 question waits, the oldest for 1 day."),
        ("questions.disputed", {"disputed": 2}, "2 disputed questions wait for a reviewer."),
        (
            "accuracy.below",
            {"bound": 0.9, "recent": {"high": 0.877}},
            "recent accuracy is below 90 %: at most 87.7 %.",
        ),
        ("promise.met", {"errors": 0.05, "delivered": 1200, "people": 80}, "the promise is met (1,200 labels"),
        ("promise.broken", {"errors": 0.05, "delivered": 1, "people": 1}, "does not hold any more"),
        ("switch.detected", {"round": 7}, "found a change at round 7."),
        ("budget.spent", {"round": 7}, "the budget of labels is used up."),
    ],
)
def test_every_kind_for_people_is_a_sentence(kind, data, said):
    assert notices.sentence(kind, {"stream": "mails"} | data).startswith("mails: ")
    assert said in notices.sentence(kind, {"stream": "mails"} | data)


def test_people_get_no_messages_about_single_instances():
    assert set(KINDS) - notices.KINDS == {"question.opened", "question.answered", "label.delivered"}


@contextlib.asynccontextmanager
async def served(address, time, mail=None):
    async with open_coordinator(address, time, crash=True, ticks=False) as coordinator:
        sender = WebhookSender(coordinator, LOOPBACK, mail)
        await sender.start()
        try:
            yield coordinator, sender
        finally:
            await sender.close()


async def send(sender):
    sender.look()
    await sender.idle()


async def asked(coordinator, name="mails"):
    """A stream with a question that waits."""
    stream = await streams.create(coordinator, name, settings(algorithm="perceptron", budget=None, grace=0.0, slots=2))
    await instances.play_all(coordinator, stream, [instances.Raw([1.0], "a")])
    return stream


@pytest.mark.parametrize("kind", ["starttls", "plain"])
def test_questions_that_wait_are_mailed_once_and_together(tmp_path, monkeypatch, kind):
    path, context = certificate(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", path)
    time, db = Time(at("2026-11-19T10:20")), tmp_path / "log.db"
    is_safe = kind == "starttls"
    people = People(digest=1.0, quiet="22:00-07:00", zone="Europe/Berlin", oldest=0.5)

    async def go(mailbox):
        url = f"smtp://ann:s%40cret@127.0.0.1:{mailbox.port}" if is_safe else f"smtp://127.0.0.1:{mailbox.port}"
        mail = mail_server(url, "askwhen@example.org")
        async with served(db, time, mail) as (coordinator, sender):
            await webhooks.make(coordinator, "mailto:rae@example.org", WAITING, people=people)
            stream = await asked(coordinator)
            alarms = QueueAlarms(coordinator)
            await alarms.look()
            assert not coordinator.webhooks.waiting.total()
            time.now += 1800.0
            await alarms.look()
            await alarms.look()
            await asked(coordinator, "more")
            time.now += 1.0
            for who, label in (("ann", "ham"), ("bob", "spam")):
                await questions.answer(coordinator, stream, 0, who, label)
            time.now += 1.0
            coordinator.tick()
            await coordinator.commits.settled()
            await alarms.look()
            await send(sender)
            assert mailbox.got == []
            time.now = at("2026-11-19T11:00")
        async with served(db, time, mail) as (coordinator, sender):  # nothing is lost with the process
            mailbox.answers = ["451 later"]
            await send(sender)
            assert (mailbox.got, coordinator.webhooks.failed.total()) == ([], 1)
            time.now += 10.0
            await send(sender)
            ((to, content, was_safe),) = mailbox.got
            found = email.message_from_string(content)
            assert (to, found["To"], was_safe) == (["rae@example.org"], "rae@example.org", is_safe)
            assert found["Subject"] == "mails: 1 question waits, the oldest for 30 minutes. And 1 more."
            assert found["Message-ID"].endswith("@example.org>")
            assert found.get_payload().splitlines() == [
                "mails: 1 question waits, the oldest for 30 minutes.",
                "mails: 1 disputed question waits for a reviewer.",
            ]
            await QueueAlarms(coordinator).look()
            time.now = at("2026-11-19T21:50")
            await QueueAlarms(coordinator).look()  # the question of the other stream
            time.now = at("2026-11-20T06:59")
            await send(sender)
            assert len(mailbox.got) == 1
            time.now = at("2026-11-20T07:00")
            await send(sender)
            assert "more: 1 question waits, the oldest for 11 hours." in mailbox.got[1][1]
            await send(sender)
            assert len(mailbox.got) == 2

    with Mailbox(context if is_safe else None, "s@cret" if is_safe else None) as mailbox:
        run(go(mailbox))


def test_a_question_is_reported_again_only_after_it_was_answered(tmp_path):
    time = Time()

    async def go():
        async with served(tmp_path / "log.db", time) as (coordinator, _):
            hook = await webhooks.make(coordinator, "https://example.org/", ["questions.waiting"])
            stream = await asked(coordinator)
            alarms = QueueAlarms(coordinator)
            for later, raised in ((3599.0, 0), (1.0, 1), (7200.0, 1)):
                time.now += later
                await alarms.look()
                assert (len(hook.raised), len(await webhooks.stored(coordinator, hook.hook))) == (raised, raised)
            for who in ("ann", "bob"):
                await questions.answer(coordinator, stream, 0, who, "ham")
            await alarms.look()
            assert hook.raised == set()
            await questions.undo(coordinator, stream, 0, "ann")
            await alarms.look()
            assert len(await webhooks.stored(coordinator, hook.hook)) == 2

    run(go())


def test_a_password_never_goes_over_a_network_without_tls(tmp_path, monkeypatch):
    monkeypatch.setattr(mails, "_is_here", lambda host: False)
    with Mailbox() as mailbox:
        server = MailServer("127.0.0.1", mailbox.port, False, "ann", "secret", "askwhen@example.org")
        with pytest.raises(Exception, match="STARTTLS extension not supported"):
            server.send("rae@example.org", "x", ["one"], 5.0)
        assert mailbox.got == []
    _, context = certificate(tmp_path)
    with Mailbox(context) as mailbox:  # a certificate that is not trusted
        server = MailServer("127.0.0.1", mailbox.port, False, "", "", "askwhen@example.org")
        with pytest.raises(Exception, match="certificate verify failed"):
            server.send("rae@example.org", "x", ["one"], 5.0)


@pytest.mark.parametrize("tool", sorted(CHATS))
def test_a_chat_tool_gets_what_it_takes(tmp_path, tool):
    time = Time()

    async def go(receiver):
        async with served(tmp_path / "log.db", time) as (coordinator, sender):
            hook = await webhooks.make(
                coordinator, receiver.url, ["questions.waiting"], allowed=LOOPBACK, people=People(tool, oldest=0.0)
            )
            await asked(coordinator)
            await QueueAlarms(coordinator).look()
            time.now += 1.0
            await webhooks.test(coordinator, hook.hook)
            await send(sender)
            ((headers, body),) = receiver.got
            assert "webhook-signature" not in {name.lower() for name in headers}
            said = json.loads(body)
            text = "mails: 1 question waits, the oldest for less than a minute.\nthis is a test message."
            if tool == "teams":
                card = said["attachments"][0]["content"]
                assert [each["text"] for each in card["body"]] == text.splitlines()
            else:
                assert said["content" if tool == "discord" else "text"] == text

    with Receiver() as receiver:
        run(go(receiver))


def test_texts_cannot_mention_everybody():
    assert CHATS["slack"]("<!channel> & co")["text"] == "&lt;!channel&gt; &amp; co"
    assert CHATS["discord"]("@everyone")["allowed_mentions"] == {"parse": []}
    assert "@all" not in CHATS["mattermost"]("@all")["text"]


@pytest.mark.parametrize(
    ("url", "kinds", "people", "said"),
    [
        ("mailto:x", WAITING, People(), "a mail goes to mailto: and one address"),
        ("mailto:a@b.example,c@d.example", WAITING, People(), "one address"),
        ("mailto:a@b.example?bcc=x", WAITING, People(), "one address"),
        ("mailto:a@b.example\nBcc:x@y.example", WAITING, People(), "one address"),
        ("mailto:a@b.example", ["question.opened"], People(), "question.opened would be too many"),
        ("mailto:a@b.example", WAITING, People("slack"), "go together"),
        ("https://example.org/", WAITING, People("email"), "go together"),
        ("https://example.org/", WAITING, People("pigeon"), "template must be one of email, slack"),
        ("https://example.org/", WAITING, People(digest=1.0), "are for people"),
        ("https://example.org/", WAITING, People("slack", digest=25.0), "digest must be"),
        ("https://example.org/", WAITING, People("slack", quiet="22-7"), "quiet must be"),
        ("https://example.org/", WAITING, People("slack", quiet="07:00-07:00"), "quiet must be"),
        ("https://example.org/", WAITING, People("slack", zone="Europe/Nowhere"), "zone must be"),
        ("https://example.org/", WAITING, People("slack", zone="../x"), "zone must be"),
        ("https://example.org/", ["budget.spent"], People("slack", oldest=1.0), "belongs to questions.waiting"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_a_sentence(tmp_path, url, kinds, people, said):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            with pytest.raises(InputError, match=said):
                await webhooks.make(coordinator, url, kinds, people=people)
            assert coordinator.webhooks.all == {}

    run(go())


@pytest.mark.parametrize(
    ("url", "sender", "said"),
    [
        ("mail.example.org", "a@b.example", "smtp must be an address"),
        ("smtp://mail.example.org:x", "a@b.example", "smtp must be an address"),
        ("smtp://mail.example.org", "", "smtp-from must be"),
        ("smtp://mail.example.org", "A <a@b.example>", "smtp-from must be"),
        ("", "a@b.example", "smtp-from needs smtp"),
    ],
)
def test_options_of_mail_that_cannot_work_are_refused(url, sender, said):
    with pytest.raises(InputError, match=said):
        mail_server(url, sender)
    assert mail_server("", "") is None
    assert mail_server("smtps://mail.example.org", "a@b.example").port == 465


def test_admins_make_notices_by_the_api_where_there_is_a_mail_server(tmp_path):
    given = {"url": "mailto:a@b.example", "kinds": WAITING, "digest": 24.0, "quiet": "20:00-08:00", "oldest": 2.0}

    async def go(options, status):
        async with running(tmp_path / f"{status}.db", options) as (coordinator, http):
            headers = {"Authorization": f"Bearer {(await tokens.make(coordinator, 'root', ['admin'], None, None))[0]}"}
            made = await http.post("/v1/webhooks", json=given, headers=headers)
            assert made.status_code == status, made.text
            if status == 201:
                found = (await http.get("/v1/webhooks", headers=headers)).json()[0]
                assert {name: found[name] for name in given} == given | {"kinds": sorted(WAITING)}
                assert found["template"] == "email"

    run(go(Options(), 422))
    run(go(Options(mail=MailServer("127.0.0.1", 1, False, "", "", "x@y.example")), 201))


def test_the_command_makes_them(tmp_path):
    words = ["mailto:a@b.example", "--kind", WAITING[0], "--digest", "24", "--quiet-hours", "18:00-08:00"]
    words += ["--zone", "Europe/Berlin", "--oldest", "3", "--db", str(tmp_path / "log.db"), "--json"]
    open_store(str(tmp_path / "log.db")).close()
    with ThreadPoolExecutor(1) as alone:  # a browser of other tests may have a loop in this thread
        made = alone.submit(CliRunner().invoke, main, ["webhook", "make", *words]).result()
        assert made.exit_code == 0, made.output
        words = ["webhook", "list", "--db", str(tmp_path / "log.db"), "--json"]
        listed = alone.submit(CliRunner().invoke, main, words).result()
    (found,) = json.loads(listed.stdout)
    expected = {"digest": 24.0, "quiet": "18:00-08:00", "zone": "Europe/Berlin", "oldest": 3.0, "template": "email"}
    assert {name: found[name] for name in expected} == expected
