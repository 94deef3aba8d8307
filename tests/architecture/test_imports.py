"""Who may import whom (HOUSE), read from the source: dependencies point inwards."""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "layers" / "nightshift" / "nightshift"
FUNCTIONS = ROOT / "functions"
STDLIB = sys.stdlib_module_names

DOMAIN = "nightshift.domain"
MODEL = f"{DOMAIN}.model"
SERVICES = f"{DOMAIN}.services"
ADAPTERS = "nightshift.adapters"
AWS = {"boto3", "botocore", "mypy_boto3_dynamodb", "mypy_boto3_stepfunctions", "pynamodb"}
EDGE = {"aws_lambda_powertools", "pydantic", "pydantic_core"}
COMPOSITION = "nightshift.composition"
PARTS = ("nightshift.observability", DOMAIN, ADAPTERS)
"""What the parts are made of."""
OFFERED = (COMPOSITION, "nightshift.observability", DOMAIN)
"""What the layer offers to the functions."""
LONG = {"ports.py": 400}
"""The text of the contracts."""
CLOCKS = {"datetime.now", "datetime.utcnow", "datetime.today", "date.today"}


@dataclass(frozen=True)
class Import:
    """One imported module, and where."""

    importer: str
    imported: str
    place: str

    def inside(self, *packages: str) -> bool:
        """Whether what is imported lies in one of the packages."""
        return any(self.imported == one or self.imported.startswith(f"{one}.") for one in packages)

    @property
    def top(self) -> str:
        """The distribution's own package."""
        return self.imported.partition(".")[0]


def module_name(path: Path) -> str:
    """A source file as it is imported."""
    base = FUNCTIONS if path.is_relative_to(FUNCTIONS) else PACKAGE.parent
    return ".".join(path.relative_to(base).with_suffix("").parts).removesuffix(".__init__")


def sources() -> list[Path]:
    """Every file that is deployed."""
    return sorted([*PACKAGE.rglob("*.py"), *FUNCTIONS.rglob("*.py")])


def imports(path: Path) -> Iterator[Import]:
    """What a file imports, wherever in it, also for type checking alone."""
    importer = module_name(path)
    for node in ast.walk(ast.parse(path.read_text())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno} imports relatively"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            yield Import(importer, name, f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}")


def allowed(one: Import) -> bool:
    """HOUSE's table."""
    own = ".".join(one.importer.split(".")[:3])
    rooms = {
        MODEL: (MODEL, f"{DOMAIN}.errors"),
        SERVICES: (DOMAIN,),
        f"{DOMAIN}.exchanged": (MODEL,),
        DOMAIN: (MODEL, f"{DOMAIN}.errors", f"{DOMAIN}.exchanged"),
        ADAPTERS: (DOMAIN, own),
        "nightshift.observability": (DOMAIN,),
        f"{COMPOSITION}.parts": (*PARTS, f"{COMPOSITION}.overrides", f"{COMPOSITION}.settings"),
        COMPOSITION: (*PARTS, COMPOSITION),
    }
    packages = {
        MODEL: {"tzdata"} if one.importer == f"{MODEL}.zones" else set(),
        ADAPTERS: AWS,
        "nightshift.observability": {"aws_lambda_powertools"},
    }
    of_functions = (one.importer.partition(".")[0], "environment", "wall_clock", *OFFERED)
    place = next((room for room in rooms if one.importer.startswith(room)), "functions")
    if place == "functions" and not one.importer.startswith("nightshift"):
        return one.inside(*of_functions) or one.top in STDLIB | EDGE
    return one.inside(*rooms.get(place, ())) or one.top in STDLIB | packages.get(place, set())


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_everybody_imports_only_what_they_may(path: Path) -> None:
    """HOUSE: functions -> composition -> adapters -> services -> model, never back or across."""
    assert [one for one in imports(path) if not allowed(one)] == []


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("api.routes", "nightshift.adapters.aws.dynamodb_client"),
        ("api.routes", "boto3"),
        ("api.routes", "pynamodb.models.Model"),
        ("api.routes", "tick.window.run_window"),
        ("nightshift.observability", "nightshift.adapters.ids.RandomIds"),
        ("nightshift.composition.api", "boto3"),
        ("nightshift.composition.parts", "boto3"),
        ("nightshift.composition.parts", "nightshift.composition.api.build_api"),
        ("nightshift.composition.api", "api.settings.ApiSettings"),
        ("nightshift.adapters.dynamodb.runs", "nightshift.adapters.stepfunctions.errors.code_of"),
        ("nightshift.adapters.stepfunctions.launcher", "nightshift.composition.api.build_api"),
        ("nightshift.adapters.dynamodb.runs", "pydantic.BaseModel"),
        ("nightshift.domain.services.clock", "nightshift.adapters.aws.dynamodb_client"),
        ("nightshift.domain.services.clock", "aws_lambda_powertools.Logger"),
        ("nightshift.domain.model.task", "nightshift.domain.services.clock.Clock"),
        ("nightshift.domain.model.task", "nightshift.domain.ports.Event"),
        ("nightshift.domain.model.task", "pydantic.BaseModel"),
        ("nightshift.domain.model.cron", "tzdata"),
        ("nightshift.domain.ports", "nightshift.domain.services.clock.Clock"),
    ],
)
def test_the_table_of_imports_refuses_what_points_the_wrong_way(
    importer: str, imported: str
) -> None:
    """HOUSE: a guard that lets everything pass is none."""
    assert not allowed(Import(importer, imported, "nowhere"))


@pytest.mark.parametrize(
    "path", sorted((PACKAGE / "domain").rglob("*.py")), ids=lambda path: path.name
)
def test_the_domain_reads_no_clock_and_no_environment(path: Path) -> None:
    """HOUSE: `now` is an argument, everywhere."""
    tree = ast.parse(path.read_text())
    named = {one.imported for one in imports(path)}
    assert not {name for name in named if name.partition(".")[0] in {"os", "time", "random"}}
    called = {
        f"{node.value.id}.{node.attr}"
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    assert not called & CLOCKS


def test_the_wall_clock_is_read_in_one_place() -> None:
    """B146: nobody else asks what time it is, and nobody remembers it."""
    found = [
        module_name(path)
        for path in sources()
        if any(f"{clock}(" in path.read_text() for clock in CLOCKS)
    ]
    assert found == ["wall_clock"]


def test_the_environment_is_read_by_handlers_only() -> None:
    """HOUSE: settings are handed on; nothing inside reads them for itself."""
    readers = {one.importer for path in sources() for one in imports(path) if one.top == "os"}
    assert readers == {
        "api.handler",
        "completion.handler",
        "notices.handler",
        "tick.handler",
    }


def test_no_file_is_a_drawer() -> None:
    """HOUSE: no file is called utils, helpers, common."""
    banned = {"utils", "helpers", "common", "util", "helper", "misc"}
    everywhere = [
        *ROOT.glob("layers/**/*.py"),
        *FUNCTIONS.rglob("*.py"),
        *ROOT.glob("tests/**/*.py"),
    ]
    assert not [path for path in everywhere if path.stem in banned]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_files_are_short(path: Path) -> None:
    """HOUSE: files about 250 lines."""
    assert len(path.read_text().splitlines()) <= LONG.get(path.name, 320)
