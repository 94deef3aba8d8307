"""The options that describe a task, and the request body that they make."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import click

from nightshift.domain.model.enums import Jitter, OverlapPolicy
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.retry import DEFAULT_MAX_BACKOFF_SECONDS
from nightshift_toolkit.cli.phrase import schedule_of
from nightshift_toolkit.cli.text import one_line
from nightshift_toolkit.cli.values import (
    EXCLUDE_HELP,
    FAILURE_CLASSES,
    Exclusion,
    FiniteRange,
    Label,
    Length,
    TextOrFile,
    ThreadId,
    excluded,
)

_TITLE_FROM_TEXT = 60
NOTICE_KINDS = tuple(kind.value for kind in NoticeKind)
_OVERLAP_POLICIES = tuple(policy.value for policy in OverlapPolicy)

# Option, field of the body, what it takes, help. What is not given is not sent.
_PLAIN: tuple[tuple[str, str, Any, str], ...] = (
    ("--title", "title", str, "Name for people; else the beginning of the prompt or command."),
    ("--zone", "timezone", str, "IANA name of the zone in which times are read; else UTC."),
    ("--timeout", "timeout_seconds", Length(), "Longest time a run may take, like 10m."),
    ("--priority", "priority", click.IntRange(0, 9), "0 to 9; 9 goes first when places are few."),
    ("--max-lateness", "max_lateness_seconds", Length(), "Skip a run that would be later."),
    ("--jitter", "jitter_seconds", Length(), "Spread the starts over this time."),
    ("--starts-at", "starts_at", str, "No run before this time, written with Z or an offset."),
    ("--ends-at", "ends_at", str, "No run after this time, written with Z or an offset."),
    ("--max-runs", "max_runs", click.IntRange(1), "End after so many runs by the clock."),
    (
        "--pause-after-failures",
        "pause_after_failures",
        click.IntRange(1, 100),
        "Pause a recurring task after so many failures in a row.",
    ),
    ("--assistant", "assistant_id", str, "Which assistant does the work."),
    (
        "--overlap-policy",
        "overlap_policy",
        click.Choice(_OVERLAP_POLICIES),
        "What to do when the previous run is still active; else skip.",
    ),
)

_RETRY: tuple[tuple[str, str, Any, str], ...] = (
    ("--attempts", "max_attempts", click.IntRange(1, 10), "Try a failed run so often in all."),
    ("--backoff", "backoff_seconds", Length(), "Wait before the second attempt, like 30s."),
    ("--backoff-rate", "backoff_rate", FiniteRange(1, 10), "Lengthen each further wait so."),
    ("--max-backoff", "max_backoff_seconds", Length(), "Longest wait between two attempts."),
)

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_OPTIONS = (
    click.option("--prompt", type=TextOrFile(), help="What the agent is asked: text, @FILE or -."),
    click.option("--command", type=TextOrFile(), help="A shell command instead of a prompt."),
    click.option("--when", help="In English, like 'every weekday at 9 in New York'."),
    click.option("--cron", multiple=True, help="Five fields, like '0 9 * * MON-FRI'; repeatable."),
    click.option("--every", type=Length(), help="A fixed interval, like 10m."),
    click.option("--once", help="One time: 2026-03-08T09:00:00, or with an offset or Z."),
    click.option("--in", "after", type=Length(), help="Once, so much from now, like 70s."),
    click.option("--exclude", type=Exclusion(), multiple=True, help=EXCLUDE_HELP),
    click.option(
        "--thread",
        type=ThreadId(),
        help="Run in this thread of mine; else in a fresh one each time.",
    ),
    click.option(
        "--jitter-auto/--jitter-hash",
        "jitter_auto",
        default=None,
        help="Start in the least crowded minute of --jitter; else at a place the task's id gives.",
    ),
    click.option("--label", "labels", type=Label(), multiple=True, help="key=value; repeatable."),
    *(
        click.option(option, field, type=kind, help=text)
        for option, field, kind, text in (*_PLAIN, *_RETRY)
    ),
    click.option(
        "--include-previous-result/--no-previous-result",
        default=None,
        help="Hand each run what the last success left, in a file beside the prompt.",
    ),
    click.option(
        "--retry-on",
        type=click.Choice(FAILURE_CLASSES),
        multiple=True,
        help="Only after such a failure; repeatable.",
    ),
    click.option("--notify", help="Tell this webhook of the task's runs: an https address."),
    click.option(
        "--notify-on",
        type=click.Choice(NOTICE_KINDS),
        multiple=True,
        help="Of what; repeatable. Else of everything but a plain success.",
    ),
    click.option(
        "--notify-changes-only",
        is_flag=True,
        help="Of failures and successes only when the one before was different.",
    ),
)


def with_task_options(command: Decorated) -> Decorated:
    """Give a command the options of a task, and `fields`: those used, as the API has them."""

    @wraps(command)
    def wrapped(*args: Any, phrase: str | None = None, **options: Any) -> Any:
        if phrase is not None:
            if options["when"] is not None:
                raise click.UsageError("Say when once: as an argument, or with --when.")
            options["when"] = phrase
        fields = _fields(
            **{name: options.pop(name) for name in _SPECIAL},
            plain={field: options.pop(field) for field in _SENT},
        )
        retry = {field: options.pop(field) for _, field, _, _ in _RETRY}
        if (chosen := _retry(retry, options.pop("retry_on"))) is not None:
            fields["retry"] = chosen
        if (notify := _notify(**{name: options.pop(name) for name in _NOTIFY})) is not None:
            fields["notify"] = notify
        return command(*args, fields=fields, **options)

    for option in reversed(_OPTIONS):
        wrapped = option(wrapped)
    return wrapped  # type: ignore[return-value]


_NOTIFY = ("notify", "notify_on", "notify_changes_only")
_SENT = (*(field for _, field, _, _ in _PLAIN), "include_previous_result")
_SPECIAL = (
    "prompt",
    "command",
    "when",
    "cron",
    "every",
    "once",
    "after",
    "exclude",
    "jitter_auto",
    "thread",
    "labels",
)


def _fields(
    *,
    prompt: str | None,
    command: str | None,
    when: str | None,
    cron: tuple[str, ...],
    every: int | None,
    once: str | None,
    after: int | None,
    exclude: tuple[str, ...],
    jitter_auto: bool | None,
    thread: str | None,
    labels: tuple[tuple[str, str], ...],
    plain: dict[str, Any],
) -> dict[str, Any]:
    fields = {name: value for name, value in plain.items() if value is not None}
    if (action := _action(prompt, command)) is not None:
        fields["action"] = action
    schedule = _schedule(cron, every, once, after)
    if exclude:
        if schedule is not None and not cron:
            raise click.UsageError("--exclude goes with --cron.")
        schedule = (schedule or {}) | {"exclude": excluded(exclude)}
    if schedule is not None:
        fields["schedule_spec"] = schedule
    if when is not None:
        if schedule is not None:
            raise click.UsageError("A phrase goes without --cron, --every, --once, --in.")
        fields |= schedule_of(when, fields.get("timezone"))
    if jitter_auto is not None:
        fields["jitter"] = (Jitter.AUTO if jitter_auto else Jitter.HASH).value
    if thread is not None:
        fields |= {"context_mode": "reuse_thread", "thread_id": thread}
    if labels:
        fields["labels"] = _each_once(labels)
    return fields


def _each_once(labels: tuple[tuple[str, str], ...]) -> dict[str, str]:
    found = dict(labels)
    if len(found) < len(labels):
        raise click.UsageError("A label may be given once: two of these have the same key.")
    return found


def require_whole(fields: dict[str, Any]) -> dict[str, Any]:
    """Fields for a new task: an action and a schedule must be among them; a title is made up."""
    if "action" not in fields:
        raise click.UsageError("Say what to run: --prompt TEXT, or --command TEXT.")
    if not fields.get("schedule_spec", {}).keys() - {"exclude"}:
        raise click.UsageError("Say when: a phrase, --cron, --every, --once or --in.")
    action = fields["action"]
    made_up = one_line(action.get("prompt") or action.get("command") or "")[:_TITLE_FROM_TEXT]
    return {"title": made_up} | fields


def _retry(plain: dict[str, Any], classes: tuple[str, ...]) -> dict[str, Any] | None:
    chosen = {name: value for name, value in plain.items() if value is not None}
    if chosen.get("backoff_seconds", 0) > DEFAULT_MAX_BACKOFF_SECONDS:
        chosen.setdefault("max_backoff_seconds", chosen["backoff_seconds"])
    if classes:
        chosen["on"] = list(classes)
    if chosen and "max_attempts" not in chosen:
        raise click.UsageError("Say how often to try: --attempts N.")
    return chosen or None


def _notify(
    *, notify: str | None, notify_on: tuple[str, ...], notify_changes_only: bool
) -> dict[str, Any] | None:
    if notify is None:
        if notify_on or notify_changes_only:
            raise click.UsageError("Say whom to tell: --notify https://...")
        return None
    chosen: dict[str, Any] = {"webhook": notify}
    if notify_on:
        chosen["on"] = list(notify_on)
    if notify_changes_only:
        chosen["changes_only"] = True
    return chosen


def _action(prompt: str | None, command: str | None) -> dict[str, str] | None:
    if prompt is not None and command is not None:
        raise click.UsageError("A task has a --prompt or a --command, not both.")
    if prompt is not None:
        return {"kind": "agent", "prompt": prompt}
    return None if command is None else {"kind": "shell", "command": command}


def _schedule(
    cron: tuple[str, ...], every: int | None, once: str | None, after: int | None
) -> dict[str, Any] | None:
    forms: list[dict[str, Any]] = []
    if cron:
        forms.append({"cron": cron[0] if len(cron) == 1 else list(cron)})
    if every is not None:
        forms.append({"every_seconds": every})
    if once is not None:
        forms.append({"once": once})
    if after is not None:
        forms.append({"after_seconds": after})
    if len(forms) > 1:
        raise click.UsageError("Use only one of --cron, --every, --once and --in.")
    return forms[0] if forms else None
