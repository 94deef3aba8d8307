"""Small values for tests: one fixed now, and tasks, payloads, slots and commands around it."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import planted
from nightshift.domain.commands import Action, CreateTask, ScheduleRequest
from nightshift.domain.exchanged import Admission, Ended, TaskRef
from nightshift.domain.model.cron import parse_cron
from nightshift.domain.model.enums import (
    ActionKind,
    ContextMode,
    Outcome,
    SkipReason,
    TaskStatus,
    Trigger,
)
from nightshift.domain.model.instants import parse_instant
from nightshift.domain.model.notice import Notice, Outgoing
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.run_ids import manual_run_id, occurrence_run_id, task_id_of
from nightshift.domain.model.seats import Place
from nightshift.domain.model.slot import Slot, slot_for
from nightshift.domain.model.spec import (
    Bounds,
    CronSchedule,
    EverySchedule,
    Folded,
    OnceSchedule,
    Schedule,
)
from nightshift.domain.model.task import Definition, Payload, State, Task

NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
"""A Monday noon."""
ALICE = "alice"
BOB = "bob"

SECOND = timedelta(seconds=1)
MINUTE = timedelta(minutes=1)
HOUR = timedelta(hours=1)
DAY = timedelta(days=1)
NOTHING_FOLDED = Folded(0, None, cut=False)


def at(text: str) -> datetime:
    """The instant of a text such as `2026-03-02T12:00Z`, seconds and milliseconds left out."""
    date, _, clock = text.removesuffix("Z").partition("T")
    return parse_instant(f"{date}T{clock + '00:00:00.000'[len(clock) :]}Z")


def task_id(number: int) -> str:
    """The id of the test's nth task; ids sort as their numbers do."""
    return f"tsk_{number:026d}"


def policy(**settings: Any) -> Policy:
    """The domain's loose limits with some changed; a lease brings a deadline that fits."""
    lease = settings.get("launch_lease_seconds", 60)
    chosen = {"launch_lease_seconds": lease, "launch_deadline_seconds": 3 * lease + 300}
    return Policy(**{"verify_after_seconds": 300, **chosen, **settings})


# -- schedules --


def hourly() -> CronSchedule:
    """Every full hour, UTC."""
    return cron("0 * * * *")


def cron(*expressions: str, zone: str = "UTC", **bounds: Any) -> CronSchedule:
    """A cron schedule, bounded as named."""
    parsed = tuple(parse_cron(expression) for expression in expressions)
    return CronSchedule(parsed, zone, bounds=Bounds(**bounds))


def every(seconds: int, *, anchor: datetime = NOW, **bounds: Any) -> EverySchedule:
    """A fixed interval on the grid of its anchor."""
    return EverySchedule(seconds, anchor, "UTC", Bounds(**bounds))


def once(instant: datetime = NOW + HOUR) -> OnceSchedule:
    """One time."""
    return OnceSchedule(instant, "UTC")


# -- tasks --


def task(
    schedule: Schedule | None = None,
    *,
    number: int = 1,
    user_id: str = ALICE,
    submitted_at: datetime = NOW,
    **definition: Any,
) -> Task:
    """A task as it is after its creation at `submitted_at`: enabled, with its first time."""
    draft = Task(
        id=task_id(number),
        user_id=user_id,
        definition=Definition(
            title=f"Task {number}",
            action_kind=ActionKind.AGENT,
            payload_revision=1,
            schedule=schedule or hourly(),
            timeout_seconds=600,
        ),
        state=State(),
        revision=1,
        created_at=submitted_at,
        updated_at=submitted_at,
    )
    if "thread_id" in definition:
        definition.setdefault("context_mode", ContextMode.REUSE_THREAD)
    draft = replace(draft, definition=replace(draft.definition, **definition))
    return draft.armed(submitted_at, policy())


def with_state(task: Task, **state: Any) -> Task:
    """The task with some of its state as named."""
    return replace(task, state=replace(task.state, **state))


def with_definition(task: Task, **definition: Any) -> Definition:
    """The task's definition with some of it as named."""
    return replace(task.definition, **definition)


def in_status(task: Task, status: TaskStatus) -> Task:
    """The task in a status, with times only if the clock starts it."""
    if status is TaskStatus.ENABLED:
        return task
    nowhen = {"next_run_at": None, "due_at": None, "tzdata_version": None, "planned_from": None}
    return with_state(task, status=status, **nowhen)


def ref(task: Task) -> TaskRef:
    """The address of a task."""
    return TaskRef(task.user_id, task.id)


def payload(task: Task, text: str = planted.PROMPT) -> Payload:
    """The prompt of a task's current revision."""
    definition = task.definition
    return Payload(task.id, task.user_id, definition.payload_revision, definition.action_kind, text)


# -- runs --


def slot(
    task: Task,
    *,
    seat: int = 0,
    user_seat: int | None = None,
    nonce: str = "nonce-a",
    trigger: Trigger = Trigger.SCHEDULE,
    now: datetime | None = None,
    limits: Policy | None = None,
) -> Slot:
    """The slot with which the task's next occurrence, or a trigger, would be admitted when due."""
    occurrence = task.state.next_run_at
    moment = now or task.state.due_at or NOW
    if trigger is Trigger.SCHEDULE and occurrence is not None:
        run_id = occurrence_run_id(task.id, occurrence)
    else:
        run_id = manual_run_id(task.id, moment, f"{seat:08d}")
    return slot_for(
        task,
        run_id=run_id,
        trigger=trigger,
        nonce=nonce,
        place=Place(task.user_id, seat, user_seat),
        now=moment,
        policy=limits or policy(),
    )


def admission(task: Task, **options: Any) -> Admission:
    """What would admit the task's next occurrence, or a trigger, with its plan."""
    wanted = slot(task, **options)
    status = None if task.recurring else TaskStatus.RUNNING
    plan = None
    if wanted.trigger is Trigger.SCHEDULE:
        plan = task.plan_after_dispatch(status, wanted.admitted_at, counted=True)
    elif status is not None:
        plan = task.plan(status, wanted.admitted_at)
    run = Run.admitted(task, wanted, None)
    return Admission(slot=wanted, run=run, seen=task, plan=plan)


def tombstone(task: Task, reason: SkipReason = SkipReason.OVERLAP) -> Run:
    """The tombstone of the task's next occurrence."""
    return Run.tombstone(task, reason, task.state.due_at or NOW, NOTHING_FOLDED)


def success(run_id: str) -> RunOutcome:
    """The news that a run succeeded an hour and two minutes from now."""
    finished_at = NOW + HOUR + 2 * MINUTE
    return RunOutcome(run_id=run_id, outcome=Outcome.SUCCESS, finished_at=finished_at)


def ended_well() -> Ended:
    """What a success tells a recurring task."""
    return Ended(
        outcome=Outcome.SUCCESS, status=None, last_run_at=None, last_thread_id=None, error=None
    )


def outgoing(run_id: str, kind: NoticeKind = NoticeKind.FAILED, **fields: Any) -> Outgoing:
    """A notice of a run, due at once."""
    facts = {
        "user_id": ALICE,
        "task_id": task_id_of(run_id),
        "title": "Morning summary · 日報",
        "occurred_at": NOW,
        "outcome": "failed",
    }
    webhook = fields.pop("webhook", "https://hooks.example/mine")
    notice = Notice(kind=kind, run_id=run_id, **{**facts, **fields})
    return Outgoing(notice=notice, webhook=webhook, due_at=notice.occurred_at)


def statuses(runs: Sequence[Run]) -> list[str]:
    """The status of each run, with the reason where there is one."""
    return [f"{run.status}: {run.reason}" if run.reason else str(run.status) for run in runs]


# -- commands --


def create(user_id: str = ALICE, **fields: Any) -> CreateTask:
    """A command that creates an hourly task, unless told otherwise."""
    fields.setdefault("title", "Morning summary")
    fields.setdefault("action", Action(ActionKind.AGENT, planted.PROMPT))
    fields.setdefault("schedule", ScheduleRequest(spec={"cron": "0 * * * *"}))
    return CreateTask(user_id=user_id, **fields)
