"""The virtual clock: the services of production, tick after tick, on the in-memory ports.

Nothing here decides what runs. Ticks at which nothing is due are passed over, since a look that
finds nothing does nothing.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from nightshift.composition.api import build_api
from nightshift.composition.tick import build_tick
from nightshift.domain.commands import RegisterThread
from nightshift.domain.errors import NightshiftError
from nightshift.domain.exchanged import Event
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.webhook import WebhookTargets
from nightshift_toolkit.memory import CountingIds, MemoryStore
from nightshift_toolkit.simulation.executions import TimedExecutions
from nightshift_toolkit.simulation.report import Moment, Report, TaskTally
from nightshift_toolkit.simulation.scenario import Scenario
from nightshift_toolkit.simulation.tasks import USER, Wish

if TYPE_CHECKING:
    from nightshift.composition.overrides import Overrides

Progress = Callable[[float], object]
_MINUTE = timedelta(minutes=1)


def simulate(
    wishes: Iterable[Wish],
    scenario: Scenario,
    *,
    progress: Progress = lambda _part: None,
    list_runs: bool = False,
) -> Report:
    """Let the days pass, and say what the clock did with each task.

    Args:
        wishes: the tasks; one that is refused at the start of the scenario is told and left out.
        scenario: the time, the budget, the outages.
        progress: told the part that is done, from 0 to 1.
        list_runs: whether single runs and skips are listed, up to a limit.
    """
    world = _World(scenario, list_runs=list_runs)
    for wish in wishes:
        world.submit(wish)
    tick = scenario.start
    while tick <= scenario.end:
        world.tick(tick)
        progress((tick - scenario.start) / (scenario.end - scenario.start))
        upcoming = world.store.next_due()
        if upcoming is None:
            break
        step = timedelta(seconds=scenario.tick_seconds)
        tick = max(tick + step, scenario.first_tick_from(upcoming))
    progress(1.0)
    return world.finished()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settings:
    """What the services of a deployment are told."""

    policy: Policy
    table_name: str = "simulated"
    state_machine_arn: str = "simulated"
    due_shards: int = 1
    slot_shards: int = 1
    announces: bool = False
    webhook_targets: WebhookTargets = WebhookTargets.LOOPBACK
    webhook_secret_arn: str = "simulated"  # noqa: S105 - an address, not the secret


class _KnownIds(CountingIds):
    """Fresh names, but for a task that has one already."""

    next_task: str | None = None

    def task_id(self, now: datetime) -> str:
        """See `Ids.task_id`."""
        return self.next_task or super().task_id(now)


class _World:
    """The services of one simulation, and what they tell."""

    def __init__(self, scenario: Scenario, *, list_runs: bool) -> None:
        self.scenario = scenario
        self.list_runs = list_runs
        self.report = Report(scenario.start, scenario.end)
        self.store = MemoryStore(scenario.policy, self._observe)
        self.executions = TimedExecutions(scenario.run_seconds, scenario.start)
        self.ids = _KnownIds()
        ports: Overrides = {
            "tasks": self.store.tasks,
            "runs": self.store.runs,
            "threads": self.store.threads,
            "policies": self.store.policies,
            "sweeps": self.store.sweeps,
            "launcher": self.executions,
            "inspector": self.executions,
            "ids": self.ids,
            "observe": self._observe,
            "workers": 1,
        }
        settings = _Settings(policy=scenario.policy)
        api = build_api(settings, **ports)
        self.management, self.threads = api.management, api.threads
        self.clock = build_tick(settings, **ports).clock
        self._touched: set[str] = set()
        self._minute: Moment = Moment()

    def submit(self, wish: Wish) -> None:
        """Create the task as its owner does."""
        if wish.command is None:
            self.report.not_simulated.append((wish.title, wish.refusal or "is refused"))
            return
        self.ids.next_task = wish.task_id
        now = self.scenario.start
        try:
            if wish.command.thread_id is not None:
                self.threads.register_thread(RegisterThread(USER, wish.command.thread_id), now)
            task = self.management.create_task(wish.command, now).task
        except NightshiftError as refused:
            self.report.not_simulated.append((wish.title, refused.message))
        else:
            self.report.tasks[task.id] = TaskTally(wish.title)

    def tick(self, now: datetime) -> None:
        """What has ended ends; then the clock looks, unless it is down."""
        self._end_runs(now)
        if self.scenario.is_down(now):
            self.report.looks_missed += 1
            return
        self.report.looks += 1
        self.executions.now = now
        self.clock.look(now, lambda: True)
        for run_id, nonce in self.executions.started:
            self.store.pass_fence(run_id, nonce, now)
        self.executions.started.clear()
        active = len(self.executions.running())
        self.report.most_active = self.report.most_active.or_more(now, active)
        for task_id in self._touched:
            self.store.runs.prune(task_id, 0)
        self._touched.clear()

    def finished(self) -> Report:
        """The report, when the time is over."""
        end = self.scenario.end
        self._end_runs(end)
        self.report.waiting_at_the_end = len(self.store.tasks.due(end).first)
        return self.report

    def _end_runs(self, now: datetime) -> None:
        for outcome in self.executions.ended_by(now):
            self.clock.lifecycle.record_outcome(outcome)
            self._touched.add(task_id_of(outcome.run_id))

    # -- what is told --

    def _observe(self, event: Event) -> None:
        facts = event.facts
        match event.action:
            case "looked":
                now, waiting = self.executions.now, int(str(facts["waiting"]))
                self.report.longest_line = self.report.longest_line.or_more(now, waiting)
            case "dispatch_launched":
                self._launched(str(facts["task_id"]), str(facts["run_id"]), facts["lag_seconds"])
            case "dispatch_skipped":
                self._skipped(str(facts["task_id"]), str(facts["run_id"]), str(facts["reason"]))
            case "run_completed" if facts["outcome"] != "success":
                self.report.tasks[str(facts["task_id"])].failed += 1
            case "task_blocked":
                self.report.tasks[str(facts["task_id"])].blocked = str(facts["reason"])

    def _launched(self, task_id: str, run_id: str, lag_seconds: object) -> None:
        tally = self.report.tasks[task_id]
        tally.runs += 1
        tally.waits.add(float(str(lag_seconds)))
        now = self.executions.now
        minute = now - (now - self.scenario.start) % _MINUTE
        before = self._minute.count if self._minute.at == minute else 0
        self._minute = Moment(minute, before + 1)
        self.report.busiest = self.report.busiest.or_more(minute, before + 1)
        self._count_record(tally, task_id, run_id)

    def _skipped(self, task_id: str, run_id: str, reason: str) -> None:
        tally = self.report.tasks[task_id]
        tally.skipped[reason] += 1
        self._touched.add(task_id)
        self._count_record(tally, task_id, run_id)

    def _count_record(self, tally: TaskTally, task_id: str, run_id: str) -> None:
        run = self.store.runs.get(task_id, run_id)
        if run is None:
            return
        tally.folded += run.folded
        if self.list_runs:
            self.report.list_run(run, self.executions.now)
