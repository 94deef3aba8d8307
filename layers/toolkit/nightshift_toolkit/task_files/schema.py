"""The form of a file as a JSON Schema, for editors."""

from typing import Any

from api.requests import CreateTaskRequest

_SCHEDULE_PHRASE = "A time in English, like: every weekday at 9 in New York."


def document_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of a file with tasks."""
    task = CreateTaskRequest.model_json_schema(ref_template="#/$defs/{model}")
    definitions = task.pop("$defs", {})
    task["properties"] |= {
        "when": {"type": "string", "description": _SCHEDULE_PHRASE},
        "prompt_file": {"type": "string", "description": "A file beside this one."},
        "command": {"type": "string", "description": "A shell command instead of a prompt."},
    }
    task["required"] = []
    ways = ("action", "prompt", "prompt_file", "command")
    task["oneOf"] = [{"required": [way]} for way in ways]
    task["anyOf"] = [{"required": ["when"]}, {"required": ["schedule_spec"]}]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Nightshift tasks",
        "type": "object",
        "additionalProperties": False,
        "required": ["label", "tasks"],
        "properties": {
            "label": {"type": "string", "pattern": "^[^=]+=.+$"},
            "tasks": {"type": ["object", "null"], "additionalProperties": {"$ref": "#/$defs/Task"}},
        },
        "$defs": definitions | {"Task": task},
    }
