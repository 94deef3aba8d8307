"""What the workflow and the worker of a run at work write on its record, in memory."""

from dataclasses import replace
from datetime import datetime

from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.retry import FailedAttempt
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import task_id_of
from nightshift_toolkit.memory.state import RunRow, State


class MemoryWork:
    """The conditional writes that are no port's: pickup, attempts, pauses."""

    def __init__(self, state: State) -> None:
        self._state = state

    def win(self, run_id: str, nonce: str, attempt: int) -> bool:
        """Give an attempt to a worker, once; False when it has one or the run went on."""
        with self._state.lock:
            row = self._at_work(run_id, nonce)
            if row is None or (row.run.picked_up_attempt or 0) >= attempt:
                return False
            row.run = picked_up(row.run, attempt)
            return True

    def record_attempt(self, run_id: str, nonce: str, failed: FailedAttempt) -> bool:
        """Record that an attempt failed and another follows; repeating it writes the same.

        False: the run is over or under another nonce, no worker had this attempt, or it is long
        over.
        """
        with self._state.lock:
            row = self._at_work(run_id, nonce)
            if row is None or row.run.picked_up_attempt != failed.attempt:
                return False
            if row.run.attempt not in (failed.attempt, failed.attempt + 1):
                return False
            before = row.run.attempts[: failed.attempt - 1]
            row.run = replace(
                row.run,
                attempt=failed.attempt + 1,
                attempts=(*before, failed),
                paused_at=None,
            )
            return True

    def pause_wanted(self, run_id: str) -> bool:
        """Whether the run is to be paused, as last asked for."""
        with self._state.lock:
            row = self._state.runs[task_id_of(run_id)].get(run_id)
            return row is not None and row.run.pause_requested

    def note_pause(
        self,
        run_id: str,
        nonce: str,
        attempt: int,
        paused_at: datetime | None,
        paused_seconds: int,
        *,
        spent: bool,
    ) -> None:
        """Write down a pause; a run that is over, or at another attempt, stays as it is."""
        with self._state.lock:
            row = self._at_work(run_id, nonce)
            if row is None or (row.run.attempt, row.run.picked_up_attempt) != (attempt, attempt):
                return
            row.run = replace(
                row.run,
                paused_at=paused_at,
                paused_seconds=paused_seconds,
                pause_requested=row.run.pause_requested and not spent,
            )

    def _at_work(self, run_id: str, nonce: str) -> RunRow | None:
        row = self._state.runs[task_id_of(run_id)].get(run_id)
        if row is None or row.run.status is not RunStatus.RUNNING or row.run.nonce != nonce:
            return None
        return row


def picked_up(run: Run, attempt: int) -> Run:
    """The record of a run whose attempt a worker has won."""
    return replace(run, picked_up_attempt=attempt, can_pause=True, paused_at=None, paused_seconds=0)
