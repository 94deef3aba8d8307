"""`nightshift doctor` notices every way to break a table, repairs what it can, and may die."""

from datetime import timedelta

import pytest

import crash.damages_without_answer  # noqa: F401 - adds its damages
from crash.damages import DAMAGES, Damage, Ward
from crash.faults import Fate, Fault
from crash.harness import LIMIT, Process, Stage, acted
from nightshift_toolkit.audit import INVARIANTS, check
from nightshift_toolkit.audit.doctor import Patient, Report, run_doctor
from proof import is_full

REPAIRABLE = [damage for damage in DAMAGES if damage.repairable]
LAGS = "index_follows_the_rows"
"""The engine's index never lags, and nobody can write into it."""


def name(damage: Damage) -> str:
    return damage.inflict.__name__.replace("_", " ")


def examined_by(process: Process, *, repair: bool = False) -> Report:
    patient = Patient(
        table=process.table,
        inspector=process.clock.inspector,
        lifecycle=process.lifecycle,
        clock=lambda: process.now,
        wait=lambda: None,
    )
    return run_doctor(patient, repair=repair, limit=LIMIT)


def test_a_healthy_table_has_no_findings(stage: Stage) -> None:
    """Whatever is at work and however old it is."""
    ward = Ward(stage)
    report = examined_by(stage.others)
    assert report.healthy
    assert report.examined == {"tasks": 4, "runs": 4, "active": 2, "unreadable": 0}
    ward.stage.pass_time(timedelta(days=3))
    assert examined_by(stage.others).healthy


@pytest.mark.parametrize("damage", DAMAGES, ids=name)
def test_every_damage_is_found_and_nothing_is_written(stage: Stage, damage: Damage) -> None:
    """Each invariant notices what breaks it; without being asked, the doctor only reads."""
    ward = Ward(stage)
    damage.inflict(ward)
    before = stage.others.rows()
    report = examined_by(stage.others)
    assert damage.invariant in {finding.invariant for finding in report.found}
    assert stage.others.rows() == before
    assert not report.repaired


def test_every_invariant_has_a_damage_that_it_notices() -> None:
    """An invariant that nothing can break proves nothing."""
    names = {invariant.name for invariant in INVARIANTS}
    assert names - {damage.invariant for damage in DAMAGES} == {LAGS}


@pytest.mark.parametrize("damage", REPAIRABLE, ids=name)
def test_what_has_one_right_answer_is_repaired(stage: Stage, damage: Damage) -> None:
    """The doctor says what it did, leaves nothing broken, and has nothing to do a second time."""
    ward = Ward(stage)
    damage.inflict(ward)
    report = examined_by(stage.others, repair=True)
    assert report.repaired
    assert report.left == []
    assert not report.healthy
    assert examined_by(stage.others, repair=True).healthy
    snapshot = stage.snapshot(with_index=True)
    assert check(snapshot, at_rest=False, limit=LIMIT) == []


@pytest.mark.parametrize("damage", REPAIRABLE, ids=name)
def test_a_doctor_that_dies_can_be_called_again(stage: Stage, damage: Damage) -> None:
    """Every repair is one conditional write, so a half-done one does not exist."""
    for at in range(0, 1000, 1 if is_full() else 9):
        damage.inflict(Ward(stage))
        stage.victim.fate = Fate(Fault.DIES_AFTER, at)
        acted(lambda: examined_by(stage.victim, repair=True))
        if not stage.victim.fate.met:
            break
        examined_by(stage.others, repair=True)
        assert examined_by(stage.others).healthy
    assert at > 0
