"""What does not knowing the drift level cost? A round of AutoLasec compared with one of LASEC, 10 % asked at random."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

import askwhen as aw

ROUNDS, REPEATS = 4_000, 5
LEARNERS: dict[str, Any] = {"AutoLasec": aw.AutoLasec(), "Lasec": aw.Lasec(1.0, 100.0, update="queried")}


def main() -> None:
    print(f"{len(aw.AutoLasec.grid)} drift levels; best of {REPEATS}, interleaved\n")
    print("    d   AutoLasec       Lasec   ratio")
    for d in (8, 50, 128):
        rng = np.random.default_rng(0)
        X = rng.standard_normal((ROUNDS, d)) / np.sqrt(d)
        y = np.sign(X @ rng.standard_normal(d))
        best = dict.fromkeys(LEARNERS, np.inf)
        for _ in range(REPEATS):
            for name, learner in LEARNERS.items():
                sampler = aw.Sampler(learner, aw.FixedRate(0.1), seed=1)
                started = time.perf_counter()
                sampler.run(X, y)
                best[name] = min(best[name], (time.perf_counter() - started) / ROUNDS * 1e6)
        ratio = best["AutoLasec"] / best["Lasec"]
        print(f"{d:5}  {best['AutoLasec']:7.2f} us  {best['Lasec']:7.2f} us  {ratio:6.2f}")


if __name__ == "__main__":
    main()
