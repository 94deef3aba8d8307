"""What can stop the local cloud, each with the one sentence that a person is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class LocalCloudError(Exception):
    """The local cloud cannot go on; the message is one sentence that says what to do."""

    exit_code = 1


class PortBusyError(LocalCloudError):
    """A port that was asked for belongs to another program."""

    exit_code = 3

    def __init__(self, port: int) -> None:
        """Name the busy `port`."""
        super().__init__(
            f"Port {port} on 127.0.0.1 is in use by another program: "
            "stop that program, or choose another port with --port, or make run PORT=..."
        )


class PortRefusedError(LocalCloudError):
    """A port that was asked for is not to be had, whoever uses it."""

    exit_code = 3

    def __init__(self, port: int, reason: str) -> None:
        """Name the `port` and the `reason`."""
        super().__init__(
            f"Port {port} on 127.0.0.1 cannot be used ({reason}): "
            "choose another port with --port, or make run PORT=..."
        )


class EngineStoppedError(LocalCloudError):
    """The engine ended although nobody asked it to."""

    exit_code = 4


class DeploymentError(LocalCloudError):
    """The engine's CloudFormation refused the template."""

    exit_code = 5

    def __init__(self, reason: str) -> None:
        """Carry CloudFormation's own `reason`."""
        super().__init__(
            f"The template could not be deployed into the local cloud: {reason.rstrip(chr(46))}."
        )


class UnsupportedEngineError(LocalCloudError):
    """The installed ministack is not the one that the corrections were written for."""

    exit_code = 6

    def __init__(self, installed: str, supported: str) -> None:
        """Name both versions."""
        super().__init__(
            f"The local cloud needs ministack {supported}, but {installed} is installed: "
            "run `make run`, which installs what is pinned."
        )


class AlreadyRunningError(LocalCloudError):
    """Another local cloud uses the same state folder."""

    exit_code = 7

    def __init__(self, folder: Path, owner: int) -> None:
        """Name the `folder` and the process id of its `owner`."""
        super().__init__(
            f"A local cloud already runs on {folder} (process {owner}): use that one, or stop it."
        )


class TickFailedError(LocalCloudError):
    """The clock's function raised."""

    def __init__(self, answer: str) -> None:
        """Carry the function's own `answer`."""
        super().__init__(f"The tick function failed: {answer}")


class WorkerStoppedError(LocalCloudError):
    """The worker keeps ending although nobody asks it to."""

    exit_code = 8

    def __init__(self, how: str, log: Path) -> None:
        """Say `how` it ended the last time, and where its last words are."""
        super().__init__(f"The worker {how}, five times within a minute; its log is {log}.")


class UnhealthyError(LocalCloudError):
    """The deployed API does not answer as it should."""

    exit_code = 9

    def __init__(self, answer: str, log: Path) -> None:
        """Name what came instead of health, and where the functions' words are."""
        super().__init__(f"The API was deployed but is not healthy ({answer}); the log is {log}.")


class StateFolderError(LocalCloudError):
    """What is kept between two runs cannot be written or read."""

    exit_code = 10

    def __init__(self, folder: Path, error: OSError) -> None:
        """Name the `folder` and what the system says of it."""
        super().__init__(f"Nothing can be kept in {folder}: {error.strerror or error}.")


class DamagedStateError(LocalCloudError):
    """What an earlier run left behind cannot be read."""

    exit_code = 11

    def __init__(self, path: Path, advice: str) -> None:
        """Name the damaged file or folder at `path`, and give `advice`."""
        super().__init__(f"{path} is damaged, and nothing in it was changed: {advice}.")


class NoOutputError(LocalCloudError):
    """Nobody can read what is said."""

    exit_code = 12

    def __init__(self, reason: str) -> None:
        """Carry the `reason` why nothing can be written to standard output."""
        super().__init__(f"Standard output cannot be written: {reason}.")
