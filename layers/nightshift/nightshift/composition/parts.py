"""The parts of every function: each once, brought or real."""

from functools import cached_property
from typing import TYPE_CHECKING

from nightshift import observability
from nightshift.adapters.aws import dynamodb_client
from nightshift.adapters.dynamodb.table import Table

if TYPE_CHECKING:
    from nightshift.composition.overrides import Overrides
    from nightshift.composition.settings import TableSettings
    from nightshift.domain.exchanged import Observe


class Parts:
    """Each part once: the one that was brought, or the real one over the one table."""

    def __init__(self, settings: "TableSettings", brought: "Overrides") -> None:
        self._settings = settings
        self._brought = brought
        self.observe: Observe = brought.get("observe", observability.observe)

    @cached_property
    def table(self) -> Table:
        return Table(dynamodb_client(), self._settings.table_name)
