"""The tools without a cloud: their schemas, what they send, and how they frame what comes back."""

import json
import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from api.errors import InvalidFields
from api.requests import CreateTaskRequest, EditTaskRequest, PreviewScheduleRequest
from api.wire import MAX_PREVIEW_COUNT, MAX_TITLE_CHARACTERS
from nightshift.domain.errors import InvalidRequest
from nightshift_toolkit.client import ApiError, Client, NotTheApiError, UnreachableError
from nightshift_toolkit.mcp_server.arguments import MAX_LISTED, input_schema
from nightshift_toolkit.mcp_server.refusals import REFUSED, told
from nightshift_toolkit.mcp_server.tools import TOOLS
from nightshift_toolkit.mcp_server.untrusted import NOTICE, framed

READS = {"schedule_list", "schedule_history", "schedule_preview"}
MINIMAL: Mapping[str, dict[str, Any]] = {
    "schedule_create": {"title": "A task", "prompt": "hello", "when": "every day at 9"},
    "schedule_list": {},
    "schedule_update": {"task_id": "tsk_1"},
    "schedule_delete": {"task_id": "tsk_1"},
    "schedule_history": {"task_id": "tsk_1"},
    "schedule_preview": {"when": "every day at 9"},
}
NOBODY = Client("http://127.0.0.1:9", "no token")
"""A client that must not be asked anything."""


def schema(tool: str) -> dict[str, Any]:
    return input_schema(TOOLS[tool].arguments)


def fits(tool: str, **arguments: Any) -> bool:
    return bool(Draft202012Validator(schema(tool)).is_valid(MINIMAL[tool] | arguments))


@pytest.mark.parametrize("tool", TOOLS)
def test_schema_is_an_object_that_takes_no_other_field(tool: str) -> None:
    """Several clients take no alternatives at the top of a schema."""
    described = schema(tool)
    Draft202012Validator.check_schema(described)
    assert described["type"] == "object"
    assert described["additionalProperties"] is False
    assert '"title": "' not in json.dumps(described)
    assert not described.keys() & {"oneOf", "anyOf", "allOf", "not", "$ref"}
    assert fits(tool)
    assert not fits(tool, colour="red")


@pytest.mark.parametrize(
    ("tool", "request_model"),
    [
        ("schedule_create", CreateTaskRequest),
        ("schedule_update", EditTaskRequest),
        ("schedule_preview", PreviewScheduleRequest),
    ],
)
def test_tool_takes_every_field_of_its_request(tool: str, request_model: Any) -> None:
    """What the API learns, agents can use."""
    assert request_model.model_fields.keys() <= schema(tool)["properties"].keys()


@pytest.mark.parametrize(
    ("tool", "wrong"),
    [
        ("schedule_create", {"title": "x" * (MAX_TITLE_CHARACTERS + 1)}),
        ("schedule_create", {"priority": 10}),
        ("schedule_create", {"priority": "5"}),
        ("schedule_create", {"idempotency_key": "a b"}),
        ("schedule_create", {"when": ""}),
        ("schedule_create", {"overlap_policy": "sometimes"}),
        ("schedule_create", {"action": {"kind": "agent", "prompt": "a", "more": 1}}),
        ("schedule_list", {"limit": MAX_LISTED + 1}),
        ("schedule_list", {"status": "asleep"}),
        ("schedule_update", {"revision": 0}),
        ("schedule_update", {"paused": "yes"}),
        ("schedule_history", {"limit": 0}),
        ("schedule_delete", {"cancel_active": 1}),
        ("schedule_preview", {"count": MAX_PREVIEW_COUNT + 1}),
    ],
)
def test_limits_of_the_api_are_in_the_schema_and_hold(tool: str, wrong: dict[str, Any]) -> None:
    """The schema says it, and a client that does not look is refused before anything is sent."""
    assert not fits(tool, **wrong)
    with pytest.raises(InvalidFields):
        TOOLS[tool].answer(NOBODY, MINIMAL[tool] | wrong, "UTC")


def test_only_reading_tools_say_that_they_read() -> None:
    assert {name for name, tool in TOOLS.items() if tool.reads} == READS
    assert {name for name, tool in TOOLS.items() if tool.destroys} == {
        "schedule_update",
        "schedule_delete",
    }


@pytest.mark.parametrize(
    "arguments",
    [
        {"when": None},
        {"schedule_spec": {"cron": "0 9 * * *"}},
        {"when": "every day at 9 in New York", "timezone": "Europe/Berlin"},
    ],
    ids=["no schedule", "two schedules", "two zones"],
)
def test_schedule_that_is_said_twice_or_never_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidRequest):
        TOOLS["schedule_create"].answer(NOBODY, MINIMAL["schedule_create"] | arguments, "UTC")


def test_pausing_goes_without_other_changes() -> None:
    wrong = {"task_id": "tsk_1", "paused": True, "title": "Another"}
    with pytest.raises(InvalidRequest):
        TOOLS["schedule_update"].answer(NOBODY, wrong, "UTC")


def test_marks_are_new_each_time_and_nobody_who_wrote_the_data_knows_them() -> None:
    first, second = framed("a"), framed("a")
    assert first != second
    assert first.startswith(NOTICE)
    mark = re.findall(r"DATA-[0-9a-f]{16}", first)
    assert mark == [mark[0]] * 2


@pytest.mark.parametrize(
    "text",
    [
        "\u202egnp.exe",
        "a\u200bb",
        "\U000e0041\U000e0042",
        "\x1b[2J",
        "\x7f\x9b",
        "\ud83d",
        "\ue000",
    ],
)
def test_nothing_in_the_data_is_hidden(text: str) -> None:
    """Characters that nobody sees are shown by their numbers, and still mean themselves."""
    shown = framed({"title": text})
    assert shown.replace("\n", "").isprintable()
    assert json.loads(shown.split("\n", 2)[2].rpartition("\n")[0]) == {"title": text}


def test_what_people_can_read_stays_readable() -> None:
    assert "每天早上 émoji 🌙" in framed("每天早上 émoji 🌙")


def test_gateways_refusal_of_a_token_says_what_to_do() -> None:
    said = told(ApiError(401, {"message": "Unauthorized"}))
    assert said.startswith("There is no token, or it is no longer valid.")
    assert "\nTry: ask the person to sign in anew" in said


def test_fault_names_the_request_for_an_operator() -> None:
    problem = {"code": "internal_error", "detail": "Something went wrong.", "request_id": "abc"}
    assert "request id: abc" in told(ApiError(500, problem))  # type: ignore[arg-type]


@pytest.mark.parametrize("refused", [UnreachableError("no"), NotTheApiError("no")])
def test_answer_that_did_not_come_says_what_to_try(refused: Exception) -> None:
    assert isinstance(refused, REFUSED)
    assert "\nTry: " in told(refused)


MADE: dict[str, Any] = {
    "id": "tsk_1",
    "title": "A task",
    "action": {"kind": "agent", "prompt": "hello"},
    "status": "enabled",
    "blocked_reason": None,
    "schedule_spec": {"cron": "0 8 * * *", "exclude": {"dates": ["2026-12-25"]}},
    "timezone": "Europe/Berlin",
    "starts_at": None,
    "ends_at": None,
    "max_runs": None,
    "jitter_seconds": 0,
    "next_run_at": "2026-12-24T18:00:00.000Z",
    "revision": 4,
}


class Api:
    """Answers with one task, notes what is changed, and loses every answer about times."""

    def __init__(self) -> None:
        self.changes: list[tuple[dict[str, Any], str | None]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/schedule-previews"):
            raise httpx.ReadError("gone")
        if request.method == "PATCH":
            self.changes.append((json.loads(request.content), request.headers.get("If-Match")))
        return httpx.Response(201 if request.method == "POST" else 200, json=MADE)


def answer(api: Api, tool: str, **arguments: Any) -> str:
    """What a tool says when this is the API."""
    with Client("http://127.0.0.1:9", "token", pause=lambda _: None) as client:
        client._http = httpx.Client(
            base_url="http://127.0.0.1:9/api/", transport=httpx.MockTransport(api)
        )
        return TOOLS[tool].answer(client, MINIMAL[tool] | arguments, "UTC")


def test_task_that_was_made_is_told_though_its_times_cannot_be_had() -> None:
    """What was done is never told as failed (P18)."""
    said = answer(Api(), "schedule_create")
    assert said.startswith("Scheduled tsk_1 (revision 4): enabled.")
    assert "Next time: Thu 2026-12-24 19:00 Europe/Berlin" in said


def test_new_phrase_keeps_the_zone_and_what_is_excluded_of_the_task_that_was_read() -> None:
    """Who says another time of day says nothing about the holidays."""
    api = Api()
    answer(api, "schedule_update", when="every day at 7:30")
    spec = {"cron": "30 7 * * *", "exclude": {"dates": ["2026-12-25"]}}
    assert api.changes == [({"schedule_spec": spec, "timezone": "Europe/Berlin"}, '"4"')]


def test_only_the_fields_that_were_sent_are_changed() -> None:
    """P2: what is left out stays, null empties."""
    api = Api()
    answer(api, "schedule_update", priority=7, max_lateness_seconds=None, revision=3)
    assert api.changes == [({"priority": 7, "max_lateness_seconds": None}, '"3"')]
