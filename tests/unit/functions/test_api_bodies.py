"""Bodies and fields that are nearly right: each is refused by name, and leaves no trace."""

import base64
import json
from typing import Any

import pytest

from api.json_text import read_object
from nightshift.domain.errors import InvalidRequest
from unit.functions.desk import ALICE, BOTH, DAILY, TASKS, Desk, request, without


@pytest.fixture
def desk() -> Desk:
    """The functions, with nothing in the table."""
    return Desk()


def post(desk: Desk, **event: Any) -> Any:
    """A request to create a task whose event is partly as given."""
    sent = request("POST", TASKS, claims={"sub": ALICE, "scope": BOTH})
    content_type = event.pop("content_type", "application/json")
    if content_type is not None:
        sent["headers"]["content-type"] = content_type
    return desk.send({**sent, **event})


NOT_STRICT = [
    "",
    "null",
    "[]",
    '"text"',
    "{",
    "{'title': 'x'}",
    '{"title": "a", "title": "b"}',
    '{"title": "a", "labels": {"a": "b", "a": "c"}}',
    '{"title": NaN}',
    '{"title": Infinity}',
    '{"priority": -Infinity}',
    '{"priority": 1e999}',
    '{"priority": ' + "9" * 5000 + "}",
    '{"title": "\\ud800"}',
    '{"\\udfff": 1}',
    '{"labels": ' + '{"a":' * 20 + "1" + "}" * 21,
    '{"labels": ' + "[" * 20 + "1" + "]" * 20 + "}",
    "[" * 100_000,
    '{"a":' * 100_000,
    '{"title": "a"} trailing',
    "\ufeff{}",
]


@pytest.mark.parametrize("body", NOT_STRICT)
def test_what_is_not_strict_json_is_not_read(body: str) -> None:
    """RFC 8259 and I-JSON: none of the liberties that parsers take."""
    with pytest.raises(InvalidRequest):
        read_object(body, encoded=False, content_type="application/json")


def test_strict_json_is_read_to_the_letter() -> None:
    """Nothing is repaired, dropped or rounded on the way."""
    text = '{"a": [1, 2.5, "\\ud83c\\udf19", {"b": null}], "c": 9007199254740993}'
    read = read_object(text, encoded=False, content_type="application/json")
    assert read == {"a": [1, 2.5, "🌙", {"b": None}], "c": 9007199254740993}


@pytest.mark.parametrize("body", NOT_STRICT)
def test_a_body_that_is_not_strict_json_is_refused(desk: Desk, body: str) -> None:
    """SPEC 7: refused with 422, in our words, and nothing written."""
    reply = post(desk, body=body)
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert reply.wrong() == {}
    assert desk.stored() == []


def test_a_body_beyond_any_request_is_refused_before_it_is_read(desk: Desk) -> None:
    """SPEC 7."""
    reply = post(desk, body=json.dumps({**DAILY, "prompt": "x" * 1_000_000}))
    assert (reply.status, reply.code) == (422, "payload_too_large")


@pytest.mark.parametrize(
    "content_type",
    [
        None,
        "",
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "application/json; charset=latin-1",
    ],
)
def test_a_body_must_be_declared_as_json_in_utf_8(desk: Desk, content_type: str | None) -> None:
    """415: the one refusal of a body that its content cannot mend."""
    reply = post(desk, body=json.dumps(DAILY), content_type=content_type)
    assert (reply.status, reply.code) == (415, "unsupported_media_type")
    assert desk.stored() == []


@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", "Application/JSON"])
def test_a_body_may_name_its_charset(desk: Desk, content_type: str) -> None:
    """Media types are compared without regard to case."""
    assert post(desk, body=json.dumps(DAILY), content_type=content_type).status == 201


def test_a_body_in_base64_is_the_body_it_holds(desk: Desk) -> None:
    """B142: the gateway may hand over a body in base64; what it holds is judged the same."""
    good = base64.b64encode(json.dumps(DAILY).encode()).decode()
    assert post(desk, body=good, isBase64Encoded=True).status == 201
    for bad in ("???", base64.b64encode(b"\xff\xfe{}").decode()):
        assert post(desk, body=bad, isBase64Encoded=True).code == "invalid_request"


# -- fields --

WRONG: list[tuple[str, Any]] = [
    ("title", 5),
    ("title", None),
    ("title", ""),
    ("title", " \t"),
    ("title", "two\nlines"),
    ("title", "bell\x07"),
    ("title", "x" * 201),
    ("prompt", ""),
    ("prompt", "  \n"),
    ("prompt", "null\x00"),
    ("prompt", "escape\x1b[0m"),
    ("prompt", "next\x85line"),
    ("prompt", ["x"]),
    ("schedule_spec", "0 9 * * *"),
    ("schedule_spec", None),
    ("timezone", None),
    ("timezone", 1),
    ("starts_at", 1772938800),
    ("ends_at", True),
    ("max_runs", 0),
    ("max_runs", 1.0),
    ("max_runs", "3"),
    ("max_runs", 10**30),
    ("context_mode", "shared"),
    ("context_mode", []),
    ("thread_id", "a b"),
    ("thread_id", ""),
    ("thread_id", "x" * 65),
    ("assistant_id", ""),
    ("assistant_id", "x" * 129),
    ("overlap_policy", "queue"),
    ("priority", True),
    ("priority", "5"),
    ("priority", 5.0),
    ("priority", 10),
    ("priority", -1),
    ("priority", None),
    ("timeout_seconds", 0),
    ("timeout_seconds", "60"),
    ("timeout_seconds", "1_000"),
    ("max_lateness_seconds", 0),
    ("max_lateness_seconds", 10**12),
    ("jitter_seconds", -1),
    ("pause_after_failures", 0),
    ("pause_after_failures", 101),
    ("pause_after_failures", True),
    ("jitter_seconds", 86_401),
    ("labels", []),
    ("labels", {"team": 5}),
    ("labels", {"": "x"}),
    ("labels", {"a=b": "x"}),
    ("labels", {"a\n": "x"}),
    ("labels", {"k" * 65: "x"}),
    ("labels", {"k": "v" * 257}),
    ("labels", {str(number): "x" for number in range(11)}),
]


@pytest.mark.parametrize(("field", "value"), WRONG)
def test_a_wrong_value_is_refused_and_the_field_is_named(
    desk: Desk, field: str, value: Any
) -> None:
    """SPEC 7, B128: no coercion, no silent repair; on create and on change alike."""
    task = desk.create()
    created = desk.call("POST", TASKS, {**DAILY, field: value})
    changed = desk.patch(task["id"], **{field: value})
    for reply in (created, changed):
        assert (reply.status, reply.code) == (422, "invalid_request")
        assert list(reply.wrong()) == [field]
    assert desk.stored() == [task["id"]]
    assert desk.task(task["id"]) == task


@pytest.mark.parametrize(
    ("action", "field"),
    [
        ({"kind": "email", "prompt": "x"}, "action"),
        ({"prompt": "x"}, "action"),
        ({"kind": "agent"}, "action.prompt"),
        ({"kind": "agent", "command": "x", "prompt": "x"}, "action.command"),
        ({"kind": "shell", "prompt": "x", "command": "x"}, "action.prompt"),
        ({"kind": "agent", "prompt": "x", "shell": {"deep": 1}}, "action"),
        ("x", "action"),
        (None, "action"),
    ],
)
def test_an_action_has_a_kind_and_what_goes_with_it(desk: Desk, action: Any, field: str) -> None:
    """SPEC 7: extra fields are refused at any depth."""
    reply = desk.call("POST", TASKS, without(["prompt"], DAILY) | {"action": action})
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert list(reply.wrong()) == [field]


def test_an_action_and_a_prompt_exclude_each_other(desk: Desk) -> None:
    """SPEC 7: `prompt` is short for an agent action."""
    both = {"action": {"kind": "agent", "prompt": "x"}, "prompt": "x"}
    assert list(desk.call("POST", TASKS, DAILY | both).wrong()) == ["prompt"]
    assert list(desk.patch(desk.create()["id"], **both).wrong()) == ["prompt"]


def test_every_wrong_field_is_named_at_once(desk: Desk) -> None:
    """RFC 9457: people mend a form in one go."""
    reply = desk.call("POST", TASKS, {"prompt": 1, "priority": "high", "colour": "red"})
    assert set(reply.wrong()) == {"title", "prompt", "schedule_spec", "priority", "colour"}


def test_no_input_comes_back_in_a_refusal(desk: Desk) -> None:
    """SPEC 7, B134: neither values nor names that are no field's."""
    secret = "S3CRET-" + "x" * 40
    bodies: list[Any] = [
        {**DAILY, "title": [secret]},
        {**DAILY, secret: 1},
        {**DAILY, "labels": {secret: 5}},
        {**DAILY, "labels": {secret + "=": "x"}},
        {**DAILY, "context_mode": secret},
        {**DAILY, "thread_id": secret + "/"},
        {**DAILY, "timezone": secret},
        {**DAILY, "starts_at": secret},
        {**DAILY, "schedule_spec": {"cron": secret}},
        {**DAILY, "schedule_spec": {secret: secret}},
        without(["prompt"], DAILY) | {"action": {"kind": secret}},
        json.dumps(DAILY)[:-1] + secret,
    ]
    for body in bodies:
        reply = desk.call("POST", TASKS, body)
        assert reply.status == 422
        assert "S3CRET" not in reply.text
        for leak in ("pydantic", "Traceback", ".py", "AgentAction", "CreateTask"):
            assert leak not in reply.text


# -- sizes --


def test_a_payload_is_measured_as_its_json_in_utf_8(desk: Desk) -> None:
    """SPEC 7: not escaped to ASCII, so that a character costs what it will cost on its way."""
    limit = 64 * 1024
    for fits in ("x" * limit, "é" * (limit // 2), "夜" * (limit // 3), "\n" * 99 + "x"):
        assert desk.call("POST", TASKS, {**DAILY, "prompt": fits}).status == 201
    for large in ("x" * (limit + 1), "é" * (limit // 2 + 1), '"' * (limit // 2 + 1)):
        reply = desk.call("POST", TASKS, {**DAILY, "prompt": large})
        assert (reply.status, reply.code) == (422, "payload_too_large")
        assert list(reply.wrong()) == ["action"]


def test_a_prompt_comes_back_as_it_was_sent(desk: Desk) -> None:
    """A prompt is data: tabs, line breaks, quotes and any script pass unchanged."""
    prompt = 'Tab\there\r\nand "quotes" \\ 夜勤 🌙 {{x}} $(rm -rf /) \u2028'
    assert desk.create(prompt=prompt)["action"]["prompt"] == prompt


def test_text_is_as_long_as_allowed(desk: Desk) -> None:
    """Lengths are counted in characters."""
    task = desk.create(title="夜" * 200, labels={"k" * 64: "v" * 256}, assistant_id="a" * 128)
    assert len(task["title"]) == 200


# -- bodies where none is needed --


@pytest.mark.parametrize("verb", ["pause", "resume", "trigger"])
def test_a_verb_needs_no_body_and_takes_an_empty_object(desk: Desk, verb: str) -> None:
    """SPEC 7."""
    for body in (None, "{}"):
        task = desk.create()
        reply = desk.call("POST", f"{TASKS}/{task['id']}/{verb}", body)
        assert reply.status == 200, reply.text


@pytest.mark.parametrize("verb", ["pause", "resume", "trigger"])
def test_a_verb_refuses_a_body_it_does_not_know(desk: Desk, verb: str) -> None:
    """SPEC 7: unknown fields are refused."""
    task = desk.create()
    reply = desk.call("POST", f"{TASKS}/{task['id']}/{verb}", {"force": True})
    assert (reply.status, reply.code) == (422, "invalid_request")
    assert desk.task(task["id"]) == task
