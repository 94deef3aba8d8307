"""Two users, and requests that nobody should send, through the real authorizer."""

import json

import pytest

from e2e.place import Place
from nightshift_toolkit.local_cloud.issuer import ALL_SCOPES

GOOD = {"title": "A task", "prompt": "Hello", "schedule_spec": {"cron": "0 3 * * *"}}


def test_nothing_of_another_user_exists(place: Place) -> None:
    """P8: every route answers 404 with the body that a random id gets."""
    ada, bob = place.caller("ada"), place.caller("bob")
    task = place.create(ada, prompt="mine")
    run = ada.post(f"/api/scheduled-tasks/{task['id']}/trigger").json()["run_id"]
    ada.put("/api/threads/ours")
    place.in_status(ada, task, "running")
    before = [row for row in place.rows() if "ada" in json.dumps(row)]

    def answers(task_id: str, run_id: str, thread: str) -> list[tuple[int, str]]:
        base = f"/api/scheduled-tasks/{task_id}"
        requests = [
            bob.get(base),
            bob.patch(base, json={"title": "taken"}),
            bob.delete(base),
            bob.post(f"{base}/pause"),
            bob.post(f"{base}/resume"),
            bob.post(f"{base}/trigger"),
            bob.get(f"{base}/runs"),
            bob.get(f"{base}/runs/{run_id}"),
            bob.post(f"{base}/runs/{run_id}/cancel"),
            bob.get(f"/api/threads/{thread}"),
        ]
        return [(answer.status_code, answer.json()["code"]) for answer in requests]

    foreign = answers(task["id"], run, "ours")
    unknown = answers("tsk_" + "0" * 26, "tsk_" + "0" * 26 + "-20260101T000000000Z", "theirs")
    assert foreign == unknown
    assert {status for status, _ in foreign} == {404}
    assert bob.get("/api/scheduled-tasks").json()["items"] == []
    assert [row for row in place.rows() if "ada" in json.dumps(row)] == before
    ada.delete(f"/api/scheduled-tasks/{task['id']}")


@pytest.mark.parametrize(
    ("token", "status"),
    [
        ({"lifetime_seconds": -60}, 401),
        ({"aud": "else", "client_id": "else"}, 401),
        ({"scopes": ()}, 403),
        ({"scopes": ALL_SCOPES}, 200),
    ],
    ids=["expired", "wrong audience", "no scope", "good"],
)
def test_only_a_good_token_gets_in(place: Place, token: dict[str, object], status: int) -> None:
    """P8: the authorizer asks first, and the code asks again."""
    assert place.caller("ada", **token).get("/api/scheduled-tasks").status_code == status


def test_no_token_and_a_forged_one_stay_outside(place: Place) -> None:
    """P8: what is not signed by the issuer is nobody."""
    ada = place.caller()
    genuine = ada.headers["Authorization"]
    for header in ({"Authorization": ""}, {"Authorization": genuine[:-4] + "AAAA"}):
        assert ada.get("/api/scheduled-tasks", headers=header).status_code == 401
    assert ada.get("/api/health", headers={"Authorization": ""}).status_code == 200


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"unknown": 1}, "invalid_request"),
        ({"prompt": ""}, "invalid_request"),
        ({"timezone": "Mars/Olympus"}, "invalid_time_zone"),
        ({"schedule_spec": {"cron": "61 * * * *"}}, "invalid_schedule"),
        ({"schedule_spec": {"cron": "0 0 31 2 *"}}, "never_fires"),
        ({"schedule_spec": {"once": "2020-01-01T00:00:00Z"}}, "not_in_future"),
        ({"schedule_spec": {"every_seconds": 5}}, "too_frequent"),
        ({"prompt": "x" * 66_000}, "payload_too_large"),
        ({"title": 5}, "invalid_request"),
    ],
)
def test_bad_input_is_refused_and_nothing_is_written(
    place: Place, change: dict[str, object], code: str
) -> None:
    """SPEC section 2: bad input is refused at once with a problem document."""
    mallory = place.caller("mallory")
    answer = mallory.post("/api/scheduled-tasks", json=GOOD | change)
    assert (answer.status_code, answer.json()["code"]) == (422, code)
    assert answer.headers["content-type"] == "application/problem+json"
    assert not [row for row in place.rows() if "mallory" in json.dumps(row)]


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 422, "invalid_request"),
        (b"", "application/json", 422, "invalid_request"),
        (json.dumps(GOOD).encode(), "text/csv", 415, "unsupported_media_type"),
    ],
    ids=["broken JSON", "nothing", "another type"],
)
def test_a_body_that_is_not_json_is_refused(
    place: Place, content: bytes, kind: str, status: int, code: str
) -> None:
    """SPEC section 7: errors are problem documents, whatever was sent."""
    mallory = place.caller("mallory")
    answer = mallory.post("/api/scheduled-tasks", content=content, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert not [row for row in place.rows() if "mallory" in json.dumps(row)]
