"""The engine's own process: serves ministack on the sockets that its parent opened.

Run as `python -m nightshift_toolkit.local_cloud.process ENGINE_FD API_FD`, with ministack's
settings in the environment. It stops at SIGTERM, and when its standard input closes, since then
nobody is left to stop it.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack import app as ministack  # type: ignore[import-untyped]

from nightshift_toolkit.local_cloud import shim
from nightshift_toolkit.local_cloud.gateway import doors

if TYPE_CHECKING:
    from collections.abc import Callable

_GRACE_SECONDS = 2.0


def _watch_parent(stop: Callable[[], object]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop()


async def _serve(descriptors: list[int]) -> None:
    stopping = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, stopping.set)
    loop.add_signal_handler(signal.SIGINT, stopping.set)
    threading.Thread(
        target=_watch_parent, args=(lambda: loop.call_soon_threadsafe(stopping.set),), daemon=True
    ).start()
    config = Config()
    config.bind = [f"fd://{descriptor}" for descriptor in descriptors]
    config.keep_alive_timeout = 75
    config.graceful_timeout = _GRACE_SECONDS
    app = doors(ministack.app, api_port=_port(descriptors[1]), admin=lambda _: False)
    await serve(app, config, shutdown_trigger=stopping.wait)


def _port(descriptor: int) -> int:
    # The parent's listening socket is shared, so this copy of it must not close it.
    with socket.socket(fileno=os.dup(descriptor)) as listener:
        port: int = listener.getsockname()[1]
    return port


def main() -> None:
    """Serve until told to stop."""
    shim.install()
    asyncio.run(_serve([int(argument) for argument in sys.argv[1:]]))


if __name__ == "__main__":
    main()
