"""One delivery's way from the queue to the report (SPEC section 8)."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import planted
from unit.worker.desk import Desk
from unit.worker.fakes import eventually


def _in_background(*calls: Any) -> list[threading.Thread]:
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    return threads


def _join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(20)
    assert not any(thread.is_alive() for thread in threads)


def test_a_run_is_done_reported_and_off_the_queue() -> None:
    desk = Desk()
    message = desk.send()
    desk.take().carry_out()
    report = desk.report_on(message)
    assert (report["outcome"], report["reason"], report["error"]) == ("success", None, None)
    assert report["result"] == {
        "exit_code": 0,
        "output": f"asked: {planted.PROMPT}\n",
        "truncated": False,
    }
    assert report["started_at"] <= report["finished_at"]
    assert desk.queue.held() == 0


def test_a_command_that_exits_3_is_a_failure_with_its_code() -> None:
    desk = Desk()
    message = desk.shell("echo almost; exit 3")
    desk.take().carry_out()
    report = desk.report_on(message)
    assert (report["outcome"], report["reason"]) == ("failed", "nonzero_exit")
    assert report["result"]["exit_code"] == 3
    assert report["result"]["output"] == "almost\n"


def test_a_command_ended_by_a_signal_is_a_failure_with_the_code_a_shell_shows() -> None:
    desk = Desk()
    message = desk.shell("kill -9 $$")
    desk.take().carry_out()
    assert desk.report_on(message)["result"]["exit_code"] == 137
    assert desk.report_on(message)["error"] == "Ended by SIGKILL."


def test_a_run_that_takes_too_long_fails_as_timeout() -> None:
    desk = Desk()
    message = desk.shell("sleep 60", timeout_seconds=1)
    desk.take().carry_out()
    report = desk.report_on(message)
    assert (report["outcome"], report["reason"]) == ("failed", "timeout")
    assert report["result"]["exit_code"] is None


def test_a_command_is_refused_where_the_operator_does_not_allow_it(tmp_path: Path) -> None:
    desk = Desk(allow_shell=False)
    message = desk.shell(f"touch {tmp_path}/made")
    desk.take().carry_out()
    assert desk.report_on(message)["outcome"] == "failed"
    assert desk.report_on(message)["reason"] == "shell_not_allowed"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("action", [{"kind": "agent", "prompt": "x"}, {"kind": "poem"}])
def test_an_action_this_worker_cannot_do_fails_with_a_sentence(action: dict[str, str]) -> None:
    desk = Desk(agent_command=())
    message = desk.send(action=action)
    desk.take().carry_out()
    assert desk.report_on(message)["reason"] == "error"
    assert desk.report_on(message)["error"].startswith("This worker ")


def test_an_agent_that_cannot_be_started_fails_with_its_name() -> None:
    desk = Desk(agent_command=("no-such-agent",))
    message = desk.send()
    desk.take().carry_out()
    assert desk.report_on(message)["reason"] == "error"
    assert "no-such-agent" in desk.report_on(message)["error"]


def test_each_run_has_an_empty_folder_that_is_gone_afterwards() -> None:
    desk = Desk()
    message = desk.shell("pwd; ls -A; mkdir sub; touch sub/file; chmod 500 sub")
    desk.take().carry_out()
    folder = Path(desk.report_on(message)["result"]["output"].strip())
    assert folder.is_absolute()
    assert not folder.exists()


def test_runs_share_the_operators_folder_where_there_is_one(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    desk.shell("touch made")
    desk.take().carry_out()
    assert (tmp_path / "made").exists()


def test_a_credential_of_the_worker_is_not_in_a_commands_environment() -> None:
    desk = Desk()
    message = desk.shell("env")
    desk.take().carry_out()
    output = desk.report_on(message)["result"]["output"]
    assert "NIGHTSHIFT_RUN_ID=" in output
    assert "AWS_" not in output


def test_one_message_delivered_to_two_workers_starts_one_process(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    desk.shell("echo x >> ran; sleep 0.3")
    works = [desk.take()]
    desk.queue.show_hidden()
    works.append(desk.take())
    _join(_in_background(*(work.carry_out for work in works)))
    assert (tmp_path / "ran").read_text() == "x\n"
    assert len(desk.callbacks.reports) == 1
    assert desk.queue.held() == 0


def test_a_message_that_comes_again_after_its_run_was_won_is_dropped(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    message = desk.shell("echo x >> ran")
    desk.take().carry_out()
    desk.queue.send(json.dumps(message))
    desk.take().carry_out()
    assert (tmp_path / "ran").read_text() == "x\n"
    assert desk.queue.held() == 0


def test_a_later_attempt_of_the_same_run_is_done_again(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    message = desk.shell("echo x >> ran")
    desk.take().carry_out()
    for attempt in (2, 1):
        desk.callbacks.waiting.add(message["task_token"])
        desk.queue.send(json.dumps(message | {"attempt": attempt}))
        desk.take().carry_out()
    assert (tmp_path / "ran").read_text() == "x\nx\n"


@pytest.mark.parametrize("row", [{"nonce": "another"}, {"status": "interrupted"}])
def test_a_run_that_is_not_this_admissions_any_more_is_not_done(row: dict[str, str]) -> None:
    desk = Desk()
    message = desk.send()
    desk.pickups.rows[message["run_id"]] |= row
    desk.take().carry_out()
    assert desk.callbacks.reports == {}
    assert desk.callbacks.heartbeats == []
    assert desk.queue.held() == 0


def test_a_lost_answer_to_the_pickup_is_found_to_be_ours() -> None:
    desk = Desk()
    desk.pickups.lost_answers = 2
    message = desk.send()
    desk.take().carry_out()
    assert desk.report_on(message)["outcome"] == "success"


def test_a_pickup_that_stays_uncertain_leaves_the_message_to_the_queue() -> None:
    desk = Desk(silence_seconds=0.1)
    desk.pickups.failures = 1000
    desk.send()
    desk.take().carry_out()
    assert desk.callbacks.heartbeats == []
    assert desk.queue.held() == 1


def test_a_run_cancelled_before_it_was_picked_up_starts_nothing(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    message = desk.shell("touch made")
    desk.callbacks.end(message["task_token"])
    desk.take().carry_out()
    assert not (tmp_path / "made").exists()
    assert desk.callbacks.reports == {}


def test_a_run_cancelled_in_the_middle_is_killed_within_a_heartbeat(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    message = desk.shell("touch up; trap '' TERM; while :; do sleep 1; done")
    threads = _in_background(desk.take().carry_out)
    assert eventually((tmp_path / "up").exists)
    desk.callbacks.end(message["task_token"])
    _join(threads)
    assert desk.callbacks.reports == {}


def test_a_run_is_kept_alive_while_it_runs_and_while_its_report_waits() -> None:
    desk = Desk()
    desk.callbacks.report_failures = 1
    message = desk.shell("sleep 0.3")
    desk.take().carry_out()
    assert desk.report_on(message)["outcome"] == "success"
    assert len(desk.callbacks.heartbeats) >= 5


def test_a_run_cut_off_from_the_world_ends_before_it_is_given_up(tmp_path: Path) -> None:
    """Its keys come free after `silence_seconds`; by then nothing of it may be left."""
    desk = Desk(folder=tmp_path, silence_seconds=1.0, grace_seconds=0.2)
    desk.shell("touch up; trap '' TERM; while :; do sleep 1; done")
    threads = _in_background(desk.take().carry_out)
    assert eventually((tmp_path / "up").exists)
    desk.callbacks.cut_off = True
    _join(threads)
    assert desk.callbacks.reports == {}


def test_a_run_that_was_cut_off_says_so_when_the_world_is_back(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path, silence_seconds=2.0, grace_seconds=1.5)
    message = desk.shell("touch up; trap 'touch asked; exit 0' TERM; while :; do sleep 0.05; done")
    threads = _in_background(desk.take().carry_out)
    assert eventually((tmp_path / "up").exists)
    desk.callbacks.cut_off = True
    assert eventually((tmp_path / "asked").exists)
    desk.callbacks.cut_off = False
    _join(threads)
    assert desk.report_on(message)["reason"] == "worker_lost"


def test_a_report_whose_answer_was_lost_is_settled_by_the_next_attempt() -> None:
    desk = Desk()
    desk.callbacks.lost_answers = 1
    message = desk.send()
    desk.take().carry_out()
    assert desk.report_on(message)["outcome"] == "success"


def test_a_message_that_cannot_be_read_stays_for_the_dead_letter() -> None:
    desk = Desk()
    desk.queue.send("{not a message")
    for _ in range(3):
        desk.take().carry_out()
        desk.queue.show_hidden()
    assert desk.queue.receive(1, 0) == []
    assert desk.queue.dead_letters == ["{not a message"]


def test_a_failed_delete_is_made_good_by_the_next_delivery() -> None:
    desk = Desk()
    message = desk.send()
    work = desk.take()
    desk.queue.failures = 1
    work.carry_out()
    assert desk.report_on(message)["outcome"] == "success"
    assert desk.queue.held() == 1
    desk.queue.show_hidden()
    desk.take().carry_out()
    assert desk.queue.held() == 0
    assert len(desk.callbacks.heartbeats) < 100


def test_a_stopped_work_hands_back_what_it_has_not_won() -> None:
    desk = Desk()
    desk.send()
    work = desk.take()
    work.stop()
    work.carry_out()
    assert desk.queue.visible() == 1
    assert desk.callbacks.reports == {}


def test_a_stopped_run_is_reported_as_stopped_by_the_worker(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path)
    message = desk.shell("echo so far; touch up; sleep 60")
    work = desk.take()
    threads = _in_background(work.carry_out)
    assert eventually((tmp_path / "up").exists)
    work.stop()
    _join(threads)
    report = desk.report_on(message)
    assert (report["outcome"], report["reason"]) == ("failed", "worker_stopped")
    assert report["result"]["output"] == "so far\n"


def test_no_log_line_holds_a_prompt_and_each_names_its_run(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level("INFO", "nightshift_toolkit.worker")
    desk = Desk()
    message = desk.send()
    desk.take().carry_out()
    actions = [record.getMessage() for record in caplog.records]
    assert actions == ["run_picked_up", "run_ended", "run_reported"]
    for record in caplog.records:
        assert vars(record)["run_id"] == message["run_id"]
        assert "Summarise" not in str(vars(record))
