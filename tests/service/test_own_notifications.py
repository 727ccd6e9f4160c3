"""What people choose to be told of: of which streams and questions, by real mail, and within which limits."""

import email

from askwhen.cli.commands.webhook import _line
from askwhen.service.domain.webhooks import MOST_OWN
from askwhen.service.http.options import Options
from askwhen.service.use_cases import instances, people, questions, streams, tokens, webhooks
from askwhen.service.use_cases.webhook_delivery.mail import mail_server
from askwhen.service.use_cases.webhook_delivery.queue_alarms import QueueAlarms
from askwhen.service.use_cases.webhooks import Owner, People
from tests.service.coordinators import Time, run, settings
from tests.service.in_process import running
from tests.service.mail import Mailbox
from tests.service.test_notices import at, send, served

HOOK = {"url": "https://hooks.example.org/x", "template": "slack", "kinds": ["questions.waiting"]}


def test_a_person_is_mailed_of_the_questions_that_they_may_answer_at_the_times_that_they_chose(tmp_path):
    time = Time(at("2026-11-19T21:00"))
    terms = People(digest=1.0, quiet="22:00-07:00", zone="Europe/Berlin", oldest=0.5)

    async def go(mailbox):
        mail = mail_server(f"smtp://127.0.0.1:{mailbox.port}", "askwhen@example.org")
        async with served(tmp_path / "log.db", time, mail) as (coordinator, sender):
            await tokens.make(coordinator, "root", ["admin"], None, None)
            _, token = await tokens.make(coordinator, "ann", ["annotator"], None, None)
            for who, roles in (("ann", ["annotator"]), ("rae", ["annotator", "reviewer"])):
                url, owner = f"mailto:{who}@example.org", Owner(who, roles, who == "ann")
                await webhooks.make(coordinator, url, ["questions.waiting"], None, None, (), who, terms, owner)
            made = settings(algorithm="perceptron", budget=None, team=["ann", "bob"])
            stream = await streams.create(coordinator, "mails", made)
            await instances.play_all(coordinator, stream, [instances.Raw([float(i)], str(i)) for i in range(4)])
            await questions.reserve(coordinator, stream, 0, "rae", ["bob"])
            await questions.skip(coordinator, stream, 1, "ann")
            alarms = QueueAlarms(coordinator)
            time.now += 1800.0
            await people.go_away(coordinator, "ann", time.now + 60.0, "ann")
            await alarms.look()  # ann is away, and rae sees all that waits
            time.now += 60.0
            await alarms.look()
            await send(sender)
            assert mailbox.got == []
            time.now = at("2026-11-20T06:59")
            await send(sender)
            assert mailbox.got == []
            time.now = at("2026-11-20T07:00")
            await send(sender)
            said = {to[0]: email.message_from_string(content) for to, content, _ in mailbox.got}
            assert said["rae@example.org"]["Subject"] == "mails: 4 questions wait, the oldest for 30 minutes."
            assert said["ann@example.org"].get_payload().splitlines() == [
                "mails: 2 questions wait, the oldest for 31 minutes.",
                "",
                "ann has chosen this on their own page of askwhen, and can end it there.",
            ]
            own = next(each for each in coordinator.webhooks.all.values() if each.owner == "ann")
            wants = lambda: coordinator.webhooks.wants(own, stream.number, "questions.waiting")  # noqa: E731
            assert wants()
            await streams.change_settings(coordinator, "mails", {"team": ["bob"]}, "root")
            assert not wants()
            await streams.change_settings(coordinator, "mails", {"team": []}, "root")
            assert wants()
            await tokens.revoke(coordinator, token.token, "root")
            assert not wants()
        async with served(tmp_path / "log.db", time, mail) as (coordinator, _):  # and it is so after a restart
            found = {each.owner: each for each in coordinator.webhooks.all.values()}
            assert found["rae"].roles == ["annotator", "reviewer"]
            assert [coordinator.webhooks.wants(found[who], 1, "questions.waiting") for who in ("ann", "rae")] == [
                False,
                True,
            ]

    with Mailbox() as mailbox:
        run(go(mailbox))


def test_each_person_has_their_own_and_a_few(tmp_path):
    async def go():
        async with running(tmp_path / "log.db", Options(mail=None)) as (coordinator, http):
            assert (await http.get("/v1/me/notifications")).status_code == 422  # no one is known by name
            for name, team in (("mails", []), ("other", []), ("theirs", ["bob"])):
                await streams.create(coordinator, name, settings(algorithm="perceptron", team=team))
            secrets = {}
            for name, role, only in (
                ("root", "admin", None),
                ("ann", "annotator", None),
                ("bob", "annotator", ["mails"]),
            ):
                secrets[name], _ = await tokens.make(coordinator, name, [role], only, None)

            async def api(who, method, path="", body=None):
                headers = {"Authorization": f"Bearer {secrets[who]}"}
                return await http.request(method, f"/v1/me/notifications{path}", json=body, headers=headers)

            made = await api("ann", "POST", "", HOOK)
            assert (made.status_code, made.json()["owner"]) == (201, "ann")
            assert "secret" not in made.json()
            number = made.json()["webhook"]
            for who in ("bob", "root"):
                assert (await api(who, "DELETE", f"/{number}")).status_code == 404
                assert (await api(who, "POST", f"/{number}/test")).status_code == 404
            assert [(await api("ann", "POST", f"/{number}/test")).status_code for _ in range(2)] == [200, 429]
            scoped = (await api("bob", "POST", "", HOOK)).json()
            assert scoped["streams"] == ["mails"]
            assert (await api("bob", "POST", "", HOOK | {"streams": ["other"]})).status_code == 403
            assert (await api("ann", "POST", "", HOOK | {"streams": ["theirs"]})).status_code == 404
            for wrong, said in (
                ({"template": ""}, "to mailto: and an address, or to a chat tool"),
                ({"url": "http://127.0.0.1/"}, "private|https|not public|address"),
                ({"url": "mailto:a@example.org", "template": ""}, "no mail server"),
                ({"kinds": ["question.answered"]}, "too many messages"),
                ({"kinds": ["accuracy.below"]}, "bound of the accuracy"),
            ):
                refused = await api("ann", "POST", "", HOOK | wrong)
                assert refused.status_code == 422, refused.text
                assert any(each in refused.json()["detail"] for each in said.split("|"))
            for _ in range(MOST_OWN - 1):
                assert (await api("ann", "POST", "", HOOK)).status_code == 201
            assert (await api("ann", "POST", "", HOOK)).status_code == 409
            listed = (await api("ann", "GET")).json()
            assert (len(listed["notifications"]), listed["mail"]) == (MOST_OWN, False)
            assert (await api("ann", "DELETE", f"/{number}")).status_code == 204
            assert len((await api("ann", "GET")).json()["notifications"]) == MOST_OWN - 1
            seen = await http.get("/v1/webhooks", headers={"Authorization": f"Bearer {secrets['root']}"})
            assert all(_line(each).endswith(f"; made by {each['owner']} for themselves") for each in seen.json())
            assert sorted(each["owner"] for each in seen.json()) == ["ann"] * (MOST_OWN - 1) + ["bob"]

    run(go())
