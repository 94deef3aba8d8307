"""Everything a command starts ends with it, and with its worker (SPEC section 8)."""

import os
import signal
import subprocess
import sys
import textwrap
import time

from nightshift_toolkit.worker.supervision import Ending
from unit.worker.fakes import eventually
from unit.worker.room import SHELL, Room


def test_a_command_is_asked_before_it_is_killed(room: Room) -> None:
    ending = room.run_shell(
        "trap 'echo tidy; exit 0' TERM; echo ready; while :; do sleep 0.05; done",
        timeout_seconds=0.5,
        grace_seconds=10.0,
    )
    assert ending.cause == "timeout"
    assert room.output.startswith("ready\n")
    assert room.output.endswith("tidy\n")


def test_a_command_that_ignores_the_request_is_killed_with_its_children(room: Room) -> None:
    ending = room.run_shell(
        "trap '' TERM HUP; sh -c 'trap \"\" TERM; while :; do sleep 1; done' & "
        "while :; do sleep 1; done",
        timeout_seconds=0.3,
    )
    assert ending.cause == "timeout"
    assert not room.marked()


def test_a_child_in_a_session_of_its_own_ends_with_the_command(room: Room) -> None:
    child = "setsid sh -c 'sleep 300 & touch up; sleep 300' & "
    ending = room.run_shell(child + "while [ ! -e up ]; do sleep 0.01; done")
    assert ending == Ending("exit", 0)
    assert not room.marked()


def test_a_daemon_that_let_its_parents_die_ends_with_the_command(room: Room) -> None:
    daemon = textwrap.dedent(
        """
        import os, signal
        if os.fork(): os._exit(0)
        os.setsid()
        if os.fork(): os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open("up", "w").close()
        signal.pause()
        """
    )
    wait_for_it = '"$0" -c "$1"; while [ ! -e up ]; do sleep 0.01; done'
    ending = room.run(SHELL, "-c", wait_for_it, sys.executable, daemon)
    assert ending == Ending("exit", 0)
    assert room.has("up")
    assert not room.marked()


def test_a_stopped_process_is_ended_too(room: Room) -> None:
    assert room.run_shell("kill -STOP $$", timeout_seconds=0.3).cause == "timeout"


def test_children_that_keep_coming_are_ended(room: Room) -> None:
    script = "spawn() { while :; do sleep 30 & sleep 0.005; done; }; trap '' TERM; spawn & spawn"
    assert room.run_shell(script, timeout_seconds=0.5).cause == "timeout"
    assert not room.marked()


def test_a_command_ends_when_its_worker_is_killed(room: Room) -> None:
    """A run whose worker is lost does not go on unseen beside the next one."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            textwrap.dedent(
                f"""
                from pathlib import Path
                from nightshift_toolkit.worker.output import OutputCollector
                from nightshift_toolkit.worker.supervision import Order, SupervisedCommand
                order = Order(("/bin/sh", "-c", "setsid sleep 300 & touch up; sleep 300"), b"",
                    {{"PATH": {os.environ["PATH"]!r}}}, Path({str(room.folder)!r}), 300, 300, 1)
                SupervisedCommand.start(order).wait(OutputCollector())
                """
            ),
        ]
    )
    assert eventually(lambda: room.has("up"))
    assert room.marked()
    worker.kill()
    worker.wait()
    assert eventually(lambda: not room.marked())


def test_a_warden_that_is_killed_takes_the_command_along(room: Room) -> None:
    command = room.shell("sleep 300 & echo $PPID > warden; mv warden pid; sleep 300")
    assert eventually(lambda: room.has("pid"))
    os.kill(int((room.folder / "pid").read_text()), signal.SIGKILL)
    assert command.wait(room.collector).cause == "lost"
    assert eventually(lambda: not room.marked())


def test_a_signal_to_the_warden_does_not_end_the_command(room: Room) -> None:
    """Whoever signals all processes of a container leaves the decision to the worker."""
    script = "kill -TERM $PPID; kill -INT $PPID; kill -HUP $PPID; sleep 0.2; echo done"
    assert room.run_shell(script) == Ending("exit", 0)
    assert room.output == "done\n"


def test_a_command_in_the_background_does_not_delay_the_end(room: Room) -> None:
    started = time.monotonic()
    assert room.run_shell("sleep 300 & echo done", grace_seconds=60.0) == Ending("exit", 0)
    assert time.monotonic() - started < 30
    assert room.output == "done\n"
