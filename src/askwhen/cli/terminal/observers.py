"""Observers that show what workflows report: messages, progress and results, in a terminal or as JSON."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from typing import Any, TypeVar

from ...errors import AskwhenError
from ...workflows.comparing_files import CompareResult
from ...workflows.observer import Move, Observer
from ...workflows.planning import PlanOptions, PlanResult
from ...workflows.predict_file import PredictObserver
from ...workflows.prediction_files import ColumnText
from ...workflows.run import RunObserver, RunOptions, RunResult
from ..command import Output, command_line, show_error
from . import advisers, promises, show
from .progress import progress_bar, say_if_compiling

OF_MODEL = (
    *(
        "algorithm",
        "settings",
        "labels",
        "errors",
        "within",
        "classes",
        "costs",
        "seed",
        "raw",
        "everything",
        "baselines",
        "seed_labels",
    ),
)
"""Options of ``askwhen run`` that a saved sampler keeps."""

Result = TypeVar("Result", contravariant=True)


class RunTerminal(RunObserver):
    """Shows a run."""

    def __init__(self, out: Output, options: RunOptions) -> None:
        self._out, self._options = out, options

    def say(self, message: str) -> None:
        """Print a message."""
        self._out.say(message)

    def failed(self, error: AskwhenError) -> None:
        """Print an error."""
        show_error(self._out, error)

    def progress(self, what: str, total: int | None) -> AbstractContextManager[Move]:
        """Show a bar."""
        say_if_compiling(self._out)
        return progress_bar(self._out, what, total, "rate", "asked", "accuracy")

    def results(self, found: RunResult) -> None:
        """Print the results."""
        options = self._options
        facts: dict[str, Any] = {"model": found.model, "trace": options.trace, "report": options.report}
        if found.progress is None:
            self._out.result({"rounds": 0, "first_round": found.sampler.round} | facts, found.remark)
            return
        name = None if options.resume else options.algorithm
        facts = show.run_facts(found.sampler, found.progress, found.seconds, found.rate, name, found.words) | facts
        self._out.result(facts, show.run_table(facts))

    def resume_command(self, saved: str, skip: int | None) -> str:
        """The command that continues from a saved sampler."""
        add = ["--resume", shlex.quote(saved), *([] if skip is None else ["--skip", str(skip)])]
        return command_line(drop=(*OF_MODEL, "resume", "skip"), add=add)


class TrialTerminal(Observer[Result]):
    """Shows the progress of many runs, with the one that ended last."""

    def __init__(self, out: Output) -> None:
        self._out = out

    def say(self, message: str) -> None:
        """Print a message."""
        self._out.say(message)

    def progress(self, what: str, total: int | None) -> AbstractContextManager[Move]:
        """Show a bar."""
        return progress_bar(self._out, what, total, "last")


class CompareTerminal(TrialTerminal[CompareResult]):
    """Shows a comparison of algorithms on a file."""

    def __init__(self, out: Output, file: str, report: str | None) -> None:
        super().__init__(out)
        self._file, self._report = file, report

    def results(self, found: CompareResult) -> None:
        """Print the results."""
        facts = show.comparison_facts(found.comparison)
        facts |= {"file": self._file, "instances": found.instances, "report": self._report}
        left_out = found.comparison.left_out
        shown = [*show.lead(facts), show.comparison_table(found.comparison), *left_out, ""]
        shown += advisers.comparison_table(found.comparison)
        shown += show.pictures(found.comparison)
        self._out.result(facts, *shown, *([f"report: {self._report}"] if self._report else []))


class PlanTerminal(TrialTerminal[PlanResult]):
    """Shows what promises take on a file."""

    def __init__(self, out: Output, file: str, options: PlanOptions) -> None:
        super().__init__(out)
        self._file, self._options = file, options

    def results(self, found: PlanResult) -> None:
        """Print the results."""
        files = {name: getattr(self._options, name) for name in ("report", "picture")}
        facts = promises.curve_facts(found.curve) | {"file": self._file} | files
        written = [f"{name}: {path}" for name, path in files.items() if path]
        self._out.result(facts, *show.lead(facts), *promises.curve_shown(found.curve), *written)


class PredictTerminal(PredictObserver):
    """Prints predictions, unless they go to a file."""

    def __init__(self, out: Output) -> None:
        self._out, self._text = out, ColumnText(out.json)

    @property
    def is_closed(self) -> bool:
        """Whether the standard output is closed."""
        return bool(self._out.broken)

    def say(self, message: str) -> None:
        """Print a message."""
        self._out.say(message)

    def progress(self, what: str, total: int | None) -> AbstractContextManager[Move]:
        """Show a bar."""
        say_if_compiling(self._out)
        return progress_bar(self._out, what, total, "rows")

    def predicted(self, columns: dict[str, Any]) -> None:
        """Print rows."""
        self._out.print(self._text.lines(columns).removesuffix("\n"))
