"""What a command finds in its environment: what is allowed of the worker's, and the run's facts."""

from collections.abc import Iterable, Mapping

from nightshift_toolkit.worker.message import RunMessage

PASSED = frozenset({"PATH", "HOME", "LANG", "TZ", "TMPDIR", "USER", "SHELL"})
"""Variables handed on to every command, with all of `LC_*`; the operator names any others.

A list of what is allowed, not of what is secret: the worker's own cloud credentials and tokens
never reach a command that nobody watches.
"""


def command_environment(
    message: RunMessage,
    own: Mapping[str, str],
    also: Iterable[str] = (),
    given: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The environment of a run's command.

    Takes what is allowed from `own` plus the names in `also`, then what is `given`, then sets the
    run's facts over it. A fact that a run does not have, such as the scheduled time of a manual
    one, is an empty text.
    """
    allowed = PASSED | frozenset(also)
    passed = {
        name: value for name, value in own.items() if name in allowed or name.startswith("LC_")
    }
    return passed | dict(given or {}) | _facts(message)


def _facts(message: RunMessage) -> dict[str, str]:
    return {
        "NIGHTSHIFT_RUN_ID": message.run_id,
        "NIGHTSHIFT_TASK_ID": message.task_id,
        "NIGHTSHIFT_USER_ID": message.user_id,
        "NIGHTSHIFT_THREAD_ID": message.thread_id,
        "NIGHTSHIFT_ASSISTANT_ID": message.assistant_id or "",
        "NIGHTSHIFT_SCHEDULED_FOR": message.scheduled_for or "",
        "NIGHTSHIFT_TRIGGER": message.trigger,
        "NIGHTSHIFT_ATTEMPT": str(message.attempt),
        "NIGHTSHIFT_TITLE": message.title,
        "NIGHTSHIFT_NON_INTERACTIVE": "1",
    }
