"""Is asking well worth it? A drifting stream, LASEC-SS beside the same learner asking at random, at equal labels.

Instances of unit norm in 20 dimensions; the target is replaced every 5,000 rounds. Both see the same instances and
toss the same coins, and every number is a mean over five streams.
"""

from __future__ import annotations

import time

import numpy as np

import askwhen as aw

ROUNDS, DIMENSION, SWITCH_EVERY, STREAMS = 20_000, 20, 5_000, 5
B, C = 0.1, 100.0


def switching_stream(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Unit-norm instances with labels from a random target that is replaced again and again."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((ROUNDS, DIMENSION))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    targets = rng.standard_normal((ROUNDS // SWITCH_EVERY, DIMENSION))[np.arange(ROUNDS) // SWITCH_EVERY]
    return X, np.where((X * targets).sum(axis=1) > 0, 1, -1)


def scale_for(share: float, X: np.ndarray, y: np.ndarray) -> float:
    """The scale a at which LASEC-SS asks for this share of the labels, by bisection."""
    low, high = 1e-4, 10.0
    for _ in range(20):
        a = (low * high) ** 0.5
        asked = aw.paper("LASEC-SS", b=B, c=C, a=a, seed=0).run(X, y, margins=False, trace=False)
        low, high = (a, high) if asked.questions < share * len(y) else (low, a)
    return float((low * high) ** 0.5)


def bar(accuracy: float) -> str:
    """Accuracy above one half as a bar of up to 40 characters."""
    return "#" * round(80 * max(0.0, accuracy - 0.5))


def row(share: float, name: str, traces: list[aw.Trace]) -> str:
    """One line of the table."""
    rounds = sum(trace.rounds for trace in traces)
    asked = sum(trace.questions for trace in traces) / rounds
    accuracy = 1 - sum(trace.mistakes for trace in traces) / rounds
    return f"{share:8.0%}  {name:11}{asked:7.1%}{accuracy:10.1%}  {bar(accuracy)}"


def main() -> None:
    print(f"{STREAMS} streams of {ROUNDS:,} rounds in {DIMENSION} dimensions, a new target every {SWITCH_EVERY:,}")
    print("compiling on the first run, then from the cache ...", flush=True)
    started = time.perf_counter()
    streams = [switching_stream(seed) for seed in range(STREAMS)]
    print(f"\n{'labels':>8}  {'asking':11}{'asked':>7}{'accuracy':>10}")
    for share in (0.05, 0.1, 0.2):
        well, random = [], []
        for X, y in streams:
            asking_well = aw.paper("LASEC-SS", b=B, c=C, a=scale_for(share, X, y), seed=7)
            asking_at_random = aw.Sampler(aw.Lasec(B, C), aw.FixedRate(share), seed=7)
            well.append(asking_well.run(X, y, margins=False))
            random.append(asking_at_random.run(X, y, margins=False))
        print(row(share, "at random", random))
        print(row(share, "well", well), flush=True)
    print(row(1.0, "always", [aw.paper("LASEC", b=B, c=C).run(X, y, margins=False) for X, y in streams]))
    print(f"\n{time.perf_counter() - started:.1f} seconds in all")


if __name__ == "__main__":
    main()
