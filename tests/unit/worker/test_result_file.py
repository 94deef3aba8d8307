"""The structured result of a command, read from a file that the command may do anything with."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from nightshift_toolkit.worker.result_file import MAX_DATA_BYTES, StructuredResult, read_result
from unit.worker.desk import Desk


def result_of(command: str, **settings: Any) -> dict[str, Any]:
    """The result in the report on a shell command."""
    desk = Desk(**settings)
    message = desk.shell(command)
    desk.take().carry_out()
    report = desk.report_on(message)
    assert report["outcome"] == "success"
    result: dict[str, Any] = report["result"]
    return result


def test_what_a_command_writes_into_its_result_file_is_in_the_report() -> None:
    result = result_of("""echo '{"tickets": 3, "list": ["é"]}' > "$NIGHTSHIFT_RESULT_FILE" """)
    assert result["data"] == {"tickets": 3, "list": ["é"]}
    assert "usage" not in result
    assert "data_problem" not in result


def test_a_command_that_writes_none_has_none() -> None:
    assert set(result_of("echo hi")) == {"exit_code", "output", "truncated"}


def test_figures_are_kept_apart_and_what_is_no_figure_stays(tmp_path: Path) -> None:
    file = tmp_path / "result"
    usage = {"input_tokens": 120, "output_tokens": 8, "cost_usd": 0.0125}
    file.write_text(json.dumps({"usage": usage, "a": 1}))
    assert read_result(file) == StructuredResult(data={"a": 1}, usage=usage)
    odd = {"input_tokens": -1, "output_tokens": 1.5, "cost_usd": True, "more": 1}
    file.write_text(json.dumps({"usage": odd}))
    assert read_result(file) == StructuredResult(data={"usage": odd})


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[1]",
        b'"text"',
        b"null",
        b'{"a": NaN}',
        b'{"a": 1e999}',
        b'{"a": "\\ud800"}',
        b"\xff{}",
        b'{"a":' * 3000,
        b"{" + b" " * MAX_DATA_BYTES + b"}",
    ],
)
def test_what_is_no_small_json_object_is_a_problem_and_not_a_failure(
    tmp_path: Path, content: bytes
) -> None:
    """K8: a sentence without any of the content."""
    file = tmp_path / "result"
    file.write_bytes(content)
    result = read_result(file)
    assert result.data is None
    assert result.problem is not None
    assert result.problem.startswith("The result file ")


def test_a_link_a_pipe_and_a_folder_are_not_read(tmp_path: Path) -> None:
    """The worker could read what the command's writer should not see."""
    (tmp_path / "secret").write_text('{"a": 1}')
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", ""):
        result = read_result(tmp_path / name)
        assert (result.data, result.problem is None) == (None, False)


def test_data_that_masking_makes_too_large_is_a_problem() -> None:
    pairs = ",".join(f'"password{number}": "abc"' for number in range(430))
    command = f"""printf '%s' '{{{pairs}}}' > "$NIGHTSHIFT_RESULT_FILE" """
    result = result_of(command)
    assert "data" not in result
    assert "more than 8192 bytes" in result["data_problem"]


def test_runs_in_one_folder_have_files_of_their_own_and_leave_none(tmp_path: Path) -> None:
    names = [
        result_of(
            'echo "$NIGHTSHIFT_RESULT_FILE"; echo "{}" > "$NIGHTSHIFT_RESULT_FILE"', folder=tmp_path
        )
        for _ in range(2)
    ]
    assert [Path(result["output"].strip()).parent for result in names] == [tmp_path] * 2
    assert list(tmp_path.iterdir()) == []


def test_a_file_of_figures_alone_is_no_data(tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    file.write_text('{"usage": {"cost_usd": 0.5}}')
    assert read_result(file) == StructuredResult(usage={"cost_usd": 0.5})
    file.write_text("{}")
    assert read_result(file) == StructuredResult(data={})
