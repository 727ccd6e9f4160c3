"""The versions and the processor that made a snapshot: replaying gives identical bits only on the same ones."""

from __future__ import annotations

import json
import platform
from typing import Any

import numpy as np

import askwhen


def provenance() -> str:
    """Versions and processor of this process, as JSON."""
    import llvmlite.binding  # type: ignore[import-untyped]
    import numba

    return json.dumps(
        {
            "askwhen": askwhen.__version__,
            "python": platform.python_version(),
            "numpy": np.__version__,
            "numba": numba.__version__,
            "machine": platform.machine(),
            "processor": llvmlite.binding.get_host_cpu_name(),
        }
    )


def differences(there: str, here: str) -> list[str]:
    """Differences between two provenances, in words."""
    old, new = json.loads(there), json.loads(here)
    return [
        f"{name} {_version(old, name)} there and {_version(new, name)} here"
        for name in new
        if _version(old, name) != new[name]
    ]


def _version(about: dict[str, Any], name: str) -> Any:
    return about.get(name, "unknown")
