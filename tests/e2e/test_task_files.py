"""Tasks as files, through the command line and the API."""

from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.place import Place

USER = ("--user", "filer")


def test_a_file_is_applied_once_changed_and_taken_back(place: "Place", tmp_path: "Path") -> None:
    """Applied twice it changes nothing; what it no longer has is deleted, and nothing else."""
    (tmp_path / "morning.md").write_text("Summarise yesterday's\ntickets.\n")
    content: dict[str, Any] = {
        "label": "managed-by=e2e",
        "tasks": {
            "morning": {"when": "every weekday at 9 in New York", "prompt_file": "morning.md"},
            "poll": {"schedule_spec": {"every_seconds": 600}, "command": "date"},
        },
    }

    def applied(*options: str) -> dict[str, list[Any]]:
        file = tmp_path / "tasks.yaml"
        file.write_text(yaml.safe_dump(content))
        answer: dict[str, list[Any]] = place.command_line("apply", "-f", str(file), *options, *USER)
        return answer

    bystander = place.create(place.caller("filer"), prompt="not of the file")
    assert applied("--dry-run")["create"] == ["morning", "poll"]
    assert applied()["create"] == ["morning", "poll"]
    assert len(applied()["unchanged"]) == 2
    content["tasks"]["morning"]["priority"] = 9
    del content["tasks"]["poll"]
    changed = applied()
    assert [change["fields"] for change in changed["change"]] == [["priority"]]
    assert len(changed["delete"]) == 1
    content["tasks"] = None
    assert len(applied()["delete"]) == 1
    left = place.command_line("tasks", "list", *USER)["items"]
    assert [task["id"] for task in left] == [bystander["id"]]
    place.caller("filer").delete(f"/api/scheduled-tasks/{bystander['id']}")
