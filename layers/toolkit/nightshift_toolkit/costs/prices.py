"""Public list prices, all in one place: US dollars, without free tiers, discounts and taxes."""

from dataclasses import dataclass
from typing import Final

REGION: Final = "us-east-1"
AS_OF: Final = "2026-12-01"
MILLION: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Price:
    """What one of the units of a service costs; `seen` says where that was read, if it was."""

    service: str
    units: str
    dollars: float
    seen: str | None = None


TRANSITION: Final = Price(
    "Step Functions", "transitions", 25 / MILLION, "aws.amazon.com/step-functions/pricing"
)
WRITE: Final = Price(
    "DynamoDB", "write units", 0.625 / MILLION, "reports of the price cut of November 2024"
)
READ: Final = Price(
    "DynamoDB", "read units", 0.125 / MILLION, "reports of the price cut of November 2024"
)
INVOCATION: Final = Price("Lambda", "invocations", 0.20 / MILLION)
GB_SECOND: Final = Price("Lambda arm64", "GB-seconds", 0.0000133334)
QUEUE_REQUEST: Final = Price("SQS", "requests", 0.40 / MILLION)
API_REQUEST: Final = Price("API Gateway HTTP API", "requests", 1.00 / MILLION)
LOG_GB: Final = Price("CloudWatch logs", "GB", 0.50)
METRIC: Final = Price("CloudWatch metrics", "metric-months", 0.30)
ALARM: Final = Price("CloudWatch alarms", "alarm-months", 0.10)
DASHBOARD: Final = Price("CloudWatch dashboard", "dashboard-months", 3.00)
