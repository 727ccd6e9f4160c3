"""The files of the page, read once, and the headers that protect it."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable
from importlib import resources
from typing import NamedTuple

from ....report import style

MEDIA = {
    "js": "text/javascript; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "svg": "image/svg+xml",
}
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
}


class Asset(NamedTuple):
    """A file as it is sent."""

    body: bytes
    packed: bytes
    media: str
    tag: str


def _asset(name: str, body: bytes) -> Asset:
    tag = f'"{hashlib.blake2b(body, digest_size=12).hexdigest()}"'
    return Asset(body, gzip.compress(body, 9, mtime=0), MEDIA[name.rpartition(".")[2]], tag)


def all_assets() -> dict[str, Asset]:
    """Every file of the page by its name; its style begins with that of the reports."""
    files = {
        each.name: each.read_bytes() for each in (resources.files(__package__) / "web").iterdir() if each.is_file()
    }
    files["page.css"] = style.PAGE.encode() + files["page.css"]
    found = {name: _asset(name, body) for name, body in files.items() if name.rpartition(".")[2] in MEDIA}
    found["picture.css"] = _asset("picture.css", style.PICTURE.encode())
    return found


def policy(sources: Iterable[str] = ()) -> str:
    """The content security policy of a page that may load images and sounds from these places."""
    places = " ".join(["'self'", *sources])
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; font-src 'none'; "
        f"img-src {places} blob:; media-src {places}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types askwhen-marker"
    )
