"""Compiled steps in a wheel for one Python and platform, so that a first use after ``pip install`` compiles nothing.

python carrying.py WHEEL       in an environment that has this wheel: makes that for its platform, and prints its name
"""

import base64
import hashlib
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

import numpy as np

COMMAND = [sys.executable, "-m", "askwhen"]
CALLS = """
import numpy as np, askwhen as aw
X = np.random.default_rng(0).standard_normal((300, 5))
y = np.where(X[:, 0] > 0, 1, -1)
kinds = np.array(["a", "b", "c"])[np.clip(X[:, 1] + 1.5, 0, 2).astype(int)]
aw.warm()
aw.warm(aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0)))
several = aw.Sampler(classes=["a", "b", "c"], seed=1)
for x, kind in zip(X[:50], kinds[:50]):
    ask = several.ask(x)
    if ask.query:
        several.tell(ask, kind)
aw.Sampler(classes=["a", "b", "c"], seed=1).run(X, kinds)
aw.evaluate.accuracy(several)
"""


def rows(folder):
    """Small files as people have them: numbers, and numbers with words."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)).round(3)
    words = np.array(["cheap offer now", "see you at lunch", "the minutes of the meeting"])[rng.integers(3, size=400)]
    numbers = [f"{a},{b},{c},{d},{int(a + b > 0)}" for a, b, c, d in X]
    (folder / "numbers.csv").write_text("\n".join(["a,b,c,d,label", *numbers]) + "\n")
    mixed = [f"{a},{w},{'spam' if 'offer' in w else 'ham'}" for (a, *_), w in zip(X, words, strict=True)]
    (folder / "mixed.csv").write_text("\n".join(["a,text,label", *mixed]) + "\n")


def compiled(folder):
    """Play what people play first, for processors of a level, and keep what was compiled for it."""
    from askwhen.compiled import carried

    with tempfile.TemporaryDirectory() as name:
        here = pathlib.Path(name)
        rows(here)
        environment = os.environ | carried.target() | {"NUMBA_CACHE_DIR": str(here / "cache")}
        run = [*COMMAND, "run", "--label", "label", "--quiet"]
        for command in (
            [sys.executable, "-c", CALLS],
            [*run, "numbers.csv"],
            [*run, "mixed.csv", "--positive", "spam"],
            [*COMMAND, "demo"],
        ):
            subprocess.run(command, cwd=here, env=environment, check=True, stdout=subprocess.DEVNULL)
        (steps,) = (here / "cache" / "askwhen").iterdir()
        shutil.copytree(steps, folder)
    carried.describe(folder)


def tag():
    """This Python and platform; compiled steps call nothing of the C library that is newer than in manylinux2014."""
    found = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    if sys.platform == "linux" and platform.libc_ver()[0] == "glibc":
        found = f"manylinux_2_17_{platform.machine()}"
    return f"{sys.implementation.cache_tag.replace('cpython-', 'cp')}-none-{found}"


def carrying(wheel, steps, tag):
    """A wheel beside this one that also has these steps, for this Python and platform."""
    made = wheel.with_name(wheel.name.replace("py3-none-any", tag))
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as new:
        record = next(name for name in old.namelist() if name.endswith(".dist-info/RECORD"))
        contents = {name: old.read(name) for name in old.namelist() if name != record}
        about = record.replace("RECORD", "WHEEL")
        text = contents[about].decode()
        assert "Root-Is-Purelib: true" in text
        assert "Tag: py3-none-any" in text
        contents[about] = text.replace("Purelib: true", "Purelib: false").replace("py3-none-any", tag).encode()
        for path in sorted(each for each in steps.rglob("*") if each.is_file()):
            contents[f"askwhen/compiled/carried/{path.relative_to(steps).as_posix()}"] = path.read_bytes()
        for name, content in contents.items():
            new.writestr(name, content)
        new.writestr(record, "".join(map(_line, contents.items())) + f"{record},,\n")
    return made


def _line(item):
    """A line of RECORD."""
    name, content = item
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        steps = pathlib.Path(name) / "steps"
        compiled(steps)
        print(carrying(pathlib.Path(sys.argv[1]), steps, tag()))
