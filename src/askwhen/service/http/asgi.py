"""Types of ASGI applications. Scopes and messages are ``Any``, since uvicorn and Litestar type them differently."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

Scope: TypeAlias = Any
Message: TypeAlias = Any
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

WHOLE_REPLY = "askwhen.whole_reply"
"""The extension of a server that sends a reply in one piece: a function of its status, its headers and its body."""
