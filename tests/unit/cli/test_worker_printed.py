"""What `nightshift worker --print` prints: a unit and a recipe that start this very worker."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from nightshift_toolkit.cli.failures import ExitCode
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.presets.printed import container_recipe, systemd_unit

_ROOT = Path(__file__).parents[3]
_ODD = ["--mask", 'a"b', "--", "50%", "$HOME", "back\\slash", "two words", "line\nbreak"]


def _printed(*options: str) -> str:
    result = CliRunner().invoke(nightshift, ["worker", *options])
    assert result.exit_code == 0, result.output
    return result.output


def _settings(unit: str) -> dict[str, str]:
    """The unit's settings; each stands once, in a section, or this fails."""
    lines = [line for line in unit.splitlines() if line and not line.startswith("#")]
    assert [line for line in lines if line.startswith("[")] == ["[Unit]", "[Service]", "[Install]"]
    settings = [line.partition("=") for line in lines if not line.startswith("[")]
    assert len({name for name, _, _ in settings}) == len(settings)
    return {name: value for name, _, value in settings}


def _instructions(recipe: str) -> list[tuple[str, str]]:
    joined = recipe.replace("\\\n", " ")
    lines = [line for line in joined.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def test_the_unit_starts_what_it_was_printed_for() -> None:
    unit = _printed("--concurrency", "4", "--print", "unit", "--preset", "codex", "--", "--oss")
    program, *arguments = shlex.split(_settings(unit)["ExecStart"])
    assert Path(program).name == "nightshift"
    expected = ["worker", "--concurrency", "4", "--preset", "codex", "--", "--oss"]
    assert arguments == expected


def test_an_option_of_the_agents_that_has_the_same_name_stays() -> None:
    unit = _printed("--print=unit", "--", "agent", "--print", "all")
    assert shlex.split(_settings(unit)["ExecStart"])[1:] == [
        "worker",
        "--",
        "agent",
        "--print",
        "all",
    ]


def test_a_stop_of_the_unit_waits_for_the_drain() -> None:
    """The worker ends its runs itself; it is never killed while it does."""
    unit = _settings(_printed("--allow-shell", "--drain-seconds", "600", "--print", "unit"))
    assert int(unit["TimeoutStopSec"]) > 600
    assert unit["KillMode"] == "mixed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("User", "nightshift"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("ProtectSystem", "strict"),
        ("ProtectHome", "yes"),
        ("PrivateTmp", "yes"),
        ("PrivateDevices", "yes"),
        ("RestrictSUIDSGID", "yes"),
        ("UMask", "0077"),
        ("Restart", "always"),
    ],
)
def test_the_unit_is_hardened(name: str, value: str) -> None:
    assert _settings(systemd_unit(Path("/opt/nightshift"), [], 1, []))[name] == value


def test_the_unit_may_write_where_runs_work_and_nowhere_else(tmp_path: Path) -> None:
    options = ("--allow-shell", "--print", "unit", "--threads", f"{tmp_path}/t 1")
    settings = _settings(_printed(*options, "--folder", f"{tmp_path}/f"))
    assert shlex.split(settings["ReadWritePaths"]) == [f"{tmp_path}/f", f"{tmp_path}/t 1"]
    assert "ReadWritePaths" not in _settings(_printed("--allow-shell", "--print", "unit"))


def test_a_worker_that_is_installed_in_a_home_can_be_read_there() -> None:
    unit = systemd_unit(Path("/home/ada/.venv/bin/nightshift"), [], 1, [])
    assert _settings(unit)["ProtectHome"] == "read-only"


def test_arguments_reach_the_worker_as_they_are() -> None:
    """Percent and dollar are specials of systemd's, quotes and backslashes too."""
    command = _settings(systemd_unit(Path("/opt/n"), _ODD, 1, []))["ExecStart"]
    quoted = re.findall(r'"((?:[^"\\]|\\.)*)"', command)
    assert not re.search("[%$]", command.replace("%%", "").replace("$$", ""))
    unescaped = [word.replace("%%", "%").replace("$$", "$") for word in quoted]
    assert [json.loads(f'"{word}"') for word in unescaped] == ["/opt/n", "worker", *_ODD]


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd-analyze")
def test_systemd_finds_nothing_wrong_with_the_unit(tmp_path: Path) -> None:
    unit = tmp_path / "nightshift-worker.service"
    unit.write_text(systemd_unit(Path("/bin/sh"), _ODD, 90, [tmp_path]))
    command = ["systemd-analyze", "verify", "--man=no", str(unit)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert unit.name not in done.stderr, done.stderr


def test_the_container_starts_what_it_was_printed_for_and_not_as_root() -> None:
    recipe = _instructions(_printed("--preset", "llm", "--print", "container", "--", "-m", "x"))
    words = [word for word, _ in recipe]
    found = dict(recipe)
    assert json.loads(found["ENTRYPOINT"]) == ["tini", "--", "nightshift", "worker"]
    assert json.loads(found["CMD"]) == ["--preset", "llm", "--", "-m", "x"]
    assert int(found["USER"]) > 0
    assert words[0] == "FROM"
    assert words.index("USER") < words.index("ENTRYPOINT")
    assert found["STOPSIGNAL"] == "SIGTERM"


def test_what_the_recipe_copies_is_in_the_repository() -> None:
    copied = [
        rest.split()[0] for word, rest in _instructions(container_recipe([], 1)) if word == "COPY"
    ]
    assert copied
    assert all((_ROOT / source).exists() for source in copied)


def test_a_stop_of_the_container_waits_for_the_drain() -> None:
    recipe = _printed("--allow-shell", "--drain-seconds", "600", "--print", "container")
    waits = re.search(r"--stop-timeout (\d+)", recipe)
    assert waits is not None
    assert int(waits[1]) > 600


def test_a_folder_without_its_whole_path_is_not_printed() -> None:
    """The service has a working folder of its own."""
    options = ["worker", "--allow-shell", "--threads", "threads", "--print", "unit"]
    result = CliRunner().invoke(nightshift, options)
    assert result.exit_code == ExitCode.USAGE
    assert "whole path" in result.stderr
