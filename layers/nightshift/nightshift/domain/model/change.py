"""The change log: who changed what of a task, and when; folding it gives the definition.

A prompt or command is named by its kind and revision only; its text is never in the log.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from nightshift.domain.model.enums import TaskStatus
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.notify import notify_to_dict
from nightshift.domain.model.retry import retry_to_dict
from nightshift.domain.model.task import Task


class ChangeVerb(StrEnum):
    """What its owner did to a task."""

    CREATED = "created"  # it exists from here on
    EDITED = "edited"  # some fields of its definition changed
    PAUSED = "paused"  # the clock does not start it any more
    RESUMED = "resumed"  # the clock starts it again
    DELETED = "deleted"  # it is gone


@dataclass(frozen=True, slots=True)
class FieldChange:
    """A field before and after; None where it was or became empty."""

    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One entry of the log: the revision it led to, and the fields that differ."""

    task_id: str
    revision: int
    at: datetime
    by: str
    verb: ChangeVerb
    fields: Mapping[str, FieldChange]


def creation_of(task: Task) -> Change:
    """The first entry of a task's log."""
    return _owners(None, task, ChangeVerb.CREATED, task.created_at)


def edit_of(seen: Task, changed: Task) -> Change:
    """The entry of an edit."""
    return _owners(seen, changed, ChangeVerb.EDITED, changed.updated_at)


def switch_of(seen: Task, changed: Task) -> Change:
    """The entry of a pause or a resumption, told apart by what it made of the task."""
    paused = changed.state.status is TaskStatus.PAUSED
    verb = ChangeVerb.PAUSED if paused else ChangeVerb.RESUMED
    return _owners(seen, changed, verb, changed.updated_at)


def deletion_of(seen: Task, at: datetime) -> Change:
    """The last entry of a task's log."""
    return _owners(seen, None, ChangeVerb.DELETED, at)


def _owners(before: Task | None, after: Task | None, verb: ChangeVerb, at: datetime) -> Change:
    """A change by the owner, who alone can make one (P8)."""
    owned = after or before
    by = "" if owned is None else owned.user_id
    return change_between(before, after, verb=verb, by=by, at=at)


def change_between(
    before: Task | None, after: Task | None, *, verb: ChangeVerb, by: str, at: datetime
) -> Change:
    """The entry for one change; `before` is None for a creation, `after` for a deletion.

    Args:
        before: the task as it was decided on.
        after: the task as it is written.
        verb: what was done.
        by: who did it, from the verified token.
        at: when (UTC).
    """
    task = after or before
    if task is None:
        raise ValueError("a change has a task on at least one side")
    old = definition_facts(before) if before else {}
    new = definition_facts(after) if after else {}
    differing = {
        name: FieldChange(old.get(name), new.get(name))
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    }
    revision = task.revision if after else task.revision + 1
    return Change(task_id=task.id, revision=revision, at=at, by=by, verb=verb, fields=differing)


def folded(changes: Iterable[Change]) -> dict[str, Any]:
    """The definition that the entries, oldest first, add up to."""
    facts: dict[str, Any] = {}
    for change in changes:
        facts |= {name: field.new for name, field in change.fields.items()}
    return {name: value for name, value in facts.items() if value is not None}


def definition_facts(task: Task) -> dict[str, Any]:
    """What people decided about a task, as plain JSON values; empty fields left out."""
    definition = task.definition
    schedule = definition.schedule.to_dict()
    until = task.state.pause_until
    facts = {
        "title": definition.title,
        "action": {
            "kind": definition.action_kind.value,
            "revision": definition.payload_revision,
        },
        "schedule": {name: value for name, value in schedule.items() if name != "zone"},
        "timezone": definition.schedule.zone,
        "timeout_seconds": definition.timeout_seconds,
        "context_mode": definition.context_mode.value,
        "thread_id": definition.thread_id,
        "assistant_id": definition.assistant_id,
        "overlap_policy": definition.overlap_policy.value,
        "priority": definition.priority,
        "max_lateness_seconds": definition.max_lateness_seconds,
        "jitter_seconds": definition.jitter_seconds,
        "jitter_place_seconds": definition.jitter_place,
        "retry": retry_to_dict(definition.retry),
        "notify": notify_to_dict(definition.notify),
        "pause_after_failures": definition.pause_after_failures,
        "include_previous_result": definition.include_previous_result or None,
        "labels": dict(definition.labels) or None,
        "paused": task.state.status.value == "paused" or None,
        "pause_reason": task.state.pause_reason,
        "pause_until": format_instant(until) if until is not None else None,
    }
    return {name: value for name, value in facts.items() if value is not None}
