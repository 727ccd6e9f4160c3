"""Addresses of JetStream's streams, as nats://host:4222/STREAM, and a connection that is used without async.

The client is asynchronous; each connection has a thread for its event loop. User names, passwords and tokens of an
address are never printed.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import ssl
import threading
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import nats
import nats.errors
import nats.js.errors

from ...data.files import perhaps
from ...errors import InputError
from ..errors import StoreError

TIMEOUT = 30.0
"""Seconds in which a server must answer."""
_COMMON = ("credentials", "tls_ca")


class NatsAddress:
    """A stream of a server.

    Parameters
    ----------
    address : str
        As nats://host:4222/STREAM?credentials=FILE&tls_ca=FILE.
    own : tuple of str
        Further names that may follow the question mark.
    """

    def __init__(self, address: str, own: tuple[str, ...] = ()) -> None:
        parts = urlsplit(address)
        self.stream = parts.path.strip("/")
        if not parts.netloc or not re.fullmatch(r"[^\s.*>/\\]+", self.stream):
            raise InputError("an address of NATS is nats://host:4222/STREAM.", owner="keyed")
        self.own = dict(parse_qsl(parts.query, keep_blank_values=True))
        for name in self.own:
            if name not in own + _COMMON:
                near = perhaps(name, own + _COMMON)
                raise InputError(f"an address of NATS has no setting {name!r}{near}.", owner="keyed")
        self._servers = [f"nats://{each}" for each in parts.netloc.split(",")]

    def connected(self) -> NatsConnection:
        """A connection."""
        options: dict[str, Any] = {"servers": self._servers}
        try:
            if "credentials" in self.own:
                Path(self.own["credentials"]).read_bytes()  # the client itself would tell later and less
                options["user_credentials"] = self.own["credentials"]
            if "tls_ca" in self.own:
                options["tls"] = ssl.create_default_context(cafile=self.own["tls_ca"])
        except OSError as error:
            raise InputError(f"cannot read {error.filename or 'tls_ca'}: {error.strerror}.", owner="keyed") from error
        return NatsConnection(options)


class NatsConnection:
    """A connection with a thread of its own."""

    def __init__(self, options: dict[str, Any]) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._client: Any = None
        try:
            with self.errors():
                self._client = self.do(_connect(options))
        except BaseException:
            self.close()
            raise
        self.jetstream = self._client.jetstream(timeout=TIMEOUT)

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """The result of asynchronous work."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Raise StoreError for an error of the server in this block."""
        try:
            yield
        except (nats.errors.Error, nats.js.errors.Error, OSError, TimeoutError) as error:
            why = str(error) or f"it has not answered for {TIMEOUT:.0f} seconds"
            raise StoreError(f"NATS cannot be used: {why.rstrip('.')}.", owner="keyed") from None

    def about(self, stream: str, subjects: str | None = None) -> Any:
        """Facts about a stream; one that does not exist is refused."""
        with self.errors():
            try:
                return self.do(self.jetstream.stream_info(stream, subjects_filter=subjects))
            except nats.js.errors.NotFoundError:
                known = [each.config.name for each in self.do(self.jetstream.streams_info())]
        raise InputError(f"the server has no stream {stream}{perhaps(stream, known)}.", owner="keyed")

    def close(self) -> None:
        """Close the connection and end its thread."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                self.do(self._client.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


async def _connect(options: dict[str, Any]) -> Any:
    async def ignore(_error: Exception) -> None:
        """Do nothing: what cannot be done tells so where it is asked for."""

    return await nats.connect(
        **options, error_cb=ignore, connect_timeout=5, allow_reconnect=True, max_reconnect_attempts=5
    )
