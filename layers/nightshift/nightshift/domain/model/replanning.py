"""What newer zone rules make of a plan that older ones made.

The next time is worked out as if the newer rules had been in force since the last instant was
dealt with. So nothing runs at an instant that the newer rules do not have; nothing up to the one
dealt with runs again; and an instant that has passed unrun meanwhile is due at once, like any other
that had to wait (P15). Newer means newer: a function that is still there from before a deploy
undoes nothing.
"""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from nightshift.domain.model.task import Plan, Task
from nightshift.domain.model.zones import tzdata_version

_JUST_BEFORE = timedelta(milliseconds=1)


@dataclass(frozen=True, slots=True)
class Sweep:
    """How far all planned tasks have been gone through for one version of the zone rules.

    `cursor` is where the pass under way goes on; `found` says that it met a plan made by older
    rules. A pass that finds none makes the sweep `done`.
    """

    tzdata_version: str
    cursor: str | None = None
    found: bool = False
    done: bool = False


def planned_by_older_rules(task: Task) -> bool:
    """Whether the clock will start this task at a time that older zone rules gave.

    Only cron schedules follow a zone; a fixed interval and a single time are instants already.
    """
    state = task.state
    if task.definition.schedule.kind != "cron" or not task.is_armed or state.next_run_at is None:
        return False
    return state.tzdata_version is None or state.tzdata_version < tzdata_version()


def by_zone_rules_in_use(task: Task, now: datetime) -> Plan | None:
    """The plan of a task that older zone rules made due at another time than those in use do.

    None where the plan that stands is the one to go by.
    """
    if not task.is_due(now) or not planned_by_older_rules(task):
        return None
    plan = replanned(task)
    return None if plan.next_run_at == task.state.next_run_at else plan


def replanned(task: Task) -> Plan:
    """The plan that the zone rules in use give, from where the old plan began.

    A recurring task of which no time is left becomes completed. A time that stays keeps its
    `due_at`, which a failure may have moved. The plan says where it began itself, so that the next
    version of the rules begins there too.
    """
    state = task.state
    if state.next_run_at is None:
        raise ValueError("a task without a next time has no plan to make anew")
    plan = task.plan(state.status, state.planned_from or state.next_run_at - _JUST_BEFORE)
    if plan.next_run_at == state.next_run_at:
        return replace(plan, due_at=state.due_at)
    return plan
