"""A folder in which commands run under wardens, and what is left in it."""

import os
import textwrap
from pathlib import Path

from nightshift_toolkit.worker.output import OutputCollector
from nightshift_toolkit.worker.supervision import Ending, Order, SupervisedCommand

SHELL = "/bin/sh"


def _order(*argv: str, folder: Path, **fields: object) -> Order:
    given: dict[str, object] = {
        "stdin": b"",
        "environment": {"PATH": os.environ["PATH"]},
        "timeout_seconds": 60.0,
        "silence_seconds": 60.0,
        "grace_seconds": 0.3,
    }
    return Order(argv=argv, folder=folder, **(given | fields))  # type: ignore[arg-type]


class Room:
    """Runs orders in one folder and knows which processes they have left behind."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.collector = OutputCollector()

    def start(self, *argv: str, **fields: object) -> SupervisedCommand:
        return SupervisedCommand.start(_order(*argv, folder=self.folder, **fields))

    def shell(self, script: str, **fields: object) -> SupervisedCommand:
        return self.start(SHELL, "-c", textwrap.dedent(script), **fields)

    def run(self, *argv: str, **fields: object) -> Ending:
        return self.start(*argv, **fields).wait(self.collector)

    def run_shell(self, script: str, **fields: object) -> Ending:
        return self.shell(script, **fields).wait(self.collector)

    @property
    def output(self) -> str:
        return self.collector.collected().within(100_000)[0]

    def marked(self) -> list[int]:
        """Living processes that work in the room's folder."""
        return [pid for pid in _living() if _folder_of(pid) == str(self.folder)]

    def has(self, name: str) -> bool:
        return (self.folder / name).exists()


def _living() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _folder_of(pid: int) -> str:
    try:
        return str(Path(f"/proc/{pid}/cwd").readlink())
    except OSError:
        return ""
