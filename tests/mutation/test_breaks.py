"""Each way to break the code is found out by some test; if none is, the tests prove nothing."""

from collections.abc import Callable

import pytest

from mutation.breaks import ROOT, Break, Suite, all_breaks
from mutation.trial import tried, untouched
from proof import is_full

BREAKS = all_breaks()
A_FEW = (
    "memory: a taken seat is taken again",
    "memory: the fence ignores the nonce",
    "rule: the next time is computed from the old next time",
)
"""Those that are tried when not all are."""

Record = Callable[[str, object], None]


@pytest.mark.parametrize("broken", BREAKS.values(), ids=lambda broken: broken.name)
def test_every_break_still_breaks_something(broken: Break) -> None:
    """A break whose piece of source is no longer there would test nothing."""
    source = (ROOT / broken.path).read_text("utf-8")
    assert broken.applied(source) != source
    if broken.path.endswith(".py"):
        compile(broken.applied(source), broken.path, "exec")


@pytest.mark.skipif(not is_full(), reason="they are run by themselves")
@pytest.mark.parametrize("suite", sorted({s for broken in BREAKS.values() for s in broken.suites}))
def test_code_that_is_not_broken_passes(suite: Suite) -> None:
    """A suite that always fails would find out everything."""
    assert untouched(suite).caught_by is None


@pytest.mark.parametrize("name", BREAKS if is_full() else A_FEW)
def test_no_break_survives(name: str, record_property: Record) -> None:
    """K3-K7, P13-P18: dropping any of it is found out."""
    verdict = tried(BREAKS[name])
    record_property("breaks", 1)
    record_property("breaks caught", int(verdict.caught_by is not None))
    record_property(f"caught: {name}", verdict.caught_by or "SURVIVED")
    assert verdict.caught_by, verdict.output
