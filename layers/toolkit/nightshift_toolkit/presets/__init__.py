"""Presets: how well-known agent tools are run for a prompt, so that an operator names one word.

`presets.toml` has their command lines and where those are documented, `answers` reads what they
write, `agent` is the program that the worker starts around one, `printed` what starts the worker
itself: a systemd unit or a container.
"""

import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

SHELL: Final = "shell"
"""The preset of workers that run what users write as commands, and no prompts."""
_HERE: Final = Path(__file__).parent


def presets() -> dict[str, dict[str, Any]]:
    """The presets of agent tools by name."""
    return tomllib.loads((_HERE / "presets.toml").read_text(encoding="utf-8"))


def agent_command(name: str, program: Sequence[str]) -> tuple[str, ...]:
    """The command for prompts; `program` is the tool's whole path and the operator's arguments."""
    # Nothing of this installation is read at its start, nor can the run's folder shadow a module.
    interpreter = (sys.executable, "-I", "-S", "-X", "utf8")
    return (*interpreter, str(_HERE / "agent.py"), name, *program)
