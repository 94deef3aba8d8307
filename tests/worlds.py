"""The whole domain on in-memory ports, with a scripted Step Functions and a hand on the clock."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import builders
from nightshift.domain.commands import CreateTask, ExplainTask, TriggerTask
from nightshift.domain.exchanged import Event, TaskRef
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.explanation import Explanation
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run import Run, RunOutcome
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task
from nightshift.domain.services.admission import places_left
from nightshift.domain.services.clock import Clock
from nightshift.domain.services.dispatch import Dispatch
from nightshift.domain.services.explaining import Explaining
from nightshift.domain.services.lifecycle import DispatchResult, Lifecycle
from nightshift.domain.services.management import Management
from nightshift.domain.services.owned import OwnedTasks
from nightshift.domain.services.pausing import Pausing
from nightshift.domain.services.rulings import Due
from nightshift.domain.services.threads import Threads
from nightshift_toolkit.memory import (
    CountingIds,
    MemoryStore,
    ScriptedExecutions,
    ScriptedInspector,
    ScriptedLauncher,
)


@dataclass
class World:
    """Every service on one memory store. `now` moves only when a test moves it."""

    policy: Policy = field(default_factory=builders.policy)
    now: datetime = builders.NOW
    executions: ScriptedExecutions = field(default_factory=ScriptedExecutions)
    ids: CountingIds = field(default_factory=CountingIds)
    events: list[Event] = field(default_factory=list)
    workers: int = 1

    def __post_init__(self) -> None:
        self.store = MemoryStore(self.policy, self.events.append)
        self.inspector = ScriptedInspector(self.executions)
        self.lifecycle = Lifecycle(
            tasks=self.store.tasks,
            runs=self.store.runs,
            launcher=ScriptedLauncher(self.executions, builders.NOW),
            inspector=self.inspector,
            observe=self.events.append,
        )
        self.dispatch = Dispatch(
            tasks=self.store.tasks,
            runs=self.store.runs,
            lifecycle=self.lifecycle,
            policies=self.store.policies,
            ids=self.ids,
        )
        self.clock = Clock(
            tasks=self.store.tasks,
            runs=self.store.runs,
            policies=self.store.policies,
            inspector=self.inspector,
            lifecycle=self.lifecycle,
            dispatch=self.dispatch,
            observe=self.events.append,
            workers=self.workers,
        )
        owned = OwnedTasks(tasks=self.store.tasks, runs=self.store.runs, lifecycle=self.lifecycle)
        self.management = Management(owned=owned, policies=self.store.policies, ids=self.ids)
        self.pausing = Pausing(owned=owned, policies=self.store.policies)
        self.explaining = Explaining(
            tasks=self.store.tasks, runs=self.store.runs, policies=self.store.policies
        )
        self.threads = Threads(threads=self.store.threads)

    # -- time --

    def pass_time(self, span: timedelta) -> datetime:
        """Let time pass and nothing happen; what it is now."""
        self.now += span
        return self.now

    def look(
        self,
        at: datetime | None = None,
        *,
        has_time: Callable[[], bool] = lambda: True,
        verify: bool = True,
    ) -> None:
        """Let the clock look once, now or at `at`."""
        self.now = at or self.now
        self.clock.look(self.now, has_time, verify=verify)

    def set_policy(self, **settings: object) -> None:
        """Change the operator's limits."""
        self.policy = builders.policy(**settings)
        self.store.set_policy(self.policy)

    # -- tasks --

    def add(self, *tasks: Task) -> Task:
        """Store tasks with their prompts; the first of them."""
        for task in tasks:
            self.store.tasks.create(task, builders.payload(task), max_tasks=1_000_000)
        return tasks[0]

    def created(self, command: CreateTask | None = None) -> Task:
        """Create a task as its owner does."""
        return self.management.create_task(command or builders.create(), self.now).task

    def read(self, task: Task) -> Task:
        """The task as it is stored now."""
        stored = self.store.tasks.get(TaskRef(task.user_id, task.id))
        assert stored is not None
        return stored

    def due_now(self) -> list[str]:
        """The ids of the tasks in the due line, in order."""
        return [hint.ref.task_id for hint in self.store.tasks.due(self.now).hints]

    # -- runs --

    def history(self, task: Task) -> Sequence[Run]:
        """The task's runs, newest first."""
        return self.store.runs.list(task.id, limit=1000, keep=1000).items

    def only_run(self, task: Task) -> Run:
        """The one run of the task."""
        (run,) = self.history(task)
        return run

    def slot(self, task: Task) -> Slot:
        """The slot of the task's active run."""
        slot = self.store.runs.slot(task.id, task.slot_shard)
        assert slot is not None
        return slot

    def dispatched(self, task: Task, *, seen_slot: bool = True) -> DispatchResult:
        """Dispatch a task as the clock does, with or without the fast look at its slot."""
        stored = self.read(task)
        revision = stored.definition.payload_revision
        payload = self.store.tasks.payload(TaskRef(task.user_id, task.id), revision)
        slots = self.store.active_slots()
        holder = next((slot for slot in slots if slot.task_id == task.id), None)
        places = places_left(slots, self.policy)
        due = Due(task=stored, payload=payload, holder=holder if seen_slot else None)
        return self.dispatch.dispatch_due(due, places, self.policy, self.now)

    def trigger(self, task: Task) -> Run:
        """Trigger a task as its owner does."""
        return self.dispatch.trigger_task(TriggerTask(task.user_id, task.id), self.now)

    def explained(self, task: Task, at: str | None = None) -> Explanation:
        """Why the task starts now or does not, or what became of one of its times."""
        return self.explaining.explain_task(ExplainTask(task.user_id, task.id, at), self.now)

    def started(self, run_id: str) -> None:
        """Let the run's execution pass the fence."""
        (slot,) = [slot for slot in self.store.active_slots() if slot.run_id == run_id]
        assert self.store.pass_fence(run_id, slot.nonce, self.now)

    def ended(self, run_id: str, outcome: Outcome = Outcome.SUCCESS, **news: str) -> RunOutcome:
        """Let the run's execution start and end, its completion arriving at once."""
        self.started(run_id)
        outcome_news = self.executions.end(run_id, outcome, self.now, **news)
        assert self.lifecycle.record_outcome(outcome_news)
        return outcome_news

    # -- what was told --

    def told(self, action: str) -> list[Event]:
        """The events of one kind, in order."""
        return [event for event in self.events if event.action == action]
