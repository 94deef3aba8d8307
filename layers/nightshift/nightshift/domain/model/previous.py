"""The previous result: what a run is handed of the last success of its task, as data.

Which success that is, is settled with the admission; what it left is read at the launch, and
travels beside the prompt, never in it. A record that is gone from the history has no result left,
and the run is told so.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nightshift.domain.model.task import Task


@dataclass(frozen=True, slots=True)
class Previous:
    """The success whose result a run is to be handed; `run_id` is None where there was none."""

    run_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousResult:
    """What a run is handed: the success it was, and its result while its record is there.

    Without `run_id` the task has never succeeded; with it and without `finished_at` the record is
    gone.
    """

    run_id: str | None = None
    scheduled_for: datetime | None = None
    finished_at: datetime | None = None
    result: Mapping[str, Any] | None = None


def previous_of(task: "Task") -> Previous | None:
    """What a run of this task is to be handed; None where its owner did not ask for it."""
    if not task.definition.include_previous_result:
        return None
    return Previous(task.state.last_success_run_id)
