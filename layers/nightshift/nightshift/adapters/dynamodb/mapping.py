"""Rows to domain values and back; a row that cannot be read is `CorruptRecord`, never a crash."""

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any, TypeVar

from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import keys
from nightshift.adapters.dynamodb.items import (
    HolderItem,
    PayloadItem,
    RunItem,
    SlotItem,
    TaskItem,
    ThreadItem,
)
from nightshift.adapters.dynamodb.table import Raw
from nightshift.domain.errors import CorruptRecord
from nightshift.domain.model.enums import (
    ActionKind,
    ContextMode,
    OverlapPolicy,
    RunStatus,
    SlotState,
    TaskStatus,
    Trigger,
)
from nightshift.domain.model.instants import format_instant, parse_instant
from nightshift.domain.model.run import Keys, Overwritten, Run, Slot
from nightshift.domain.model.schedule_storage import schedule_from_dict
from nightshift.domain.model.task import Definition, Payload, Plan, State, Task
from nightshift.domain.ports import Thread

Value = TypeVar("Value")


def _guarded(read: Callable[[Raw], Value]) -> Callable[[Raw], Value]:
    """Turn whatever a malformed row provokes into `CorruptRecord`, naming the row's key."""

    @wraps(read)
    def guarded(row: Raw) -> Value:
        try:
            return read(row)
        except CorruptRecord:
            raise
        except Exception as error:
            key = "/".join(str(row.get(name, {}).get("S", "?")) for name in ("pk", "sk"))
            raise CorruptRecord(f"The row {key} cannot be read: {type(error).__name__}.") from error

    return guarded


# -- tasks --


@_guarded
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
            max_lateness_seconds=_integer(item.max_lateness_seconds),
            jitter_seconds=int(item.jitter_seconds),
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
        blocked_reason=item.blocked_reason,
        pause_reason=item.pause_reason,
        active_run_id=item.active_run_id,
        last_run_at=item.last_run_at,
        last_run_id=item.last_run_id,
        last_thread_id=item.last_thread_id,
        last_status=item.last_status,
        last_error=item.last_error,
        run_count=int(item.run_count),
        scheduled_run_count=int(item.scheduled_run_count),
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
        "due_key": keys.due_key(plan.due_at, task.id) if plan.due_at is not None else None,
        "tzdata_version": plan.tzdata_version,
    }


def plan_of(task: Task) -> Plan:
    """The plan that a task's state holds."""
    state = task.state
    return Plan(
        status=state.status,
        next_run_at=state.next_run_at,
        due_at=state.due_at,
        tzdata_version=state.tzdata_version,
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
    """What pause and resume write."""
    own = {"revision": task.revision, "updated_at": task.updated_at}
    return assign(own | _switch_attributes(task)) + plan_actions(task, plan_of(task))


def _switch_attributes(task: Task) -> dict[str, Any]:
    """Why the clock must not start the task; an edit can lift it as well (P20)."""
    state = task.state
    return {"pause_reason": state.pause_reason, "blocked_reason": state.blocked_reason}


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
            "due_key": keys.due_key(before.due_at, task_id) if before.due_at else None,
            "tzdata_version": before.tzdata_version,
        }
    )


# -- payloads and threads --


@_guarded
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


@_guarded
def thread_from(row: Raw) -> Thread:
    """The thread of a row."""
    item = ThreadItem.from_raw_data(dict(row))
    return Thread(item.sk.removeprefix("THREAD#"), keys.user_of(item.pk), item.created_at)


# -- slots and runs --


@_guarded
def slot_from(row: Raw) -> Slot:
    """The slot of a row."""
    item = SlotItem.from_raw_data(dict(row))
    before = item.overwritten
    return Slot(
        keys=Keys(
            run_id=item.run_id,
            task_id=item.sk,
            user_id=item.user_id,
            slot_shard=int(item.pk.removeprefix("ACTIVE#")),
            seat=int(item.seat),
            locked_thread_id=item.locked_thread_id,
        ),
        nonce=item.nonce,
        state=SlotState(item.state),
        trigger=Trigger(item.trigger),
        scheduled_for=item.scheduled_for,
        thread_id=item.thread_id,
        assistant_id=item.assistant_id,
        title=item.title,
        timeout_seconds=int(item.timeout_seconds),
        payload_revision=int(item.payload_revision),
        admitted_at=item.admitted_at,
        lease_until=item.lease_until,
        launch_deadline=item.launch_deadline,
        consumes_once=item.consumes_once,
        overwritten=Overwritten(
            status=TaskStatus(before["status"]),
            next_run_at=parse_instant(before["next_run_at"]) if before["next_run_at"] else None,
            due_at=parse_instant(before["due_at"]) if before["due_at"] else None,
            tzdata_version=before["tzdata_version"],
            priority=before["priority"],
            due_shard=before["due_shard"],
        ),
        started_at=item.started_at,
        cancel_requested=bool(item.cancel_requested),
    )


def slot_item(slot: Slot) -> SlotItem:
    """The row of a slot that is being taken."""
    before = slot.overwritten
    item: SlotItem = SlotItem.at(
        keys.slot(slot.task_id, slot.keys.slot_shard),
        run_id=slot.run_id,
        nonce=slot.nonce,
        state=slot.state.value,
        user_id=slot.keys.user_id,
        seat=slot.keys.seat,
        locked_thread_id=slot.keys.locked_thread_id,
        trigger=slot.trigger.value,
        scheduled_for=slot.scheduled_for,
        thread_id=slot.thread_id,
        assistant_id=slot.assistant_id,
        title=slot.title,
        timeout_seconds=slot.timeout_seconds,
        payload_revision=slot.payload_revision,
        admitted_at=slot.admitted_at,
        lease_until=slot.lease_until,
        launch_deadline=slot.launch_deadline,
        consumes_once=slot.consumes_once,
        overwritten={
            "status": before.status.value,
            "next_run_at": format_instant(before.next_run_at) if before.next_run_at else None,
            "due_at": format_instant(before.due_at) if before.due_at else None,
            "tzdata_version": before.tzdata_version,
            "priority": before.priority,
            "due_shard": before.due_shard,
        },
    )
    return item


def seat_item(slot: Slot) -> HolderItem:
    """The row of the seat that a slot's run takes."""
    item: HolderItem = HolderItem.at(
        keys.seat(slot.keys.seat), run_id=slot.run_id, nonce=slot.nonce
    )
    return item


def thread_lock_item(slot: Slot, thread_id: str) -> HolderItem:
    """The row of the thread lock that a slot's run takes."""
    key = keys.thread_lock(slot.keys.user_id, thread_id)
    item: HolderItem = HolderItem.at(key, run_id=slot.run_id, nonce=slot.nonce)
    return item


@_guarded
def run_from(row: Raw) -> Run:
    """The run of a row."""
    item = RunItem.from_raw_data(dict(row))
    task_id = item.pk.removeprefix("TASK#")
    held = None
    if item.seat is not None and item.slot_shard is not None:
        held = Keys(
            run_id=item.run_id,
            task_id=task_id,
            user_id=item.user_id,
            slot_shard=int(item.slot_shard),
            seat=int(item.seat),
            locked_thread_id=item.locked_thread_id,
        )
    return Run(
        id=item.run_id,
        task_id=task_id,
        user_id=item.user_id,
        trigger=Trigger(item.trigger),
        status=RunStatus(item.status),
        created_at=item.created_at,
        schedule=item.schedule,
        timezone=item.timezone,
        scheduled_for=item.scheduled_for,
        thread_id=item.thread_id,
        reason=item.reason,
        error=item.error,
        result=item.result,
        attempt=int(item.attempt),
        folded=int(item.folded),
        folded_through=item.folded_through,
        folded_cut=item.folded_cut,
        started_at=item.started_at,
        finished_at=item.finished_at,
        picked_up=item.picked_up_attempt is not None,
        nonce=item.nonce,
        keys=held,
        payload_revision=_integer(item.payload_revision),
        consumes_once=item.consumes_once,
    )


def run_item(run: Run, *, expires_at: int | None = None) -> RunItem:
    """The row of a run that is being recorded; a tombstone expires, an active run never does."""
    item: RunItem = RunItem.at(
        keys.run(run.task_id, run.id),
        run_id=run.id,
        user_id=run.user_id,
        trigger=run.trigger.value,
        status=run.status.value,
        created_at=run.created_at,
        schedule=dict(run.schedule),
        timezone=run.timezone,
        scheduled_for=run.scheduled_for,
        thread_id=run.thread_id,
        reason=run.reason,
        error=run.error,
        attempt=run.attempt,
        folded=run.folded,
        folded_through=run.folded_through,
        folded_cut=run.folded_cut,
        finished_at=run.finished_at,
        nonce=run.nonce,
        slot_shard=run.keys.slot_shard if run.keys else None,
        seat=run.keys.seat if run.keys else None,
        locked_thread_id=run.keys.locked_thread_id if run.keys else None,
        payload_revision=run.payload_revision,
        consumes_once=run.consumes_once,
        expires_at=expires_at,
    )
    return item


def task_id_from(row: Raw) -> str:
    """The task that a row's key names, readable even when nothing else is."""
    return keys.task_of(row["sk"]["S"])


def _integer(number: float | None) -> int | None:
    return None if number is None else int(number)


def readable(
    rows: Sequence[Raw], read: Callable[[Raw], Value]
) -> tuple[list[Value], list[CorruptRecord]]:
    """The values of the rows that can be read, and the trouble with the others."""
    values: list[Value] = []
    corrupt: list[CorruptRecord] = []
    for row in rows:
        try:
            values.append(read(row))
        except CorruptRecord as error:
            corrupt.append(error)
    return values, corrupt
