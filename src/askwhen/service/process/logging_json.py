"""Log lines as JSON objects: time, level, what, and facts. Never the contents of an instance."""

from __future__ import annotations

import json
import logging
import sys
import time

from ..http import request_ids


class JsonLines(logging.Formatter):
    """Writes a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The line; for an error with its traceback."""
        facts = getattr(record, "facts", {})
        line = {
            "time": _written(record.created),
            "level": record.levelname.lower(),
            "what": record.getMessage(),
            **facts,
        }
        request = request_ids.present.get()
        if request is not None:
            line["request"] = request
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


def _written(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"


def log_to_stderr(level: int = logging.INFO) -> None:
    """Send the logs of the service and of uvicorn to the standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("askwhen.service", "uvicorn.error", "opentelemetry"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(level if name == "askwhen.service" else logging.WARNING)
