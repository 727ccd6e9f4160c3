"""Install the wheel with every extra into clean environments of every Python at hand, and try it, with the network.

For each Python a wheel for this platform is made too, in dist/, which carries compiled steps; with it the first
`askwhen run` of a small file must compile nothing.

python tests/packaging/matrix.py [PYTHON ...]        by default python3.11 to python3.14, those that there are
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).parents[2]
SMOKE = pathlib.Path(__file__).with_name("smoke.py")
CARRYING = pathlib.Path(__file__).with_name("carrying.py")
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


def for_this_platform(python, wheel, folder):
    """The wheel for this Python and platform, with the steps that the other wheel compiles in an environment."""
    own = installed(python, f"askwhen[text] @ {wheel.as_uri()}", folder / "compiling")
    made = subprocess.run([own, "-I", CARRYING, wheel], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    shutil.rmtree(folder / "compiling")
    return pathlib.Path(made)


def first_run(own, folder):
    """Seconds that the first run of a small file takes after an installation; nothing may be compiled."""
    folder.mkdir()
    rows = "".join(f"{i % 7},{i % 3},{int(i % 7 > 3)}\n" for i in range(200))
    (folder / "rows.csv").write_text("a,b,label\n" + rows)
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    command = [own, "-I", "-m", "askwhen", "run", "rows.csv", "--label", "label", "--quiet"]
    started = time.monotonic()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds = time.monotonic() - started
    stored = [path.name for path in (folder / "cache").rglob("*.nbc")]
    assert not stored, f"these were compiled: {stored}"
    return seconds


def main():
    named = sys.argv[1:] or [python for minor in range(11, 15) if runs(python := f"python3.{minor}")]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        subprocess.run([sys.executable, "-m", "build", "--outdir", folder, ROOT], check=True, stdout=subprocess.DEVNULL)
        wheel, sdist = next(folder.glob("*-none-any.whl")), next(folder.glob("*.tar.gz"))
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
            found = for_this_platform(python, wheel, folder)
            own = installed(python, str(found), folder / "environment")
            print(f"{python}: {found.name}, a first run takes {first_run(own, folder / 'first'):.1f} s", flush=True)
            (ROOT / "dist").mkdir(exist_ok=True)
            shutil.copy(found, ROOT / "dist")
            found.unlink()
            for each in ("environment", "first"):
                shutil.rmtree(folder / each)


if __name__ == "__main__":
    main()
