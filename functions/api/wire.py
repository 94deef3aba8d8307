"""What every request and response has in common: strict models, field types, and their errors."""

import re
from collections.abc import Mapping
from typing import Annotated, Any, Final, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    WithJsonSchema,
)
from pydantic_core import ErrorDetails, PydanticCustomError

from api.errors import FieldProblem, InvalidFields
from nightshift.domain.commands import UNSET
from nightshift.domain.model.enums import (
    ActionKind,
    ContextMode,
    FailureClass,
    Jitter,
    OverlapPolicy,
)
from nightshift.domain.model.notify import NoticeKind
from nightshift.domain.model.retry import MAX_ATTEMPTS, MAX_BACKOFF_RATE, MAX_BACKOFF_SECONDS
from nightshift.domain.model.schedule_input import MAX_EXPRESSIONS, MAX_SECONDS
from nightshift.domain.model.webhook import MAX_WEBHOOK_LENGTH

MAX_TITLE_CHARACTERS: Final = 200
MAX_REASON_CHARACTERS: Final = 500
MAX_ASSISTANT_ID_CHARACTERS: Final = 128
MAX_LABELS: Final = 10
MAX_LABEL_KEY_CHARACTERS: Final = 64
MAX_LABEL_VALUE_CHARACTERS: Final = 256
MAX_JITTER_SECONDS: Final = 86_400
MAX_LATENESS_SECONDS: Final = 366 * 86_400
MAX_FAILURES_IN_A_ROW: Final = 100
MAX_RUNS: Final = 1_000_000_000
MAX_PREVIEW_COUNT: Final = 100
DEFAULT_PREVIEW_COUNT: Final = 10
MAX_TIMEOUT_SECONDS: Final = 604_800
THREAD_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}", re.ASCII)
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_UNSEEN: Final = re.compile(
    # What turns the text around it or shows as nothing; joiners stay, emoji and Persian need them.
    "[\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    # What will never be a character, and what each may read as they like.
    "\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000f0000-\U0010ffff"
    + "".join(f"{chr(plane << 16 | 0xFFFE)}{chr(plane << 16 | 0xFFFF)}" for plane in range(1, 15))
    + "]"
)
_CONTROL_BUT_LINES: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_MAX_PROBLEMS: Final = 20
_FIELD_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
_TAGS: Final = frozenset(ActionKind)


class Wire(BaseModel):
    """A body as it travels: no unknown field, no coercion, no change, no input in errors."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        hide_input_in_errors=True,
        defer_build=True,  # a cold start builds what its request needs, not all
    )


Model = TypeVar("Model", bound=Wire)


def validated(model: type[Model], body: Mapping[str, Any]) -> Model:
    """The body as a model.

    Raises:
        InvalidFields: with the path of every wrong field; unknown names are shown only where they
            look like a field's, values never.
    """
    try:
        return model.model_validate(body)
    except ValidationError as refusal:
        details = refusal.errors(include_url=False, include_input=False)
    problems = [FieldProblem(_path(entry), _message(entry)) for entry in details]
    raise InvalidFields(list(dict.fromkeys(problems))[:_MAX_PROBLEMS])


def absent() -> Any:
    """A field that may be left out, which is not the same as null."""
    return Field(default_factory=lambda: UNSET)


def _one_line(text: str) -> str:
    if _CONTROL.search(text):
        raise PydanticCustomError("control", "must not contain control characters.")
    if _UNSEEN.search(text):
        raise PydanticCustomError(
            "control", "must not contain characters that nobody sees or that turn text around."
        )
    return _not_blank(text)


def _lines(text: str) -> str:
    if _CONTROL_BUT_LINES.search(text):
        raise PydanticCustomError(
            "control", "must not contain control characters other than tab and line breaks."
        )
    return _not_blank(text)


def _not_blank(text: str) -> str:
    if not text.strip():
        raise PydanticCustomError("blank", "must not be empty.")
    return text


def _label_key(key: str) -> str:
    if "=" in key:
        raise PydanticCustomError("label", "must have keys without an equals sign.")
    return _one_line(key)


def _label_value(value: str) -> str:
    return _one_line(value) if value else value


def _thread_id(text: str) -> str:
    if THREAD_ID.fullmatch(text) is None:
        raise PydanticCustomError(
            "thread_id", "must be 1 to 64 letters, digits, underscores or hyphens."
        )
    return text


Title = Annotated[str, Field(max_length=MAX_TITLE_CHARACTERS), AfterValidator(_one_line)]
Text = Annotated[str, AfterValidator(_lines)]
Reason = Annotated[str, Field(max_length=MAX_REASON_CHARACTERS), AfterValidator(_one_line)]
ThreadId = Annotated[str, AfterValidator(_thread_id)]
AssistantId = Annotated[
    str, Field(max_length=MAX_ASSISTANT_ID_CHARACTERS), AfterValidator(_one_line)
]
Labels = Annotated[
    dict[
        Annotated[str, Field(max_length=MAX_LABEL_KEY_CHARACTERS), AfterValidator(_label_key)],
        Annotated[str, Field(max_length=MAX_LABEL_VALUE_CHARACTERS), AfterValidator(_label_value)],
    ],
    Field(max_length=MAX_LABELS),
]
_INSTANT: Final = {
    "type": "string",
    "format": "date-time",
    "description": "RFC 3339 with an offset or Z.",
}
Instant = Annotated[str, WithJsonSchema(_INSTANT)]
_SECONDS: Final = {"type": "integer", "minimum": 1, "maximum": MAX_SECONDS}
_SELECTORS: Final[Mapping[str, Mapping[str, Any]]] = {
    "cron": {
        "cron": {
            "anyOf": [
                {"type": "string"},
                {
                    "type": "array",
                    "items": {"type": "string"},
                    "minItems": 1,
                    "maxItems": MAX_EXPRESSIONS,
                },
            ]
        },
        "exclude": {"type": "object"},
    },
    "every_seconds": {"every_seconds": _SECONDS, "anchor": _INSTANT},
    "once": {
        "once": {
            "type": "string",
            "description": "RFC 3339 with an offset or Z, or YYYY-MM-DDTHH:MM:SS[.mmm], read"
            " in the time zone.",
        }
    },
    "after_seconds": {"after_seconds": _SECONDS},
}
ScheduleSpec = Annotated[
    dict[str, Any],
    WithJsonSchema(
        {
            "title": "Schedule",
            "anyOf": [
                {
                    "title": f"{selector.partition('_')[0].title()}Spec",
                    "type": "object",
                    "properties": dict(properties),
                    "required": [selector],
                    "additionalProperties": False,
                }
                for selector, properties in _SELECTORS.items()
            ],
        }
    ),
]
"""One selector and what goes with it; which values fit is the domain's."""
ContextModeName = Annotated[ContextMode, Field(strict=False)]
OverlapPolicyName = Annotated[OverlapPolicy, Field(strict=False)]
JitterName = Annotated[Jitter, Field(strict=False)]
Priority = Annotated[int, Field(ge=0, le=9)]
TimeoutSeconds = Annotated[int, Field(ge=1, le=MAX_TIMEOUT_SECONDS)]
LatenessSeconds = Annotated[int, Field(ge=1, le=MAX_LATENESS_SECONDS)]
JitterSeconds = Annotated[int, Field(ge=0, le=MAX_JITTER_SECONDS)]
RetryAttempts = Annotated[int, Field(ge=1, le=MAX_ATTEMPTS)]
BackoffSeconds = Annotated[int, Field(ge=1, le=MAX_BACKOFF_SECONDS)]
BackoffRate = Annotated[float, Field(ge=1, le=MAX_BACKOFF_RATE, allow_inf_nan=False)]
FailureClassName = Annotated[FailureClass, Field(strict=False)]
NoticeKindName = Annotated[NoticeKind, Field(strict=False)]
WebhookUrl = Annotated[str, Field(min_length=1, max_length=MAX_WEBHOOK_LENGTH)]
FailuresInARow = Annotated[int, Field(ge=1, le=MAX_FAILURES_IN_A_ROW)]
RunLimit = Annotated[int, Field(ge=1, le=MAX_RUNS)]
PreviewCount = Annotated[int, Field(ge=1, le=MAX_PREVIEW_COUNT)]


_MESSAGES: Final[Mapping[str, str]] = {
    "missing": "is required.",
    "extra_forbidden": "is not a field of this request.",
    "string_type": "must be a text.",
    "int_type": "must be a whole number.",
    "float_type": "must be a number.",
    "list_type": "must be a list.",
    "dict_type": "must be an object.",
    "model_type": "must be an object.",
    "model_attributes_type": "must be an object.",
    "enum": "must be one of {expected}.",
    "literal_error": "must be one of {expected}.",
    "union_tag_invalid": "must have one of these kinds: {expected_tags}.",
    "union_tag_not_found": "must have a kind.",
    "greater_than_equal": "must be at least {ge}.",
    "less_than_equal": "must be at most {le}.",
    "string_too_long": "must have at most {max_length} characters.",
    "too_long": "must hold at most {max_length} entries.",
    "too_short": "must hold at least {min_length} entries.",
    "control": "{message}",
    "blank": "{message}",
    "label": "{message}",
    "thread_id": "{message}",
}


def _message(entry: ErrorDetails) -> str:
    template = _MESSAGES.get(entry["type"], "is not valid.")
    return template.format(**{"message": entry["msg"], **entry.get("ctx", {})})


def _path(entry: ErrorDetails) -> str | None:
    """The dotted path of a field, as far as its names are ours or look like a field's."""
    parts: list[str] = []
    for part in entry["loc"]:
        if part in _TAGS:
            continue
        if isinstance(part, str) and _FIELD_NAME.fullmatch(part) is None:
            break
        if parts[:1] == ["labels"]:
            break
        parts.append(str(part))
    return ".".join(parts) or None
