"""From how a command ended to what is reported; without an exit code 0 nothing is a success."""

import signal
from dataclasses import dataclass, replace

from nightshift_toolkit.worker.message import Action, RunMessage
from nightshift_toolkit.worker.output import Output
from nightshift_toolkit.worker.settings import WorkerSettings
from nightshift_toolkit.worker.supervision import Ending

_SIGNAL_BASE = 128


@dataclass(frozen=True)
class Verdict:
    """The part of a report that says how it went."""

    outcome: str
    reason: str | None = None
    error: str | None = None
    exit_code: int | None = None


def refusal(action: Action, settings: WorkerSettings) -> Verdict | None:
    """The verdict on an action that this worker does not do at all, or None."""
    if action.kind == "shell":
        if settings.allow_shell:
            return None
        return _failed("shell_not_allowed", "The operator of this worker does not allow commands.")
    if action.kind != "agent":
        return _failed("error", "This worker does not know this kind of action.")
    if not settings.agent_command:
        return _failed("error", "This worker has no agent command.")
    return None


def verdict_on(
    ending: Ending, message: RunMessage, settings: WorkerSettings, output: Output
) -> Verdict:
    """The verdict on a command that ended and wrote `output`.

    A command ended by a signal of somebody else's gets the exit code a shell would show, 128 plus
    the signal's number. A command that was stopped has no exit code: it did not choose to end.
    """
    match ending.cause:
        case "exit":
            return _classified(_on_exit(ending.exit_code), settings, output)
        case "timeout":
            return _failed("timeout", f"Stopped after {message.timeout_seconds} s.")
        case "stop":
            return _failed("worker_stopped", "The worker was stopped before the run had ended.")
        case "silence":
            seconds = f"{settings.cut_off_seconds:g}"
            return _failed("worker_lost", f"Stopped: no heartbeat was answered for {seconds} s.")
        case _:
            return _failed("error", f"The command could not be run: {ending.error}.")


def _classified(verdict: Verdict, settings: WorkerSettings, output: Output) -> Verdict:
    """A failure with the reason that the operator gave its exit code or output."""
    if verdict.exit_code is None or verdict.reason is None:
        return verdict
    reason = settings.reasons_of_exit_codes.get(verdict.exit_code)
    if reason is None:
        reason = next(
            (
                named
                for pattern, named in settings.reasons_of_output
                if pattern.search(output.head) or pattern.search(output.tail)
            ),
            None,
        )
    return replace(verdict, reason=reason or verdict.reason)


def _on_exit(exit_code: int | None) -> Verdict:
    if exit_code == 0:
        return Verdict("success", exit_code=0)
    if exit_code is None or exit_code > 0:
        return Verdict("failed", "nonzero_exit", f"Exit code {exit_code}.", exit_code)
    try:
        name = signal.Signals(-exit_code).name
    except ValueError:
        name = f"signal {-exit_code}"
    return Verdict("failed", "nonzero_exit", f"Ended by {name}.", _SIGNAL_BASE - exit_code)


def _failed(reason: str, error: str) -> Verdict:
    return Verdict("failed", reason, error)
