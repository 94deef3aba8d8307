"""Sockets of the local cloud: on this machine, for this machine."""

from __future__ import annotations

import errno
import socket

from nightshift_toolkit.local_cloud.errors import PortBusyError, PortRefusedError

LOOPBACK = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """Return a listening loopback socket; `port` 0 takes any free port.

    Raises:
        PortBusyError: another program listens there.
        PortRefusedError: there is no such port, or this user may not have it.

    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OverflowError as error:
        listener.close()
        raise PortRefusedError(port, "ports end at 65535") from error
    except OSError as error:
        listener.close()
        if error.errno == errno.EADDRINUSE:
            raise PortBusyError(port) from error
        raise PortRefusedError(port, error.strerror or str(error)) from error
    return listener
