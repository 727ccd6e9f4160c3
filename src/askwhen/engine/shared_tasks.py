"""Many tasks over one stream: one engine for each column of labels, sharing instances and kernel values.

Task j uses the random draws of seed + j, and gives the same bits as a separate sampler with that seed.

All tasks read the same instances. In dual form they also share one store of support instances. Rounds are played block
by block: the rows of a block are put into the store first, every task refers to them by slot number, and slots that no
task uses are dropped at the end of the block. For a kernel that is not linear, the kernel values of a block's rows with
everything in the store are computed once and read by every task. Tasks run in threads on all cores, since compiled
rounds release the GIL.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from ..compiled.steps import entry
from ..errors import at_row
from ..linalg.rows import Rows, SparseRows, part_of, row, shape_of
from ..linalg.vectors import SOUND, dot, look, spread, unspread
from ..trace.trace import Trace, join
from ..weights.choose_form import check_memory, matrix_bytes
from ..weights.expansion import BASE, BORROWED, HELD, Expansion, expansion_of
from ..weights.instance_store import at, gather, put
from ..weights.kernels import kernel_value
from .batch_run import RowBatch, chunk_size, prepared, run
from .engine import Engine
from .inputs.instance_checks import canonical, describe_unsound, is_canonical
from .state_arrays import arrays_of, copy_state, map_arrays

_LINEAR_BLOCK, _KERNEL_BLOCK = 4096, 256


@entry
def load_rows(store: Any, norms: Any, scratch: Any, rows: Any, base: int, n: int) -> Any:
    """Put n rows into the store from slot ``base`` on, in place, until one is unsound; return their number."""
    for i in range(n):
        x = row(rows, i)
        _, norm2, status = look(scratch, x)
        if status != SOUND:
            return i
        put(store, base + i, x)
        norms[base + i] = norm2
    return n


@entry
def fill_block(kernel: Any, store: Any, norms: Any, scratch: Any, base: int, block: Any, first: int, last: int) -> None:
    """Write the kernel values of the rows first to last with every earlier slot of the store to the block."""
    for i in range(first, last):
        x = at(store, base + i)
        dense = spread(x, scratch)
        for slot in range(base + i):
            block[i, slot] = kernel_value(kernel, dot(dense, at(store, slot)), norms[base + i], norms[slot])
        unspread(x, scratch)


def run_tasks(
    engines: list[Engine], rows: Rows, labels: np.ndarray, every_margin: bool, keep: bool, times: np.ndarray
) -> list[Trace]:
    """Run every engine on its column of labels; if any row is refused, no round was played."""
    before = [_checkpoint(engine) for engine in engines]
    n, d = shape_of(rows)
    try:
        learner = engines[0].parts.learner
        if engines[0].learner is None:
            check_memory(learner, d, len(engines) * matrix_bytes(learner, d, isinstance(rows, SparseRows)))
        for engine in engines:
            engine.begin("run", "X", d, isinstance(rows, SparseRows))
        first = expansion_of(engines[0].learner)
        size = n if first is None else _LINEAR_BLOCK if len(first.primal) else _KERNEL_BLOCK
        together = _prepare_alike(engines)
        if together:
            size = min(size, chunk_size(engines[0]))
        elif engines[0].prepare is not None:
            first, size = None, n  # each task sees differently prepared instances, so nothing can be shared
        traces: list[list[Trace]] = [[] for _ in engines]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for start in range(0, n, size):
                stop = min(n, start + size)
                if together:
                    part = _prepared(engines, part_of(rows, start, stop), start)
                    if first is not None:
                        _share(engines, part, 0, stop - start, start, pool)
                else:
                    if first is not None:
                        rows = _share(engines, rows, start, stop, 0, pool)
                    part = part_of(rows, start, stop)

                def play(j: int, part: Rows = part, start: int = start, stop: int = stop) -> Trace:
                    column, now = np.ascontiguousarray(labels[start:stop, j]), times[start:stop]
                    return run(engines[j], RowBatch(part, column, every_margin, keep, now, start, together))

                for found, trace in zip(traces, pool.map(play, range(len(engines))), strict=True):
                    found.append(trace)
            if first is not None:
                _share(engines, part_of(part, 0, 0), 0, 0, n, pool)  # drops what only the last block needed
        if first is not None:
            _set(engines, lambda w: _with_base(w, BORROWED, np.zeros((0, 0))))
        return [join(found) for found in traces]
    except BaseException:
        for engine, (checkpoint, counts) in zip(engines, before, strict=True):
            engine.restore(checkpoint)
            engine.round, engine.questions, engine.updates, switches = counts
            del engine.switches[switches:]
        raise


def _prepare_alike(engines: list[Engine]) -> bool:
    """Whether instances can be prepared once for all tasks: all of them have seen the same ones."""
    first = engines[0].prepare
    if first is None:
        return False
    others, mine = [engine.prepare for engine in engines[1:]], arrays_of(first, "")
    return all(
        other is not None
        and arrays_of(other, "").keys() == mine.keys()
        and all(np.array_equal(array, mine[name]) for name, array in arrays_of(other, "").items())
        for other in others
    )


def _prepared(engines: list[Engine], rows: Rows, before: int) -> Rows:
    """Rows as all learners see them: prepared by the first engine, whose statistics the others copy."""
    rows = prepared(engines[0], rows, before)
    for engine in engines[1:]:
        engine.prepare = copy_state(engines[0].prepare)
    return rows


def _share(engines: list[Engine], rows: Rows, start: int, stop: int, before: int, pool: ThreadPoolExecutor) -> Rows:
    """Build one store for all tasks, of their support instances and the rows of a block, with the kernel values."""
    sums = [_sum_of(engine) for engine in engines]
    stores = {id(w.norms): w for w in sums}  # one for each store, also after loading
    used = {
        key: np.unique(np.concatenate([w.slots[: w.counts[HELD]] for w in sums if id(w.norms) == key]))
        for key in stores
    }
    offsets = dict(zip(used, np.cumsum([0, *map(len, used.values())]).tolist(), strict=False))
    base, n = sum(map(len, used.values())), stop - start
    entries = 0
    if isinstance(rows, SparseRows):
        entries = int(max(rows.indptr[stop] - rows.indptr[start], 0))
    store = gather([(stores[key].store, used[key]) for key in used], base + n, entries)
    norms = np.concatenate([stores[key].norms[used[key]] for key in used] + [np.zeros(n)])
    scratch = np.zeros_like(sums[0].scratch)
    loaded = load_rows(store, norms, scratch, part_of(rows, start, stop), base, n)
    if loaded < n:
        bad = row(rows, start + loaded)
        if is_canonical(bad, len(scratch)):
            raise describe_unsound("run", bad, at_row(before + start + loaded))
        return _share(engines, canonical("run", rows), start, stop, before, pool)
    block = np.zeros((0, 0))
    if not len(sums[0].primal):
        block = np.empty((n, base + n))
        cuts = np.linspace(0, n, 4 * (os.cpu_count() or 1) + 1).astype(int)
        work = [
            pool.submit(fill_block, sums[0].kernel, store, norms, scratch.copy(), base, block, a, b)
            for a, b in itertools.pairwise(cuts.tolist())
        ]
        for each in work:
            each.result()

    def shared(w: Expansion) -> Expansion:
        key, held = id(w.norms), int(w.counts[HELD])
        slots = w.slots.copy()
        slots[:held] = offsets[key] + np.searchsorted(used[key], slots[:held])
        return _with_base(w._replace(store=store, norms=norms, slots=slots), base + 1, block)

    _set(engines, shared)
    return rows


def _with_base(w: Expansion, base: int, block: np.ndarray) -> Expansion:
    counts = w.counts.copy()
    counts[BASE] = base
    return w._replace(counts=counts, block=block)


def _sum_of(engine: Engine) -> Expansion:
    found = expansion_of(engine.learner)
    assert found is not None
    return found


def _set(engines: list[Engine], change: Callable[[Expansion], Expansion]) -> None:
    """Replace the expansion in every engine's learner by the result of ``change``."""
    for engine in engines:
        name = next(name for name, part in engine.learner._asdict().items() if isinstance(part, Expansion))
        engine.learner = engine.learner._replace(**{name: change(getattr(engine.learner, name))})


def _checkpoint(engine: Engine) -> Any:
    """A checkpoint that does not copy stored instances: shared rounds replace these arrays and never change them."""
    return engine.checkpoint(_copy_all_but_instances), (
        engine.round,
        engine.questions,
        engine.updates,
        len(engine.switches),
    )


def _copy_all_but_instances(state: Any) -> Any:
    if state is None:
        return None
    return map_arrays(
        state, lambda path, array: array if ".store." in path or path.endswith(".norms") else array.copy()
    )
