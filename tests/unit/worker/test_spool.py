"""Whole outputs: bounded on disk, kept under a place of their own, or cut."""

from io import BytesIO
from typing import IO

from nightshift_toolkit.worker.masking import MASK
from nightshift_toolkit.worker.ports import Unavailable
from nightshift_toolkit.worker.spool import Spool
from nightshift_toolkit.worker.work import Work, Workbench
from unit.worker.desk import Desk


class Full(BytesIO):
    """A file on a disk without room."""

    def write(self, _chunk: object) -> int:
        raise OSError("no space left on device")


class Shelf:
    """An output store in memory, or one that does not answer."""

    def __init__(self, *, answers: bool = True) -> None:
        self.kept: dict[str, bytes] = {}
        self._answers = answers

    def keep(self, place: str, content: IO[bytes]) -> str:
        if not self._answers:
            raise Unavailable("the shelf is locked")
        self.kept[place] = content.read()
        return f"shelf://{place}"


def report_with(shelf: Shelf, command: str) -> dict[str, object]:
    """The result of a command whose worker has a shelf."""
    desk = Desk()
    message = desk.shell(command, user_id="auth0|ada")
    (delivery,) = desk.queue.receive(1, 0)
    bench = Workbench(desk.queue, desk.pickups, desk.callbacks, desk.settings, shelf)
    Work(bench, delivery).carry_out()
    result: dict[str, object] = desk.report_on(message)["result"]
    return result


def spooled(*pieces: bytes) -> bytes:
    """What a spool of ten bytes holds of a stream."""
    with Spool(limit=10) as spool:
        for piece in pieces:
            spool.add(piece)
        content = spool.content()
        assert content is not None
        return content.read()


def test_the_first_bytes_are_kept_and_a_cut_is_said() -> None:
    assert spooled(b"01234", b"56789") == b"0123456789"
    cut = b"0123456789\n[... cut: only the first 10 bytes are kept ...]\n"
    assert spooled(b"01234", b"56789", b"a", b"b") == cut
    assert spooled(b"01234", b"56789ab", b"c") == cut


def test_output_that_fits_into_the_record_is_not_kept_elsewhere() -> None:
    shelf = Shelf()
    assert "output_url" not in report_with(shelf, "seq 1 100")
    assert shelf.kept == {}


def test_output_that_does_not_fit_is_kept_whole_under_the_runs_place() -> None:
    shelf = Shelf()
    result = report_with(shelf, "seq 1 9000")
    (place,) = shelf.kept
    assert result["output_url"] == f"shelf://{place}"
    assert place.startswith("auth0%7Cada/tsk_1/tsk_1-")
    assert place.endswith("/attempt-1.txt")
    assert shelf.kept[place].decode().split() == [str(number) for number in range(1, 9001)]


def test_a_store_that_does_not_answer_costs_the_run_nothing_else() -> None:
    result = report_with(Shelf(answers=False), "seq 1 9000")
    assert "output_url" not in result
    assert (result["exit_code"], result["truncated"]) == (0, True)


def test_a_secret_is_not_in_the_output_that_is_kept_elsewhere() -> None:
    """It leaves the worker as little as the record's own."""
    shelf = Shelf()
    report_with(shelf, "seq 1 9000; echo password=hunter2; seq 1 9000")
    (kept,) = shelf.kept.values()
    assert b"hunter2" not in kept
    assert f"password={MASK}\n".encode() in kept


def test_a_disk_without_room_costs_the_run_nothing_but_its_whole_output() -> None:
    """Half of an output is not kept as if it were whole."""
    with Spool() as spool:
        spool.add(b"first")
        spool._file.close()
        spool._file = Full()
        spool.add(b"second")
        assert spool.content() is None
