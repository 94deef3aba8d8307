"""Taking tasks out of the clock's reach and putting them back (P3, P20)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from nightshift.domain.commands import PauseTask, PauseTasks, ResumeTask, ResumeTasks
from nightshift.domain.errors import Conflict, CorruptRecord, InvalidRequest, TaskNotFound
from nightshift.domain.model.instants import parse_rfc3339
from nightshift.domain.model.pause import ensure_in_future, paused_with_all, resumed_with_all
from nightshift.domain.model.task import Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.services.admission import ensure_allowed
from nightshift.domain.services.owned import OwnedTasks, TaskView

AT_ONCE = 100
"""Most tasks that one request goes through; each is one conditional write."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A task that was left as it is, and the code of the reason."""

    task_id: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedTasks:
    """What became of some tasks of a user, by id; `next` is the id to go on after, if any."""

    changed: Sequence[str]
    unchanged: Sequence[str]
    refused: Sequence[Refused]
    next: str | None
    corrupt: Sequence[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pausing:
    """Pause and resume, of one task of the asking user or of all."""

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

    # -- all of them --

    def pause_tasks(self, command: PauseTasks, now: datetime) -> ChangedTasks:
        """Take the next tasks of the user out of the clock's reach (P3); their runs go on.

        Each is a change of its own, so that one that is refused keeps no other from it, and asking
        again after a failure goes on where it stopped. None is paused for less than it was.

        Raises:
            NotInFuture, InvalidSchedule: `until` is no time in the future; nothing was written.
        """
        until = None if command.until is None else parse_rfc3339(command.until, field="until")
        if until is not None:
            ensure_in_future(until, now)
        return self._each(command, lambda task: paused_with_all(task, command.reason, until, now))

    def resume_tasks(self, command: ResumeTasks, now: datetime) -> ChangedTasks:
        """Put the next paused tasks of the user back, next strictly after now (P3).

        Raises:
            StorageUnavailable: the table did not answer; asking again goes on where it stopped.
        """
        policy = self.policies.current()

        def resumed(task: Task) -> Task:
            changed = resumed_with_all(task, now, policy)
            if changed is not task:
                ensure_allowed(task, policy)
            return changed

        return self._each(command, resumed)

    def _each(
        self, command: PauseTasks | ResumeTasks, changed: Callable[[Task], Task]
    ) -> ChangedTasks:
        page = self.owned.tasks.list(command.user_id, limit=AT_ONCE, after=command.after)
        found: dict[bool, list[str]] = {True: [], False: []}
        refused: list[Refused] = []
        for task in page.items:
            try:
                found[self._switched(task, changed)].append(task.id)
            except TaskNotFound:
                continue  # it was deleted meanwhile, and nothing of it is left to say
            except (Conflict, InvalidRequest, CorruptRecord) as refusal:
                refused.append(Refused(task.id, refusal.code))
        return ChangedTasks(
            changed=found[True],
            unchanged=found[False],
            refused=refused,
            next=page.next,
            corrupt=page.corrupt,
        )

    def _switched(self, listed: Task, changed: Callable[[Task], Task]) -> bool:
        """Whether the task was changed, decided anew if it changed since it was listed."""

        def attempt(task: Task) -> bool | None:
            after = changed(task)
            if after is task:
                return False
            return self.owned.tasks.switch(task, after) or None

        result = attempt(listed)
        if result is not None:
            return result
        return self.owned.retried(ResumeTask(listed.user_id, listed.id), attempt)
