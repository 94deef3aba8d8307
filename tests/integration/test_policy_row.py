"""The policy row as an operator may write it, on the real engine."""

import pytest

import builders
from nightshift.domain.commands import ChangePolicy
from nightshift.domain.errors import CorruptRecord
from nightshift.domain.model.override import Override
from nightshift.domain.services.limits import change_policy
from real import RealWorld


def write(real: RealWorld, **attributes: dict[str, str]) -> None:
    row = {"pk": {"S": "CONTROL"}, "sk": {"S": "POLICY"}, **attributes}
    real.dynamodb.put_item(TableName=real.table.name, Item=row)


def test_the_row_overrides_the_deployed_limits_at_the_next_look(real: RealWorld) -> None:
    """SPEC section 9: the budget changes without a deploy."""
    real.created(builders.create())
    real.pass_time(builders.HOUR)
    write(real, settings={"S": '{"max_concurrent_runs": 0}'})
    real.look()
    assert real.runs.slots() == []
    write(real, settings={"S": '{"max_concurrent_runs": 1}'})
    real.look()
    assert len(real.runs.slots()) == 1


@pytest.mark.parametrize(
    "attributes",
    [
        {},
        {"max_concurrent_runs": {"N": "3"}},
        {"settings": {"S": "{"}},
        {"settings": {"S": "[]"}},
        {"settings": {"S": '{"unknown": 1}'}},
        {"settings": {"S": '{"max_concurrent_runs": true}'}},
        {"settings": {"S": '{"max_concurrent_runs": -1}'}},
    ],
)
def test_a_row_that_is_not_usable_is_loud_and_starts_nothing(
    real: RealWorld, attributes: dict[str, dict[str, str]]
) -> None:
    """SPEC section 6: a failure of the tick itself raises."""
    real.created(builders.create())
    real.pass_time(builders.HOUR)
    write(real, **attributes)
    with pytest.raises(CorruptRecord):
        real.look()
    assert real.runs.slots() == []


def test_a_row_written_by_hand_can_be_changed_through_the_api(real: RealWorld) -> None:
    """SPEC section 9: what it sets is kept, and nobody is named for it."""
    write(real, settings={"S": '{"max_concurrent_runs": 3}'})
    assert real.policies.in_force().override == Override(settings={"max_concurrent_runs": 3})
    command = ChangePolicy(changed_by="operator", settings={"max_concurrent_runs_per_user": 2})
    after = change_policy(real.policies, command, builders.NOW)
    assert real.policies.in_force() == after
    assert after.policy.max_concurrent_runs == 3
    assert after.policy.max_concurrent_runs_per_user == 2
