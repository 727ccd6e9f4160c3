"""Signatures by the Standard Webhooks specification, so that receivers check them with any of its libraries."""

from __future__ import annotations

import base64
import hashlib
import hmac
import secrets

PREFIX = "whsec_"


def new_secret() -> str:
    """A secret that a webhook and its receiver share."""
    return PREFIX + base64.b64encode(secrets.token_bytes(32)).decode()


def headers_of(secret: str, id: str, time: float, body: bytes) -> dict[str, str]:
    """The headers that sign a request: its id, which is the same in every attempt, its time, and the signature."""
    moment = str(int(time))
    key = base64.b64decode(secret.removeprefix(PREFIX))
    signed = hmac.new(key, b".".join([id.encode(), moment.encode(), body]), hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": moment,
        "webhook-signature": f"v1,{base64.b64encode(signed).decode()}",
    }
