"""A small real HTTP server that answers as the API does and remembers what it was asked."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TASK_ID = "tsk_01j0000000000000000000000a"
RUN_ID = f"{TASK_ID}-20260105T140000000Z"

TASK: dict[str, Any] = {
    "id": TASK_ID,
    "title": "Tickets",
    "action": {"kind": "agent", "prompt": "Summarise the tickets."},
    "context_mode": "fresh_thread",
    "thread_id": None,
    "assistant_id": None,
    "schedule_type": "cron",
    "schedule_spec": {"cron": "0 9 * * MON-FRI"},
    "timezone": "America/New_York",
    "overlap_policy": "skip",
    "retry": None,
    "notify": None,
    "priority": 5,
    "timeout_seconds": 900,
    "max_lateness_seconds": None,
    "jitter": "hash",
    "jitter_seconds": 0,
    "jitter_place_seconds": None,
    "pause_after_failures": None,
    "include_previous_result": False,
    "starts_at": None,
    "ends_at": None,
    "max_runs": None,
    "labels": {"team": "search"},
    "status": "enabled",
    "blocked_reason": None,
    "overdue": False,
    "active_run_id": None,
    "dispatching": False,
    "pause_reason": None,
    "pause_until": None,
    "next_run_at": "2099-01-05T14:00:00.000Z",
    "due_at": "2099-01-05T14:00:00.000Z",
    "last_run_at": None,
    "last_run_id": None,
    "last_thread_id": None,
    "last_status": None,
    "last_error": None,
    "last_success_run_id": None,
    "failures_in_a_row": 0,
    "run_count": 0,
    "revision": 1,
    "created_at": "2026-01-01T00:00:00.000Z",
    "updated_at": "2026-01-01T00:00:00.000Z",
}
RUN: dict[str, Any] = {
    "id": RUN_ID,
    "task_id": TASK_ID,
    "thread_id": "thr_1",
    "execution_arn": None,
    "scheduled_for": "2026-01-05T14:00:00.000Z",
    "trigger": "schedule",
    "status": "failed",
    "reason": "nonzero_exit",
    "error": "Exit code 3.",
    "result": {"exit_code": 3, "output": "\nalmost there\nbut no\n", "truncated": False},
    "attempt": 1,
    "attempts": [],
    "at_work": False,
    "can_pause": False,
    "pause_requested": False,
    "paused_at": None,
    "paused_seconds": 0,
    "folded": 0,
    "folded_through": None,
    "folded_cut": False,
    "previous_run_id": None,
    "started_at": "2026-01-05T14:00:01.000Z",
    "finished_at": "2026-01-05T14:01:11.000Z",
    "created_at": "2026-01-05T14:00:00.500Z",
    "schedule": {
        "schedule_type": "cron",
        "schedule_spec": {"cron": "0 9 * * MON-FRI"},
        "timezone": "America/New_York",
        "starts_at": None,
        "ends_at": None,
        "max_runs": None,
    },
}


def problem(status: int, code: str, detail: str, **more: Any) -> dict[str, Any]:
    """A refusal as the API writes it."""
    title = detail.partition(";")[0]
    return {"type": "about:blank", "title": title, "status": status, "code": code} | {
        "detail": detail,
        "request_id": "request-1",
        **more,
    }


@dataclass(frozen=True)
class Asked:
    """One request that arrived."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: Any


@dataclass
class RecordedApi:
    """Answers in the order in which they were given; the last one for ever."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    _answers: dict[tuple[str, str], list[tuple[int, Any, dict[str, str]]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    def answer(self, method: str, path: str, status: int, body: Any = None, **headers: str) -> None:
        """Answer `method path` with `status` and `body`; a body of bytes goes out as it is."""
        self._answers[method, path].append((status, body, headers))

    def next_answer(self, method: str, path: str) -> tuple[int, Any, dict[str, str]]:
        answers = self._answers[method, path]
        if not answers:
            return 404, problem(404, "not_found", "There is no such route."), {}
        return answers.pop(0) if len(answers) > 1 else answers[0]


@contextmanager
def recorded_api() -> Iterator[RecordedApi]:
    """Serve a `RecordedApi` on loopback."""
    api = RecordedApi()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _handler(api: RecordedApi) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            parts = urlsplit(self.path)
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            headers = {name.lower(): value for name, value in self.headers.items()}
            body = json.loads(raw) if raw else None
            api.asked.append(Asked(self.command, parts.path, parse_qs(parts.query), headers, body))
            status, answer, extra = api.next_answer(self.command, parts.path)
            if status == 0:  # no answer at all
                self.close_connection = True
                return
            content = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content) if status != 204 else 0))
            for name, value in extra.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            if status != 204:
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Say nothing."""

    return Handler
