"""Taking tasks out of the clock's reach and putting them back (P3, P20)."""

from dataclasses import dataclass
from datetime import datetime

from nightshift.domain.commands import PauseTask, ResumeTask
from nightshift.domain.model.instants import parse_rfc3339
from nightshift.domain.model.task import Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.services.admission import ensure_allowed
from nightshift.domain.services.owned import OwnedTasks, TaskView


@dataclass(frozen=True, slots=True, kw_only=True)
class Pausing:
    """Pause and resume, of one task of the asking user."""

    owned: OwnedTasks
    policies: PolicySource

    def pause_task(self, command: PauseTask, now: datetime) -> TaskView:
        """Take a task out of the clock's reach; a run goes on unless cancelled (P3, P7).

        With `until` the clock puts it back then, and an occurrence of that very instant runs.

        Raises:
            TaskNotFound: there is no such task of this user.
            PreconditionFailed: the task is not at a revision that was expected.
            TaskNotMutable: a `once` task is running, or the task is finished.
            InvalidSchedule: the end is not a time in the future, or no time is left after it.
        """
        until = None if command.until is None else parse_rfc3339(command.until, field="until")

        def attempt(task: Task) -> TaskView | None:
            changed = task.paused(command.reason, now, until)
            cancel = self.owned.to_cancel(task, command)
            if changed is task:
                self.owned.cancel(cancel)
                return self.owned.view(task)
            if not self.owned.tasks.switch(task, changed, cancel=cancel):
                return None
            self.owned.stop(cancel)
            return self.owned.view(changed)

        return self.owned.retried(command, attempt)

    def resume_task(self, command: ResumeTask, now: datetime) -> TaskView:
        """Put a paused or blocked task back, next strictly after now (P3, P20).

        Raises:
            TaskNotFound: there is no such task of this user.
            PreconditionFailed: the task is not at a revision that was expected.
            TimePassed: no time of its schedule is left.
            TaskNotMutable: the task is running or finished.
        """
        policy = self.policies.current()

        def attempt(task: Task) -> TaskView | None:
            ensure_allowed(task, policy)
            changed = task.resumed(now, policy)
            if changed is task or self.owned.tasks.switch(task, changed):
                return self.owned.view(changed)
            return None

        return self.owned.retried(command, attempt)
