"""`nightshift worker`: take runs from the queue and do their work."""

import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from nightshift_toolkit.cli.failures import ExitCode, Failure
from nightshift_toolkit.cli.values import (
    ExitCodeReason,
    Expression,
    FiniteRange,
    OutputReason,
    VariableName,
)
from nightshift_toolkit.cli.variables import read_variables
from nightshift_toolkit.cli.workplace import find_place, serve
from nightshift_toolkit.presets import SHELL, agent_command, presets
from nightshift_toolkit.presets.printed import container_recipe, systemd_unit
from nightshift_toolkit.worker.settings import MAX_CONCURRENCY, WorkerSettings

_LONGEST_POLL_SECONDS = 20
_LONGEST_SECONDS = 604_800
_USUAL_HEARTBEAT_SECONDS = 10.0
_HEARTBEATS_PER_SILENCE = 4
_GIVEN = "nightshift_toolkit.worker.given"
_AROUND_A_STOP_SECONDS = 30.0
_FOLDER = click.Path(file_okay=False, path_type=Path)


class WorkerCommand(click.Command):
    """Remembers what it was given, so that it can be printed for others to start."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse as ever."""
        ctx.meta[_GIVEN] = tuple(args)
        return super().parse_args(ctx, args)


@click.command(cls=WorkerCommand, context_settings={"allow_interspersed_args": False})
@click.argument("agent", metavar="[-- AGENT [ARG]...]", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--preset",
    type=click.Choice([*presets(), SHELL]),
    help="A well-known agent for the prompts, AGENT being further arguments of it; or shell.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, MAX_CONCURRENCY),
    default=1,
    show_default=True,
    help="How many runs at once.",
)
@click.option("--allow-shell", is_flag=True, help="Also run the shell commands that users write.")
@click.option("--queue-url", envvar="NIGHTSHIFT_QUEUE_URL", help="Else the local cloud's.")
@click.option("--table", envvar="NIGHTSHIFT_TABLE", help="Else the local cloud's.")
@click.option("--region", help="AWS region; else that of the AWS configuration.")
@click.option("--profile", help="AWS profile; else the usual credentials.")
@click.option(
    "--env",
    "passed_variables",
    metavar="NAME",
    type=VariableName(),
    multiple=True,
    help="A variable of this environment that commands may see too; repeatable.",
)
@click.option(
    "--env-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Variables for commands: a NAME=VALUE or a NAME a line.",
)
@click.option(
    "--workdir",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Where all commands run; else each run has an empty folder.",
)
@click.option("--folder", type=_FOLDER, help="Where the folders of runs are made; else in TMPDIR.")
@click.option("--keep-folders", is_flag=True, help="Leave the folders of runs where they are.")
@click.option(
    "--threads",
    type=_FOLDER,
    help="Where threads keep a folder and a session, so that their next run goes on there.",
)
@click.option(
    "--silence-seconds",
    type=FiniteRange(1, _LONGEST_SECONDS),
    default=300.0,
    show_default=True,
    envvar="NIGHTSHIFT_WORKER_SILENCE_SECONDS",
    help="WorkerSilenceSeconds of the deployed workflow.",
)
@click.option(
    "--heartbeat-seconds",
    type=FiniteRange(0.1, _LONGEST_SECONDS),
    help="Between two heartbeats.",
)
@click.option(
    "--grace-seconds",
    type=FiniteRange(0, _LONGEST_SECONDS),
    default=10.0,
    show_default=True,
    help="From asking a command to stop until it is killed.",
)
@click.option(
    "--drain-seconds",
    type=FiniteRange(0, _LONGEST_SECONDS),
    default=30.0,
    show_default=True,
    help="How long runs may go on after SIGTERM or Ctrl-C; a second one ends them.",
)
@click.option(
    "--retry-exit-code",
    "exit_codes",
    type=ExitCodeReason(),
    multiple=True,
    help="What an exit code means to a task's retry, like 75=rate_limited; repeatable.",
)
@click.option(
    "--retry-output",
    "outputs",
    type=OutputReason(),
    multiple=True,
    help="The same by the output of a failed command: REGEX=rate_limited; repeatable.",
)
@click.option(
    "--output-bucket",
    envvar="NIGHTSHIFT_OUTPUT_BUCKET",
    help="Where output goes that a record cannot hold; else it is cut.",
)
@click.option(
    "--mask",
    "masks",
    type=Expression(),
    multiple=True,
    help="A regular expression of what is secret in output and results too; repeatable.",
)
@click.option(
    "--poll-seconds",
    type=FiniteRange(0, _LONGEST_POLL_SECONDS),
    default=5.0,
    show_default=True,
    help="How long one look at the queue waits.",
)
@click.option(
    "--print",
    "printed",
    type=click.Choice(["unit", "container"]),
    help="Print a systemd unit or a Dockerfile that starts this very worker; start nothing.",
)
def command(
    *,
    agent: tuple[str, ...],
    preset: str | None,
    printed: str | None,
    queue_url: str | None,
    table: str | None,
    region: str | None,
    profile: str | None,
    output_bucket: str | None,
    env_file: Path | None,
    workdir: Path | None,
    folder: Path | None,
    threads: Path | None,
    passed_variables: tuple[str, ...],
    heartbeat_seconds: float | None,
    silence_seconds: float,
    exit_codes: tuple[tuple[int, str], ...],
    outputs: tuple[tuple[re.Pattern[str], str], ...],
    **options: Any,
) -> None:
    """Take runs from the queue, do their work, report how they ended.

    AGENT is the program that gets each prompt on its standard input, and the run's facts as
    NIGHTSHIFT_* in its environment. It is run as it stands, without a shell.

    \b
    nightshift worker --preset claude -- --permission-mode acceptEdits
    nightshift worker -- my-agent --flag
    nightshift worker --concurrency 4 --allow-shell
    """
    if workdir and folder:
        raise click.UsageError("--workdir is one folder for all runs, --folder is for one each.")
    if heartbeat_seconds and heartbeat_seconds > silence_seconds / 2:
        raise click.UsageError("--heartbeat-seconds must be at most half of --silence-seconds.")
    options["allow_shell"] = options["allow_shell"] or preset == SHELL
    if not agent and not preset and not options["allow_shell"]:
        raise click.UsageError(
            "Say what does the work: -- AGENT [ARG]..., --preset or --allow-shell."
        )
    if agent and preset == SHELL:
        raise click.UsageError("--preset shell has no agent: what runs is what users write.")
    names, values = read_variables(env_file) if env_file else ((), {})
    usual_heartbeat = min(_USUAL_HEARTBEAT_SECONDS, silence_seconds / _HEARTBEATS_PER_SILENCE)
    settings = WorkerSettings(
        folder=_whole(workdir),
        folders=_whole(folder),
        threads=_whole(threads),
        passed_variables=(*passed_variables, *names),
        given_variables=values,
        silence_seconds=silence_seconds,
        reasons_of_exit_codes=dict(exit_codes),
        reasons_of_output=outputs,
        heartbeat_seconds=heartbeat_seconds or usual_heartbeat,
        **options,
    )
    if printed is not None:
        if any(path and not path.is_absolute() for path in (workdir, folder, threads, env_file)):
            raise click.UsageError("What is printed starts elsewhere: name each whole path.")
        click.echo(_printed(printed, settings, click.get_current_context().meta[_GIVEN]), nl=False)
        return
    settings = replace(settings, agent_command=_agent(preset, agent))
    place = find_place(queue_url, table, region, profile)
    raise SystemExit(
        serve(settings, replace(place, output_bucket=output_bucket or place.output_bucket))
    )


def _whole(path: Path | None) -> Path | None:
    return path.absolute() if path else None


def _agent(preset: str | None, agent: tuple[str, ...]) -> tuple[str, ...]:
    if preset is None or preset == SHELL:
        return program(agent)
    tool = presets()[preset]
    if shutil.which(tool["program"]) is None:
        raise Failure(
            f"{tool['program']} is not a program that can be run here; --preset {preset} needs it.",
            ExitCode.USAGE,
            hint=f"install it ({tool['source'][0]}), or add its folder to PATH",
        )
    return agent_command(preset, program((tool["program"], *agent)))


def _printed(what: str, settings: WorkerSettings, given: tuple[str, ...]) -> str:
    folders = [path for path in (settings.folder, settings.folders, settings.threads) if path]
    arguments = list(given)
    start = next(i for i, word in enumerate(arguments) if word.startswith("--print"))
    del arguments[start : start + (1 if "=" in arguments[start] else 2)]
    stop_seconds = (
        settings.drain_seconds
        + settings.poll_seconds
        + settings.grace_seconds
        + _AROUND_A_STOP_SECONDS
    )
    if what == "container":
        return container_recipe(arguments, stop_seconds)
    nightshift = Path(sys.executable).parent / "nightshift"
    return systemd_unit(nightshift, arguments, stop_seconds, folders)


def program(agent: tuple[str, ...]) -> tuple[str, ...]:
    """The command with its program's whole path: runs have other folders than this process."""
    if not agent:
        return ()
    program = shutil.which(agent[0])
    if program is None:
        raise Failure(
            f"{agent[0]} is not a program that can be run here.",
            ExitCode.USAGE,
            hint=f"which {agent[0]}, or its whole path",
        )
    return (str(Path(program).absolute()), *agent[1:])
