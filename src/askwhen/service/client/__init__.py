"""``aw.Client`` and ``aw.AsyncClient``: a stream of the service, used like a sampler.

Every instance and every answer carries a key, so that a request whose reply was lost is sent again and done once.
"""

try:
    from .messages import Decision
    from .waiting import Client, Stream
    from .with_loop import AsyncClient, AsyncStream
except ImportError as error:
    raise ImportError(f"A client needs {error.name}: pip install 'askwhen[service]'.", name=error.name) from error

__all__ = ["AsyncClient", "AsyncStream", "Client", "Decision", "Stream"]
