"""What the services need from the world. Each docstring is the contract of its method.

The contract suite runs every sentence of them on the in-memory implementation and on DynamoDB.
Unless a method says otherwise, an implementation raises `StorageUnavailable` when the store did
not answer and nothing was written, `PersistenceUncertain` when a write may have happened, and
`CorruptRecord` when a row cannot be read.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Protocol

from nightshift.domain.exchanged import (
    Admission,
    AdmissionResult,
    Completion,
    CompletionAnswer,
    CorruptTask,
    DueLine,
    Execution,
    LaunchResult,
    Page,
    TaskRef,
    Thread,
)
from nightshift.domain.model.change import Change
from nightshift.domain.model.idempotency import UsedKey
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.replanning import Sweep
from nightshift.domain.model.run import Run
from nightshift.domain.model.slot import LaunchOrder, Slot
from nightshift.domain.model.task import Payload, Plan, Task


class TaskStore(Protocol):
    """Task rows, their payloads and change log, the due index, and used idempotency keys.

    `create`, `replace`, `switch` and `delete` write the entry of the change log in the same
    transaction: what was done, by the owner, with the fields before and after.
    """

    def create(
        self, task: Task, payload: Payload, *, max_tasks: int, key: UsedKey | None = None
    ) -> UsedKey | None:
        """Write a task, its payload, the count of the user's tasks and `key`, all or nothing.

        A use of the key that is over by the task's creation is replaced.

        Returns:
            None when all was written; otherwise the use that stands under the key, which is told
            before every other refusal.

        Raises:
            QuotaExceeded: the user has `max_tasks` tasks.
            ThreadNotFound: the task reuses a thread that is not the user's.
        """
        ...

    def get(self, ref: TaskRef) -> Task | None:
        """The task as last written (strongly consistent), or None."""
        ...

    def list(self, user_id: str, *, limit: int, after: str | None = None) -> Page[Task]:
        """The user's tasks from the oldest on, at most `limit`, after the task id `after`.

        A row that cannot be read is named in `corrupt` and passed over.
        """
        ...

    def payload(self, ref: TaskRef, revision: int) -> Payload | None:
        """The payload of one revision, or None when it is gone."""
        ...

    def replace(
        self,
        seen: Task,
        changed: Task,
        payload: Payload | None = None,
        *,
        cancel: Slot | None = None,
    ) -> bool:
        """Write the definition and plan of `changed` if the task is still as `seen`.

        "As seen" is revision, status, next time and whether it is blocked; what dispatch and
        completion own besides is neither compared nor written (P19). The reasons shown for a
        pause and a block, and the end of a pause, are those of `changed`.

        Refused while the task is being dispatched (K7). A new payload is written and the one it
        replaces removed in the same transaction; an active run past the fence never needs it again.
        With `cancel` the cancellation of the run in that slot is requested in the same transaction.

        Returns:
            False when the task changed meanwhile or is gone, or the slot to cancel is no longer
            that run's; nothing was written.

        Raises:
            TaskNotMutable: a run of the task is admitted and not yet past the fence.
            ThreadNotFound: the changed task reuses a thread that is not the user's.
        """
        ...

    def switch(self, seen: Task, changed: Task, *, cancel: Slot | None = None) -> bool:
        """Pause or resume: write status, plan and reasons of `changed` if the task is as `seen`.

        A pause that ends by itself has an entry in the due index for that time. A task that is
        put back has no failures in a row.

        Unlike `replace` it is allowed while a run is being dispatched: a launch that is under way
        goes on. `cancel` is that of `replace`. Returns False when the task changed meanwhile or is
        gone, or the slot to cancel is no longer that run's.
        """
        ...

    def delete(self, seen: Task, at: datetime, *, cancel: Slot | None = None) -> bool:
        """Remove a task, its terminal history and, unless a launch still needs it, its payload.

        The keys of an active run stay until it ends. The change log ends with an entry of the time
        `at` and goes a while later. `cancel` is that of `replace`. Returns False when the task
        changed meanwhile (another run was admitted, or it was edited), or the slot to cancel is no
        longer that run's; nothing was written.
        """
        ...

    def discard(self, ref: TaskRef) -> bool:
        """Remove a task whose row cannot be read, with its payloads and its terminal history.

        The keys of an active run stay until it ends. False when there is no such row.
        """
        ...

    def changes(self, task_id: str, *, limit: int, after: str | None = None) -> Page[Change]:
        """What was done to a task, newest first, at most `limit`.

        `after` is the `next` of the page before. An entry that cannot be read is named in
        `corrupt` and passed over.

        Raises:
            InvalidCursor: `after` is not of this list.
        """
        ...

    def recall(self, user_id: str, key: str, now: datetime) -> UsedKey | None:
        """The use of one of the user's keys, if it is not over at `now` (strongly consistent)."""
        ...

    def due(self, now: datetime) -> "DueLine":
        """Who is due by `now`: highest priority first, then oldest, then id.

        Whoever is to wake by `now` is among them; of the same instant those come first.
        The first page of every bucket is read at once, the others as they are used. Costs the
        same however many tasks sleep, and reads no task row.
        """
        ...

    def crowd(self, since: datetime, minutes: int, *, besides: str, limit: int) -> Sequence[int]:
        """How many tasks are due in each of the `minutes` from `since` on, all users' (a hint).

        The task `besides` does not count, nor who is to wake. Of each bucket at most `limit`
        entries are counted, from `since` on: the minutes in and after which a bucket has more are
        not told. Costs what is read, and reads no task row.
        """
        ...

    def read(
        self, refs: Sequence[TaskRef]
    ) -> Mapping[TaskRef, "tuple[Task, Payload | None] | CorruptTask"]:
        """The tasks and their current payloads, in batches, strongly consistent.

        A task that is gone is absent; one that cannot be read is a `CorruptTask`.
        """
        ...

    def advance(self, seen: Task, plan: Plan) -> bool:
        """Give the task another plan without a run if it is still as `seen`; False otherwise."""
        ...

    def wake(self, seen: Task, woken: Task) -> bool:
        """Write plan, reason and end of the pause of `woken` if the task is still as `seen`.

        Nothing else moves, the revision and the change log neither. False otherwise.
        """
        ...

    def back_off(self, seen: Task, until: datetime) -> bool:
        """Move `due_at` and nothing else if the task is still as `seen`; False otherwise.

        Of a task whose pause was to end it is that end which moves.

        Only `due_at` moves, so a task that was backed off meanwhile is still as seen.
        """
        ...

    def block(self, ref: TaskRef, reason: str, *, due_at: datetime) -> bool:
        """Take a task out of the due index with the reason shown (P20).

        Needs nothing of the row but its index entry, so that a row nobody can read is blocked
        too. False when the entry is no longer the one with this `due_at`.
        """
        ...


class SweepStore(Protocol):
    """The tasks that have a next time, page by page, and how far they have been gone through."""

    def progress(self) -> Sweep | None:
        """The sweep as last recorded, strongly consistent; None when there never was one."""
        ...

    def record(self, seen: Sweep | None, reached: Sweep) -> bool:
        """Write how far the sweep is if it is still as `seen`; False if another was first."""
        ...

    def planned(self, *, limit: int, after: str | None = None) -> Page[Task]:
        """Tasks that the clock will start or wake, of all users, in each part the soonest first.

        Costs what is read, however many tasks there are: at most `limit` tasks. `after` is the
        `next` of the page before. A task that keeps its place throughout is on exactly one page.
        Rows that cannot be read are named in `corrupt` and passed over.
        """
        ...


class RunStore(Protocol):
    """Runs and the keys they hold."""

    def admit(self, admission: Admission) -> AdmissionResult:
        """Take all keys of a run, write its record and advance its task, or do nothing (K3, K4).

        A run that may pause its task is not admitted on an old count of failures, nor one that is
        handed the previous result on an old success: that is CHANGED.
        """
        ...

    def skip(
        self, tombstone: Run, seen: Task, plan: Plan, notices: Sequence[Outgoing] = ()
    ) -> bool:
        """Write a tombstone and advance its task together, if the task is still as `seen`.

        The `notices` are written exactly when the tombstone is, in the same transaction.
        What the task shows of its last run stays, for nothing ran; a `once`, whose only chance is
        gone, shows the reason as its error. An occurrence that already has its record only
        advances. False: the task changed.
        """
        ...

    def slots(self) -> Sequence[Slot]:
        """Every slot, strongly consistent: the active runs, their seats and leases.

        A slot that cannot be read is passed over and stays; its keys stay held. It is logged by
        the implementation's observer.
        """
        ...

    def slot(self, task_id: str, shard: int) -> Slot | None:
        """The slot of one task, strongly consistent."""
        ...

    def take_lease(self, slot: Slot, until: datetime) -> Slot | None:
        """Own the launch of a queued run until `until`, if the slot is still as read.

        None: somebody else took it, the fence was passed, or a cancellation was requested.
        """
        ...

    def request_cancel(self, slot: Slot) -> bool:
        """Mark the slot, if it still holds this run, so that no launch and no fence succeeds."""
        ...

    def request_pause(self, run: Run, *, wanted: bool) -> bool:
        """Ask the run's worker to pause it or to let it go on, if it runs and can be paused."""
        ...

    def complete(self, completion: Completion) -> CompletionAnswer:
        """Make the run terminal if it is not, give back the keys it still holds, tell its task.

        May be sent any number of times, at any time; never touches another run's keys. A run that
        is over is not paused, nor asked to be. When the task is gone, the run's record and payload
        go too (P5). A failure that pauses its task (`Ended.streak`) does so only while the task is
        enabled and counts and gives up as when the run was admitted; it counts in any case. News
        that the run was never launched (`RunOutcome.unlaunched`) does nothing when the run is past
        the fence (P18).

        The notices are written exactly when this call makes the run terminal, and not for a task
        that is gone, nor that of a pause where the task does not pause.
        """
        ...

    def get(self, task_id: str, run_id: str) -> Run | None:
        """One run, strongly consistent."""
        ...

    def list(self, task_id: str, *, limit: int, after: str | None = None, keep: int) -> Page[Run]:
        """The newest `keep` runs of a task, newest first, at most `limit`.

        `after` is the `next` of the page before. A record that cannot be read is named in `corrupt`
        and passed over.

        Raises:
            InvalidCursor: `after` is not of this list.
        """
        ...

    def prune(self, task_id: str, keep: int) -> int:
        """Remove terminal runs beyond the newest `keep`; an active run is never removed (K10)."""
        ...


class ThreadStore(Protocol):
    """Threads that exist and whose they are."""

    def register(self, thread: Thread) -> Thread:
        """Make the thread exist; registering again returns it as first registered."""
        ...

    def get(self, user_id: str, thread_id: str) -> Thread | None:
        """The user's thread, or None."""
        ...


class Launcher(Protocol):
    """Starts and stops executions; never retries by itself."""

    def launch(self, order: LaunchOrder) -> LaunchResult:
        """Ask for the execution named after the run, with input equal to the byte each time.

        Raises:
            LaunchImpossible: executions cannot be started at all (permission, missing machine).
        """
        ...

    def stop(self, run_id: str) -> None:
        """Ask for the execution to be stopped; one that ended or never existed is no error.

        Raises:
            ExecutionsUnavailable: it may still run.
            LaunchImpossible: executions cannot be stopped at all.
        """
        ...

    def execution_arn(self, run_id: str) -> str:
        """The address that an execution of this run has or would have."""
        ...


class Inspector(Protocol):
    """Asks Step Functions what became of executions.

    Raises `ExecutionsUnavailable` when it did not answer and `LaunchImpossible` when it may not
    be asked.
    """

    def running(self) -> frozenset[str]:
        """Run ids of executions that run now, at least one page of them.

        Absence proves nothing.
        """
        ...

    def describe(self, run_id: str, now: datetime) -> Execution | None:
        """The execution of this run, or None when there is none."""
        ...


class Ids(Protocol):
    """Fresh names."""

    def task_id(self, now: datetime) -> str:
        """A new task id: unique, sortable by time, `[a-z0-9_]` only, at most 40 characters."""
        ...

    def nonce(self) -> str:
        """A new admission nonce: unguessable and unique."""
        ...

    def suffix(self) -> str:
        """A new suffix for a manual run id."""
        ...
