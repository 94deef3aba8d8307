"""Schedules in Chinese."""

from collections.abc import Sequence
from typing import Final

from nightshift.domain.model.shape import (
    Cadence,
    ClockTimes,
    Days,
    Hourly,
    Timing,
    row_of,
)
from nightshift.domain.model.words_english import clock

WEEKDAYS: Final = ("日", "一", "二", "三", "四", "五", "六")
ORDINALS: Final = ("", "第一个", "第二个", "第三个", "第四个", "第五个")
_UNITS: Final = (("天", 86_400), ("小时", 3600), ("分钟", 60), ("秒", 1))


class Chinese:
    """The sentences of one language; the other one has the same methods."""

    def cron(self, timing: Timing, days: Days) -> str:
        """Say when one expression fires."""
        when = self._timing(timing)
        if isinstance(timing, ClockTimes):
            return f"{self._days(days)} {when}"
        return when if days.every_day else f"{self._days(days)}，{when}"

    def union(self, parts: Sequence[str]) -> str:
        """Say several expressions."""
        return "；以及".join(parts)

    def every(self, seconds: int, anchor: str) -> str:
        """Say a fixed interval."""
        return f"{self._each(seconds)}，从 {anchor} 起算"

    def once(self, at: str) -> str:
        """Say a single time."""
        return f"仅一次：{at}"

    def excluded(self, dates: Sequence[tuple[str, str]], times: Sequence[tuple[str, str]]) -> str:
        """Say what is left out."""
        spans = [a if a == b else f"{a} 至 {b}" for a, b in dates]
        spans += [f"每天 {a} 至 {b}" for a, b in times]
        return f"，但不包括 {'、'.join(spans)}"

    def bounds(self, starts_at: str | None, ends_at: str | None, max_runs: int | None) -> str:
        """Say the bounds."""
        parts = [
            starts_at and f"，自 {starts_at} 起",
            ends_at and f"，至 {ends_at} 止",
            max_runs and f"，最多 {max_runs} 次",
        ]
        return "".join(part for part in parts if part)

    def sentence(self, text: str, zone: str) -> str:
        """Finish what was said."""
        return f"{text}（{zone}）"

    def moved(self, skipped: str, runs: str) -> str:
        """Say that a fire was moved by a gap."""
        return f"当天时钟拨快，跳过 {skipped}；改在拨快后的 {runs} 运行。"

    def first_only(self, wall: str) -> str:
        """Say that a fixed time in an overlap fires in the first pass."""
        return f"当天时钟拨慢，{wall} 出现两次；只在第一次运行。"

    def one_of_two(self, wall: str, *, second: bool) -> str:
        """Say which pass of an overlap a fire belongs to."""
        return f"当天时钟拨慢，{wall} 出现两次；这是第{'二' if second else '一'}次。"

    def _timing(self, timing: Timing) -> str:
        if isinstance(timing, ClockTimes):
            return "、".join(clock(time) for time in timing.times)
        if isinstance(timing, Cadence):
            every = self._each(timing.step * 60)
            if not timing.around_the_clock:
                return f"{clock(timing.first)} 至 {clock(timing.last)} {every}"
            return every if timing.first == 0 else f"从 {clock(timing.first)} 起{every}"
        if isinstance(timing, Hourly):
            if timing.minutes == (0,):
                return "每小时整点"
            return f"每小时的第 {_listed(timing.minutes)} 分"
        minutes = (
            "每分钟" if row_of(timing.minutes) == (0, 59) else f"第 {_listed(timing.minutes)} 分"
        )
        return f"{_listed(timing.hours)} 点的{minutes}"

    def _days(self, days: Days) -> str:
        if days.every_day:
            return "每天"
        months = "每月" if days.months is None else f"每年 {_listed(days.months)} 月"
        space = " " if days.dates else ""
        dates = f"{months}{space}{self._dates(days)}" if days.by_date else ""
        weekdays = self._weekdays(days, months) if days.by_weekday else ""
        if days.both:
            return f"{dates}中逢{self._weekdays(days, '').removeprefix('每')}的日子"
        if dates and weekdays:
            return f"{dates}，以及{weekdays}"
        return dates or weekdays or f"{months}的每一天"

    def _dates(self, days: Days) -> str:
        dates = f"{_listed(days.dates)} 日" if days.dates else ""
        last = "最后一天" if days.last_day else ""
        return f"{dates}和{last}" if dates and last else dates or last

    def _weekdays(self, days: Days, months: str) -> str:
        weekdays = days.weekdays or ()
        parts = []
        if weekdays:
            row = row_of(tuple(weekday or 7 for weekday in weekdays))
            named = [f"周{WEEKDAYS[weekday]}" for weekday in weekdays]
            days_named = f"{named[0]}至{named[-1]}" if row else "、".join(named)
            of_months = f"{months}的" if days.months and months else ""
            parts.append(f"{of_months}每{days_named}")
        if days.nth_weekdays:
            nth = "、".join(
                f"{ORDINALS[n]}周{WEEKDAYS[weekday]}" for weekday, n in days.nth_weekdays
            )
            parts.append(f"{months or '当月'}的{nth}")
        return "和".join(parts)

    def _each(self, seconds: int) -> str:
        parts = []
        for unit, length in _UNITS:
            count, seconds = divmod(seconds, length)
            if count:
                parts.append((count, unit))
        if len(parts) == 1 and parts[0][0] == 1:
            return f"每{parts[0][1]}"
        return f"每 {' '.join(f'{count} {unit}' for count, unit in parts)}一次"


def _listed(values: Sequence[int]) -> str:
    row = row_of(tuple(values))
    return f"{row[0]} 至 {row[1]}" if row else "、".join(str(value) for value in values)
