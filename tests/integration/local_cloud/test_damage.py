"""State on disk that is not as it was written is refused in a sentence, and left as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from nightshift_toolkit.local_cloud.engine import Engine
from nightshift_toolkit.local_cloud.errors import (
    DamagedStateError,
    EngineStoppedError,
    StateFolderError,
)
from nightshift_toolkit.local_cloud.issuer import signing_key

if TYPE_CHECKING:
    from pathlib import Path


def kept(folder: Path) -> Path:
    """Return the generation in force of an engine that ran in `folder` and was stopped."""
    with Engine(folder) as engine:
        engine.client("sqs").create_queue(QueueName="one")
        engine.client("dynamodb").create_table(
            TableName="records",
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
            AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
            BillingMode="PAY_PER_REQUEST",
        )
    return folder / "engine" / (folder / "engine" / "CURRENT").read_text()


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "damage",
    [
        "truncated",
        "overwritten",
        "emptied",
        "removed",
        "no generation",
        "torn number",
        "no number",
    ],
)
def test_a_damaged_store_is_refused_and_left_as_it_is(tmp_path: Path, damage: str) -> None:
    store = kept(tmp_path)
    table, current = store / "dynamodb.json", store.with_name("CURRENT")
    match damage:
        case "truncated":
            table.write_bytes(table.read_bytes()[:-20])
        case "overwritten":
            table.write_bytes(b"\xff\xfe garbage")
        case "emptied":
            table.write_bytes(b"")
        case "removed":
            table.unlink()
        case "no generation":
            store.rename(tmp_path / "elsewhere")
        case "torn number":
            current.write_text("x")
        case "no number":
            current.unlink()
    before = contents(tmp_path / "engine")
    with pytest.raises(EngineStoppedError, match=r"^\S+ is damaged, and nothing in it was changed"):
        Engine(tmp_path).start()
    assert contents(tmp_path / "engine") == before


def test_a_state_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "state").touch()
    with pytest.raises(StateFolderError, match="Nothing can be kept in"):
        Engine(tmp_path / "state").start()


@pytest.mark.parametrize("text", ["", "garbage", "-----BEGIN PRIVATE KEY-----\nAAAA\n"])
def test_a_damaged_key_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "issuer-key.pem").write_text(text)
    with pytest.raises(DamagedStateError, match=r"issuer-key\.pem is damaged"):
        signing_key(tmp_path)
