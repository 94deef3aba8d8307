"""Nothing goes wrong unseen: logs, failure destinations, dead letters, alarms."""

from __future__ import annotations

import json
from typing import Any

import pytest

import stack
from nightshift.adapters.notices.webhook import SECONDS
from nightshift.observability import NAMESPACE, Metric
from notices.handler import RESERVE_SECONDS

FOLDERS = sorted(stack.functions())
QUEUES = stack.resources("AWS::SQS::Queue")
RULES = stack.resources("AWS::Events::Rule")
ALARMS = stack.resources("AWS::CloudWatch::Alarm")
TWO_WEEKS_SECONDS = 1_209_600
BY_OWN_KEY = {"Fn::If": ["HasKey", {"Ref": "KmsKeyArn"}, {"Ref": "AWS::NoValue"}]}


def dead_letter_queues() -> set[str]:
    """The queues into which AWS puts what could not be handled."""
    redriven = [
        stack.target(queue["RedrivePolicy"]["deadLetterTargetArn"])
        for queue in QUEUES.values()
        if "RedrivePolicy" in queue
    ]
    undelivered = [
        stack.target(destination["DeadLetterConfig"]["Arn"])
        for rule in RULES.values()
        for destination in rule["Targets"]
    ]
    failed = [
        stack.target(function["EventInvokeConfig"]["DestinationConfig"]["OnFailure"]["Destination"])
        for function in stack.functions().values()
        if "EventInvokeConfig" in function
    ]
    return {*redriven, *undelivered, *failed}


def alarms_on(metric: str, dimension: dict[str, Any]) -> list[dict[str, Any]]:
    """The alarms that watch one metric of one resource."""
    return [
        alarm
        for alarm in ALARMS.values()
        if alarm["MetricName"] == metric and dimension in alarm["Dimensions"]
    ]


@pytest.mark.parametrize("folder", FOLDERS)
def test_every_function_has_a_log_group_of_its_own_that_forgets_in_time(folder: str) -> None:
    """A group that Lambda makes by itself keeps everything for ever."""
    function = stack.functions()[folder]
    group = stack.resources("AWS::Logs::LogGroup")[
        stack.target(function["LoggingConfig"]["LogGroup"])
    ]
    assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}
    users = [
        name
        for name, other in stack.functions().items()
        if other["LoggingConfig"]["LogGroup"] == function["LoggingConfig"]["LogGroup"]
    ]
    assert users == [folder]


def test_every_log_group_forgets_in_time() -> None:
    """That of the gateway and of the workflow as well."""
    for group in stack.resources("AWS::Logs::LogGroup").values():
        assert group["RetentionInDays"] == {"Ref": "LogRetentionDays"}


def test_workflow_logs_no_execution_data() -> None:
    """Section 10: logs never hold prompts, and an execution's input is one."""
    [machine] = stack.resources("AWS::Serverless::StateMachine").values()
    assert machine["Logging"]["IncludeExecutionData"] is False


def test_failed_tick_is_not_repeated_and_not_lost() -> None:
    """B117: the next minute comes anyway; a replay minutes later would only overlap it."""
    config = stack.functions()["tick"]["EventInvokeConfig"]
    assert config["MaximumRetryAttempts"] == 0
    assert config["MaximumEventAgeInSeconds"] == 60
    assert config["DestinationConfig"]["OnFailure"]["Type"] == "SQS"
    [delivery] = RULES["TickRule"]["Targets"]
    assert delivery["RetryPolicy"] == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}


def test_notices_are_delivered_every_minute_and_a_failure_is_kept() -> None:
    """What is due stays due, so that nothing is repeated but by the next minute."""
    assert RULES["NoticesRule"]["ScheduleExpression"] == "rate(1 minute)"
    [delivery] = RULES["NoticesRule"]["Targets"]
    assert delivery["RetryPolicy"] == {"MaximumRetryAttempts": 0, "MaximumEventAgeInSeconds": 60}
    config = stack.functions()["notices"]["EventInvokeConfig"]
    assert config["MaximumRetryAttempts"] == 0
    assert stack.functions()["notices"]["Timeout"] > RESERVE_SECONDS > SECONDS


def test_failed_completion_is_repeated_for_hours() -> None:
    """B117: the end of a run stays true, so it is told again until it is written down."""
    config = stack.functions()["completion"]["EventInvokeConfig"]
    assert config["MaximumRetryAttempts"] == 2
    assert config["MaximumEventAgeInSeconds"] == 6 * 3600
    [delivery] = RULES["StatusRule"]["Targets"]
    assert delivery["RetryPolicy"]["MaximumRetryAttempts"] > 2
    assert delivery["RetryPolicy"]["MaximumEventAgeInSeconds"] == 6 * 3600


def test_clock_strikes_every_minute() -> None:
    """P17: a run starts at the first tick after it is due."""
    rule = RULES["TickRule"]
    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert rule["State"] == "ENABLED"
    assert stack.target(rule["Targets"][0]["Arn"]) == "TickFunction"


def test_ends_that_no_record_step_can_tell_reach_the_completion() -> None:
    """Section 6: failed, timed out and stopped executions, of this machine and no other."""
    pattern = RULES["StatusRule"]["EventPattern"]
    assert pattern["source"] == ["aws.states"]
    assert pattern["detail-type"] == ["Step Functions Execution Status Change"]
    assert pattern["detail"]["stateMachineArn"] == [{"Ref": "Workflow"}]
    assert set(pattern["detail"]["status"]) == {"FAILED", "TIMED_OUT", "ABORTED"}
    assert stack.target(RULES["StatusRule"]["Targets"][0]["Arn"]) == "CompletionFunction"


@pytest.mark.parametrize("rule", RULES)
def test_rule_may_call_its_function_and_keep_what_it_cannot_deliver(rule: str) -> None:
    """Without the permission events vanish; without the queue policy so do the dead letters."""
    [delivery] = RULES[rule]["Targets"]
    source = {"Fn::GetAtt": [rule, "Arn"]}
    permissions = stack.resources("AWS::Lambda::Permission").values()
    assert {
        "FunctionName": {"Ref": stack.target(delivery["Arn"])},
        "Action": "lambda:InvokeFunction",
        "Principal": "events.amazonaws.com",
        "SourceArn": source,
    } in permissions
    queue = stack.target(delivery["DeadLetterConfig"]["Arn"])
    statements = [
        statement
        for policy in stack.resources("AWS::SQS::QueuePolicy").values()
        if {"Ref": queue} in policy["Queues"]
        for statement in policy["PolicyDocument"]["Statement"]
    ]
    assert any(
        statement["Principal"] == {"Service": "events.amazonaws.com"}
        and statement["Action"] == "sqs:SendMessage"
        and statement["Condition"] == {"ArnEquals": {"aws:SourceArn": source}}
        for statement in statements
    )


def test_every_asynchronous_source_has_dead_letters() -> None:
    """The rules, the functions called by them, and the queue of the workers."""
    letters = dead_letter_queues()
    assert letters == {
        "TickDeadLetters",
        "CompletionDeadLetters",
        "NoticesDeadLetters",
        "WorkerDeadLetters",
    }
    assert set(QUEUES) == letters | {"WorkerQueue"}
    called = {stack.target(rule["Targets"][0]["Arn"]) for rule in RULES.values()}
    for folder, function in stack.functions().items():
        assert ("EventInvokeConfig" in function) == (stack.logical_name(folder) in called)


@pytest.mark.parametrize("queue", sorted(dead_letter_queues()))
def test_dead_letters_are_kept_two_weeks_and_the_first_one_alarms(queue: str) -> None:
    """A person has time to read what went wrong, and hears of it."""
    assert QUEUES[queue]["MessageRetentionPeriod"] == TWO_WEEKS_SECONDS
    name = {"Name": "QueueName", "Value": {"Fn::GetAtt": [queue, "QueueName"]}}
    [alarm] = alarms_on("ApproximateNumberOfMessagesVisible", name)
    assert alarm["Threshold"] == 1
    assert alarm["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert alarm["EvaluationPeriods"] == 1


@pytest.mark.parametrize("queue", QUEUES)
def test_queue_is_encrypted(queue: str) -> None:
    """Messages hold prompts. By a key of the operator's where there is one."""
    assert QUEUES[queue]["KmsMasterKeyId"] == BY_OWN_KEY
    nothing = {"Ref": "AWS::NoValue"}
    assert QUEUES[queue]["SqsManagedSseEnabled"] == {"Fn::If": ["HasKey", nothing, True]}


@pytest.mark.parametrize("metric", ["Errors", "Throttles"])
@pytest.mark.parametrize("folder", FOLDERS)
def test_every_function_alarms_when_it_fails_or_is_throttled(folder: str, metric: str) -> None:
    """B121: an error is never only a line in a log."""
    name = {"Name": "FunctionName", "Value": {"Ref": stack.logical_name(folder)}}
    assert len(alarms_on(metric, name)) == 1


def test_silent_clock_alarms() -> None:
    """B118: no data is the alarm."""
    [alarm] = [alarm for alarm in ALARMS.values() if alarm["MetricName"] == Metric.TICKS]
    assert alarm["TreatMissingData"] == "breaching"
    assert alarm["ComparisonOperator"] == "LessThanThreshold"
    assert alarm["Threshold"] == 1


def test_budget_that_is_too_small_alarms() -> None:
    """Section 10: rare tasks that silently run less often show as an old due task."""
    [alarm] = [
        alarm for alarm in ALARMS.values() if alarm["MetricName"] == Metric.OLDEST_DUE_AGE_SECONDS
    ]
    assert alarm["Statistic"] == "Maximum"
    assert alarm["Threshold"] == {"Ref": "OldestDueAlarmSeconds"}


@pytest.mark.parametrize(
    "name", [name for name, alarm in ALARMS.items() if alarm["Namespace"] == NAMESPACE]
)
def test_alarm_watches_a_metric_that_the_code_sends_under_that_service(name: str) -> None:
    """A misspelt metric has no data, and its alarm never rings."""
    alarm = ALARMS[name]
    assert alarm["MetricName"] in set(Metric)
    [dimension] = alarm["Dimensions"]
    assert dimension["Name"] == "service"
    services = [
        function["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"]
        for function in stack.functions().values()
    ]
    assert dimension["Value"] in services


@pytest.mark.parametrize("name", ALARMS)
def test_alarm_says_what_happened_and_tells_the_topic_if_there_is_one(name: str) -> None:
    """The message is read by somebody who was asleep."""
    alarm = ALARMS[name]
    assert alarm["AlarmDescription"].endswith(".")
    told = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
    assert alarm["AlarmActions"] == alarm["OKActions"] == told


def test_dashboard_shows_every_alarm_and_every_metric_of_ours() -> None:
    """One page from which an operator sees whether the house stands."""
    [dashboard] = stack.resources("AWS::CloudWatch::Dashboard").values()
    widgets = json.loads(dashboard["DashboardBody"]["Fn::Sub"])["widgets"]
    [alarms] = [widget["properties"]["alarms"] for widget in widgets if widget["type"] == "alarm"]
    assert sorted(alarms) == sorted(f"${{{name}.Arn}}" for name in ALARMS)
    charts = [widget["properties"] for widget in widgets if widget["type"] == "metric"]
    shown = [line for chart in charts for line in chart["metrics"]]
    assert {line[1] for line in shown if line[0] == NAMESPACE} >= {*Metric} - {Metric.BUDGET_FULL}
    places = {(widget["x"], widget["y"]) for widget in widgets}
    assert len(places) == len(widgets)


def test_dashboard_names_metrics_as_the_alarms_and_the_functions_do() -> None:
    """A misspelt dimension shows an empty chart, which looks like peace."""
    [dashboard] = stack.resources("AWS::CloudWatch::Dashboard").values()
    services = {f"${{AWS::StackName}}-{folder}" for folder in FOLDERS}
    watched = {(alarm["Namespace"], alarm["MetricName"]) for alarm in ALARMS.values()}
    for widget in json.loads(dashboard["DashboardBody"]["Fn::Sub"])["widgets"]:
        for namespace, metric, dimension, value, *_ in widget["properties"].get("metrics", []):
            if namespace == NAMESPACE:
                assert dimension == "service"
                assert value in services
                assert metric in set(Metric)
            elif (namespace, metric) in watched:
                [kind] = {
                    entry["Name"]
                    for alarm in ALARMS.values()
                    if (alarm["Namespace"], alarm["MetricName"]) == (namespace, metric)
                    for entry in alarm["Dimensions"]
                }
                assert dimension == kind
