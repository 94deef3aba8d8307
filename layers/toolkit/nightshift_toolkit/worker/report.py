"""The worker's last word on a run: an explicit outcome, always, in at most 16 KiB of JSON (K8)."""

import json
from dataclasses import dataclass
from typing import Any

from nightshift_toolkit.worker.output import Output
from nightshift_toolkit.worker.result_file import MAX_DATA_BYTES, StructuredResult

MAX_REPORT_BYTES = 16 * 1024
MAX_ERROR_BYTES = 2 * 1024

_REST_BYTES = MAX_ERROR_BYTES + MAX_DATA_BYTES + 1024
NO_RESULT = StructuredResult()
NOTHING_WRITTEN = Output("", "", 0)


def fits(output: Output) -> bool:
    """Whether a report surely holds the whole of an output, whatever else it holds."""
    return not output.within(MAX_REPORT_BYTES - _REST_BYTES)[1]


@dataclass(frozen=True)
class Report:
    """How a run ended, as the workflow records it.

    `outcome` is `success` or `failed`; `reason` is None for a success and otherwise one of
    `nonzero_exit`, `rate_limited`, `timeout`, `error`, `shell_not_allowed`, `worker_stopped`,
    `worker_lost`;
    `error` is a sentence for people; times are UTC in the stored format (K9); `structured` is what
    the command wrote into its result file, `output_url` where its whole output is.
    """

    outcome: str
    reason: str | None
    error: str | None
    exit_code: int | None
    output: Output
    started_at: str
    finished_at: str
    structured: StructuredResult = NO_RESULT
    output_url: str | None = None

    def to_json(self) -> str:
        """The report as compact JSON of at most `MAX_REPORT_BYTES` bytes, output cut to fit."""
        bare = self._render("", truncated=False)
        room = MAX_REPORT_BYTES - len(bare.encode())
        text, truncated = self.output.within(room)
        return self._render(text, truncated=truncated)

    def _render(self, output: str, *, truncated: bool) -> str:
        content = {
            "outcome": self.outcome,
            "reason": self.reason,
            "error": _cut(self.error),
            "result": {
                "exit_code": self.exit_code,
                "output": output,
                "truncated": truncated,
                **self._written(),
            },
            "started_at": self.started_at,
            "finished_at": self.finished_at,
        }
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    def _written(self) -> dict[str, Any]:
        structured = self.structured
        written: dict[str, Any] = {}
        if structured.data is not None:
            written["data"] = structured.data
        if structured.usage:
            written["usage"] = structured.usage
        if structured.problem is not None:
            written["data_problem"] = structured.problem
        if self.output_url is not None:
            written["output_url"] = self.output_url
        return written


def _cut(error: str | None) -> str | None:
    if error is None:
        return None
    return error.encode("utf-8", "replace")[:MAX_ERROR_BYTES].decode("utf-8", "ignore")
