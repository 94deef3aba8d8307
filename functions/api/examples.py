"""Examples of every body, by the name of its model; tests check them and send the requests."""

from typing import Any, Final

from nightshift.domain.model.enums import Rule, Verdict

_TASK_ID: Final = "tsk_01kjmma2g0f9x4q8w2c7r5t6yz"
_RUN_ID: Final = f"{_TASK_ID}-20260302T140000000Z"
_CREATED: Final = "2026-03-01T16:20:05.120Z"
_TASK: Final[dict[str, Any]] = {
    "id": _TASK_ID,
    "title": "Morning summary",
    "action": {"kind": "agent", "prompt": "Summarise yesterday's tickets."},
    "context_mode": "fresh_thread",
    "thread_id": None,
    "assistant_id": None,
    "schedule_type": "cron",
    "schedule_spec": {"cron": "0 9 * * 1-5"},
    "timezone": "America/New_York",
    "overlap_policy": "skip",
    "priority": 5,
    "timeout_seconds": 900,
    "max_lateness_seconds": 3600,
    "jitter": "hash",
    "jitter_seconds": 0,
    "jitter_place_seconds": None,
    "retry": {
        "max_attempts": 3,
        "backoff_seconds": 60,
        "backoff_rate": 2.0,
        "max_backoff_seconds": 3600,
        "on": ["worker_lost", "rate_limited"],
    },
    "notify": {
        "webhook": "https://hooks.example.com/nightshift",
        "on": ["failed", "recovered"],
        "changes_only": False,
    },
    "pause_after_failures": 5,
    "include_previous_result": False,
    "starts_at": None,
    "ends_at": None,
    "max_runs": None,
    "labels": {"team": "support"},
    "status": "enabled",
    "blocked_reason": None,
    "overdue": False,
    "active_run_id": None,
    "dispatching": False,
    "pause_reason": None,
    "pause_until": None,
    "next_run_at": "2026-03-02T14:00:00.000Z",
    "due_at": "2026-03-02T14:00:00.000Z",
    "last_run_at": None,
    "last_run_id": None,
    "last_thread_id": None,
    "last_status": None,
    "last_error": None,
    "last_success_run_id": None,
    "failures_in_a_row": 0,
    "run_count": 0,
    "revision": 1,
    "created_at": _CREATED,
    "updated_at": _CREATED,
}
_RUN: Final[dict[str, Any]] = {
    "id": _RUN_ID,
    "task_id": _TASK_ID,
    "thread_id": "thr_2m6q0x8r4t1v7y3z",
    "execution_arn": f"arn:aws:states:eu-central-1:111122223333:execution:nightshift:{_RUN_ID}",
    "scheduled_for": "2026-03-02T14:00:00.000Z",
    "trigger": "schedule",
    "status": "success",
    "reason": None,
    "error": None,
    "result": {"exit_code": 0, "output": "Three tickets were closed.", "truncated": False},
    "attempt": 2,
    "attempts": [
        {
            "attempt": 1,
            "reason": "rate_limited",
            "exit_code": 75,
            "finished_at": "2026-03-02T14:00:15.002Z",
        }
    ],
    "at_work": False,
    "folded": 0,
    "folded_through": None,
    "folded_cut": False,
    "previous_run_id": None,
    "can_pause": False,
    "pause_requested": False,
    "paused_at": None,
    "paused_seconds": 0,
    "started_at": "2026-03-02T14:00:11.480Z",
    "finished_at": "2026-03-02T14:01:02.007Z",
    "created_at": "2026-03-02T14:00:10.950Z",
    "schedule": {
        "schedule_type": "cron",
        "schedule_spec": {"cron": "0 9 * * 1-5"},
        "timezone": "America/New_York",
        "starts_at": None,
        "ends_at": None,
        "max_runs": None,
    },
}

_EXPLAINED: Final = {
    "row": "The task can be read.",
    "pause": "The task is not paused.",
    "status": "The task is enabled.",
    "blocked": "Nothing has blocked the task.",
    "window": "The schedule has no bounds in time.",
    "exclusion": "Nothing is excluded.",
    "schedule": "2026-03-02 09:00 America/New_York is one of its times.",
    "due": "It is due at 2026-03-02 09:00 America/New_York.",
    "kill_switch": "The operator lets runs start.",
    "seat": "Seats taken: 10 of 10, none of them yours. Nobody is ahead of it in the line.",
}


def _verdict(rule: Rule) -> Verdict:
    if rule is Rule.SEAT:
        return Verdict.DECIDES
    return Verdict.PASSES if rule.value in _EXPLAINED else Verdict.NOT_REACHED


EXAMPLES: Final[dict[str, dict[str, Any]]] = {
    "CreateTaskRequest": {
        "title": "Morning summary",
        "prompt": "Summarise yesterday's tickets.",
        "schedule_spec": {"cron": "0 9 * * 1-5"},
        "timezone": "America/New_York",
        "max_lateness_seconds": 3600,
        "retry": {
            "max_attempts": 3,
            "backoff_seconds": 60,
            "on": ["worker_lost", "rate_limited"],
        },
        "notify": {
            "webhook": "https://hooks.example.com/nightshift",
            "on": ["failed", "recovered"],
        },
        "labels": {"team": "support"},
    },
    "EditTaskRequest": {"title": "Evening summary", "schedule_spec": {"cron": "0 18 * * 1-5"}},
    "PauseTasksRequest": {
        "reason": "Nobody is there over the holidays.",
        "until": "2027-01-04T00:00:00Z",
        "cursor": None,
    },
    "ResumeTasksRequest": {"cursor": None},
    "ChangedTasksResponse": {
        "changed": [_TASK_ID],
        "unchanged": [],
        "refused": [{"task_id": "tsk_01kjmma2g0f9x4q8w2c7r5t6zz", "code": "task_not_mutable"}],
        "next_cursor": None,
    },
    "PauseTaskRequest": {
        "reason": "Nobody is there over the holidays.",
        "until": "2027-01-04T00:00:00Z",
    },
    "ChangePolicyRequest": {"max_concurrent_runs": 0, "reason": "The agent's provider is down."},
    "WebhookKeyResponse": {
        "key": "6d0c1f1be1b7a9a2a1f0c9e9d2b8f3c4a5e6d7c8b9a0f1e2d3c4b5a69788796a"
    },
    "EmptyRequest": {},
    "PreviewScheduleRequest": {
        "schedule_spec": {"cron": "0 9 * * 1-5"},
        "timezone": "America/New_York",
        "count": 3,
    },
    "TaskResponse": _TASK,
    "TaskPage": {
        "items": [_TASK | {"action": {"kind": "agent"}}],
        "next_cursor": None,
    },
    "RunResponse": _RUN,
    "RunPage": {"items": [_RUN], "next_cursor": None},
    "TriggerResponse": {
        "run_id": _RUN_ID,
        "run": _RUN
        | {
            "trigger": "manual",
            "status": "queued",
            "scheduled_for": None,
            "result": None,
            "attempt": 1,
            "attempts": [],
            "started_at": None,
            "finished_at": None,
        },
    },
    "PolicyChangePage": {
        "items": [
            {
                "settings": {"max_concurrent_runs": 0},
                "changed_by": "b2c5d4f4-30a1-70c3-1f0e-0c9be1d7a3f2",
                "changed_at": "2026-03-01T17:00:00.000Z",
                "reason": "The agent's provider is down.",
            }
        ],
        "next_cursor": None,
    },
    "ChangePage": {
        "items": [
            {
                "revision": 2,
                "at": "2026-03-01T17:00:00.000Z",
                "by": "b2c5d4f4-30a1-70c3-1f0e-0c9be1d7a3f2",
                "verb": "edited",
                "fields": {"title": {"old": "Morning summary", "new": "Evening summary"}},
            }
        ],
        "next_cursor": None,
    },
    "ExplanationResponse": {
        "at": "2026-03-02T14:00:10.950Z",
        "decision": "waits",
        "reason": "budget_full",
        "run_id": _RUN_ID,
        "rules": [
            {"rule": rule.value, "verdict": _verdict(rule), "detail": _EXPLAINED.get(rule.value)}
            for rule in Rule
        ],
    },
    "ThreadResponse": {"id": "tickets", "created_at": _CREATED},
    "SchedulePreviewResponse": {
        "schedule": "At 09:00, Monday to Friday (America/New_York)",
        "schedule_type": "cron",
        "schedule_spec": {"cron": "0 9 * * 1-5"},
        "timezone": "America/New_York",
        "next": [
            {
                "utc": "2026-03-02T14:00:00.000Z",
                "local": "2026-03-02T09:00:00.000-05:00",
                "note": None,
                "effective_until": None,
            }
        ],
    },
    "HealthResponse": {"status": "ok"},
}
