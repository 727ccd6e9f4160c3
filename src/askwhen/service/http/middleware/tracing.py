"""OpenTelemetry spans (an extra): one for each request, named after its route, without contents."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from typing import Any

import askwhen

from ....system.extras import missing_extra

_VARIABLES = ("OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
PATIENCE = 2.0
"""Seconds that the export of the last spans may take."""

log = logging.getLogger("askwhen.service")


class Span:
    """The span of one request."""

    def __init__(self, span: Any, before: Any) -> None:
        self._span, self._before = span, before

    def end(self, scope: Any, status: int) -> None:
        """Record the result of the request, and end the span."""
        from opentelemetry import context
        from opentelemetry.trace import Status, StatusCode

        route = scope.get("path_template")
        if route:
            self._span.update_name(f"{scope['method']} {route}")
            self._span.set_attribute("http.route", route)
        if status:
            self._span.set_attribute("http.response.status_code", status)
        if status >= 500:
            self._span.set_status(Status(StatusCode.ERROR))
        context.detach(self._before)
        self._span.end()


class Spans:
    """Makes spans.

    Parameters
    ----------
    provider : opentelemetry.trace.TracerProvider
        Exports the spans; it is shut down at the end.
    """

    def __init__(self, provider: Any) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("askwhen", askwhen.__version__)

    def begin(self, scope: Any, request: str) -> Span:
        """Start the span of a request; the client's span, if it sent one, is the parent."""
        from opentelemetry import context, propagate, trace

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        attributes = {
            "http.request.method": scope["method"],
            "url.scheme": scope.get("scheme", "http"),
            "askwhen.request_id": request,
        }
        span = self._tracer.start_span(
            scope["method"], propagate.extract(headers), kind=trace.SpanKind.SERVER, attributes=attributes
        )
        return Span(span, context.attach(trace.set_span_in_context(span)))

    async def close(self) -> None:
        """Export the last spans, with a time limit."""
        ending = threading.Thread(target=self._provider.shutdown, name="spans", daemon=True)
        ending.start()
        await asyncio.to_thread(ending.join, PATIENCE)


def spans(wanted: bool) -> Spans | None:
    """The exporter of spans, where the option or the variables of OpenTelemetry ask for it."""
    configured = any(os.environ.get(name) not in (None, "", "none") for name in _VARIABLES)
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or not (wanted or configured):
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        missing = missing_extra(error, "otel", "the export of spans", "serve")
        if wanted:
            raise missing from error
        log.warning("no spans", extra={"facts": {"said": missing.sentence}})
        return None
    named = {} if "OTEL_SERVICE_NAME" in os.environ else {"service.name": "askwhen"}
    provider = TracerProvider(resource=Resource.create(named | {"service.version": askwhen.__version__}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return Spans(provider)
