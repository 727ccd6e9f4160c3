"""Results of working with a service, as tables for a terminal."""

from __future__ import annotations

from typing import Any

from .summary import in_percent
from .tables import facts_table


def session_table(facts: dict[str, Any]) -> Any:
    """The result of labelling for a service."""
    given = {**facts["labels"], "unsure": facts["unsure"], "skipped": facts["skipped"]}
    if not facts["labels"]:  # numbers
        given = {"given": facts["answered"] - facts["unsure"]} | given
    shown = {
        "stream": facts["stream"],
        "answers": ", ".join(f"{count:,} {name}" for name, count in given.items() if count) or "none",
        "not taken": f"{len(facts['not_taken']):,}",
        "not sent yet": f"{facts['unsent']:,}",
    }
    return facts_table(shown)


def sent_table(facts: dict[str, Any]) -> Any:
    """The result of sending a file to a service."""
    shown = {
        "stream": facts["stream"],
        "instances": f"{facts['instances']:,}" + (f", {facts['again']:,} sent before" if facts["again"] else ""),
        **({"waiting": f"{facts['waiting']:,} in the backlog"} if facts["waiting"] else {}),
        "questions": f"{facts['questions']:,}",
        "predicted": ", ".join(f"{count:,} {name}" for name, count in facts["predicted"].items()) or "nothing",
    }
    if facts["answer"]:
        other = f", {facts['not_taken']:,} otherwise already" if facts["not_taken"] else ""
        shown["answered"] = f"{facts['answered']:,}{other}"
    if facts["accuracy"] is not None:
        shown["accuracy"] = f"{in_percent(facts['accuracy'])} of {facts['labelled']:,} with a label in the file"
    if facts["refused"]:
        shown["refused"] = f"{facts['refused']:,}"
    return facts_table(shown)
