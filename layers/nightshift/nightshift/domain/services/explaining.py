"""Why a task runs or does not: the rules of the clock and of dispatch, asked and nothing done.

Every condition is asked of the function that decides by it. An explanation writes nothing, takes
no lock and asks Step Functions nothing; what it says of the next look holds as long as nothing else
happens and whoever is ahead in the line starts.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nightshift.domain.commands import ExplainTask
from nightshift.domain.errors import TaskNotFound
from nightshift.domain.exchanged import CorruptTask, TaskRef
from nightshift.domain.model.change import Change, ChangeVerb
from nightshift.domain.model.enums import Decision, Rule, TaskStatus
from nightshift.domain.model.explanation import Explanation, Walk
from nightshift.domain.model.instants import MILLISECOND, format_instant
from nightshift.domain.model.occurring import Moment, findings, has_time, moment_of
from nightshift.domain.model.pause import wakes_by, woken
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.schedule_storage import schedule_from_dict
from nightshift.domain.model.standing import kept_from_start
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import RunStore, TaskStore
from nightshift.domain.services import reasons
from nightshift.domain.services.admission import forbidden
from nightshift.domain.services.next_look import NextLook

PAGE: Final = 100
"""Records and changes read at once when the past is asked about."""

_ONLY_THEN: Final = "Only that moment can tell."


@dataclass(frozen=True, slots=True, kw_only=True)
class Explaining:
    """Says which rule decides about a task."""

    tasks: TaskStore
    runs: RunStore
    policies: PolicySource

    @property
    def next_look(self) -> NextLook:
        """What the clock would do now."""
        return NextLook(tasks=self.tasks, runs=self.runs, policies=self.policies)

    def explain_task(self, command: ExplainTask, now: datetime) -> Explanation:
        """Walk every rule and say which one decides, now or at a time.

        Raises:
            TaskNotFound: there is no such task of this user.
            InvalidSchedule: the time cannot be read.
        """
        ref = TaskRef(command.user_id, command.task_id)
        row = self.tasks.read([ref]).get(ref)
        if row is None:
            raise TaskNotFound
        if isinstance(row, CorruptTask):
            return self.next_look.of_unreadable(row, now)
        task, payload = row
        if command.at is None:
            return self.next_look.of(task, payload, Walk(now), now)
        moment = moment_of(command.at, task.definition.schedule.zone)
        if moment.instant > now:
            return self._in_future(task, payload, moment)
        return self._in_past(task, payload, moment, now)

    # -- at a time --

    def _in_future(self, task: Task, payload: Payload | None, moment: Moment) -> Explanation:
        """What can be told of a time before it comes; the rest is left open."""
        at, walk = moment.instant, Walk(moment.instant)
        walk.passes(Rule.ROW, "The task can be read.")
        if wakes_by(task, at):
            task = woken(task)
        kept = kept_from_start(task.state, at)
        if kept in (Rule.SCHEDULE, Rule.DUE):
            kept = None
        self.next_look.pass_in_reach(task, kept, walk)
        if kept is not None:
            return walk.decided(Decision.RESTS, kept, self.next_look.why_out_of_reach(task, kept))
        missing = self._without_time(task, moment, walk)
        if missing is not None:
            return missing
        walk.run_id = occurrence_run_id(task.id, at)
        plan = task.plan(TaskStatus.ENABLED, at - MILLISECOND)
        if plan.next_run_at != at or plan.due_at is None:
            return walk.decided(Decision.RESTS, Rule.WINDOW, "max_runs is used up.")
        in_force = self.policies.in_force()
        unasked = dict.fromkeys(list(Rule)[list(Rule).index(Rule.DUE) + 1 :], _ONLY_THEN)
        if not in_force.policy.max_concurrent_runs:
            unasked[Rule.KILL_SWITCH] += f" For now: {reasons.stopped(in_force, task)}"
        if (said := forbidden(task, in_force.policy)) is not None:
            unasked[Rule.PERMISSION] += f" For now: {said}"
        if payload is None:
            unasked[Rule.PAYLOAD] += " For now it is missing."
        detail = f"It will be due at {reasons.shown(plan.due_at, task)}."
        return walk.decided(Decision.COMES, Rule.DUE, detail, open_rules=unasked)

    def _in_past(
        self, task: Task, payload: Payload | None, moment: Moment, now: datetime
    ) -> Explanation:
        """Which record a time that has passed belongs to, or why it has none."""
        at, walk = moment.instant, Walk(moment.instant)
        walk.passes(Rule.ROW, "The task can be read.")
        run = self._run_covering(task, at)
        if run is not None:
            walk.run_id = run.id
            detail = reasons.recorded(run, at, task)
            return walk.decided(Decision.RECORDED, Rule.RECORD, detail, reason=run.reason)
        missing = self._without_time(task, moment, walk)
        if missing is not None:
            return missing
        waiting = task.state.next_run_at
        if waiting is not None and waiting <= at:
            return self.next_look.of(task, payload, Walk(at), now)
        return walk.decided(Decision.NO_RECORD, Rule.RECORD, self._why_no_record(task, at))

    def _without_time(self, task: Task, moment: Moment, walk: Walk) -> Explanation | None:
        for finding in findings(task.definition.schedule, moment):
            if not finding.holds:
                return walk.decided(Decision.NO_OCCURRENCE, finding.rule, finding.detail)
            walk.passes(finding.rule, finding.detail)
        return None

    def _run_covering(self, task: Task, at: datetime) -> Run | None:
        """The record of a time: its own, or the one that it was folded into (P15)."""
        run = self.runs.get(task.id, occurrence_run_id(task.id, at))
        if run is not None:
            return run
        keep, after = self.policies.current().max_history_entries_per_task, None
        while True:
            page = self.runs.list(task.id, limit=PAGE, after=after, keep=keep)
            for run in page.items:
                if run.covers(at) and has_time(schedule_from_dict(run.schedule), at):
                    return run
            if page.next is None:
                return None
            after = page.next

    def _why_no_record(self, task: Task, at: datetime) -> str:
        if at < task.created_at:
            return f"The task was created later, {reasons.shown(task.created_at, task)}."
        change = self._change_before(task, at)
        if change is not None and change.verb is ChangeVerb.PAUSED and not _is_over(change, at):
            when = reasons.shown(change.at, task)
            return f"The task was paused then, since {when}, by {change.by}."
        keep = self.policies.current().max_history_entries_per_task
        return (
            "A time that passes while a task is paused or blocked, or before an edit or a resume,"
            f" leaves no record; and the history keeps the newest {keep}."
        )

    def _change_before(self, task: Task, at: datetime) -> Change | None:
        """The last that was done to a task by `at`, among what was done of late."""
        entries = self.tasks.changes(task.id, limit=PAGE).items
        return next((entry for entry in entries if entry.at <= at), None)


def _is_over(pause: Change, at: datetime) -> bool:
    """Whether a pause had come to the end that it was given."""
    until = pause.fields.get("pause_until")
    return until is not None and until.new is not None and until.new <= format_instant(at)
