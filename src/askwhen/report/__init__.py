"""Reports of a run, of a comparison or of promises, each a self-contained HTML or SVG file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from ..evaluate.comparison.comparing import Comparison
from ..evaluate.comparison.promising import PromiseCurve
from ..evaluate.progress import Progress, PromiseHistory
from ..trace.trace import Trace
from .comparison import comparison_page, picture_of
from .page import write
from .promise import certificate_figure, curve_page, curve_picture
from .run import run_page

__all__ = ["certificate_picture", "picture", "promise_picture", "write_comparison", "write_promise_curve", "write_run"]


def write_run(
    path: str | os.PathLike[str],
    progress: Progress,
    trace: Trace,
    *,
    title: str,
    facts: Mapping[str, str],
    command: str,
    budget: float | None = None,
    levels: Sequence[str] = (),
    words: Sequence[str] | None = None,
) -> None:
    """Write the report of one run over a stream.

    Parameters
    ----------
    path : str or path
        The file; one that exists is replaced when the new one is complete.
    progress : Progress
        The results of the run, from :func:`askwhen.evaluate.progressive`, of one task.
    trace : Trace
        The trace of the same rounds; without its arrays the report lacks margins and drift weights.
    title : str
        The heading.
    facts : dict of str
        Parameters of the run, by name: file, algorithm, parameters, seed, version.
    command : str
        The command that makes the report again.
    budget : float, optional
        The share of labels that was allowed.
    levels : sequence of str, optional
        Names of the columns of ``trace.drift_weights``; by default ``trace.experts``.
    words : (str, str), optional
        Names of the two labels, the negative one first; by default ``trace.pair``.

    Examples
    --------
    >>> import numpy as np, askwhen as aw, pathlib, tempfile
    >>> from askwhen.report import write_run
    >>> X = np.random.default_rng(0).standard_normal((500, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> progress = aw.evaluate.progressive(aw.Sampler(seed=7), X, y, window=100)
    >>> trace = aw.Sampler(seed=7).run(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "run.html"
    ...     write_run(path, progress, trace, title="A run", facts={"seed": "7"}, command="askwhen run")
    ...     "A run" in path.read_text(encoding="utf-8")
    True
    """
    # Nine parameters: the signature is public.
    if words is None:
        words = ("-1", "+1") if trace.pair is None else tuple(map(str, trace.pair))
    write("write_run", path, run_page(progress, trace, title, facts, command, budget, levels, words))


def write_comparison(
    path: str | os.PathLike[str], comparison: Comparison, *, title: str, facts: Mapping[str, str], command: str
) -> None:
    """Write the report of a comparison of algorithms.

    Parameters
    ----------
    path : str or path
        The file; one that exists is replaced when the new one is complete.
    comparison : Comparison
        The results to show.
    title : str
        The heading.
    facts : dict of str
        Parameters of the comparison, by name.
    command : str
        The command that makes the report again.
    """
    write("write_comparison", path, comparison_page(comparison, title, facts, command))


def picture(comparison: Comparison, share: float, *, title: str) -> str:
    """An SVG document: accuracy over time at one share of labels, for light and dark pages.

    Parameters
    ----------
    comparison : Comparison
        The results to show.
    share : float
        One of its shares of labels.
    title : str
        The heading.
    """
    return picture_of(comparison, share, title)


def write_promise_curve(
    path: str | os.PathLike[str], curve: PromiseCurve, *, title: str, facts: Mapping[str, str], command: str
) -> None:
    """Write the report of what promises take.

    Parameters
    ----------
    path : str or path
        The file; one that exists is replaced when the new one is complete.
    curve : PromiseCurve
        The results to show, from :func:`askwhen.evaluate.promise_curve`.
    title : str
        The heading.
    facts : dict of str
        Parameters of the plan, by name.
    command : str
        The command that makes the report again.
    """
    write("write_promise_curve", path, curve_page(curve, title, facts, command))


def promise_picture(curve: PromiseCurve, *, title: str) -> str:
    """An SVG document: errors against questions, for light and dark pages.

    Parameters
    ----------
    curve : PromiseCurve
        The results to show.
    title : str
        The heading.
    """
    return curve_picture(curve, title)


def certificate_picture(history: PromiseHistory, others: Mapping[str, Any], *, title: str) -> str:
    """An SVG document: the certificate of a promise over time, for light and dark pages.

    Parameters
    ----------
    history : PromiseHistory
        How the promise stood after each chunk, from :func:`askwhen.evaluate.progressive`.
    others : dict of arrays
        The shares of wrong labels, after the same chunks, in other ways to label the rows, by name.
    title : str
        The heading.
    """
    return certificate_figure(history, others, title)
