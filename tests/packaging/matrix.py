"""Install the wheel with every extra into clean environments of every Python at hand, and try it, with the network.

python tests/packaging/matrix.py [PYTHON ...]        by default python3.11 to python3.14, those that there are
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
SMOKE = pathlib.Path(__file__).with_name("smoke.py")
EXTRAS = [
    "",
    "sklearn",
    "data",
    "river",
    "text",
    "service",
    "otel",
    "keyed",
    "kafka",
    "nats",
    "cluster",
    "benchmarks",
    "all",
]
UV = shutil.which("uv")


def runs(python):
    """Whether this Python is there; a shim may be there without one behind it."""
    return shutil.which(python) and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0


def installed(python, line, folder):
    """The Python of a new environment with this line installed."""
    own = str(folder / "bin" / "python")
    if UV:
        subprocess.run([UV, "venv", "--quiet", "--python", python, folder], check=True)
        subprocess.run([UV, "pip", "install", "--quiet", "--python", own, line], check=True)
    else:
        subprocess.run([python, "-m", "venv", folder], check=True)
        subprocess.run([own, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", line], check=True)
    return own


def main():
    named = sys.argv[1:] or [python for minor in range(11, 15) if runs(python := f"python3.{minor}")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
        wheel, sdist = next(folder.glob("*.whl")), next(folder.glob("*.tar.gz"))
        lines = [(extra, f"askwhen[{extra}] @ {wheel.as_uri()}" if extra else str(wheel)) for extra in EXTRAS]
        for python in named:
            for extra, line in [*lines, ("", str(sdist))]:
                started, where = time.monotonic(), folder / "environment"
                own = installed(python, line, where)
                subprocess.run(
                    [own, "-I", SMOKE, "bare", *filter(None, [extra])], check=True, stdout=subprocess.DEVNULL
                )
                shutil.rmtree(where)
                what = f"{pathlib.Path(line.split(' @ ')[-1]).name} [{extra}]"
                print(f"{python}: {what} works, {time.monotonic() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
