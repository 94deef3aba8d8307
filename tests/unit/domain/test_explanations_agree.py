"""What an explanation says of the next look is what that look does, in many states of the world."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from random import Random
from typing import Any

import builders
from builders import ALICE, BOB, HOUR, MINUTE, NOW
from nightshift.domain.commands import RegisterThread
from nightshift.domain.errors import NeverFires, ThreadBusy
from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import (
    ActionKind,
    Decision,
    OverlapPolicy,
    Rule,
    RunStatus,
    TaskStatus,
)
from nightshift.domain.model.explanation import Explanation
from nightshift.domain.model.task import Plan, Task
from worlds import World

DUE = NOW + HOUR
STATES = 1500
"""How many worlds are drawn; each has up to eight tasks."""
NEVER_NOW = {"window", "exclusion", "schedule"}
"""Rules that decide about a time that is asked about; a next time has passed them."""

OF_OTHER_TIMES = {
    *(Decision.COMES, Decision.RECORDED, Decision.NO_OCCURRENCE, Decision.NO_RECORD),
}


@dataclass(frozen=True)
class Before:
    """A task, what was said of it, and how it stood when that was said."""

    task: Task
    said: Explanation
    corrupt: bool
    runs: frozenset[str]


def drawn(random: Random, number: int) -> Task:
    """A task of somebody: any kind, any priority, any way of standing in its own way."""
    lateness = random.choice([None, None, 60, 7200])
    schedules = (builders.hourly(), builders.every(3600), builders.once(DUE), builders.every(5400))
    fields: dict[str, Any] = {
        "priority": random.choice([5, 5, 7]),
        "overlap_policy": random.choice(list(OverlapPolicy)),
        "max_lateness_seconds": lateness,
        "action_kind": random.choice([ActionKind.AGENT] * 3 + [ActionKind.SHELL]),
        "jitter_seconds": random.choice([0, 0, 600]),
    }
    if random.random() < 0.4:
        fields["thread_id"] = random.choice(["one", "two"])
    user_id = random.choice([ALICE, ALICE, BOB])
    return builders.task(schedules[random.randrange(4)], number=number, user_id=user_id, **fields)


def put(world: World, random: Random, task: Task) -> bool:
    """Put a task into the world in one of the ways it may stand; whether its row is unreadable."""
    fate = random.choice(
        ["enabled"] * 6
        + ["paused", "paused until", "blocked", "finished", "recorded", "no payload", "corrupt"]
    )
    if fate in ("paused", "finished"):
        status = TaskStatus.PAUSED if fate == "paused" else TaskStatus.COMPLETED
        task = builders.in_status(task, status)
    world.add(task)
    if task.recurring and random.random() < 0.4:
        with suppress(ThreadBusy):
            world.started(world.trigger(task).id)
    stored, ref = world.read(task), TaskRef(task.user_id, task.id)
    if fate == "blocked" and stored.state.due_at is not None:
        assert world.store.tasks.block(ref, "for a test", due_at=stored.state.due_at)
    if fate == "paused until":
        until = DUE - MINUTE * random.choice([0, 1])
        with suppress(NeverFires):
            assert world.store.tasks.switch(stored, stored.paused("a while", NOW, until))
    if fate == "recorded":
        state = stored.state
        stays = Plan(
            status=state.status,
            next_run_at=state.next_run_at,
            due_at=state.due_at,
            tzdata_version=state.tzdata_version,
        )
        assert world.store.runs.skip(builders.tombstone(stored), stored, stays)
    if fate == "no payload":
        world.store.lose_payload(ref, task.definition.payload_revision)
    if fate == "corrupt":
        world.store.corrupt_task(ref)
    return fate == "corrupt"


def a_world(random: Random) -> tuple[World, dict[str, Before]]:
    """Some tasks of two people, of which some run, and what is said of each before a look."""
    world = World(policy=builders.policy(max_concurrent_runs=50))
    for user_id, thread_id in product((ALICE, BOB), ("one", "two")):
        world.threads.register_thread(RegisterThread(user_id, thread_id), NOW)
    there = []
    for number in range(1, random.choice([2, 5, 9])):
        task = drawn(random, number)
        there.append((task, put(world, random, task)))
    world.set_policy(
        max_concurrent_runs=random.choice([0, 1, 2, 3, 5, 9, 20]),
        max_concurrent_runs_per_user=random.choice([1, 2, 5000]),
        allow_shell_actions=random.choice([True, True, False]),
    )
    world.now = DUE + random.choice([-MINUTE, 0 * MINUTE, 0 * MINUTE, 5 * MINUTE, 3 * HOUR])
    before = {}
    for task, corrupt in there:
        said = world.explained(task)
        stored = task if corrupt else world.read(task)
        runs = frozenset(run.id for run in world.history(task))
        before[task.id] = Before(stored, said, corrupt, runs)
    return world, before


@dataclass(frozen=True)
class Done:
    """What a look did about a task."""

    exits: tuple[tuple[str, object], ...]
    made: tuple[tuple[str, RunStatus, str | None], ...]
    moved: bool
    interrupted: bool = False


def done(world: World, before: Before) -> Done:
    """What was told of a task since the look began, and what it left."""
    task = before.task
    exits = tuple(
        (event.action, event.facts.get("reason"))
        for event in world.events
        if event.facts.get("task_id") == task.id
        and (event.action.startswith("dispatch_") or event.action in ("task_blocked", "task_woken"))
    )
    made = tuple(
        (run.id, run.status, run.reason) for run in world.history(task) if run.id not in before.runs
    )
    moved = not before.corrupt and world.read(task).state != task.state
    interrupted = any(run.status is RunStatus.INTERRUPTED for run in world.history(task))
    return Done(exits, made, moved, interrupted)


NOTHING = Done((), (), moved=False)


def is_as_said(before: Before, now: Done, others: dict[str, Done]) -> bool:
    """Whether a look did about a task what was said of it."""
    said, run_id, reason = before.said.decision, before.said.run_id, before.said.reason
    match said:
        case Decision.STARTS:
            first_there = _thread_is_taken(before, others)
            return now.made == ((run_id, RunStatus.QUEUED, None),) or (
                first_there and now.made == ((run_id, RunStatus.SKIPPED, "thread_busy"),)
            )
        case Decision.SKIPS:
            made = () if run_id in before.runs else ((run_id, RunStatus.SKIPPED, reason),)
            return (now.exits, now.made) == ((("dispatch_skipped", reason),), made)
        case Decision.BLOCKS | Decision.MOVES_ON:
            word = "task_blocked" if said is Decision.BLOCKS else "dispatch_conflict"
            return now.exits == ((word, reason),) and not now.made
        case Decision.WAKES:
            return now.exits[:1] == (("task_woken", None),)
        case Decision.RESTS:
            return now == NOTHING
        case _:
            return _waited(before, now, others)


def _waited(before: Before, now: Done, others: dict[str, Done]) -> bool:
    """Whether it stayed due, or what it waited for came true within the look."""
    reason = before.said.reason
    if reason == "cancelling_previous":
        return now.interrupted
    if reason == "others_first" and now != NOTHING:
        exits = [other.exits for name, other in others.items() if name != before.task.id]
        return any(told and told[0][0] != "dispatch_launched" for told in exits)
    if reason in ("budget_full", "others_first"):
        return now == NOTHING
    return now == Done((("dispatch_conflict", reason),), (), moved=False)


def _thread_is_taken(before: Before, others: dict[str, Done]) -> bool:
    """Whether another run of the look may have come first in the thread."""
    return before.task.definition.thread_id is not None and any(
        made[1] is RunStatus.QUEUED
        for name, other in others.items()
        for made in other.made
        if name != before.task.id
    )


def test_what_a_look_does_is_what_was_said_of_it() -> None:
    """P13-P20: from the code that really decides; every decision and every rule was met."""
    decisions: Counter[tuple[str, str]] = Counter()
    for seed in range(STATES):
        world, tasks = a_world(Random(seed))  # noqa: S311
        world.events.clear()
        world.look()
        looked = {name: done(world, before) for name, before in tasks.items()}
        for name, before in tasks.items():
            said = before.said
            assert is_as_said(before, looked[name], looked), (seed, said, looked[name])
            decisions[said.decision, str(said.decided_by)] += 1
    assert {decision for decision, _ in decisions} == set(Decision) - OF_OTHER_TIMES
    assert {rule for _, rule in decisions} == {"None", *(str(rule) for rule in Rule)} - NEVER_NOW
