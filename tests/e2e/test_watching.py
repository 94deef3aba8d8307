"""`--watch` on a real terminal."""

import os
import pty
import select
import signal
import subprocess
import sys

from e2e.place import Place, eventually

USER = ("--user", "watcher")


def test_a_list_is_watched_on_a_terminal_until_it_is_left(place: Place) -> None:
    """What happens meanwhile appears, and Ctrl-C is no fault."""
    caller = place.caller("watcher")
    first = place.create(caller, title="The first one", prompt="hello")
    screen, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "nightshift_toolkit.cli", "tasks", "list", "--watch", *USER],
        cwd=place.cloud.state_dir.parent,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        env=os.environ | {"COLUMNS": "200", "TERM": "xterm"},
        start_new_session=True,
    )
    os.close(terminal)
    shown = bytearray()

    def shows(text: bytes) -> bool:
        if select.select([screen], [], [], 0)[0]:
            shown.extend(os.read(screen, 65_536))
        return text in shown

    try:
        eventually(lambda: shows(b"The first one"), within=30, what="the task is shown")
        second = place.create(caller, title="The second one", prompt="hello")
        eventually(lambda: shows(b"The second one"), within=45, what="the new task is shown")
        process.send_signal(signal.SIGINT)
        assert process.wait(15) == 0
    finally:
        process.kill()
        process.wait()
        os.close(screen)
    for task in (first, second):
        caller.delete(f"/api/scheduled-tasks/{task['id']}")
