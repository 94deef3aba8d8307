"""Tasks, payloads and threads as rows, and the updates that change a task (P19)."""

from datetime import datetime
from typing import Any

from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import PayloadItem, TaskItem, ThreadItem
from nightshift.adapters.dynamodb.operations import Raw
from nightshift.adapters.dynamodb.reading import guarded_reader, integer
from nightshift.domain.exchanged import Thread
from nightshift.domain.model.enums import ActionKind, ContextMode, OverlapPolicy, TaskStatus
from nightshift.domain.model.notify import notify_from_dict, notify_to_dict
from nightshift.domain.model.retry import retry_from_dict, retry_to_dict
from nightshift.domain.model.schedule_storage import schedule_from_dict
from nightshift.domain.model.slot import Overwritten
from nightshift.domain.model.task import Definition, Payload, Plan, State, Task


@guarded_reader
def task_from(row: Raw) -> Task:
    """The task of a row."""
    item = TaskItem.from_raw_data(dict(row))
    return Task(
        id=item.task_id,
        user_id=item.user_id,
        definition=Definition(
            title=item.title,
            action_kind=ActionKind(item.action_kind),
            payload_revision=int(item.payload_revision),
            schedule=schedule_from_dict(item.schedule),
            timeout_seconds=int(item.timeout_seconds),
            context_mode=ContextMode(item.context_mode),
            thread_id=item.thread_id,
            assistant_id=item.assistant_id,
            overlap_policy=OverlapPolicy(item.overlap_policy),
            priority=int(item.priority),
            max_lateness_seconds=integer(item.max_lateness_seconds),
            jitter_seconds=int(item.jitter_seconds),
            jitter_place=integer(item.jitter_place),
            retry=retry_from_dict(item.retry),
            notify=notify_from_dict(item.notify),
            pause_after_failures=integer(item.pause_after_failures),
            include_previous_result=bool(item.include_previous_result),
            labels=dict(item.labels),
        ),
        state=_state_from(item),
        revision=int(item.revision),
        created_at=item.created_at,
        updated_at=item.updated_at,
        due_shard=int(item.due_shard),
        slot_shard=int(item.slot_shard),
    )


def _state_from(item: TaskItem) -> State:
    return State(
        status=TaskStatus(item.status),
        next_run_at=item.next_run_at,
        due_at=item.due_at,
        tzdata_version=item.tzdata_version,
        planned_from=item.planned_from,
        blocked_reason=item.blocked_reason,
        pause_reason=item.pause_reason,
        pause_until=item.pause_until,
        active_run_id=item.active_run_id,
        last_run_at=item.last_run_at,
        last_run_id=item.last_run_id,
        last_thread_id=item.last_thread_id,
        last_status=item.last_status,
        last_error=item.last_error,
        run_count=int(item.run_count),
        scheduled_run_count=int(item.scheduled_run_count),
        failures_in_a_row=integer(item.failures_in_a_row) or 0,
        last_success_run_id=item.last_success_run_id,
    )


def _definition_attributes(task: Task) -> dict[str, Any]:
    definition = task.definition
    return {
        "title": definition.title,
        "action_kind": definition.action_kind.value,
        "payload_revision": definition.payload_revision,
        "schedule": definition.schedule.to_dict(),
        "timeout_seconds": definition.timeout_seconds,
        "context_mode": definition.context_mode.value,
        "thread_id": definition.thread_id,
        "assistant_id": definition.assistant_id,
        "overlap_policy": definition.overlap_policy.value,
        "priority": definition.priority,
        "max_lateness_seconds": definition.max_lateness_seconds,
        "jitter_seconds": definition.jitter_seconds,
        "jitter_place": definition.jitter_place,
        "retry": retry_to_dict(definition.retry),
        "notify": notify_to_dict(definition.notify),
        "pause_after_failures": definition.pause_after_failures,
        "include_previous_result": definition.include_previous_result or None,
        "labels": dict(definition.labels),
        "revision": task.revision,
        "updated_at": task.updated_at,
    }


def _plan_attributes(task: Task, plan: Plan) -> dict[str, Any]:
    armed = plan.due_at is not None
    bucket = keys.due_bucket(task.definition.priority, task.due_shard)
    return {
        "status": plan.status.value,
        "next_run_at": plan.next_run_at,
        "due_at": plan.due_at,
        "due_bucket": bucket if armed else None,
        "due_key": _due_key(task.id, plan.due_at, plan.next_run_at),
        "tzdata_version": plan.tzdata_version,
        "planned_from": plan.planned_from,
    }


def _due_key(task_id: str, due_at: datetime | None, next_run_at: datetime | None) -> str | None:
    """A time at which the clock is to act, without an occurrence, is the end of a pause."""
    return None if due_at is None else keys.due_key(due_at, task_id, wakes=next_run_at is None)


def plan_of(task: Task) -> Plan:
    """The plan that a task's state holds."""
    state = task.state
    return Plan(
        status=state.status,
        next_run_at=state.next_run_at,
        due_at=state.due_at,
        tzdata_version=state.tzdata_version,
        planned_from=state.planned_from,
    )


def new_task_item(task: Task) -> TaskItem:
    """The row of a task that is being created."""
    attributes = _definition_attributes(task) | _plan_attributes(task, plan_of(task))
    item: TaskItem = TaskItem.at(
        keys.task(task.user_id, task.id),
        user_id=task.user_id,
        task_id=task.id,
        created_at=task.created_at,
        due_shard=task.due_shard,
        slot_shard=task.slot_shard,
        run_count=0,
        scheduled_run_count=0,
        **{name: value for name, value in attributes.items() if value is not None},
    )
    return item


def assign(attributes: dict[str, Any]) -> list[Action]:
    """Set each attribute of a task row to its value; None removes it, so indexes stay sparse."""
    actions: list[Action] = []
    for name, value in attributes.items():
        path = getattr(TaskItem, name)
        actions.append(path.remove() if value is None else path.set(value))
    return actions


def definition_actions(task: Task) -> list[Action]:
    """What an edit writes; none of what dispatch and completion own but the plan (P19)."""
    own = _definition_attributes(task) | _switch_attributes(task)
    return assign(own) + plan_actions(task, plan_of(task))


def switch_actions(task: Task) -> list[Action]:
    """What pause and resume write; a task that is put back starts a new row of failures."""
    own: dict[str, Any] = {"revision": task.revision, "updated_at": task.updated_at}
    if task.state.status is TaskStatus.ENABLED:
        own["failures_in_a_row"] = None
    return assign(own | _switch_attributes(task)) + plan_actions(task, plan_of(task))


def _switch_attributes(task: Task) -> dict[str, Any]:
    """Why the clock must not start the task; an edit can lift it as well (P20)."""
    state = task.state
    return _pause_attributes(task) | {"blocked_reason": state.blocked_reason}


def _pause_attributes(task: Task) -> dict[str, Any]:
    state = task.state
    return {"pause_reason": state.pause_reason, "pause_until": state.pause_until}


def wake_actions(task: Task) -> list[Action]:
    """What the end of a pause writes."""
    return assign(_pause_attributes(task)) + plan_actions(task, plan_of(task))


def plan_actions(task: Task, plan: Plan) -> list[Action]:
    """What moving a task to a plan writes, index keys included (K1)."""
    return assign(_plan_attributes(task, plan))


def restore_actions(task_id: str, before: Overwritten) -> list[Action]:
    """What puts a `once` task back as it was before a refused manual launch."""
    armed = before.due_at is not None
    bucket = keys.due_bucket(before.priority, before.due_shard)
    return assign(
        {
            "status": before.status.value,
            "next_run_at": before.next_run_at,
            "due_at": before.due_at,
            "due_bucket": bucket if armed else None,
            "due_key": _due_key(task_id, before.due_at, before.next_run_at),
            "tzdata_version": before.tzdata_version,
        }
    )


def give_up_actions(reason: str) -> list[Action]:
    """What pauses a task after failures in a row: out of the clock's reach until it is resumed."""
    idle = ("next_run_at", "due_at", "due_bucket", "due_key", "tzdata_version", "planned_from")
    paused = {"status": TaskStatus.PAUSED.value, "pause_reason": reason, "pause_until": None}
    return assign(dict.fromkeys(idle) | paused)


# -- payloads and threads --


@guarded_reader
def payload_from(row: Raw) -> Payload:
    """The payload of a row."""
    item = PayloadItem.from_raw_data(dict(row))
    _, task_id, revision = item.sk.split("#")
    kind = ActionKind(item.kind)
    return Payload(task_id, keys.user_of(item.pk), int(revision), kind, item.text)


def payload_item(payload: Payload) -> PayloadItem:
    """The row of a payload."""
    item: PayloadItem = PayloadItem.at(
        keys.payload(payload.user_id, payload.task_id, payload.revision),
        revision=payload.revision,
        kind=payload.kind.value,
        text=payload.text,
    )
    return item


@guarded_reader
def thread_from(row: Raw) -> Thread:
    """The thread of a row."""
    item = ThreadItem.from_raw_data(dict(row))
    return Thread(item.sk.removeprefix("THREAD#"), keys.user_of(item.pk), item.created_at)


def task_id_from(row: Raw) -> str:
    """The task that a row's key names, readable even when nothing else is."""
    return keys.task_of(row["sk"]["S"])
