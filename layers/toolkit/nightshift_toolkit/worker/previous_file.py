"""The previous result of a task, in a file beside the prompt."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

PREVIOUS_RESULT_FILE: Final = "NIGHTSHIFT_PREVIOUS_RESULT_FILE"
"""The variable in which a command finds where the last success of its task can be read."""


@contextmanager
def previous_file(path: Path, previous: Mapping[str, Any] | None) -> Iterator[str]:
    """The name of a file with the previous result while the command runs; empty if it has none.

    Only its owner may read the file, which is made anew: nothing that lies there under its name, a
    link of another command for instance, is written to. Raises `OSError`.
    """
    if previous is None:
        yield ""
        return
    try:
        path.unlink(missing_ok=True)
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            json.dump(previous, file, ensure_ascii=False)
        yield str(path)
    finally:
        with suppress(OSError):
            path.unlink(missing_ok=True)
