"""What made a snapshot: rounds played again give the same bits only where all of this is the same."""

from __future__ import annotations

import json
import platform
from typing import Any

import numpy as np

import askwhen


def provenance() -> str:
    """The versions and the kind of processor, as JSON."""
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
    """What differs between two of them, in words."""
    old, new = json.loads(there), json.loads(here)
    return [
        f"{name} {_said(old, name)} there and {_said(new, name)} here" for name in new if _said(old, name) != new[name]
    ]


def _said(about: dict[str, Any], name: str) -> Any:
    return about.get(name, "unknown")
