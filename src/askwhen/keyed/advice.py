"""What advisers say in an event, as a sampler takes it: JSON has names of labels as texts, and no tuples."""

from __future__ import annotations

from typing import Any

from ..engine.engine import Engine
from ..errors import InputError


def advice_of(engine: Engine, given: dict[str, Any]) -> dict[str, Any]:
    """The advice of an event; refused where the samplers take none."""
    if engine.advisers is None:
        raise InputError("the samplers take no advice; give the sampler advisers=.", owner="keyed")
    labels = engine.classes if engine.classes is not None else engine.pair.labels
    by_text = {str(label): label for label in labels}
    return {name: _statement(said, by_text) for name, said in given.items()}


def _statement(said: Any, labels: dict[str, Any]) -> Any:
    if not isinstance(said, dict):
        return said
    if "label" in said and "label" not in labels and said.keys() <= {"label", "confidence"}:
        return None if said["label"] is None else (said["label"], said.get("confidence"))
    return {labels.get(label, label): share for label, share in said.items()}
