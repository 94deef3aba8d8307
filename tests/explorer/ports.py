"""The ports as actors see them: every call is a place where another actor may come first."""

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from explorer.rows import Rows
from explorer.stage import Call, Stage, about
from nightshift.domain.exchanged import Admission, Completion, TaskRef
from nightshift.domain.model.run import Run
from nightshift.domain.model.run_ids import task_id_of
from nightshift.domain.model.slot import Slot
from nightshift.domain.model.task import Task

if TYPE_CHECKING:
    from nightshift.domain.policy_source import PolicySource
    from nightshift.domain.ports import RunStore, TaskStore, ThreadStore


def _call(operation: str, *, reads: str = "", writes: str = "") -> Call:
    return Call(operation, frozenset(reads.split()), frozenset(writes.split()))


_CALLS: Final = (
    _call("tasks.create", reads="threads", writes="tasks payloads"),
    _call("tasks.get", reads="tasks"),
    _call("tasks.list", reads="tasks"),
    _call("tasks.payload", reads="payloads"),
    _call("tasks.replace", reads="keys threads", writes="tasks payloads"),
    _call("tasks.switch", writes="tasks"),
    _call("tasks.delete", reads="keys", writes="tasks payloads runs"),
    _call("tasks.due", reads="tasks"),
    _call("tasks.crowd", reads="tasks"),
    _call("tasks.read", reads="tasks payloads"),
    _call("tasks.advance", writes="tasks"),
    _call("tasks.wake", writes="tasks"),
    _call("tasks.back_off", writes="tasks"),
    _call("tasks.block", writes="tasks"),
    _call("runs.admit", writes="tasks runs keys places"),
    _call("runs.skip", writes="tasks runs"),
    _call("runs.slots", reads="keys"),
    _call("runs.slot", reads="keys"),
    _call("runs.take_lease", writes="keys"),
    _call("runs.request_cancel", writes="keys"),
    _call("runs.request_pause", writes="runs"),
    _call("runs.complete", reads="places", writes="tasks payloads runs keys"),
    _call("runs.get", reads="runs"),
    _call("runs.list", reads="runs"),
    _call("runs.prune", writes="runs"),
    _call("threads.get", reads="threads"),
    _call("threads.register", writes="threads"),
    _call("policies.current", reads="policy"),
    _call("policies.in_force", reads="policy"),
    _call("policies.change", writes="policy"),
    _call("cloud.launch", writes="executions"),
    _call("cloud.start", writes="executions"),
    _call("cloud.stop", writes="executions"),
    _call("cloud.running", reads="executions"),
    _call("cloud.describe", reads="executions"),
    _call("execution.fence", writes="runs keys executions"),
    _call("execution.work", writes="executions"),
    _call("execution.pick_up", writes="runs executions"),
    _call("execution.record", writes="runs executions"),
    _call("execution.wait", writes="executions"),
    _call("worker.beat", reads="executions"),
    _call("worker.look", reads="runs"),
    _call("worker.note", writes="runs"),
    _call("execution.end", writes="executions"),
)
CALLS: Final = {call.operation: call for call in _CALLS}
"""Every place to switch, by name."""
_METHODS: Final = {
    kind: {
        call.operation.removeprefix(f"{kind}."): call
        for call in _CALLS
        if call.operation.startswith(f"{kind}.")
    }
    for kind in ("tasks", "runs", "threads", "policies")
}


def about_run(operation: str, run_id: str) -> Call:
    """A call that concerns one run."""
    return about(CALLS[operation], task_id_of(run_id))


class Ports:
    """The four ports of a store, guarded by a stage."""

    def __init__(self, stage: Stage, rows: Rows) -> None:
        self.tasks: TaskStore = _guarded(stage, "tasks", rows.tasks)
        self.runs: RunStore = _guarded(stage, "runs", rows.runs)
        self.threads: ThreadStore = _guarded(stage, "threads", rows.threads)
        self.policies: PolicySource = _guarded(stage, "policies", rows.policies)


def _guarded(stage: Stage, kind: str, port: object) -> Any:
    """A port with exactly the methods named in `CALLS`, each guarded."""
    return SimpleNamespace(
        **{
            method: stage.guarded(call, getattr(port, method), _subject_of)
            for method, call in _METHODS[kind].items()
        }
    )


def _subject_of(*arguments: object) -> str | None:
    """The task that a call of a port is about, by its first argument."""
    match arguments[0] if arguments else None:
        case TaskRef(task_id=task_id) | Slot(task_id=task_id) | Task(id=task_id):
            return task_id
        case Admission(slot=slot):
            return slot.task_id
        case Completion(keys=keys):
            return keys.task_id
        case Run(task_id=task_id):
            return task_id
        case str(task_id):
            return task_id
        case _:
            return None
