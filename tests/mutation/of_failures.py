"""Failures in a row, and the pause they bring, broken one piece at a time."""

from typing import Final

from mutation.breaks import (
    CRASH,
    EXPLORER,
    MEMORY_CONTRACT,
    RULES,
    SIMULATION,
    TABLE_CONTRACT,
    Break,
)

_MODEL: Final = "layers/nightshift/nightshift/domain/model"
_SERVICES: Final = "layers/nightshift/nightshift/domain/services"
_TABLE: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_MEMORY: Final = "layers/toolkit/nightshift_toolkit/memory"


def _rule(name: str, before: str, after: str, *, path: str = f"{_MODEL}/streak.py") -> Break:
    return Break(f"rule: {name}", path, before, after, (RULES, SIMULATION, EXPLORER))


def _at(file: str, name: str, before: str, after: str) -> Break:
    path = f"{_TABLE}/{file}.py"
    return Break(f"table: {name}", path, before, after, (TABLE_CONTRACT, CRASH))


def _memory(file: str, name: str, before: str, after: str) -> Break:
    path = f"{_MEMORY}/{file}.py"
    return Break(f"memory: {name}", path, before, after, (MEMORY_CONTRACT, EXPLORER))


BREAKS: Final = (
    _rule(
        "a task is paused one failure late",
        "failures < self.pause_after",
        "self.before < self.pause_after",
    ),
    _rule("every end of a run counts as a failure", "outcome is not Outcome.FAILED or ", ""),
    _rule("a run by hand counts", " or trigger is not Trigger.SCHEDULE", ""),
    _rule(
        "a refused launch does not count",
        "            streak=slot.streak,\n",
        "",
        path=f"{_SERVICES}/lifecycle.py",
    ),
    _at(
        "runs",
        "a run is admitted on an old count of failures",
        "        condition &= conditions.counts_as_seen(seen)\n",
        "        pass\n",
    ),
    _at(
        "conditions",
        "failures pause a task whose next run is active",
        "        names_run(run_id),\n        TaskItem.status",
        "        EXISTS,\n        TaskItem.status",
    ),
    _at(
        "conditions",
        "failures pause a task that is not enabled",
        "        TaskItem.status == TaskStatus.ENABLED.value,\n",
        "",
    ),
    _at(
        "conditions",
        "failures pause a task by a number that was changed",
        "        _is_or_absent(TaskItem.pause_after_failures, streak.pause_after),\n",
        "",
    ),
    _at(
        "conditions",
        "failures pause a task that was resumed meanwhile",
        "        _counts(streak.before),\n",
        "",
    ),
    _at(
        "completion",
        "a pause that is refused takes the word for the task with it",
        'name == "task" and parts.pause and _names(refusal.item, completion)',
        "False",
    ),
    _at(
        "task_rows",
        "a resume leaves the failures in a row",
        '        own["failures_in_a_row"] = None\n',
        "        pass\n",
    ),
    _memory(
        "runs",
        "a run is admitted on an old count of failures",
        "_counts_as_seen(task, admission) and ",
        "",
    ),
    _memory(
        "verdicts",
        "failures pause a task whatever was done to it meanwhile",
        " or before.status is not TaskStatus.ENABLED or not same",
        "",
    ),
)
