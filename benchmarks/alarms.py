"""How soon is an alarm raised after a real drop, and how often by chance? Made streams, 10 % of the labels.

    python benchmarks/alarms.py [--streams 60] [--jobs 2]

A stream of 40,000 rounds, one label in twenty wrong; from round 20,000 on a share of the labels is replaced by random
ones, so that the accuracy falls from about 94 % to what the column says. The alarm is tested every 100 rounds. Before
the drop every alarm is false: its share of streams must stay below 5 %.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import askwhen as aw

ROUNDS, DROP, LEVEL = 40_000, 20_000, 0.85
SHARES = {"80 %": 0.3, "70 %": 0.5, "50 %": 1.0}
WINDOWS = (1_000, 5_000, 20_000)


def one(seed: int, share: float, level: float, rule: bool) -> list[float]:
    """For each window, how many rounds after the drop the alarm is raised (NaN: never), and whether one was before."""
    rng = np.random.default_rng([seed, 1])  # other numbers than the random draws of a sampler with this seed
    X = rng.standard_normal((ROUNDS, 5))
    y = np.where(X @ rng.standard_normal(5) > 0, 1.0, -1.0)
    y = np.where(rng.random(ROUNDS) < 0.05, -y, y)
    lost = (rng.random(ROUNDS) < share) & (np.arange(ROUNDS) >= DROP)
    y = np.where(lost, rng.choice([-1.0, 1.0], ROUNDS), y)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1) if rule else aw.FixedRate(0.1), seed=seed)
    found, early = [np.nan] * len(WINDOWS), [0.0] * len(WINDOWS)
    for first in range(0, ROUNDS, 100):
        sampler.run(X[first : first + 100], y[first : first + 100], trace=False)
        for w, window in enumerate(WINDOWS):
            if np.isnan(found[w]) and not early[w] and aw.evaluate.alarm(sampler, level, window):
                if first < DROP:
                    early[w] = 1.0
                else:
                    found[w] = first + 100 - DROP
    return [*found, *early]


def main() -> None:
    parser = argparse.ArgumentParser(description="The delay of alarms.")
    parser.add_argument("--streams", type=int, default=60)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    print(f"{options.streams} streams, alarm below {LEVEL:.0%}: rounds until it is raised, median (90th percentile)\n")
    print("| rule | window | " + " | ".join(f"falls to about {to}" for to in SHARES) + " | by chance |")
    print("|---|---|" + "---|" * (len(SHARES) + 1))
    with ProcessPoolExecutor(options.jobs) as pool:
        for rule in (True, False):
            tables = {}
            for to, share in SHARES.items():
                n = options.streams
                tables[to] = np.array(list(pool.map(one, range(n), [share] * n, [LEVEL] * n, [rule] * n)))
            for w, window in enumerate(WINDOWS):
                cells = []
                for table in tables.values():
                    delay = np.nan_to_num(table[:, w], nan=np.inf)
                    middle, late = np.quantile(delay, [0.5, 0.9], method="higher")
                    shown = [f"{each:,.0f}" if np.isfinite(each) else "never" for each in (middle, late)]
                    cells.append(f"{shown[0]} ({shown[1]})")
                chance = np.mean([table[:, len(WINDOWS) + w].mean() for table in tables.values()])
                name = "BudgetRule(0.1)" if rule else "FixedRate(0.1)"
                print(f"| {name} | {window:,} | {' | '.join(cells)} | {chance:.1%} |", flush=True)


if __name__ == "__main__":
    main()
