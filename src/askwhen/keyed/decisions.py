"""What comes of an event, as it is written to the output log: a decision, or why the event was refused."""

from __future__ import annotations

from typing import Any

import msgspec

from .errors import damaged

_WRITER, _READER = msgspec.json.Encoder(), msgspec.json.Decoder()


class Decision(msgspec.Struct, gc=False, omit_defaults=True):
    """One line of the output: the round of a key's sampler, or ``refused`` with the number of the event.

    A question that goes to people has its ``x``.
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


def written(decisions: list[Decision]) -> bytes:
    """Lines of NDJSON."""
    return _WRITER.encode_lines(decisions)


def read(content: bytes) -> list[dict[str, Any]]:
    """The decisions of these lines."""
    try:
        return _READER.decode_lines(content)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise damaged("a decision in the store", error) from error
