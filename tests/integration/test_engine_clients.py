"""Clients of the engine: one that was asked for in a way of its own is nobody else's."""

from botocore.config import Config

from nightshift_toolkit.local_cloud.engine import Engine


def test_a_client_with_a_configuration_of_its_own_is_not_handed_to_others(engine: Engine) -> None:
    """What one caller hooks into such a client must not meet another's calls."""
    own = engine.client("sqs", config=Config(retries={"total_max_attempts": 1}))
    shared = engine.client("sqs")
    assert shared is not own
    assert engine.client("sqs") is shared
