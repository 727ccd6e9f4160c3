"""The client of the service under its documented path; the code is in :mod:`askwhen.client`."""

from ..client import AsyncClient, AsyncStream, Client, Decision, Stream

__all__ = ["AsyncClient", "AsyncStream", "Client", "Decision", "Stream"]
