"""A typed client of the HTTP API: repeats what may be repeated, walks pages by itself."""

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self, cast
from urllib.parse import quote

import httpx

from nightshift_toolkit.resources import (
    Change,
    ChangedTasks,
    Explanation,
    Problem,
    Run,
    SchedulePreview,
    Task,
    Thread,
    Triggered,
    Verb,
)

_ATTEMPTS = 4
_FIRST_PAUSE_SECONDS = 0.3
_LONGEST_PAUSE_SECONDS = 10.0
_WORTH_REPEATING = frozenset(
    {HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT}
)


class ApiError(Exception):
    """The API refused, with the problem document it gave."""

    def __init__(self, status: int, problem: Problem) -> None:
        self.status = status
        self.problem = problem
        self.code = problem.get("code")
        detail = problem.get("detail") or problem.get("title") or problem.get("message")
        super().__init__(detail or f"The API answered with status {status}.")


class UnreachableError(Exception):
    """No answer came; whether the request arrived is not known."""


class NotTheApiError(Exception):
    """Something answered that is not the Nightshift API."""


class Client:
    """The API at `url`, as the bearer of `token`.

    Reads, and writes that carry an `Idempotency-Key` or are the same done twice, are repeated a few
    times when no answer comes or the API asks for it; other writes only if they cannot have
    arrived. Every method raises `ApiError`, `UnreachableError` or `NotTheApiError`.

    Args:
        url: of the API, without `/api`.
        token: an access token.
        timeout_seconds: for one attempt.
        pause: waits the given seconds between attempts.

    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout_seconds: float = 35.0,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._pause = pause
        self._http = httpx.Client(
            base_url=url.rstrip("/") + "/api/",
            headers={"Authorization": f"Bearer {token}"},
            timeout=httpx.Timeout(timeout_seconds, connect=5.0),
            # Reading the certificates takes a tenth of a second that plain HTTP need not wait.
            verify=not url.startswith("http://"),
            # A proxy of the environment has no business with an address on this machine.
            trust_env=not url.startswith("http://"),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.close()

    def create_task(self, fields: Mapping[str, Any], idempotency_key: str | None = None) -> Task:
        """Create a task from the fields of the create body."""
        return cast("Task", self._write("POST", "scheduled-tasks", fields, key=idempotency_key))

    def tasks(self, **filters: str | None) -> Iterator[Task]:
        """My tasks, page after page; filters are `status`, `label` and `thread`."""
        return cast("Iterator[Task]", self._items("scheduled-tasks", filters))

    def task(self, task_id: str) -> Task:
        """One task, whole."""
        return cast("Task", self._read(_task(task_id)))

    def edit_task(
        self,
        task_id: str,
        changes: Mapping[str, Any],
        revision: int | None = None,
        *,
        cancel_active: bool = False,
    ) -> Task:
        """Change the fields that are given; with `revision`, only if it is still the task's."""
        answer = self._request(
            "PATCH",
            _task(task_id),
            changes,
            headers={} if revision is None else {"If-Match": f'"{revision}"'},
            parameters=_cancelling(cancel_active),
            repeat=False,
        )
        return cast("Task", answer)

    def pause_task(
        self,
        task_id: str,
        reason: str | None = None,
        *,
        until: str | None = None,
        cancel_active: bool = False,
    ) -> Task:
        """Keep the clock from starting the task, until the time `until` if there is one."""
        body = _without_none(reason=reason, until=until)
        path, parameters = f"{_task(task_id)}/pause", _cancelling(cancel_active)
        answer = self._request("POST", path, body, parameters=parameters, repeat=False)
        return cast("Task", answer)

    def resume_task(self, task_id: str) -> Task:
        """Let the clock start the task again."""
        return cast("Task", self._request("POST", f"{_task(task_id)}/resume", {}, repeat=False))

    def change_tasks(self, verb: Verb, fields: Mapping[str, Any]) -> ChangedTasks:
        """Pause or resume the next of all my tasks; done twice it is the same."""
        return cast("ChangedTasks", self._request("POST", f"scheduled-tasks/{verb}", fields))

    def trigger_task(self, task_id: str, idempotency_key: str | None = None) -> Triggered:
        """Run the task now."""
        answer = self._write("POST", f"{_task(task_id)}/trigger", {}, key=idempotency_key)
        return cast("Triggered", answer)

    def delete_task(self, task_id: str, *, cancel_active: bool = False) -> None:
        """Delete the task and its history."""
        parameters = _cancelling(cancel_active)
        self._request("DELETE", _task(task_id), parameters=parameters, repeat=False)

    def runs(self, task_id: str, status: str | None = None) -> Iterator[Run]:
        """The task's history, newest first."""
        return cast("Iterator[Run]", self._items(f"{_task(task_id)}/runs", {"status": status}))

    def run(self, task_id: str, run_id: str) -> Run:
        """One run."""
        return cast("Run", self._read(f"{_task(task_id)}/runs/{_segment(run_id)}"))

    def preview_schedule(self, fields: Mapping[str, Any]) -> SchedulePreview:
        """When a schedule would run; nothing is written."""
        return cast("SchedulePreview", self._request("POST", "schedule-previews", fields))

    def cancel_run(self, task_id: str, run_id: str) -> Run:
        """Ask for an active run to be stopped; one that has ended is returned as it is."""
        path = f"{_task(task_id)}/runs/{_segment(run_id)}/cancel"
        return cast("Run", self._request("POST", path, {}))

    def pause_run(self, task_id: str, run_id: str) -> Run:
        """Ask for a run at work to stand still."""
        path = f"{_task(task_id)}/runs/{_segment(run_id)}/pause"
        return cast("Run", self._request("POST", path, {}))

    def resume_run(self, task_id: str, run_id: str) -> Run:
        """Ask for a paused run to go on."""
        path = f"{_task(task_id)}/runs/{_segment(run_id)}/resume"
        return cast("Run", self._request("POST", path, {}))

    def changes(self, task_id: str) -> Iterator[Change]:
        """Who changed what of the task, newest first."""
        return cast("Iterator[Change]", self._items(f"{_task(task_id)}/changes", {}))

    def explain_task(self, task_id: str, at: str | None = None) -> Explanation:
        """Why the task runs now or does not, or what is known of one of its times."""
        parameters = {} if at is None else {"at": at}
        answer = self._request("GET", f"{_task(task_id)}/explanation", parameters=parameters)
        return cast("Explanation", answer)

    def register_thread(self, thread_id: str) -> Thread:
        """Make the thread mine; a thread that is mine already stays so."""
        return cast("Thread", self._request("PUT", f"threads/{_segment(thread_id)}", {}))

    def thread(self, thread_id: str) -> Thread:
        """One thread of mine."""
        return cast("Thread", self._read(f"threads/{_segment(thread_id)}"))

    def health(self) -> None:
        """Ask whether the API is there."""
        self._read("health")

    def policy(self) -> dict[str, Any]:
        """The limits in force."""
        return cast("dict[str, Any]", self._read("policy"))

    def webhook_key(self) -> str:
        """The key that notices to my webhooks are signed with; needs `nightshift/write`."""
        return str(self._read("webhook-key")["key"])

    def policy_changes(self) -> Iterator[dict[str, Any]]:
        """Who changed the limits, when, why and to what, newest first."""
        return self._items("policy/changes", {})

    def change_policy(self, changes: Mapping[str, Any]) -> dict[str, Any]:
        """Change limits for everybody; needs the scope `nightshift/admin`."""
        answer = self._request("PATCH", "policy", changes, repeat=False)
        return cast("dict[str, Any]", answer)

    def _items(self, path: str, filters: Mapping[str, str | None]) -> Iterator[Any]:
        parameters = {name: value for name, value in filters.items() if value is not None}
        while True:
            page = self._request("GET", path, parameters=parameters)
            yield from page["items"]
            if page.get("next_cursor") is None:
                return
            parameters["cursor"] = page["next_cursor"]

    def _read(self, path: str) -> Any:
        return self._request("GET", path)

    def _write(self, method: str, path: str, body: Mapping[str, Any], key: str | None) -> Any:
        headers = {"Idempotency-Key": key or uuid.uuid4().hex}
        return self._request(method, path, body, headers=headers)

    def _request(
        self,
        method: str,
        path: str,
        body: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        parameters: Mapping[str, str] | None = None,
        repeat: bool = True,
    ) -> Any:
        request = self._http.build_request(
            method, path, json=body, headers=headers, params=parameters
        )
        pause = _FIRST_PAUSE_SECONDS
        for attempt in range(1, _ATTEMPTS + 1):
            last = attempt == _ATTEMPTS
            try:
                response = self._http.send(request)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                # Refused at once means that nobody is there; waiting would only delay the news.
                raise UnreachableError(str(error)) from error
            except httpx.TransportError as error:
                if last or not repeat:
                    raise UnreachableError(str(error) or type(error).__name__) from error
            else:
                if last or not repeat or response.status_code not in _WORTH_REPEATING:
                    return _content(response)
                pause = max(pause, _retry_after(response))
            self._pause(min(pause, _LONGEST_PAUSE_SECONDS))
            pause *= 2
        raise AssertionError("the last attempt returns or raises")


def _content(response: httpx.Response) -> Any:
    if response.status_code == HTTPStatus.NO_CONTENT:
        return None
    try:
        content = response.json()
    except ValueError as error:
        if response.is_success:
            raise NotTheApiError(f"no JSON came from {response.url.host}") from error
        content = {}
    if response.is_success:
        return content
    problem = cast("Problem", content) if isinstance(content, dict) else Problem()
    raise ApiError(response.status_code, problem)


def _retry_after(response: httpx.Response) -> float:
    text = response.headers.get("Retry-After", "")
    return float(text) if text.isascii() and text.isdigit() else 0.0


def _cancelling(cancel_active: bool) -> dict[str, str]:  # noqa: FBT001
    return {"cancel_active": "true"} if cancel_active else {}


def _without_none(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value is not None}


def _task(task_id: str) -> str:
    return f"scheduled-tasks/{_segment(task_id)}"


def _segment(name: str) -> str:
    # An id is one segment of the path whatever was typed: "../policy" and "a/b" stay what they are.
    return quote(name, safe="") if name.strip(".") else "%2E" * len(name)
