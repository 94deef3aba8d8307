"""The measured cases: every question answered right, every wrong expression refused."""

from datetime import UTC, datetime

import pytest

from nightshift.domain.errors import InvalidSchedule, NeverFires
from nightshift.domain.model.cron import parse_cron
from unit.schedule.golden import rows
from unit.schedule.making import calendar, fires


def test_every_golden_question_is_answered_right() -> None:
    """P9: gap, overlap, half-hour shifts, skipped days, month and year ends in 26 zones."""
    wrong = []
    for row in rows("cron-golden.jsonl"):
        after = datetime.fromisoformat(row["after"]).astimezone(UTC)
        answer = fires(calendar(row["expr"], zone=row["zone"]), after, len(row["next"]))
        if [f"{instant:%Y-%m-%dT%H:%M:%SZ}" for instant in answer] != row["next"]:
            wrong.append(row)
    assert wrong == []


@pytest.mark.parametrize("row", rows("cron-invalid.jsonl"), ids=lambda row: row["why"])
def test_every_wrong_expression_is_refused_without_being_repeated(row: dict[str, str]) -> None:
    """Section 5: everything outside the grammar is refused, and what never fires as such."""
    with pytest.raises(InvalidSchedule) as refused:
        parse_cron(row["expr"])
    assert isinstance(refused.value, NeverFires) == row["why"].startswith("never fires")
    assert refused.value.field == "schedule_spec.cron"
    assert len(refused.value.message) < 120
    assert len(row["expr"]) < 3 or row["expr"] not in refused.value.message
