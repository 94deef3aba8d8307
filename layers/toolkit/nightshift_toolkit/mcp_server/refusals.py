"""Refusals as an agent reads them: the API's own sentence, and what to try."""

from http import HTTPStatus
from typing import Final

from api.errors import InvalidFields
from nightshift.domain.errors import NightshiftError
from nightshift_toolkit.client import ApiError, NotTheApiError, UnreachableError
from nightshift_toolkit.phrases import NotUnderstoodError
from nightshift_toolkit.schedules import sentence_of

REFUSED: Final = (
    ApiError,
    UnreachableError,
    NotTheApiError,
    NightshiftError,
    NotUnderstoodError,
)
"""What a tool may raise that the agent is told of."""

_SCHEDULE: Final = "schedule_preview, which writes nothing, until the times are right."
_SEE: Final = "schedule_list, to see what there is."
_TRY: Final = {
    "unauthenticated": "ask the person to sign in anew and to give this server a new token.",
    "forbidden": "leave it to the person; runs may read and nothing else.",
    "task_not_found": _SEE,
    "run_not_found": "schedule_history without run_id, to see which runs there are.",
    "thread_not_found": "without thread_id, or ask the person to register the thread.",
    "active_run": "again when the run has ended; schedule_history shows it.",
    "thread_busy": "again later, or without thread_id.",
    "task_not_mutable": "again when its run has ended; schedule_history shows it.",
    "time_passed": "schedule_update with a new time.",
    "concurrent_update": "schedule_list with task_id, then once more.",
    "precondition_failed": "schedule_list with task_id, then once more with the new revision.",
    "quota_exceeded": "ask the person which task may be deleted.",
    "idempotency_mismatch": "another idempotency_key.",
    "persistence_uncertain": "schedule_list, to see whether it was done.",
    "corrupt_task": "schedule_update with every field, or schedule_delete.",
    "not_in_future": "a later time.",
    "too_frequent": "a longer interval.",
    "invalid_time_zone": "a name of the IANA database, like Europe/Berlin.",
    "invalid_schedule": _SCHEDULE,
    "never_fires": _SCHEDULE,
    "payload_too_large": "a shorter prompt.",
    "invalid_request": "again with these fields put right.",
}
_GATEWAY: Final = {
    HTTPStatus.UNAUTHORIZED: "unauthenticated",
    HTTPStatus.FORBIDDEN: "forbidden",
    HTTPStatus.TOO_MANY_REQUESTS: "throttled",
}
_SAID: Final = {
    "unauthenticated": "There is no token, or it is no longer valid. Nothing was done.",
    "throttled": "Too many requests. Nothing was done.",
}


def told(refused: Exception) -> str:
    """What was refused, why, and what to try instead."""
    if isinstance(refused, ApiError):
        return _of_the_api(refused)
    if isinstance(refused, UnreachableError):
        return _with_hint(
            "The API cannot be reached, or its answer did not come.",
            "schedule_list before anything is repeated: it may have been done.",
        )
    if isinstance(refused, NotTheApiError):
        return _with_hint("What answers is not the Nightshift API.", "ask the person for its URL.")
    if isinstance(refused, InvalidFields):
        lines = [f"{wrong.field or 'The arguments'} {wrong.message}" for wrong in refused.problems]
        return _with_hint("\n".join(lines), _TRY["invalid_request"])
    if isinstance(refused, NightshiftError):
        return _with_hint(sentence_of(refused), _TRY.get(refused.code))
    return _with_hint(str(refused), "one of these forms, or a schedule_spec.")


def _of_the_api(refused: ApiError) -> str:
    code = refused.code or _GATEWAY.get(HTTPStatus(refused.status), "")
    sentence = str(refused) if refused.code else _SAID.get(code, str(refused))
    fields = [
        f"{each['field']}: {each['message']}"
        for each in refused.problem.get("errors", [])
        if each["message"].strip(".").casefold() not in sentence.casefold()
    ]
    number = refused.problem.get("request_id")
    if refused.status >= HTTPStatus.INTERNAL_SERVER_ERROR and number:
        fields.append(f"request id: {number}")
    said = f"{sentence} ({code})" if code else sentence
    return _with_hint("\n".join([said, *fields]), _TRY.get(code))


def _with_hint(said: str, hint: str | None) -> str:
    return f"{said}\nTry: {hint}" if hint else said
