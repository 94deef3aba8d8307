"""The three functions on one in-memory store, and hands that send them what AWS would send."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import planted
from api.application import Application
from api.settings import ApiSettings
from completion.handler import record
from completion.settings import CompletionSettings
from listeners import Listener
from nightshift.adapters.notices.keys import DerivedKeys
from nightshift.composition.api import build_api
from nightshift.composition.completion import build_completion
from nightshift.composition.notices import build_notices
from nightshift.composition.tick import build_tick
from nightshift.domain.exchanged import Event, Observe, TaskRef
from nightshift.domain.model.enums import RunStatus
from nightshift.domain.model.run import Run
from nightshift_toolkit.memory import (
    CountingIds,
    MemoryStore,
    ScriptedExecutions,
    ScriptedInspector,
    ScriptedLauncher,
)
from notices.settings import NoticesSettings
from tick.settings import TickSettings

if TYPE_CHECKING:
    from nightshift.composition.overrides import Overrides

SUNDAY = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ALICE = "alice"
BOB = "bob"
BOTH = "nightshift/read nightshift/write"
TASKS = "/api/scheduled-tasks"
DAILY = {
    "title": "Morning summary",
    "prompt": planted.PROMPT,
    "schedule_spec": {"cron": "0 9 * * *"},
}
VARIABLES = {
    "TABLE_NAME": "nightshift",
    "STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:nightshift",
    "WEBHOOK_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:webhooks",
}


@dataclass(frozen=True)
class Context:
    """What Lambda tells a function about its invocation."""

    aws_request_id: str = "b1e8ef4d-8a2c-4d0e-9f5f-0d6a4c1b2e3f"
    milliseconds_left: int = 60_000

    def get_remaining_time_in_millis(self) -> int:
        """Time that is left, in milliseconds."""
        return self.milliseconds_left


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.text)

    @property
    def code(self) -> str:
        """The code of a problem document, which must be one."""
        assert self.headers["Content-Type"] == "application/problem+json", self.text
        document = self.json
        assert document["status"] == self.status
        assert document["request_id"]
        return str(document["code"])

    def wrong(self) -> dict[str, str]:
        """The fields that a problem document names, with what is wrong."""
        return {entry["field"]: entry["message"] for entry in self.json.get("errors", [])}


class Desk:
    """The functions as deployed, less AWS. `now` moves only when a test moves it.

    What is told is kept in `events`, and handed to `observe` where a test brings one.
    """

    def __init__(self, *, observe: Observe | None = None, **variables: str) -> None:
        read = {**VARIABLES, **variables}
        settings = ApiSettings.read(read)
        self.now = SUNDAY
        self.events: list[Event] = []
        self.policy = settings.policy
        self._observe = observe
        self.store = MemoryStore(settings.policy, self._told)
        self.executions = ScriptedExecutions()
        ports: Overrides = {
            "tasks": self.store.tasks,
            "runs": self.store.runs,
            "threads": self.store.threads,
            "policies": self.store.policies,
            "sweeps": self.store.sweeps,
            "webhook_keys": DerivedKeys(lambda: "the secret of this deployment"),
            "launcher": ScriptedLauncher(self.executions, SUNDAY),
            "inspector": ScriptedInspector(self.executions),
            "ids": CountingIds(),
            "observe": self._told,
            "workers": 1,
        }
        self.application = Application(build_api(settings, **ports), lambda: self.now)
        self.tick_settings = TickSettings.read(read)
        self.tick = build_tick(self.tick_settings, **ports)
        del ports["launcher"], ports["inspector"]
        self.completion = build_completion(CompletionSettings.read(read), **ports)
        self.listener = Listener()
        ports["outbox"], ports["receivers"] = self.store.outbox, [self.listener]
        notices = NoticesSettings.read(read)
        self.notices = build_notices(notices, **ports)

    def _told(self, event: Event) -> None:
        self.events.append(event)
        if self._observe is not None:
            self._observe(event)

    # -- over HTTP --

    def call(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        query: str = "",
        user: str = ALICE,
        scope: str = BOTH,
    ) -> Reply:
        """Send a request as somebody; a body that is no text is sent as JSON."""
        event = request(method, path, query=query, claims={"sub": user, "scope": scope})
        if body is not None:
            event["body"] = body if isinstance(body, str) else json.dumps(body)
            event["headers"]["content-type"] = "application/json"
        return self.send(event)

    def send(self, event: dict[str, Any]) -> Reply:
        """Send a request exactly as given."""
        answer = self.application.answer(event)
        return Reply(answer["statusCode"], answer["headers"], answer["body"])

    def create(self, *, user: str = ALICE, **fields: Any) -> dict[str, Any]:
        """A daily task, with other or more fields as named."""
        reply = self.call("POST", TASKS, {**DAILY, **fields}, user=user)
        assert reply.status == HTTPStatus.CREATED, reply.text
        created: dict[str, Any] = reply.json
        return created

    def task(self, task_id: str, user: str = ALICE) -> dict[str, Any]:
        """The task as the API shows it."""
        reply = self.call("GET", f"{TASKS}/{task_id}", user=user)
        assert reply.status == HTTPStatus.OK, reply.text
        shown: dict[str, Any] = reply.json
        return shown

    def patch(self, task_id: str, **fields: Any) -> Reply:
        """Change these fields."""
        return self.call("PATCH", f"{TASKS}/{task_id}", fields)

    def do(self, verb: str, task_id: str, user: str = ALICE) -> Reply:
        """Pause, resume or trigger a task."""
        return self.call("POST", f"{TASKS}/{task_id}/{verb}", user=user)

    def stored(self, user: str = ALICE) -> list[str]:
        """The ids of all tasks of a user, whatever the API shows."""
        return [task.id for task in self.store.tasks.list(user, limit=1000).items]

    # -- by the clock, and from the workflow --

    def look(self, at: datetime) -> None:
        """One look of the clock."""
        self.now = at
        self.tick.clock.look(at, lambda: True)

    def begin(self, task_id: str, user: str = ALICE) -> Run:
        """Trigger a task and let its execution pass the fence."""
        run_id = self.do("trigger", task_id, user).json["run_id"]
        slot = self.store.tasks.get(TaskRef(user, task_id))
        assert slot is not None
        held = next(one for one in self.store.active_slots() if one.run_id == run_id)
        assert self.store.pass_fence(run_id, held.nonce, self.now)
        run = self.run(task_id, run_id)
        assert run.status is RunStatus.RUNNING
        return run

    def run(self, task_id: str, run_id: str) -> Run:
        """A run as it is stored."""
        run = self.store.runs.get(task_id, run_id)
        assert run is not None
        return run

    def tell(self, signal: dict[str, Any]) -> bool:
        """Hand a signal to the completion function; whether it was news."""
        return record(self.completion, signal, self.now)

    def limit(self, **settings: Any) -> None:
        """Change the limits in force."""
        self.policy = replace(self.policy, **settings)
        self.store.set_policy(self.policy)

    def actions(self) -> list[str]:
        """The words of everything that was told so far."""
        return [event.action for event in self.events]


def request(
    method: str, path: str, *, query: str = "", claims: dict[str, Any] | None = None
) -> dict[str, Any]:
    """API Gateway's event for a request without a body (payload 2.0)."""
    context: dict[str, Any] = {
        "requestId": "ZkR3dgTdFiAEJbQ=",
        "stage": "$default",
        "http": {"method": method, "path": path, "sourceIp": "203.0.113.7"},
    }
    if claims is not None:
        context["authorizer"] = {"jwt": {"claims": claims, "scopes": None}}
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"accept": "*/*", "authorization": f"Bearer {planted.BEARER}"},
        "requestContext": context,
        "isBase64Encoded": False,
    }


def ids(page: Reply) -> list[str]:
    """The ids of a page's items."""
    return [item["id"] for item in page.json["items"]]


def without(names: Iterable[str], body: dict[str, Any]) -> dict[str, Any]:
    """The body without some fields."""
    return {name: value for name, value in body.items() if name not in set(names)}
