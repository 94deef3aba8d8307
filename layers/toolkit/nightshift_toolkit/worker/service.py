"""The worker's life: take work while a place is free, and stop without losing any."""

import logging
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from nightshift_toolkit.worker.ports import Delivery, Unavailable
from nightshift_toolkit.worker.work import Work, Workbench

log = logging.getLogger(__name__)

_MOST_PER_RECEIVE = 10
_LONGEST_PAUSE_SECONDS = 30.0


class WorkerService:
    """Works off the queue, at most `concurrency` runs at once.

    The queue is asked only for as many messages as places are free: the heartbeat clock of a run
    starts when its message is sent, so a message that waits here would wait unheard.
    """

    def __init__(self, bench: Workbench) -> None:
        self._bench = bench
        self._free = bench.settings.concurrency
        self._works: set[Work] = set()
        self._changed = threading.Condition()
        self._draining = threading.Event()
        self._stopped = threading.Event()

    def drain(self) -> None:
        """Take no more work; let what runs finish within `drain_seconds`."""
        self._draining.set()
        with self._changed:
            self._changed.notify_all()

    def stop(self) -> None:
        """Take no more work and end what runs; every run is reported as stopped."""
        self._stopped.set()
        self.drain()

    def serve(self) -> None:
        """Work until `drain` or `stop` is called and every run has come to its end."""
        settings = self._bench.settings
        log.info("worker_started", extra={"concurrency": settings.concurrency})
        with ThreadPoolExecutor(settings.concurrency, thread_name_prefix="run") as pool:
            while not self._draining.is_set():
                if places := self._wait_for_places():
                    self._take(places, pool)
            self._finish()
        log.info("worker_stopped")

    def _wait_for_places(self) -> int:
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._draining.is_set())
            return 0 if self._draining.is_set() else min(self._free, _MOST_PER_RECEIVE)

    def _take(self, places: int, pool: ThreadPoolExecutor) -> None:
        for delivery in self._receive(places):
            work = Work(self._bench, delivery)
            if self._draining.is_set():
                work.hand_back()
                continue
            with self._changed:
                self._free -= 1
                self._works.add(work)
            pool.submit(self._carry_out, work)

    def _receive(self, places: int) -> list[Delivery]:
        pause = 1.0
        while True:
            try:
                return self._bench.queue.receive(places, self._bench.settings.poll_seconds)
            except Unavailable as error:
                log.warning("receive_failed", extra={"error": str(error)})
            if self._draining.wait(pause):
                return []
            pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _carry_out(self, work: Work) -> None:
        try:
            work.carry_out()
        except Exception:
            # A fault of this program. The run is silent from here on, so the workflow ends it.
            log.exception("work_failed", extra=work.ids)
        finally:
            with self._changed:
                self._free += 1
                self._works.discard(work)
                self._changed.notify_all()

    def _finish(self) -> None:
        """Wait for the runs to end; those that outlast the drain or a stop are ended."""
        deadline = time.monotonic() + self._bench.settings.drain_seconds
        with self._changed:
            if self._works:
                log.info("worker_draining", extra={"runs": len(self._works)})
            while self._works and not self._stopped.is_set():
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            for work in self._works:
                work.stop()
            self._changed.wait_for(lambda: not self._works)
