"""The change log as people see it."""

from typing import Any

from api.wire import Wire
from nightshift.domain.model.change import Change
from nightshift.domain.model.instants import format_instant


class FieldChangeResponse(Wire):
    """A field before and after; null where it was or became empty."""

    old: Any
    new: Any


class ChangeResponse(Wire):
    """An entry of a task's change log: the revision it led to, and the fields that differ.

    A prompt or command is named by its kind and the revision that it came with, never by its text.
    """

    revision: int
    at: str
    by: str
    verb: str
    fields: dict[str, FieldChangeResponse]

    @classmethod
    def from_domain(cls, change: Change) -> "ChangeResponse":
        """The entry."""
        return cls(
            revision=change.revision,
            at=format_instant(change.at),
            by=change.by,
            verb=change.verb.value,
            fields={
                name: FieldChangeResponse(old=field.old, new=field.new)
                for name, field in change.fields.items()
            },
        )


class ChangePage(Wire):
    """Some entries of a change log, and the cursor of the rest."""

    items: list[ChangeResponse]
    next_cursor: str | None
