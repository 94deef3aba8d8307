"""The state machine of one run: it always ends, does its work once, and tells every end alike."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

import builders
import execution
import stack
from completion.signals import outcome_of
from execution import TaskError
from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import RunItem, SlotItem
from nightshift.adapters.dynamodb.run_rows import run_from, run_item
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.model.enums import FailureClass, Outcome, RunStatus, SlotState
from nightshift.domain.model.outcome import outcome_of_execution
from nightshift.domain.model.retry import MAX_ATTEMPTS, FailedAttempt, Retry
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.slot import LaunchOrder
from nightshift.domain.services.definition import MAX_PAYLOAD_BYTES
from nightshift_toolkit.worker.message import RunMessage

DEFINITION = stack.workflow()
STATES: dict[str, dict[str, Any]] = DEFINITION["States"]
TASKS = [name for name, state in STATES.items() if state["Type"] == "Task"]
RECORDS = ["RecordReport", "RecordFailure"]
LIMIT_BYTES = 256 * 1024
SILENCE_SECONDS = 300
REFUSED = TaskError("Lambda.TooManyRequestsException")
CANCELLED = TaskError("DynamoDb.TransactionCanceledException", "[ConditionalCheckFailed, None]")
ENDS: dict[str, tuple[object, Outcome]] = {
    "success": ({"outcome": "success", "reason": None}, Outcome.SUCCESS),
    "failure": ({"outcome": "failed", "reason": "nonzero_exit"}, Outcome.FAILED),
    "interruption": ({"outcome": "interrupted", "reason": "worker_stopped"}, Outcome.INTERRUPTED),
    "failure-without-reason": ({"outcome": "failed"}, Outcome.FAILED),
    "failure-with-null-reason": ({"outcome": "failed", "reason": None}, Outcome.FAILED),
    "report-without-outcome": ({"result": {"exit_code": 0}}, Outcome.FAILED),
    "report-that-is-a-text": ("success", Outcome.FAILED),
    "unknown-outcome": ({"outcome": "SUCCESS"}, Outcome.FAILED),
    "silence": (TaskError("States.HeartbeatTimeout", ""), Outcome.FAILED),
    "silence-without-cause": (TaskError("States.HeartbeatTimeout", None), Outcome.FAILED),
    "timeout": (TaskError("States.Timeout", None), Outcome.FAILED),
    "refused-message": (TaskError("SQS.AmazonSQSException", "throttled"), Outcome.FAILED),
}
EVERY_END = [pytest.param(*end, id=name) for name, end in ENDS.items()]


def order(text: str = "Summarise.", retry: Retry | None = None) -> LaunchOrder:
    """What a run is launched with."""
    task = builders.task(retry=retry)
    return LaunchOrder(slot=builders.slot(task), payload=builders.payload(task, text))


def execution_of(launch: LaunchOrder, answers: dict[str, Any]) -> execution.Ended:
    """The walk of one execution; tasks that nothing is said of go well."""
    start = json.loads(execution_input(launch, SILENCE_SECONDS))
    assumed: dict[str, Any] = {name: {} for name in TASKS} | {"Work": {"outcome": "success"}}
    return execution.run(DEFINITION, start, assumed | answers)


def successors(state: dict[str, Any]) -> set[str]:
    """The states that may follow."""
    branches = [*state.get("Catch", []), *state.get("Choices", []), state]
    return {branch["Next"] for branch in branches if "Next" in branch} | (
        {state["Default"]} if "Default" in state else set()
    )


def ends_from(name: str, walked: tuple[str, ...] = ()) -> set[str]:
    """The types of all last states that can be reached; another attempt is the only way back."""
    if (name, walked[-1:]) == ("Work", ("WaitForNextAttempt",)):
        return set()
    assert name not in walked, f"{name} comes back to itself."
    following = successors(STATES[name])
    if not following:
        return {STATES[name]["Type"]}
    return set[str]().union(*(ends_from(state, (*walked, name)) for state in following))


def told(ended: execution.Ended, run_id: str) -> RunOutcome | None:
    """The outcome as verification reads it from Step Functions."""
    return outcome_of_execution(
        run_id,
        ended.status,
        output=ended.output,
        error=ended.error,
        cause=ended.cause,
        finished_at=builders.NOW,
    )


def recorded(ended: execution.Ended) -> RunOutcome | None:
    """The outcome as the record step hands it to the completion function."""
    [step] = [name for name in RECORDS if name in ended.asked]
    return outcome_of(ended.asked[step]["Payload"], builders.NOW)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_a_timeout(name: str) -> None:
    """B86: nothing waits for ever."""
    assert {"TimeoutSeconds", "TimeoutSecondsPath"} & set(STATES[name])


def test_machine_has_a_timeout_and_silent_workers_are_noticed() -> None:
    """B86, section 8: both are the deployment's figures, as numbers and not as text."""
    assert DEFINITION["TimeoutSeconds"] == "${WorkflowTimeoutSeconds}"
    assert STATES["Work"]["HeartbeatSeconds"] == "${WorkerSilenceSeconds}"
    source = stack.WORKFLOW_PATH.read_text(encoding="utf-8")
    assert not re.search(r"""["']\$\{\w+Seconds\}["']""", source)


def test_work_may_take_longer_than_a_worker_may_be_silent() -> None:
    """Step Functions wants the heartbeat to be the shorter of the two."""
    start = json.loads(execution_input(order(), SILENCE_SECONDS))
    assert STATES["Work"]["TimeoutSecondsPath"] == "$.max_wait_seconds"
    assert start["max_wait_seconds"] > SILENCE_SECONDS + start["timeout_seconds"]


def test_record_step_outlasts_the_function_it_calls() -> None:
    """Else a slow success would be asked for again while it still runs."""
    for name in RECORDS:
        assert STATES[name]["TimeoutSeconds"] > stack.functions()["completion"]["Timeout"]


def test_work_is_sent_again_only_when_the_queue_refused_it() -> None:
    """B98: what a worker began is never repeated by a retry."""
    [retrier] = STATES["Work"]["Retry"]
    assert retrier["ErrorEquals"] == ["SQS.AmazonSQSException"]
    assert retrier["MaxAttempts"] <= 3


@pytest.mark.parametrize("name", TASKS)
def test_retries_are_few_spread_and_slower_each_time(name: str) -> None:
    """A crowd that failed together does not come back together."""
    for retrier in STATES[name]["Retry"]:
        if retrier["MaxAttempts"] == 0:
            continue
        assert retrier["MaxAttempts"] <= 6
        assert retrier["BackoffRate"] >= 2
        assert retrier["JitterStrategy"] == "FULL"


def test_history_stays_far_below_its_limit() -> None:
    """B97: at worst every state is entered, left, and tried as often as it may be, each attempt."""
    tries = sum(retrier["MaxAttempts"] for name in TASKS for retrier in STATES[name]["Retry"])
    assert 2 * len(STATES) + 5 * (len(TASKS) + tries) < 25_000 / 5 / MAX_ATTEMPTS


def test_every_path_ends_and_comes_back_for_another_attempt_only() -> None:
    """Every state is reached, and the last ones are Succeed or Fail."""
    assert ends_from(DEFINITION["StartAt"]) == {"Succeed", "Fail"}
    reached = set().union({DEFINITION["StartAt"]}, *map(successors, STATES.values()))
    assert reached == set(STATES)


def test_caught_failure_never_ends_well() -> None:
    """B88: an error branch that ends green would hide every failure."""
    assert ends_from("RecordFailure") == {"Fail"}


def test_fenced_execution_asks_for_nothing_but_the_fence() -> None:
    """Section 6: an execution whose keys were freed does no work and changes nothing."""
    ended = execution_of(order(), {"Fence": CANCELLED})
    assert ended.visited == ["Fence", "Fenced"]
    assert (ended.status, ended.error) == ("FAILED", "Fenced")
    outcome = told(ended, order().run_id)
    assert outcome is not None
    assert outcome.outcome is Outcome.INTERRUPTED


def test_cancelled_fence_is_tried_a_few_times_by_its_right_name() -> None:
    """Section 6: a conflict looks like a refusal from there."""
    first = STATES["Fence"]["Retry"][0]
    assert first["ErrorEquals"] == ["DynamoDb.TransactionCanceledException"]
    assert 2 <= first["MaxAttempts"] <= 4


def test_fence_that_cannot_be_asked_fails_the_run_without_work() -> None:
    """A table that stays away is told as such."""
    ended = execution_of(order(), {"Fence": TaskError("DynamoDb.SdkClientException", "no answer")})
    assert "Work" not in ended.visited
    assert ended.error == "DynamoDb.SdkClientException"


def test_fence_names_rows_and_attributes_as_the_adapters_do() -> None:
    """Section 4: the slot and the run of this execution, in one transaction."""
    launch = order()
    slot, run = execution_of(launch, {}).asked["Fence"]["TransactItems"]
    shard = launch.slot.keys.slot_shard
    for item, key in (
        (slot, keys.slot(launch.slot.task_id, shard)),
        (run, keys.run(launch.slot.task_id, launch.run_id)),
    ):
        assert item["Update"]["Key"] == {"pk": {"S": key.pk}, "sk": {"S": key.sk}}
    known = set(SlotItem.get_attributes()) & set(RunItem.get_attributes())
    assert {"run_id", "nonce", "started_at"} <= known
    assert {"state", "cancel_requested"} <= set(SlotItem.get_attributes())
    assert "status" in RunItem.get_attributes()
    values = (
        slot["Update"]["ExpressionAttributeValues"] | run["Update"]["ExpressionAttributeValues"]
    )
    assert values[":running"]["S"] == SlotState.RUNNING.value == RunStatus.RUNNING.value
    assert values[":queued"]["S"] == RunStatus.QUEUED


@pytest.mark.parametrize("row", [0, 1], ids=["slot", "run"])
def test_fence_lets_its_own_second_try_pass_and_makes_no_row(row: int) -> None:
    """The answer of the first try may have been lost; K7: a row that is gone stays gone."""
    update = STATES["Fence"]["Parameters"]["TransactItems"][row]["Update"]
    assert "nonce = :nonce" in update["ConditionExpression"]
    assert "started_at = if_not_exists(started_at, :now)" in update["UpdateExpression"]
    for name in re.findall(r":\w+", update["ConditionExpression"] + update["UpdateExpression"]):
        assert name in update["ExpressionAttributeValues"]


def test_worker_reads_the_message_that_the_workflow_sends() -> None:
    """The message says all of the run and the token to answer with."""
    launch = order('Say 你好 to "all".\n')
    body = execution_of(launch, {}).asked["Work"]["MessageBody"]
    message = RunMessage.parse(json.dumps(body))
    assert message.run_id == launch.run_id
    assert message.nonce == launch.slot.nonce
    assert message.action.text == launch.payload.text
    assert message.timeout_seconds == launch.slot.timeout_seconds
    assert message.attempt == 1


@pytest.mark.parametrize("character", ["a", "é", "汉", "😀"])
def test_largest_payload_fits_with_all_that_surrounds_it(character: str) -> None:
    """Step Functions takes 256 KiB, whether or not it spells characters in ASCII."""
    text = character * (MAX_PAYLOAD_BYTES // len(character.encode()))
    ended = execution_of(order(text), {"Work": {"outcome": "failed", "error": "x" * 16_000}})
    for asked in ended.asked.values():
        assert len(json.dumps(asked)) < LIMIT_BYTES


@pytest.mark.parametrize(("answer", "outcome"), EVERY_END)
def test_every_end_is_recorded_and_told_alike(answer: object, outcome: Outcome) -> None:
    """Section 6: record step, status change and verification write the same end."""
    launch = order()
    ended = execution_of(launch, {"Work": answer})
    heard, seen = recorded(ended), told(ended, launch.run_id)
    assert heard is not None
    assert seen is not None
    assert heard.outcome is seen.outcome is outcome
    assert (ended.status == "SUCCEEDED") == (outcome is Outcome.SUCCESS)


@pytest.mark.parametrize(("answer", "outcome"), EVERY_END)
def test_record_step_that_fails_for_good_changes_no_outcome(
    answer: object, outcome: Outcome
) -> None:
    """P18: our own bookkeeping fails no run, and the end stays where verification looks."""
    launch = order()
    written = execution_of(launch, {"Work": answer})
    lost = execution_of(launch, {"Work": answer} | dict.fromkeys(RECORDS, REFUSED))
    assert told(lost, launch.run_id) == told(written, launch.run_id)
    assert (lost.status, lost.error) == (written.status, written.error)


RETRY = Retry(max_attempts=3, backoff_seconds=10, on=(FailureClass.WORKER_LOST, FailureClass.ERROR))
ERROR = {"outcome": "failed", "reason": "error", "result": {"exit_code": None}}
EXIT = {"outcome": "failed", "reason": "nonzero_exit", "result": {"exit_code": 3}}
SILENCE = TaskError("States.HeartbeatTimeout", None)


@pytest.mark.parametrize("failure", [ERROR, SILENCE, ERROR | {"reason": "worker_stopped"}])
@pytest.mark.parametrize("last", [{"outcome": "success"}, EXIT, SILENCE, ERROR])
def test_failures_that_a_task_names_are_followed_by_further_attempts(
    failure: object, last: object
) -> None:
    """Each attempt is its own message, the waits grow, and the last one's end is the run's."""
    launch = order(retry=RETRY)
    ended = execution_of(launch, {"Work": [failure, failure, last]})
    assert ended.visited.count("Work") == 3
    assert ended.asked["Work"]["MessageBody"]["attempt"] == 3
    assert ended.asked["WaitForNextAttempt"] == RETRY.waits()[-1] == 20
    alone = execution_of(order(), {"Work": last})
    assert told(ended, launch.run_id) == told(alone, launch.run_id)
    assert recorded(ended) == recorded(alone)


@pytest.mark.parametrize(
    "failure",
    [
        EXIT,
        {"outcome": "failed"},
        {"outcome": "failed", "reason": None},
        {"outcome": "interrupted", "reason": "error"},
        {"outcome": "success", "reason": "error"},
        {"reason": "error"},
        "error",
        TaskError("States.Timeout", None),
        TaskError("SQS.AmazonSQSException", "refused"),
    ],
)
def test_other_failures_are_the_end_of_the_run(failure: object) -> None:
    """What the task does not name, and what does not say that nothing is left of the attempt."""
    ended = execution_of(order(retry=RETRY), {"Work": failure})
    assert ended.visited.count("Work") == 1
    assert "RecordAttempt" not in ended.visited


def test_silence_that_the_task_does_not_name_is_the_end_of_the_run() -> None:
    """Though other failures would be followed by another attempt."""
    retry = Retry(max_attempts=3, on=(FailureClass.ERROR,))
    ended = execution_of(order(retry=retry), {"Work": SILENCE})
    assert ended.visited.count("Work") == 1
    assert "RecordAttempt" not in ended.visited
    assert recorded(ended) == recorded(execution_of(order(), {"Work": SILENCE}))


@pytest.mark.parametrize("failure", [ERROR, SILENCE])
def test_attempt_that_cannot_be_recorded_is_the_last(failure: object) -> None:
    """A run that is over, or that no worker had, is not attempted again."""
    refused = TaskError("DynamoDb.ConditionalCheckFailedException", "no")
    ended = execution_of(order(retry=RETRY), {"Work": failure, "RecordAttempt": refused})
    assert ended.visited.count("Work") == 1
    assert recorded(ended) == recorded(execution_of(order(), {"Work": failure}))


@pytest.mark.parametrize(
    ("failure", "code"), [(ERROR | EXIT | {"reason": "error"}, 3), (ERROR, None)]
)
def test_attempts_are_recorded_as_the_adapter_reads_them(failure: object, code: int | None) -> None:
    """The row that the workflow writes is a run with its attempts."""
    launch = order(retry=RETRY)
    ended = execution_of(launch, {"Work": [failure, {"outcome": "success"}]})
    update = ended.asked["RecordAttempt"]
    assert update["UpdateExpression"] == (
        "SET attempts[0] = :ended, attempt = :next REMOVE paused_at"
    )
    born = run_item(Run.admitted(builders.task(), launch.slot, None)).to_dynamodb_dict()
    values = update["ExpressionAttributeValues"]
    run = run_from(born | {"attempts": {"L": [values[":ended"]]}, "attempt": values[":next"]})
    assert run.attempt == 2
    assert [(failed.attempt, failed.reason, failed.exit_code) for failed in run.attempts] == [
        (1, "error", code)
    ]
    assert isinstance(run.attempts[0], FailedAttempt)


def test_definition_uses_each_substitution_of_the_template_and_no_other() -> None:
    """A name that is not substituted would be deployed as text."""
    [machine] = stack.resources("AWS::Serverless::StateMachine").values()
    used = set(re.findall(r"\$\{(\w+)\}", stack.WORKFLOW_PATH.read_text(encoding="utf-8")))
    assert used == set(machine["DefinitionSubstitutions"])
    assert stack.ROOT / machine["DefinitionUri"] == stack.WORKFLOW_PATH
