"""Every package that is installed anywhere is pinned, and what is found wrong with one is told."""

from __future__ import annotations

import re
from importlib.metadata import distributions
from pathlib import Path

import pytest

import stack
from advisories import verdict

FILES = [
    "layers/vendor/requirements.txt",
    "layers/toolkit/requirements.txt",
    "tests/requirements.txt",
    "tests/audit-requirements.txt",
]
OF_EVERY_ENVIRONMENT = {"pip", "setuptools", "nightshift"}


def lines(file: str) -> list[str]:
    """The requirements of one file, without comments and without the files that it includes."""
    said = (stack.ROOT / file).read_text(encoding="utf-8").splitlines()
    return [line for line in said if line and not line.startswith(("#", "-r "))]


def spelled(name: str) -> str:
    """A package's name in its one normal spelling."""
    return re.sub(r"[-_.]+", "-", name).lower()


@pytest.mark.parametrize("file", FILES)
def test_every_requirement_is_one_exact_version(file: str) -> None:
    """What is deployed tomorrow is what was tested today."""
    for line in lines(file):
        assert re.fullmatch(r"[A-Za-z0-9._-]+(\[[a-z0-9,-]+\])?==[0-9][0-9A-Za-z.]*", line), line


def test_everything_that_is_installed_is_pinned_at_the_version_it_has() -> None:
    """A package that comes along unpinned may be another one with the next install."""
    pinned = {}
    for file in FILES[:3]:
        for line in lines(file):
            name, version = line.split("==")
            pinned[spelled(name.partition("[")[0])] = version
    found = {spelled(one.metadata["Name"]): one.version for one in distributions()}
    loose = found.keys() - OF_EVERY_ENVIRONMENT - pinned.keys()
    assert loose == set()
    different = {name: found[name] for name in pinned if name in found}
    assert different == {name: pinned[name] for name in different}


def test_no_two_files_pin_the_same_package_of_the_functions_differently() -> None:
    """The desk and the tests run what the functions run."""
    seen: dict[str, tuple[str, str]] = {}
    for file in FILES[:3]:
        for line in lines(file):
            name, version = line.split("==")
            other, where = seen.setdefault(spelled(name.partition("[")[0]), (version, file))
            assert other == version, f"{name} in {file} and {where}"


def test_open_advisory_fails_the_audit_and_names_what_mends_it() -> None:
    """Whoever reads the line knows what to pin."""
    found = {"id": "PYSEC-2026-1", "fix_versions": ["2.0"]}
    sentences, failed = verdict([{"name": "one", "version": "1.0", "vulns": [found]}])
    assert failed
    assert sentences == ["one 1.0: PYSEC-2026-1, mended in 2.0."]


def test_package_that_could_not_be_looked_up_is_never_told_as_safe() -> None:
    """Without a network there is no audit, and it says so."""
    skipped = {"name": "one", "skip_reason": "Dependency not found"}
    sentences, failed = verdict([skipped])
    assert not failed
    assert sentences == [
        "NOT AUDITED: 1 of 1 packages; no advisories could be had for them from here."
    ]
    sentences, failed = verdict([skipped, {"name": "two", "version": "1", "vulns": []}])
    assert not failed
    assert len(sentences) == 2


def test_tools_of_the_audit_stay_out_of_what_is_deployed() -> None:
    """They are large, and none of them is trusted with more than reading this folder."""
    deployed = {spelled(line.split("==")[0]) for line in lines(FILES[0])}
    assert not deployed & {"checkov", "pip-audit"}
    assert Path(stack.ROOT / FILES[3]).exists()
