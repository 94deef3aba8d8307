"""The names of runs and of their threads, made so that repeating a step repeats them (K2)."""

import hashlib
from datetime import datetime


def occurrence_run_id(task_id: str, scheduled_for: datetime) -> str:
    """The run id of an occurrence: made of the task and its nominal instant, so it repeats (K2)."""
    return f"{task_id}-{_stamp(scheduled_for)}"


def manual_run_id(task_id: str, now: datetime, suffix: str) -> str:
    """The run id of a manual trigger: sorts with the occurrences by time, and is unique (K2)."""
    return f"{task_id}-{_stamp(now)}-m{suffix}"


def task_id_of(run_id: str) -> str:
    """The task that a run id names; the text before the first dash."""
    return run_id.partition("-")[0]


def _stamp(instant: datetime) -> str:
    return instant.strftime("%Y%m%dT%H%M%S") + f"{instant.microsecond // 1000:03d}Z"


def fresh_thread_id(run_id: str) -> str:
    """The thread of a run that has one of its own; repeating the step repeats the name (K2)."""
    return "thr_" + hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()
