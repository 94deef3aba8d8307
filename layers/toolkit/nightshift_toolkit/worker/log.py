"""The worker's log: one JSON object a line, with an `action` word and ids, never a prompt."""

import json
import logging
import sys
from datetime import UTC, datetime

from nightshift.domain.model.instants import format_instant

_OF_EVERY_RECORD = frozenset(logging.makeLogRecord({}).__dict__) | {"message", "asctime"}


class ActionFormatter(logging.Formatter):
    """Writes a record's message as its `action` and its extra fields beside it."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as one line of JSON."""
        line: dict[str, object] = {
            "time": format_instant(datetime.fromtimestamp(record.created, UTC)),
            "level": record.levelname.lower(),
            "action": record.getMessage(),
        }
        line |= {
            name: value
            for name, value in vars(record).items()
            if name not in _OF_EVERY_RECORD and value is not None
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def log_to_stderr() -> None:
    """Send the worker's log to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(ActionFormatter())
    logger = logging.getLogger("nightshift_toolkit.worker")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
