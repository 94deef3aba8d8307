"""How executions are started, asked after and fenced, broken one way at a time."""

from typing import Final

from mutation.breaks import CRASH, EXECUTIONS, FENCE, WORKFLOW, Break

_STEPFUNCTIONS: Final = "layers/nightshift/nightshift/adapters/stepfunctions"
_WORKFLOW: Final = "functions/workflow/run.asl.yaml"


def _launcher(name: str, before: str, after: str) -> Break:
    path = f"{_STEPFUNCTIONS}/launcher.py"
    return Break(f"launch: {name}", path, before, after, (EXECUTIONS, CRASH))


def _workflow(name: str, before: str, after: str) -> Break:
    return Break(f"workflow: {name}", _WORKFLOW, before, after, (FENCE, CRASH, WORKFLOW))


BREAKS: Final = (
    _launcher(
        "under a fresh name",
        "name=order.run_id,",
        "name=order.run_id[:60] + __import__('uuid').uuid4().hex[:12],",
    ),
    _launcher(
        "a name that is taken is taken for a refusal",
        'if code == "ExecutionAlreadyExists":\n'
        "        return LaunchResult(LaunchAnswer.LAUNCHED)\n"
        "    if code in _THIS_INPUT:",
        'if code == "ExecutionAlreadyExists" or code in _THIS_INPUT:',
    ),
    _launcher(
        "no answer is taken for a refusal",
        "return LaunchResult(LaunchAnswer.UNKNOWN, code)",
        "return LaunchResult(LaunchAnswer.REFUSED, code)",
    ),
    _launcher(
        "a missing permission is taken for a time-out",
        "    if is_systemic(error):\n",
        "    if False:\n",
    ),
    _launcher(
        "with other bytes each time",
        '        "nonce": slot.nonce,\n',
        '        "nonce": slot.nonce,\n        "sent": __import__(\'uuid\').uuid4().hex,\n',
    ),
    Break(
        "launch: an execution that is not found is taken for one that runs",
        f"{_STEPFUNCTIONS}/inspector.py",
        'if code_of(error) == "ExecutionDoesNotExist":\n                return None',
        'if code_of(error) == "ExecutionDoesNotExist":\n                return Execution(None)',
        (EXECUTIONS, CRASH),
    ),
    _workflow(
        "the fence is removed",
        "StartAt: Fence\n",
        "StartAt: Work\n",
    ),
    _workflow(
        "the fence ignores who holds the slot",
        'ConditionExpression: "run_id = :run AND nonce = :nonce AND'
        ' attribute_not_exists(cancel_requested)"',
        'ConditionExpression: "attribute_not_exists(cancel_requested) AND (attribute_not_exists(pk)'
        ' OR attribute_exists(pk) OR run_id = :run OR nonce = :nonce)"',
    ),
    _workflow(
        "the fence ignores the nonce",
        "run_id = :run AND nonce = :nonce AND",
        "run_id = :run AND (nonce = :nonce OR attribute_exists(pk)) AND",
    ),
    _workflow(
        "the fence ignores a cancellation",
        " AND attribute_not_exists(cancel_requested)",
        "",
    ),
    _workflow(
        "the fence lets a run pass that is over",
        'ConditionExpression: "nonce = :nonce AND #status IN (:queued, :running)"',
        'ConditionExpression: "nonce = :nonce OR #status IN (:queued, :running)"',
    ),
    _workflow(
        "the fence does not pass a second time",
        "#status IN (:queued, :running)",
        "#status IN (:queued, :queued)",
    ),
    _workflow(
        "an attempt is recorded for a run that is over",
        "nonce = :nonce AND #status = :running AND picked_up",
        "nonce = :nonce AND (#status = :running OR attribute_exists(pk)) AND picked_up",
    ),
    _workflow(
        "an attempt that no worker had is followed by another",
        "picked_up_attempt = :attempt AND attempt IN (:attempt, :next)",
        "attempt IN (:attempt, :next)",
    ),
    _workflow(
        "an attempt cannot be recorded a second time",
        "attempt IN (:attempt, :next)",
        "attempt IN (:attempt, :attempt)",
    ),
    _workflow(
        "every attempt is recorded in the first one's place",
        "attempt = :next REMOVE paused_at', States.MathAdd($.turn.attempt, -1))",
        "attempt = :next REMOVE paused_at', 0)",
    ),
    _workflow(
        "an outcome without an explicit success is one",
        "    Default: FailedWithoutReason\n",
        "    Default: Result\n",
    ),
)
