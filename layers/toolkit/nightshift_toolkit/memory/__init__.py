"""In-memory ports, trusted because the contract suite runs on them as on the real table."""

from nightshift_toolkit.memory.executions import (
    ScriptedExecutions,
    ScriptedInspector,
    ScriptedLauncher,
)
from nightshift_toolkit.memory.ids import CountingIds
from nightshift_toolkit.memory.store import MemoryStore

__all__ = [
    "CountingIds",
    "MemoryStore",
    "ScriptedExecutions",
    "ScriptedInspector",
    "ScriptedLauncher",
]
