"""Compiled steps that the package brings: wheels for a platform have them, so that no first use waits.

Steps are compiled for a level of processors (x86-64-v3: what PCs and servers have had since about 2015), not for the
one that builds the wheel, and described in ``about.json`` beside them. They are used where everything agrees that they
depend on: the sources, Python, numba, LLVM, the operating system and what the processor can do. Elsewhere, and for all
steps that are not among them, steps are compiled as usual. The results have the same bits.
"""

from __future__ import annotations

import json
import platform
import sys
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite  # type: ignore[import-untyped]
import numba
from llvmlite.binding import get_host_cpu_features, get_process_triple  # type: ignore[import-untyped]

from .sources import source_hash

FOLDER = Path(__file__).with_name("carried")
"""The folder of the steps; packages for all platforms have none."""

_X86 = (
    "avx avx2 bmi bmi2 cmov cx16 cx8 f16c fma fxsr lzcnt mmx movbe popcnt sahf sse sse2 sse3 sse4.1 sse4.2 ssse3 xsave"
)
LEVEL, FEATURES = ("x86-64-v3", tuple(_X86.split())) if platform.machine() in ("x86_64", "AMD64") else ("generic", ())
"""A level of processors, and what each of that level can do, as LLVM names it."""


def target() -> dict[str, str]:
    """Settings of numba with which steps are compiled for that level."""
    return {"NUMBA_CPU_NAME": LEVEL, "NUMBA_CPU_FEATURES": ",".join(f"+{each}" for each in FEATURES)}


def about() -> dict[str, Any]:
    """What compiled steps depend on, here and now."""
    package = Path(__file__).parents[1]
    return {
        "sources": source_hash(package),
        "python": sys.implementation.cache_tag,
        "numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "system": get_process_triple(),
    }


def describe(folder: Path) -> None:
    """Write beside compiled steps what they depend on."""
    found = about() | {"level": LEVEL, "features": FEATURES}
    (folder / "about.json").write_text(json.dumps(found, indent=2) + "\n")


@cache
def usable(folder: Path) -> tuple[str, str, str] | None:
    """How numba names the machine that the steps in this folder are for; None where they are not for this one."""
    if numba.config.CPU_NAME is not None or numba.config.CPU_FEATURES is not None:  # type: ignore[attr-defined]
        return None  # the user has chosen what to compile for
    try:
        given = json.loads((folder / "about.json").read_text())
        level, features = given.pop("level"), given.pop("features")
    except (OSError, ValueError, KeyError):
        return None
    able = get_host_cpu_features()
    if given != about() or not all(able.get(each) for each in features):
        return None
    return given["system"], level, ",".join(f"+{each}" for each in features)
