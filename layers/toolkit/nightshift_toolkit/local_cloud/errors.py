"""What can stop the local cloud, each with the one sentence that a person is shown."""

from __future__ import annotations


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
            "stop that program, or choose another port with --port."
        )


class EngineStoppedError(LocalCloudError):
    """The engine ended although nobody asked it to."""

    exit_code = 4


class DeploymentError(LocalCloudError):
    """The engine's CloudFormation refused the template."""

    exit_code = 5

    def __init__(self, reason: str) -> None:
        """Carry CloudFormation's own `reason`."""
        super().__init__(f"The template could not be deployed into the local cloud: {reason}.")


class UnsupportedEngineError(LocalCloudError):
    """The installed ministack is not the one that the corrections were written for."""

    exit_code = 6

    def __init__(self, installed: str, supported: str) -> None:
        """Name both versions."""
        super().__init__(
            f"The local cloud needs ministack {supported}, but {installed} is installed: "
            "run `make run`, which installs what is pinned."
        )
