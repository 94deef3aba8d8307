"""What the API answers about a schedule that somebody thinks of."""

from typing import Any

from api.wire import Wire
from nightshift.domain.model.instants import format_instant
from nightshift.domain.services.previews import SchedulePreview


class FireResponse(Wire):
    """One time of a previewed schedule; with jitter, when it starts at the latest."""

    utc: str
    local: str
    note: str | None
    effective_until: str | None


class SchedulePreviewResponse(Wire):
    """A schedule in words and in its normal form, and its next times."""

    schedule: str
    schedule_type: str
    schedule_spec: dict[str, Any]
    timezone: str
    next: list[FireResponse]

    @classmethod
    def from_domain(cls, preview: SchedulePreview) -> "SchedulePreviewResponse":
        """The preview; local times carry their offset from UTC."""
        schedule = preview.schedule
        fires = [
            FireResponse(
                utc=format_instant(fire.nominal),
                local=fire.local.isoformat(timespec="milliseconds"),
                note=fire.note,
                effective_until=None
                if fire.effective_until is None
                else format_instant(fire.effective_until),
            )
            for fire in preview.fires
        ]
        return cls(
            schedule=preview.words,
            schedule_type=schedule.kind,
            schedule_spec=schedule.spec(),
            timezone=schedule.zone,
            next=fires,
        )
