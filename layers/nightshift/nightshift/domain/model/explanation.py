"""Why a task runs or does not: every rule in its order, and which one decides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from nightshift.domain.model.enums import Decision, Rule, Verdict


@dataclass(frozen=True, slots=True)
class RuleWord:
    """What one rule says; `detail` is a sentence for people, None where nothing is to be said."""

    rule: Rule
    verdict: Verdict
    detail: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The decision about a task at an instant, and the word of every rule on it.

    `reason` is the code that a record or a dispatch would carry, `run_id` the run that is meant.
    """

    at: datetime
    decision: Decision
    reason: str | None
    run_id: str | None
    rules: tuple[RuleWord, ...]

    @property
    def decided_by(self) -> Rule | None:
        """The rule that decides; None when all of them let it start."""
        words = (word.rule for word in self.rules if word.verdict is Verdict.DECIDES)
        return next(words, None)


@dataclass(slots=True)
class Walk:
    """An explanation in the making: who has passed so far, and with what sentence."""

    at: datetime
    run_id: str | None = None
    passed: dict[Rule, str] = field(default_factory=dict)

    def passes(self, rule: Rule, detail: str) -> None:
        """Note that a rule lets the occurrence start."""
        self.passed[rule] = detail

    def decided(
        self,
        decision: Decision,
        rule: Rule | None = None,
        detail: str | None = None,
        *,
        reason: str | None = None,
        open_rules: Mapping[Rule, str] | None = None,
    ) -> Explanation:
        """The explanation that ends here.

        Args:
            decision: what it comes to.
            rule: the one that decides; None when all have passed.
            detail: its sentence.
            reason: the code that goes with it.
            open_rules: what is to be said of rules that were not asked.
        """
        return Explanation(
            at=self.at,
            decision=decision,
            reason=reason,
            run_id=self.run_id,
            rules=tuple(self._word(each, rule, detail, open_rules or {}) for each in Rule),
        )

    def _word(
        self, rule: Rule, decider: Rule | None, detail: str | None, unasked: Mapping[Rule, str]
    ) -> RuleWord:
        if rule is decider:
            return RuleWord(rule, Verdict.DECIDES, detail)
        if rule in self.passed:
            return RuleWord(rule, Verdict.PASSES, self.passed[rule])
        return RuleWord(rule, Verdict.NOT_REACHED, unasked.get(rule))
