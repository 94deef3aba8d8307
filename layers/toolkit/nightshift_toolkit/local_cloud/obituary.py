"""What is said of an engine that ended although nobody asked it to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SPOKEN = 70
"""The exit code of an engine whose last line says all that a person needs."""
_LONGEST_WORDS = 300


def obituary(code: int | None, log: Path) -> str:
    """Return the sentence for an engine that ended by itself, with its last words.

    Args:
        code: its return code as `subprocess` has it; None if it has none.
        log: what it wrote.

    """
    lines = log.read_text(errors="replace").strip().splitlines()
    if code == SPOKEN and lines:
        return lines[-1]
    if code is not None and code < 0:
        why = f"was killed by signal {-code}"
    else:
        words = lines[-1].strip()[:_LONGEST_WORDS] if lines else "without a word"
        why = f"stopped by itself ({words})"
    return f"The engine {why}; its log is {log}."
