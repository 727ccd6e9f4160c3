"""The size of the memory, so that what can never fit is refused before it is tried."""

from __future__ import annotations

import contextlib
import math
import os
from functools import cache
from pathlib import Path

_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


@cache
def memory() -> float:
    """The bytes of memory that this process can ever have: the machine's, or its container's; infinity if unknown."""
    found = [math.inf]
    with contextlib.suppress(AttributeError, OSError, ValueError):  # not on every system
        found.append(float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE"))
    for limit in _LIMITS:
        with contextlib.suppress(OSError, ValueError):  # no such file, or the word "max"
            found.append(float(Path(limit).read_text()))
    return min(size for size in found if size > 0.0)


def readable(size: float) -> str:
    """A number of bytes in MiB or GiB."""
    return f"{size / 2**30:.3g} GiB" if size >= 2**30 else f"{size / 2**20:.3g} MiB"
