"""Failures in a row: which runs count, and when they pause their task (section 3).

What counts is what a task does by itself, so runs by the clock of a recurring task: a failure adds
one, whether the run failed, timed out or could not be launched, and however many attempts it took;
a success starts anew. All other ends leave the count: a run that was cancelled, an occurrence that
was skipped, and a run by hand, with which somebody tries what is wrong while the clock goes on.
Whoever puts the task back starts anew too.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from nightshift.domain.model.enums import Outcome, Trigger

if TYPE_CHECKING:
    from nightshift.domain.model.task import Task


@dataclass(frozen=True, slots=True)
class Streak:
    """How many failures in a row a run found at its admission, and after how many to pause.

    A run keeps it, so that its end needs nothing of the task: what people change meanwhile counts
    from the next admission on. `pause_after` is None where no number of failures pauses.
    """

    before: int
    pause_after: int | None = None

    def pause_reason(self, outcome: Outcome) -> str | None:
        """Why a run that ended so pauses its task; None where it does not."""
        failures = self.before + 1
        if outcome is not Outcome.FAILED or self.pause_after is None:
            return None
        if failures < self.pause_after:
            return None
        counted = f"{failures} failures in a row" if failures > 1 else "a failure"
        return f"Paused after {counted}."


def streak_of(task: "Task", trigger: Trigger) -> Streak | None:
    """What a run of this task takes with it at its admission; None for one that does not count."""
    if not task.recurring or trigger is not Trigger.SCHEDULE:
        return None
    return Streak(task.state.failures_in_a_row, task.definition.pause_after_failures)
