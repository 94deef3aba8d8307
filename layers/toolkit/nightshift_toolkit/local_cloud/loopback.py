"""Sockets of the local cloud: on this machine, for this machine."""

from __future__ import annotations

import socket

from nightshift_toolkit.local_cloud.errors import PortBusyError

LOOPBACK = "127.0.0.1"


def listen(port: int) -> socket.socket:
    """Return a listening loopback socket; `port` 0 takes any free port.

    Raises:
        PortBusyError: another program listens there.

    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((LOOPBACK, port))
        listener.listen(128)
    except OSError as error:
        listener.close()
        raise PortBusyError(port) from error
    return listener
