"""Pausing tasks until a time, and all of them, through the command line, the API and real ticks."""

from datetime import UTC, datetime, timedelta

from e2e.place import Place, eventually
from nightshift.domain.model.instants import format_instant, truncate

HEAD_START = timedelta(seconds=20)
"""Longer than the command line takes on a busy machine, so that the end lies ahead."""


def test_a_pause_ends_by_itself_and_what_is_due_then_runs(place: Place) -> None:
    """P3: an occurrence at the very end of the pause has its record, none before it has."""
    user = ("--user", "sleeper")
    ada = place.caller("sleeper")
    end = format_instant(truncate(datetime.now(UTC)) + HEAD_START)
    task = place.create(ada, prompt="p", schedule_spec={"every_seconds": 300, "anchor": end})
    paused = place.command_line(
        "tasks", "pause", task["id"], "--until", end, "--reason", "a nap", *user
    )
    assert (paused["status"], paused["pause_until"], paused["next_run_at"]) == ("paused", end, None)

    def woken() -> bool:
        place.cloud.tick_now()
        return bool(place.runs(ada, task))

    eventually(woken, within=90, what="the pause ended")
    (run,) = place.runs(ada, task)
    assert (run["scheduled_for"], run["trigger"]) == (end, "schedule")
    shown = place.command_line("tasks", "show", task["id"], *user)
    assert (shown["status"], shown["pause_until"], shown["pause_reason"]) == ("enabled", None, None)
    assert shown["revision"] == 2


def test_all_tasks_of_one_user_are_paused_and_resumed(place: Place) -> None:
    """P3, P8."""
    user = ("--user", "leaver")
    ada, bob = place.caller("leaver"), place.caller("stayer")
    mine = [place.create(ada, prompt="p")["id"] for _ in range(3)]
    theirs = place.create(bob, prompt="p")
    paused = place.command_line("tasks", "pause", "--all", "--reason", "holiday", *user)
    assert (paused["changed"], paused["refused"]) == (mine, [])
    listed = place.command_line("tasks", "list", "--status", "paused", *user)["items"]
    assert [task["id"] for task in listed] == mine
    assert bob.get(f"/api/scheduled-tasks/{theirs['id']}").json()["status"] == "enabled"
    assert place.command_line("tasks", "resume", "--all", *user)["changed"] == mine
    assert place.command_line("tasks", "list", "--status", "paused", *user)["items"] == []
