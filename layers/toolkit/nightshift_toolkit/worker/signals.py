"""How a worker is told to end: one signal drains it, two stop it, three are final."""

import os
import queue
import signal
import threading
from types import FrameType

from nightshift_toolkit.worker.service import WorkerService

_SERVED = 0
_BROKEN = -1


def serve_until_signalled(service: WorkerService) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code, 0 when all ended in order.

    The first signal lets runs finish within the drain, the second ends them and reports that. The
    third leaves at once: the wardens then end their commands, and the workflow notices the silence.
    """
    arrivals: queue.SimpleQueue[int] = queue.SimpleQueue()

    def on_signal(number: int, _frame: FrameType | None) -> None:
        arrivals.put(number)

    def serve() -> None:
        ended = _BROKEN
        try:
            service.serve()
            ended = _SERVED
        finally:
            arrivals.put(ended)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, on_signal)
    thread = threading.Thread(target=serve, name="service")
    thread.start()
    for answer in (service.drain, service.stop, lambda: os._exit(1)):
        arrived = arrivals.get()
        if arrived in (_SERVED, _BROKEN):
            break
        answer()
    thread.join()
    return 0 if arrived == _SERVED else 1
