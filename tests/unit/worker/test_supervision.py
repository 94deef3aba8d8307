"""A command under its warden: everything it starts ends with it (SPEC section 8)."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from nightshift_toolkit.worker.output import OutputCollector
from nightshift_toolkit.worker.supervision import Ending, Order, SupervisedCommand
from unit.worker.fakes import eventually

SHELL = "/bin/sh"


def _order(*argv: str, folder: Path, **fields: object) -> Order:
    given: dict[str, object] = {
        "stdin": b"",
        "environment": {"PATH": os.environ["PATH"]},
        "timeout_seconds": 60.0,
        "silence_seconds": 60.0,
        "grace_seconds": 0.3,
    }
    return Order(argv=argv, folder=folder, **(given | fields))  # type: ignore[arg-type]


class Room:
    """Runs orders in one folder and knows which processes they have left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collector = OutputCollector()

    def start(self, *argv: str, **fields: object) -> SupervisedCommand:
        return SupervisedCommand.start(_order(*argv, folder=self.folder, **fields))

    def shell(self, script: str, **fields: object) -> SupervisedCommand:
        return self.start(SHELL, "-c", textwrap.dedent(script), **fields)

    def run(self, *argv: str, **fields: object) -> Ending:
        return self.start(*argv, **fields).wait(self.collector)

    def run_shell(self, script: str, **fields: object) -> Ending:
        return self.shell(script, **fields).wait(self.collector)

    @property
    def output(self) -> str:
        return self.collector.collected().within(100_000)[0]

    def marked(self) -> list[int]:
        """Living processes that work in the room's folder."""
        return [pid for pid in _living() if _folder_of(pid) == str(self.folder)]

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()


def _living() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _folder_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    room = Room(tmp_path)
    yield room
    assert eventually(lambda: not room.marked()), "processes were left behind"


def test_the_prompt_is_the_standard_input_to_the_byte(room: Room) -> None:
    """A prompt is data: quotes, dollars and newlines arrive as they are."""
    prompt = "a'b\"c $(touch made) `id`\n\\ 夜 😀".encode()
    assert room.run("cat", stdin=prompt) == Ending("exit", 0)
    assert room.output.encode() == prompt
    assert not room.has("made")


def test_a_prompt_of_64_kib_that_is_never_read_harms_nothing(room: Room) -> None:
    assert room.run("true", stdin=b"x" * 65536) == Ending("exit", 0)


def test_an_argument_is_never_split_or_expanded(room: Room) -> None:
    room.run("printf", "%s", "a b $HOME; exit 3")
    assert room.output == "a b $HOME; exit 3"


def test_both_streams_arrive_in_the_order_in_which_they_were_written(room: Room) -> None:
    room.run_shell("echo one; echo two >&2; echo three")
    assert room.output == "one\ntwo\nthree\n"


def test_the_exit_code_is_the_commands_own(room: Room) -> None:
    assert room.run_shell("echo no >&2; exit 3") == Ending("exit", 3)


def test_the_signal_that_ended_a_command_is_told(room: Room) -> None:
    assert room.run_shell("kill -9 $$") == Ending("exit", -signal.SIGKILL)


def test_a_program_that_is_not_there_is_named(room: Room) -> None:
    ending = room.run("no-such-program")
    assert ending.cause == "refused"
    assert ending.error == "No such file or directory: no-such-program"


def test_a_command_with_a_nul_is_refused_and_not_cut(room: Room) -> None:
    assert room.run(SHELL, "-c", "touch made\x00; true").cause == "refused"
    assert not room.has("made")


def test_a_command_that_takes_too_long_is_ended(room: Room) -> None:
    assert room.run("sleep", "60", timeout_seconds=0.2).cause == "timeout"


def test_what_was_written_before_the_timeout_is_kept(room: Room) -> None:
    room.run_shell("echo so far; sleep 60", timeout_seconds=0.5)
    assert room.output == "so far\n"


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
        import os, signal, time
        if os.fork(): os._exit(0)
        os.setsid()
        if os.fork(): os._exit(0)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        open("up", "w").close()
        time.sleep(300)
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


def test_a_command_can_be_stopped_from_another_thread(room: Room) -> None:
    command = room.shell("touch up; sleep 60")
    endings: list[Ending] = []
    waiter = threading.Thread(target=lambda: endings.append(command.wait(room.collector)))
    waiter.start()
    assert eventually(lambda: room.has("up"))
    command.stop()
    waiter.join()
    assert endings == [Ending("stop", -signal.SIGTERM)]


def test_a_stop_before_the_command_is_up_still_counts(room: Room) -> None:
    command = room.start("sleep", "60")
    command.stop()
    assert command.wait(room.collector).cause == "stop"


def test_a_stop_after_the_end_is_harmless(room: Room) -> None:
    command = room.start("true")
    ending = command.wait(room.collector)
    command.stop()
    command.beat(time.monotonic())
    assert ending == Ending("exit", 0)


def test_a_command_without_heartbeats_is_ended(room: Room) -> None:
    assert room.run("sleep", "60", silence_seconds=0.3).cause == "silence"


def test_heartbeats_keep_a_command_alive(room: Room) -> None:
    command = room.shell("sleep 1", silence_seconds=0.4)
    done = threading.Event()

    def beat() -> None:
        while not done.wait(0.05):
            command.beat(time.monotonic())

    beater = threading.Thread(target=beat)
    beater.start()
    assert command.wait(room.collector) == Ending("exit", 0)
    done.set()
    beater.join()


def test_a_heartbeat_counts_from_when_it_was_sent(room: Room) -> None:
    command = room.start("sleep", "60", silence_seconds=1.0)
    started = time.monotonic()
    command.beat(started - 30)
    assert command.wait(room.collector).cause == "silence"
    assert time.monotonic() - started < 10


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


def test_a_command_starts_with_the_usual_signals(room: Room) -> None:
    room.run_shell("grep -E 'SigIgn|SigBlk' /proc/self/status")
    assert room.output.split() == ["SigBlk:", "0" * 16, "SigIgn:", "0" * 16]


def test_a_command_holds_nothing_of_the_workers_but_its_three_streams(room: Room) -> None:
    room.run(sys.executable, "-c", "import os; print(sorted(os.listdir('/proc/self/fd'))[:4])")
    assert room.output == "['0', '1', '2', '3']\n"  # 3 is the listing itself


def test_a_command_sees_only_the_environment_it_is_given(room: Room) -> None:
    environment = {"PATH": os.environ["PATH"], "NIGHTSHIFT_TITLE": "夜 \n'\""}
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    room.run(sys.executable, "-X", "utf8", "-c", code, environment=environment)
    seen = json.loads(room.output)
    assert seen.pop("LC_CTYPE", "C.UTF-8") == "C.UTF-8"
    assert seen == environment


def test_a_command_in_the_background_does_not_delay_the_end(room: Room) -> None:
    started = time.monotonic()
    assert room.run_shell("sleep 300 & echo done", grace_seconds=60.0) == Ending("exit", 0)
    assert time.monotonic() - started < 30
    assert room.output == "done\n"


def test_a_flood_of_output_is_taken_in_bounded_memory(room: Room) -> None:
    flood = "head -c 50000000 /dev/zero | tr '\\0' x; echo the end"
    assert room.run_shell(flood) == Ending("exit", 0)
    output = room.collector.collected()
    assert len(output.head) + len(output.tail) <= 32 * 1024
    assert output.tail.endswith("the end\n")
    assert output.left_out > 49_000_000
