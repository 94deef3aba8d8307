"""A stand-in for an agent: says what it was asked and what it was told, and invents nothing.

`python -m nightshift_toolkit.demo_agent < prompt`. It calls no model. It is what the local cloud's
worker runs until it is given a real agent.
"""

import os
import sys

_FACTS = (
    ("title", "NIGHTSHIFT_TITLE"),
    ("scheduled for", "NIGHTSHIFT_SCHEDULED_FOR"),
    ("trigger", "NIGHTSHIFT_TRIGGER"),
    ("thread", "NIGHTSHIFT_THREAD_ID"),
    ("run", "NIGHTSHIFT_RUN_ID"),
)


def main() -> None:
    """Read the prompt from standard input and answer on standard output."""
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    first, _, rest = prompt.strip().partition("\n")
    more = f" (and {len(rest.splitlines())} more lines)" if rest else ""
    print(f"Demo agent: I was asked: {first}{more}")
    for name, variable in _FACTS:
        if value := os.environ.get(variable):
            print(f"  {name}: {value}")
    print("No model was called; start the worker with an agent of your own for a real answer.")


if __name__ == "__main__":
    main()
