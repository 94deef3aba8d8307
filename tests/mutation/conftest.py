"""Lists the breaks at the end, each with the test that found it out."""

import pytest

from proof import say_what_was_covered


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table of breaks, and how many there were."""
    found = {
        str(name).removeprefix("caught: "): str(value)
        for reports in terminalreporter.stats.values()
        for report in reports
        if getattr(report, "when", None) == "call"
        for name, value in report.user_properties
        if str(name).startswith("caught: ")
    }
    width = max(map(len, found), default=0)
    for name in sorted(found):
        terminalreporter.write_line(f"  {name:{width}}  {found[name]}")
    say_what_was_covered(terminalreporter, "mutation", ("breaks", "breaks caught"))
