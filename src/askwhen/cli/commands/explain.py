"""``askwhen explain``: why a round asked, or did not."""

from __future__ import annotations

import math
from typing import Any

import click

import askwhen as aw

from ..command import Output, command
from ..terminal.tables import facts_table


@command
@click.argument("trace", type=click.Path(dir_okay=False))
@click.option("--round", "number", type=click.IntRange(0), required=True, help="The round, counted from 0.")
def explain(out: Output, trace: str, number: int) -> None:
    """Say why a round asked for its label, or did not.

    Shows its margin, the probability of asking, and the random draw that decided.

    TRACE is what `askwhen run --trace` wrote, or `to_parquet` and `to_csv` of a trace in Python.
    """
    from ...trace.files import read_trace

    found, about = read_trace(trace)
    at = number - found.start
    if not 0 <= at < found.rounds:
        last = found.start + found.rounds - 1
        raise aw.InputError(f"{trace} holds rounds {found.start} to {last}, not {number}.", owner="explain")
    facts = {name: values[at : at + 1].tolist()[0] for name, values in found.columns().items() if "drift" not in name}
    facts["sampler"] = about.get("sampler", {})
    facts["several"] = found.several
    if found.pair is not None:
        facts["prediction"] = str(facts["prediction"])
    if found.experts and found.drift_weights.size:
        facts["views"] = views_of(found.experts, found.drift_weights[at])
    facts["why"] = why(facts)
    shown = {name: facts[name] for name in ("round", "margin", "prediction", "probability", "coin")} | facts["sampler"]
    first = f"Why round {number} {'asked' if facts['queried'] else 'did not ask'} for its label:"
    out.result(facts, first, facts["why"], "", facts_table(shown))


def views_of(experts: tuple[str, ...], weights: Any) -> dict[str, float]:
    """The weight of each view of a mixture, the largest first."""
    found: dict[str, float] = {}
    for name, weight in zip(experts, weights.tolist(), strict=True):
        view = name.partition(",")[0]
        found[view] = found.get(view, 0.0) + weight
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def why(facts: dict[str, Any]) -> str:
    """Sentences that explain the decision of a round."""
    p, P, u, asked = (facts[name] for name in ("margin", "probability", "coin", "queried"))
    predicted = facts["prediction"]
    if facts.get("several") and (predicted == "" or predicted != predicted):  # as CSV has it
        predicted = None
    shown = predicted if facts.get("several") or isinstance(predicted, str) else f"{predicted:+g}"
    if facts.get("several") and predicted is None:
        first = f"Round {facts['round']} predicted no class, since no label was known yet."
    elif math.isnan(p):
        first = f"Round {facts['round']} predicted {shown}; its margin was not needed, so not computed."
    elif isinstance(predicted, float):
        first = f"Round {facts['round']} predicted {predicted:.4g}."
    elif facts.get("several"):
        first = f"Round {facts['round']} predicted {shown}: half the gap to the next best class is {p:.4g}."
    else:
        near = "on" if p == 0.0 else "above" if p > 0.0 else "below"
        first = f"Round {facts['round']} predicted {shown}: its margin {p:+.4g} is {near} the boundary."
    if facts.get("views"):
        view, weight = next(iter(facts["views"].items()))
        first += f" The view that decided most was {view!r}, with {weight:.0%} of the weight."
    if math.isnan(P):
        second = f"The random draw was {u:.4f}, and bounds on the margin were enough to decide: it "
        second += "asked." if asked else "did not ask."
    elif P >= 1.0:
        second = "The rule was certain to ask."
    elif P <= 0.0:
        second = "The rule was certain not to ask."
    else:
        than = "below" if asked else "not below"
        second = f"The rule asks here with probability {P:.4f}; the random draw was {u:.4f}, {than} it, so it "
        second += "asked." if asked else "did not ask."
    right = "wrong" if facts["mistaken"] else "right"
    classifies = facts.get("several") or not isinstance(predicted, float)
    third = f"The prediction was {right}" if classifies else "The label came"
    if not asked:
        third = (
            f"The prediction was {right}, which only a simulation knows"
            if third.startswith("The pred")
            else "No label came"
        )
    moved = "and the learner moved" if facts["updated"] else "and the learner stayed as it was"
    switched = "; a switch was declared in this round" if facts["switched"] else ""
    return f"{first} {second} {third}, {moved}{switched}."
