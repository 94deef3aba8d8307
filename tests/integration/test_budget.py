"""The global budget on the real engine: exact, in order, nothing lost."""

from datetime import timedelta

import builders
from nightshift.domain.commands import ScheduleRequest
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.task import Task
from real import RealWorld


def once_after(real: RealWorld, seconds: int) -> Task:
    """A task that is due once, so many seconds from now."""
    return real.created(builders.create(schedule=ScheduleRequest(spec={"after_seconds": seconds})))


def test_ten_due_tasks_run_three_at_a_time_in_due_order(real: RealWorld) -> None:
    """P14: the budget is exact; those beyond it wait, oldest due first, and none is lost."""
    real.build(builders.policy(max_concurrent_runs=3))
    tasks = [once_after(real, seconds) for seconds in (50, 10, 90, 30, 70, 20, 100, 40, 80, 60)]
    in_due_order = [task.id for task in sorted(tasks, key=lambda task: str(task.state.due_at))]
    real.pass_time(timedelta(seconds=120))
    started: list[str] = []
    while len(started) < len(tasks):
        real.look()
        active = [slot.task_id for slot in real.runs.slots()]
        assert 0 < len(active) <= 3
        started += sorted(set(active) - set(started), key=in_due_order.index)
        for slot in real.runs.slots():
            real.end(slot.run_id)
        real.pass_time(timedelta(seconds=1))
    assert started == in_due_order
    outcomes = {run.status for task in tasks for run in real.history(task)}
    assert outcomes == {RunStatus.SUCCESS}
    assert [len(real.history(task)) for task in tasks] == [1] * 10


def test_a_budget_of_zero_starts_nothing_and_loses_nothing(real: RealWorld) -> None:
    """SPEC section 9: zero is the kill switch; what is due waits as long as it takes."""
    real.build(builders.policy(max_concurrent_runs=0))
    task = once_after(real, 10)
    real.pass_time(timedelta(days=3))
    real.look()
    assert real.history(task) == []
    real.build(builders.policy(max_concurrent_runs=1))
    real.look()
    (run,) = real.history(task)
    assert run.scheduled_for == task.state.next_run_at
