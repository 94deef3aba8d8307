"""The heartbeat of one run, from the moment it is won until its report is handed in."""

import logging
import threading
import time
from contextlib import AbstractContextManager
from types import TracebackType

from nightshift_toolkit.worker.pausing import Pausing
from nightshift_toolkit.worker.ports import Callbacks, RunOver, Unavailable
from nightshift_toolkit.worker.supervision import SupervisedCommand

log = logging.getLogger(__name__)


class Lifeline(AbstractContextManager["Lifeline"]):
    """Beats in a thread of its own, so that neither a busy command nor a slow report delays it.

    Passes every answered heartbeat on to the attached command, and stops that command when the
    workflow says that it no longer waits.
    """

    def __init__(
        self,
        callbacks: Callbacks,
        task_token: str,
        run_id: str,
        heartbeat_seconds: float,
        pausing: Pausing | None = None,
    ) -> None:
        self._callbacks = callbacks
        self._task_token = task_token
        self._run_id = run_id
        self._interval = heartbeat_seconds
        self._pausing = pausing
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._beat_on, name=f"heartbeat {run_id}")
        self.over = threading.Event()
        """Set for good when the workflow no longer waits for the run."""
        self.last_beat = time.monotonic()
        """When the last answered heartbeat was sent; before the first, when the run was won."""
        self._command: SupervisedCommand | None = None

    def __enter__(self) -> "Lifeline":
        self._beat()
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed.set()
        self._thread.join()

    def attach(self, command: SupervisedCommand) -> None:
        """Let `command` live and end with the run, also when the run was over before this call."""
        self._command = command
        command.beat(self.last_beat)
        if self.over.is_set():
            command.stop()

    def silent_for(self) -> float:
        """Seconds since the last answered heartbeat was sent."""
        return time.monotonic() - self.last_beat

    def _beat_on(self) -> None:
        while not self.over.is_set() and not self._closed.wait(self._interval):
            self._beat()

    def _beat(self) -> None:
        sent_at = time.monotonic()
        try:
            self._callbacks.heartbeat(self._task_token)
        except RunOver:
            self.over.set()
            if self._command is not None:
                self._command.stop()
        except Unavailable as error:
            log.warning("heartbeat_failed", extra={"run_id": self._run_id, "error": str(error)})
        else:
            self.last_beat = sent_at
            if self._command is not None:
                self._command.beat(sent_at)
                if self._pausing is not None:
                    self._pausing.follow(self._command)
