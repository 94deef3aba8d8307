"""`--all` of `tasks pause` and `tasks resume`: all my tasks, a hundred a request."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.session import Session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.client import Client
from nightshift_toolkit.resources import ChangedTasks, Verb

Decorated = TypeVar("Decorated", bound=Callable[..., Any])

_DONE: Mapping[Verb, str] = {"pause": "Paused", "resume": "Resumed"}


def one_or_all(decorated: Decorated) -> Decorated:
    """Let a command take one task, or `--all` of them."""
    every = click.option("--all", "every", is_flag=True, help="All my tasks instead of one.")
    return click.argument("task_id", metavar="[TASK]", required=False)(every(decorated))


def ensure_one_or_all(task_id: str | None, *, every: bool) -> None:
    """Refuse a command line that names both or neither."""
    if every == (task_id is not None):
        raise click.UsageError("Say either which TASK, or --all.")


def change_all(session: Session, verb: Verb, **fields: str | None) -> None:
    """Pause or resume all tasks, and say what became of them.

    Raises:
        Failure: some were left as they are; the others are changed all the same.
    """
    with session.client() as client:
        done = _all_changed(client, verb, fields)
    if session.as_json:
        show_json(done)
    else:
        click.echo(f"{_DONE[verb]} {len(done['changed'])}, left {len(done['unchanged'])} as is")
        for refused in done["refused"]:
            click.echo(f"Refused: {refused['task_id']}  {refused['code']}")
    if done["refused"]:
        raise Failure(
            f"Refused: {len(done['refused'])} of the tasks.",
            ExitCode.CONFLICT,
            hint=f"nightshift tasks {verb} TASK, which says why",
        )


def _all_changed(client: Client, verb: Verb, fields: Mapping[str, str | None]) -> ChangedTasks:
    sent = {name: value for name, value in fields.items() if value is not None}
    done = ChangedTasks(changed=[], unchanged=[], refused=[], next_cursor=None)
    while True:
        some = client.change_tasks(verb, sent)
        done["changed"] += some["changed"]
        done["unchanged"] += some["unchanged"]
        done["refused"] += some["refused"]
        if some["next_cursor"] is None:
            return done
        sent["cursor"] = some["next_cursor"]
