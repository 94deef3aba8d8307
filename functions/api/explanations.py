"""Why a task runs or does not, as people see it."""

from api.wire import Wire
from nightshift.domain.model.explanation import Explanation
from nightshift.domain.model.instants import format_instant


class RuleResponse(Wire):
    """What one rule says: it passes, it decides, or it was not reached."""

    rule: str
    verdict: str
    detail: str | None


class ExplanationResponse(Wire):
    """What all rules come to at an instant, in the order in which they are asked.

    `decision` is what the next look of the clock does about the task (`starts`, `skips`, `waits`,
    `blocks`, `moves_on`, `wakes`, `rests`), or what is known of the time asked about (`comes`,
    `recorded`, `no_occurrence`, `no_record`). `reason` is the code that a record would carry.
    """

    at: str
    decision: str
    reason: str | None
    run_id: str | None
    rules: list[RuleResponse]

    @classmethod
    def from_domain(cls, explanation: Explanation) -> "ExplanationResponse":
        """The explanation, rule by rule."""
        return cls(
            at=format_instant(explanation.at),
            decision=explanation.decision.value,
            reason=explanation.reason,
            run_id=explanation.run_id,
            rules=[
                RuleResponse(rule=word.rule.value, verdict=word.verdict.value, detail=word.detail)
                for word in explanation.rules
            ],
        )
