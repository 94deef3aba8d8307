"""The agent that `make run` uses: no model, no network, and it says so.

It reads the prompt from its standard input, like any agent command, and says what it was asked.
"""

from __future__ import annotations

import os
import sys

_SHOWN_CHARACTERS = 200


def summary(prompt: str, run_id: str) -> str:
    """Return what the demonstration agent answers to `prompt`."""
    words = len(prompt.split())
    first = " ".join(prompt.split())[:_SHOWN_CHARACTERS]
    return (
        f"I am the demonstration agent: no model is behind me.\n"
        f"Run {run_id} gave me a prompt of {words} words: {first}\n"
        "To run a real agent, start a worker with its command: nightshift worker -- my-agent"
    )


def main() -> None:
    """Answer the prompt on standard input."""
    print(summary(sys.stdin.read(), os.environ.get("NIGHTSHIFT_RUN_ID", "of unknown name")))


if __name__ == "__main__":
    main()
