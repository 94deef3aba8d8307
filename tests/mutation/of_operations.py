"""What operators rely on, broken one piece at a time: signals, windows, the log of limits."""

from typing import Final

from mutation.breaks import EXECUTIONS, Break, Suite

_NIGHTSHIFT: Final = "layers/nightshift/nightshift"
_CLOCK: Final = f"{_NIGHTSHIFT}/domain/services/clock.py"
_ALARMS: Final[Suite] = ("tests/unit/functions/test_alarms.py",)
_SIGNALS: Final[Suite] = ("tests/unit/functions/test_observability.py",)
_SETTINGS: Final[Suite] = ("tests/unit/functions/test_settings.py",)
_LIMITS: Final[Suite] = ("tests/contract/test_threads_and_policy.py",)
_CLOSED: Final[Suite] = ("tests/architecture/test_template_closed.py",)


def _told(name: str, path: str, before: str, after: str, *suites: Suite, count: int = 1) -> Break:
    return Break(f"operations: {name}", path, before, after, suites, count)


BREAKS: Final = (
    _told(
        "a full budget is told with a seat too few",
        _CLOCK,
        "int(len(slots) >= seats)",
        "int(len(slots) > seats)",
        _ALARMS,
    ),
    _told(
        "the oldest run has no age",
        _CLOCK,
        "_age([slot.admitted_at for slot in slots], look.now)",
        "0.0",
        _ALARMS,
    ),
    _told(
        "a due task that cannot be read is no corrupt row",
        _CLOCK,
        "self._setbacks.block(hint, row.reason, corrupt=True)",
        "self._setbacks.block(hint, row.reason)",
        _ALARMS,
    ),
    _told(
        "the alarm of a silent clock waits for data",
        "template.yaml",
        "TreatMissingData: breaching",
        "TreatMissingData: notBreaching",
        _ALARMS,
    ),
    _told(
        "an alarm watches a metric that nobody sends",
        "template.yaml",
        "MetricName: OldestRunAgeSeconds",
        "MetricName: OldestRunSeconds",
        _ALARMS,
    ),
    _told(
        "what a function starts joins no trace",
        f"{_NIGHTSHIFT}/observability.py",
        '_trace["header"] = trace',
        '_trace["header"] = None',
        _SIGNALS,
    ),
    _told(
        "an execution joins no trace",
        f"{_NIGHTSHIFT}/adapters/stepfunctions/launcher.py",
        '{} if header is None else {"traceHeader": header}',
        "{}",
        EXECUTIONS,
    ),
    _told(
        "a window that its function cuts short is deployed",
        "functions/tick/settings.py",
        "if window + WINDOW_MARGIN_SECONDS > limit:",
        "if False:",
        _SETTINGS,
    ),
    _told(
        "a change of the limits leaves no entry in the log",
        f"{_NIGHTSHIFT}/adapters/dynamodb/policy.py",
        "            Put(_item(logged, override), conditions.ABSENT),\n",
        "",
        _LIMITS,
    ),
    _told(
        "the table answers strangers whom somebody let in",
        "template.yaml",
        "            - Sid: OnlyThisAccount\n              Effect: Deny",
        "            - Sid: OnlyThisAccount\n              Effect: Allow",
        _CLOSED,
    ),
)
