"""Common English phrases for times, read into the schedules that the API takes."""

from nightshift_toolkit.phrases.grammar import NotUnderstoodError, Phrase, understand

__all__ = ["NotUnderstoodError", "Phrase", "understand"]
