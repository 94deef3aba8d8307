"""What is said of the next look, in a life in which runs end unheard and clocks differ.

A look settles first what is unsettled, which an explanation does not ask about. So what is held to
it is what that cannot change: who starts, who rests, and who is too late.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from random import Random

from nightshift.domain.commands import ExplainTask
from nightshift.domain.model.enums import Decision
from nightshift.domain.model.explanation import Explanation
from nightshift.domain.services.explaining import Explaining
from simulation.judge import Wrong
from simulation.rows import SeenRows

ASKED = 3
"""Tasks that are asked about before a look, those that are due first."""


@dataclass(frozen=True)
class Said:
    """What was said of a task, and which records it had then."""

    task_id: str
    explanation: Explanation
    runs: frozenset[str]


class Explained:
    """Asks before a look why tasks run or do not, and holds the look to it."""

    def __init__(self, rows: SeenRows) -> None:
        self.decisions: Counter[str] = Counter()
        self._rows = rows
        self._random = Random(0)  # noqa: S311 - a life, not a secret
        self._explaining = Explaining(tasks=rows.tasks, runs=rows.runs, policies=rows.policies)

    def before(self, clock: datetime) -> Sequence[Said]:
        """What is said of some tasks; it writes nothing, or the judge would see it."""
        tasks = list(self._rows.all_tasks())
        self._random.shuffle(tasks)
        tasks.sort(key=lambda task: not task.is_due(clock))
        return [
            Said(
                task.id,
                self._explaining.explain_task(ExplainTask(task.user_id, task.id), clock),
                frozenset(self._rows.runs_of(task.id)),
            )
            for task in tasks[:ASKED]
        ]

    def compare(self, said: Sequence[Said], *, calm: bool) -> None:
        """Hold a look that nothing disturbed to what was said of it.

        Raises:
            Wrong: it did something else.
        """
        for one in said if calm else ():
            decision, reason = one.explanation.decision, one.explanation.reason
            runs = self._rows.runs_of(one.task_id)
            run = runs.get(one.explanation.run_id or "")
            self.decisions[decision] += 1
            if decision is Decision.RESTS and runs.keys() - one.runs:
                raise Wrong(f"{one.task_id} should rest: {one.explanation}")
            if decision is Decision.STARTS and run is None:
                raise Wrong(f"{one.task_id} should start: {one.explanation}")
            if reason == "too_late" and (run is None or run.reason != reason):
                raise Wrong(f"{one.task_id} should be too late: {one.explanation}")
