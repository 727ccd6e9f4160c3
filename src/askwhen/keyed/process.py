"""A worker as a process of its own: ``python -m askwhen.keyed.process``.

Its first line of input is the job and the partitions. It prints a line for every commit, and a last one that says how
it ended. Its input ends when whoever started it does, and then so does it.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from typing import Any

from ..errors import AskwhenError
from .job import Job, work


def _end_with_input() -> None:
    sys.stdin.read()
    os._exit(1)


def _say(facts: dict[str, Any]) -> None:
    try:
        print(json.dumps(facts), flush=True)
    except BrokenPipeError:
        os._exit(1)


def main() -> None:
    """Work until all is done."""
    text, partitions = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_input, daemon=True).start()
    try:
        work(Job.read(text), partitions, lambda partition, events: _say({"partition": partition, "events": events}))
    except AskwhenError as error:
        _say({"error": error.sentence, "kind": type(error).__name__})
        return
    except Exception as error:  # it would come again, however often a worker is started anew
        sentence = f"a worker met an error that should not happen, {type(error).__name__}: {error}."
        _say({"error": sentence, "kind": "AskwhenError"})
        return
    except KeyboardInterrupt:
        return
    _say({"done": True})


if __name__ == "__main__":
    main()
