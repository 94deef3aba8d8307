"""The same on a real DynamoDB engine: the local cloud's, and DynamoDB Local where it is found."""

import os
from collections.abc import Iterator
from typing import Any

import builders
from bench.report import Line
from nightshift_toolkit.local_cloud.engine import Engine
from real import RealWorld

ENDPOINT = "NIGHTSHIFT_BENCH_ENDPOINT"
MILLION = 1_000_000


def lines(tasks: int) -> Iterator[Line]:
    """What was found there."""
    with Engine() as engine:
        with RealWorld(engine, "bench-crowd", workers=16) as crowd:
            yield due_at_once(crowd, tasks)
        endpoint = os.environ.get(ENDPOINT)
        if endpoint:
            with RealWorld(_Elsewhere(engine, endpoint), "bench-sleepers") as sleepers:  # type: ignore[arg-type]
                yield idle(sleepers, MILLION)


def due_at_once(world: RealWorld, tasks: int) -> Line:
    """All that is due at once is started once each."""
    submitted = builders.NOW - builders.HOUR
    world.store(builders.task(number=number, submitted_at=submitted) for number in range(tasks))
    world.look()
    started = world.started()
    good = (
        len(started) == tasks
        and set(started.values()) == {1}
        and not world.tasks.due(world.now).first
    )
    found = f"{len(started):,} started, none twice" if good else f"{started.total():,} starts"
    return Line(f"{tasks:,} due at once on the local cloud", found, "", None, "each once", good)


def idle(world: RealWorld, sleeping: int) -> Line:
    """A look that finds nothing to do, beside one at an empty table."""
    with world.billed() as none:
        world.look()
    world.store(builders.task(number=number) for number in range(sleeping))
    with world.billed() as many:
        world.look()
    found = f"{many.calls.total()} calls, {many.items_read} rows scanned"
    return Line(
        f"idle look, {sleeping:,} sleeping, DynamoDB Local",
        found,
        "",
        None,
        "as with none",
        many == none,
    )


class _Elsewhere:
    """The engine, with DynamoDB at another address."""

    def __init__(self, engine: Engine, endpoint: str) -> None:
        self._engine, self._endpoint = engine, endpoint

    def client(self, service: str) -> Any:
        if service != "dynamodb":
            return self._engine.client(service)
        session: Any = self._engine.session()
        return session.client(service, endpoint_url=self._endpoint)
