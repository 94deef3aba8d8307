"""Lists in a pipe and on a terminal."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

from rich.cells import cell_len

from integration.cli.desk import TASKS, Run, ok
from integration.cli.recorded_api import (
    TASK,
    TASK_ID,
    RecordedApi,
)


def test_a_list_in_a_pipe_is_a_line_a_task_and_cuts_nothing(api: RecordedApi, run: Run) -> None:
    title = "A title " * 30
    hostile = "\x1b]0;pwned\x07[bold]x[/bold]"
    tasks = [TASK | {"title": title}, TASK | {"title": hostile, "blocked_reason": "no_shell"}]
    api.answer("GET", TASKS, 200, {"items": tasks, "next_cursor": None})
    heading, first, second = ok(run("tasks", "list")).splitlines()
    assert heading.split() == ["ID", "TITLE", "STATUS", "NEXT", "LAST", "SCHEDULE"]
    assert title.strip() in first
    assert "0 9 * * MON-FRI" in first
    assert "\x1b" not in second
    assert "[bold]x[/bold]" in second
    assert " blocked " in second


def test_a_list_on_a_terminal_cuts_titles_to_its_width_and_no_id(
    api: RecordedApi, run: Run
) -> None:
    title = "夜 " * 60
    api.answer("GET", TASKS, 200, {"items": [TASK | {"title": title}], "next_cursor": None})
    _, line = _on_terminal(130, "tasks", "list", "--url", api.url, "--token", "secret")
    assert line.startswith(f"{TASK_ID}  夜 夜 ")
    assert "…" in line
    assert line.endswith("0 9 * * MON-FRI America/New_York")
    assert cell_len(line) <= 130


def _on_terminal(columns: int, *arguments: str) -> list[str]:
    """What a command shows on a terminal so many columns wide, without its colours."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, columns, 0, 0))
    command = [sys.executable, "-m", "nightshift_toolkit.cli", *arguments]
    environment = {**os.environ, "TERM": "xterm"}
    subprocess.run(command, stdin=theirs, stdout=theirs, env=environment, check=True)
    shown = os.read(ours, 65536).decode()
    os.close(ours)
    os.close(theirs)
    return re.sub(r"\x1b\[[0-9;]*m", "", shown).splitlines()
