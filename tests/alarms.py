"""CloudWatch as far as alarms need it: samples become datapoints, and datapoints a state."""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import stack

STACK: Final = "nightshift-dev"

Dimensions = frozenset[tuple[str, str]]
Statistics: Final[Mapping[str, Callable[[Sequence[float]], float]]] = {
    "Sum": sum,
    "Maximum": max,
    "Minimum": min,
}
_COMPARED: Final[Mapping[str, Callable[[float, float], bool]]] = {
    "GreaterThanOrEqualToThreshold": operator.ge,
    "LessThanThreshold": operator.lt,
}


@dataclass
class CloudWatch:
    """Every sample of every metric, by the minute; a minute begins when a test says so."""

    minutes: list[dict[tuple[str, str, Dimensions], list[float]]] = field(default_factory=list)

    def next_minute(self) -> None:
        """Let a minute begin, in which nothing was measured yet."""
        self.minutes.append({})

    def put(self, namespace: str, name: str, dimensions: Mapping[str, str], value: float) -> None:
        """Measure something in this minute."""
        metric = (namespace, name, frozenset(dimensions.items()))
        self.minutes[-1].setdefault(metric, []).append(value)

    def read_log(self, text: str) -> None:
        """Take the metrics out of lines of a log, as CloudWatch Logs does with EMF."""
        for line in text.splitlines():
            if '"_aws"' not in line:
                continue
            told = json.loads(line)
            for directive in told["_aws"]["CloudWatchMetrics"]:
                [names] = directive["Dimensions"]
                dimensions = {name: told[name] for name in names}
                for metric in directive["Metrics"]:
                    for value in told[metric["Name"]]:
                        self.put(directive["Namespace"], metric["Name"], dimensions, value)

    def rings(self, alarm: Mapping[str, Any]) -> bool:
        """Whether the alarm of the template is in the state ALARM after the last minute.

        M of the last N datapoints breach; one that is missing is what the alarm says it is.
        """
        assert alarm["Period"] == 60, "a datapoint of this CloudWatch is a minute"
        wanted = int(resolved(alarm["EvaluationPeriods"]))
        needed = int(resolved(alarm.get("DatapointsToAlarm", wanted)))
        window = self.minutes[-wanted:]
        return len(window) == wanted and sum(self._breaches(alarm, one) for one in window) >= needed

    def _breaches(
        self,
        alarm: Mapping[str, Any],
        minute: Mapping[tuple[str, str, Dimensions], Sequence[float]],
    ) -> bool:
        samples = minute.get(watched(alarm))
        if not samples:
            return bool(alarm["TreatMissingData"] == "breaching")
        datapoint = Statistics[alarm["Statistic"]](samples)
        compare = _COMPARED[alarm["ComparisonOperator"]]
        return compare(datapoint, float(resolved(alarm["Threshold"])))


def watched(alarm: Mapping[str, Any]) -> tuple[str, str, Dimensions]:
    """The one metric that an alarm watches."""
    dimensions = frozenset(
        (entry["Name"], resolved(entry["Value"])) for entry in alarm["Dimensions"]
    )
    return alarm["Namespace"], alarm["MetricName"], dimensions


def resolved(value: Any) -> str:
    """What a value of the template is in a stack that sets no parameter.

    What only AWS can know stands as its logical name.
    """
    if not isinstance(value, dict):
        return str(value)
    if "Fn::Sub" in value:
        return str(value["Fn::Sub"]).replace("${AWS::StackName}", STACK)
    name = stack.target(value)
    return stack.parameter_defaults().get(name, name)


def service_of(folder: str) -> str:
    """The service under which the metrics of a function go out."""
    variables = stack.functions()[folder]["Environment"]["Variables"]
    return resolved(variables["POWERTOOLS_SERVICE_NAME"])
