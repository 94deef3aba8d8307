"""Tasks as files: what a file asks for, how that differs from what is there, and the way back."""

from nightshift_toolkit.task_files.document import Document, Entry, FaultyFileError, read_document
from nightshift_toolkit.task_files.entries import Wanted, wanted_tasks
from nightshift_toolkit.task_files.export import exported, file_text
from nightshift_toolkit.task_files.imports import Imported, from_crontab, from_eventbridge
from nightshift_toolkit.task_files.plan import Change, Plan, plan_of
from nightshift_toolkit.task_files.schema import document_schema

__all__ = [
    "Change",
    "Document",
    "Entry",
    "FaultyFileError",
    "Imported",
    "Plan",
    "Wanted",
    "document_schema",
    "exported",
    "file_text",
    "from_crontab",
    "from_eventbridge",
    "plan_of",
    "read_document",
    "wanted_tasks",
]
