"""Which rows of the table go by themselves, and when: `expires_at` on the real engine."""

from datetime import timedelta

import builders
from nightshift.adapters.dynamodb import change_rows
from nightshift.domain.commands import DeleteTask, EditTask, PauseTask, ResumeTask
from nightshift.domain.model.idempotency import KEY_LIFETIME, IdempotencyKey
from real import RealWorld


def expiries(real: RealWorld, prefix: str) -> list[int | None]:
    """When each row whose sort key begins so may go (epoch seconds)."""
    rows = [row for row in real.rows() if row["sk"]["S"].startswith(prefix)]
    return [int(row["expires_at"]["N"]) if "expires_at" in row else None for row in rows]


def test_a_change_log_goes_a_while_after_its_task_and_not_before(real: RealWorld) -> None:
    """SPEC section 4: TTL after delete."""
    task = real.created(builders.create())
    for title in ("Second", "Third"):
        command = EditTask(user_id=task.user_id, task_id=task.id, title=title)
        real.management.edit_task(command, real.now)
    real.pausing.pause_task(PauseTask(task.user_id, task.id), real.now)
    real.pausing.resume_task(ResumeTask(task.user_id, task.id), real.now)
    assert expiries(real, "CHANGE#") == [None] * 5
    real.pass_time(timedelta(hours=1))
    real.management.delete_task(DeleteTask(task.user_id, task.id), real.now)
    gone = int((real.now + change_rows.LOG_LIFETIME).timestamp())
    assert expiries(real, "CHANGE#") == [gone] * 6


def test_the_row_of_a_key_goes_when_the_key_is_free_again(real: RealWorld) -> None:
    """SPEC section 4: TTL only cleans."""
    real.created(builders.create(key=IdempotencyKey("morning", "digest")))
    free = int((real.now + KEY_LIFETIME).timestamp())
    assert expiries(real, "IDEMPOTENCY#") == [free]
