"""The previous result of a task, handed to a command as a file beside its prompt."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from nightshift_toolkit.worker.message import RunMessage, UnreadableMessage
from nightshift_toolkit.worker.previous_file import previous_file
from unit.worker.desk import Desk

PREVIOUS = {
    "run_id": "tsk_1-20251231T090000000Z",
    "scheduled_for": "2025-12-31T09:00:00.000Z",
    "finished_at": "2025-12-31T09:01:00.000Z",
    "result": {"exit_code": 0, "output": "$(touch hacked) `é` \\u0000", "data": {"closed": 3}},
}
READS = """cat "$NIGHTSHIFT_PREVIOUS_RESULT_FILE" """


def result_of(command: str, *, previous: Any = PREVIOUS, **settings: Any) -> dict[str, Any]:
    """The result in the report on a shell command that is handed this."""
    desk = Desk(**settings)
    message = desk.shell(command, previous=previous)
    desk.take().carry_out()
    report = desk.report_on(message)
    assert report["outcome"] == "success"
    result: dict[str, Any] = report["result"]
    return result


def test_a_command_finds_the_previous_result_in_a_file() -> None:
    assert json.loads(result_of(READS)["output"]) == PREVIOUS


@pytest.mark.parametrize(
    "nothing",
    [
        {"run_id": None, "scheduled_for": None, "finished_at": None, "result": None},
        {"run_id": "tsk_1-gone", "scheduled_for": None, "finished_at": None, "result": None},
    ],
    ids=["no success yet", "gone from the history"],
)
def test_that_there_is_none_is_said_in_the_file(nothing: dict[str, Any]) -> None:
    """So that a run which asked for it can tell both from a result."""
    assert json.loads(result_of(READS, previous=nothing)["output"]) == nothing


def test_a_run_that_did_not_ask_has_no_file(tmp_path: Path) -> None:
    """A fact that a run does not have is an empty text."""
    command = """printf '[%s]' "$NIGHTSHIFT_PREVIOUS_RESULT_FILE"; ls -A"""
    assert result_of(command, previous=None, folder=tmp_path)["output"] == "[]"


def test_the_previous_result_is_neither_in_the_prompt_nor_on_the_command_line() -> None:
    """SPEC section 8: facts come beside the prompt."""
    agent = ("/bin/sh", "-c", "cat; tr '\\0' ' ' < /proc/self/cmdline; env", "agent")
    desk = Desk(agent_command=agent)
    message = desk.send(previous=PREVIOUS)
    desk.take().carry_out()
    seen = desk.report_on(message)["result"]["output"]
    assert message["action"]["prompt"] in seen
    assert "NIGHTSHIFT_PREVIOUS_RESULT_FILE=/" in seen
    for part in ("touch hacked", "closed", PREVIOUS["run_id"]):
        assert part not in seen


def test_the_file_is_its_owners_and_goes_with_the_run(tmp_path: Path) -> None:
    command = """stat -c %a "$NIGHTSHIFT_PREVIOUS_RESULT_FILE"; """
    command += """dirname "$NIGHTSHIFT_PREVIOUS_RESULT_FILE" """
    assert result_of(command, folder=tmp_path)["output"] == f"600\n{tmp_path}\n"
    assert list(tmp_path.iterdir()) == []


def test_a_command_may_do_anything_with_its_file(tmp_path: Path) -> None:
    command = """rm "$NIGHTSHIFT_PREVIOUS_RESULT_FILE"; mkdir "$NIGHTSHIFT_PREVIOUS_RESULT_FILE" """
    assert result_of(command, folder=tmp_path)["exit_code"] == 0


def test_nothing_that_lies_there_under_its_name_is_written_to(tmp_path: Path) -> None:
    """A folder may be shared by the commands of several people."""
    victim = tmp_path / "victim"
    victim.write_text("mine")
    path = tmp_path / "previous"
    path.symlink_to(victim)
    with previous_file(path, PREVIOUS) as name:
        assert stat.S_ISREG(os.lstat(name).st_mode)
        assert json.loads(Path(name).read_text(encoding="utf-8")) == PREVIOUS
    assert victim.read_text() == "mine"
    assert not path.exists()


@pytest.mark.parametrize("previous", ["text", [1], 3, True])
def test_what_is_no_object_is_no_message(previous: Any) -> None:
    body = json.dumps(Desk().message(previous=previous))
    with pytest.raises(UnreadableMessage, match=r"^previous is not an object$"):
        RunMessage.parse(body)
