"""Tasks as files: refused whole with the lines that are wrong, compared, and written back."""

from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from nightshift.composition.production import PRODUCTION_POLICY
from nightshift_toolkit.resources import Task
from nightshift_toolkit.task_files import (
    FaultyFileError,
    Plan,
    Wanted,
    document_schema,
    exported,
    plan_of,
    read_document,
    wanted_tasks,
)

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
POLICY = asdict(PRODUCTION_POLICY) | {"allow_shell_actions": True}
FILE = """
label: managed-by=tickets
tasks:
  morning:
    when: every weekday at 9 in New York
    prompt: |
      Summarise yesterday's
      tickets.
    priority: 7
  poll:
    title: Poll the queue
    schedule_spec: {every_seconds: 600}
    command: date
    labels: {team: ops}
  fireworks:
    schedule_spec: {once: 2027-01-01T00:00:00}
    timezone: Asia/Tokyo
    prompt: Wish everybody a happy new year.
    retry: {max_attempts: 3}
"""


def wanted(text: str, now: datetime = NOW) -> list[Wanted]:
    return wanted_tasks(read_document(text), policy=POLICY, folder=Path(), now=now)


def made(one: Wanted, number: int) -> Task:
    """The task as the API would show it after it was created a while ago."""
    shown: dict[str, Any] = {"id": f"tsk_{number}", "revision": 1, **one.shown}
    if "every_seconds" in shown["schedule_spec"]:
        shown["schedule_spec"] = shown["schedule_spec"] | {"anchor": "2026-11-30T00:00:00.000Z"}
    return cast("Task", shown)


def tasks_of(text: str) -> list[Task]:
    return [made(one, number) for number, one in enumerate(wanted(text))]


def plan(text: str, existing: list[Task], now: datetime = NOW) -> Plan:
    return plan_of(wanted(text, now), existing, now)


def test_a_file_that_was_applied_changes_nothing_when_it_is_applied_again() -> None:
    """Nor does it later, when the time of a one-time task has passed."""
    for now in (NOW, datetime(2028, 1, 1, tzinfo=UTC)):
        again = plan(FILE, tasks_of(FILE), now)
        assert again.empty
        assert len(again.unchanged) == 3


def test_what_the_label_owns_and_the_file_does_not_have_is_deleted() -> None:
    """Nothing else is: a task is found by its name, wherever it stands in the file."""
    lines = FILE.partition("  fireworks:")[0]
    found = plan(lines, tasks_of(FILE))
    assert [task["title"] for task in found.delete] == ["fireworks"]
    assert (list(found.create), list(found.change)) == ([], [])


def test_a_change_sends_only_the_fields_that_differ() -> None:
    """P2: what dispatch and completion own is left alone."""
    found = plan(FILE.replace("priority: 7", "priority: 2"), tasks_of(FILE))
    assert [(change.wanted.name, change.body) for change in found.change] == [
        ("morning", {"priority": 2})
    ]


def test_a_field_that_is_taken_out_goes_back_to_its_default() -> None:
    """A file says all of its tasks."""
    less = FILE.replace("    priority: 7\n", "").replace("    retry: {max_attempts: 3}\n", "")
    found = plan(less, tasks_of(FILE))
    assert [change.body for change in found.change] == [{"priority": 5}, {"retry": None}]


def test_a_copy_with_the_same_name_is_deleted() -> None:
    """The older one is kept, with its history."""
    first, *others = tasks_of(FILE)
    copy = cast("Task", {**first, "id": "tsk_copy"})
    assert [task["id"] for task in plan(FILE, [first, *others, copy]).delete] == ["tsk_copy"]


def test_an_export_makes_the_same_tasks() -> None:
    """Applied under its label, an exported file changes nothing."""
    tasks = tasks_of(FILE)
    text = exported(tasks, ("managed-by", "tickets"))
    assert plan(text, tasks).empty
    assert "Summarise yesterday's\n      tickets." in text


def test_every_wrong_task_is_told_with_its_line() -> None:
    """A file with one bad task changes nothing and says which line."""
    bad = """label: managed-by=tickets
tasks:
  a:
    when: every weekday at 9
    prompt: fine
  b:
    prompt: x
    when: every blue moon
  c:
    schedule_spec: {cron: "0 9 * * 8"}
    prompt: y
  d:
    when: tomorrow at 9
    prompt: a
  e:
    when: every day at 9
  f:
    when: every day at 9
    prompt: z
    nonsense: 1
    priority: "5"
"""
    with pytest.raises(FaultyFileError) as refused:
        wanted(bad)
    assert [fault.line for fault in refused.value.faults] == [8, 10, 13, 15, 20, 21]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("- a", 1),
        ("label: x=y", 1),
        ("label: nothing\ntasks:", 1),
        ("label: name=x\ntasks:", 1),
        ("label: a=b\ntasks:\nmore: 1", 3),
        ("label: a=b\ntasks:\n- x", 3),
        ("label: a=b\ntasks:\n  a: 1", 3),
        ("label: a=b\ntasks:\n  a: {x: 1}\n  a: {x: 1}", 4),
        ("label: a=b\ntasks:\n  1: {x: 1}", 3),
        ("label: a=b\ntasks:\n  a: {x: 1, x: 2}", 3),
        ("label: a=b\ntasks:\n  a: [}", 3),
        ("label: a=b\ntasks:\n  a: !!python/object:x {}", 3),
        ("label: a=b\ntasks:\n  a: {labels: {a: c}, prompt: x, when: hourly}", 3),
        ("label: a=b\ntasks:\n  a: {prompt_file: missing, when: hourly}", 3),
        ("label: a=b\ntasks:\n  a: {prompt: x, when: in 5 minutes}", 3),
    ],
)
def test_a_file_of_another_form_is_refused(text: str, line: int) -> None:
    """Never with a traceback."""
    with pytest.raises(FaultyFileError) as refused:
        wanted(text)
    assert [fault.line for fault in refused.value.faults][:1] == [line]


def test_a_time_that_has_passed_cannot_be_created() -> None:
    """P10: the file is refused before anything is written."""
    with pytest.raises(FaultyFileError) as refused:
        plan(FILE, [], datetime(2028, 1, 1, tzinfo=UTC))
    assert [fault.line for fault in refused.value.faults] == [15]


def test_the_schema_for_editors_takes_what_is_taken_and_refuses_what_is_refused() -> None:
    """It is made of the API's own request."""
    schema = document_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    content = yaml.safe_load(FILE.replace("2027-01-01T00:00:00", "'2027-01-01T00:00:00'"))
    assert list(validator.iter_errors(content)) == []
    for wrong in ({"priority": 11}, {"nonsense": 1}, {"command": "date"}):
        content["tasks"]["morning"] |= wrong
        assert list(validator.iter_errors(content))
        for name in wrong:
            del content["tasks"]["morning"][name]
        content["tasks"]["morning"]["priority"] = 7
