"""Rules of the domain, broken one at a time."""

from typing import Final

from mutation.breaks import EXPLORER, RULES, SIMULATION, WALKS, Break, Suite

_MODEL: Final = "layers/nightshift/nightshift/domain/model"
_SERVICES: Final = "layers/nightshift/nightshift/domain/services"
_SUITES: Final[tuple[Suite, ...]] = (WALKS, SIMULATION, RULES, EXPLORER)


def _rule(name: str, before: str, after: str, *, path: str, count: int = 1) -> Break:
    return Break(f"rule: {name}", path, before, after, _SUITES, count)


def _dispatch(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/dispatch.py")


def _rulings(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/rulings.py")


def _turns(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/turns.py")


def _lifecycle(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/lifecycle.py")


def _clock(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/clock.py")


def _task(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_MODEL}/task.py")


def _status(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_MODEL}/status.py")


def _setbacks(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_SERVICES}/setbacks.py")


def _pause(name: str, before: str, after: str) -> Break:
    return _rule(name, before, after, path=f"{_MODEL}/pause.py")


BREAKS: Final = (
    # -- pauses that end by themselves --
    _pause(
        "an occurrence at the very end of a pause is lost",
        "task.plan(TaskStatus.ENABLED, until - MILLISECOND)",
        "task.plan(TaskStatus.ENABLED, until)",
    ),
    _pause(
        "a blocked task is put into the line when it is paused until a time",
        "until if state.blocked_reason is None else None",
        "until",
    ),
    _pause(
        "a pause may end when no time is left",
        "schedule.next_after(until - MILLISECOND) is None:",
        "False:",
    ),
    _pause(
        "a pause does not end",
        "return end is not None and end <= now",
        "return False",
    ),
    _task(
        "an edit forgets the end of a pause",
        "blocked_reason=None, due_at=self.state.pause_until",
        "blocked_reason=None",
    ),
    _rule(
        "whoever wakes takes the turn of whoever is due",
        "if hint.wakes or wanted",
        "if wanted",
        path=f"{_SERVICES}/turns.py",
    ),
    # -- overlaps --
    _rulings(
        "an occurrence that queues is skipped",
        'return Ruling(Rule.OVERLAP, Act.LEAVE, "waiting_for_previous")',
        "return Ruling(Rule.OVERLAP, Act.SKIP, SkipReason.OVERLAP)",
    ),
    _rulings(
        "an occurrence does not wait for the confirmation of what it cancelled",
        'return Ruling(Rule.OVERLAP, Act.CANCEL_HOLDER, "cancelling_previous")',
        "return Ruling(Rule.OVERLAP, Act.SKIP, SkipReason.OVERLAP)",
    ),
    _lifecycle(
        "the run before an occurrence is asked to stop and goes on to be launched",
        "        if not self.cancel(slot):\n            return True\n",
        "        self._stop(slot)\n",
    ),
    _rule(
        "runs without a seat of their own do not count for their user",
        "free_seats(held, self._user_limit, numbers.count(None))",
        "free_seats(held, self._user_limit)",
        path=f"{_MODEL}/seats.py",
    ),
    _turns(
        "a user at their limit is not passed over",
        "if hint.wakes or wanted[user_id] < places.room_for(user_id):",
        "if True:",
    ),
    _turns(
        "whoever is due is met without a place",
        "hint.ref.task_id in held and hint.ref.task_id not in met",
        "hint.ref.task_id not in met",
    ),
    # -- who is in the line --
    _rule(
        "a blocked task passes for one that the clock starts",
        "lambda standing: standing.blocked_reason is None",
        "lambda _standing: True",
        path=f"{_MODEL}/standing.py",
    ),
    # -- times --
    _task(
        "the next time is computed from the old next time",
        "max(now, self._occurrence), runs=runs)",
        "self._occurrence, runs=runs)",
    ),
    _task(
        "a clock that is behind repeats an occurrence",
        "max(now, self._occurrence), runs=runs)",
        "now, runs=runs)",
    ),
    _task(
        "the submission check is used to re-plan",
        "        runs = self.state.scheduled_run_count + counted\n",
        "        runs = self.state.scheduled_run_count + counted\n"
        "        stricter = Policy(min_interval_seconds=86_400, min_every_seconds=86_400)\n"
        "        self.definition.schedule.ensure_launchable(now, stricter)\n",
    ),
    _task(
        "max_runs is not held", "return max_runs is not None and runs >= max_runs", "return False"
    ),
    _task(
        "tombstones count towards max_runs",
        "runs = self.state.scheduled_run_count + counted",
        "runs = self.state.scheduled_run_count + 1",
    ),
    _task(
        "lateness is measured from the stored occurrence",
        "latest = folded.through or self._occurrence",
        "latest = self._occurrence",
    ),
    _task("jitter is not applied", "        if not jitter:\n", "        if True:\n"),
    _task(
        "a finished task that is moved is not re-armed",
        "if reshaped or (finished and more_runs):",
        "if not finished and (reshaped or more_runs):",
    ),
    _task(
        "a running `once` task can be edited",
        '        self._ensure_not_running("edited")\n',
        "",
    ),
    _pause(
        "a pause of all tasks wakes what was paused for good",
        "if _is_finished(task) or _sleeps_beyond(task, until):",
        "if _is_finished(task):",
    ),
    _pause(
        "resuming all tasks touches what is not paused",
        "task.resumed(now, policy) if task.state.status is TaskStatus.PAUSED else task",
        "task.resumed(now, policy)",
    ),
    _pause(
        "a running `once` task can be paused",
        'task.ensure_switchable("paused",',
        'task.state.status is TaskStatus.RUNNING or task.ensure_switchable("paused",',
    ),
    _dispatch(
        "a skip does not advance its task",
        "if not self.runs.skip(tombstone, task, plan, notices):",
        "if not self.runs.skip(tombstone, task, Plan(status=task.state.status,"
        " next_run_at=task.state.next_run_at, due_at=task.state.due_at,"
        " tzdata_version=task.state.tzdata_version), notices):",
    ),
    _dispatch(
        "a skipped occurrence counts as a run",
        "plan = task.plan_after_dispatch(skipped, now, counted=False)",
        "plan = task.plan_after_dispatch(skipped, now, counted=True)",
    ),
    # -- states --
    _status(
        "a refused trigger fails a `once` task",
        "return before if once else None",
        "return TaskStatus.FAILED if once else None",
    ),
    _status(
        "a skipped `once` task waits for ever",
        '    """A skipped `once` has lost its only chance."""\n'
        "    return TaskStatus.FAILED if once else None",
        '    """A skipped `once` has lost its only chance."""\n    return None',
    ),
    _status(
        "a `once` task is not running while its run is active",
        "return TaskStatus.RUNNING if once else None",
        "return None",
    ),
    _status(
        "a cancelled `once` task has failed",
        "Outcome.INTERRUPTED: TaskStatus.CANCELLED",
        "Outcome.INTERRUPTED: TaskStatus.FAILED",
    ),
    _status(
        "the end of a run changes a recurring task",
        "return _ONCE_AFTER_COMPLETION[outcome] if once else None",
        "return _ONCE_AFTER_COMPLETION[outcome]",
    ),
    # -- admission and launch --
    _dispatch(
        "a trigger moves the next time of a recurring task",
        "plan = task.plan(launched, now) if launched else None",
        "plan = task.plan(launched or task.state.status, now + timedelta(days=1))",
    ),
    _dispatch(
        "an old holder is not verified before a skip",
        "if holder is None or not holder.is_old(now, policy):",
        "if True:",
    ),
    _dispatch(
        "a slot that is seen is not believed",
        "if due.holder is not None:",
        "if False:",
    ),
    _dispatch(
        "a seat that is taken ends the dispatch",
        "            if put_rest_back(result.answer, place, places):\n                continue\n",
        "            if put_rest_back(result.answer, place, places):\n"
        "                return self._skip(task, SkipReason.OVERLAP, now)\n",
    ),
    _dispatch(
        "an occurrence that has its record is never passed over",
        "self.tasks.advance(task, task.plan_after_dispatch(passed, now, counted=False))",
        "pass",
    ),
    _rule(
        "a task that policy forbids is run",
        "ActionKind.SHELL and not policy.allow_shell_actions:",
        "ActionKind.SHELL and not policy:",
        path=f"{_SERVICES}/admission.py",
    ),
    _lifecycle(
        "an unknown answer is taken for a refusal",
        "if answer.answer is LaunchAnswer.REFUSED:",
        "if answer.answer is not LaunchAnswer.LAUNCHED:",
    ),
    _lifecycle(
        "a refusal is taken for a launch",
        "if answer.answer is LaunchAnswer.REFUSED:",
        "if False:",
    ),
    # -- recovery, verification, cancellation --
    _lifecycle(
        "a launch that is over is tried again",
        "if slot.cancel_requested or slot.launch_is_over(now):",
        "if slot.cancel_requested:",
    ),
    _lifecycle(
        "an execution that is not there yet is written off",
        "        elif slot.launch_is_over(now):\n",
        "        elif True:\n",
    ),
    _lifecycle(
        "an execution that never was keeps its keys",
        "        elif slot.launch_is_over(now):\n",
        "        elif False:\n",
    ),
    _lifecycle(
        "a running execution is ended",
        "if execution is not None and execution.outcome is None:\n            return False",
        "if execution is not None and execution.outcome is None:\n"
        "            execution = None\n"
        "            slot = replace(slot, launch_deadline=now)",
    ),
    _lifecycle(
        "a launch that arrives is written off all the same",
        "        unlaunched = slot.state is SlotState.QUEUED\n",
        "        unlaunched = False\n",
    ),
    _lifecycle(
        "a requested cancellation is not repeated",
        "        if not self.verify(slot, now):\n            self._stop(slot)\n",
        "        self.verify(slot, now)\n",
    ),
    _lifecycle(
        "a run is stopped before its fence is closed",
        "self.runs.request_cancel(slot):",
        "self._stop(slot) is None:",
    ),
    _clock(
        "nothing is recovered",
        "elif slot.needs_launch(look.now):",
        "elif False:",
    ),
    _clock(
        "nothing is verified",
        "elif slot.run_id in suspects:",
        "elif False:",
    ),
    _clock(
        "every run that is not listed is over",
        "partial(self.lifecycle.verify, slot, look.now)",
        "partial(self.lifecycle._refuse, slot, 'gone', look.now)",
    ),
    _setbacks(
        "a task that fails to start keeps its place in the line",
        "self.tasks.back_off(task, now + delay)",
        "pass",
    ),
    _setbacks(
        "a task that cannot be planned is never blocked",
        "if self.tasks.block(hint.ref, reason, due_at=hint.due_at):",
        "if False:",
    ),
    _clock(
        "admissions go on when nothing can be launched",
        "if row is None or look.impossible or not look.has_time():",
        "if row is None or not look.has_time():",
    ),
    _clock(
        "admissions go on when no time is left",
        "if row is None or look.impossible or not look.has_time():",
        "if row is None or look.impossible:",
    ),
    _clock(
        "a full budget hides that a task is still running",
        "if overlapping and not look.impossible:",
        "if False:",
    ),
    # -- seats --
    _rule(
        "a lowered budget is overshot",
        "elif seat + above < limit:",
        "else:",
        path=f"{_MODEL}/seats.py",
    ),
    _rule(
        "the budget has one seat more",
        "elif seat + above < limit:",
        "elif seat + above <= limit:",
        path=f"{_MODEL}/seats.py",
    ),
    _rule(
        "a manual run has the name of an occurrence",
        'return f"{task_id}-{_stamp(now)}-m{suffix}"',
        'return f"{task_id}-{_stamp(now)}"',
        path=f"{_MODEL}/run_ids.py",
    ),
    _rule(
        "a fresh thread is another one each time",
        'return "thr_" + hashlib.blake2b(run_id.encode(), digest_size=16).hexdigest()',
        'return "thr_" + hashlib.blake2b(str(id(object())).encode()).hexdigest() +'
        " str(__import__('time').perf_counter_ns())",
        path=f"{_MODEL}/run_ids.py",
    ),
    _rule(
        "a manual run does not consume its `once` task",
        "consumes_once=not task.recurring,\n        overwritten",
        "consumes_once=not task.recurring and trigger is Trigger.SCHEDULE,\n        overwritten",
        path=f"{_MODEL}/slot.py",
    ),
)
