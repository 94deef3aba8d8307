"""Ways to break the code on purpose, each a sentence and a replaced piece of source.

A break is applied while a test process imports the module (see `plugin.py`); no file is changed.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
LAYERS: Final = ROOT / "layers" / "nightshift"
TOOLKIT: Final = ROOT / "layers" / "toolkit"

WALKS: Final = ("tests/explorer", "-k", "any_order or fence")
EXPLORER: Final = ("tests/explorer",)
SIMULATION: Final = ("tests/simulation",)
RULES: Final = ("tests/unit/domain",)
CRASH: Final = ("tests/crash",)
WORKFLOW: Final = ("tests/unit/functions", "tests/architecture")
MEMORY_CONTRACT: Final = ("tests/contract", "-k", "memory")
TABLE_CONTRACT: Final = ("tests/contract", "-k", "dynamodb or stale or fence")
EXECUTIONS: Final = ("tests/contract/test_executions.py", "tests/contract/test_stale_reads.py")
FENCE: Final = ("tests/contract/test_fence_definition.py",)
ATTEMPTS: Final = ("tests/architecture/test_workflow.py",)
PAUSES: Final = ("tests/contract/test_run_pauses.py",)
PICKUPS: Final = ("tests/integration/worker/test_ports.py", "-k", "engine or pickup or gone")
MEMORY_WORK: Final = ("tests/explorer/test_memory_work.py",)
AGENTS: Final = ("tests/unit/mcp_server",)
NOTICES: Final = ("tests/integration/notices/test_webhook.py",)
WORKER: Final = tuple(
    f"tests/unit/worker/test_{what}.py" for what in ("pausing", "spool", "masking")
)

Suite = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Break:
    """One way to break the code.

    Args:
        name: what is broken, as a sentence.
        path: the file, from the root of the repository.
        before: the piece of source that is replaced; it stands there exactly `count` times.
        after: what takes its place.
        suites: which tests are to find it out, tried one after the other.
        count: how often the piece stands there.
    """

    name: str
    path: str
    before: str
    after: str
    suites: tuple[Suite, ...]
    count: int = 1

    def applied(self, source: str) -> str:
        """The broken source.

        Raises:
            ValueError: the piece is no longer there, so that the break tests nothing.
        """
        found = source.count(self.before)
        if found != self.count:
            raise ValueError(f"{self.name}: its piece of {self.path} is there {found} times")
        return source.replace(self.before, self.after)


def all_breaks() -> dict[str, Break]:
    """Every break, by name."""
    from mutation import (  # noqa: PLC0415 - they import this
        of_agents,
        of_explanations,
        of_failures,
        of_launches,
        of_memory,
        of_notices,
        of_operations,
        of_presets,
        of_results,
        of_rules,
        of_spreading,
        of_table,
        of_work,
    )

    files = (
        of_memory,
        of_table,
        of_rules,
        of_spreading,
        of_launches,
        of_work,
        of_explanations,
        of_failures,
        of_operations,
        of_presets,
        of_notices,
        of_agents,
        of_results,
    )
    listed = [each for file in files for each in file.BREAKS]
    named = {each.name: each for each in listed}
    if len(named) != len(listed):
        raise ValueError("two breaks have one name")
    return named
