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
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypercorn.asyncio import serve
from hypercorn.config import Config
from ministack import app as ministack  # type: ignore[import-untyped]
from ministack.core import lambda_runtime  # type: ignore[import-untyped]

from nightshift_toolkit.local_cloud import shim
from nightshift_toolkit.local_cloud.errors import DamagedStateError, UnsupportedEngineError
from nightshift_toolkit.local_cloud.gateway import doors
from nightshift_toolkit.local_cloud.housekeeping import copy_logs_to
from nightshift_toolkit.local_cloud.obituary import SPOKEN
from nightshift_toolkit.local_cloud.persistence import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from nightshift_toolkit.local_cloud.gateway import App

_GRACE_SECONDS = 2.0
_END = "end:"


def _watch_parent(stop: Callable[[], object]) -> None:
    while os.read(sys.stdin.fileno(), 4096):
        pass
    stop()


async def _serve(descriptors: list[int], memory: Memory | None) -> None:
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
    app = doors(
        ministack.app, api_port=_port(descriptors[1]), admin=lambda word: _admin(word, memory)
    )
    if memory is not None:
        app = _remembering(app, memory)
    await serve(app, config, shutdown_trigger=stopping.wait)


def _admin(word: str, memory: Memory | None) -> bool:
    if word == "snapshot" and memory is not None:
        memory.snapshot()
    elif word.startswith(_END):
        lambda_runtime.invalidate_worker(word.removeprefix(_END))
    else:
        return False
    return True


def _remembering(app: App, memory: Memory) -> App:
    """Return `app` that serves nobody before the journal is read and saves itself at the end."""

    async def remembering(scope: Any, receive: Any, send: Any) -> None:
        async def send_when_restored(message: Any) -> None:
            if message["type"] == "lifespan.startup.complete":
                await memory.restore()
            elif message["type"] == "lifespan.shutdown.complete":
                memory.snapshot()
            await send(message)
            if message["type"] == "lifespan.startup.complete":
                memory.announce_interrupted()

        if scope["type"] == "lifespan":
            await app(scope, receive, send_when_restored)
        else:
            await app(scope, receive, send)
            memory.snapshot_if_large()

    return remembering


def _port(descriptor: int) -> int:
    # The parent's listening socket is shared, so this copy of it must not close it.
    with socket.socket(fileno=os.dup(descriptor)) as listener:
        port: int = listener.getsockname()[1]
    return port


def main() -> None:
    """Serve until told to stop."""
    folder = Path(os.environ["STATE_DIR"])
    try:
        shim.install()
        memory = Memory(folder) if os.environ["PERSIST_STATE"] == "1" else None
    except (UnsupportedEngineError, DamagedStateError) as error:
        print(error, flush=True)
        sys.exit(SPOKEN)
    copy_logs_to(Path(os.environ["FUNCTIONS_LOG"]))
    asyncio.run(_serve([int(argument) for argument in sys.argv[1:]], memory))
    _take_children_along()


def _take_children_along() -> None:
    # A function that still runs would go on without its engine, and a thread of an execution would
    # hold up the exit. Everything that has to last is on disk by now.
    if os.getpgrp() == os.getpid():
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        os.killpg(os.getpgrp(), signal.SIGTERM)
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
