"""Has a core loop become slower? Instructions per round, counted by valgrind, against the committed baseline.

    python benchmarks/check.py             compare with baseline.json; exit 1 where a loop takes 5 % more
    python benchmarks/check.py --update    write baseline.json

Instructions do not depend on what else the machine does, nor much on which machine it is: steps are compiled for one
fixed kind of processor (x86-64-v3), by the versions that constraints.txt names. It needs valgrind with its headers and
a C compiler, and takes two or three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
BASELINE = HERE / "baseline.json"
ALLOWED = 0.05
MARKS = """
#include <valgrind/callgrind.h>
void begin(void) { CALLGRIND_ZERO_STATS; CALLGRIND_START_INSTRUMENTATION; CALLGRIND_ZERO_STATS; }
void end(const char *name) { CALLGRIND_DUMP_STATS_AT(name); CALLGRIND_STOP_INSTRUMENTATION; }
"""
SETTINGS = {
    "NUMBA_CPU_NAME": "x86-64-v3",
    "NUMBA_CPU_FEATURES": "",
    "OPENBLAS_NUM_THREADS": "1",
    "OPENBLAS_CORETYPE": "Haswell",
    "PYTHONHASHSEED": "0",
}


def counted() -> dict[str, float]:
    """Instructions per round of every loop."""
    for tool in ("valgrind", "cc"):
        if shutil.which(tool) is None:
            raise SystemExit(f"check: this needs {tool}.")
    loops, environment = [sys.executable, str(HERE / "loops.py")], os.environ | SETTINGS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "marks.c").write_text(MARKS)
        command = ["cc", "-O2", "-shared", "-fPIC", "marks.c", "-o", "marks.so"]
        subprocess.run(command, cwd=folder, check=True)
        print("compiling", file=sys.stderr)
        subprocess.run(loops, env=environment, check=True)
        out = f"--callgrind-out-file={folder / 'counts'}"
        valgrind = ["valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", out]
        subprocess.run([*valgrind, *loops, str(folder / "marks.so")], env=environment, check=True)
        return dict(_dump(path.read_text()) for path in folder.glob("counts.*"))


def committed() -> dict[str, float]:
    """The baseline, or an error that says what is wrong with it."""
    try:
        found = json.loads(BASELINE.read_text())
        if all(isinstance(count, (int, float)) and count > 0 for count in found.values()):
            return {str(name): float(count) for name, count in found.items()}
    except (OSError, ValueError, AttributeError):
        pass
    raise SystemExit(f"check: {BASELINE.name} is missing or cannot be read; --update writes it.")


def _dump(text: str) -> tuple[str, float]:
    """What one dump of callgrind says: the loop, and its instructions per round."""
    named = re.search(r"^desc: Trigger: Client Request: (.*)\|(\d+)$", text, re.MULTILINE)
    total = re.search(r"^(?:totals|summary): (\d+)", text, re.MULTILINE)
    if named is None or total is None:
        raise SystemExit("check: valgrind wrote counts that cannot be read.")
    return named[1], int(total[1]) / int(named[2])


def compared(baseline: dict[str, float], found: dict[str, float]) -> tuple[list[str], bool]:
    """A line for every loop, and whether all of them are within what is allowed."""
    lines, sound = [], True
    for name in sorted(baseline | found):
        before, now = baseline.get(name), found.get(name)
        if before is None or now is None:
            lines.append(f"{name}: {'not counted' if now is None else 'not in the baseline'}")
            sound = False
            continue
        change = now / before - 1.0
        sound = sound and change <= ALLOWED
        word = (
            " SLOWER" if change > ALLOWED else " faster: --update, or a later loss hides" if change < -ALLOWED else ""
        )
        lines.append(f"{name}: {before:,.0f} to {now:,.0f} instructions per round, {change:+.1%}{word}")
    return lines, sound


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help="write the baseline")
    options = parser.parse_args()
    baseline = {} if options.update else committed()
    found = counted()
    if options.update:
        BASELINE.write_text(
            json.dumps({name: round(count, 1) for name, count in sorted(found.items())}, indent=1) + "\n"
        )
        print(f"wrote {BASELINE.name}")
        return
    lines, sound = compared(baseline, found)
    print("\n".join(lines))
    if not sound:
        raise SystemExit("check: a loop takes more than 5 % more instructions, or is not in the baseline.")


if __name__ == "__main__":
    main()
