"""What the clock would do in the days ahead: the real services on a virtual clock."""

from nightshift_toolkit.simulation.report import Report
from nightshift_toolkit.simulation.scenario import Outage, Scenario
from nightshift_toolkit.simulation.tasks import Wish, read_tasks, wishes_of
from nightshift_toolkit.simulation.virtual_clock import simulate

__all__ = ["Outage", "Report", "Scenario", "Wish", "read_tasks", "simulate", "wishes_of"]
