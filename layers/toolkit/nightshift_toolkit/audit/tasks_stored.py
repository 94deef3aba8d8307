"""Invariants of tasks and what goes with them: times, index keys, payloads, counts."""

from datetime import datetime

from nightshift.adapters.dynamodb import keys
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import SlotState, TaskStatus
from nightshift.domain.model.task import Task
from nightshift_toolkit.audit.finding import Broken, always, at_rest, swept
from nightshift_toolkit.audit.snapshot import DueEntry, Snapshot


@always
def rows_can_be_read(snapshot: Snapshot) -> Broken:
    """Every row can be read."""
    for key in snapshot.unreadable:
        yield key, "it cannot be read"


@always
def armed_tasks_have_a_next_time(snapshot: Snapshot) -> Broken:
    """A task that the clock is to start has a next time and a due time, in this order."""
    for task in snapshot.tasks:
        state = task.state
        if not task.is_armed:
            continue
        if state.next_run_at is None or state.due_at is None:
            yield task.id, f"it is enabled, next {state.next_run_at}, due {state.due_at}"
        elif state.due_at < state.next_run_at:
            yield task.id, f"it is due at {state.due_at}, before its time {state.next_run_at}"


@always
def idle_tasks_have_no_time(snapshot: Snapshot) -> Broken:
    """A task that is paused, running or finished has no next time; a pause may have an end."""
    for task in snapshot.tasks:
        state = task.state
        if state.status is TaskStatus.ENABLED or pause_end(task) is not None:
            continue
        if state.next_run_at is not None or state.due_at is not None:
            yield task.id, f"it is {state.status}, next {state.next_run_at}, due {state.due_at}"


@always
def pauses_with_an_end_come_to_it(snapshot: Snapshot) -> Broken:
    """A task that is paused until a time has that as its due time, or a later one, and no next."""
    for task in snapshot.tasks:
        state, end = task.state, pause_end(task)
        if end is None:
            continue
        if state.next_run_at is not None or state.due_at is None or state.due_at < end:
            yield task.id, f"it is paused until {end}, next {state.next_run_at}, due {state.due_at}"


@always
def index_keys_are_right(snapshot: Snapshot) -> Broken:
    """A task has index keys exactly when the clock may start or wake it, of its due time (K1)."""
    for task in snapshot.tasks:
        wanted = wanted_entry(task)
        found = snapshot.due.get(TaskRef(task.user_id, task.id))
        if found != wanted:
            yield task.id, f"its index keys are {_text(found)}, right is {_text(wanted)}"


@at_rest
def index_follows_the_rows(snapshot: Snapshot) -> Broken:
    """The due index holds what the task rows say, and nothing else."""
    if snapshot.index is None:
        return
    for ref in sorted(snapshot.index.keys() | snapshot.due.keys(), key=lambda ref: ref.task_id):
        listed, wanted = snapshot.index.get(ref), snapshot.due.get(ref)
        if listed != wanted:
            yield ref.task_id, f"the index says {_text(listed)}, the row {_text(wanted)}"


@at_rest
def next_times_are_not_recorded_yet(snapshot: Snapshot) -> Broken:
    """The next time of a task lies after every instant that its records cover (P15)."""
    for task in snapshot.tasks:
        upcoming = task.state.next_run_at
        for run in snapshot.history_of.get(task.id, ()):
            covered = run.folded_through or run.scheduled_for
            if upcoming is not None and covered is not None and upcoming <= covered:
                yield task.id, f"it is next at {upcoming}, and {run.id} covers {covered}"


@always
def active_run_ids_name_the_slot(snapshot: Snapshot) -> Broken:
    """A task names a run as active exactly when that run holds its slot (K7)."""
    for task in snapshot.tasks:
        slot = snapshot.slot_of.get(task.id)
        holds = slot.run_id if slot else None
        if task.state.active_run_id != holds:
            yield task.id, f"it names {task.state.active_run_id}, its slot {holds}"


@always
def running_means_a_run(snapshot: Snapshot) -> Broken:
    """A `once` task is running exactly while its run is active; a recurring one never is."""
    for task in snapshot.tasks:
        slot = snapshot.slot_of.get(task.id)
        consumed = slot is not None and slot.consumes_once
        if consumed != (task.state.status is TaskStatus.RUNNING):
            yield task.id, f"it is {task.state.status}, its slot {slot.run_id if slot else None}"


@always
def payloads_are_there(snapshot: Snapshot) -> Broken:
    """The prompt or command of every task, and of every launch still to come, is there."""
    for task in snapshot.tasks:
        ref, revision = TaskRef(task.user_id, task.id), task.definition.payload_revision
        if (ref, revision) not in snapshot.payloads:
            yield task.id, f"its payload of revision {revision} is missing"
    for slot in snapshot.slots:
        ref = TaskRef(slot.keys.user_id, slot.task_id)
        queued = slot.state is SlotState.QUEUED
        if queued and (ref, slot.payload_revision) not in snapshot.payloads:
            yield slot.run_id, f"its payload of revision {slot.payload_revision} is missing"


@always
def payloads_are_needed(snapshot: Snapshot) -> Broken:
    """Every prompt or command is that of a task or of an active run."""
    needed = {
        (TaskRef(task.user_id, task.id), task.definition.payload_revision)
        for task in snapshot.tasks
    } | {
        (TaskRef(slot.keys.user_id, slot.task_id), slot.payload_revision) for slot in snapshot.slots
    }
    for ref, revision in snapshot.payloads - needed:
        yield ref.task_id, f"nobody needs its payload of revision {revision}"


@always
def quotas_count_the_tasks(snapshot: Snapshot) -> Broken:
    """The count of each user's tasks is the number of them."""
    if snapshot.quotas is None:
        return
    for user_id in sorted(snapshot.quotas.keys() | snapshot.tasks_owned.keys()):
        counted, owned = snapshot.quotas.get(user_id, 0), snapshot.tasks_owned.get(user_id, 0)
        if counted != owned:
            yield user_id, f"{counted} tasks are counted, {owned} are there"


@always
def logs_tell_every_change(snapshot: Snapshot) -> Broken:
    """The change log of a task has one entry for each of its revisions."""
    for task in snapshot.tasks:
        told = sorted(snapshot.logs.get(task.id, ()))
        if told != list(range(1, task.revision + 1)):
            yield task.id, f"it is at revision {task.revision}, its log tells of {told}"


@swept
def logs_expire_after_their_task(snapshot: Snapshot) -> Broken:
    """Every entry of the change log of a task that is gone expires some day."""
    for task_id, entries in snapshot.unexpiring.items():
        if entries and task_id not in snapshot.task_of and not snapshot.unreadable:
            yield task_id, f"it is gone and {entries} entries of its log never expire"


def wanted_entry(task: Task) -> DueEntry | None:
    """The index keys that a task should have."""
    due_at = task.state.due_at
    wakes = pause_end(task) is not None
    if due_at is None or not (wakes or task.is_armed):
        return None
    bucket = keys.due_bucket(task.definition.priority, task.due_shard)
    return DueEntry(bucket, keys.due_key(due_at, task.id, wakes=wakes))


def pause_end(task: Task) -> datetime | None:
    """When the clock is to end the pause of a task; a blocked task does not wake (P3, P20)."""
    state = task.state
    waits = state.status is TaskStatus.PAUSED and state.blocked_reason is None
    return state.pause_until if waits else None


def _text(entry: DueEntry | None) -> str:
    return "none" if entry is None else f"{entry.bucket}/{entry.key}"


ABOUT_TASKS = (
    rows_can_be_read,
    armed_tasks_have_a_next_time,
    idle_tasks_have_no_time,
    pauses_with_an_end_come_to_it,
    index_keys_are_right,
    index_follows_the_rows,
    next_times_are_not_recorded_yet,
    active_run_ids_name_the_slot,
    running_means_a_run,
    payloads_are_there,
    payloads_are_needed,
    quotas_count_the_tasks,
    logs_tell_every_change,
    logs_expire_after_their_task,
)
