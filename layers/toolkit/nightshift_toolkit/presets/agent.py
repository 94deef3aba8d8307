"""The program around an agent tool: runs it for one prompt and tells the worker what it cost.

Run by itself, `python agent.py PRESET PROGRAM [ARG]...`, with nothing but the standard library and
this package. The prompt stays on standard input, from where the tool reads it; the tool's answer
becomes the output, its figures `usage` in the result file. In a thread that is kept
(`NIGHTSHIFT_THREAD_FOLDER`), the session that the tool names goes on with the thread's next run.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
if not __package__:
    sys.path.append(str(HERE.parents[1]))

from nightshift_toolkit.presets.answers import READERS, Answer, Usage  # noqa: E402

_SIGNAL_BASE: Final = 128
_MAX_RESULT_BYTES: Final = 8 * 1024
_PLACES: Final = 10
_MOST_FAILURES: Final = 3


@dataclass(frozen=True)
class Session:
    """What a thread keeps of a tool: its session, what that cost in all, its failures in a row."""

    name: str
    totals: Usage = field(default_factory=dict)
    failures: int = 0


def command_line(
    preset: Mapping[str, Any], program: Sequence[str], session: Session | None, *, kept: bool
) -> list[str]:
    """The tool's whole command; `program` is its path and what the operator adds."""
    path, *own = program
    if session is not None:
        place = [part.replace("{session}", session.name) for part in preset["resumed"]]
    else:
        place = preset["kept"] if kept else []
    return [path, *preset["arguments"], *own, *place, *preset["prompt"]]


def of_this_run(usage: Usage, session: Session | None, cumulative: Sequence[str]) -> Usage:
    """The figures of one run, where a tool reports those of the whole session."""
    own = dict(usage)
    for name in cumulative:
        before = session.totals.get(name, 0) if session else 0
        if name in own and own[name] >= before:
            own[name] = round(own[name] - before, _PLACES)
    return own


def read_session(file: Path) -> Session | None:
    """The session that a thread keeps, or None."""
    try:
        kept = json.loads(file.read_bytes())
        return Session(str(kept["session"]), dict(kept["totals"]), int(kept["failures"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def keep_session(file: Path, answer: Answer, resumed: Session | None, exit_code: int) -> None:
    """Keep what the tool named, so that the thread's next run goes on there.

    A session that the tool could not find again is forgotten, and so is one in which nothing went
    well three times in a row: the next run begins anew.
    """
    failures = 0
    if exit_code != 0 or answer.failed:
        failures = 1 + (resumed.failures if resumed else 0)
    lost = resumed is not None and answer.session is None and exit_code > 0
    if lost or failures >= _MOST_FAILURES:
        file.unlink(missing_ok=True)
        return
    name = answer.session or (resumed and resumed.name)
    if name:
        totals = {**(resumed.totals if resumed else {}), **answer.usage}
        content = {"session": name, "totals": totals, "failures": failures}
        _replace(file, json.dumps(content).encode())


def add_usage(file: Path, usage: Usage) -> None:
    """Put the figures into the result file, beside what the agent wrote there itself.

    A file that is no JSON object, has figures of its own or no room for these stays as it is.
    """
    try:
        written = json.loads(file.read_bytes()) if os.path.lexists(file) else {}
    except (OSError, ValueError, RecursionError):
        return
    if not usage or not isinstance(written, dict) or "usage" in written:
        return
    content = json.dumps(written | {"usage": usage}, ensure_ascii=False).encode("utf-8", "replace")
    if len(content) <= _MAX_RESULT_BYTES:
        _replace(file, content)


def run(name: str, program: Sequence[str], environment: Mapping[str, str]) -> int:
    """Run the tool, hand on its answer and its figures; return the exit code."""
    preset = tomllib.loads((HERE / "presets.toml").read_text(encoding="utf-8"))[name]
    folder = environment.get("NIGHTSHIFT_THREAD_FOLDER")
    kept = Path(folder) / f"{name}.json" if folder else None
    session = read_session(kept) if kept else None
    # Asked to stop, the tool decides how; what it says until then is handed on.
    signal.signal(signal.SIGTERM, lambda _number, _frame: None)
    command = command_line(preset, program, session, kept=kept is not None)
    # A file and not a pipe, which something that the tool left behind could hold open for ever.
    with tempfile.TemporaryFile() as output:
        exit_code = subprocess.run(command, stdout=output, check=False).returncode
        output.seek(0)
        answer = READERS[name](output)
    if result := environment.get("NIGHTSHIFT_RESULT_FILE"):
        add_usage(Path(result), of_this_run(answer.usage, session, preset["cumulative"]))
    if kept:
        keep_session(kept, answer, session, exit_code)
    sys.stdout.buffer.write(answer.text)
    sys.stdout.buffer.flush()
    if exit_code < 0:
        return _SIGNAL_BASE - exit_code
    return exit_code or int(answer.failed)


def _replace(file: Path, content: bytes) -> None:
    part = file.with_name(f"{file.name}.{os.getpid()}")
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(handle, "wb") as opened:
        opened.write(content)
    part.replace(file)


if __name__ == "__main__":
    sys.exit(run(sys.argv[1], sys.argv[2:], os.environ))
