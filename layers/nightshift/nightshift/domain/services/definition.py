"""From what was asked to a task's definition: checked, complete, normalised."""

import json
from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from nightshift.domain.commands import Action, CreateTask, EditTask, ScheduleEdit, Unset
from nightshift.domain.errors import InvalidRequest, PayloadTooLarge
from nightshift.domain.model.enums import ContextMode, Jitter
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.retry import ensure_fits
from nightshift.domain.model.schedule_input import parse_bounds, parse_schedule
from nightshift.domain.model.spec import Bounds, Schedule
from nightshift.domain.model.task import Definition, Payload, Task

MAX_PAYLOAD_BYTES = 64 * 1024
LEAST_WINDOW_SECONDS = 60
"""The shortest window in which a minute is chosen."""
SINGLE_TIMES = frozenset({"once", "after_seconds"})
"""The selectors of schedules that have no bounds."""

Value = TypeVar("Value")


def new_definition(command: CreateTask, policy: Policy, now: datetime) -> Definition:
    """The definition that a task is created with; an automatic place is yet to be chosen.

    Raises:
        InvalidRequest: fields contradict each other, the schedule, or the policy.
    """
    request = command.schedule
    bounds = parse_bounds(
        starts_at=request.starts_at,
        ends_at=request.ends_at,
        max_runs=request.max_runs,
    )
    definition = Definition(
        title=command.title,
        action_kind=command.action.kind,
        payload_revision=1,
        schedule=parse_schedule(request.spec, zone=request.timezone, now=now, bounds=bounds),
        timeout_seconds=_timeout(command.timeout_seconds, policy),
        context_mode=command.context_mode,
        thread_id=command.thread_id,
        assistant_id=command.assistant_id,
        overlap_policy=command.overlap_policy,
        priority=command.priority,
        max_lateness_seconds=command.max_lateness_seconds,
        jitter_seconds=command.jitter_seconds,
        jitter_place=0 if command.jitter is Jitter.AUTO else None,
        retry=command.retry,
        notify=command.notify,
        pause_after_failures=command.pause_after_failures,
        include_previous_result=command.include_previous_result,
        labels=dict(command.labels),
    )
    ensure_consistent(definition)
    ensure_fits(definition.retry, definition.timeout_seconds, policy)
    return definition


def ensure_consistent(definition: Definition) -> None:
    """Refuse fields that contradict each other.

    Raises:
        InvalidRequest: a thread is named without being reused, or the other way round; failures
            in a row are to pause a task that runs once; there is no minute to choose.
    """
    if definition.jitter_place is not None and definition.jitter_seconds < LEAST_WINDOW_SECONDS:
        raise InvalidRequest(
            f"jitter auto needs a window: jitter_seconds of at least {LEAST_WINDOW_SECONDS}.",
            field="jitter_seconds",
        )
    if definition.pause_after_failures is not None and not definition.schedule.recurring:
        raise InvalidRequest(
            "pause_after_failures goes with a recurring schedule only.",
            field="pause_after_failures",
        )
    reuses = definition.context_mode is ContextMode.REUSE_THREAD
    if reuses and definition.thread_id is None:
        raise InvalidRequest("reuse_thread needs a thread_id.", field="thread_id")
    if not reuses and definition.thread_id is not None:
        raise InvalidRequest(
            "thread_id goes with context_mode reuse_thread only.", field="thread_id"
        )


def _timeout(seconds: int | None, policy: Policy) -> int:
    if seconds is None:
        return policy.default_timeout_seconds
    if seconds > policy.max_timeout_seconds:
        raise InvalidRequest(
            f"timeout_seconds may be at most {policy.max_timeout_seconds}.",
            field="timeout_seconds",
        )
    return seconds


def payload_bytes(text: str) -> int:
    """The size of a prompt or command: its JSON in UTF-8, not escaped to ASCII, without quotes.

    So it is stored, and so it travels to the worker; what it weighs there is what is limited.
    """
    return len(json.dumps(text, ensure_ascii=False).encode()) - 2


def new_payload(task: Task, action: Action) -> Payload:
    """The payload of the task's current revision.

    Raises:
        PayloadTooLarge: its JSON is larger than 64 KiB of UTF-8.
    """
    if payload_bytes(action.text) > MAX_PAYLOAD_BYTES:
        raise PayloadTooLarge(field="action")
    return Payload(task.id, task.user_id, task.revision, action.kind, action.text)


def _kept(value: Value | Unset, current: Value) -> Value:
    return current if isinstance(value, Unset) else value


def edited_definition(task: Task, command: EditTask, policy: Policy, now: datetime) -> Definition:
    """The definition with the sent fields changed; None puts a field back to its default.

    Raises:
        InvalidRequest: the result would contradict itself, the schedule, or the policy.
    """
    old = task.definition
    timeout = old.timeout_seconds
    if not isinstance(command.timeout_seconds, Unset):
        timeout = _timeout(command.timeout_seconds, policy)
    kind = old.action_kind if isinstance(command.action, Unset) else command.action.kind
    mode = _kept(command.context_mode, old.context_mode)
    thread_id = _kept(command.thread_id, old.thread_id)
    if mode is not old.context_mode and isinstance(command.thread_id, Unset):
        thread_id = None
    schedule = _edited_schedule(old.schedule, command.schedule, now)
    definition = replace(
        old,
        title=_kept(command.title, old.title),
        action_kind=kind,
        schedule=schedule,
        timeout_seconds=timeout,
        context_mode=mode,
        thread_id=thread_id,
        assistant_id=_kept(command.assistant_id, old.assistant_id),
        overlap_policy=_kept(command.overlap_policy, old.overlap_policy),
        priority=_kept(command.priority, old.priority),
        max_lateness_seconds=_kept(command.max_lateness_seconds, old.max_lateness_seconds),
        jitter_seconds=_kept(command.jitter_seconds, old.jitter_seconds) or 0,
        jitter_place=_edited_place(old.jitter_place, command),
        retry=_kept(command.retry, old.retry),
        notify=_kept(command.notify, old.notify),
        pause_after_failures=_kept(
            command.pause_after_failures, old.pause_after_failures if schedule.recurring else None
        ),
        include_previous_result=_kept(command.include_previous_result, old.include_previous_result),
        labels=old.labels if isinstance(command.labels, Unset) else dict(command.labels or {}),
    )
    ensure_consistent(definition)
    if (definition.retry, timeout) != (old.retry, old.timeout_seconds):
        ensure_fits(definition.retry, timeout, policy)
    return definition


def _edited_place(old: int | None, command: EditTask) -> int | None:
    """The place that stays, or one that is yet to be chosen; without a window there is none."""
    if isinstance(command.jitter, Unset):
        taken = not isinstance(command.jitter_seconds, Unset) and not command.jitter_seconds
        return None if taken else old
    if command.jitter is Jitter.HASH:
        return None
    return old or 0


def _edited_schedule(old: Schedule, edit: ScheduleEdit | Unset, now: datetime) -> Schedule:
    """The schedule with the sent parts changed; one that stays is not read anew.

    A new zone alone reads the stored rule in that zone; an instant stays the instant it is. Bounds
    that were not sent stay with a recurring rule and go with one that becomes a single time.
    """
    if isinstance(edit, Unset):
        return old
    zone = _kept(edit.timezone, old.zone)
    spec = old.spec() if isinstance(edit.spec, Unset) else edit.spec
    kept = Bounds() if spec.keys() & SINGLE_TIMES else old.bounds
    bounds = _edited_bounds(kept, edit)
    return parse_schedule(spec, zone=zone, now=now, bounds=bounds, previous=old)


def _edited_bounds(old: Bounds, edit: ScheduleEdit) -> Bounds:
    sent = parse_bounds(
        starts_at=None if isinstance(edit.starts_at, Unset) else edit.starts_at,
        ends_at=None if isinstance(edit.ends_at, Unset) else edit.ends_at,
        max_runs=None if isinstance(edit.max_runs, Unset) else edit.max_runs,
    )
    return Bounds(
        starts_at=old.starts_at if isinstance(edit.starts_at, Unset) else sent.starts_at,
        ends_at=old.ends_at if isinstance(edit.ends_at, Unset) else sent.ends_at,
        max_runs=old.max_runs if isinstance(edit.max_runs, Unset) else sent.max_runs,
    )
