"""The Python client: what it repeats, how it walks pages, what it raises."""

import socket
from collections.abc import Iterator
from typing import Any

import pytest

from integration.cli.desk import TASK_PATH, TASKS
from integration.cli.recorded_api import RUN, TASK, TASK_ID, RecordedApi, problem
from nightshift_toolkit.client import ApiError, Client, NotTheApiError, UnreachableError


@pytest.fixture
def pauses() -> list[float]:
    return []


@pytest.fixture
def client(api: RecordedApi, pauses: list[float]) -> Iterator[Client]:
    with Client(api.url, "secret", pause=pauses.append) as client:
        yield client


def test_a_list_is_walked_page_after_page(api: RecordedApi, client: Client) -> None:
    for number, cursor in ((1, "a"), (2, "b"), (3, None)):
        page = {"items": [TASK | {"title": str(number)}], "next_cursor": cursor}
        api.answer("GET", TASKS, 200, page)
    assert [task["title"] for task in client.tasks(label="team=search")] == ["1", "2", "3"]
    assert [asked.query.get("cursor") for asked in api.asked] == [None, ["a"], ["b"]]
    assert all(asked.query["label"] == ["team=search"] for asked in api.asked)
    assert all(asked.headers["authorization"] == "Bearer secret" for asked in api.asked)


def test_a_page_that_is_not_needed_is_not_asked_for(api: RecordedApi, client: Client) -> None:
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [RUN], "next_cursor": "more"})
    assert next(client.runs(TASK_ID, "failed"))["id"] == RUN["id"]
    assert [asked.query for asked in api.asked] == [{"status": ["failed"]}]


def test_a_creation_is_repeated_under_one_key_when_no_answer_comes(
    api: RecordedApi, client: Client, pauses: list[float]
) -> None:
    api.answer("POST", TASKS, 0)
    api.answer("POST", TASKS, 503, problem(503, "persistence_uncertain", "It may have happened."))
    api.answer("POST", TASKS, 201, TASK)
    assert client.create_task({"title": "Tickets"})["id"] == TASK_ID
    assert len({asked.headers["idempotency-key"] for asked in api.asked}) == 1
    assert [asked.body for asked in api.asked] == [{"title": "Tickets"}] * 3
    assert pauses == sorted(pauses)
    assert len(pauses) == 2


def test_a_preview_is_repeated_since_it_writes_nothing(api: RecordedApi, client: Client) -> None:
    fields = {"schedule_spec": {"cron": "0 9 * * *"}, "count": 1}
    fire = {"utc": "2026-03-02T09:00:00.000Z", "local": "", "note": None, "effective_until": None}
    api.answer("POST", "/api/schedule-previews", 503, problem(503, "persistence_uncertain", "?"))
    api.answer("POST", "/api/schedule-previews", 200, {"next": [fire]})
    assert client.preview_schedule(fields)["next"] == [fire]
    assert [asked.body for asked in api.asked] == [fields, fields]


def test_two_creations_have_two_keys(api: RecordedApi, client: Client) -> None:
    api.answer("POST", TASKS, 201, TASK)
    client.create_task({})
    client.create_task({})
    client.create_task({}, "mine")
    keys = [asked.headers["idempotency-key"] for asked in api.asked]
    assert len(set(keys)) == 3
    assert keys[2] == "mine"


def test_a_trigger_is_repeated_under_one_key(api: RecordedApi, client: Client) -> None:
    api.answer("POST", f"{TASK_PATH}/trigger", 504, {"message": "Gateway Timeout"})
    api.answer("POST", f"{TASK_PATH}/trigger", 200, {"run_id": RUN["id"], "run": RUN})
    assert client.trigger_task(TASK_ID)["run_id"] == RUN["id"]
    assert len({asked.headers["idempotency-key"] for asked in api.asked}) == 1


def test_the_wait_that_the_api_asks_for_is_kept(
    api: RecordedApi, client: Client, pauses: list[float]
) -> None:
    api.answer("GET", TASK_PATH, 429, {"message": "Too Many Requests"}, Retry_After="3")
    api.answer("GET", TASK_PATH, 200, TASK)
    client.task(TASK_ID)
    assert pauses == [3.0]


def test_the_change_log_is_read_through_all_its_pages(api: RecordedApi, client: Client) -> None:
    entry = {"revision": 1, "at": "2026-03-01T12:00:00.000Z", "by": "ada", "verb": "created"}
    older, newer = (entry | {"revision": number, "fields": {}} for number in (1, 2))
    api.answer("GET", f"{TASK_PATH}/changes", 200, {"items": [newer], "next_cursor": "more"})
    api.answer("GET", f"{TASK_PATH}/changes", 200, {"items": [older], "next_cursor": None})
    assert list(client.changes(TASK_ID)) == [newer, older]


def test_a_change_is_not_repeated(api: RecordedApi, client: Client) -> None:
    api.answer("PATCH", TASK_PATH, 0)
    with pytest.raises(UnreachableError):
        client.edit_task(TASK_ID, {"title": "x"})
    assert len(api.asked) == 1


def test_a_definite_refusal_is_not_repeated(api: RecordedApi, client: Client) -> None:
    api.answer("POST", f"{TASK_PATH}/trigger", 502, problem(502, "launch_failed", "Not started."))
    with pytest.raises(ApiError) as caught:
        client.trigger_task(TASK_ID)
    assert (caught.value.status, caught.value.code) == (502, "launch_failed")
    assert len(api.asked) == 1


def test_the_repeats_have_an_end(api: RecordedApi, client: Client) -> None:
    api.answer("GET", TASK_PATH, 503, {"message": "Service Unavailable"})
    with pytest.raises(ApiError, match="Service Unavailable"):
        client.task(TASK_ID)
    assert len(api.asked) == 4


def test_an_edit_can_be_bound_to_a_revision(api: RecordedApi, client: Client) -> None:
    api.answer("PATCH", TASK_PATH, 200, TASK)
    client.edit_task(TASK_ID, {"ends_at": None}, revision=7)
    (asked,) = api.asked
    assert asked.headers["if-match"] == '"7"'
    assert asked.body == {"ends_at": None}


def test_a_gateways_own_refusal_is_understood(api: RecordedApi, client: Client) -> None:
    api.answer("GET", TASK_PATH, 401, {"message": "Unauthorized"})
    with pytest.raises(ApiError) as caught:
        client.task(TASK_ID)
    assert (caught.value.status, caught.value.code) == (401, None)


@pytest.mark.parametrize("body", [b"<html>", b"", b"[1]"])
def test_a_refusal_of_any_form_has_a_sentence(
    api: RecordedApi, client: Client, body: bytes
) -> None:
    api.answer("GET", TASK_PATH, 500, body)
    with pytest.raises(ApiError, match="status 500"):
        client.task(TASK_ID)


def test_something_else_that_answers_is_told_apart(api: RecordedApi, client: Client) -> None:
    api.answer("GET", TASK_PATH, 200, b"<html>welcome</html>")
    with pytest.raises(NotTheApiError):
        client.task(TASK_ID)


def test_nobody_at_the_address_is_told_at_once(pauses: list[float]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        with Client(url, "secret", pause=pauses.append) as client, pytest.raises(UnreachableError):
            client.task(TASK_ID)
    assert pauses == []


@pytest.mark.parametrize("name", ["../policy", "a/b", "..", ".", "a?b#c", "夜"])
def test_an_id_stays_one_segment_of_the_path(api: RecordedApi, client: Client, name: str) -> None:
    with pytest.raises(ApiError):
        client.task(name)
    (asked,) = api.asked
    assert asked.path.startswith(f"{TASKS}/")
    assert "/" not in asked.path.removeprefix(f"{TASKS}/")
    assert asked.query == {}


def test_the_remaining_calls_reach_their_routes(api: RecordedApi, client: Client) -> None:
    thread: Any = {"id": "thr_1"}
    api.answer("POST", f"{TASK_PATH}/pause", 200, TASK)
    api.answer("POST", f"{TASK_PATH}/resume", 200, TASK)
    api.answer("DELETE", TASK_PATH, 204)
    api.answer("GET", f"{TASK_PATH}/runs/{RUN['id']}", 200, RUN)
    api.answer("PUT", "/api/threads/thr_1", 200, thread)
    api.answer("GET", "/api/threads/thr_1", 200, thread)
    assert client.pause_task(TASK_ID, "holiday") == TASK
    assert client.resume_task(TASK_ID) == TASK
    client.delete_task(TASK_ID)
    assert client.run(TASK_ID, RUN["id"]) == RUN
    assert client.register_thread("thr_1") == client.thread("thr_1") == thread
    assert api.asked[0].body == {"reason": "holiday"}
