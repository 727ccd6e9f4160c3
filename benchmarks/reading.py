"""From files to results: svmlight against scikit-learn, Parquet against its reader, text to SEL-P against VW.

    python benchmarks/reading.py [megabytes]

Every contest is run in turns, best of several; the last column is the ratio. Vowpal Wabbit comes with
``pip install 'askwhen[peers]'`` and is left out with a line otherwise.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw
from workloads import best

TURNS = 5


def show(what: str, size: float, times: dict[str, float]) -> None:
    ours, *others = times.items()
    print(f"\n{what} ({size:.0f} MB)")
    print(f"  {ours[0]:38} {ours[1]:7.3f} s {size / ours[1]:8.0f} MB/s")
    for name, seconds in others:
        ratio = f"askwhen is {seconds / ours[1]:.2f} times as fast"
        print(f"  {name:38} {seconds:7.3f} s {size / seconds:8.0f} MB/s   {ratio}")


def write(folder: Path, megabytes: int) -> tuple[Path, Path, Path]:
    """The same instances as svmlight, as Vowpal Wabbit's text, and as Parquet."""
    from pyarrow import parquet, table

    X, y = aw.data.zipf_text(n=5000, seed=1)
    lines, others = [], []
    for i in range(5000):
        row = X[i]
        pairs = " ".join(f"{j + 1}:{v:.6f}" for j, v in zip(row.indices.tolist(), row.data.tolist(), strict=True))
        lines.append(f"{y[i]:+.0f} {pairs}\n")
        others.append(f"{y[i]:.0f} |f {pairs}\n")
    svm, vw, columns = folder / "text.svm", folder / "text.vw", folder / "dense.parquet"
    times = max(1, round(megabytes * 1e6 / len("".join(lines))))
    svm.write_text("".join(lines) * times)
    vw.write_text("".join(others) * times)
    dense = np.random.default_rng(0).standard_normal((int(megabytes * 1e6 / 8 / 50), 50))
    found: dict[str, Any] = {f"f{j}": dense[:, j] for j in range(50)}
    parquet.write_table(table(found | {"y": np.where(dense[:, 0] > 0, 1, -1)}), columns)
    return svm, vw, columns


def main() -> None:
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    with tempfile.TemporaryDirectory() as name:
        svm, vw, columns = write(Path(name), megabytes)
        print("files written; compiling", file=sys.stderr)
        size = svm.stat().st_size / 1e6
        read_svmlight(svm, size)
        read_parquet(columns)
        text_to_result(svm, vw, size)


def drain(stream: Any) -> int:
    return sum(X.shape[0] for X, _ in stream)


def read_svmlight(svm: Path, size: float) -> None:
    from sklearn.datasets import load_svmlight_file

    calls: dict[str, Callable[[], Any]] = {
        "askwhen, chunk by chunk": lambda: drain(aw.data.read(svm, n_features=47_236)),
        "scikit-learn load_svmlight_file": lambda: load_svmlight_file(str(svm), n_features=47_236),
    }
    show("svmlight", size, best(calls, TURNS))


def read_parquet(columns: Path) -> None:
    from pyarrow import parquet

    def plain() -> None:
        with parquet.ParquetFile(columns) as file:
            for batch in file.iter_batches(65_536):
                np.column_stack([column.to_numpy() for column in batch.columns])

    calls: dict[str, Callable[[], Any]] = {
        "askwhen, chunk by chunk": lambda: drain(aw.data.read(columns)),
        "pyarrow to one array": plain,
    }
    show("Parquet, 50 columns", columns.stat().st_size / 1e6, best(calls, TURNS))


def text_to_result(svm: Path, vw: Path, size: float) -> None:
    def ours() -> None:
        sampler = aw.paper("SEL-P", b=0.1, seed=1)
        for X, y in aw.data.read(svm, n_features=47_236):
            sampler.run(X, y, trace=False)

    ours()
    runners: dict[str, Callable[[], Any]] = {"askwhen, svmlight to SEL-P": ours}
    try:
        from vowpalwabbit import pyvw
    except ImportError:
        print("\nVowpal Wabbit is not installed, and left out.")
    else:

        def theirs() -> None:
            model = pyvw.Workspace(f"--quiet -b 18 --loss_function logistic --active --simulation -d {vw}")
            model.finish()

        runners["Vowpal Wabbit, --active --simulation"] = theirs
    show("from text to a result", size, best(runners, TURNS))


if __name__ == "__main__":
    main()
