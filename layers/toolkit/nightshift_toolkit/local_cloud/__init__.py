"""The local cloud: the deployed template on this machine, without Docker and without an account.

`Engine` is AWS alone, for tests that need tables and executions. `LocalCloud` is Nightshift as
deployed. `run_local` is what `make run` does. `mint_token` makes somebody a user of it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from nightshift_toolkit.local_cloud.errors import LocalCloudError

if TYPE_CHECKING:
    from nightshift_toolkit.local_cloud.engine import Engine
    from nightshift_toolkit.local_cloud.issuer import mint_token
    from nightshift_toolkit.local_cloud.run import run_local
    from nightshift_toolkit.local_cloud.stack import LocalCloud

__all__ = ["Engine", "LocalCloud", "LocalCloudError", "mint_token", "run_local"]

_HOME = {"Engine": "engine", "LocalCloud": "stack", "mint_token": "issuer", "run_local": "run"}


def __getattr__(name: str) -> Any:
    # At first use: the engine's own process and the race tests need a fraction of it, and start
    # several times as fast without the rest.
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
