"""`nightshift worker` as a process of its own, on the real queue, table and state machine."""

import json
import os
import signal
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

import planted
from integration.worker.place import Place
from integration.worker.process import USUAL, actions, ended, worker, working_in
from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.local_cloud.engine import Engine
from unit.worker.fakes import eventually


def test_a_prompt_reaches_the_agent_and_its_answer_the_execution(place: Place, log: Path) -> None:
    agent = (sys.executable, "-m", "nightshift_toolkit.demo_agent")
    with worker(place, log, "--", *agent):
        execution = place.start(place.message(title="Tickets 夜"))
        assert eventually(ended(place, execution))
    report = place.report(execution)
    assert (report["outcome"], report["result"]["exit_code"]) == ("success", 0)
    output = report["result"]["output"]
    assert output.startswith(f"Demo agent: I was asked: {planted.PROMPT}\n")
    assert "title: Tickets 夜\n" in output
    assert place.left() == 0
    assert "Summarise" not in log.read_text()


def test_a_command_that_exits_3_is_reported_with_its_code(place: Place, log: Path) -> None:
    with worker(place, log, "--allow-shell"):
        execution = place.start_command("echo no >&2; exit 3")
        assert eventually(ended(place, execution))
    report = place.report(execution)
    assert (report["outcome"], report["reason"]) == ("failed", "nonzero_exit")
    assert report["result"] == {"exit_code": 3, "output": "no\n", "truncated": False}


def test_a_command_is_refused_without_the_operators_word(
    place: Place, log: Path, tmp_path: Path
) -> None:
    with worker(place, log, "--", "cat"):
        execution = place.start_command(f"touch {tmp_path}/made")
        assert eventually(ended(place, execution))
    assert place.report(execution)["reason"] == "shell_not_allowed"
    assert not (tmp_path / "made").exists()


def test_a_stopped_execution_kills_the_process_tree(
    place: Place, log: Path, tmp_path: Path
) -> None:
    stubborn = "trap '' TERM; setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & "
    with worker(place, log, "--allow-shell", "--workdir", str(tmp_path)):
        execution = place.start_command(f"{stubborn} touch up; while :; do sleep 0.1; done")
        assert eventually((tmp_path / "up").exists)
        place.states.stop_execution(executionArn=execution)
        assert eventually(lambda: not working_in(tmp_path))
        assert eventually(lambda: "run_over" in actions(log))
    assert place.status(execution) == "ABORTED"


def test_a_killed_worker_is_noticed_and_its_command_ends(
    engine: Engine, log: Path, tmp_path: Path
) -> None:
    place = Place(engine, silence_seconds=2)
    with worker(place, log, "--allow-shell", "--workdir", str(tmp_path)) as process:
        execution = place.start_command("setsid sleep 300 & touch up; sleep 300")
        assert eventually((tmp_path / "up").exists)
        process.kill()
        assert eventually(lambda: not working_in(tmp_path))
        assert eventually(ended(place, execution))
    described = place.states.describe_execution(executionArn=execution)
    assert (described["status"], described["error"]) == ("FAILED", "States.HeartbeatTimeout")


def test_a_worker_that_hangs_loses_its_command_before_the_run_is_given_up(
    engine: Engine, log: Path, tmp_path: Path
) -> None:
    """Two runs of a task never work at once, also when a worker is suspended and wakes again."""
    place = Place(engine, silence_seconds=6)
    times = ("--silence-seconds", "6", "--grace-seconds", "3")
    options = ("--allow-shell", "--workdir", str(tmp_path), *times)
    with worker(place, log, *options) as process:
        execution = place.start_command("touch up; sleep 300")
        assert eventually((tmp_path / "up").exists)
        process.send_signal(signal.SIGSTOP)
        try:
            assert eventually(lambda: not working_in(tmp_path))
            assert place.status(execution) == "RUNNING"
        finally:
            process.send_signal(signal.SIGCONT)


def test_two_workers_start_one_process_for_a_message_delivered_twice(
    place: Place, log: Path, tmp_path: Path
) -> None:
    options = ("--allow-shell", "--workdir", str(tmp_path))
    other = tmp_path / "other.log"
    with worker(place, log, *options), worker(place, other, *options):
        message = place.message(
            action={"kind": "shell", "command": "echo ran >> ran; while [ ! -e go ]; do :; done"}
        )
        execution = place.start(message)
        assert eventually((tmp_path / "ran").exists)
        # The token is not known here, and need not be: a doubled message never gets to use it.
        place.sqs.send_message(
            QueueUrl=place.queue_url, MessageBody=json.dumps(message | {"task_token": "doubled"})
        )
        assert eventually(lambda: "pickup_lost" in actions(log) + actions(other))
        (tmp_path / "go").touch()
        assert eventually(ended(place, execution))
    assert (tmp_path / "ran").read_text() == "ran\n"
    assert place.left() == 0


def test_a_worker_that_is_told_to_stop_finishes_its_run(
    place: Place, log: Path, tmp_path: Path
) -> None:
    with worker(place, log, "--allow-shell", "--workdir", str(tmp_path)) as process:
        execution = place.start_command("touch up; while [ ! -e go ]; do sleep 0.02; done")
        assert eventually((tmp_path / "up").exists)
        process.send_signal(signal.SIGTERM)
        assert eventually(lambda: "worker_draining" in actions(log))
        (tmp_path / "go").touch()
        assert process.wait(30) == 0
    assert place.report(execution)["outcome"] == "success"


def test_no_credential_of_the_worker_is_in_a_runs_environment(
    place: Place, log: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_KEY", "for the agent")
    monkeypatch.setenv("OTHER_KEY", "for nobody")
    with worker(place, log, "--allow-shell", "--env", "MODEL_KEY"):
        execution = place.start_command("env")
        assert eventually(ended(place, execution))
    output = place.report(execution)["result"]["output"]
    assert "MODEL_KEY=for the agent" in output
    assert "OTHER_KEY" not in output
    assert "AWS_" not in output


def test_the_worker_finds_the_local_cloud_by_itself(
    place: Place, tmp_path: Path, log: Path
) -> None:
    state = tmp_path / ".nightshift"
    state.mkdir()
    facts = dict.fromkeys(("api_url", "issuer"), "unused") | {
        "region": "us-east-1",
        "endpoint_url": place.engine.endpoint_url,
        "queue_url": place.queue_url,
        "table_name": place.table_name,
    }
    (state / "local.json").write_text(json.dumps(facts))
    execution = place.start_command("echo found")
    command = [sys.executable, "-m", "nightshift_toolkit.cli", "worker", "--allow-shell"]
    with (
        log.open("wb") as file,
        subprocess.Popen([*command, *USUAL], cwd=tmp_path, stderr=file) as process,
    ):
        assert eventually(ended(place, execution))
        process.terminate()
    assert process.returncode == 0
    assert place.report(execution)["result"]["output"] == "found\n"


@pytest.mark.parametrize(
    ("options", "exit_code", "sentence"),
    [
        ((), ExitCode.USAGE, "Say what does the work"),
        (("--", "no-such-agent"), ExitCode.USAGE, "no-such-agent is not a program"),
        (("--allow-shell", "--queue-url", "x"), ExitCode.USAGE, "needs --table"),
        (("--", "cat"), ExitCode.USAGE, "not said where the work"),
        (("--heartbeat-seconds", "200", "--", "cat"), ExitCode.USAGE, "at most half"),
    ],
)
def test_a_worker_that_cannot_work_says_why_in_one_sentence(
    tmp_path: Path, options: tuple[str, ...], exit_code: int, sentence: str
) -> None:
    _assert_refused(tmp_path, options, {}, exit_code, sentence)


def test_a_queue_that_is_not_there_is_one_sentence(place: Place, tmp_path: Path) -> None:
    missing = f"{place.queue_url}-{uuid.uuid4().hex}"
    options = ("--queue-url", missing, "--table", "any", "--allow-shell")
    environment = place.engine.environment()
    sentence = "The queue cannot be read: "
    _assert_refused(tmp_path, options, environment, ExitCode.UNREACHABLE, sentence)


def test_a_table_that_is_not_there_is_one_sentence(place: Place, tmp_path: Path) -> None:
    """At the start, and not run by run."""
    options = ("--queue-url", place.queue_url, "--table", "no-table", "--allow-shell")
    environment = place.engine.environment()
    sentence = "The table no-table cannot be written: "
    _assert_refused(tmp_path, options, environment, ExitCode.UNREACHABLE, sentence)


def _assert_refused(
    folder: Path,
    options: tuple[str, ...],
    environment: dict[str, str],
    exit_code: int,
    sentence: str,
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "nightshift_toolkit.cli", "worker", *options],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
        check=False,
    )
    assert (done.returncode, sentence in done.stderr) == (exit_code, True), done.stderr
    assert "Traceback" not in done.stderr
