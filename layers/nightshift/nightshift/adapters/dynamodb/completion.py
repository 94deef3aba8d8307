"""The one transaction that ends a run, and its resending with what still applies (K6)."""

from dataclasses import dataclass, replace
from datetime import timedelta

from pynamodb.expressions.update import Action

from nightshift.adapters.dynamodb import conditions, keys, outbox, task_rows
from nightshift.adapters.dynamodb.items import RunItem, TaskItem
from nightshift.adapters.dynamodb.operations import Delete, Operation, Raw, Update
from nightshift.adapters.dynamodb.table import Table
from nightshift.domain.exchanged import Completion, CompletionAnswer, Ended, Verdict
from nightshift.domain.model.enums import Outcome, RunStatus
from nightshift.domain.model.notice import Outgoing
from nightshift.domain.model.notify import NoticeKind

HISTORY_LIFETIME = timedelta(days=400)
"""How long a terminal run is kept for a task that no longer runs: past a yearly schedule."""
TRIES = 8
"""Each refusal removes one of the six operations, or the pause from one."""


@dataclass(frozen=True, slots=True)
class _Parts:
    """Which operations still apply."""

    run: bool = True
    slot: bool = True
    seat: bool = True
    own_seat: bool = True
    lock: bool = True
    task: bool = True
    pause: bool = True
    task_gone: bool = False
    run_gone: bool = False


def complete(table: Table, completion: Completion) -> CompletionAnswer:
    """Send the end of a run until all of it that applies is written; see `RunStore.complete`."""
    parts = _Parts()
    for _ in range(TRIES):
        named = _operations(completion, parts)
        if not named:
            break
        refusals = table.transact([operation for _, operation in named])
        if refusals is None:
            return CompletionAnswer(recorded=parts.run)
        for (name, _), refusal in zip(named, refusals, strict=True):
            if refusal is None:
                continue
            if name == "run" and completion.outcome.unlaunched and _is_running(refusal.item):
                return CompletionAnswer(recorded=False)
            if name == "task" and parts.pause and _names(refusal.item, completion):
                parts = replace(parts, pause=False)
            else:
                parts = _without(parts, name, refusal.item)
    return CompletionAnswer(recorded=False)


def _without(parts: _Parts, name: str, met: Raw | None) -> _Parts:
    gone = {f"{name}_gone": True} if met is None and name in ("task", "run") else {}
    return replace(parts, **{name: False}, **gone)


def _names(met: Raw | None, completion: Completion) -> bool:
    """Whether the task still names the run, so that its pause alone was refused."""
    return met is not None and met.get("active_run_id") == {"S": completion.outcome.run_id}


def _is_running(met: Raw | None) -> bool:
    return met is not None and met["status"]["S"] == RunStatus.RUNNING.value


def _operations(completion: Completion, parts: _Parts) -> list[tuple[str, Operation]]:
    held = completion.keys
    run_id = completion.outcome.run_id
    named: list[tuple[str, Operation]] = []
    if parts.run:
        named.append(("run", _end_of_run(completion, parts)))
    if parts.slot:
        key = keys.slot(held.task_id, held.slot_shard)
        named.append(("slot", Delete(key, conditions.slot_held_by(run_id))))
    if parts.seat:
        named.append(("seat", Delete(keys.seat(held.seat), conditions.held_by(run_id))))
    if parts.own_seat and held.user_seat is not None:
        own = keys.user_seat(held.user_id, held.user_seat)
        named.append(("own_seat", Delete(own, conditions.held_by(run_id))))
    if parts.lock and held.locked_thread_id is not None:
        key = keys.thread_lock(held.user_id, held.locked_thread_id)
        named.append(("lock", Delete(key, conditions.held_by(run_id))))
    if parts.task:
        untold = parts.run or parts.run_gone
        key = keys.task(held.user_id, held.task_id)
        if untold:
            named.append(("task", _word_for_task(key, completion, pause=parts.pause)))
        else:
            forget = [TaskItem.active_run_id.remove()]
            named.append(("task", Update(key, forget, conditions.names_run(run_id))))
    if parts.task_gone and completion.payload_revision is not None and named:
        payload = keys.payload(held.user_id, held.task_id, completion.payload_revision)
        named.append(("payload", Delete(payload)))
    if parts.run and not parts.task_gone:
        pauses = parts.task and parts.pause and _pause_reason(completion.verdict) is not None
        told = [one for one in completion.notices if pauses or not _tells_a_pause(one)]
        named += [("notice", addition) for addition in outbox.additions(told)]
    return named


def _pause_reason(verdict: Verdict) -> str | None:
    """Why the task is to pause itself; None where it is not."""
    if not isinstance(verdict, Ended) or verdict.streak is None:
        return None
    return verdict.streak.pause_reason(verdict.outcome)


def _tells_a_pause(outgoing: Outgoing) -> bool:
    return outgoing.notice.kind is NoticeKind.AUTO_PAUSED


def _end_of_run(completion: Completion, parts: _Parts) -> Operation:
    outcome = completion.outcome
    key = keys.run(completion.keys.task_id, outcome.run_id)
    unended = conditions.before_the_fence() if outcome.unlaunched else conditions.not_terminal()
    if parts.task_gone:
        return Delete(key, unended)
    actions: list[Action] = [
        RunItem.status.set(outcome.outcome.value),
        RunItem.finished_at.set(outcome.finished_at),
        RunItem.expires_at.set(int((outcome.finished_at + HISTORY_LIFETIME).timestamp())),
        RunItem.pause_requested.remove(),
        RunItem.paused_at.remove(),
    ]
    if outcome.reason is not None:
        actions.append(RunItem.reason.set(outcome.reason))
    if outcome.error is not None:
        actions.append(RunItem.error.set(outcome.error))
    if outcome.result is not None:
        actions.append(RunItem.result.set(dict(outcome.result)))
    return Update(key, actions, unended)


def _word_for_task(key: keys.Key, completion: Completion, *, pause: bool) -> Operation:
    """What the end of its run writes on the task, with the pause that it deserves if `pause`."""
    run_id, verdict = completion.outcome.run_id, completion.verdict
    actions, condition = _told(completion), conditions.names_run(run_id)
    if isinstance(verdict, Ended) and verdict.streak is not None:
        actions += _count_actions(verdict.outcome)
        reason = _pause_reason(verdict)
        if pause and reason is not None:
            actions += task_rows.give_up_actions(reason)
            condition = conditions.gives_up(run_id, verdict.streak)
    return Update(key, actions, condition)


def _count_actions(outcome: Outcome) -> list[Action]:
    """A failure counts on, a success starts anew, a cancelled run leaves the count (section 3)."""
    if outcome is Outcome.FAILED:
        return [TaskItem.failures_in_a_row.add(1)]
    return [TaskItem.failures_in_a_row.remove()] if outcome is Outcome.SUCCESS else []


def _told(completion: Completion) -> list[Action]:
    verdict = completion.verdict
    removed: list[Action] = [TaskItem.active_run_id.remove()]
    if not isinstance(verdict, Ended):
        undone = [*removed, TaskItem.run_count.add(-1)]
        if verdict.restore is None:
            return undone
        return undone + task_rows.restore_actions(completion.keys.task_id, verdict.restore)
    attributes: dict[str, object] = {
        "last_run_id": completion.outcome.run_id,
        "last_status": verdict.outcome.value,
        "last_run_at": verdict.last_run_at,
        "last_thread_id": verdict.last_thread_id,
    }
    if verdict.outcome is Outcome.SUCCESS:
        attributes["last_success_run_id"] = completion.outcome.run_id
    if verdict.status is not None:
        attributes["status"] = verdict.status.value
    return removed + task_rows.assign(attributes) + _error_actions(verdict)


def _error_actions(verdict: Ended) -> list[Action]:
    """A failure shows its error, a success clears it, a cancelled run leaves it as it is."""
    if verdict.outcome is Outcome.FAILED and verdict.error is not None:
        return [TaskItem.last_error.set(verdict.error)]
    return [TaskItem.last_error.remove()] if verdict.outcome is Outcome.SUCCESS else []
