"""``askwhen webhook``: register programs that receive events."""

from __future__ import annotations

from typing import Any

import click

from ...service.domain.webhook_kinds import KINDS
from ..command import Output, command
from ..service_options import client_of
from .serve import DB
from .token import SERVER

HELP = f"Kind of event: {', '.join(KINDS[:-1])} or {KINDS[-1]}; repeatable."


@click.group()
def webhook() -> None:
    """Make, list, test and remove webhooks of the service.

    Use --db while the service is stopped, or --server while it runs.
    """


@command
@click.argument("url")
@click.option("--kind", "kinds", multiple=True, required=True, help=HELP)
@click.option("--stream", "streams", multiple=True, help="Only events of this stream; repeatable.")
@click.option("--accuracy", type=click.FloatRange(0.0, 1.0), help="Threshold of accuracy.below, as in 0.9.")
@click.option(
    "--template", default="", metavar="TOOL", help="Chat tool: slack, mattermost, google-chat, discord, teams."
)
@click.option(
    "--digest", type=click.FloatRange(0.0, 24.0), default=0.0, help="For people: together, every so many hours."
)
@click.option("--quiet-hours", default="", metavar="HOURS", help="For people: not in these hours, such as 22:00-07:00.")
@click.option("--zone", default="", metavar="ZONE", help="Time zone of these hours, such as Europe/Berlin; else UTC.")
@click.option("--oldest", type=click.FloatRange(0.0), help="Hours for which a question has waited: questions.waiting.")
@click.option(
    "--allow",
    multiple=True,
    metavar="NETWORK",
    help="A network that is not public and may be reached nevertheless; with --db.",
)
@DB
@SERVER
def make(
    out: Output,
    url: str,
    kinds: tuple[str, ...],
    streams: tuple[str, ...],
    accuracy: float | None,
    template: str,
    digest: float,
    quiet_hours: str,
    zone: str,
    oldest: float | None,
    allow: tuple[str, ...],
    db: str,
    server: str | None,
) -> None:
    """Register a webhook; the signing secret is shown once.

    \b
    askwhen webhook make https://example.org/hook --kind question.opened --stream mails
    askwhen webhook make https://example.org/hook --kind accuracy.below --accuracy 0.9
    askwhen webhook make mailto:ann@example.org --kind questions.waiting --digest 24 --quiet-hours 18:00-08:00
    """
    from ...service.process.server import run_on_database
    from ...service.use_cases import webhooks
    from ...service.use_cases.webhook_delivery.addresses import networks_of

    chosen = list(streams) or None
    if server is not None:
        given: dict[str, Any] = {"url": url, "kinds": list(kinds), "streams": chosen, "accuracy": accuracy}
        given |= {"template": template, "digest": digest, "quiet": quiet_hours, "zone": zone, "oldest": oldest}
        with client_of(server) as client:
            facts = client.send("POST", "/v1/webhooks", json=given)
    else:
        networks, people = networks_of(allow), webhooks.People(template, digest, quiet_hours, zone, oldest)
        made = run_on_database(
            db, lambda coordinator: webhooks.make(coordinator, url, kinds, chosen, accuracy, networks, people=people)
        )
        facts = {"webhook": made.hook, "url": url, "kinds": sorted(made.kinds), "secret": made.secret}
    out.say(f"Webhook {facts['webhook']}; the secret of its signatures is shown only now:")
    out.result(facts, facts["secret"])


@command
@DB
@SERVER
def listed(out: Output, db: str, server: str | None) -> None:
    """List the webhooks, with their waiting and undelivered messages."""
    from ...service.process.server import run_on_database
    from ...service.use_cases.webhooks import all_facts

    if server is not None:
        with client_of(server) as client:
            facts = client.send("GET", "/v1/webhooks")
    else:
        facts = run_on_database(db, all_facts)
    out.result(facts, *([_line(each) for each in facts] or ["There are no webhooks."]))


def _line(facts: dict[str, Any]) -> str:
    """A webhook in one line."""
    where = "all streams" if facts.get("streams") is None else ", ".join(facts["streams"])
    bound = "" if facts.get("accuracy") is None else f" {facts['accuracy']:g}"
    counts = f"{facts['waiting']:,} waiting, {facts['dead']:,} dead"
    stopped = f"; stopped: {facts['stopped']}" if facts.get("stopped") else ""
    owner = f"; made by {facts['owner']} for themselves" if facts.get("owner") else ""
    return f"{facts['webhook']}  {facts['url']}  {', '.join(facts['kinds'])}{bound}; {where}; {counts}{stopped}{owner}"


def _done(hook: str, what: str, db: str, server: str | None, ids: tuple[str, ...] = ()) -> Any:
    """Do something to a webhook, through the service or in its database."""
    from ...service.process.server import run_on_database
    from ...service.use_cases import webhooks

    if server is not None:
        method, path = ("DELETE", "") if what == "remove" else ("GET" if what == "dead" else "POST", f"/{what}")
        body = {"json": {"ids": list(ids) or None}} if what == "resend" else {}
        with client_of(server) as client:
            found = client.send(method, f"/v1/webhooks/{hook}{path}", **body)
        return found["messages"] if what == "resend" else found
    if what == "dead":
        return [each._asdict() for each in run_on_database(db, lambda coordinator: webhooks.dead(coordinator, hook))]
    if what == "resend":
        return run_on_database(db, lambda coordinator: webhooks.resend(coordinator, hook, list(ids) or None))
    act = webhooks.remove if what == "remove" else webhooks.test
    return run_on_database(db, lambda coordinator: act(coordinator, hook))


@command
@click.argument("number")
@DB
@SERVER
def remove(out: Output, number: str, db: str, server: str | None) -> None:
    """Remove a webhook by its number, which `list` shows."""
    _done(number, "remove", db, server)
    out.result({"removed": number}, f"Webhook {number} is removed.")


@command
@click.argument("number")
@DB
@SERVER
def test(out: Output, number: str, db: str, server: str | None) -> None:
    """Send a test message to a webhook."""
    _done(number, "test", db, server)
    out.result(
        {"tested": number}, f"A test message is on its way to {number}; `list` shows whether it is still waiting."
    )


@command
@click.argument("number")
@DB
@SERVER
def dead(out: Output, number: str, db: str, server: str | None) -> None:
    """List messages that could not be delivered within a day."""
    found = _done(number, "dead", db, server)
    lines = [f"{each['id']}  {each['attempts']} attempts  {each['problem']}" for each in found]
    out.result(found, *(lines or ["Everything was delivered."]))


@command
@click.argument("number")
@click.option("--message", "ids", multiple=True, help="Only the message with this id; repeatable.")
@DB
@SERVER
def resend(out: Output, number: str, ids: tuple[str, ...], db: str, server: str | None) -> None:
    """Send undelivered messages again, for another day."""
    count = _done(number, "resend", db, server, ids)
    out.result({"messages": count}, f"{count:,} messages are on their way again.")


for name, each in (
    ("make", make),
    ("list", listed),
    ("test", test),
    ("dead", dead),
    ("resend", resend),
    ("remove", remove),
):
    each.name = name
    webhook.add_command(each)
