"""Label Studio: its tasks become instances of a stream, and its annotations become labels.

Label Studio calls what predicts for it an ML backend; this is one, as version 1.23 calls it. Read of its requests:

- setup: ``schema``, the labelling config; ``project``, ``hostname``, ``access_token`` and ``extra_params`` are
  ignored.
- predict: ``project`` ("7.1794962918": its number and when it was made), ``label_config``, and of each of ``tasks``
  ``id`` and ``data``; ``params`` with ``context``, ``model_version``, ``force_reload`` and ``try_fetch`` are
  ignored.
- webhook: ``action``, of ``project`` ``id`` and ``label_config``, and ``annotation``, ``annotations`` and ``task``,
  each one or an array.
- train: ``project``, ``label_config`` and in ``annotations`` tasks with theirs, of versions without
  START_TRAINING.

Written: ``model_version``, the name of the stream, and of each task ``result``, ``score`` and ``model_version``. The
score is the certainty of the prediction, or where the algorithm has none, one minus the probability of asking. Results
of instances whose label is wanted have ``meta.text`` "worth asking".
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from typing import Any

from ....errors import AskwhenError, InputError
from ...domain.stream import ServiceStream
from ...events.kinds import Received, facts_of
from ...runtime.coordinator import Coordinator
from .. import instances
from ..answer_kinds import kind_of
from ..instances import Decision, Raw, key_of
from . import label_config
from .annotations import Task, annotation_of, id_of, result_of, task_of
from .inbox import Inbox
from .label_config import Config
from .requests import Exported, Predict, Said, Setup, Sync, Train

WORTH = "worth asking"
MOST_TASKS, PART = 100_000, 500


def source_of(project: str | int) -> str:
    """The source of a project, by its number; requests append the time at which it was made."""
    number = str(project).partition(".")[0]
    if not 0 < len(number) <= 40 or not all(each.isascii() and (each.isalnum() or each in "-_") for each in number):
        raise InputError("project must be the number of a project.", owner="label-studio", parameter="project")
    return f"label-studio:{number}"


def raw_of(stream: ServiceStream, field: str, source: str, task: Task) -> Raw:
    """A task as an instance: depending on the stream's features, one field or several fields of its data."""
    features, data = stream.settings.features, task.data
    if features.kind == "text":
        x: Any = _text(data.get(field), field)
    elif features.names is None and features.kind == "numbers":
        x = data.get(field)
    elif features.kind == "columns":
        x = data
    elif features.kind == "hashed":
        x = {name: value for name, value in data.items() if isinstance(value, (str, int, float, bool))}
    else:
        x = {name: _number(data.get(name)) for name in features.names or []}
        x |= {name: data.get(name) for name in features.text}
    shown = None if features.kind == "text" and data.keys() == {field} else data
    return Raw(x, f"{source}:{task.id}", show=shown)


def _text(value: Any, field: str) -> str:
    """The text of a field; the turns of a dialogue are joined as lines."""
    if isinstance(value, list):
        lines = [each.get("text") if isinstance(each, dict) else each for each in value]
        texts = [each for each in lines if isinstance(each, str)]
        if len(texts) == len(lines):
            return "\n".join(texts)
    if not isinstance(value, str):
        raise InputError(f"{field[:60]!r} of the data must be a text.", owner="instance", parameter="x")
    return value


def _number(value: Any) -> Any:
    """A number, also one that is written as a text, as from a CSV file."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError):
            return float(value)
    return value


def setup(stream: ServiceStream, asked: Setup) -> dict[str, Any]:
    """Accept a project, or refuse it where the stream cannot predict for it."""
    label_config.checked(asked.schema, stream)
    return {"model_version": stream.name}


async def predict(coordinator: Coordinator, stream: ServiceStream, asked: Predict) -> dict[str, Any]:
    """A prediction for each task: of a new one the decision, of a known one the current prediction."""
    _check_length(asked.tasks)
    config, source = label_config.checked(asked.label_config, stream), source_of(asked.project)
    raws: list[Raw | AskwhenError] = []
    for given in asked.tasks:
        try:
            raws.append(raw_of(stream, config.field, source, task_of(given | {"annotations": []})))
        except AskwhenError as error:
            raws.append(error)
    found = await _played(coordinator, stream, raws)
    if any(isinstance(each, Decision) and each.again for each in found):
        await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
    results = [_predicted(stream, config, raw, each) for raw, each in zip(raws, found, strict=True)]
    return {"results": results, "model_version": stream.name}


async def _played(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError]
) -> list[Decision | AskwhenError]:
    """Play instances in order, in parts: Label Studio may send a whole project, and other requests run in between."""
    found: list[Decision | AskwhenError] = []
    for first in range(0, len(raws), PART):
        found += await instances.play_now(coordinator, stream, raws[first : first + PART])
    return found


def _predicted(
    stream: ServiceStream, config: Config, raw: Raw | AskwhenError, decision: Decision | AskwhenError
) -> list[dict[str, Any]]:
    """The prediction for a task; none where it cannot be an instance, or while no label is known."""
    if isinstance(raw, AskwhenError) or isinstance(decision, AskwhenError):
        return []
    label, certainty = decision.prediction, decision.certainty
    if decision.again:
        try:
            guessed, certainty = stream.model.guess(stream.reader.instance(raw.x))
        except AskwhenError:  # its data has changed since
            return []
        label = stream.seen_label(guessed)
    if label is None:
        return []
    question = stream.questions.open.get(decision.round)
    note = WORTH if question is not None and not question.told and not question.is_full else ""
    score = 1.0 - decision.probability if certainty is None else certainty
    result = result_of(label, config.from_name, config.to_name, note)
    return [{"result": result, "score": score, "model_version": stream.name}]


def _check_length(tasks: list[Any]) -> None:
    if len(tasks) > MOST_TASKS:
        raise InputError(f"at most {MOST_TASKS:,} tasks at once, got {len(tasks):,}.", owner="label-studio")


async def webhook(coordinator: Coordinator, inbox: Inbox, stream: ServiceStream, sent: Said) -> dict[str, Any]:
    """Store changes of annotations, which are handled right after; other actions are ignored."""
    if not sent.action.startswith(("ANNOTATION_", "ANNOTATIONS_")):
        return {"received": 0}
    if sent.project is None:
        raise InputError("the webhook must send its payload: annotations and their project.", owner="label-studio")
    source = source_of(sent.project.id)
    annotations = _listed(sent.annotation if sent.annotations is None else sent.annotations)
    if sent.action.endswith("_DELETED"):
        ids = [id_of(each.get("id") if isinstance(each, dict) else each, "annotations") for each in annotations]
        return {"received": await _gone(inbox, stream, source, ids, coordinator.clock.now())}
    config = label_config.checked(sent.project.label_config, stream)
    tasks = {task.id: task for task in (task_of(each | {"annotations": []}) for each in _listed(sent.task))}
    listed = []
    for each in annotations:
        task = tasks.get(str(each.get("task"))) or next(iter(tasks.values()), None)
        if task is None:
            raise InputError("the webhook must have the task of its annotation.", owner="label-studio")
        annotation = annotation_of(each, config.from_name, task.id, config.answer)
        listed.append(task._replace(annotations=[annotation]))
    found = Sync()
    await _receive(coordinator, inbox, stream, source, config.field, listed, found)
    if found.refused:
        raise InputError(found.refused[0], owner="label-studio")
    return {"received": found.new}


def _listed(given: Any) -> list[dict[str, Any]]:
    listed = given if isinstance(given, list) else [] if given is None else [given]
    if not all(isinstance(each, dict) for each in listed):
        raise InputError("annotations and tasks must be objects.", owner="label-studio")
    return listed


async def _gone(inbox: Inbox, stream: ServiceStream, source: str, ids: list[str], now: float) -> int:
    """Record deleted annotations; also unknown ones, since they may arrive late."""
    known = await inbox.known(stream, source, ids)
    facts: list[tuple[int | None, Received]] = []
    for id in dict.fromkeys(ids):
        first = facts_of(known[id]) if id in known else None
        who, instance = ("", 0) if first is None else (first.annotator, first.instance)
        round = known[id].question if id in known else None
        facts.append((round, Received(source, id, now, instance, who, gone=True)))
    return await inbox.receive(stream, facts)


async def train(coordinator: Coordinator, inbox: Inbox, stream: ServiceStream, asked: Train) -> Sync:
    """Store new annotations of a request to train. The model learns continuously, so there is nothing else to do."""
    if not asked.annotations:
        return Sync()
    return await sync(coordinator, inbox, stream, Exported(asked.project, asked.annotations, asked.label_config))


async def sync(coordinator: Coordinator, inbox: Inbox, stream: ServiceStream, given: Exported) -> Sync:
    """Compare tasks with what was received of them, and store what was missed. A repetition changes nothing."""
    _check_length(given.tasks)
    source, field, control = source_of(given.project), given.field, None
    answer = kind_of(stream.settings)
    if given.label_config:
        config = label_config.checked(given.label_config, stream)
        field, control = config.field, config.from_name
    found, tasks = Sync(), []
    for place, each in enumerate(given.tasks):
        found.tasks += 1
        try:
            tasks.append(task_of(each, control, f"task {place + 1}", answer))
        except AskwhenError as error:
            found.refused.append(error.sentence)
    wanted = [task for task in tasks if task.annotations or given.play]
    await _receive(coordinator, inbox, stream, source, field, wanted, found)
    if given.at is not None:
        found.gone = await _missing(coordinator, inbox, stream, source, tasks, given.at)
    return found


async def _missing(
    coordinator: Coordinator, inbox: Inbox, stream: ServiceStream, source: str, tasks: list[Task], at: float
) -> int:
    """Record as deleted what was received of these tasks before and is missing now."""
    await coordinator.commits.settled()
    ids: list[str] = []
    here = {key_of(f"{source}:{task.id}"): {each.id for each in task.annotations} for task in tasks}
    events = await coordinator.events_of_keys(stream.number, list(here)) if here else []
    with coordinator.changing(stream):
        for event in events:
            present = here[event.key or ""]
            for other in stream.current.history(facts_of(event).round):
                fact = facts_of(other)
                if isinstance(fact, Received) and fact.source == source and fact.at < at and not fact.gone:
                    ids += [] if fact.annotation in present else [fact.annotation]
    return await _gone(inbox, stream, source, ids, at)


async def _receive(
    coordinator: Coordinator,
    inbox: Inbox,
    stream: ServiceStream,
    source: str,
    field: str,
    tasks: Iterable[Task],
    found: Sync,
) -> None:
    """Make instances of tasks, and store their annotations."""
    raws: list[Raw | AskwhenError] = []
    listed = list(tasks)
    for task in listed:
        try:
            for each in task.annotations:
                stream.questions.check_label(each.label, "label-studio")
            raws.append(raw_of(stream, field, source, task))
        except AskwhenError as error:
            raws.append(error)
    decisions = await _played(coordinator, stream, raws)
    played = [each for each in decisions if isinstance(each, Decision)]
    keys = [f"i:{each.id}" for each in played]
    events = {event.key: event for event in await coordinator.events_of_keys(stream.number, keys)} if keys else {}
    facts: list[tuple[int | None, Received]] = []
    for task, decision in zip(listed, decisions, strict=True):
        if isinstance(decision, AskwhenError):
            found.refused.append(decision.sentence)
            continue
        found.instances += not decision.again
        instance = events[f"i:{decision.id}"].seq
        for each in task.annotations:
            received = Received(source, each.id, each.at, instance, each.annotator, each.label, each.lead)
            facts.append((decision.round, received))
    found.annotations += len(facts)
    found.new += await inbox.receive(stream, facts)
