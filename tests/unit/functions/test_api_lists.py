"""Lists: pages, cursors that fit one list only, and filters that fill a page (SPEC section 7)."""

import base64
import json

import pytest

from nightshift.domain.exchanged import TaskRef
from nightshift.domain.model.enums import Outcome
from unit.functions.desk import ALICE, BOB, TASKS, Desk, Reply, ids


@pytest.fixture
def desk() -> Desk:
    """Alice has seven tasks: every other one of the support team, the fourth one paused."""
    made = Desk()
    for number in range(7):
        team = "support" if number % 2 == 0 else "sales"
        made.create(title=f"Task {number}", labels={"team": team, "tier": "1"})
    made.do("pause", made.stored()[3])
    return made


def walk(desk: Desk, path: str, query: str, user: str = ALICE) -> list[Reply]:
    """Every page of a list."""
    pages = [desk.call("GET", path, query=query, user=user)]
    while cursor := pages[-1].json["next_cursor"]:
        pages.append(desk.call("GET", path, query=f"{query}&cursor={cursor}", user=user))
    return pages


def test_tasks_are_listed_oldest_first_without_their_prompts(desk: Desk) -> None:
    """SPEC 4: prompts are kept apart, so that lists do not read them."""
    page = desk.call("GET", TASKS)
    assert ids(page) == desk.stored()
    assert page.json["next_cursor"] is None
    assert all(item["action"] == {"kind": "agent"} for item in page.json["items"])


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
def test_pages_hold_every_task_once(desk: Desk, limit: int) -> None:
    """B105: no page lost or doubled, whatever its size."""
    pages = walk(desk, TASKS, f"limit={limit}")
    assert [task_id for page in pages for task_id in ids(page)] == desk.stored()
    assert all(len(ids(page)) == limit for page in pages[:-1])


@pytest.mark.parametrize(
    ("query", "numbers"),
    [
        ("status=paused", [3]),
        ("status=failed", []),
        ("label=team%3Dsupport", [0, 2, 4, 6]),
        ("label=team%3Dsupport&label=tier%3D1", [0, 2, 4, 6]),
        ("label=team%3Dsales&status=enabled", [1, 5]),
        ("label=team%3D", []),
        ("thread=tickets", []),
    ],
)
@pytest.mark.parametrize("limit", [1, 2, 50])
def test_a_filter_fills_its_pages(desk: Desk, query: str, numbers: list[int], limit: int) -> None:
    """A page is full when there is more, and no page promises another that is empty."""
    pages = walk(desk, TASKS, f"{query}&limit={limit}")
    found = [task_id for page in pages for task_id in ids(page)]
    assert found == [desk.stored()[number] for number in numbers]
    assert all(len(ids(page)) == limit for page in pages[:-1])
    assert len(pages) == max(1, -(-len(numbers) // limit))


def test_a_filter_looks_beyond_the_pages_of_the_store() -> None:
    """B105: a limit that applies before a filter would end too early."""
    desk = Desk()
    desk.limit(max_tasks_per_user=1000)
    for _ in range(205):
        desk.create()
    last = desk.create(labels={"team": "support"})
    page = desk.call("GET", TASKS, query="label=team%3Dsupport&limit=1")
    assert ids(page) == [last["id"]]
    assert page.json["next_cursor"] is None


def test_tasks_made_and_deleted_between_pages_cost_no_other_task(desk: Desk) -> None:
    """SPEC 7."""
    first = desk.call("GET", TASKS, query="limit=3")
    kept = desk.stored()
    desk.call("DELETE", f"{TASKS}/{kept[2]}")
    desk.call("DELETE", f"{TASKS}/{kept[4]}")
    added = desk.create()["id"]
    rest = desk.call("GET", TASKS, query=f"limit=50&cursor={first.json['next_cursor']}")
    assert ids(rest) == [kept[3], kept[5], kept[6], added]


def test_a_cursor_fits_its_user_its_route_and_its_filter_only(desk: Desk) -> None:
    """SPEC 7: a foreign cursor is 400."""
    cursor = desk.call("GET", TASKS, query="limit=2").json["next_cursor"]
    desk.call("PUT", "/api/threads/tickets")
    runs = f"{TASKS}/{desk.stored()[0]}/runs"
    strangers = [
        desk.call("GET", TASKS, query=f"cursor={cursor}", user=BOB),
        desk.call("GET", TASKS, query=f"cursor={cursor}&status=enabled"),
        desk.call("GET", TASKS, query=f"cursor={cursor}&label=team%3Dsales"),
        desk.call("GET", "/api/threads/tickets/scheduled-tasks", query=f"cursor={cursor}"),
        desk.call("GET", runs, query=f"cursor={cursor}"),
    ]
    for reply in strangers:
        assert (reply.status, reply.code) == (400, "invalid_cursor")
    assert desk.call("GET", TASKS, query=f"cursor={cursor}&limit=5").status == 200


def test_a_cursor_that_was_changed_is_refused(desk: Desk) -> None:
    """SPEC 7: opaque, and read by nobody but us."""
    cursor = desk.call("GET", TASKS, query="limit=2").json["next_cursor"]
    read = json.loads(base64.urlsafe_b64decode(cursor + "=="))
    moved = json.dumps({**read, "after": desk.stored()[5]}, separators=(",", ":")).encode()
    wrong = [
        "",
        "x",
        "e30",
        "bnVsbA",
        "%F0%9F%8C%99",
        cursor[:-2],
        cursor + "A",
        cursor + "%3D",
        cursor.swapcase(),
        "W" * 600,
        base64.urlsafe_b64encode(moved).decode().rstrip("="),
        base64.urlsafe_b64encode(b"[" * 300).decode().rstrip("="),
    ]
    for text in wrong:
        reply = desk.call("GET", TASKS, query=f"cursor={text}")
        assert (reply.status, reply.code) == (400, "invalid_cursor"), text


def test_a_row_that_cannot_be_read_is_passed_over_and_told(desk: Desk) -> None:
    """SPEC 2: lists skip a corrupt row and log."""
    broken = desk.stored()[1]
    desk.store.corrupt_task(TaskRef(ALICE, broken))
    for query in ("limit=50", "status=enabled"):
        desk.events.clear()
        assert broken not in ids(desk.call("GET", TASKS, query=query))
        told = next(event for event in desk.events if event.action == "corrupt_rows")
        assert told.facts == {"rows": 1, "ids": broken}


def test_the_tasks_of_a_thread_are_those_bound_to_it(desk: Desk) -> None:
    """SPEC 7."""
    desk.call("PUT", "/api/threads/tickets")
    bound = desk.create(context_mode="reuse_thread", thread_id="tickets")["id"]
    path = "/api/threads/tickets/scheduled-tasks"
    assert ids(desk.call("GET", path)) == [bound]
    assert ids(desk.call("GET", TASKS, query="thread=tickets")) == [bound]
    assert desk.call("GET", "/api/threads/none/scheduled-tasks").code == "thread_not_found"


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_runs_are_listed_newest_first(desk: Desk, limit: int) -> None:
    """P6."""
    task_id = desk.stored()[0]
    made: list[str] = []
    for minute in range(5):
        desk.now = desk.now.replace(minute=minute)
        run_id = desk.begin(task_id).id
        made.insert(0, run_id)
        outcome = Outcome.SUCCESS if minute % 2 else Outcome.FAILED
        news = desk.executions.end(run_id, outcome, desk.now)
        desk.completion.lifecycle.record_outcome(news)
    path = f"{TASKS}/{task_id}/runs"
    pages = walk(desk, path, f"limit={limit}")
    assert [run_id for page in pages for run_id in ids(page)] == made
    failed = walk(desk, path, f"limit={limit}&status=failed")
    assert [run_id for page in failed for run_id in ids(page)] == made[::2]
