"""What operators read of a run: its id in every line from the request to the end, and no secret."""

import sys

import planted
from e2e.place import Place, eventually

LOUD = [sys.executable, "-c", "import sys; print(sys.stdin.read()); sys.stderr.write('done')"]


def test_one_run_id_leads_from_the_request_to_the_recorded_end(place: Place) -> None:
    """SPEC 10: the API, the worker and the completion, each under the same id."""
    ada = place.caller()
    place.worker("--", *LOUD)
    task = place.create(ada, prompt=planted.PROMPT)
    run_id = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger").json()["run_id"]
    assert place.ended(ada, task)["id"] == run_id

    def told() -> bool:
        words = [line["action"] for line in place.lines() if line.get("run_id") == run_id]
        return {"run_triggered", "run_picked_up", "run_ended", "run_completed"} <= set(words)

    assert eventually(told, within=10, what="all four have told of the run")
    requests = [line for line in place.lines() if line["action"] == "request_answered"]
    assert task["id"] in {line.get("task_id") for line in requests}
    ada.get(f"/api/scheduled-tasks/{task['id']}/runs/{run_id}")
    assert eventually(
        lambda: any(
            line.get("run_id") == run_id and line["action"] == "request_answered"
            for line in place.lines()
        ),
        within=10,
        what="the request is told with the run that it asked for",
    )


def test_the_tick_tells_the_run_that_it_starts(place: Place) -> None:
    """SPEC 10: the id under which the execution is found."""
    ada = place.caller()
    place.worker("--", *LOUD)
    task = place.create(ada, prompt=planted.PROMPT, schedule_spec={"after_seconds": 1})
    run = place.ended(ada, task)
    assert run["execution_arn"].endswith(run["id"])
    assert eventually(
        lambda: any(
            line.get("run_id") == run["id"] and line["action"] == "dispatch_launched"
            for line in place.lines()
        ),
        within=10,
        what="the tick has told of the run",
    )


def test_no_log_shows_a_prompt_a_command_a_token_or_what_a_run_printed(place: Place) -> None:
    """SPEC 10: neither when all goes well nor when a run fails or a request is refused."""
    ada = place.caller()
    place.worker("--allow-shell", "--", *LOUD)
    tasks = [
        place.create(ada, prompt=planted.PROMPT),
        place.create(ada, action={"kind": "shell", "command": f"echo {planted.COMMAND}; exit 3"}),
    ]
    for task in tasks:
        ada.post(f"/api/scheduled-tasks/{task['id']}/trigger")
    outcomes = [place.ended(ada, task) for task in tasks]
    assert [run["status"] for run in outcomes] == ["success", "failed"]
    assert planted.found_in(str([run["result"] for run in outcomes]))
    refused = ada.post("/api/scheduled-tasks", content=f'{{"prompt": "{planted.PROMPT}", }}')
    assert refused.status_code in (400, 415, 422)
    forged = place.caller("ada")
    forged.headers["Authorization"] = f"Bearer {planted.BEARER}"
    assert forged.get("/api/scheduled-tasks").status_code == 401
    assert place.lines()
    assert place.leaks() == []
