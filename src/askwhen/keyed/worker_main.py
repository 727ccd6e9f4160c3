"""A worker as a separate process: ``python -m askwhen.keyed.worker_main``.

Its first line of input is the job and the partitions. It prints a line for every commit, and a last one that says how
it ended. When its parent process ends, so does its input, and then it exits.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from ..errors import AskwhenError
from .job import Job, play_partitions


def _exit_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def _print(facts: dict[str, Any]) -> None:
    try:
        print(json.dumps(facts), flush=True)
    except BrokenPipeError:
        os._exit(1)


def main() -> None:
    """Play the partitions to their ends."""
    text, partitions = json.loads(sys.stdin.readline())
    threading.Thread(target=_exit_with_input, daemon=True).start()
    try:
        play_partitions(
            Job.read(text), partitions, lambda partition, events: _print({"partition": partition, "events": events})
        )
    except AskwhenError as error:
        _print({"error": error.sentence, "kind": type(error).__name__})
        return
    except Exception as error:  # a new worker would fail in the same way, so that it is reported and not retried
        sentence = f"a worker met an error that should not happen, {type(error).__name__}: {error}."
        _print({"error": sentence, "kind": "AskwhenError"})
        return
    except KeyboardInterrupt:
        return
    _print({"done": True})


if __name__ == "__main__":
    main()
