"""The commands against an API that answers recorded shapes."""

import json
from typing import Any

import pytest

from integration.cli.desk import TASK_PATH, TASKS, Run, ok
from integration.cli.recorded_api import (
    RUN,
    RUN_ID,
    TASK,
    TASK_ID,
    RecordedApi,
)
from nightshift_toolkit.cli.failures import ExitCode


def test_creating_a_task_sends_what_was_said_and_tells_the_next_time(
    api: RecordedApi, run: Run
) -> None:
    api.answer("POST", TASKS, 201, TASK)
    output = ok(
        run(
            *("tasks", "create", "--prompt", "Summarise the tickets."),
            *("--cron", "0 9 * * MON-FRI", "--zone", "America/New_York"),
        )
    )
    (asked,) = api.asked
    assert asked.body == {
        "title": "Summarise the tickets.",
        "action": {"kind": "agent", "prompt": "Summarise the tickets."},
        "schedule_spec": {"cron": "0 9 * * MON-FRI"},
        "timezone": "America/New_York",
    }
    assert asked.headers["authorization"] == "Bearer secret"
    assert output.startswith(f"Created {TASK_ID}  Tickets\n")
    assert "Next run: Mon 2099-01-05 09:00 America/New_York  (" in output
    assert f"nightshift runs list {TASK_ID}" in output


def test_json_is_what_the_api_answered(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASK_PATH, 200, TASK | {"a_later_field": [1]})
    assert json.loads(ok(run("tasks", "show", TASK_ID, "--json"))) == TASK | {"a_later_field": [1]}


def test_a_list_in_json_holds_every_page(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [TASK], "next_cursor": "more"})
    api.answer("GET", TASKS, 200, {"items": [TASK], "next_cursor": None})
    listed = json.loads(ok(run("tasks", "list", "--json")))
    assert listed == {"items": [TASK, TASK], "next_cursor": None}


def test_an_empty_list_says_what_to_do_next(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [], "next_cursor": None})
    result = run("tasks", "list")
    assert ok(result) == ""
    assert "nightshift tasks create" in result.stderr


def test_filters_reach_the_api(api: RecordedApi, run: Run) -> None:
    api.answer("GET", TASKS, 200, {"items": [], "next_cursor": None})
    ok(run("tasks", "list", "--status", "paused", "--label", "team=search", "--thread", "t"))
    assert api.asked[0].query == {"status": ["paused"], "label": ["team=search"], "thread": ["t"]}


def test_a_task_is_shown_with_its_prompt(api: RecordedApi, run: Run) -> None:
    prompt = "First line\nsecond line\n"
    api.answer("GET", TASK_PATH, 200, TASK | {"action": {"kind": "agent", "prompt": prompt}})
    output = ok(run("tasks", "show", TASK_ID))
    assert "Prompt    First line\n          second line\n" in output
    assert "Schedule  0 9 * * MON-FRI America/New_York\n" in output
    assert "Blocked" not in output


def test_an_edit_sends_only_what_changes(api: RecordedApi, run: Run) -> None:
    """P2"""
    api.answer("PATCH", TASK_PATH, 200, TASK)
    ok(run("tasks", "edit", TASK_ID, "--title", "New", "--clear", "ends-at", "--clear", "jitter"))
    ok(run("tasks", "edit", TASK_ID, "--fresh-thread"))
    assert [asked.body for asked in api.asked] == [
        {"title": "New", "ends_at": None, "jitter_seconds": None},
        {"context_mode": "fresh_thread", "thread_id": None},
    ]


def test_an_edit_without_a_change_is_a_usage_error(api: RecordedApi, run: Run) -> None:
    assert run("tasks", "edit", TASK_ID).exit_code == ExitCode.USAGE
    assert api.asked == []


def test_a_task_that_gave_up_says_so(api: RecordedApi, run: Run) -> None:
    """B131: why it is paused, how often it failed, and what it takes."""
    reason = "Paused after 3 failures in a row."
    given_up = {"status": "paused", "pause_reason": reason, "failures_in_a_row": 3}
    api.answer("GET", TASK_PATH, 200, TASK | given_up | {"pause_after_failures": 3})
    output = ok(run("tasks", "show", TASK_ID))
    assert reason in output
    assert "3 in a row, pauses after 3" in output


@pytest.mark.parametrize(
    ("asks", "last", "said"),
    [
        (True, f"{TASK_ID}-a", f"Hands on  the result of {TASK_ID}-a"),
        (True, None, "Hands on  the result of its last success, which is to come"),
        (False, f"{TASK_ID}-a", None),
    ],
)
def test_a_task_says_whose_result_it_hands_on(
    api: RecordedApi, run: Run, asks: bool, last: str | None, said: str | None
) -> None:
    """And that it is to come where there is none; one that does not ask says nothing."""
    task = TASK | {"include_previous_result": asks, "last_success_run_id": last}
    api.answer("GET", TASK_PATH, 200, task)
    output = ok(run("tasks", "show", TASK_ID))
    assert said in output if said else "Hands on" not in output


def test_a_pause_with_an_end_sends_and_shows_it(api: RecordedApi, run: Run) -> None:
    """P3"""
    end = "2099-03-08T13:00:00.000Z"
    paused = TASK | {"status": "paused", "next_run_at": None, "due_at": None, "pause_until": end}
    api.answer("POST", f"{TASK_PATH}/pause", 200, paused)
    api.answer("GET", TASK_PATH, 200, paused)
    said = ok(run("tasks", "pause", TASK_ID, "--until", "2099-03-08T09:00:00-04:00"))
    assert api.asked[0].body == {"until": "2099-03-08T09:00:00-04:00"}
    assert said.splitlines()[1].startswith("Until: Sun 2099-03-08 09:00")
    assert "Paused until  Sun 2099-03-08 09:00" in ok(run("tasks", "show", TASK_ID))


def test_all_tasks_are_paused_and_resumed_page_by_page(api: RecordedApi, run: Run) -> None:
    """P3"""
    refused = {"task_id": "tsk_2", "code": "never_fires"}
    some = {"changed": [TASK_ID], "unchanged": ["tsk_3"], "refused": [], "next_cursor": "abc"}
    rest = {"changed": [], "unchanged": [], "refused": [refused], "next_cursor": None}
    for page in (some, rest):
        api.answer("POST", f"{TASKS}/pause", 200, page)
    end = "2099-03-08T09:00:00Z"
    paused = run("tasks", "pause", "--all", "--reason", "holiday", "--until", end)
    assert paused.exit_code == ExitCode.CONFLICT
    assert paused.stdout == "Paused 1, left 1 as is\nRefused: tsk_2  never_fires\n"
    sent = {"reason": "holiday", "until": end}
    assert [asked.body for asked in api.asked] == [sent, {**sent, "cursor": "abc"}]
    api.answer("POST", f"{TASKS}/resume", 200, some | {"next_cursor": None})
    assert ok(run("tasks", "resume", "--all")) == "Resumed 1, left 1 as is\n"


@pytest.mark.parametrize("verb", ["pause", "resume"])
@pytest.mark.parametrize("typed", [[], [TASK_ID, "--all"]])
def test_one_task_or_all_of_them_are_named(
    api: RecordedApi, run: Run, verb: str, typed: list[str]
) -> None:
    assert run("tasks", verb, *typed).exit_code == ExitCode.USAGE
    assert api.asked == []


def test_pause_resume_and_delete_say_what_they_did(api: RecordedApi, run: Run) -> None:
    api.answer("POST", f"{TASK_PATH}/pause", 200, TASK | {"next_run_at": None})
    api.answer("POST", f"{TASK_PATH}/resume", 200, TASK)
    api.answer("DELETE", TASK_PATH, 204)
    paused = ok(run("tasks", "pause", TASK_ID, "--reason", "holiday"))
    assert paused == f"Paused {TASK_ID}  Tickets\n"
    assert "Next run: " in ok(run("tasks", "resume", TASK_ID))
    assert ok(run("tasks", "delete", TASK_ID, "--yes")) == f"Deleted {TASK_ID}\n"
    assert api.asked[0].body == {"reason": "holiday"}


def test_a_trigger_names_the_run_and_how_to_see_it(api: RecordedApi, run: Run) -> None:
    api.answer("POST", f"{TASK_PATH}/trigger", 200, {"run_id": RUN_ID, "run": RUN})
    assert ok(run("tasks", "trigger", TASK_ID)) == (
        f"Started {RUN_ID}\nSee how it goes:  nightshift runs show {RUN_ID}\n"
    )


def test_the_history_shows_what_happened_and_why(api: RecordedApi, run: Run) -> None:
    skipped = RUN | {
        "status": "skipped",
        "reason": "overlap",
        "error": None,
        "result": None,
        "started_at": None,
        "finished_at": None,
    }
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [RUN, skipped], "next_cursor": None})
    heading, first, second = ok(run("runs", "list", TASK_ID, TZ="UTC")).splitlines()
    assert " ".join(heading.split()) == "SCHEDULED TRIGGER STATUS REASON EXIT TOOK OUTPUT RUN"
    for part in ("schedule", "failed", "nonzero_exit", " 3 ", "70 s", "almost there", RUN_ID):
        assert part in first
    assert "but no" not in first
    assert second.split()[-6:] == ["skipped", "overlap", "-", "-", "-", RUN_ID]


def test_the_history_is_cut_to_the_limit(api: RecordedApi, run: Run) -> None:
    api.answer("GET", f"{TASK_PATH}/runs", 200, {"items": [RUN, RUN], "next_cursor": "more"})
    listed = json.loads(ok(run("runs", "list", TASK_ID, "--limit", "1", "--json")))
    assert listed["items"] == [RUN]
    assert len(api.asked) == 1


def test_a_run_is_found_by_its_id_alone_and_shown_with_its_output(
    api: RecordedApi, run: Run
) -> None:
    api.answer("GET", f"{TASK_PATH}/runs/{RUN_ID}", 200, RUN)
    output = ok(run("runs", "show", RUN_ID))
    assert "Exit code  3\n" in output
    assert "almost there\n           but no\n" in output
    assert "Took       70 s\n" in output


def test_the_operator_stops_all_starts_and_takes_it_back(api: RecordedApi, run: Run) -> None:
    override = {
        "settings": {"max_concurrent_runs": 0},
        "changed_by": "operator",
        "changed_at": "2026-03-01T12:00:00.000Z",
        "reason": "The provider is down.",
    }
    limits = {"max_concurrent_runs": 0, "max_tasks_per_user": 1000, "override": override}
    api.answer("PATCH", "/api/policy", 200, limits)
    arguments = ("policy", "set", "--max-concurrent-runs")
    output = ok(run(*arguments, "0", "--reason", "The provider is down."))
    assert api.asked[-1].body == {"max_concurrent_runs": 0, "reason": "The provider is down."}
    assert "max_concurrent_runs  0 (set by the operator)\n" in output
    assert "2026-03-01T12:00:00.000Z by operator\n" in output
    ok(run(*arguments, "deployed"))
    assert api.asked[-1].body == {"max_concurrent_runs": None}
    assert run("policy", "set", "--reason", "Because.").exit_code == ExitCode.USAGE
    assert run(*arguments, "few").exit_code == ExitCode.USAGE


def test_the_log_of_the_limits_is_a_table(api: RecordedApi, run: Run) -> None:
    entry = {
        "settings": {"max_concurrent_runs": 0},
        "changed_by": "operator",
        "changed_at": "2026-03-01T12:00:00.000Z",
        "reason": "The provider is down.",
    }
    page = {"items": [entry, entry | {"settings": {}, "reason": None}], "next_cursor": None}
    api.answer("GET", "/api/policy/changes", 200, page)
    head, first, second = ok(run("policy", "changes")).splitlines()
    assert head.split() == ["AT", "BY", "LIMITS", "SET", "REASON"]
    assert "operator  max_concurrent_runs 0  The provider is down." in first
    assert second.split()[-2:] == ["-", "-"]
    assert json.loads(ok(run("policy", "changes", "--json"))) == page


def test_limits_that_nobody_changed_name_nobody(api: RecordedApi, run: Run) -> None:
    api.answer("GET", "/api/policy", 200, {"max_concurrent_runs": 10, "override": None})
    assert ok(run("policy", "show")) == "max_concurrent_runs  10\n"
    assert json.loads(ok(run("policy", "show", "--json")))["override"] is None


def test_a_thread_is_registered_and_shown(api: RecordedApi, run: Run) -> None:
    api.answer("PUT", "/api/threads/thr_1", 200, {"id": "thr_1"})
    api.answer("GET", "/api/threads/thr_1", 200, {"id": "thr_1"})
    assert ok(run("threads", "register", "thr_1")) == "Registered thr_1\n"
    assert "thr_1 is yours" in ok(run("threads", "show", "thr_1"))


@pytest.mark.parametrize(
    ("spec", "shown"),
    [
        ({"every_seconds": 5400}, "every 1 h 30 min"),
        ({"once": "2026-07-06T13:00:00.000Z"}, "once Mon 2026-07-06 09:00 America/New_York"),
        ({"cron": ["@daily", "0 12 * * 0"]}, "@daily | 0 12 * * 0 America/New_York"),
    ],
)
def test_every_kind_of_schedule_is_shown_in_its_zone(
    api: RecordedApi, run: Run, spec: dict[str, Any], shown: str
) -> None:
    api.answer("GET", TASK_PATH, 200, TASK | {"schedule_spec": spec})
    assert f"Schedule  {shown}\n" in ok(run("tasks", "show", TASK_ID))


@pytest.mark.parametrize(
    ("status", "said"),
    [("running", f"Stopping {RUN_ID}\n"), ("success", f"{RUN_ID} had already ended: success\n")],
)
def test_cancelling_a_run_says_whether_it_is_being_stopped(
    api: RecordedApi, run: Run, status: str, said: str
) -> None:
    """P7: a run that had already ended keeps its outcome."""
    api.answer("POST", f"{TASK_PATH}/runs/{RUN_ID}/cancel", 202, RUN | {"status": status})
    assert ok(run("runs", "cancel", RUN_ID)).startswith(said)


def test_the_change_log_names_who_did_what_to_which_fields(api: RecordedApi, run: Run) -> None:
    entry = {
        "revision": 2,
        "at": "2026-01-01T00:00:00.000Z",
        "by": "ada",
        "verb": "edited",
        "fields": {"title": {"old": "Tickets", "new": "Mail"}},
    }
    api.answer("GET", f"{TASK_PATH}/changes", 200, {"items": [entry], "next_cursor": None})
    shown = ok(run("tasks", "changes", TASK_ID))
    assert all(word in shown for word in ("ada", "edited", "title"))


EXPLANATION = {
    "at": "2026-01-05T14:00:00.000Z",
    "decision": "waits",
    "reason": "budget_full",
    "run_id": RUN_ID,
    "rules": [
        {"rule": "status", "verdict": "passes", "detail": "The task is enabled."},
        {"rule": "seat", "verdict": "decides", "detail": "Seats taken: 1 of 1.\nAnd \x1b[31mmore"},
        {"rule": "thread", "verdict": "not_reached", "detail": None},
    ],
}


def test_an_explanation_is_a_table_of_rules_under_what_they_come_to(
    api: RecordedApi, run: Run
) -> None:
    """P8, P14: which rule decides, and why; other people's words steer no terminal."""
    path = f"{TASK_PATH}/explanation"
    api.answer("GET", path, 200, EXPLANATION)
    said, heading, *rules, unasked = ok(run("tasks", "explain", TASK_ID)).splitlines()
    assert said.endswith("here: It is due and waits (budget_full).")
    assert heading.split() == ["RULE", "VERDICT", "WHY"]
    assert [rule.split(maxsplit=1) for rule in rules] == [
        ["status", "passes   The task is enabled."],
        ["seat", "decides  Seats taken: 1 of 1."],
    ]
    assert unasked == "Not reached: thread"
    assert json.loads(ok(run("tasks", "explain", TASK_ID, "--json"))) == EXPLANATION


def test_an_explanation_of_a_time_asks_for_that_time(api: RecordedApi, run: Run) -> None:
    """The API reads the time, in the zone of the task."""
    api.answer("GET", f"{TASK_PATH}/explanation", 200, EXPLANATION | {"decision": "rests"})
    said = ok(run("tasks", "explain", TASK_ID, "--at", "2026-01-05T09:00:00+01:00"))
    assert api.asked[0].query == {"at": ["2026-01-05T09:00:00+01:00"]}
    assert "here: The clock will not start it then, as things stand (budget_full)." in said


def test_a_task_that_tells_somebody_shows_whom(api: RecordedApi, run: Run) -> None:
    notify = {"webhook": "https://hooks.example/a", "on": ["failed"], "changes_only": True}
    api.answer("GET", TASK_PATH, 200, TASK | {"notify": notify})
    output = ok(run("tasks", "show", TASK_ID))
    assert "https://hooks.example/a of failed, changes only\n" in output


def test_my_webhook_key_is_printed_alone(api: RecordedApi, run: Run) -> None:
    api.answer("GET", "/api/webhook-key", 200, {"key": "0a1b"})
    assert ok(run("webhook-key")) == "0a1b\n"
    assert json.loads(ok(run("webhook-key", "--json"))) == {"key": "0a1b"}
