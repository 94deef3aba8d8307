"""How a worker is told to end: one signal drains it, two stop it, three are final."""

import os
import signal
import socket
import threading

from nightshift_toolkit.worker.service import WorkerService

# What arrives in the mailbox beside the numbers of signals, which begin at 1 and end at 64.
_SERVED = 0
_BROKEN = 255


def serve_until_signalled(service: WorkerService) -> int:
    """Serve until SIGTERM or SIGINT; return the exit code, 0 when all ended in order.

    The first signal lets runs finish within the drain, the second ends them and reports that. The
    third leaves at once: the wardens then end their commands, and the workflow notices the silence.
    """
    mailbox, letters = socket.socketpair()
    with mailbox, letters:
        thread = threading.Thread(target=_serve, args=(service, letters), name="service")
        # By the wake-up descriptor and not by the handlers: any thread may be the one that gets the
        # signal, and then nothing would wake this one to run a handler.
        os.set_blocking(letters.fileno(), False)
        signal.set_wakeup_fd(letters.fileno(), warn_on_full_buffer=False)
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda _number, _frame: None)
        thread.start()
        for answer in (service.drain, service.stop, lambda: os._exit(1)):
            arrived = mailbox.recv(1)[0]
            if arrived in (_SERVED, _BROKEN):
                break
            answer()
        thread.join()
        signal.set_wakeup_fd(-1)
    return 0 if arrived == _SERVED else 1


def _serve(service: WorkerService, letters: socket.socket) -> None:
    ended = _BROKEN
    try:
        service.serve()
        ended = _SERVED
    finally:
        letters.send(bytes((ended,)))
