"""``aw.Client`` and ``aw.AsyncClient``: a stream of the service, used like a sampler.

Every instance and every answer carries a key, so that a request whose reply was lost is sent again and done once.
"""

from ..system.extras import needs_extra

with needs_extra("service", "a client"):
    from .async_ import AsyncClient, AsyncStream
    from .messages import Decision
    from .sync import Client, Stream

__all__ = ["AsyncClient", "AsyncStream", "Client", "Decision", "Stream"]
