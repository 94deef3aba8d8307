"""Every way a use case can say no, as one family with stable codes (SPEC section 7).

The class docstring is the sentence shown to people when no better one is given. Nothing here knows
HTTP: `functions/api/errors.py` holds the one table from class to status.
"""

from typing import ClassVar


class NightshiftError(Exception):
    """Something went wrong."""

    code: ClassVar[str] = "internal_error"

    def __init__(self, message: str | None = None, *, field: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").strip())
        self.field = field
        """The request field the message is about, as a dotted path, where there is one."""

    @property
    def message(self) -> str:
        """The sentence for people; never contains input or internals."""
        return str(self.args[0])


class InvalidRequest(NightshiftError):
    """The request is not valid."""

    code = "invalid_request"


class InvalidSchedule(InvalidRequest):
    """The schedule is not valid."""

    code = "invalid_schedule"


class InvalidTimeZone(InvalidSchedule):
    """The time zone is not a name from the IANA database."""

    code = "invalid_time_zone"


class NotInFuture(InvalidSchedule):
    """The time is not far enough in the future."""

    code = "not_in_future"


class TooFrequent(InvalidSchedule):
    """The schedule fires more often than the policy allows."""

    code = "too_frequent"


class NeverFires(InvalidSchedule):
    """The schedule never fires."""

    code = "never_fires"


class PayloadTooLarge(InvalidRequest):
    """The prompt or command is larger than 64 KiB."""

    code = "payload_too_large"


class NotFound(NightshiftError):
    """There is no such thing."""

    code = "not_found"


class TaskNotFound(NotFound):
    """There is no task with this id."""

    code = "task_not_found"


class RunNotFound(NotFound):
    """There is no run with this id."""

    code = "run_not_found"


class ThreadNotFound(NotFound):
    """There is no thread with this id."""

    code = "thread_not_found"


class Conflict(NightshiftError):
    """The state of things does not allow this now."""

    code = "conflict"


class TaskNotMutable(Conflict):
    """The task is being dispatched or running and cannot be changed now; try again when it ends."""

    code = "task_not_mutable"


class ActiveRun(Conflict):
    """The task already has an active run."""

    code = "active_run"


class RunNotPausable(Conflict):
    """The run is not at work, or its worker cannot pause it."""

    code = "run_not_pausable"


class ThreadBusy(Conflict):
    """Another run is active in this thread."""

    code = "thread_busy"


class BudgetFull(Conflict):
    """As many runs as allowed are active; try again when one has ended."""

    code = "budget_full"


class TimePassed(Conflict):
    """The time of this task has passed; give it a new one."""

    code = "time_passed"


class ConcurrentUpdate(Conflict):
    """The task was changed by somebody else at the same moment; read it and try again."""

    code = "concurrent_update"


class IdempotencyMismatch(Conflict):
    """This Idempotency-Key was used with another request."""

    code = "idempotency_mismatch"


class QuotaExceeded(Conflict):
    """The number of tasks a user may have is reached; delete one first."""

    code = "quota_exceeded"


class PreconditionFailed(NightshiftError):
    """The task has changed since the revision named in If-Match."""

    code = "precondition_failed"


class InvalidCursor(NightshiftError):
    """The cursor is not one of this list's."""

    code = "invalid_cursor"


class Unauthenticated(NightshiftError):
    """The request carries no verified identity."""

    code = "unauthenticated"


class LaunchFailed(NightshiftError):
    """The run could not be started; the task is as it was."""

    code = "launch_failed"


class PersistenceUncertain(NightshiftError):
    """The write may or may not have happened; repeat it with the same Idempotency-Key, or read."""

    code = "persistence_uncertain"


class CorruptRecord(NightshiftError):
    """A stored row cannot be read; it needs an operator."""

    code = "corrupt_task"


class LaunchImpossible(NightshiftError):
    """Executions cannot be started at all: permission or state machine is missing."""

    code = "internal_error"


class StorageUnavailable(NightshiftError):
    """The table did not answer; nothing is known to have been written."""

    code = "internal_error"


class ExecutionsUnavailable(NightshiftError):
    """Step Functions did not answer; nothing is concluded from that."""

    code = "internal_error"
