"""Pages of lists: filters applied while reading, so that a page is full when there is more."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from api.cursors import Cursors
from api.query import MAX_LIMIT, Query
from nightshift.domain.exchanged import Event, Observe, Page
from nightshift.domain.model.change import Change
from nightshift.domain.model.enums import RunStatus, TaskStatus
from nightshift.domain.model.override import Override
from nightshift.domain.model.run import Run
from nightshift.domain.services.owned import TaskView

Item = TypeVar("Item")
Shown_contra = TypeVar("Shown_contra", contravariant=True)


class Filter(Protocol[Shown_contra]):
    """Which items of a list to show."""

    @property
    def words(self) -> Sequence[str]:
        """What a cursor is bound to; empty when every item passes."""

    def admits(self, item: Shown_contra, /) -> bool:
        """Whether an item is to be shown."""

    def id_of(self, item: Shown_contra, /) -> str:
        """The id after which the list goes on."""


class ReadPage(Protocol[Item]):
    """Reads at most `limit` items after the one with the id `after`."""

    def __call__(self, *, limit: int, after: str | None) -> Page[Item]: ...


@dataclass(frozen=True, slots=True)
class TaskFilter:
    """Which tasks to show; what is None or empty lets all pass."""

    status: TaskStatus | None = None
    thread_id: str | None = None
    labels: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, query: Query) -> "TaskFilter":
        """The filter that a query names."""
        return cls(query.choice("status", TaskStatus), query.one("thread"), query.labels())

    @property
    def words(self) -> Sequence[str]:
        """See `Filter`."""
        words = [f"label {key}={value}" for key, value in self.labels.items()]
        words += [f"status {self.status}"] if self.status is not None else []
        return words + ([f"thread {self.thread_id}"] if self.thread_id is not None else [])

    def admits(self, view: TaskView, /) -> bool:
        """See `Filter`."""
        definition = view.task.definition
        return (
            self.status in (None, view.task.state.status)
            and self.thread_id in (None, definition.thread_id)
            and all(definition.labels.get(key) == value for key, value in self.labels.items())
        )

    def id_of(self, view: TaskView, /) -> str:
        """See `Filter`."""
        return view.task.id


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs to show."""

    status: RunStatus | None = None

    @classmethod
    def of(cls, query: Query) -> "RunFilter":
        """The filter that a query names."""
        return cls(query.choice("status", RunStatus))

    @property
    def words(self) -> Sequence[str]:
        """See `Filter`."""
        return [f"status {self.status}"] if self.status is not None else []

    def admits(self, run: Run, /) -> bool:
        """See `Filter`."""
        return self.status in (None, run.status)

    def id_of(self, run: Run, /) -> str:
        """See `Filter`."""
        return run.id


@dataclass(frozen=True, slots=True)
class EveryChange:
    """All entries of a change log."""

    @property
    def words(self) -> Sequence[str]:
        """See `Filter`."""
        return []

    def admits(self, _change: Change, /) -> bool:
        """See `Filter`."""
        return True

    def id_of(self, change: Change, /) -> str:
        """See `Filter`."""
        return str(change.revision)


@dataclass(frozen=True, slots=True)
class EveryOverride:
    """All entries of the log of the limits."""

    @property
    def words(self) -> Sequence[str]:
        """See `Filter`."""
        return []

    def admits(self, _override: Override, /) -> bool:
        """See `Filter`."""
        return True

    def id_of(self, override: Override, /) -> str:
        """See `Filter`."""
        return str(override.revision)


@dataclass(frozen=True, slots=True)
class Listing:
    """One user's list at one route, as a query asks for it."""

    user_id: str
    route: str
    query: Query
    observe: Observe

    def page(self, read: ReadPage[Item], chosen: Filter[Item]) -> Page[Item]:
        """The page that is asked for; its `next` is a cursor. Unreadable rows are told.

        Raises:
            InvalidCursor, InvalidRequest: the query is not one of this list's.
        """
        cursors = Cursors(self.user_id, self.route, chosen.words)
        cursor, limit = self.query.one("cursor"), self.query.limit()
        after = None if cursor is None else cursors.position(cursor)
        if chosen.words:
            page = _filled(read, chosen, limit=limit, after=after)
        else:
            page = read(limit=limit, after=after)
        if page.corrupt:
            named = ", ".join(page.corrupt[:10])
            self.observe(Event("corrupt_rows", {"rows": len(page.corrupt), "ids": named}))
        return Page(page.items, page.next and cursors.after(page.next), page.corrupt)


def _filled(
    read: ReadPage[Item], chosen: Filter[Item], *, limit: int, after: str | None
) -> Page[Item]:
    """A page of items that pass a filter, full when there are more of them.

    One match more than fits is looked for, so that no page promises another that is empty. The
    user's quota, or the length of a history, bounds how much is read.
    """
    found: list[Item] = []
    corrupt: list[str] = []
    while True:
        page = read(limit=MAX_LIMIT, after=after)
        found += [item for item in page.items if chosen.admits(item)]
        corrupt += page.corrupt
        if len(found) > limit:
            return Page(found[:limit], chosen.id_of(found[limit - 1]), corrupt)
        if page.next is None:
            return Page(found, None, corrupt)
        after = page.next
