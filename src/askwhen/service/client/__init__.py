"""``aw.Client`` and ``aw.AsyncClient``: a stream of the service, used like a sampler.

Every instance and every answer carries a key, so that a request whose reply was lost is sent again and done once.
"""

from .waiting import Client
from .with_loop import AsyncClient

__all__ = ["AsyncClient", "Client"]
