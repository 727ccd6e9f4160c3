"""Results: accuracy, agreement, the model, tables, events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from litestar import Response, get
from litestar.params import Parameter
from litestar.types import ASGIApp

from ....errors import InputError
from ...errors import NotAllowedError
from ...events.kinds import KINDS, PERSONAL
from ...events.numbers import NUMBERS
from ...use_cases import audit, export_tables, export_writers, prodigy, reports
from ...use_cases.advice_columns import AdviceColumns, advice_columns, advisers_of
from ...use_cases.delivered_table import DeliveredTable
from ...use_cases.instance_table import InstanceTable
from ...use_cases.label_studio.annotations import array_of
from ...use_cases.label_studio.tasks import written_tasks
from ...use_cases.predicting import Predictor, predictor_of
from ...use_cases.steady_figures import is_for
from ..authorization import AnyRequest, authorization_of
from ..schemas import Agreement
from ..streaming import Download, EventFeed

Seq = Annotated[int, Parameter(ge=0, le=2**53)]

USUAL = 0.95


@get("/v1/streams/{name:str}/report", summary="Estimate the accuracy")
async def report(
    request: AnyRequest, name: str, confidence: Annotated[float, Parameter(ge=0.5, le=0.999)] = USUAL
) -> dict[str, Any]:
    """Accuracy of all rounds with its interval, from asked labels and their corrections; budget, drift, advisers."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    is_steady = is_for(holder, stream)
    if is_steady and confidence != USUAL:
        raise NotAllowedError(
            f"{holder.name} answers gold questions here, and sees the report at {USUAL:g} confidence; leave it out.",
            owner="report",
        )
    found = await reports.report(auth.coordinator, stream, confidence)
    state = request.app.state
    advisers = await state.history.with_falls(stream, await state.advisers.of(stream, confidence))
    found = found if advisers is None else found | {"advisers": advisers}
    return state.steady.kept(stream, "report", found) if is_steady else found


@get("/v1/streams/{name:str}/agreement", summary="Show the agreement of annotators")
async def agreement(request: AnyRequest, name: str) -> Agreement:
    """Krippendorff's coefficient overall and Cohen's for each pair; counts of annotators, quality of answers."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return Agreement(**await reports.agreement(auth.coordinator, stream))


@get("/v1/streams/{name:str}/model", summary="Download the model")
async def model(request: AnyRequest, name: str) -> Response[bytes]:
    """A snapshot that aw.load reads, and askwhen predict: features and labels are in it."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    await audit.exported(auth.coordinator, stream.number, "model", holder.name)
    return Response(await reports.model(auth.coordinator, stream), media_type="application/octet-stream")


@get("/v1/streams/{name:str}/export", summary="Download a table")
async def export(
    request: AnyRequest,
    name: str,
    table: Literal["delivered", "instances", "labels", "decisions", "predictions"] = "labels",
    format: Literal["csv", "ndjson", "json", "parquet", "prodigy", "label-studio"] = "ndjson",
    after: Seq = 0,
    raw: bool = False,
) -> ASGIApp:
    """Streamed, up to the current end; ``after`` continues after the row with this seq.

    In CSV, texts that a spreadsheet would run as formulas begin with an apostrophe, unless ``raw``.
    As prodigy, labels are annotated tasks with their instances, one for each question; as label-studio, instances are
    tasks with their predictions and annotations. The table of instances has what was shown, its label, and what today's
    model says of it; that of delivered labels has what was shown, the label, and whether people or the model gave it.
    Those of instances, labels and decisions have columns for each adviser, where the stream has any.
    """
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    await auth.coordinator.commits.settled()
    until, unknown, labels = stream.seq, frozenset(stream.state.passed), stream.questions.labels
    if format in (tasks := {"prodigy": "labels", "label-studio": "instances"}) and table != tasks[format]:
        raise InputError.about("export", "format", "csv, ndjson, json or parquet for this table", format)
    is_number = stream.settings.labels == NUMBERS
    settings, is_native, advisers = stream.settings, format in ("json", "ndjson"), advisers_of(stream)
    predictor: Predictor | None = None
    if table == "instances" and format != "label-studio":
        await auth.coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
        with auth.coordinator.changing(stream):
            predictor, until, advisers = predictor_of(stream), stream.seq, advisers_of(stream)
        await auth.coordinator.commits.settled()

    def written(columns: dict[str, type], chunks: Any, advised: Sequence[str] = ()) -> Any:
        if is_number:
            columns, chunks = export_tables.with_numbers(columns, chunks, advised)
        return export_writers.written(format, columns, chunks, raw)

    def make(reader: Any) -> Any:
        if format == "prodigy":
            found = prodigy.tasks(reader, stream.number, stream.settings, labels, after, until)
            return export_writers.written("ndjson", {}, found)
        if format == "label-studio":
            return array_of(written_tasks(reader, stream, until, "label", "text", "text"))
        if table == "delivered":
            delivered = DeliveredTable(settings, is_native)
            chunks = delivered.chunks(reader, stream.number, after, until)
            return written(delivered.columns, chunks)
        advice = AdviceColumns()
        if table != "predictions" and settings.advisers is not None:
            is_open = table == "instances" and settings.advisers == "any"
            advice = advice_columns(reader, stream.number, advisers, until, is_open)
        if predictor is not None:
            instances = InstanceTable(settings, predictor, is_native, advice)
            chunks = instances.chunks(reader, stream.number, after, until)
            return written(instances.columns, chunks, advice.labels)
        columns = export_tables.TABLES[table] | advice.columns
        rows = export_tables.chunks(reader, stream.number, table, after, until, unknown, advice)
        return written(columns, rows, advice.labels)

    await audit.exported(auth.coordinator, stream.number, table, holder.name, format)
    suffix = {"prodigy": "jsonl", "label-studio": "json"}.get(format, format)
    return Download(auth.coordinator, make, export_writers.MEDIA[format], f"{name}-{table}.{suffix}")


@get("/v1/streams/{name:str}/events", summary="Follow the events")
async def events(request: AnyRequest, name: str, after: Seq | None = None, kinds: str | None = None) -> ASGIApp:
    """Server-sent events, with ids from the log: from now on, or after the one given by Last-Event-ID or ``after``.

    Reviewers see everything. Producers do not see what single annotators do, and annotators see nothing, so that their
    answers stay unbiased.
    """
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    if not holder.has("reviewer", "producer"):
        raise NotAllowedError(f"this needs the role reviewer or producer, which {holder.name} lacks.", owner="token")
    may = KINDS if holder.has("reviewer") else [kind for kind in KINDS if kind not in PERSONAL]
    wanted = tuple(kinds.split(",")) if kinds else () if holder.has("reviewer") else tuple(may)
    if not set(wanted) <= set(may):
        raise InputError.about("events", "kinds", f"some of {', '.join(may)}", kinds)
    last = request.headers.get("last-event-id")
    if last is not None and not (last.isascii() and last.isdigit() and len(last) < 17):
        raise InputError.about("events", "Last-Event-ID", "the number of an event", last[:50])
    await auth.coordinator.commits.settled()
    first = int(last) if last is not None else stream.seq if after is None else after
    stays, lost = (lambda: auth.is_still_allowed(request, holder)), (lambda: auth.wait_until_lost(request, holder))
    return EventFeed(auth.coordinator, stream, first, wanted, auth.options.heartbeat, stays, lost)


handlers = [report, agreement, model, export, events]
