"""Where runs work, and what is left there afterwards."""

from pathlib import Path
from typing import Any

from nightshift.domain.model.run_ids import fresh_thread_id
from unit.worker.desk import Desk


def _output(desk: Desk, command: str, **fields: Any) -> str:
    """What a command writes when its run is done at this desk."""
    message = desk.shell(command, **fields)
    desk.take().carry_out()
    output: str = desk.report_on(message)["result"]["output"]
    return output.strip()


def test_each_run_has_a_folder_of_its_own_below_the_operators(tmp_path: Path) -> None:
    desk = Desk(folders=tmp_path / "runs")
    folders = {Path(_output(desk, "pwd; touch made")) for _ in range(2)}
    assert [folder.parent for folder in folders] == [tmp_path / "runs"] * 2
    assert list((tmp_path / "runs").iterdir()) == []


def test_kept_folders_say_whose_they_are_and_nobody_else_may_look(tmp_path: Path) -> None:
    desk = Desk(folders=tmp_path, keep_folders=True)
    folder = Path(_output(desk, "touch made; pwd", run_id="tsk_1/../x"))
    assert (folder / "made").exists()
    assert folder.parent == tmp_path
    assert folder.name.startswith("tsk_1____x-1-")
    assert folder.stat().st_mode & 0o777 == 0o700


def test_runs_of_a_thread_share_a_folder_where_threads_are_kept(tmp_path: Path) -> None:
    desk = Desk(threads=tmp_path)
    _output(desk, "echo one > note; touch $NIGHTSHIFT_THREAD_FOLDER/session")
    look = 'cat note; ls "$NIGHTSHIFT_THREAD_FOLDER"; pwd'
    note, *things, folder = _output(desk, look).splitlines()
    assert (note, things) == ("one", ["session", "work"])
    assert Path(folder).is_relative_to(tmp_path)


def test_the_same_thread_of_another_user_is_another_thread(tmp_path: Path) -> None:
    desk = Desk(threads=tmp_path)
    assert _output(desk, "pwd") != _output(desk, "pwd", user_id="eve")
    bob = _output(desk, "pwd", user_id="bob", thread_id="by")
    assert bob != _output(desk, "pwd", user_id="bobb", thread_id="y")


def test_no_name_of_a_thread_leads_out_of_the_operators_folder(tmp_path: Path) -> None:
    desk = Desk(threads=tmp_path / "threads")
    folder = Path(_output(desk, "pwd -P", thread_id="../../out"))
    assert folder.is_relative_to((tmp_path / "threads").resolve())


def test_a_thread_of_one_run_leaves_nothing(tmp_path: Path) -> None:
    """A run with a new thread never comes back to it."""
    desk = Desk(threads=tmp_path)
    run_id = "tsk_1-20260101T090000000Z"
    fields = {"run_id": run_id, "thread_id": fresh_thread_id(run_id)}
    assert _output(desk, 'echo "-$NIGHTSHIFT_THREAD_FOLDER-"', **fields) == "--"
    assert list(tmp_path.iterdir()) == []


def test_threads_keep_their_session_also_where_all_runs_share_a_folder(tmp_path: Path) -> None:
    desk = Desk(folder=tmp_path, threads=tmp_path / "threads")
    folder, thread = _output(desk, 'pwd; echo "$NIGHTSHIFT_THREAD_FOLDER"').splitlines()
    assert Path(folder) == tmp_path
    assert Path(thread).parent == tmp_path / "threads"


def test_a_folder_that_cannot_be_made_fails_the_run_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    desk = Desk(folders=tmp_path / "file" / "runs")
    message = desk.shell("true")
    desk.take().carry_out()
    report = desk.report_on(message)
    assert report["reason"] == "error"
    assert "no room" in report["error"]
