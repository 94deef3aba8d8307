"""DynamoDB and Step Functions below botocore, which signs and parses while nothing is sent.

It understands the requests of a tick and keeps the rows, so that conditions hold or refuse as they
would on AWS. Each call takes as long as it is told to, without using the processor.
"""

import json
import re
import threading
import time
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders

DYNAMODB_SECONDS: Final = 0.005
STEP_FUNCTIONS_SECONDS: Final = 0.025
Row = dict[str, Any]

_EQUALS = re.compile(r"(#\w+) = (:\w+)")
_EXISTS = re.compile(r"attribute_exists \((#\w+)\)")
_ABSENT = re.compile(r"attribute_not_exists \((#\w+)\)")
_CLAUSE = re.compile(r"(SET|REMOVE|ADD) (.+?)(?= (?:SET|REMOVE|ADD) |$)")


class Refused(Exception):
    """The service's refusal of a request."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__(body["__type"])
        self.body = body


@dataclass
class StubAws:
    """One table with its due index, and executions that start and do nothing else."""

    dynamodb_seconds: float = DYNAMODB_SECONDS
    step_functions_seconds: float = STEP_FUNCTIONS_SECONDS
    rows: dict[str, dict[str, Row]] = field(default_factory=lambda: defaultdict(dict))
    started: Counter[str] = field(default_factory=Counter)
    calls: Counter[str] = field(default_factory=Counter)
    scanned: int = 0
    forgetful: bool = False  # answers as if all was written, and keeps none of it
    own_seconds: float = 0.0  # of processor time, spent in here instead of on AWS

    def __post_init__(self) -> None:
        self._due: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._lock = threading.Lock()
        self._operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "GetItem": self._get,
            "BatchGetItem": self._get_many,
            "Query": self._query,
            "TransactWriteItems": self._transact,
            "StartExecution": self._start,
        }

    def attach(self, *clients: Any) -> None:
        """Let these clients of botocore end here instead of on a socket."""
        for client in clients:
            client._endpoint.http_session = self

    def put(self, row: Row) -> None:
        """Store a row without asking."""
        self._store(row["pk"]["S"], row["sk"]["S"], row)

    def end_all(self) -> None:
        """Let every active run end: its keys are free, its task names none."""
        with self._lock:
            for pk in [pk for pk in self.rows if pk.startswith(("ACTIVE#", "SEAT#"))]:
                del self.rows[pk]

    # -- what botocore asks of a session --

    def send(self, request: AWSPreparedRequest) -> AWSResponse:
        """The answer to a signed request, after the time that it takes on AWS."""
        target = request.headers["X-Amz-Target"]
        target = target.decode() if isinstance(target, bytes) else target
        service, _, operation = target.partition(".")
        on_table = service.startswith("DynamoDB")
        latency = self.dynamodb_seconds if on_table else self.step_functions_seconds
        if latency:
            time.sleep(latency)
        began = time.thread_time()
        wanted = json.loads(cast("bytes", request.body))
        status = 200
        with self._lock:
            self.calls[operation] += 1
            try:
                answer = self._operations[operation](wanted)
            except Refused as refusal:
                status, answer = 400, refusal.body
        raw = _Raw(json.dumps(answer).encode())
        response = AWSResponse(request.url, status, HTTPHeaders(), raw)
        with self._lock:
            self.own_seconds += time.thread_time() - began
        return response

    def close(self) -> None:
        """Nothing is open."""

    # -- operations --

    def _get(self, wanted: dict[str, Any]) -> dict[str, Any]:
        row = self._row(wanted["Key"])
        return {} if row is None else {"Item": row}

    def _get_many(self, wanted: dict[str, Any]) -> dict[str, Any]:
        ((table, asked),) = wanted["RequestItems"].items()
        found = [row for key in asked["Keys"] if (row := self._row(key)) is not None]
        return {"Responses": {table: found}, "UnprocessedKeys": {}}

    def _query(self, wanted: dict[str, Any]) -> dict[str, Any]:
        values = {name: value["S"] for name, value in wanted["ExpressionAttributeValues"].items()}
        found = self._due_page(wanted, values) if "IndexName" in wanted else None
        if found is None:
            partition = self.rows.get(values[":pk"], {})
            items = [partition[sk] for sk in sorted(partition)]
            found = {"Items": items, "Count": len(items), "ScannedCount": len(items)}
        self.scanned += found["ScannedCount"]
        return found

    def _due_page(self, wanted: dict[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
        entries = self._due.get(values[":bucket"], [])
        last = wanted.get("ExclusiveStartKey")
        position = (last["due_key"]["S"], last["pk"]["S"]) if last else ("", "")
        start = bisect_left(entries, position) + bool(last)
        if "due_key >" in wanted["KeyConditionExpression"]:
            start, end = max(start, bisect_left(entries, (values[":key"], "~"))), len(entries)
        else:
            end = bisect_left(entries, (values[":key"], ""))
        page = entries[start : min(end, start + wanted["Limit"])]
        items = [
            {
                "pk": {"S": pk},
                "sk": {"S": f"TASK#{due_key[25:]}"},
                "due_bucket": {"S": values[":bucket"]},
                "due_key": {"S": due_key},
            }
            for due_key, pk in page
        ]
        more = {"LastEvaluatedKey": items[-1]} if start + len(page) < end and items else {}
        return {"Items": items, "Count": len(items), "ScannedCount": len(items), **more}

    def _transact(self, wanted: dict[str, Any]) -> dict[str, Any]:
        operations = [next(iter(entry.items())) for entry in wanted["TransactItems"]]
        reasons = [_reason(request, self._met(request)) for _, request in operations]
        if any(reason["Code"] != "None" for reason in reasons):
            told = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
            raise Refused({"__type": told, "Message": "refused", "CancellationReasons": reasons})
        if self.forgetful:
            return {}
        for kind, request in operations:
            if kind == "Put":
                self.put(request["Item"])
            elif kind == "Update":
                pk, sk = request["Key"]["pk"]["S"], request["Key"]["sk"]["S"]
                self._store(pk, sk, _updated(self.rows[pk][sk], request))
        return {}

    def _start(self, wanted: dict[str, Any]) -> dict[str, Any]:
        if not self.forgetful:
            self.started[wanted["name"]] += 1
        arn = f"{wanted['stateMachineArn'].replace(':stateMachine:', ':execution:')}"
        return {"executionArn": f"{arn}:{wanted['name']}", "startDate": 1772452800.0}

    # -- rows --

    def _row(self, key: Row) -> Row | None:
        return self.rows.get(key["pk"]["S"], {}).get(key["sk"]["S"])

    def _met(self, request: dict[str, Any]) -> Row | None:
        return self._row(request.get("Key") or request["Item"])

    def _store(self, pk: str, sk: str, row: Row) -> None:
        old = self.rows[pk].get(sk)
        self.rows[pk][sk] = row
        was, now = _entry(old), _entry(row)
        if was == now:
            return
        if was is not None:
            entries = self._due[was[0]]
            del entries[bisect_left(entries, was[1])]
        if now is not None:
            insort(self._due[now[0]], now[1])


class _Raw:
    """The body of an answer as urllib3 hands it out."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def stream(self) -> Iterator[bytes]:
        yield self._content


def _entry(row: Row | None) -> tuple[str, tuple[str, str]] | None:
    """The entry of the due index that a row has: its bucket, and its place there."""
    if row is None or "due_bucket" not in row:
        return None
    return row["due_bucket"]["S"], (row["due_key"]["S"], row["pk"]["S"])


def _reason(request: dict[str, Any], met: Row | None) -> dict[str, Any]:
    condition = request.get("ConditionExpression", "")
    names, row = request.get("ExpressionAttributeNames", {}), met or {}
    values = request.get("ExpressionAttributeValues", {})
    holds = (
        all(row.get(names[name]) == values[value] for name, value in _EQUALS.findall(condition))
        and all(names[name] in row for name in _EXISTS.findall(condition))
        and not any(names[name] in row for name in _ABSENT.findall(condition))
    )
    if holds:
        return {"Code": "None"}
    return {"Code": "ConditionalCheckFailed", **({} if met is None else {"Item": met})}


def _updated(row: Row, request: dict[str, Any]) -> Row:
    changed, names = dict(row), request["ExpressionAttributeNames"]
    values = request.get("ExpressionAttributeValues", {})
    for clause, text in _CLAUSE.findall(request["UpdateExpression"]):
        for part in _parts(text):
            if clause == "REMOVE":
                changed.pop(names[part], None)
            elif clause == "SET":
                name, _, value = part.partition(" = ")
                changed[names[name]] = values[value]
            else:
                name, _, value = part.partition(" ")
                total = int(changed.get(names[name], {"N": "0"})["N"]) + int(values[value]["N"])
                changed[names[name]] = {"N": str(total)}
    return changed


def _parts(text: str) -> Iterable[str]:
    return (part.strip() for part in text.split(","))
