"""`nightshift doctor`: see `nightshift_toolkit.audit`."""

from nightshift_toolkit.audit.command import command as command  # noqa: PLC0414 - handed on
