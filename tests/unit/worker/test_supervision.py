"""One command under its warden: what it gets, how it ends (SPEC section 8)."""

import json
import os
import signal
import sys
import threading
import time

from nightshift_toolkit.worker.supervision import Ending
from unit.worker.fakes import eventually
from unit.worker.room import SHELL, Room


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
    command = room.shell("sleep 2", silence_seconds=1.0)
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


def test_a_command_starts_with_the_usual_signals(room: Room) -> None:
    """Also under a worker that was started with some of them ignored."""
    before = signal.signal(signal.SIGQUIT, signal.SIG_IGN)
    try:
        room.run_shell("grep -E 'SigIgn|SigBlk' /proc/self/status")
    finally:
        signal.signal(signal.SIGQUIT, before)
    _, blocked, _, ignored = room.output.split()
    of_the_system_library = 1 << 31 | 1 << 32
    assert int(blocked, 16) & ~of_the_system_library == 0
    assert int(ignored, 16) & ~of_the_system_library == 0


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


def test_a_flood_of_output_is_taken_in_bounded_memory(room: Room) -> None:
    flood = "head -c 50000000 /dev/zero | tr '\\0' x; echo the end"
    assert room.run_shell(flood) == Ending("exit", 0)
    output = room.collector.collected()
    assert len(output.head) + len(output.tail) <= 32 * 1024
    assert output.tail.endswith("the end\n")
    assert output.left_out > 49_000_000
