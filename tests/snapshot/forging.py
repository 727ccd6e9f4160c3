"""Forged snapshots: every header field and many places of every array changed, packed again with a right checksum.

Run as a program (``python -m tests.snapshot.forging folder count``) so that a crash is an exit code: loads forgeries of
every file in the folder, plays each that loads, and prints what raised anything else than an error of ours.
"""

import contextlib
import copy
import hashlib
import json
import math
import os
import random
import struct
import sys
import warnings
from pathlib import Path

import numpy as np
import scipy.sparse as sp

import askwhen as aw
from askwhen.snapshot import file_format

NUMBERS = [-1, 0, 2, 3.5, 2**31, 2**62, 2**64, 2**130, -(2**62), math.nan, math.inf, 1e300]
VALUES = [*NUMBERS, "x", "", None, True, False, [], {}, [1], [[[]]]]
PLACES = 20


def paths(value, here=()):
    """Every place in a header: inner ones and leaves."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield (*here, key)
        yield from paths(each, (*here, key))


def changed(header, path, change):
    """The header with the container of a place changed there."""
    header = copy.deepcopy(header)
    holder = header
    for key in path[:-1]:
        holder = holder[key]
    change(holder, path[-1])
    return header


def put(value):
    return lambda holder, key: holder.__setitem__(key, value)


def double(holder, key):
    if isinstance(holder, list):
        holder.append(holder[key])
    else:
        holder["extra"] = holder[key]


def header_forgeries(header, arrays):
    changes = {repr(value): put(value) for value in VALUES} | {
        "missing": lambda h, k: h.__delitem__(k),
        "twice": double,
    }
    for path in paths(header):
        for said, change in changes.items():
            yield f"{path} = {said}", lambda path=path, change=change: (changed(header, path, change), arrays)


def array_forgeries(header, arrays, rng):
    names = list(arrays)
    for name, array in arrays.items():
        for place in rng.choice(max(array.size, 1), min(PLACES, array.size), replace=False):
            for value in NUMBERS:
                with contextlib.suppress(OverflowError, ValueError):  # no such number in this type
                    array.dtype.type(value)
                    yield f"{name}[{place}] = {value}", put_in(header, arrays, name, place, value)
        for kind in ("<f4", "<f8", "<i8", "<i4", "|u1", "|b1", "<f2"):
            yield f"{name} as {kind}", instead(header, arrays, name, lambda a, kind=kind: np.nan_to_num(a).astype(kind))
        for said, shaped in SHAPES.items():
            yield f"{name} {said}", instead(header, arrays, name, shaped)
        others = {each: arrays[each] for each in names if each != name}
        yield f"{name} missing", lambda others=others: (header, others)
        other = names[rng.integers(len(names))]
        yield f"{name} is {other}", instead(header, arrays, name, lambda _, other=other: arrays[other])
        path = ("model", "same") if "model" in header else ("same",)
        shares = put(header.get("model", header).get("same", {}) | {name: other})
        yield (
            f"{name} shared with {other}",
            lambda path=path, shares=shares, others=others: (changed(header, path, shares), others),
        )


SHAPES = {
    "flat": lambda array: array.reshape(-1),
    "deeper": lambda array: array[None],
    "turned": lambda array: array.T,
    "empty": lambda array: array[:0],
    "twice": lambda array: np.concatenate([array, array]),
    "shorter": lambda array: array[:-1],
    "empty and deeper": lambda array: np.zeros((0, *array.shape)),
    "a number": lambda array: np.array(1, array.dtype),
    "longer": lambda array: array.repeat(3),
}


def instead(header, arrays, name, change):
    return lambda: (header, arrays | {name: change(arrays[name])})


def put_in(header, arrays, name, place, value):
    def change(array):
        forged = array.copy()
        forged.reshape(-1)[place] = value
        return forged

    return instead(header, arrays, name, change)


def packed_forgeries(content):
    """The layout of the file itself: what each array is said to be."""
    _, version, length = struct.unpack_from("<8sIQ", content)
    text, rest = json.loads(content[20 : 20 + length]), content[20 + length : -32]
    kinds = [*VALUES, [2**62, 2**62], [-1], [-1, -1], "<f8", "O", "<M8[s]", "<f16"]
    changes = {repr(value): put(value) for value in kinds} | {"twice": double}
    for path in paths(text["arrays"]):
        for said, change in changes.items():
            where = ("arrays", *path)
            yield (
                f"arrays{path} = {said}",
                lambda where=where, change=change: repacked(version, changed(text, where, change), rest),
            )
    for other in (0, 1, 2, 3, 2**31):
        yield f"format {other}", lambda other=other: repacked(other, text, rest)


def repacked(version, text, rest):
    line = json.dumps(text).encode()
    content = struct.pack("<8sIQ", b"ASKWHEN\0", version, len(line)) + line + rest
    return content + hashlib.sha256(content).digest()


def forgeries(content, rng):
    """Every forgery of a file: what is done to it, and a function that makes it."""
    header, arrays = file_format.unpack(content)
    for said, make in [*header_forgeries(header, arrays), *array_forgeries(header, arrays, rng)]:
        yield said, lambda make=make: file_format.pack(*make())
    yield from packed_forgeries(content)


def kind_of(header):
    kinds = {"one_vs_rest": aw.OneVsRest, "batch": aw.BatchClassifier, "side_by_side": aw.SideBySide}
    return next((kind for name, kind in kinds.items() if name in header), aw.Sampler)


def play(model, path):
    """Everything that can be done with what was loaded."""
    if isinstance(model, aw.BatchClassifier):
        with contextlib.suppress(aw.AskwhenError):
            model.decision_function(rows_for(model._model.sampler._engine, 3))
        model.save(path)
        return
    if isinstance(model, aw.SideBySide):
        play_pair(model, path)
        return
    for sampler in getattr(model, "_tasks", None) or [model]:
        play_one(sampler)
    X = rows_for((model.tasks or [model])[0]._engine, 30)
    labels = (np.arange(30) % 2) * 2.0 - 1.0
    times = np.arange(30.0) + 1e6
    with contextlib.suppress(aw.AskwhenError):
        if model.classes not in ([-1, 1], None):
            model.run(X, [model.classes[i % 2] for i in range(30)], times=times)
        else:
            model.run(X, np.column_stack([labels] * len(model.tasks)) if model.tasks else labels, times=times)
    with contextlib.suppress(aw.AskwhenError):
        model.margins(X)
    with contextlib.suppress(aw.AskwhenError):
        aw.evaluate.accuracy(model)
    with contextlib.suppress(aw.AskwhenError):
        aw.evaluate.advisers(model)
    model.save(path)


def play_pair(pair, path):
    X = rows_for(pair.a._engine, 30)
    for i, ask in enumerate(pair.pending[:6]):
        with contextlib.suppress(aw.AskwhenError):
            pair.tell(ask, 1) if i % 2 else pair.forget(ask)
    with contextlib.suppress(aw.AskwhenError):
        pair.ask(X[0])
    with contextlib.suppress(aw.AskwhenError):
        pair.run(X, (np.arange(30) % 2) * 2.0 - 1.0)
    pair.difference()
    pair.save(path)


def play_one(sampler):
    engine = sampler._engine
    label = sampler.classes[0] if sampler.classes not in ([-1, 1], None) else 1.0
    for i, ask in enumerate(sampler.pending[:4]):
        with contextlib.suppress(aw.AskwhenError):
            sampler.tell(ask, label) if i % 2 else sampler.forget(ask)
    for i in range(6):
        with contextlib.suppress(aw.AskwhenError):
            x = rows_for(engine, 1)
            said = {name: label for name in sampler.advisers or [] if i % 2} or None
            ask = sampler.ask(x if sp.issparse(x) else x[0], time=9e5 + i, advice=said)
            if ask.query:
                sampler.tell(ask, label)


def rows_for(engine, n):
    d = engine.shape.d if engine.shape.d > 0 else 3
    X = np.random.default_rng(0).standard_normal((n, d)) if d < 10**5 else np.zeros((n, 3))
    return sp.csr_matrix(X) if engine.shape.sparse else X


def main(folder, count):
    warnings.simplefilter("ignore")
    tried = loaded = 0
    log = os.open(Path(folder) / "log", os.O_CREAT | os.O_WRONLY)
    for file in sorted(Path(folder).glob("*.askwhen")):
        content = file.read_bytes()
        kind = kind_of(file_format.unpack(content)[0])
        play(kind.load(file), Path(folder) / "saved")
        kind.load(Path(folder) / "saved")
        made = list(forgeries(content, np.random.default_rng(0)))
        for said, make in random.Random(0).sample(made, min(int(count), len(made))):
            tried += 1
            os.pwrite(log, f"{file.name}: {said}".ljust(400).encode()[:400], 0)
            forged = Path(folder) / "forged"
            forged.write_bytes(make())
            try:
                model = kind.load(forged)
            except aw.SnapshotError:
                continue
            except Exception as error:
                print(f"{file.name}: {said}: load raised {error!r}")
                continue
            loaded += 1
            try:
                play(model, Path(folder) / "saved")
            except Exception as error:
                print(f"{file.name}: {said}: playing raised {error!r}")
    print(f"{tried} forgeries, of which {loaded} loaded", file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
