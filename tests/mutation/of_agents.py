"""The door for agents, broken one piece at a time."""

from typing import Final

from mutation.breaks import AGENTS, Break

_DOOR: Final = "layers/toolkit/nightshift_toolkit/mcp_server"


def _agents(name: str, file: str, before: str, after: str) -> Break:
    return Break(f"agents: {name}", f"{_DOOR}/{file}.py", before, after, (AGENTS,))


BREAKS: Final = (
    _agents(
        "the marks around data are always the same",
        "untrusted",
        "secrets.token_hex(_MARK_BYTES)",
        "'0123456789abcdef'",
    ),
    _agents(
        "characters that nobody sees come through",
        "untrusted",
        "unicodedata.category(character) not in _HIDDEN",
        'unicodedata.category(character) != "Cc"',
    ),
    _agents(
        "arguments are not looked at",
        "tools",
        "        validated(self.arguments, arguments)\n",
        "",
    ),
    _agents(
        "a phrase and a field may name two zones",
        "tools",
        "if read.zone is not None and named not in (None, read.zone):",
        "if False:",
    ),
    _agents(
        "a pause swallows the changes beside it",
        "tools",
        'if changes.keys() != {"paused"}:',
        "if not changes:",
    ),
    _agents(
        "a phrase forgets what is excluded",
        "tools",
        'if kept and "cron" in changes["schedule_spec"]:',
        "if False:",
    ),
    _agents(
        "a phrase changes a task that has changed since",
        "tools",
        'revision = revision or task["revision"]',
        "pass",
    ),
    _agents(
        "a change that was made is told as failed",
        "telling",
        "except (ApiError, UnreachableError, NotTheApiError):",
        "except ApiError:",
    ),
)
