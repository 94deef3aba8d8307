"""The environment file with which `sam local invoke` works on the local cloud, without Docker.

What a container would get is put together here as `sam` does: the variables that the template
declares, those of them overridden that the file names, and nothing else. A process of its own runs
the handler on a file of `events/`.
"""

import json
import os
import subprocess
import sys
from typing import Any

import pytest

import stack
from e2e.place import Place
from unit.functions.test_events import ANSWERS, OUTCOMES, names

_RUN = """
import importlib, json, sys
handler = importlib.import_module(sys.argv[1] + ".handler").handler
class Context:
    aws_request_id = "b1e8ef4d-8a2c-4d0e-9f5f-0d6a4c1b2e3f"
    def get_remaining_time_in_millis(self):
        return 60_000
print("ANSWER", json.dumps(handler(json.load(open(sys.argv[2])), Context())))
"""


def invoked(place: Place, folder: str, event: str) -> Any:
    """What a function answers to an event, with the environment that `sam local` gives it."""
    path = place.cloud.state_dir / "sam-env.json"
    overrides = json.loads(path.read_text(encoding="utf-8"))["Parameters"]
    declared = stack.environment(folder, {})
    assert overrides.keys() <= stack.environment("tick", {}).keys()
    variables = {name: overrides.get(name, value) for name, value in declared.items()}
    layers = [stack.ROOT / "functions", stack.ROOT / "layers" / "nightshift"]
    answer = subprocess.run(
        [sys.executable, "-c", _RUN, folder, str(stack.ROOT / "events" / f"{event}.json")],
        env={
            **variables,
            "PATH": os.environ["PATH"],
            "PYTHONPATH": os.pathsep.join(map(str, layers)),
            "AWS_ACCESS_KEY_ID": "local",
            "AWS_SECRET_ACCESS_KEY": "local",
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    [line] = [line for line in answer.stdout.splitlines() if line.startswith("ANSWER ")]
    return json.loads(line.removeprefix("ANSWER "))


def test_the_tick_looks_at_the_table_of_the_local_cloud(place: Place) -> None:
    """HOUSE: for `sam local invoke`; what is due there is started there."""
    ada = place.caller()
    task = place.create(ada, prompt="due", schedule_spec={"after_seconds": 1})
    due = task["next_run_at"]
    for _ in range(50):
        assert invoked(place, "tick", "tick") == {"looks": 1}
        if runs := place.runs(ada, task):
            break
    assert [run["scheduled_for"] for run in runs] == [due]
    ada.delete(f"/api/scheduled-tasks/{task['id']}", params={"cancel_active": "true"})


@pytest.mark.parametrize("event", ["api-create-task", "api-list-tasks", "api-get-policy"])
def test_the_api_answers_from_the_table_of_the_local_cloud(place: Place, event: str) -> None:
    """HOUSE: the same events that the unit tests replay."""
    answer = invoked(place, "api", event)
    assert answer["statusCode"] == ANSWERS.get(event, 200)


def test_signals_of_foreign_runs_change_nothing_there(place: Place) -> None:
    """The runs that the events name are not of this table."""
    for event in sorted(OUTCOMES)[:2]:
        assert invoked(place, "completion", event) == {"recorded": False}


def test_every_event_belongs_to_a_function_that_the_file_reaches() -> None:
    """Each is named after the function that it is for, in the words of the template."""
    files = sorted(path.stem for path in (stack.ROOT / "events").glob("*.json"))
    assert sorted(name for folder in stack.functions() for name in names(folder)) == files
