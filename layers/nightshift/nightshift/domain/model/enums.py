"""The closed sets of words that rules, rows and the wire share; one line each."""

from enum import StrEnum


class ActionKind(StrEnum):
    """What a run does."""

    AGENT = "agent"  # a prompt, handed to the operator's agent command on standard input
    SHELL = "shell"  # a command line, only where the operator allows it


class ContextMode(StrEnum):
    """In which conversation a run happens."""

    FRESH_THREAD = "fresh_thread"  # a thread of its own for each run, its id derived from the run's
    REUSE_THREAD = "reuse_thread"  # one existing thread of the user's, one run at a time in it


class OverlapPolicy(StrEnum):
    """What becomes of an occurrence that is due while the previous run is active (P13)."""

    SKIP = "skip"  # it is recorded as skipped
    QUEUE_ONE = "queue_one"  # it stays due and runs when that run has ended, later ones folded in
    CANCEL_PREVIOUS = "cancel_previous"  # that run is cancelled, this one starts when it has ended


class Jitter(StrEnum):
    """Where in its window a task starts (SPEC section 5)."""

    HASH = "hash"  # at a place that its id gives
    AUTO = "auto"  # in the minute that was the least crowded when the place was chosen


class TaskStatus(StrEnum):
    """The state of a task (SPEC section 3)."""

    ENABLED = "enabled"  # the clock starts it when it is due
    PAUSED = "paused"  # only a manual trigger starts it
    RUNNING = "running"  # a `once` task between its admission and its completion
    COMPLETED = "completed"  # nothing is left to run
    FAILED = "failed"  # a `once` task whose only chance is gone
    CANCELLED = "cancelled"  # a `once` task whose run was cancelled


class RunStatus(StrEnum):
    """The state of a run."""

    QUEUED = "queued"  # admitted, holds its keys, not yet past the fence
    RUNNING = "running"  # past the fence
    SUCCESS = "success"  # ended with an explicit success
    FAILED = "failed"  # ended any other way
    INTERRUPTED = "interrupted"  # cancelled or stopped
    SKIPPED = "skipped"  # a tombstone: the occurrence did not run

    @property
    def active(self) -> bool:
        """Whether a run in this state holds its keys; the one place that knows."""
        return self in (RunStatus.QUEUED, RunStatus.RUNNING)


class Outcome(StrEnum):
    """How a run ended; each is also the run's terminal status."""

    SUCCESS = "success"  # the worker said so explicitly
    FAILED = "failed"  # everything that is not one of the others
    INTERRUPTED = "interrupted"  # Step Functions says it was stopped


class Trigger(StrEnum):
    """What asked for a run."""

    SCHEDULE = "schedule"  # the clock, for one occurrence
    MANUAL = "manual"  # a person or program, now


class SkipReason(StrEnum):
    """Why an occurrence became a tombstone."""

    OVERLAP = "overlap"  # the task's previous run was still active
    THREAD_BUSY = "thread_busy"  # another run was active in the thread
    TOO_LATE = "too_late"  # later than the task's max_lateness_seconds


class SlotState(StrEnum):
    """How far the active run of a task has come."""

    QUEUED = "queued"  # admitted; the launch may or may not have happened
    RUNNING = "running"  # its execution passed the fence


class FailureClass(StrEnum):
    """What kind of failure an attempt ended with, where another attempt may follow."""

    WORKER_LOST = "worker_lost"  # its worker fell silent or was stopped
    TIMEOUT = "timeout"  # it took longer than the task allows
    RATE_LIMITED = "rate_limited"  # the worker was told so by an exit code or the output
    NONZERO_EXIT = "nonzero_exit"  # the command said that it failed
    ERROR = "error"  # the command could not be run


class DispatchExit(StrEnum):
    """The four ways a dispatch ends (SPEC section 6)."""

    LAUNCHED = "launched"  # the run is admitted and its execution was asked for
    SKIPPED = "skipped"  # a tombstone was written
    CONFLICT = "conflict"  # nothing was written: somebody else was first, or no place is free
    FAILED = "failed"  # the launch was refused; the run is recorded as failed


class Rule(StrEnum):
    """What is asked before an occurrence starts, in the order in which it is asked."""

    ROW = "row"  # the task can be read
    PAUSE = "pause"  # nobody has paused it
    STATUS = "status"  # it is enabled
    BLOCKED = "blocked"  # nothing has blocked it (P20)
    WINDOW = "window"  # starts_at, ends_at and max_runs leave room
    EXCLUSION = "exclusion"  # the time is not excluded
    SCHEDULE = "schedule"  # the schedule has this time
    DUE = "due"  # that time has come, jitter and back-off included
    KILL_SWITCH = "kill_switch"  # the operator lets runs start
    SEAT = "seat"  # a seat of the budget is free (P14)
    USER_LIMIT = "user_limit"  # the user may have one run more
    LINE = "line"  # it is its turn among those who are due
    PERMISSION = "permission"  # the operator allows this kind of action
    PAYLOAD = "payload"  # its prompt or command is there
    LATENESS = "lateness"  # it is not too late (P16)
    OVERLAP = "overlap"  # no run of the task is active (P13)
    RECORD = "record"  # the occurrence has no record yet
    THREAD = "thread"  # no other run is active in its thread


class Verdict(StrEnum):
    """What one rule says of an occurrence."""

    PASSES = "passes"  # it lets it start
    DECIDES = "decides"  # it alone is why the occurrence does not start, or has its record
    NOT_REACHED = "not_reached"  # it was not asked: another decides, or only the moment can tell


class Decision(StrEnum):
    """What all rules together say of a task now, or of one of its times."""

    STARTS = "starts"  # the next look of the clock starts it
    SKIPS = "skips"  # the next look writes its tombstone
    WAITS = "waits"  # it is due and stays so
    BLOCKS = "blocks"  # the next look takes it out of the line with the reason shown
    MOVES_ON = "moves_on"  # the occurrence has its record; the next look goes on to the next time
    WAKES = "wakes"  # the next look ends its pause
    RESTS = "rests"  # the clock does not meet it
    COMES = "comes"  # that time is still to come
    RECORDED = "recorded"  # that time is in the history
    NO_OCCURRENCE = "no_occurrence"  # the schedule does not have that time
    NO_RECORD = "no_record"  # that time has passed and left no record
