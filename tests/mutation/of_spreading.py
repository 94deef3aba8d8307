"""The least crowded minute, and that a task stays in it, broken one piece at a time."""

from typing import Final

from mutation.breaks import MEMORY_CONTRACT, RULES, TABLE_CONTRACT, Break

_SERVICES: Final = "layers/nightshift/nightshift/domain/services"
_MODEL: Final = "layers/nightshift/nightshift/domain/model"
_TABLE: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_MEMORY: Final = "layers/toolkit/nightshift_toolkit/memory"


def _spreading(name: str, before: str, after: str) -> Break:
    return Break(f"rule: {name}", f"{_SERVICES}/spreading.py", before, after, (RULES,))


def _crowd(name: str, before: str, after: str) -> Break:
    suites = (MEMORY_CONTRACT, TABLE_CONTRACT)
    return Break(f"rule: {name}", f"{_MODEL}/crowd.py", before, after, suites)


def _table(name: str, before: str, after: str, file: str = "due_line") -> Break:
    return Break(f"table: {name}", f"{_TABLE}/{file}.py", before, after, (TABLE_CONTRACT,))


def _memory(name: str, before: str, after: str) -> Break:
    return Break(f"memory: {name}", f"{_MEMORY}/tasks.py", before, after, (MEMORY_CONTRACT,))


BREAKS: Final = (
    _spreading(
        "every edit moves an automatic place",
        "or (before and _keeps_place(definition, before))",
        "",
    ),
    _spreading(
        "an automatic place outlives its window",
        "        and definition.jitter_seconds == before.jitter_seconds\n",
        "",
    ),
    _spreading(
        "an automatic place outlives its schedule",
        "        and definition.schedule.same_times_as(before.schedule)\n",
        "",
    ),
    _spreading(
        "the first empty minute is everybody's",
        "(minute - own) % minutes",
        "minute",
    ),
    _spreading("the most crowded minute is taken", "return min(known", "return max(known"),
    _spreading(
        "a far window is counted on its own day alone",
        "windows = {nominal, nominal - (nominal - now) // _DAY * _DAY}",
        "windows = {nominal}",
    ),
    _spreading(
        "a full window is looked at once",
        "LOOKS: Final = 3",
        "LOOKS: Final = 1",
    ),
    Break(
        "rule: an automatic place reaches past the next occurrence",
        f"{_MODEL}/jitter.py",
        "else min(place, widest)",
        "else place",
        (RULES,),
    ),
    Break(
        "rule: an automatic place does without a window",
        f"{_SERVICES}/definition.py",
        "definition.jitter_seconds < LEAST_WINDOW_SECONDS",
        "definition.jitter_seconds < 0",
        (RULES,),
    ),
    _crowd(
        "minutes after a cut count as empty",
        "            known = min(known, (entries[limit][0] - since) // MINUTE)\n",
        "            pass\n",
    ),
    _crowd(
        "the task in question counts",
        "counts[(due_at - since) // MINUTE] += counted",
        "counts[(due_at - since) // MINUTE] += 1",
    ),
    _table(
        "who is to wake crowds a minute",
        "not hint.wakes and hint.ref.task_id != besides",
        "hint.ref.task_id != besides",
    ),
    _table(
        "one shard is counted for all",
        "for shard in range(shards):\n            bucket = keys.due_bucket(priority, shard)\n"
        "            entries = table.query_due_between",
        "for shard in range(1):\n            bucket = keys.due_bucket(priority, shard)\n"
        "            entries = table.query_due_between",
    ),
    _memory(
        "who is to wake crowds a minute",
        "not hint.wakes and hint.ref.task_id != besides",
        "hint.ref.task_id != besides",
    ),
)
