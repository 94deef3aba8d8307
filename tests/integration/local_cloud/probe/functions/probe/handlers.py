"""Functions that tell what a function sees in the local cloud."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import boto3
from shared.word import WORD  # type: ignore[import-not-found]

TABLE = boto3.resource("dynamodb").Table(os.environ["TABLE_NAME"])


def tell(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Write a row, take as long as asked, and answer with everything seen."""
    print(f"told {context.aws_request_id}")
    began = context.get_remaining_time_in_millis()
    time.sleep(event.get("seconds", 0))
    TABLE.put_item(Item={"pk": context.aws_request_id})
    seen = {
        "event": event,
        "word": WORD,
        "process": os.getpid(),
        "remaining": [began, context.get_remaining_time_in_millis()],
        "row": context.aws_request_id,
    }
    if "rawPath" not in event:
        return seen
    return {
        "statusCode": 200,
        "headers": {"content-type": "application/json"},
        "body": json.dumps(seen),
    }


def fail(event: dict[str, Any], context: Any) -> None:
    """Write a row and raise."""
    TABLE.put_item(Item={"pk": f"failed {context.aws_request_id}"})
    raise RuntimeError("on purpose")
