"""One play: real services on guarded ports, actors around them, and judges after every step."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

import builders
from explorer import promises
from explorer.cloud import Cloud
from explorer.ports import Ports
from explorer.rows import MemoryRows, Rows
from explorer.stage import Fate, Stage
from nightshift.domain.commands import (
    Action,
    CancelRun,
    ChangePolicy,
    DeleteTask,
    EditTask,
    ExplainTask,
    PauseRun,
    PauseTask,
    PauseTasks,
    ResumeRun,
    ResumeTask,
    TriggerTask,
)
from nightshift.domain.exchanged import Event, Thread
from nightshift.domain.model.enums import ActionKind
from nightshift.domain.model.instants import format_instant
from nightshift.domain.model.task import Task
from nightshift.domain.services import clock
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.explaining import Explaining
from nightshift.domain.services.lifecycle import Lifecycle
from nightshift.domain.services.limits import change_policy
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing

if TYPE_CHECKING:
    from nightshift_toolkit.audit import Snapshot

DUE = builders.NOW + builders.HOUR
"""When the tasks of a play are due, and what time it is when it begins."""
ROUNDS = 20
BETWEEN_ROUNDS = timedelta(seconds=100)
"""Twenty rounds are longer than the launch deadline, enough for a line at one seat, and shorter
than an hour, when the tasks of these plays are due again."""
SEPARATOR = " / "
"""Between an actor and the fate of its call, in a choice of a schedule."""


class NamedIds:
    """Fresh names that tell who made them, the same in every order of the actors."""

    def __init__(self, maker: int) -> None:
        self._maker = maker
        self._made = 0

    def task_id(self, now: datetime) -> str:
        """See `Ids.task_id`."""
        return builders.task_id(1000 * self._maker + self._next())

    def nonce(self) -> str:
        """See `Ids.nonce`."""
        return f"nonce-{self._maker}-{self._next()}"

    def suffix(self) -> str:
        """See `Ids.suffix`."""
        return f"{self._maker:04d}{self._next():04d}"

    def _next(self) -> int:
        self._made += 1
        return self._made


class _Inline:
    """A pool of no threads, so that only the stage decides who is next."""

    def __init__(self, _workers: int) -> None:
        pass

    def __enter__(self) -> "_Inline":
        return self

    def __exit__(self, *_error: object) -> None:
        pass

    def map(self, work: Callable[[Any], Any], items: Iterable[Any]) -> list[Any]:
        """Do one after the other."""
        return [work(item) for item in items]


@contextmanager
def single_file() -> Iterator[None]:
    """Let looks of the clock work in the actor that makes them."""
    module = cast("Any", clock)
    pool = module.ThreadPoolExecutor
    module.ThreadPoolExecutor = _Inline
    try:
        yield
    finally:
        module.ThreadPoolExecutor = pool


class Play:
    """A store, a Step Functions, and whoever was cast; `now` is what time it is for everybody.

    Raises `promises.Broken` from `step` and `judge` as soon as something does not hold.
    """

    def __init__(self, rows: Rows | None = None, **limits: int) -> None:
        self.policy = builders.policy(**{"max_concurrent_runs": 3, **limits})
        self.rows = rows or MemoryRows(self.policy)
        self.now = DUE
        self.stage = Stage()
        self.ports = Ports(self.stage, self.rows)
        self.cloud = Cloud(self.stage, lambda: self.now, self._pass_fence, self.rows.work)
        self.accepted = promises.Accepted()
        self.limit = self.policy.max_concurrent_runs
        self.events: list[Event] = []
        self._makers = self._later = 0
        self._seen: Snapshot | None = None
        self.cloud.record = self.services().lifecycle.record_outcome

    # -- the cast --

    def add(self, task: Task, *more: Task) -> Task:
        """Store tasks with their prompts, and register the threads they name; the first."""
        for each in (task, *more):
            thread = each.definition.thread_id
            if thread is not None:
                self.rows.threads.register(Thread(thread, each.user_id, builders.NOW))
            self.rows.tasks.create(each, builders.payload(each), max_tasks=1000)
        return task

    def tick(self, name: str, *, skew: timedelta = timedelta(0), verify: bool = True) -> None:
        """Cast a tick whose clock differs by `skew`; it can be late as well as early."""
        now = self.now + skew
        services = self.services()
        self.stage.cast(name, lambda: services.clock.look(now, lambda: True, verify=verify))

    def trigger(self, name: str, task: Task) -> None:
        """Cast the owner's trigger of a task."""
        command = TriggerTask(task.user_id, task.id)
        services = self.services()
        self.accepted.triggers.add(name)
        self.stage.cast(name, lambda: services.dispatch.trigger_task(command, self.now))

    def patch(self, name: str, task: Task, **fields: Any) -> None:
        """Cast an edit of a task; without fields, one that gives it another prompt."""
        changes = fields or {"action": Action(ActionKind.AGENT, "Another prompt.")}
        command = EditTask(user_id=task.user_id, task_id=task.id, **changes)
        self._owns(name, task)
        self._manages(name, lambda services: services.management.edit_task(command, self.now))

    def pause(
        self, name: str, task: Task, *, cancel_active: bool = False, until: datetime | None = None
    ) -> None:
        """Cast the owner's pause of a task."""
        end = None if until is None else format_instant(until)
        command = PauseTask(task.user_id, task.id, cancel_active=cancel_active, until=end)
        self._owns(name, task)
        self._manages(name, lambda services: services.pausing.pause_task(command, self.now))

    def explain(self, name: str, task: Task) -> None:
        """Cast the owner's question why a task runs or does not."""
        command = ExplainTask(task.user_id, task.id)
        self._manages(name, lambda services: services.explaining.explain_task(command, self.now))

    def pause_all(self, name: str, user_id: str) -> None:
        """Cast an owner who pauses all their tasks."""
        command = PauseTasks(user_id=user_id)
        self._manages(name, lambda services: services.pausing.pause_tasks(command, self.now))

    def resume(self, name: str, task: Task) -> None:
        """Cast the owner's resumption of a task."""
        command = ResumeTask(task.user_id, task.id)
        self._owns(name, task)
        self._manages(name, lambda services: services.pausing.resume_task(command, self.now))

    def delete(self, name: str, task: Task, *, cancel_active: bool = False) -> None:
        """Cast the owner's deletion of a task."""
        command = DeleteTask(task.user_id, task.id, cancel_active=cancel_active)
        self._owns(name, task)
        self._manages(name, lambda services: services.management.delete_task(command, self.now))

    def cancel(self, name: str, task: Task, run_id: str) -> None:
        """Cast the owner's cancellation of a run."""
        command = CancelRun(task.user_id, task.id, run_id)
        services = self.services()
        self.accepted.cancels[name] = run_id
        self.stage.cast(name, lambda: services.lifecycle.cancel_run(command))

    def pause_run(self, name: str, task: Task, run_id: str) -> None:
        """Cast the owner's wish that a run stands still."""
        command = PauseRun(task.user_id, task.id, run_id)
        self._manages(name, lambda services: services.lifecycle.pause_run(command))

    def resume_run(self, name: str, task: Task, run_id: str) -> None:
        """Cast the owner's wish that a run goes on."""
        command = ResumeRun(task.user_id, task.id, run_id)
        self._manages(name, lambda services: services.lifecycle.resume_run(command))

    def limit_runs(self, name: str, limit: int) -> None:
        """Cast the operator, who changes how many runs may be active."""
        settings = {"max_concurrent_runs": limit}
        command = ChangePolicy(changed_by=name, settings=settings)
        self.limit = max(self.limit, limit)
        policies = self.ports.policies
        self.stage.cast(name, lambda: change_policy(policies, command, self.now))

    def _manages(self, name: str, action: Callable[["Services"], Any]) -> None:
        services = self.services()
        self.stage.cast(name, lambda: action(services))

    def _owns(self, name: str, task: Task) -> None:
        self.accepted.owners[name] = task.id

    # -- what happens --

    def options(self) -> list[str]:
        """The names of those who wait."""
        return list(self.stage.options())

    def step(self, choice: str, *, checked: bool = True) -> None:
        """Let the chosen actor make its call, with the chosen fate, and judge what came of it."""
        name, _, fate = choice.partition(SEPARATOR)
        if not (checked and self.stage.options()[name].writes):
            call = self.stage.step(name, Fate(fate or Fate.DONE))
            self._seen = None if call.writes else self._seen
            return
        before = self._seen or self.rows.snapshot(self.now)
        call = self.stage.step(name, Fate(fate or Fate.DONE))
        self._seen = after = self.rows.snapshot(self.now)
        promises.after_step(call.operation, before, after, self.cloud, self.limit)

    def finish(self) -> None:
        """Let everybody who waits go to their end, one after the other."""
        while waiting := self.options():
            self.step(waiting[0])

    def rest(self) -> None:
        """Let everybody finish and time pass, with a tick now and then, and judge what is left.

        It goes on past the launch deadline and until the line has been served, and no further.
        """
        self.finish()
        for _ in range(ROUNDS):
            if self._is_quiet():
                break
            self.now += BETWEEN_ROUNDS
            self._later += 1
            self.tick(f"later tick {self._later}")
            self.finish()
        promises.at_rest(self.rows.snapshot(self.now), self.cloud, self.stage, self.accepted)

    def _is_quiet(self) -> bool:
        found = self.rows.snapshot(self.now)
        due = any(promises.waits(task, self.now) for task in found.tasks)
        return not (found.slots or due or any(not made.over for made in self.cloud.made.values()))

    def fingerprint(self) -> str | None:
        """A text that is equal for plays that will end equally from here; None if none is known."""
        rows = self.rows.fingerprint()
        if rows is None:
            return None
        told = sorted(f"{name}={result}" for name, result in self.stage.results.items())
        failed = sorted(f"{name}={error!r}" for name, error in self.stage.failures.items())
        made = sorted(map(str, self.cloud.made.values()))
        return f"{rows}{made}{sorted(self.cloud.works.items())}{told}{failed}"

    # -- wiring --

    def services(self) -> "Services":
        """Every service for one process of its own."""
        self._makers += 1
        return Services(self, NamedIds(self._makers))

    def _pass_fence(self, run_id: str, nonce: str, at: datetime) -> bool:
        return self.rows.pass_fence(run_id, nonce, at)


class Services:
    """The services that one process is made of; processes share nothing but the ports."""

    def __init__(self, play: Play, ids: NamedIds) -> None:
        ports, cloud, observe = play.ports, play.cloud, play.events.append
        self.lifecycle = Lifecycle(
            tasks=ports.tasks,
            runs=ports.runs,
            launcher=cloud,
            inspector=cloud,
            observe=observe,
        )
        self.dispatch = Dispatch(
            tasks=ports.tasks,
            runs=ports.runs,
            lifecycle=self.lifecycle,
            policies=ports.policies,
            ids=ids,
        )
        self.clock = Clock(
            tasks=ports.tasks,
            runs=ports.runs,
            policies=ports.policies,
            inspector=cloud,
            lifecycle=self.lifecycle,
            dispatch=self.dispatch,
            observe=observe,
        )
        owned = OwnedTasks(tasks=ports.tasks, runs=ports.runs, lifecycle=self.lifecycle)
        self.management = Management(owned=owned, policies=ports.policies, ids=ids)
        self.pausing = Pausing(owned=owned, policies=ports.policies)
        self.explaining = Explaining(tasks=ports.tasks, runs=ports.runs, policies=ports.policies)
