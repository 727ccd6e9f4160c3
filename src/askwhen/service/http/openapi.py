"""The OpenAPI document of the API, and a page of it that loads nothing from other hosts."""

from __future__ import annotations

import html
from typing import Any

from ..domain.setting_changes import CHANGEABLE
from ..use_cases.export_writers import MEDIA
from ..use_cases.instances import Decision, Provisional
from .ndjson import NDJSON

_LINES = "One instance on each line; a decision, or an error with the number of the line, on each line of the answer."
_PROBLEM = {
    "description": "What is wrong, in a sentence and in fields (RFC 9457)",
    "content": {
        "application/problem+json": {
            "schema": {
                "type": "object",
                "required": ["title", "status", "detail"],
                "properties": {
                    "title": {"type": "string"},
                    "status": {"type": "integer"},
                    "detail": {"type": "string"},
                    "owner": {"type": "string"},
                    "parameter": {"type": "string"},
                    "expected": {"type": "string"},
                    "got": {},
                    "request": {"type": "string"},
                },
            }
        }
    },
}
_FILES = {
    "/v1/streams/{name}/model": ["application/octet-stream"],
    "/v1/streams/{name}/export": list(MEDIA.values()),
    "/v1/streams/{name}/events": ["text/event-stream"],
    "/label-studio/{name}/tasks": ["application/json"],
    "/v1/streams/{name}/overview/events": ["text/event-stream"],
    "/metrics": ["text/plain"],
    "/v1/audit": ["application/x-ndjson", "text/csv", "application/json", "application/vnd.apache.parquet"],
}
_REFUSALS = ("400", "401", "403", "404", "409", "413", "422", "429", "503")


def described(document: dict[str, Any], root: str = "") -> dict[str, Any]:
    """Complete the framework's document with what it does not know: refusals, strict bodies, NDJSON, tokens."""
    document["servers"] = [{"url": root or "/"}]
    schemas = document["components"]["schemas"]
    for name, schema in schemas.items():
        if name.startswith(
            (
                "New",
                "StreamPatch",
                "Given",
                "Who",
                "Verdict",
                "Which",
                "Settings",
                "Features",
                "Budget",
                "View",
                "Backlog",
            )
        ):
            schema["additionalProperties"] = False
    document["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
    document["security"] = [{"token": []}]
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if isinstance(operation, dict) and "responses" in operation:
                if path.startswith(("/v1", "/label-studio")):
                    operation["responses"] |= dict.fromkeys(_REFUSALS, _PROBLEM)
                else:
                    operation["responses"]["400"] = _PROBLEM
                    operation["security"] = []
    _describe_instances(document)
    _describe_next(document)
    _describe_changes(schemas)
    for path, media in _FILES.items():
        found: dict[str, Any] = {each.partition(";")[0]: {} for each in media}
        document["paths"][path]["get"]["responses"]["200"] = {"description": "The content", "content": found}
    return document


def _describe_instances(document: dict[str, Any]) -> None:
    raw = {
        "type": "object",
        "required": ["x"],
        "additionalProperties": False,
        "properties": {
            "x": {"description": "Raw input, as the stream's features say"},
            "id": {"type": ["string", "null"], "minLength": 1, "maxLength": 200},
            "priority": {"type": "number"},
            "show": {"description": "What annotators see in addition to it"},
            "subject": {"type": ["string", "null"], "minLength": 1, "maxLength": 200},
            "source": {"type": ["string", "null"], "minLength": 1, "maxLength": 200},
        },
    }
    required = ["round", "prediction", "margin", "probability"]
    fields: dict[str, Any] = {field: {} for field in Decision.__struct_fields__}
    decision: dict[str, Any] = {"type": "object", "required": required, "properties": fields}
    fields = {field: {} for field in Provisional.__struct_fields__}
    provisional = {"type": "object", "required": ["provisional", "place", "prediction"], "properties": fields}
    operation = document["paths"]["/v1/streams/{name}/instances"]["post"]
    operation["requestBody"] = {
        "required": True,
        "content": {"application/json": {"schema": raw}, NDJSON: {"schema": {"type": "string", "description": _LINES}}},
    }
    operation["responses"]["200"] = {
        "description": "What was decided",
        "content": {
            "application/json": {"schema": {"anyOf": [decision, provisional]}},
            NDJSON: {"schema": {"type": "string"}},
        },
    }


def _describe_next(document: dict[str, Any]) -> None:
    operation = document["paths"]["/v1/streams/{name}/questions/next"]["post"]
    operation["responses"]["204"] = {"description": "There is no question now"}


def _describe_changes(schemas: dict[str, Any]) -> None:
    """List the settings of a stream that can be changed."""
    known = schemas["Settings"]["properties"]
    schemas["StreamPatch"]["properties"]["settings"] = {
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {name: known[name] for name in CHANGEABLE},
    }


def page(document: dict[str, Any]) -> str:
    """All operations on one page of plain HTML."""
    lines = []
    for path, operations in sorted(document["paths"].items()):
        for method, operation in operations.items():
            if isinstance(operation, dict) and "responses" in operation:
                summary = html.escape(operation.get("summary") or "")
                more = html.escape(operation.get("description") or "")
                lines.append(
                    f"<tr><td><code>{method.upper()}</code></td><td><code>{html.escape(path)}</code></td>"
                    f"<td><b>{summary}</b><br>{more}</td></tr>"
                )
    return (
        "<!doctype html><html lang=en><meta charset=utf-8><title>askwhen API</title>"
        "<h1>askwhen API</h1><p>The same for programs: <a href=openapi.json>openapi.json</a>.</p>"
        f"<table>{''.join(lines)}</table></html>"
    )
