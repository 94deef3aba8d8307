"""Tasks to simulate: files as people write them, and tasks as the API shows them."""

from typing import Any

import pytest

from nightshift.domain.errors import InvalidRequest
from nightshift_toolkit.simulation import read_tasks, wishes_of
from unit.functions.desk import Desk


@pytest.mark.parametrize(
    "text",
    [
        '[{"title": "a"}]',
        '{"items": [{"title": "a"}], "next_cursor": null}',
        "- title: a\n",
        "items:\n  - {title: a}\n",
    ],
)
def test_tasks_are_a_list_or_the_items_of_an_object(text: str) -> None:
    """JSON or YAML, as `tasks list --json` prints it or as somebody wrote it."""
    assert read_tasks(text) == [{"title": "a"}]


def test_a_time_in_yaml_is_the_text_that_was_written() -> None:
    """A local time must stay local; YAML's own times would not."""
    assert read_tasks("- {once: 2026-03-08T09:00:00}") == [{"once": "2026-03-08T09:00:00"}]


@pytest.mark.parametrize("text", ["", "text", "3", '{"title": "a"}', "[1]", "a: [", "!!python/x y"])
def test_anything_else_is_refused(text: str) -> None:
    """One sentence, no traceback."""
    with pytest.raises(InvalidRequest):
        read_tasks(text)


def exported(**fields: Any) -> dict[str, Any]:
    """A task as the API lists it, with its own fields and some of its state changed."""
    desk = Desk()
    desk.create(labels={"team": "search"}, jitter_seconds=600)
    (task,) = desk.call("GET", "/api/scheduled-tasks").json["items"]
    return {**task, **fields}


def test_a_task_of_a_list_is_simulated_with_its_id_and_without_its_prompt() -> None:
    """Lists do not carry prompts; the id decides the jitter."""
    task = exported()
    (wish,) = wishes_of([task])
    assert wish.refusal is None
    assert wish.command is not None
    assert wish.task_id == task["id"]
    assert wish.command.jitter_seconds == 600


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"status": "paused"}, "is paused"),
        ({"status": "completed"}, "is completed"),
        ({"blocked_reason": "why"}, "is blocked: why"),
        ({"max_runs": 3, "run_count": 3}, "max_runs is reached"),
    ],
)
def test_a_task_that_the_clock_would_not_start_says_why(
    fields: dict[str, Any], reason: str
) -> None:
    """Issue: what would be skipped, and why."""
    (wish,) = wishes_of([exported(**fields)])
    assert (wish.command, wish.refusal) == (None, reason)


def test_runs_that_a_task_had_count_towards_its_limit() -> None:
    """SPEC section 3: `max_runs`."""
    (wish,) = wishes_of([exported(max_runs=5, run_count=3)])
    assert wish.command is not None
    assert wish.command.schedule.max_runs == 2


def test_a_task_without_a_title_or_an_action_is_good_enough() -> None:
    """A schedule is all that a simulation needs."""
    (wish,) = wishes_of([{"schedule_spec": {"cron": "@daily"}}])
    assert wish.title == "task 1"
    assert wish.command is not None


def test_a_field_that_is_not_known_is_refused_by_name() -> None:
    """A misspelled field is not passed over in silence."""
    (wish,) = wishes_of([{"schedule_spec": {"cron": "@daily"}, "time_zone": "UTC"}])
    assert wish.command is None
    assert wish.refusal == "time_zone is not a field of this request."
