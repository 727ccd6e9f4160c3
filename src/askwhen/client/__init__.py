"""``aw.Client`` and ``aw.AsyncClient``: a stream of the service, used like a sampler.

Every instance and every answer carries a key, so that a request whose reply was lost is sent again and done once. The
names are imported when they are first used, because the service imports the errors of this package alone.
"""

from typing import Any

import lazy_loader

from ..system.extras import needs_extra

_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    with needs_extra("service", "a client"):
        return _attribute(name)
