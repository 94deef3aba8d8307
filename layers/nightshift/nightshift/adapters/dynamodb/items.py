"""The rows of the table: attributes and their types, nothing else.

The classes describe and (de)serialise rows; `table.py` sends them. None of them is bound to a
table, so any number of tables can be used side by side.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Self

from pynamodb.attributes import (
    Attribute,
    BooleanAttribute,
    JSONAttribute,
    ListAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
)
from pynamodb.constants import NULL, STRING
from pynamodb.exceptions import AttributeNullError
from pynamodb.models import Model

from nightshift.adapters.dynamodb.keys import Key
from nightshift.domain.model.instants import format_instant, parse_instant


class InstantAttribute(Attribute[datetime]):
    """A UTC instant in the one stored format, which sorts as text (K9)."""

    attr_type = STRING

    def serialize(self, value: datetime) -> str:
        """The fixed-width text of an instant."""
        return format_instant(value)

    def deserialize(self, value: str) -> datetime:
        """The instant of a stored text; ValueError when it is not one."""
        return parse_instant(value)


class Item(Model):
    """A row with its primary key."""

    pk = UnicodeAttribute(hash_key=True)
    sk = UnicodeAttribute(range_key=True)

    @classmethod
    def at(cls, key: Key, **attributes: Any) -> Any:
        """A row under this key."""
        return cls(key.pk, key.sk, **attributes)

    @property
    def key(self) -> Key:
        """Where this row is."""
        return Key(self.pk, self.sk)

    # A tick reads and writes five rows for each start. No row here has defaults, discriminators or
    # validated maps, and the library's walk over all of those would take half of our own time.

    @classmethod
    def from_raw_data(cls, data: Mapping[str, Any]) -> Self:
        """The row that DynamoDB spells so; what is absent or null is None."""
        item = cls.__new__(cls)
        item.attribute_values = {
            name: attribute.deserialize(attribute.get_value(typed))
            for name, attribute in cls.get_attributes().items()
            if (typed := data.get(attribute.attr_name)) and NULL not in typed
        }
        return item

    def serialize(self, null_check: bool = True) -> dict[str, dict[str, Any]]:  # noqa: FBT001, FBT002
        """The row as DynamoDB spells it, without what is None.

        Raises:
            AttributeNullError: something that every such row has is None.
        """
        values, row = self.attribute_values, {}
        for name, attribute in self.get_attributes().items():
            value = values.get(name)
            if value is not None:
                row[attribute.attr_name] = {attribute.attr_type: attribute.serialize(value)}
            elif null_check and not attribute.null:
                raise AttributeNullError(name)
        return row

    def _set_defaults(self, _user_instantiated: bool = True) -> None:  # noqa: FBT001, FBT002
        """There are none."""


class TaskItem(Item):
    """A task: definition, state and cursor; small, whatever its prompt weighs."""

    user_id = UnicodeAttribute()
    task_id = UnicodeAttribute()
    revision = NumberAttribute()
    created_at = InstantAttribute()
    updated_at = InstantAttribute()
    due_shard = NumberAttribute()
    slot_shard = NumberAttribute()

    title = UnicodeAttribute()
    action_kind = UnicodeAttribute()
    payload_revision = NumberAttribute()
    schedule = JSONAttribute()
    timeout_seconds = NumberAttribute()
    context_mode = UnicodeAttribute()
    thread_id = UnicodeAttribute(null=True)
    assistant_id = UnicodeAttribute(null=True)
    overlap_policy = UnicodeAttribute()
    priority = NumberAttribute()
    max_lateness_seconds = NumberAttribute(null=True)
    jitter_seconds = NumberAttribute()
    jitter_place = NumberAttribute(null=True)
    retry = JSONAttribute(null=True)
    notify = JSONAttribute(null=True)
    pause_after_failures = NumberAttribute(null=True)
    include_previous_result = BooleanAttribute(null=True)
    labels = JSONAttribute()

    status = UnicodeAttribute()
    next_run_at = InstantAttribute(null=True)
    due_at = InstantAttribute(null=True)
    due_bucket = UnicodeAttribute(null=True)
    due_key = UnicodeAttribute(null=True)
    tzdata_version = UnicodeAttribute(null=True)
    planned_from = InstantAttribute(null=True)
    blocked_reason = UnicodeAttribute(null=True)
    pause_reason = UnicodeAttribute(null=True)
    pause_until = InstantAttribute(null=True)
    active_run_id = UnicodeAttribute(null=True)
    last_run_at = InstantAttribute(null=True)
    last_run_id = UnicodeAttribute(null=True)
    last_thread_id = UnicodeAttribute(null=True)
    last_status = UnicodeAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    run_count = NumberAttribute()
    scheduled_run_count = NumberAttribute()
    failures_in_a_row = NumberAttribute(null=True)
    last_success_run_id = UnicodeAttribute(null=True)


class PayloadItem(Item):
    """The prompt or command of one revision; written once."""

    revision = NumberAttribute()
    kind = UnicodeAttribute()
    text = UnicodeAttribute()


class ThreadItem(Item):
    """A thread that exists and is its partition's user's."""

    created_at = InstantAttribute()


class ChangeItem(Item):
    """An entry of a task's change log; `fields` holds pairs of old and new."""

    revision = NumberAttribute()
    changed_at = InstantAttribute()
    changed_by = UnicodeAttribute()
    verb = UnicodeAttribute()
    fields = JSONAttribute()
    expires_at = NumberAttribute(null=True)


class UsedKeyItem(Item):
    """A use of an idempotency key; `expires_at` is compared, removal by the table only cleans."""

    digest = UnicodeAttribute()
    made = UnicodeAttribute()
    used_at = InstantAttribute()
    expires_at = NumberAttribute()


class QuotaItem(Item):
    """How many tasks a user has."""

    tasks = NumberAttribute()


class HolderItem(Item):
    """A seat or a thread lock: who holds it."""

    run_id = UnicodeAttribute()
    nonce = UnicodeAttribute()


class SlotItem(Item):
    """The active run of a task, with all that a repeated launch needs."""

    run_id = UnicodeAttribute()
    nonce = UnicodeAttribute()
    state = UnicodeAttribute()
    user_id = UnicodeAttribute()
    seat = NumberAttribute()
    user_seat = NumberAttribute(null=True)
    locked_thread_id = UnicodeAttribute(null=True)
    trigger = UnicodeAttribute()
    scheduled_for = InstantAttribute(null=True)
    thread_id = UnicodeAttribute()
    assistant_id = UnicodeAttribute(null=True)
    title = UnicodeAttribute()
    timeout_seconds = NumberAttribute()
    retry = JSONAttribute(null=True)
    notify = JSONAttribute(null=True)
    failures_before = NumberAttribute(null=True)
    pause_after_failures = NumberAttribute(null=True)
    previous = JSONAttribute(null=True)
    payload_revision = NumberAttribute()
    admitted_at = InstantAttribute()
    lease_until = InstantAttribute()
    launch_deadline = InstantAttribute()
    consumes_once = BooleanAttribute()
    overwritten = JSONAttribute()
    started_at = InstantAttribute(null=True)
    cancel_requested = BooleanAttribute(null=True)


class AttemptItem(MapAttribute[Any, Any]):
    """An attempt that another followed; the workflow writes it (`functions/workflow`)."""

    attempt = NumberAttribute()
    reason = UnicodeAttribute()
    exit_code = NumberAttribute(null=True)
    finished_at = InstantAttribute()


class RunItem(Item):
    """The record of one occurrence or trigger."""

    run_id = UnicodeAttribute()
    user_id = UnicodeAttribute()
    trigger = UnicodeAttribute()
    status = UnicodeAttribute()
    created_at = InstantAttribute()
    schedule = JSONAttribute()
    timezone = UnicodeAttribute()
    scheduled_for = InstantAttribute(null=True)
    thread_id = UnicodeAttribute(null=True)
    reason = UnicodeAttribute(null=True)
    error = UnicodeAttribute(null=True)
    result = JSONAttribute(null=True)
    attempt = NumberAttribute()
    attempts = ListAttribute(of=AttemptItem, null=True)
    folded = NumberAttribute()
    folded_through = InstantAttribute(null=True)
    folded_cut = BooleanAttribute()
    started_at = InstantAttribute(null=True)
    finished_at = InstantAttribute(null=True)
    nonce = UnicodeAttribute(null=True)
    slot_shard = NumberAttribute(null=True)
    seat = NumberAttribute(null=True)
    user_seat = NumberAttribute(null=True)
    locked_thread_id = UnicodeAttribute(null=True)
    payload_revision = NumberAttribute(null=True)
    notify = JSONAttribute(null=True)
    title = UnicodeAttribute(null=True)
    consumes_once = BooleanAttribute()
    failures_before = NumberAttribute(null=True)
    pause_after_failures = NumberAttribute(null=True)
    previous = JSONAttribute(null=True)
    picked_up_attempt = NumberAttribute(null=True)
    picked_up_by = UnicodeAttribute(null=True)
    picked_up_at = InstantAttribute(null=True)
    can_pause = BooleanAttribute(null=True)
    pause_requested = BooleanAttribute(null=True)
    paused_at = InstantAttribute(null=True)
    paused_seconds = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class OutboxItem(Item):
    """A notice that was written with its fact and is not delivered to everybody yet."""

    user_id = UnicodeAttribute()
    notice = JSONAttribute()
    webhook = UnicodeAttribute(null=True)
    tries = NumberAttribute()
    done = JSONAttribute()


class SweepItem(Item):
    """How far the tasks have been gone through for one version of the zone rules."""

    tzdata_version = UnicodeAttribute()
    cursor = UnicodeAttribute(null=True)
    found = BooleanAttribute()
    done = BooleanAttribute()


class PolicyItem(Item):
    """The settings that override the deployed ones, and who changed them last."""

    settings = JSONAttribute()
    revision = NumberAttribute(null=True)
    changed_by = UnicodeAttribute(null=True)
    changed_at = InstantAttribute(null=True)
    reason = UnicodeAttribute(null=True)
