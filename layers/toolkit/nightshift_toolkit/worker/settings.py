"""How one worker works, frozen at its start."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

MAX_CONCURRENCY = 1000


@dataclass(frozen=True)
class WorkerSettings:
    """What the operator decides; times in seconds."""

    agent_command: tuple[str, ...] = ()
    """The program for agent runs and its arguments; empty when this worker has none."""
    allow_shell: bool = False
    """Whether shell actions may run here."""
    concurrency: int = 1
    """How many runs at once."""
    silence_seconds: float = 300.0
    """The workflow's `worker_silence_seconds`: a run that is silent for longer is given up."""
    heartbeat_seconds: float = 10.0
    """Pause between two heartbeats; also how late a cancelled run is noticed."""
    grace_seconds: float = 10.0
    """From asking a command to stop until it is killed."""
    drain_seconds: float = 30.0
    """How long a stopping worker lets its runs finish."""
    poll_seconds: float = 5.0
    """How long one look at the queue waits for a message, at most 20."""
    folder: Path | None = None
    """Where all commands run; None gives each run a folder of its own."""
    folders: Path | None = None
    """Where the folders of runs are made; None is the system's place for temporary files."""
    keep_folders: bool = False
    """Whether the folder of a run stays after it."""
    threads: Path | None = None
    """Where threads keep their folder and their agent's session; None keeps none."""
    passed_variables: tuple[str, ...] = ()
    """Names of further environment variables that commands may see."""
    given_variables: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further variables of commands that are not this worker's own, with their values."""
    reasons_of_exit_codes: Mapping[int, str] = field(default_factory=dict)
    """What an exit code other than 0 means, as a class of failures that a task may retry."""
    reasons_of_output: tuple[tuple[re.Pattern[str], str], ...] = ()
    """The same by what the output of a failed command holds; the exit code goes first."""
    masks: tuple[re.Pattern[str], ...] = ()
    """What is a secret besides the shapes that are known."""
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ), repr=False)
    """The worker's own environment, of which commands see what is allowed."""

    @property
    def cut_off_seconds(self) -> float:
        """How long a command may live without a heartbeat being answered.

        Shorter than the workflow's silence by the grace, so that nothing of a run is left when the
        workflow gives it up and its keys come free.
        """
        return max(self.silence_seconds - self.grace_seconds, self.silence_seconds / 2)
