"""Why a task runs or does not, in sentences: each rule, and times past and to come."""

from dataclasses import replace
from typing import Any

import pytest

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW
from nightshift.domain.commands import EditTask, PauseTask, RegisterThread, ScheduleEdit
from nightshift.domain.errors import TaskNotFound
from nightshift.domain.model.enums import (
    ActionKind,
    Decision,
    Outcome,
    OverlapPolicy,
    Rule,
    TaskStatus,
    Verdict,
)
from nightshift.domain.model.explanation import Explanation
from nightshift.domain.model.task import Task
from worlds import World

DUE = NOW + HOUR


def decider(said: Explanation) -> tuple[Decision, Rule | None, str]:
    """What it comes to, by which rule, and that rule's sentence."""
    details = [word.detail for word in said.rules if word.verdict is Verdict.DECIDES]
    return said.decision, said.decided_by, (details or [""])[0] or ""


def detail(said: Explanation, rule: Rule) -> str:
    """The sentence of a rule."""
    return next(word.detail or "" for word in said.rules if word.rule is rule)


def due(world: World, **fields: Any) -> Task:
    """A task that is due now."""
    task = world.add(builders.task(builders.every(3600), **fields))
    world.now = DUE
    return task


# -- now --


def test_a_due_task_in_nobodys_way_starts(world: World) -> None:
    """Every rule passes, and the run is named that the look will start."""
    task = due(world)
    said = world.explained(task)
    assert (said.decision, said.decided_by) == (Decision.STARTS, None)
    assert {word.verdict for word in said.rules} == {Verdict.PASSES}
    world.look()
    assert said.run_id == world.only_run(task).id


def test_a_pause_is_shown_with_who_why_and_until_when(world: World) -> None:
    """P3: who and why is shown."""
    task = world.created()
    until = "2026-03-03T12:00:00Z"
    command = PauseTask(ALICE, task.id, reason="Holidays.", until=until)
    world.pausing.pause_task(command, world.now)
    sentence = "Paused by alice, 2026-03-02 12:00 UTC, until 2026-03-03 12:00 UTC: Holidays."
    assert decider(world.explained(task)) == (Decision.RESTS, Rule.PAUSE, sentence)
    assert decider(world.explained(task, "2026-03-03T11:00:00Z"))[:2] == (
        Decision.RESTS,
        Rule.PAUSE,
    )
    assert world.explained(task, "2026-03-03T12:00:00Z").decision is Decision.COMES
    world.now = builders.at("2026-03-03T12:00Z")
    assert world.explained(task).decision is Decision.WAKES


def test_a_pause_that_nobody_asked_for_names_nobody(world: World) -> None:
    """P3: whoever paused it once is not who paused it now."""
    task = world.created()
    command = PauseTask(ALICE, task.id, reason="Lunch.", until="2026-03-02T12:30:00Z")
    world.pausing.pause_task(command, world.now)
    world.look(NOW + 30 * MINUTE)
    assert world.read(task).state.status is TaskStatus.ENABLED
    stored = world.read(task)
    plan = stored.plan(TaskStatus.PAUSED, world.now)
    assert world.store.tasks.advance(stored, plan)
    assert decider(world.explained(task)) == (Decision.RESTS, Rule.PAUSE, "Paused.")


def test_a_time_after_the_end_of_a_pause_is_not_laid_to_it(world: World) -> None:
    """P6: the pause was over by then."""
    task = world.created()
    command = PauseTask(ALICE, task.id, until="2026-03-02T12:30:00Z")
    world.pausing.pause_task(command, world.now)
    world.look(NOW + 30 * MINUTE)
    stored = world.read(task)
    world.now = DUE + MINUTE
    assert world.store.tasks.advance(stored, stored.plan(TaskStatus.ENABLED, world.now))
    decision, _, sentence = decider(world.explained(task, "2026-03-02T13:00:00Z"))
    assert decision is Decision.NO_RECORD
    assert "The task was paused then" not in sentence


@pytest.mark.parametrize("status", [TaskStatus.COMPLETED, TaskStatus.FAILED, TaskStatus.CANCELLED])
def test_a_finished_task_rests(world: World, status: TaskStatus) -> None:
    """SPEC section 3: the clock starts what is enabled."""
    task = world.add(builders.in_status(builders.task(), status))
    sentence = f"The task is {status}."
    assert decider(world.explained(task)) == (Decision.RESTS, Rule.STATUS, sentence)


def test_a_blocked_task_says_why(world: World) -> None:
    """P20"""
    task = due(world)
    assert world.store.tasks.block(builders.ref(task), "No shell here.", due_at=DUE)
    said = decider(world.explained(task))
    assert said == (Decision.RESTS, Rule.BLOCKED, "Blocked: No shell here.")


def test_jitter_and_back_off_are_told_apart(world: World) -> None:
    """K1: `due_at` is the next time plus jitter or back-off."""
    task = world.add(builders.task(builders.every(3600), jitter_seconds=900))
    assert task.state.due_at not in (None, DUE)
    assert decider(world.explained(task))[2].endswith("put off by jitter.")
    assert world.store.tasks.back_off(task, DUE + 30 * MINUTE)
    assert decider(world.explained(task))[2].endswith(
        "is due at 2026-03-02 13:30 UTC, put off after a failure to start it."
    )


def test_who_is_ahead_is_counted_and_only_own_tasks_are_named(world: World) -> None:
    """P8: of other people's tasks and runs nothing is told but how many they are."""
    world.add(*(builders.task(number=number, user_id=BOB) for number in range(1, 4)))
    mine = world.add(builders.task(number=4, priority=7), builders.task(number=5))
    last = world.add(builders.task(number=6))
    world.set_policy(max_concurrent_runs=1)
    world.now = DUE
    said = world.explained(last)
    own = f"{mine.id}, {builders.task_id(5)}"
    ahead = f"5 due tasks are ahead of it, 2 of them yours: {own}."
    assert decider(said) == (Decision.WAITS, Rule.LINE, ahead)
    world.look()
    said = world.explained(last)
    (run,) = world.history(mine)
    taken = f"Seats taken: 1 of 1, 1 of them yours: {run.id}. 4 due tasks are ahead of it, 1 of"
    assert decider(said)[:2] == (Decision.WAITS, Rule.SEAT)
    assert decider(said)[2].startswith(taken)
    text = repr(said)
    assert not any(builders.task_id(number) in text for number in range(1, 4))
    assert BOB not in text


def test_a_user_at_their_own_limit_is_told_so(world: World) -> None:
    """P14: a user at their own limit is passed over."""
    world.set_policy(max_concurrent_runs=9, max_concurrent_runs_per_user=1)
    first = due(world)
    world.look()
    task = world.add(builders.task(builders.every(3600), number=2))
    world.now = DUE + MINUTE
    (run,) = world.history(first)
    decision, rule, sentence = decider(world.explained(task))
    assert (decision, rule) == (Decision.WAITS, Rule.USER_LIMIT)
    assert sentence.startswith(f"Your runs at once: 1 of 1: {run.id}.")


@pytest.mark.parametrize(
    ("overlap", "decision", "reason", "words"),
    [
        (OverlapPolicy.SKIP, Decision.SKIPS, "overlap", "is skip, so the occurrence is skipped"),
        (OverlapPolicy.QUEUE_ONE, Decision.WAITS, "waiting_for_previous", "waits for its end"),
        (OverlapPolicy.CANCEL_PREVIOUS, Decision.WAITS, "cancelling_previous", "is cancelled"),
    ],
)
def test_an_overlap_names_the_run_in_the_way_and_the_policy(
    world: World, overlap: OverlapPolicy, decision: Decision, reason: str, words: str
) -> None:
    """P13: also where no seat is left, which nobody needs to be told that."""
    task = due(world, overlap_policy=overlap)
    world.look()
    run_id = world.only_run(task).id
    world.started(run_id)
    world.set_policy(max_concurrent_runs=1)
    world.now = DUE + HOUR
    said = world.explained(task)
    assert (said.decision, said.decided_by, said.reason) == (decision, Rule.OVERLAP, reason)
    assert run_id in decider(said)[2]
    assert words in decider(said)[2]
    asked = "Step Functions is asked first whether that run has ended."
    assert asked in decider(said)[2]


def test_a_busy_thread_is_shown_with_the_run_in_it(world: World) -> None:
    """P17: the run is the same user's, since a thread is."""
    world.threads.register_thread(RegisterThread(ALICE, "talk"), NOW)
    other = world.add(builders.task(builders.every(7200), number=2, thread_id="talk"))
    run = world.trigger(other)
    task = due(world, thread_id="talk")
    decision, rule, sentence = decider(world.explained(task))
    assert (decision, rule) == (Decision.SKIPS, Rule.THREAD)
    assert sentence.startswith(f"{run.id} is active in the thread talk, so it is skipped.")


def test_lateness_is_told_in_seconds(world: World) -> None:
    """P16: from the latest folded instant."""
    task = due(world, max_lateness_seconds=60)
    world.now = DUE + HOUR + 5 * MINUTE
    sentence = "It is 300 seconds late and may be 60."
    assert decider(world.explained(task)) == (Decision.SKIPS, Rule.LATENESS, sentence)


def test_what_policy_forbids_is_said_before_it_is_blocked(world: World) -> None:
    """P20"""
    task = due(world, action_kind=ActionKind.SHELL)
    world.set_policy(allow_shell_actions=False)
    sentence = "Shell actions are switched off by the operator."
    assert decider(world.explained(task)) == (Decision.BLOCKS, Rule.PERMISSION, sentence)


# -- at a time --


def test_a_time_in_the_history_names_its_run_also_where_it_was_folded(world: World) -> None:
    """P6, P15: instants that were folded belong to the record that names them."""
    task = world.add(builders.task(builders.every(3600)))
    world.look(DUE + 2 * HOUR)
    run = world.only_run(task)
    said = world.explained(task, "2026-03-02T13:00:00Z")
    assert decider(said) == (Decision.RECORDED, Rule.RECORD, f"{run.id}: queued.")
    for folded in ("2026-03-02T14:00:00Z", "2026-03-02T15:00:00Z"):
        said = world.explained(task, folded)
        assert said.run_id == run.id
        sentence = f"Folded into {run.id}, which was to run at 2026-03-02 13:00 UTC: queued."
        assert decider(said) == (Decision.RECORDED, Rule.RECORD, sentence)
    between = world.explained(task, "2026-03-02T14:30:00Z")
    assert (between.decision, between.decided_by) == (Decision.NO_OCCURRENCE, Rule.SCHEDULE)


def test_a_tombstone_is_found_with_its_reason_after_the_schedule_changed(world: World) -> None:
    """P6: the record speaks, not the schedule of today."""
    task = due(world, max_lateness_seconds=60)
    world.look(DUE + 5 * MINUTE)
    edit = ScheduleEdit(spec={"every_seconds": 600, "anchor": "2026-03-02T12:05:00Z"})
    world.management.edit_task(EditTask(user_id=ALICE, task_id=task.id, schedule=edit), world.now)
    said = world.explained(task, "2026-03-02T13:00:00Z")
    assert (said.decision, said.reason) == (Decision.RECORDED, "too_late")
    assert decider(said)[2].endswith(": skipped, too_late.")


def test_a_time_without_a_record_says_what_leaves_none(world: World) -> None:
    """P6: instants passed while paused, blocked or before an edit leave none."""
    task = world.created()
    early = world.explained(task, "2026-03-02T11:00:00Z")
    assert decider(early) == (
        Decision.NO_RECORD,
        Rule.RECORD,
        "The task was created later, 2026-03-02 12:00 UTC.",
    )
    world.pausing.pause_task(PauseTask(ALICE, task.id), world.pass_time(MINUTE))
    world.now = DUE + HOUR
    said = decider(world.explained(task, "2026-03-02T13:00:00Z"))
    assert said[2] == "The task was paused then, since 2026-03-02 12:01 UTC, by alice."


def test_a_time_that_waits_to_be_folded_is_explained_as_what_waits(world: World) -> None:
    """P14, P15: it has no record yet, and will be in that of the one that waits."""
    task = due(world)
    world.set_policy(max_concurrent_runs=0)
    world.now = DUE + 2 * HOUR
    said = world.explained(task, "2026-03-02T14:00:00Z")
    assert (said.decision, said.decided_by) == (Decision.WAITS, Rule.KILL_SWITCH)
    assert said.run_id is not None
    assert said.run_id.endswith("20260302T130000000Z")


def test_a_time_to_come_leaves_open_what_only_that_moment_can_tell(world: World) -> None:
    """What is not decided by the schedule is not foretold."""
    task = world.created()
    said = world.explained(task, "2026-03-02T15:00:00Z")
    sentence = "It will be due at 2026-03-02 15:00 UTC."
    assert decider(said) == (Decision.COMES, Rule.DUE, sentence)
    rules = list(Rule)
    for rule in rules[rules.index(Rule.DUE) + 1 :]:
        assert detail(said, rule) == "Only that moment can tell."
    used_up = builders.task(builders.every(3600, max_runs=1), number=2)
    used_up = replace(used_up, state=replace(used_up.state, scheduled_run_count=1))
    world.add(used_up)
    said = world.explained(used_up, "2026-03-02T15:00:00Z")
    assert decider(said) == (Decision.RESTS, Rule.WINDOW, "max_runs is used up.")


def test_a_run_that_has_ended_is_no_longer_in_the_way(world: World) -> None:
    """P13: only an active run is."""
    task = due(world)
    world.look()
    world.ended(world.only_run(task).id, Outcome.SUCCESS)
    world.now = DUE + HOUR
    assert world.explained(task).decision is Decision.STARTS


def test_nobody_elses_task_is_explained(world: World) -> None:
    """P8"""
    task = world.add(builders.task(user_id=BOB))
    with pytest.raises(TaskNotFound):
        world.explained(replace(task, user_id=ALICE))
