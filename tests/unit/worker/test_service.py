"""Taking work while a place is free, and stopping without losing any (SPEC section 8)."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from nightshift_toolkit.worker.service import WorkerService
from unit.worker.desk import Desk
from unit.worker.fakes import eventually


@contextmanager
def _serving(desk: Desk) -> Iterator[WorkerService]:
    service = WorkerService(desk.bench())
    thread = threading.Thread(target=service.serve)
    thread.start()
    try:
        yield service
    finally:
        service.drain()
        thread.join(30)
        if thread.is_alive():
            service.stop()
            thread.join(30)
        assert not thread.is_alive()


def _count(folder: Path, pattern: str) -> Callable[[], int]:
    return lambda: len(list(folder.glob(pattern)))


def test_every_run_is_done_and_reported_once() -> None:
    desk = Desk(concurrency=3)
    messages = [desk.send() for _ in range(12)]
    with _serving(desk):
        assert eventually(lambda: len(desk.callbacks.reports) == 12)
    assert all(desk.report_on(message)["outcome"] == "success" for message in messages)
    assert desk.queue.held() == 0


def test_the_queue_is_asked_only_for_as_many_as_places_are_free(tmp_path: Path) -> None:
    """The heartbeat clock starts when the message is sent: none may wait in the worker."""
    desk = Desk(concurrency=2, folder=tmp_path)
    for _ in range(5):
        desk.shell("touch up-$NIGHTSHIFT_RUN_ID; while [ ! -e go ]; do sleep 0.02; done")
    with _serving(desk):
        assert eventually(lambda: _count(tmp_path, "up-*")() == 2)
        assert desk.queue.visible() == 3
        (tmp_path / "go").touch()
        assert eventually(lambda: len(desk.callbacks.reports) == 5)
    assert max(desk.queue.asked_for) == 2


def test_a_hundred_runs_at_once_all_succeed_and_leave_nothing(tmp_path: Path) -> None:
    desk = Desk(concurrency=100, folder=tmp_path, heartbeat_seconds=1.0)
    for _ in range(100):
        desk.shell("touch up-$NIGHTSHIFT_RUN_ID; while [ ! -e go ]; do sleep 0.2; done; echo done")
    threads, children = threading.active_count(), _children()
    with _serving(desk):
        assert eventually(lambda: _count(tmp_path, "up-*")() == 100, 60)
        (tmp_path / "go").touch()
        assert eventually(lambda: len(desk.callbacks.reports) == 100, 60)
    outcomes = [report["outcome"] for report in desk.callbacks.reports.values()]
    assert outcomes == ["success"] * 100
    assert threading.active_count() == threads
    assert _children() == children  # every process is reaped


def _children() -> str:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text()


def test_a_draining_worker_finishes_its_runs_and_takes_no_more(tmp_path: Path) -> None:
    desk = Desk(concurrency=1, folder=tmp_path)
    message = desk.shell("touch up; while [ ! -e go ]; do sleep 0.02; done")
    desk.shell("touch second")
    with _serving(desk) as service:
        assert eventually((tmp_path / "up").exists)
        service.drain()
        (tmp_path / "go").touch()
    assert desk.report_on(message)["outcome"] == "success"
    assert desk.queue.visible() == 1
    assert not (tmp_path / "second").exists()


def test_a_run_that_outlasts_the_drain_is_ended_and_reported(tmp_path: Path) -> None:
    desk = Desk(drain_seconds=0.2, folder=tmp_path)
    message = desk.shell("touch up; sleep 60")
    with _serving(desk) as service:
        assert eventually((tmp_path / "up").exists)
        service.drain()
        assert eventually(lambda: bool(desk.callbacks.reports))
    assert desk.report_on(message)["reason"] == "worker_stopped"


def test_a_stop_ends_what_runs_without_waiting_for_the_drain(tmp_path: Path) -> None:
    desk = Desk(drain_seconds=600.0, folder=tmp_path)
    message = desk.shell("touch up; sleep 60")
    with _serving(desk) as service:
        assert eventually((tmp_path / "up").exists)
        service.drain()
        service.stop()
    assert desk.report_on(message)["reason"] == "worker_stopped"


def test_a_message_that_arrives_while_stopping_is_handed_back() -> None:
    desk = Desk()
    desk.send()
    service = WorkerService(desk.bench())
    desk.queue.on_receive = service.drain
    service.serve()
    assert desk.queue.visible() == 1
    assert desk.pickups.rows.popitem()[1].get("picked_up_by") is None


def test_a_queue_that_does_not_answer_is_asked_again() -> None:
    desk = Desk()
    desk.queue.failures = 1
    message = desk.send()
    with _serving(desk):
        assert eventually(lambda: message["task_token"] in desk.callbacks.reports)


def test_a_fault_in_one_run_leaves_the_others_and_the_place() -> None:
    desk = Desk()
    broken = desk.send()
    desk.pickups.rows[broken["run_id"]] = {"status": "running"}  # without its nonce
    message = desk.send()
    with _serving(desk):
        assert eventually(lambda: message["task_token"] in desk.callbacks.reports)


_PROGRAM = """
    import sys
    from pathlib import Path
    from unit.worker.desk import Desk
    from nightshift_toolkit.worker.service import WorkerService
    from nightshift_toolkit.worker.signals import serve_until_signalled
    desk = Desk(folder=Path({folder!r}), drain_seconds=60.0, grace_seconds={grace})
    message = desk.shell({command!r})
    code = serve_until_signalled(WorkerService(desk.bench()))
    print(desk.callbacks.reports.get(message["task_token"], {{}}).get("reason"))
    sys.exit(code)
"""


@contextmanager
def _program(folder: Path, command: str, grace: float = 0.3) -> "Iterator[subprocess.Popen[str]]":
    """A worker process with one run, from when the run's command has touched `up`."""
    code = textwrap.dedent(_PROGRAM).format(folder=str(folder), command=command, grace=grace)
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment
    ) as program:
        try:
            assert eventually((folder / "up").exists)
            yield program
        finally:
            program.kill()


def _ended(program: "subprocess.Popen[str]") -> tuple[int, str]:
    output, _ = program.communicate(timeout=30)
    return program.returncode, output.strip()


def test_one_signal_lets_the_run_finish(tmp_path: Path) -> None:
    with _program(tmp_path, "touch up; while [ ! -e go ]; do sleep 0.02; done") as program:
        program.send_signal(signal.SIGTERM)
        (tmp_path / "go").touch()
        assert _ended(program) == (0, "None")


def test_a_second_signal_ends_the_run(tmp_path: Path) -> None:
    with _program(tmp_path, "touch up; sleep 60") as program:
        program.send_signal(signal.SIGINT)
        program.send_signal(signal.SIGTERM)
        assert _ended(program) == (0, "worker_stopped")


def test_further_signals_leave_at_once_and_the_command_still_ends(tmp_path: Path) -> None:
    # Nobody reads what it says any more, and a shell that says what ended would end by SIGPIPE.
    command = (
        "exec > /dev/null 2>&1; trap 'touch asked' TERM; touch up;"
        " while [ ! -e asked ]; do sleep 0.05; done; sleep 9"
    )
    with _program(tmp_path, command, grace=60.0) as program:
        assert eventually(lambda: _poked(program))
        assert program.returncode == 1
    assert eventually((tmp_path / "asked").exists)


def _poked(program: "subprocess.Popen[str]") -> bool:
    program.send_signal(signal.SIGINT)
    return program.poll() is not None
