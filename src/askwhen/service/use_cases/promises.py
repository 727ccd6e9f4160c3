"""How the promise of a stream stands: the certificate in a sentence, what waits, and what to do next."""

from __future__ import annotations

import math
from typing import Any

from ..domain.stream import ServiceStream


def facts(stream: ServiceStream) -> dict[str, Any] | None:
    """The promise of a stream as it stands; None where it has none."""
    if not stream.model.has_promise:
        return None
    promise, stored = stream.model.sampler.promise, stream.questions.stored
    certificate, open = promise.certificate, len(stream.questions.open) - stream.questions.open_gold
    found = {
        "errors": promise.error,
        "confidence": promise.confidence,
        "instances": stream.instances,
        "delivered": certificate.delivered,
        "people": certificate.asked,
        "asked": stored.asked,
        "waiting": stream.questions.waiting,
        "dropped": stream.instances - len(stream.backlog) - certificate.delivered - open,
        "undecided": len(stream.backlog),
        "certified": certificate.certified if certificate.delivered else None,
        "estimated": promise.estimated,
        "met": promise.is_met,
        "needed": promise.needed,
        "spent": stream.is_promise_spent(),
    }
    return found | {"sentence": sentence(found), "advice": advice(found)}


def sentence(found: dict[str, Any]) -> str:
    """The certificate, for the person who answers for the labels."""
    sure = f"({100 * found['confidence']:.4g} % confidence)"
    if not found["delivered"]:
        return f"No label is delivered yet; at most {100 * found['errors']:.3g} % of them will be wrong {sure}."
    labels = (
        f"{found['delivered']:,} label{'' if found['delivered'] == 1 else 's'} delivered, {found['people']:,} by people"
    )
    share = math.ceil(1000 * found["certified"] - 1e-9) / 10
    wrong = f"none of them is wrong {sure}" if share == 0.0 else f"at most {share:.1f} % of them are wrong {sure}"
    more = "" if found["met"] else f", which is more than the {100 * found['errors']:.3g} % promised"
    return f"{labels}; {wrong}{more}."


def advice(found: dict[str, Any]) -> str:
    """What waits, and what to do about it; what matters most comes first."""
    parts = []
    if not found["met"]:
        parts.append(f"About {_number(found['needed'], 'more label')} by people would meet the promise again.")
    if found["spent"] and found["undecided"]:
        wait = _number(found["undecided"], "instance")
        parts.append(f"The budget is spent, and {wait} can have no label within the promise: allow more questions.")
    elif found["undecided"]:
        wait = "waits" if found["undecided"] == 1 else "wait"
        parts.append(
            f"{_number(found['undecided'], 'instance')} {wait} in the backlog, and are decided as people answer."
        )
    if found["waiting"]:
        parts.append(
            f"{_number(found['waiting'], 'question')} {'waits' if found['waiting'] == 1 else 'wait'} for an answer."
        )
    if found["dropped"]:
        has = "has" if found["dropped"] == 1 else "have"
        parts.append(f"{_number(found['dropped'], 'instance')} {has} no label, since people gave none.")
    if found["delivered"] and found["delivered"] == found["instances"]:
        parts.append("Everything that came is delivered.")
    return " ".join(parts)


def _number(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"
