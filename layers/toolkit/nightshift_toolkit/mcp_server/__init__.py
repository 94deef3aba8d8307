"""The door for agents: Nightshift's schedules as tools of the Model Context Protocol."""
