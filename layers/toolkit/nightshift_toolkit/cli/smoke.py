"""`nightshift smoke`: one task through a deployed stack, made, run and deleted, step by step."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.session import Session, with_session
from nightshift_toolkit.cli.show import show_json
from nightshift_toolkit.client import ApiError, Client, UnreachableError
from nightshift_toolkit.resources import Run, Task

TITLE: Final = "Smoke test"
PROMPT: Final = "This is a test of the scheduler. Answer with the word OK and do nothing else."
_NEVER_BY_ITSELF: Final = "0 0 29 2 *"
_LOOK_SECONDS: Final = 1.0
_WHERE_TO_LOOK: Final = {
    "not_picked_up": "nightshift worker, which must be running on the queue of this stack",
    "worker_lost": "the log of the worker, which fell silent during the run",
    "nonzero_exit": "the log of the worker, and the agent command that it was started with",
}

Value = TypeVar("Value")


@dataclass
class Steps:
    """What was done so far, each with the seconds that it took; told as it happens."""

    quiet: bool
    done: list[dict[str, Any]] = field(default_factory=list)

    @contextmanager
    def step(self, sentence: str) -> Iterator[None]:
        """One step; a failure inside it is told as that step's."""
        began = time.monotonic()
        try:
            yield
        except BaseException:
            if not self.quiet:
                click.echo(f"failed  {sentence}")
            raise
        seconds = round(time.monotonic() - began, 1)
        self.done.append({"step": sentence, "seconds": seconds})
        if not self.quiet:
            click.echo(f"ok      {sentence}  ({seconds} s)")


@click.command()
@click.option("--prompt", default=PROMPT, help="What the agent is asked; it is really run.")
@click.option(
    "--command", "shell", metavar="TEXT", help="A command instead, where they are allowed."
)
@click.option("--by-clock", is_flag=True, help="Let the clock start it; takes a minute or two.")
@click.option(
    "--within",
    type=click.IntRange(1, 86_400),
    default=180,
    show_default=True,
    metavar="SECONDS",
    help="How long the run may take.",
)
@with_session
def command(
    *, session: Session, prompt: str, shell: str | None, by_clock: bool, within: int
) -> None:
    """Create, run and delete one task on a stack, and say how each step went.

    Needs a worker. Ends with 0 only if the run succeeded and nothing is left behind.
    """
    steps = Steps(quiet=session.as_json)
    with session.client() as client:
        with steps.step("The API answers"):
            client.health()
        with steps.step("The token is accepted, and starts are allowed"):
            policy = client.policy()
            _require_starts(policy)
        delay = int(policy["min_once_delay_seconds"]) + 1
        action = (
            {"kind": "shell", "command": shell} if shell else {"kind": "agent", "prompt": prompt}
        )
        schedule = {"after_seconds": delay} if by_clock else {"cron": _NEVER_BY_ITSELF}
        with steps.step("A task is created"):
            task = client.create_task({"title": TITLE, "action": action, "schedule_spec": schedule})
        run = _carried_out(
            client, task, steps, within + (delay if by_clock else 0), by_clock=by_clock
        )
    if session.as_json:
        show_json({"steps": steps.done, "run": run})
    else:
        click.echo("The stack works.")


def _require_starts(policy: dict[str, Any]) -> None:
    if policy["max_concurrent_runs"] == 0:
        raise Failure(
            "All starts are stopped: max_concurrent_runs is 0.",
            ExitCode.CONFLICT,
            hint="nightshift policy show, which says who stopped them and why",
        )


def _carried_out(client: Client, task: Task, steps: Steps, within: int, *, by_clock: bool) -> Run:
    """The run of the task, ended well; the task is gone afterwards, whatever happened."""
    try:
        if by_clock:
            with steps.step("The clock starts it"):
                _until(lambda: next(client.runs(task["id"]), None), within, _no_tick)
        else:
            with steps.step("It is started by hand"):
                client.trigger_task(task["id"])
        with steps.step("A worker runs it, and its end is recorded"):
            run = _until(lambda: _ended(client, task), within, lambda: _still(client, task, within))
            _require_success(run)
    except BaseException:
        _tidy_up(client, task)
        raise
    with steps.step("The task is deleted, with its history"):
        client.delete_task(task["id"])
        _require_gone(client, task)
    return run


def _ended(client: Client, task: Task) -> Run | None:
    run = next(client.runs(task["id"]), None)
    return None if run is None or run["status"] in ("queued", "running") else run


def _until(ask: Callable[[], Value | None], within: int, given_up: Callable[[], Failure]) -> Value:
    """The first answer that there is, asked for every second; the failure when time is over."""
    deadline = time.monotonic() + within
    while True:
        answer = ask()
        if answer is not None:
            return answer
        if time.monotonic() >= deadline:
            raise given_up()
        time.sleep(_LOOK_SECONDS)


def _no_tick() -> Failure:
    return Failure(
        "The clock has not started the task.",
        ExitCode.FAULT,
        hint="the alarms TicksMissing and TickErrors, and the log of the tick function",
    )


def _still(client: Client, task: Task, within: int) -> Failure:
    run = next(client.runs(task["id"]), None)
    status = run["status"] if run else "unknown"
    where = {
        "queued": "the executions of the state machine, which is the output StateMachineArn",
        "running": "nightshift worker, which must be running with the outputs of this stack",
    }
    return Failure(
        f"The run has not ended within {within} s; it is {status}.",
        ExitCode.FAULT,
        hint=where.get(status),
    )


def _require_success(run: Run) -> None:
    if run["status"] == "success":
        return
    reason = run["reason"] or "no reason given"
    raise Failure(
        f"The run ended as {run['status']}: {reason}. {run['error'] or ''}".strip(),
        ExitCode.FAULT,
        hint=_WHERE_TO_LOOK.get(reason, "the log of the worker"),
    )


def _require_gone(client: Client, task: Task) -> None:
    try:
        client.task(task["id"])
    except ApiError as error:
        if error.code == "task_not_found":
            return
        raise
    raise Failure("The task is still there after it was deleted.", ExitCode.FAULT)


def _tidy_up(client: Client, task: Task) -> None:
    """Leave nothing behind; what failed before is what is told."""
    try:
        client.delete_task(task["id"], cancel_active=True)
    except (ApiError, UnreachableError):
        click.echo(f"Left behind: {task['id']}", err=True)
