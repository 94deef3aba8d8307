"""`Launcher` and `Inspector`, on the scripted executions and on the engine's Step Functions."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from botocore.config import Config

import builders
from builders import NOW
from nightshift.adapters.stepfunctions.inspector import StepFunctionsInspector
from nightshift.adapters.stepfunctions.launcher import StepFunctionsLauncher, execution_input
from nightshift.domain.errors import LaunchImpossible
from nightshift.domain.exchanged import Execution, LaunchAnswer, LaunchResult
from nightshift.domain.model.enums import Outcome
from nightshift.domain.model.previous import PreviousResult
from nightshift.domain.model.slot import LaunchOrder
from nightshift.domain.ports import Inspector, Launcher
from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.memory import ScriptedExecutions, ScriptedInspector, ScriptedLauncher

ROLE = "arn:aws:iam::000000000000:role/any"
WAITING = {"StartAt": "Wait", "States": {"Wait": {"Type": "Wait", "Seconds": 600, "End": True}}}


@dataclass
class Executions:
    """A launcher and an inspector of the same executions."""

    launcher: Launcher
    inspector: Inspector
    launch_unheard: Callable[[LaunchOrder], LaunchResult]
    launch_forbidden: Callable[[LaunchOrder], LaunchResult]


def scripted() -> Executions:
    """Executions that do as they are told."""
    executions = ScriptedExecutions()
    launcher = ScriptedLauncher(executions, NOW)

    def unheard(order: LaunchOrder) -> LaunchResult:
        executions.lose_next(starts=False)
        return launcher.launch(order)

    def forbidden(order: LaunchOrder) -> LaunchResult:
        executions.forbid_next()
        return launcher.launch(order)

    return Executions(launcher, ScriptedInspector(executions), unheard, forbidden)


def real(engine: Engine) -> Executions:
    """Executions of a machine that waits."""
    client = engine.client("stepfunctions")
    machine: str = client.create_state_machine(
        name=f"contract-{uuid.uuid4().hex}", definition=json.dumps(WAITING), roleArn=ROLE
    )["stateMachineArn"]
    config = Config(connect_timeout=1, retries={"total_max_attempts": 1})
    session: Any = engine.session()
    deaf = session.client("stepfunctions", endpoint_url="http://127.0.0.1:9", config=config)
    return Executions(
        StepFunctionsLauncher(client, machine, silence_seconds=300),
        StepFunctionsInspector(client, machine),
        StepFunctionsLauncher(deaf, machine, silence_seconds=300).launch,
        StepFunctionsLauncher(client, f"{machine}-gone", silence_seconds=300).launch,
    )


@pytest.fixture(params=["scripted", "stepfunctions"])
def executions(request: pytest.FixtureRequest) -> Executions:
    """One implementation."""
    if request.param == "scripted":
        return scripted()
    return real(request.getfixturevalue("engine"))


@pytest.fixture
def order() -> LaunchOrder:
    """The order of one run."""
    task = builders.task()
    return LaunchOrder(slot=builders.slot(task), payload=builders.payload(task))


def test_a_launched_run_is_an_execution_that_runs(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.launch, Inspector.running and describe."""
    assert executions.launcher.launch(order) == LaunchResult(LaunchAnswer.LAUNCHED)
    assert executions.inspector.running() == {order.run_id}
    assert executions.inspector.describe(order.run_id, NOW) == Execution(outcome=None)


def test_a_launch_repeated_with_a_new_lease_is_the_same_execution(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.launch, B93: named after the run, its input equal to the byte."""
    leased = replace(order, slot=replace(order.slot, lease_until=NOW + builders.DAY))
    answers = [executions.launcher.launch(sent).answer for sent in (order, leased, order)]
    assert answers == [LaunchAnswer.LAUNCHED] * 3
    assert executions.inspector.running() == {order.run_id}


@pytest.mark.parametrize("header", [None, "Root=1-65e2f3a4-0123456789abcdef01234567;Sampled=1"])
def test_an_execution_joins_the_trace_of_what_launched_it(
    engine: Engine, order: LaunchOrder, header: str | None
) -> None:
    """SPEC 10: from the API call to the run; a retry in another trace is the same execution."""
    launcher = real(engine).launcher
    assert isinstance(launcher, StepFunctionsLauncher)
    sent: list[dict[str, Any]] = []
    launcher.client.meta.events.register(
        "before-parameter-build.sfn.StartExecution", lambda params, **_: sent.append(dict(params))
    )
    traced = replace(launcher, trace_header=lambda: header)
    assert traced.launch(order).answer is LaunchAnswer.LAUNCHED
    assert launcher.launch(order).answer is LaunchAnswer.LAUNCHED
    assert [asked.get("traceHeader") for asked in sent] == [header, None]
    assert StepFunctionsInspector(launcher.client, launcher.state_machine_arn).running() == {
        order.run_id
    }


def test_a_launch_under_the_name_of_an_ended_execution_starts_nothing(
    executions: Executions, order: LaunchOrder
) -> None:
    """LaunchAnswer.LAUNCHED, B93: it exists, under this name, and has ended."""
    executions.launcher.launch(order)
    executions.launcher.stop(order.run_id)
    assert executions.launcher.launch(order).answer is LaunchAnswer.LAUNCHED
    assert executions.inspector.running() == frozenset()


def test_a_launch_without_an_answer_is_unknown(executions: Executions, order: LaunchOrder) -> None:
    """LaunchAnswer.UNKNOWN: with the reason, and never a verdict."""
    result = executions.launch_unheard(order)
    assert result.answer is LaunchAnswer.UNKNOWN
    assert result.reason


def test_a_machine_that_is_not_there_makes_every_launch_impossible(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.launch: LaunchImpossible is no refusal of this run."""
    with pytest.raises(LaunchImpossible):
        executions.launch_forbidden(order)
    assert executions.inspector.describe(order.run_id, NOW) is None


def test_a_stopped_execution_ended_as_interrupted(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.stop and Inspector.describe, P7."""
    executions.launcher.launch(order)
    executions.launcher.stop(order.run_id)
    execution = executions.inspector.describe(order.run_id, NOW)
    assert execution is not None
    assert execution.outcome is not None
    assert execution.outcome.run_id == order.run_id
    assert execution.outcome.outcome is Outcome.INTERRUPTED
    assert execution.outcome.reason == "cancelled"
    assert executions.inspector.running() == frozenset()


def test_stopping_what_ended_or_never_was_is_no_error(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.stop."""
    executions.launcher.stop(order.run_id)
    executions.launcher.launch(order)
    executions.launcher.stop(order.run_id)
    first = executions.inspector.describe(order.run_id, NOW)
    executions.launcher.stop(order.run_id)
    assert executions.inspector.describe(order.run_id, NOW) == first


def test_an_execution_that_never_was_is_none(executions: Executions, order: LaunchOrder) -> None:
    """Inspector.describe and running."""
    assert executions.inspector.describe(order.run_id, NOW) is None
    assert executions.inspector.running() == frozenset()


def test_an_execution_has_its_address_before_it_exists(
    executions: Executions, order: LaunchOrder
) -> None:
    """Launcher.execution_arn: named after the run, the same before and after."""
    before = executions.launcher.execution_arn(order.run_id)
    executions.launcher.launch(order)
    assert executions.launcher.execution_arn(order.run_id) == before
    assert before.startswith("arn:aws:states:")
    assert before.endswith(f":{order.run_id}")


def test_the_address_is_the_one_that_step_functions_uses(
    engine: Engine, order: LaunchOrder
) -> None:
    """Launcher.execution_arn."""
    executions = real(engine)
    executions.launcher.launch(order)
    arn = executions.launcher.execution_arn(order.run_id)
    described = engine.client("stepfunctions").describe_execution(executionArn=arn)
    assert described["name"] == order.run_id


# -- the previous result --


def handing_on(order: LaunchOrder, output: str = "Three $(rm) `tickets`.") -> LaunchOrder:
    """The order of a run that is handed a result."""
    previous = PreviousResult(
        run_id="tsk_1-before",
        scheduled_for=None,
        finished_at=NOW,
        result={"exit_code": 0, "output": output},
    )
    return replace(order, previous=previous)


def test_a_previous_result_stands_beside_the_prompt_in_the_input(order: LaunchOrder) -> None:
    """SPEC section 8: as data, the prompt as it was."""
    plain, handed = (json.loads(execution_input(each, 300)) for each in (order, handing_on(order)))
    assert plain.pop("previous") is None
    assert handed.pop("previous") == {
        "run_id": "tsk_1-before",
        "scheduled_for": None,
        "finished_at": "2026-03-02T12:00:00.000Z",
        "result": {"exit_code": 0, "output": "Three $(rm) `tickets`."},
    }
    assert plain == handed


def test_a_launch_that_is_repeated_when_the_result_is_gone_is_the_same_launch(
    executions: Executions, order: LaunchOrder
) -> None:
    """SPEC section 6: the name tells executions apart."""
    assert executions.launcher.launch(handing_on(order)).answer is LaunchAnswer.LAUNCHED
    assert executions.launcher.launch(order).answer is LaunchAnswer.LAUNCHED
