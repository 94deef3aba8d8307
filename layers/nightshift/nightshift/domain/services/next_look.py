"""What the next look of the clock would do about a task, and which rule decides it.

Every condition is asked of the function that decides by it; nothing is done about the answer.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from nightshift.domain.exchanged import AdmissionAnswer, CorruptTask, DueLine, TaskRef
from nightshift.domain.model.change import Change, ChangeVerb, folded
from nightshift.domain.model.enums import Decision, Rule, TaskStatus
from nightshift.domain.model.explanation import Explanation, Walk
from nightshift.domain.model.instants import MILLISECOND, format_instant
from nightshift.domain.model.occurring import Moment, findings
from nightshift.domain.model.override import PolicyInForce
from nightshift.domain.model.pause import wakes_by
from nightshift.domain.model.replanning import by_zone_rules_in_use
from nightshift.domain.model.run_ids import occurrence_run_id
from nightshift.domain.model.slot import Slot, thread_to_lock
from nightshift.domain.model.standing import IN_REACH, kept_from_start
from nightshift.domain.model.task import Payload, Task
from nightshift.domain.policy_source import PolicySource
from nightshift.domain.ports import RunStore, TaskStore
from nightshift.domain.services import reasons
from nightshift.domain.services.admission import as_holder, places_left
from nightshift.domain.services.rulings import Act, Due, Ruling, before_keys, on_key
from nightshift.domain.services.turns import ahead_of, kept_from_turn

LATEST: Final = 20
"""Changes among which the last pause is looked for."""

_DECISIONS: Final = {
    Act.LEAVE: Decision.WAITS,
    Act.CANCEL_HOLDER: Decision.WAITS,
    Act.SKIP: Decision.SKIPS,
    Act.BLOCK: Decision.BLOCKS,
    Act.ADVANCE: Decision.MOVES_ON,
}
_SWITCHES: Final = (ChangeVerb.PAUSED, ChangeVerb.RESUMED)
_BY_ITSELF: Final = "It needs no place to be told that its own run is active."


@dataclass(frozen=True, slots=True)
class _Seen:
    """What one look would read before it decides."""

    in_force: PolicyInForce
    slots: Sequence[Slot]
    line: DueLine

    def holder(self, task_id: str) -> Slot | None:
        return next((slot for slot in self.slots if slot.task_id == task_id), None)

    def in_thread(self, user_id: str, thread_id: str) -> Slot | None:
        for slot in self.slots:
            if (slot.keys.user_id, slot.keys.locked_thread_id) == (user_id, thread_id):
                return slot
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class NextLook:
    """The clock's rules and those of dispatch, asked of one task."""

    tasks: TaskStore
    runs: RunStore
    policies: PolicySource

    def of_unreadable(self, row: CorruptTask, now: datetime) -> Explanation:
        """The clock blocks what it cannot read, when it meets it."""
        seen, walk = self._seen(now), Walk(now)
        detail = f"The task cannot be read: {row.reason}"
        if all(hint.ref != row.ref for hint in seen.line.first):
            return walk.decided(Decision.RESTS, Rule.ROW, detail)
        kept = self._kept_from_turn(row.ref, seen)
        if kept is None:
            return walk.decided(Decision.BLOCKS, Rule.ROW, detail, reason=row.reason)
        return walk.decided(Decision.WAITS, Rule.ROW, detail, reason=_waits_for(kept))

    def of(self, task: Task, payload: Payload | None, walk: Walk, now: datetime) -> Explanation:
        """What the next look of the clock does about a task, if it is now."""
        walk.passes(Rule.ROW, "The task can be read.")
        plan = by_zone_rules_in_use(task, now)
        task = task if plan is None else task.with_plan(plan)
        if wakes_by(task, now):
            detail = reasons.paused(task, self._last_pause(task))
            return walk.decided(Decision.WAKES, Rule.PAUSE, f"{detail} The next look resumes it.")
        kept = kept_from_start(task.state, now)
        self.pass_in_reach(task, kept, walk)
        if kept is not None and kept is not Rule.DUE:
            return walk.decided(Decision.RESTS, kept, self.why_out_of_reach(task, kept))
        if task.state.next_run_at is not None:
            walk.run_id = occurrence_run_id(task.id, task.state.next_run_at)
            for finding in findings(task.definition.schedule, Moment(task.state.next_run_at)):
                if finding.holds:
                    walk.passes(finding.rule, finding.detail)
        detail = reasons.due(task, self._jittered(task))
        if kept is Rule.DUE:
            return walk.decided(Decision.RESTS, kept, detail)
        walk.passes(Rule.DUE, detail)
        seen = self._seen(now)
        kept = self._kept_from_turn(TaskRef(task.user_id, task.id), seen)
        return self._waiting(task, kept, seen, walk) or self._on_its_turn(
            Due(task, payload, seen.holder(task.id)), seen, walk, now
        )

    def _waiting(
        self, task: Task, kept: Rule | None, seen: _Seen, walk: Walk
    ) -> Explanation | None:
        """The explanation of a task whose turn does not come; None when it does."""
        policy = seen.in_force.policy
        hints, whole = ahead_of(TaskRef(task.user_id, task.id), seen.line)
        line = reasons.ahead(hints, task.user_id, whole=whole)
        if kept is None and seen.holder(task.id) is not None:
            for rule in (Rule.KILL_SWITCH, Rule.SEAT, Rule.USER_LIMIT, Rule.LINE):
                walk.passes(rule, _BY_ITSELF)
            return None
        sentences = {
            Rule.KILL_SWITCH: "The operator lets runs start.",
            Rule.SEAT: f"{reasons.seats(policy, seen.slots)}.",
            Rule.USER_LIMIT: f"You may have {policy.max_concurrent_runs_per_user} runs at once.",
            Rule.LINE: line,
        }
        for rule, sentence in sentences.items():
            if rule is not kept:
                walk.passes(rule, sentence)
                continue
            detail = reasons.no_place(rule, task, policy, seen.slots, line)
            if rule is Rule.LINE:
                detail = line
            elif rule is Rule.KILL_SWITCH:
                detail = reasons.stopped(seen.in_force, task)
            return walk.decided(Decision.WAITS, rule, detail, reason=_waits_for(rule))
        return None

    def _on_its_turn(self, due: Due, seen: _Seen, walk: Walk, now: datetime) -> Explanation:
        """What is done about a due task that is met: the rules of dispatch."""
        task, policy = due.task, seen.in_force.policy
        passed = {
            Rule.PERMISSION: "The operator allows it.",
            Rule.PAYLOAD: "Its prompt or command is there.",
            Rule.LATENESS: reasons.late(task, now),
        }
        for rule, ruling in before_keys(due, policy, now):
            if ruling is not None:
                detail = passed[rule] if rule is Rule.LATENESS else ruling.reason
                return self._ruled(ruling, detail, walk)
            walk.passes(rule, passed[rule])
        if due.holder is not None and walk.run_id is not None:
            answer = as_holder(due.holder, walk.run_id)
            same = answer is AdmissionAnswer.TAKEN_ELSEWHERE
            detail = reasons.overlap(task, due.holder, same=same)
            detail += reasons.asks_first(due.holder, now, policy)
            return self._ruled(on_key(task, answer), detail, walk)
        walk.passes(Rule.OVERLAP, "No run of the task is active.")
        run = self.runs.get(task.id, walk.run_id or "")
        if run is not None:
            detail = reasons.recorded(run, task.state.next_run_at or now, task)
            return self._ruled(on_key(task, AdmissionAnswer.RECORDED), detail, walk)
        walk.passes(Rule.RECORD, "The occurrence has no record yet.")
        thread_id = thread_to_lock(task)
        busy = seen.in_thread(task.user_id, thread_id) if thread_id else None
        if busy is not None:
            detail = f"{busy.run_id} is active in the thread {thread_id}, so it is skipped."
            detail += reasons.asks_first(busy, now, policy)
            return self._ruled(on_key(task, AdmissionAnswer.THREAD_BUSY), detail, walk)
        free = f"No run is active in the thread {thread_id}."
        walk.passes(Rule.THREAD, free if thread_id else "Each run has a thread of its own.")
        return walk.decided(Decision.STARTS)

    def pass_in_reach(self, task: Task, kept: Rule | None, walk: Walk) -> None:
        """Note which of the rules pass that let the clock start a task at all."""
        sentences = {
            Rule.PAUSE: "The task is not paused.",
            Rule.STATUS: f"The task is {task.state.status}.",
            Rule.BLOCKED: "Nothing has blocked the task.",
        }
        for rule, _ in IN_REACH:
            if rule is kept:
                return
            walk.passes(rule, sentences[rule])

    def why_out_of_reach(self, task: Task, kept: Rule) -> str:
        """Why the clock does not meet a task."""
        match kept:
            case Rule.PAUSE:
                return reasons.paused(task, self._last_pause(task))
            case Rule.STATUS:
                return f"The task is {task.state.status}."
            case Rule.BLOCKED:
                return f"Blocked: {task.state.blocked_reason}"
            case _:
                return "No time of the schedule is left."

    # -- what the sentences need --

    def _seen(self, now: datetime) -> _Seen:
        return _Seen(self.policies.in_force(), self.runs.slots(), self.tasks.due(now))

    def _kept_from_turn(self, ref: TaskRef, seen: _Seen) -> Rule | None:
        policy = seen.in_force.policy
        held = {slot.task_id for slot in seen.slots}
        return kept_from_turn(ref, seen.line, places_left(seen.slots, policy), held, policy)

    def _last_pause(self, task: Task) -> Change | None:
        """Who paused a task; None where nobody did, since that which stands has another end."""
        entries = self.tasks.changes(task.id, limit=LATEST).items
        switches = [entry for entry in entries if entry.verb in _SWITCHES]
        until = task.state.pause_until
        end = None if until is None else format_instant(until)
        if folded(reversed(entries)).get("pause_until") != end:
            return None
        return switches[0] if switches and switches[0].verb is ChangeVerb.PAUSED else None

    def _jittered(self, task: Task) -> datetime | None:
        """When the next occurrence would be due if no failure had put it off."""
        nominal = task.state.next_run_at
        return nominal and task.plan(TaskStatus.ENABLED, nominal - MILLISECOND).due_at

    def _ruled(self, ruling: Ruling, detail: str, walk: Walk) -> Explanation:
        decision = _DECISIONS[ruling.act]
        return walk.decided(decision, ruling.rule, detail, reason=ruling.reason)


def _waits_for(kept: Rule) -> str:
    return "others_first" if kept is Rule.LINE else "budget_full"
