from .async_ import AsyncClient, AsyncStream
from .messages import Decision
from .sync import Client, Stream

__all__ = ["AsyncClient", "AsyncStream", "Client", "Decision", "Stream"]
