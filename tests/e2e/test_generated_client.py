"""A client that a well-known generator makes from the OpenAPI document does the main things."""

import json
import os
import subprocess
from pathlib import Path

import httpx
import pytest

from e2e.place import Place

PYTHON = os.environ.get("NIGHTSHIFT_CLIENT_PYTHON", "")
"""An interpreter with openapi-python-client, which `make client` sets up."""
USE = """
import sys
from nightshift_client import AuthenticatedClient
from nightshift_client.api.default import create_task, list_tasks, trigger_task
from nightshift_client.models import CreateTaskRequest, CreateTaskRequestCronSpec

url, token = sys.argv[1:]
with AuthenticatedClient(base_url=url, token=token, raise_on_unexpected_status=True) as client:
    spec = CreateTaskRequestCronSpec(cron="0 9 * * 1-5")
    body = CreateTaskRequest(title="Generated", prompt="Hello", schedule_spec=spec)
    task = create_task.sync(client=client, body=body, idempotency_key="once")
    again = create_task.sync(client=client, body=body, idempotency_key="once")
    listed = list_tasks.sync(client=client, limit=10)
    run = trigger_task.sync(client=client, task_id=task.id)
    assert again.id == task.id
    assert [item.id for item in listed.items] == [task.id]
    print(task.id, run.run.status)
"""


@pytest.mark.skipif(not PYTHON, reason="needs a generator of its own: make client")
def test_a_generated_client_creates_lists_and_triggers(place: Place, tmp_path: Path) -> None:
    """SPEC section 7: the document is enough to build on."""
    document = tmp_path / "openapi.json"
    url = place.cloud.api_url
    document.write_text(json.dumps(httpx.get(f"{url}/api/openapi.json").json()), encoding="utf-8")
    generated = tmp_path / "client"
    generate = ["generate", "--path", str(document), "--output-path", str(generated)]
    subprocess.run([PYTHON, "-m", "openapi_python_client", *generate], cwd=tmp_path, check=True)
    told = subprocess.run(
        [PYTHON, "-c", USE, url, place.cloud.mint_token("generated")],
        env=os.environ | {"PYTHONPATH": str(generated)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert told.returncode == 0, told.stderr
    assert told.stdout.split()[1] in ("queued", "running")
