"""Settings: read once, checked at the first invocation, one sentence that names the variable."""

from dataclasses import FrozenInstanceError, fields

import pytest

from api.settings import ApiSettings
from completion.settings import CompletionSettings
from environment import Environment, UnusableSettings
from nightshift.composition.production import PRODUCTION_POLICY
from nightshift.domain.model.policy import Policy
from nightshift.domain.model.webhook import WebhookTargets
from notices.settings import NoticesSettings
from tick.settings import TickSettings
from unit.functions.desk import VARIABLES


def test_a_function_needs_its_table_its_machine_and_its_secret_and_nothing_else() -> None:
    """SPEC 9: everything else has its default."""
    assert ApiSettings.read(VARIABLES).policy == PRODUCTION_POLICY
    assert TickSettings.read(VARIABLES).window_seconds == 0
    assert CompletionSettings.read({"TABLE_NAME": "nightshift"}).policy == PRODUCTION_POLICY


@pytest.mark.parametrize("name", ["TABLE_NAME", "STATE_MACHINE_ARN"])
@pytest.mark.parametrize("value", [None, "", "  "])
def test_what_is_missing_is_named(name: str, value: str | None) -> None:
    """One clear sentence."""
    variables = {**VARIABLES, name: value} if value is not None else dict(VARIABLES)
    if value is None:
        del variables[name]
    for settings in (ApiSettings, TickSettings):
        with pytest.raises(UnusableSettings, match=rf"^{name} is not set\.$"):
            settings.read(variables)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DUE_SHARDS", "0"),
        ("SLOT_SHARDS", "65"),
        ("TICK_WINDOW_SECONDS", "-1"),
        ("POLL_INTERVAL_SECONDS", "1.5"),
        ("MAX_CONCURRENT_RUNS", "many"),
        ("MAX_CONCURRENT_RUNS", "5001"),
        ("MAX_CONCURRENT_RUNS", "１０"),
        ("LAUNCH_LEASE_SECONDS", "4"),
        ("LAUNCH_DEADLINE_SECONDS", "659"),
        ("DEFAULT_TIMEOUT_SECONDS", "3601"),
        ("MAX_HISTORY_ENTRIES_PER_TASK", "0"),
        ("ALLOW_SHELL_ACTIONS", "yes"),
        ("WORKFLOW_TIMEOUT_SECONDS", "7799"),
    ],
)
def test_what_cannot_be_used_is_named(name: str, value: str) -> None:
    """One clear sentence, in the words of the environment and without the value."""
    with pytest.raises(UnusableSettings) as refusal:
        TickSettings.read({**VARIABLES, name: value})
    sentence = str(refusal.value)
    assert name in sentence
    assert sentence.endswith(".")
    assert name.lower() not in sentence


def test_every_limit_can_be_set_by_its_name() -> None:
    """SPEC 9: policy settings in upper case."""
    changed = {
        entry.name.upper(): "true" if entry.name == "allow_shell_actions" else "700"
        for entry in fields(Policy)
    } | {"LAUNCH_LEASE_SECONDS": "50", "WORKFLOW_TIMEOUT_SECONDS": "2400"}
    exceptions = {
        "allow_shell_actions": True,
        "launch_lease_seconds": 50,
        "workflow_timeout_seconds": 2400,
    }
    policy = Environment(changed).policy()
    for entry in fields(Policy):
        assert getattr(policy, entry.name) == exceptions.get(entry.name, 700)


def test_a_run_fits_into_the_deployed_workflow() -> None:
    """SPEC 8: policy may not exceed the deployed ceiling."""
    variables = {
        "MAX_TIMEOUT_SECONDS": "10000",
        "WORKER_SILENCE_SECONDS": "100",
        "MAX_PAUSE_SECONDS": "50",
    }
    assert Environment(variables | {"WORKFLOW_TIMEOUT_SECONDS": "10450"}).policy()
    with pytest.raises(UnusableSettings, match="WORKFLOW_TIMEOUT_SECONDS"):
        Environment(variables | {"WORKFLOW_TIMEOUT_SECONDS": "10449"}).policy()


def test_a_window_fits_into_the_time_limit_of_its_function() -> None:
    """P17: a window that is cut short leaves a hole before the next one."""
    variables = {**VARIABLES, "TICK_WINDOW_SECONDS": "65"}
    assert TickSettings.read(variables | {"TICK_TIMEOUT_SECONDS": "95"}).window_seconds == 65
    with pytest.raises(UnusableSettings, match="TICK_TIMEOUT_SECONDS must be at least 30 more"):
        TickSettings.read(variables | {"TICK_TIMEOUT_SECONDS": "94"})


def test_receivers_of_notices_are_read_and_webhooks_lead_where_the_operator_says() -> None:
    """What is empty is nobody."""
    variables = {"TABLE_NAME": "nightshift", "WEBHOOK_SECRET_ARN": "arn:secret"}
    settings = NoticesSettings.read(variables | {"NOTICE_BUS_NAME": "", "NOTICE_TOPIC_ARN": ""})
    assert (settings.bus_name, settings.topic_arn) == (None, None)
    assert settings.webhook_targets is WebhookTargets.PUBLIC
    desk = NoticesSettings.read(variables | {"WEBHOOK_TARGETS": "loopback"})
    assert desk.webhook_targets is WebhookTargets.LOOPBACK
    with pytest.raises(UnusableSettings, match=r"^WEBHOOK_TARGETS must be public or loopback\.$"):
        NoticesSettings.read(variables | {"WEBHOOK_TARGETS": "private"})
    with pytest.raises(UnusableSettings, match=r"^WEBHOOK_SECRET_ARN is not set\.$"):
        NoticesSettings.read({"TABLE_NAME": "nightshift"})


def test_settings_do_not_change_after_they_were_read() -> None:
    """B146: frozen; another environment needs another deployment."""
    settings = ApiSettings.read(VARIABLES)
    with pytest.raises(FrozenInstanceError):
        settings.table_name = "other"  # type: ignore[misc]
