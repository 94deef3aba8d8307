"""Presets and drains, with real processes at the real engine."""

import os
import signal
import sys
from pathlib import Path

import pytest

import planted
from integration.worker.place import Place
from integration.worker.process import actions, ended, worker, working_in
from nightshift.domain.model.enums import FailureClass
from nightshift.domain.model.retry import Retry
from unit.worker.fakes import eventually


def test_a_preset_runs_its_tool_and_the_record_says_what_it_cost(
    place: Place, log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tool is a stand-in that writes what the real one is documented to."""
    said = {"type": "result", "session_id": "s-1", "total_cost_usd": 0.5, "is_error": False}
    tool = tmp_path / "claude"
    tool.write_text(
        f"#!{sys.executable}\nimport json, os, sys\nprompt = sys.stdin.read()\n"
        f"print(json.dumps({said} | {{'result': ' '.join([*sys.argv[1:], os.environ['MODEL_KEY'],"
        f" prompt]), 'usage': {{'input_tokens': 3, 'output_tokens': 4}}}}))\n"
    )
    tool.chmod(0o700)
    variables = tmp_path / "variables"
    variables.write_text("MODEL_KEY=given\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    options = ("--env-file", str(variables), "--threads", str(tmp_path / "threads"))
    with worker(place, log, "--preset", "claude", *options, "--", "--model", "small"):
        results = []
        for _ in range(2):
            execution = place.start(place.message())
            assert eventually(ended(place, execution))
            results.append(place.report(execution)["result"])
    flags = "--print --output-format json --model small"
    assert [result["output"] for result in results] == [
        f"{flags} given {planted.PROMPT}\n",
        f"{flags} --resume s-1 given {planted.PROMPT}\n",
    ]
    assert results[0]["usage"] == {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}
    assert results[1]["usage"]["cost_usd"] == 0
    assert "data" not in results[0]


def test_what_a_stopping_worker_has_not_begun_is_another_workers_at_once(
    place: Place, log: Path, tmp_path: Path
) -> None:
    """The visibility time of the queue is longer than this test waits."""
    options = ("--allow-shell", "--workdir", str(tmp_path))
    other = tmp_path / "other.log"
    with worker(place, log, *options) as first:
        begun = place.start_command("touch up; while [ ! -e go ]; do sleep 0.02; done")
        assert eventually((tmp_path / "up").exists)
        waiting = place.start_command("true")
        first.send_signal(signal.SIGTERM)
        assert eventually(lambda: "worker_draining" in actions(log))
        with worker(place, other, *options):
            assert eventually(ended(place, waiting))
        (tmp_path / "go").touch()
        assert first.wait(30) == 0
    assert place.report(begun)["outcome"] == "success"
    assert place.report(waiting)["outcome"] == "success"


def test_a_run_that_outlasts_the_drain_is_ended_and_reported_for_another_attempt(
    place: Place, log: Path, tmp_path: Path
) -> None:
    """`worker_stopped` counts as `worker_lost` where a task says after what it is tried again."""
    options = ("--allow-shell", "--workdir", str(tmp_path), "--drain-seconds", "0.2")
    with worker(place, log, *options) as first:
        execution = place.start_command("setsid sleep 300 & touch up; sleep 300")
        assert eventually((tmp_path / "up").exists)
        first.send_signal(signal.SIGTERM)
        assert first.wait(30) == 0
        assert working_in(tmp_path) == []
    report = place.report(execution)
    assert (report["outcome"], report["reason"]) == ("failed", "worker_stopped")
    retry = Retry(max_attempts=2, on=(FailureClass.WORKER_LOST,))
    assert report["reason"] in retry.reasons()
