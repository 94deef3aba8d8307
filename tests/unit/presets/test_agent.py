"""The program around an agent tool, with tools that write what the real ones are documented to."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from nightshift_toolkit.presets import agent_command

_TOOL = """\
#!{python}
import json, os, pathlib, sys
here = pathlib.Path({here!r})
with (here / "called").open("a") as called:
    called.write(json.dumps([sys.argv[1:], sys.stdin.read()]) + "\\n")
print("a warning", file=sys.stderr)
exec((here / "does.py").read_text())
"""
_PROMPT = "'; touch made; $(touch made) --help\n"


@dataclass
class Tool:
    """A tool of one preset, the folder of its thread and what it was called with."""

    folder: Path
    preset: str

    def does(self, code: str) -> None:
        """Say what it does when it is called, in Python."""
        (self.folder / "does.py").write_text(code)

    def answers(self, said: object, exit_code: int = 0) -> None:
        """Have it write `said` as JSON."""
        self.does(f"print({json.dumps(said)!r}); sys.exit({exit_code})")

    def run(self, *own: str, thread: bool = True) -> "subprocess.CompletedProcess[str]":
        places = {"NIGHTSHIFT_RESULT_FILE": str(self.folder / "result.json")}
        if thread:
            places["NIGHTSHIFT_THREAD_FOLDER"] = str(self.folder)
        return subprocess.run(
            agent_command(self.preset, (str(self.folder / "tool"), *own)),
            input=_PROMPT,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env={"PATH": os.environ["PATH"], **places},
            check=False,
        )

    def calls(self) -> list[tuple[list[str], str]]:
        lines = (self.folder / "called").read_text().splitlines()
        return [(arguments, prompt) for arguments, prompt in map(json.loads, lines)]

    def usage(self) -> dict[str, Any]:
        """What the last run has written into its result file, which is taken away."""
        file = self.folder / "result.json"
        usage: dict[str, Any] = json.loads(file.read_text())["usage"]
        file.unlink()
        return usage


def _tool(folder: Path, preset: str) -> Tool:
    program = folder / "tool"
    program.write_text(_TOOL.format(python=sys.executable, here=str(folder)))
    program.chmod(stat.S_IRWXU)
    return Tool(folder, preset)


def _claude(session: str = "s-1", cost: float = 0.5, **fields: object) -> dict[str, object]:
    said = {"type": "result", "result": "Done.", "session_id": session, "total_cost_usd": cost}
    return said | {"usage": {"input_tokens": 3, "output_tokens": 4}} | fields


@pytest.mark.parametrize(
    ("preset", "own", "arguments"),
    [
        ("claude", ["--model", "x y"], ["--print", "--output-format", "json", "--model", "x y"]),
        (
            "codex",
            ["--sandbox", "read-only"],
            ["exec", "--json", "--skip-git-repo-check", "--sandbox", "read-only", "-"],
        ),
        ("llm", ["-m", "small"], ["--json", "-m", "small"]),
    ],
)
def test_the_prompt_is_the_whole_standard_input_and_no_argument(
    tmp_path: Path, preset: str, own: Sequence[str], arguments: list[str]
) -> None:
    """SPEC section 8: a prompt is data."""
    tool = _tool(tmp_path, preset)
    tool.does("")
    assert tool.run(*own, thread=False).returncode == 0
    assert tool.calls() == [(arguments, _PROMPT)]
    assert not (tmp_path / "made").exists()


def test_the_answer_is_the_output_and_the_figures_are_in_the_result_file(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    done = tool.run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "Done.\n", "a warning\n")
    assert tool.usage() == {"input_tokens": 3, "output_tokens": 4, "cost_usd": 0.5}


@pytest.mark.parametrize(
    ("preset", "said", "rest"),
    [
        ("claude", [_claude("s-1")], ["--resume", "s-1"]),
        ("codex", [{"type": "thread.started", "thread_id": "t-1"}], ["resume", "t-1", "-"]),
        (
            "llm",
            [[{"response": "x", "conversation_id": "c1"}]],
            ["--log", "--conversation", "c1"],
        ),
    ],
)
def test_the_next_run_of_a_thread_goes_on_in_its_session(
    tmp_path: Path, preset: str, said: list[object], rest: list[str]
) -> None:
    tool = _tool(tmp_path, preset)
    tool.answers(said[0])
    assert [tool.run("--own").returncode for _ in range(2)] == [0, 0]
    (first, _), (second, _) = tool.calls()
    assert second[-len(rest) :] == rest
    assert second.index("--own") < second.index(rest[0])
    assert rest[-1] not in first or preset == "codex"


def test_a_run_without_a_thread_begins_anew(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    for _ in range(2):
        tool.run(thread=False)
    assert [arguments[-1] for arguments, _ in tool.calls()] == ["json", "json"]


def test_a_run_costs_what_the_session_has_cost_since_the_run_before(tmp_path: Path) -> None:
    """The tool reports the whole session's total, earlier runs included."""
    tool = _tool(tmp_path, "claude")
    costs = []
    for total in (0.5, 0.75, 2.0):
        tool.answers(_claude(cost=total))
        tool.run()
        costs.append(tool.usage()["cost_usd"])
    assert costs == [0.5, 0.25, 1.25]


def test_a_total_below_the_one_before_is_the_runs_own(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    costs = []
    for total in (0.5, 0.2):
        tool.answers(_claude(cost=total))
        tool.run()
        costs.append(tool.usage()["cost_usd"])
    assert costs == [0.5, 0.2]


def test_a_session_that_is_not_found_is_forgotten(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    tool.run()
    tool.does("sys.exit('No conversation found')")
    assert tool.run().returncode == 1
    tool.answers(_claude("s-2"))
    tool.run()
    assert ["--resume" in arguments for arguments, _ in tool.calls()] == [False, True, False]


@pytest.mark.parametrize(
    "how", [f"print({json.dumps(_claude())!r}); sys.exit(1)", "os.kill(os.getpid(), 9)"]
)
def test_a_session_in_which_three_runs_failed_is_left(tmp_path: Path, how: str) -> None:
    """Also where the tool was killed and said nothing."""
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    tool.run()
    tool.does(how)
    for _ in range(4):
        assert tool.run().returncode != 0
    resumed = ["--resume" in arguments for arguments, _ in tool.calls()]
    assert resumed == [False, True, True, True, False]


def test_a_session_outlives_a_failure_and_a_killed_run(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    tool.run()
    tool.answers(_claude(is_error=True), exit_code=1)
    tool.run()
    tool.does("os.kill(os.getpid(), 9)")
    assert tool.run().returncode == 128 + 9
    tool.answers(_claude())
    tool.run()
    assert "--resume" in tool.calls()[-1][0]


def test_an_error_that_the_tool_reports_with_exit_code_0_is_a_failure(tmp_path: Path) -> None:
    """An outcome without an explicit success is a failure."""
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude(is_error=True, result="Not signed in."))
    done = tool.run()
    assert (done.returncode, done.stdout) == (1, "Not signed in.\n")


def test_what_the_agent_wrote_into_the_result_file_stays(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    write = "pathlib.Path(os.environ['NIGHTSHIFT_RESULT_FILE']).write_text('{\"closed\": 3}')"
    tool.does(f"{write}; print({json.dumps(_claude())!r})")
    tool.run()
    written = json.loads((tmp_path / "result.json").read_text())
    assert (written["closed"], written["usage"]["output_tokens"]) == (3, 4)


@pytest.mark.parametrize(
    "content", ["no JSON", "[1]", '{"usage": {"cost_usd": 9}}', f'{{"a": "{"x" * 8170}"}}']
)
def test_a_result_file_that_figures_do_not_fit_into_stays_as_it_is(
    tmp_path: Path, content: str
) -> None:
    tool = _tool(tmp_path, "claude")
    tool.answers(_claude())
    (tmp_path / "result.json").write_text(content)
    assert tool.run().returncode == 0
    assert (tmp_path / "result.json").read_text() == content


def test_a_tool_that_leaves_something_behind_does_not_hold_up_its_answer(tmp_path: Path) -> None:
    tool = _tool(tmp_path, "claude")
    leave = "import subprocess; left = subprocess.Popen(['sleep', '60'])"
    note = "(here / 'left').write_text(str(left.pid))"
    tool.does(f"{leave}; {note}; print({json.dumps(_claude())!r}); sys.stdout.flush()")
    run = subprocess.Popen(
        agent_command("claude", (str(tmp_path / "tool"),)),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={"PATH": os.environ["PATH"]},
    )
    try:
        assert run.wait(30) == 0
    finally:
        os.kill(int((tmp_path / "left").read_text()), 9)
