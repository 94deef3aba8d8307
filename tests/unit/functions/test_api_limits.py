"""`/api/policy` shows every limit that a caller can run into (SPEC sections 7 and 9)."""

from api.limits import PolicyResponse, Throttle
from api.settings import ApiSettings
from nightshift.domain.model.override import PolicyInForce
from unit.functions.desk import DAILY, TASKS, VARIABLES, Desk


def shown(desk: Desk) -> dict[str, int]:
    """The limits as anybody with a token sees them."""
    limits: dict[str, int] = desk.call("GET", "/api/policy").json
    return limits


def test_what_is_shown_is_what_is_refused_beyond(desk: Desk) -> None:
    """Each length that is shown is allowed, and one more is not."""
    limits = shown(desk)
    key = "k" * limits["max_label_key_characters"]
    fields = {
        "title": "t" * limits["max_title_characters"],
        "assistant_id": "a" * limits["max_assistant_id_characters"],
        "prompt": "p" * limits["max_payload_bytes"],
        "labels": {key: "v" * limits["max_label_value_characters"]},
        "jitter_seconds": limits["max_jitter_seconds"],
        "max_lateness_seconds": limits["max_lateness_seconds"],
        "max_runs": limits["max_runs"],
    }
    beyond = {
        "title": fields["title"] + "t",  # type: ignore[operator]
        "assistant_id": fields["assistant_id"] + "a",  # type: ignore[operator]
        "prompt": fields["prompt"] + "p",  # type: ignore[operator]
        "labels": {key + "k": "v"},
        "jitter_seconds": limits["max_jitter_seconds"] + 1,
        "max_lateness_seconds": limits["max_lateness_seconds"] + 1,
        "max_runs": limits["max_runs"] + 1,
    }
    for name, value in fields.items():
        assert desk.call("POST", TASKS, DAILY | {name: value}).status == 201, name
        assert desk.call("POST", TASKS, DAILY | {name: beyond[name]}).status == 422, name
    assert desk.call("GET", TASKS, query=f"limit={limits['max_page_size']}").status == 200
    assert desk.call("GET", TASKS, query=f"limit={limits['max_page_size'] + 1}").status == 422


def test_the_request_rate_is_that_of_the_deployment(desk: Desk) -> None:
    """The gateway throttles; what it lets through is shown."""
    settings = ApiSettings.read(VARIABLES | {"THROTTLE_RATE": "50", "THROTTLE_BURST": "100"})
    assert settings.throttle == Throttle(50, 100)
    told = PolicyResponse.from_domain(PolicyInForce(settings.policy), settings.throttle)
    assert (told.requests_per_second, told.requests_at_once) == (50, 100)


def test_a_deployment_that_does_not_say_shows_no_rate(desk: Desk) -> None:
    """Null rather than a guess."""
    assert desk.call("GET", "/api/policy").json["requests_per_second"] is None
