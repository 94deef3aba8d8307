"""The bill goes by what is deployed and by what the tests of the paths measured."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

import builders
import execution
import stack
from nightshift.adapters.stepfunctions.launcher import execution_input
from nightshift.domain.model.slot import LaunchOrder
from nightshift.observability import Metric
from nightshift_toolkit.cli.cost import DEPLOYED_ALARMS, DEPLOYED_METRICS
from nightshift_toolkit.cli.root import nightshift
from nightshift_toolkit.costs import prices, units
from nightshift_toolkit.costs.bill import (
    bill_of_an_idle_month,
    bill_of_requests,
    bill_of_runs,
    total,
    unseen,
)


def test_the_transitions_of_a_run_are_those_of_the_definition() -> None:
    """Issue: counted from the definition, for a run that succeeds at its first attempt."""
    task = builders.task()
    order = LaunchOrder(slot=builders.slot(task), payload=builders.payload(task))
    start: dict[str, Any] = json.loads(execution_input(order, 300))
    report = {"outcome": "success", "exit_code": 0, "output": ""}
    answers = {"Fence": {}, "Work": report, "RecordReport": {}}
    ended = execution.run(stack.workflow(), start, answers)
    assert ended.status == "SUCCEEDED"
    assert tuple(ended.visited) == units.STATES_OF_A_SUCCESS


def test_the_idle_month_counts_what_the_template_deploys() -> None:
    """Issue: an idle month is mostly what one pays for watching."""
    alarms = len(stack.resources("AWS::CloudWatch::Alarm"))
    assert alarms <= DEPLOYED_ALARMS <= alarms + 5
    assert len(stack.resources("AWS::CloudWatch::Dashboard")) == 1
    assert len(Metric) <= DEPLOYED_METRICS <= len(Metric) * len(stack.functions())


def test_the_bill_of_runs_is_the_measured_units_times_the_prices() -> None:
    """Issue: derived from measured units; nothing in it grows otherwise than with the runs."""
    found = {(entry.price, entry.what): entry.number for entry in bill_of_runs(1000, minutes=1)}
    writes = units.ADMISSION.writes + units.FENCE.writes + units.PICKUP.writes
    writes += units.END_OF_RUN.writes
    assert found[prices.WRITE, "admission, fence, pickup, end"] == 1000 * writes
    reads = units.BATCHED_READS.reads + units.END_OF_RUN.reads
    assert found[prices.READ, "reading tasks and runs"] == 1000 * reads
    assert found[prices.TRANSITION, "the workflow"] == 1000 * len(units.STATES_OF_A_SUCCESS)
    assert total(bill_of_runs(2000)) == pytest.approx(2 * total(bill_of_runs(1000)))


def test_an_idle_month_pays_for_a_look_each_minute_and_writes_nothing() -> None:
    """SPEC section 6, tick: whatever sleeps in the table."""
    bill = bill_of_an_idle_month(alarms=0, metrics=0, workers=0)
    reads = next(entry.number for entry in bill if entry.price is prices.READ)
    assert reads == 43_200 * (units.IDLE_LOOK.reads + units.FINISHED_SWEEP.reads)
    assert all(entry.price is not prices.WRITE for entry in bill)


def test_the_command_prints_three_bills_their_date_and_what_was_not_looked_up() -> None:
    """Issue: public prices in one file with their date."""
    said = CliRunner().invoke(nightshift, ["cost", "--runs", "10", "--minutes", "5"])
    assert said.exit_code == 0
    assert said.stdout.count("**together**") == 3
    assert f"{prices.REGION} as of {prices.AS_OF}" in said.stdout
    assert all(name in said.stdout for name in unseen())
    assert total(bill_of_requests(10)) > 0


def test_the_readme_shows_what_the_command_says() -> None:
    """Issue: the tables come from the measured units, also where they are copied."""
    readme = (stack.ROOT / "README.md").read_text()
    idle = bill_of_an_idle_month(alarms=DEPLOYED_ALARMS, metrics=DEPLOYED_METRICS)
    for bill in (bill_of_runs(prices.MILLION), bill_of_requests(prices.MILLION), idle):
        assert f"**{total(bill):,.2f}**" in readme
