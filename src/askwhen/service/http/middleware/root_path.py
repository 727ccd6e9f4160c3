"""A service behind a proxy at a path prefix, which the proxy may or may not strip."""

from __future__ import annotations

import re

from ....errors import InputError
from ..asgi import App, Receive, Scope, Send

_plain = re.compile(r"(/[A-Za-z0-9._~-]+)+").fullmatch


def checked_root(path: str, own: set[str]) -> str:
    """The prefix without a trailing slash; ``own`` are the first parts of the service's own paths."""
    root = path.rstrip("/")
    if root and (_plain(root) is None or {".", ".."} & set(root.split("/"))):
        raise InputError.about("serve", "root-path", "a path such as /askwhen", path)
    if root and root.split("/")[1] in own:
        raise InputError(f"root-path cannot begin as {path} does: the service has pages there.", owner="serve")
    return root


class RootPath:
    """Middleware that strips the prefix, and takes over the scheme that a proxy reports."""

    def __init__(self, app: App, root: str, behind_proxy: bool) -> None:
        self._app, self._root, self._behind_proxy = app, root, behind_proxy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            path, root = scope["path"], self._root
            if root and (path == root or path.startswith(f"{root}/")):
                scope["path"] = path[len(root) :] or "/"
            if self._behind_proxy:
                _take_scheme(scope)
        await self._app(scope, receive, send)


def _take_scheme(scope: Scope) -> None:
    """Take the scheme from the proxy, so that cookies are marked as secure behind TLS."""
    for name, value in scope["headers"]:
        if name == b"x-forwarded-proto" and value.strip().lower() in (b"http", b"https"):
            scope["scheme"] = value.strip().lower().decode()
