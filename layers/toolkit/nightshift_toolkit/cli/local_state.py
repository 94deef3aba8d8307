"""The running local cloud, found by the state it leaves in its folder."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nightshift_toolkit.cli.failures import ExitCode, Failure

STATE_FOLDER = ".nightshift"
STATE_FILE = "local.json"
DEFAULT_USER = "me"
PROJECT = Path(__file__).resolve().parents[4]
_FACTS = ("api_url", "issuer", "endpoint_url", "region", "table_name", "queue_url")


@dataclass(frozen=True)
class LocalCloud:
    """A running local cloud, as it says of itself in its state folder."""

    folder: Path
    facts: dict[str, Any]

    @property
    def api_url(self) -> str:
        """Where its API answers."""
        return str(self.facts["api_url"])

    def token(self, user: str) -> str:
        """A token that makes its bearer `user`, for this local cloud only."""
        # Signing is slow to load, and with a token of one's own it is not needed.
        from nightshift_toolkit.local_cloud.errors import DamagedStateError  # noqa: PLC0415
        from nightshift_toolkit.local_cloud.issuer import mint_token  # noqa: PLC0415

        try:
            return mint_token(user, state_dir=self.folder, issuer=str(self.facts["issuer"]))
        except DamagedStateError as damaged:
            raise Failure(str(damaged), ExitCode.FAULT) from damaged


def find_local_cloud(start: Path | None = None) -> LocalCloud | None:
    """The local cloud of the nearest folder, from the current one upwards, that has one running.

    Last of all that of the project whose command this is, which is where it is started.
    """
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents, PROJECT):
        facts = _facts(folder / STATE_FOLDER / STATE_FILE)
        if facts is not None:
            return LocalCloud(folder / STATE_FOLDER, facts)
    return None


def _facts(path: Path) -> dict[str, Any] | None:
    """What a running cloud says of itself; None where there is none, or something else."""
    try:
        facts = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return None
    whole = isinstance(facts, dict) and all(isinstance(facts.get(name), str) for name in _FACTS)
    # A folder that was copied has the card of the original's cloud in it.
    own = whole and facts.get("state_dir") in (None, str(path.parent.resolve()))
    return facts if own else None


def require_local_cloud() -> LocalCloud:
    """The local cloud, or a failure that says how to start one."""
    cloud = find_local_cloud()
    if cloud is None:
        raise Failure(
            "No local cloud runs in this folder or above it.",
            ExitCode.UNREACHABLE,
            hint="make run",
        )
    return cloud
