"""The lines of the output log: a decision for each instance, or why an event was refused."""

from __future__ import annotations

from typing import Any

import msgspec

from .errors import damaged

_WRITER, _READER = msgspec.json.Encoder(), msgspec.json.Decoder()


class DecisionLine(msgspec.Struct, gc=False, omit_defaults=True):
    """A decision in a round of a key's sampler, or ``refused`` with the number of the event.

    A question that goes to people includes its ``x``, and a refusal for an output that keeps refused events its
    ``given``, the text of the event.
    """

    key: str
    round: int | None = None
    prediction: Any = None
    margin: float | None = None
    uncertainty: float | None = None
    probability: float | None = None
    query: bool | None = None
    certainty: float | None = None
    id: Any = None
    refused: str | None = None
    event: int | None = None
    x: Any = None
    given: bytes | None = None


def ndjson_of(decisions: list[DecisionLine]) -> bytes:
    """Decisions as NDJSON."""
    return _WRITER.encode_lines(decisions)


def read(content: bytes) -> list[dict[str, Any]]:
    """The decisions of these lines of NDJSON."""
    try:
        return _READER.decode_lines(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise damaged("a decision in the store", error) from error


class PublishedLine(msgspec.Struct, gc=False):
    """The fields of a line of the output log that tell where it goes."""

    key: str
    refused: str | None = None
    event: int | None = None
    given: bytes | None = None


_PUBLISHED = msgspec.json.Decoder(PublishedLine)


def published_lines(lines: list[bytes]) -> list[PublishedLine]:
    """Where lines of decisions go."""
    try:
        return list(map(_PUBLISHED.decode, lines))
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise damaged("a decision in the store", error) from error
