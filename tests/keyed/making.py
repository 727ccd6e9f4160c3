"""Logs for tests: instances of many keys, with answers to some of their questions that come later."""

import json

import numpy as np

from askwhen.keyed.seeds import partition_of
from tests.keyed.reference import Reference


def make_log(folder, make, seed=7, events=600, keys=40, partitions=2, d=5, sparse=False, timed=False, labels=(-1, 1)):
    """Write partitions of NDJSON; the reference that played each of them, by its name."""
    rng = np.random.default_rng(seed)
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"part-{number}" for number in range(partitions)]
    played = {name: Reference(make, seed, d if sparse else None) for name in names}
    lines = {name: [] for name in names}
    waiting = []
    for number in rng.choice(keys, events, p=np.ones(keys) / keys).tolist():
        key = f"key {number}"
        x = rng.standard_normal(d).tolist()
        truth = labels[x[number % d] > 0]
        if sparse:
            x = {str(place): x[place] for place in sorted(rng.choice(d, 3, replace=False).tolist())}
            truth = labels[sum(x.values()) > 0]
        draw = rng.random()
        event = {"key": key, "x": x} | ({"label": truth} if draw < 0.03 else {})
        if timed and draw > 0.05:  # some come late, and some without a time
            event["time"] = 900 * len(waiting) + 60.0 * sum(map(len, lines.values())) - (500 if draw > 0.8 else 0)
        if draw > 0.98:
            event = {"key": key, "round": int(rng.integers(50)), "label": truth}
        name = names[partition_of(key, partitions)]
        decision = played[name].play(event)
        lines[name].append(event)
        if decision is not None and decision["query"]:
            waiting.append((name, {"key": key, "round": decision["round"], "label": truth}))
        while waiting and rng.random() < 0.4:
            name, answer = waiting.pop(int(rng.integers(len(waiting))))
            if rng.random() < 0.1:
                answer = {"key": answer["key"], "round": answer["round"], "forget": True}
            played[name].play(answer)
            lines[name].append(answer)
    for name, written in lines.items():
        (folder / f"{name}.ndjson").write_text("".join(json.dumps(each) + "\n" for each in written))
    return played
