"""From options to the request body (SPEC section 7)."""

import shlex
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from nightshift.domain.model.enums import OverlapPolicy
from nightshift_toolkit.cli.task_options import require_whole, with_task_options

HOOK = "https://hooks.example/mine"


def _fields(*options: str, stdin: bytes = b"", whole: bool = False) -> dict[str, Any]:
    got: list[dict[str, Any]] = []

    @click.command()
    @with_task_options
    def command(*, fields: dict[str, Any]) -> None:
        got.append(require_whole(fields) if whole else fields)

    result = CliRunner().invoke(command, options, input=stdin)
    if result.exit_code:
        raise click.UsageError(result.output)
    return got[0]


def test_what_is_not_given_is_not_sent() -> None:
    assert _fields() == {}
    assert _fields("--title", "Tickets") == {"title": "Tickets"}


@pytest.mark.parametrize(
    ("options", "spec"),
    [
        (("--cron", "0 9 * * *"), {"cron": "0 9 * * *"}),
        (("--cron", "@daily", "--cron", "0 12 * * SUN"), {"cron": ["@daily", "0 12 * * SUN"]}),
        (
            ("--cron", "@hourly", "--exclude", "2026-12-25", "--exclude", "22:00-06:00"),
            {"cron": "@hourly", "exclude": {"dates": ["2026-12-25"], "times": ["22:00-06:00"]}},
        ),
        (("--every", "10m"), {"every_seconds": 600}),
        (("--every", "1h30m"), {"every_seconds": 5400}),
        (("--once", "2026-03-08T09:00:00"), {"once": "2026-03-08T09:00:00"}),
        (("--in", "70s"), {"after_seconds": 70}),
        (("--in", "90"), {"after_seconds": 90}),
    ],
)
def test_each_way_to_say_when_becomes_its_selector(
    options: tuple[str, ...], spec: dict[str, Any]
) -> None:
    assert _fields(*options) == {"schedule_spec": spec}


@pytest.mark.parametrize("policy", OverlapPolicy)
def test_every_overlap_policy_there_is_can_be_chosen(policy: OverlapPolicy) -> None:
    """P13: what the API takes, and nothing else."""
    assert _fields("--overlap-policy", policy.value) == {"overlap_policy": policy.value}


def test_every_option_becomes_its_field() -> None:
    text = """--zone Europe/Berlin --timeout 10m --priority 7 --max-lateness 1h --jitter 30s
        --jitter-auto
        --starts-at 2026-01-01T00:00:00 --ends-at 2026-02-01T00:00:00Z --max-runs 3
        --pause-after-failures 5
        --assistant ass_1 --overlap-policy skip --thread thr_1
        --label team=search --label note=a=b"""
    options = shlex.split(text)
    assert _fields(*options) == {
        "timezone": "Europe/Berlin",
        "timeout_seconds": 600,
        "priority": 7,
        "max_lateness_seconds": 3600,
        "jitter": "auto",
        "jitter_seconds": 30,
        "starts_at": "2026-01-01T00:00:00",
        "ends_at": "2026-02-01T00:00:00Z",
        "max_runs": 3,
        "pause_after_failures": 5,
        "assistant_id": "ass_1",
        "overlap_policy": "skip",
        "context_mode": "reuse_thread",
        "thread_id": "thr_1",
        "labels": {"team": "search", "note": "a=b"},
    }


def test_further_attempts_are_one_field_and_need_their_number() -> None:
    text = """--attempts 4 --backoff 90s --backoff-rate 1.5 --max-backoff 1h
        --retry-on worker_lost --retry-on rate_limited"""
    assert _fields(*shlex.split(text)) == {
        "retry": {
            "max_attempts": 4,
            "backoff_seconds": 90,
            "backoff_rate": 1.5,
            "max_backoff_seconds": 3600,
            "on": ["worker_lost", "rate_limited"],
        }
    }
    assert _fields("--attempts", "2") == {"retry": {"max_attempts": 2}}
    with pytest.raises(click.UsageError, match="--attempts"):
        _fields("--backoff", "5s")


def test_a_prompt_comes_from_the_command_line_a_file_or_standard_input(tmp_path: Path) -> None:
    file = tmp_path / "prompt.md"
    file.write_bytes("Grüße,\nnachts\n".encode())
    assert _fields("--prompt", "-x '$HOME'")["action"]["prompt"] == "-x '$HOME'"
    assert _fields("--prompt", f"@{file}")["action"]["prompt"] == "Grüße,\nnachts\n"
    assert _fields("--prompt", "-", stdin=b"piped")["action"]["prompt"] == "piped"
    assert _fields("--prompt", "@@everybody")["action"]["prompt"] == "@everybody"


def test_a_command_is_a_shell_action() -> None:
    assert _fields("--command", "date; exit 3")["action"] == {
        "kind": "shell",
        "command": "date; exit 3",
    }


def test_a_title_is_made_of_the_first_line_where_none_is_given() -> None:
    fields = _fields("--prompt", f"\n{'long ' * 30}\nmore", "--in", "70s", whole=True)
    assert fields["title"] == ("long " * 30)[:60]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--prompt", "x", "--command", "y"), "not both"),
        (("--every", "10m", "--in", "70s"), "only one of"),
        (("--every", "soon"), "write it like 70s"),
        (("--every", "-5m"), "write it like 70s"),
        (("--every", "٣m"), "write it like 70s"),
        (("--label", "team"), "write it like team=search"),
        (("--label", "team=a", "--label", "team=b"), "same key"),
        (("--label", "team=a", "--label", "team=a"), "same key"),
        (("--thread", "a/b"), "letters, digits"),
        (("--in", "9" * 5000), "too long"),
        (("--every", "10m", "--exclude", "2026-12-25"), "goes with --cron"),
        (("--cron", "@daily", "--exclude", "Christmas"), "write it like 2099-12-25"),
        (("--overlap-policy", "sometimes"), "is not"),
        (("--priority", "10"), "0<=x<=9"),
        (("--prompt", "@/no/such/file"), "cannot be read"),
        (("--prompt", "-"), "not UTF-8"),
    ],
)
def test_a_wrong_option_is_a_usage_error_with_a_sentence(
    options: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(click.UsageError, match=sentence):
        _fields(*options, stdin=b"\xff")


@pytest.mark.parametrize(
    "options",
    [("--prompt", "x"), ("--in", "70s"), ("--prompt", "x", "--exclude", "2026-12-25")],
)
def test_a_new_task_needs_something_to_run_and_a_time(options: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError, match="Say "):
        _fields(*options, whole=True)


def test_whom_to_tell_is_one_field() -> None:
    """The API fills in what is not said."""
    assert _fields("--notify", HOOK) == {"notify": {"webhook": HOOK}}
    more = ["--notify-on", "failed", "--notify-on", "recovered", "--notify-changes-only"]
    assert _fields("--notify", HOOK, *more) == {
        "notify": {"webhook": HOOK, "on": ["failed", "recovered"], "changes_only": True}
    }


@pytest.mark.parametrize("more", [["--notify-on", "failed"], ["--notify-changes-only"]])
def test_what_to_tell_goes_with_whom(more: list[str]) -> None:
    """Otherwise nobody would be told."""
    with pytest.raises(click.UsageError, match="Say whom to tell: --notify"):
        _fields(*more)


def test_the_previous_result_is_asked_for_and_declined_by_name() -> None:
    """What is not said is not sent, so that an edit of something else leaves it."""
    assert _fields("--include-previous-result") == {"include_previous_result": True}
    assert _fields("--no-previous-result") == {"include_previous_result": False}


def test_a_long_first_wait_is_not_cut_by_a_limit_that_nobody_gave() -> None:
    """The longest wait is an hour unless told otherwise, and never less than the first."""
    assert _fields("--attempts", "2", "--backoff", "2h") == {
        "retry": {"max_attempts": 2, "backoff_seconds": 7200, "max_backoff_seconds": 7200}
    }
