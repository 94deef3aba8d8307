"""The last success of a task, handed to its next run, through every part of the local cloud."""

import json

from e2e.place import Place

WRITES = """echo '{"closed": 3}' > "$NIGHTSHIFT_RESULT_FILE"
cat "$NIGHTSHIFT_PREVIOUS_RESULT_FILE" """


def test_each_run_is_handed_what_the_last_success_left(place: Place) -> None:
    """SPEC section 8: as data in a file; a task that stops asking has none."""
    user = ("--user", "curious")
    ada = place.caller("curious")
    place.worker("--allow-shell")
    when = ("--cron", "0 3 * * *", "--include-previous-result")
    task = place.command_line("tasks", "create", "--command", WRITES, *when, *user)
    assert task["include_previous_result"] is True
    ran = []
    for _ in range(2):
        place.command_line("tasks", "trigger", task["id"], *user)
        ran.append(place.ended(ada, task))
    first, second = ran
    assert first["previous_run_id"] is None
    assert json.loads(first["result"]["output"]) == {
        "run_id": None,
        "scheduled_for": None,
        "finished_at": None,
        "result": None,
    }
    assert second["previous_run_id"] == first["id"]
    handed = json.loads(second["result"]["output"])
    assert handed["run_id"] == first["id"]
    assert handed["finished_at"] == first["finished_at"]
    assert handed["result"] == first["result"]
    assert handed["result"]["data"] == {"closed": 3}
    shown = place.command_line("tasks", "show", task["id"], *user)
    assert shown["last_success_run_id"] == second["id"]
    command = 'printf "[%s]" "$NIGHTSHIFT_PREVIOUS_RESULT_FILE"'
    place.command_line(
        "tasks", "edit", task["id"], "--no-previous-result", "--command", command, *user
    )
    place.command_line("tasks", "trigger", task["id"], *user)
    third = place.ended(ada, task)
    assert (third["result"]["output"], third["previous_run_id"]) == ("[]", None)
