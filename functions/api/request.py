"""One request as a route sees it: who, when, which thing, and what was sent."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from api.conditional import KEY_HEADER, MATCH_HEADER, expected_revisions, idempotency_key
from api.identity import Caller
from api.json_text import read_object
from api.limits import Throttle
from api.query import Query
from api.wire import THREAD_ID, Model, validated
from nightshift.domain.errors import (
    InvalidRequest,
    NotFound,
    RunNotFound,
    TaskNotFound,
    ThreadNotFound,
    Unauthenticated,
)
from nightshift.domain.model.idempotency import IdempotencyKey

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,80}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Body:
    """What came with the request, not yet read."""

    text: str | None
    encoded: bool
    content_type: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request to a known route; `caller` is None where none is needed.

    The names of `headers` are in lower case; `route` is the method and rule that were matched.
    """

    caller: Caller | None
    now: datetime
    path: Mapping[str, str]
    query: Query
    content: Body
    headers: Mapping[str, str]
    route: str
    throttle: Throttle

    @property
    def user_id(self) -> str:
        """Whose things this is about; raises Unauthenticated when nobody has said."""
        if self.caller is None:
            raise Unauthenticated
        return self.caller.user_id

    @property
    def task_id(self) -> str:
        """The task of the path; one that could not be an id is not looked up (P8)."""
        return self._named("task_id", TaskNotFound())

    @property
    def run_id(self) -> str:
        """The run of the path."""
        return self._named("run_id", RunNotFound())

    @property
    def thread_id(self) -> str:
        """The thread of the path."""
        return self._named("thread_id", ThreadNotFound())

    @property
    def new_thread_id(self) -> str:
        """The thread of the path where it is to be made, so that a bad name is worth a word."""
        if THREAD_ID.fullmatch(self.path["thread_id"]) is None:
            raise InvalidRequest(
                "must be 1 to 64 letters, digits, underscores or hyphens.", field="thread_id"
            )
        return self.path["thread_id"]

    @property
    def expected(self) -> frozenset[int] | None:
        """The revisions that the task may be at; raises what `expected_revisions` raises."""
        return expected_revisions(self.headers.get(MATCH_HEADER.lower()))

    @property
    def key(self) -> IdempotencyKey | None:
        """What this very request may be repeated under; raises what `idempotency_key` raises."""
        sent = self._object() if self.content.text else {}
        header = self.headers.get(KEY_HEADER.lower())
        return idempotency_key(header, self.route, self.path, sent)

    def body(self, model: type[Model]) -> Model:
        """The body as a model; raises what `read_object` and `validated` raise."""
        return validated(model, self._object())

    def optional_body(self, model: type[Model]) -> Model:
        """The body as a model, where nothing is as good as an empty object."""
        return self.body(model) if self.content.text else model()

    def _object(self) -> dict[str, Any]:
        content = self.content
        return read_object(content.text, encoded=content.encoded, content_type=content.content_type)

    def _named(self, parameter: str, otherwise: NotFound) -> str:
        name = self.path[parameter]
        if _ID.fullmatch(name) is None:
            raise otherwise
        return name
