"""What chat tools take at their incoming webhooks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

EMAIL = "email"


def _escaped(text: str) -> str:
    """For tools in which these signs begin links and mentions."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _teams(text: str) -> dict[str, Any]:
    card = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [{"type": "TextBlock", "text": line, "wrap": True} for line in text.splitlines()],
    }
    return {
        "type": "message",
        "attachments": [{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}],
    }


CHATS: dict[str, Callable[[str], dict[str, Any]]] = {
    "slack": lambda text: {"text": _escaped(text)},
    "mattermost": lambda text: {"text": text.replace("@", "@\u200b")},
    "google-chat": lambda text: {"text": _escaped(text)},
    "discord": lambda text: {"content": text[:2000], "allowed_mentions": {"parse": []}},
    "teams": _teams,
}
TEMPLATES = (EMAIL, *CHATS)
