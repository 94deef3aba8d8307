"""What an explanation goes by, broken one piece at a time."""

from typing import Final

from mutation.breaks import RULES, Break

_SERVICES: Final = "layers/nightshift/nightshift/domain/services"


def _said(name: str, path: str, before: str, after: str) -> Break:
    return Break(f"explanation: {name}", f"{_SERVICES}/{path}.py", before, after, (RULES,))


BREAKS: Final = (
    _said(
        "whoever is ahead takes no place",
        "turns",
        "            places.take(hint.ref.user_id)\n",
        "            pass\n",
    ),
    _said(
        "whose pause ends ahead takes no place",
        "turns",
        "(replace(hint, wakes=False) for hint in line.hints)",
        "line.hints",
    ),
    _said(
        "a run in the way is not seen",
        "next_look",
        "if due.holder is not None and walk.run_id is not None:",
        "if False:",
    ),
    _said("a busy thread is not seen", "next_look", "if busy is not None:", "if False:"),
    _said(
        "a record that folds a time is not found",
        "explaining",
        "if run.covers(at) and",
        "if False and",
    ),
    _said(
        "the tasks ahead are all named",
        "reasons",
        "for hint in hints if hint.ref.user_id == user_id]",
        "for hint in hints]",
    ),
)
