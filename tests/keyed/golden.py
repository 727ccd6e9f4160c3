"""Makes golden stores: keyed streams after the first half of their log, which later versions must go on with.

``python -m tests.keyed.golden N`` writes tests/golden/keyed-N.tar.gz once, for a release in which a store has another
version; after that the file is never changed.
"""

import gzip
import io
import pathlib
import sys
import tarfile
import tempfile

import askwhen as aw
from tests.keyed.making import make_log

FOLDER = pathlib.Path(__file__).parents[1] / "golden"
KINDS = {
    "perceptron": (lambda seed: aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=seed), False),
    "second-order": (lambda seed: aw.Sampler(aw.Lasec(1.0, 30.0), aw.BudgetRule(0.3), seed=seed), False),
    "dual": (lambda seed: aw.Sampler(aw.Perceptron(kernel=aw.Gaussian(1.0)), aw.FixedRate(0.5), seed=seed), False),
    "default": (lambda seed: aw.Sampler(seed=seed), False),
    "sparse-default": (lambda seed: aw.Sampler(seed=seed), True),
}


def log_of(folder, name):
    """The log of a kind, and the plain loop that played it."""
    make, sparse = KINDS[name]
    few = "default" in name
    played = make_log(folder, make, events=60 if few else 200, keys=1 if few else 10, partitions=1, sparse=sparse)
    return played["part-0"]


def play(log, store, name):
    """Let the worker play what is in a log."""
    make, sparse = KINDS[name]
    return aw.keyed.run(str(log), str(store), make(7), features=5, sparse=sparse)


def main(number):
    with tempfile.TemporaryDirectory() as given:
        folder = pathlib.Path(given)
        for name in KINDS:
            log_of(folder / "log" / name, name)
            file = folder / "log" / name / "part-0.ndjson"
            lines = file.read_text().splitlines(keepends=True)
            file.write_text("".join(lines[: len(lines) // 2]))
            play(file.parent, folder / "stores" / name, name)
        content = io.BytesIO()
        with tarfile.open(fileobj=content, mode="w") as archive:
            for file in sorted((folder / "stores").rglob("*.keyed")):
                archive.add(file, file.relative_to(folder / "stores"))
    (FOLDER / f"keyed-{number}.tar.gz").write_bytes(gzip.compress(content.getvalue(), mtime=0))


if __name__ == "__main__":
    main(int(sys.argv[1]))
