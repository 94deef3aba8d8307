"""`PATCH /api/policy`: the operator's kill switch, with who and why (P14, SPEC section 9)."""

import json
from datetime import timedelta
from typing import Any

import pytest

import stack
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.run_ids import task_id_of
from unit.functions.desk import BOTH, DAILY, TASKS, Desk, Reply

POLICY = "/api/policy"
ADMIN = "nightshift/read nightshift/admin"


def change(desk: Desk, scope: str = ADMIN, **fields: Any) -> Reply:
    """Change limits as the operator."""
    return desk.call("PATCH", POLICY, fields, user="operator", scope=scope)


def shown(desk: Desk) -> dict[str, Any]:
    """The limits as anybody sees them."""
    limits: dict[str, Any] = desk.call("GET", POLICY).json
    return limits


def test_the_kill_switch_shows_who_stopped_all_starts_and_why(desk: Desk) -> None:
    """P14: in force at once, and everybody sees whose it is."""
    assert shown(desk)["override"] is None
    reply = change(desk, max_concurrent_runs=0, reason="The provider is down.")
    assert reply.status == 200
    assert reply.json == shown(desk)
    assert reply.json["max_concurrent_runs"] == 0
    assert reply.json["override"] == {
        "settings": {"max_concurrent_runs": 0},
        "changed_by": "operator",
        "changed_at": "2026-03-01T12:00:00.000Z",
        "reason": "The provider is down.",
    }


def test_a_trigger_under_the_kill_switch_is_told_the_reason(desk: Desk) -> None:
    """P4, P14: 409, with what the operator said; nothing starts until it is taken back."""
    task_id = desk.create()["id"]
    change(desk, max_concurrent_runs=0, reason="The provider is down.")
    refused = desk.do("trigger", task_id)
    assert refused.code == "budget_full"
    assert refused.json["detail"].endswith("stopped all starts for now: The provider is down.")
    change(desk, max_concurrent_runs=None)
    assert desk.do("trigger", task_id).status == 200


def test_a_stop_without_a_reason_says_only_that_it_is_one(desk: Desk) -> None:
    """P4, P14: the reason of an earlier change does not stand for a later one."""
    task_id = desk.create()["id"]
    change(desk, max_concurrent_runs=3, reason="Fewer for now.")
    change(desk, max_concurrent_runs=0)
    assert desk.do("trigger", task_id).json["detail"].endswith("stopped all starts for now.")


def test_null_goes_back_to_the_deployed_value_and_leaves_other_limits(desk: Desk) -> None:
    """SPEC section 9: only what was sent changes."""
    deployed = shown(desk)
    change(desk, max_concurrent_runs=0, max_concurrent_runs_per_user=2)
    after = change(desk, max_concurrent_runs=None).json
    assert after["max_concurrent_runs"] == deployed["max_concurrent_runs"]
    assert after["override"]["settings"] == {"max_concurrent_runs_per_user": 2}


@pytest.mark.parametrize("scope", [BOTH, "nightshift/write", f"{ADMIN} nightshift/run"])
def test_nobody_without_the_admin_scope_changes_limits(desk: Desk, scope: str) -> None:
    """P8: neither users nor runs, whatever else their token allows."""
    assert change(desk, scope, max_concurrent_runs=0).status == 403
    assert shown(desk)["override"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"reason": "Because."},
        {"max_concurrent_runs": -1},
        {"max_concurrent_runs": 5001},
        {"max_concurrent_runs": True},
        {"max_concurrent_runs": "0"},
        {"max_concurrent_runs_per_user": 0},
        {"launch_lease_seconds": 60},
        {"max_concurrent_runs": 0, "reason": "r" * 2000},
    ],
)
def test_an_impossible_change_of_limits_is_refused_and_nothing_written(
    desk: Desk, fields: dict[str, Any]
) -> None:
    """SPEC section 7: unknown fields, coercions and values out of range."""
    assert change(desk, **fields).status == 422
    assert shown(desk)["override"] is None


def test_a_change_that_others_keep_overtaking_is_refused(desk: Desk) -> None:
    """P19: no operator's change is undone by another's that did not see it."""
    overtaken(desk, times=3)
    reply = change(desk, max_concurrent_runs=0)
    assert reply.code == "concurrent_update"
    assert shown(desk)["override"]["settings"] == {"max_concurrent_runs_per_user": 3}


def test_changes_of_two_operators_at_once_are_both_kept(desk: Desk) -> None:
    """P19: the one that comes second is decided anew."""
    overtaken(desk, times=1)
    after = change(desk, max_concurrent_runs=0).json["override"]["settings"]
    assert after == {"max_concurrent_runs": 0, "max_concurrent_runs_per_user": 3}


def test_the_log_tells_every_change_newest_first_to_everybody(desk: Desk) -> None:
    """SPEC section 9: who, when, why and to what; a refused change leaves nothing."""
    assert desk.call("GET", f"{POLICY}/changes").json == {"items": [], "next_cursor": None}
    change(desk, max_concurrent_runs=0, reason="The provider is down.")
    change(desk, max_concurrent_runs=-1)
    desk.now += timedelta(hours=1)
    change(desk, max_concurrent_runs=None, reason="It is back.")
    first = desk.call("GET", f"{POLICY}/changes", query="limit=1").json
    assert first["items"] == [
        {
            "settings": {},
            "changed_by": "operator",
            "changed_at": "2026-03-01T13:00:00.000Z",
            "reason": "It is back.",
        }
    ]
    rest = desk.call("GET", f"{POLICY}/changes", query=f"cursor={first['next_cursor']}").json
    assert [entry["reason"] for entry in rest["items"]] == ["The provider is down."]
    assert rest["next_cursor"] is None


def test_a_lower_budget_drains_and_ends_no_run(desk: Desk) -> None:
    """P14, K5: in force at the next tick; what runs goes on, and the next starts below it."""
    waiting = [desk.create(schedule_spec={"after_seconds": 60})["id"] for _ in range(4)]
    change(desk, max_concurrent_runs=3)
    desk.look(desk.now + timedelta(seconds=61))
    assert len(desk.executions.launched) == 3
    change(desk, max_concurrent_runs=1)
    desk.look(desk.now + timedelta(seconds=1))
    assert len(desk.store.active_slots()) == 3
    assert len(desk.executions.launched) == 3
    path = stack.ROOT / "events" / "completion-record-success.json"
    success = json.loads(path.read_text(encoding="utf-8"))
    for left in (2, 1, 1):
        run = next(iter(desk.store.active_slots()))
        desk.executions.end(run.run_id, Outcome.SUCCESS, desk.now)
        desk.tell(success | {"run_id": run.run_id, "task_id": task_id_of(run.run_id)})
        desk.look(desk.now + timedelta(seconds=1))
        assert len(desk.store.active_slots()) == left
    assert len(desk.executions.launched) == len(waiting)


def test_what_the_limits_leave_alone_goes_on(desk: Desk) -> None:
    """SPEC section 9: people still make and change tasks while nothing starts."""
    change(desk, max_concurrent_runs=0)
    assert desk.call("POST", TASKS, DAILY).status == 201


def overtaken(desk: Desk, times: int) -> None:
    """Let another operator come before the next changes."""

    def come_first() -> None:
        assert change(desk, max_concurrent_runs_per_user=3).status == 200
        if times > 1:
            overtaken(desk, times - 1)

    desk.store.before("policies.change", come_first)
