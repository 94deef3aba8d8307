"""What starts a worker on a machine of the operator's: a systemd unit or a container's recipe."""

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

_HERE = Path(__file__).parent
_HOMES = (Path("/home"), Path("/root"), Path("/run/user"))
_QUOTED = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r", "%": "%%"}
_IN_COMMANDS = _QUOTED | {"$": "$$"}


def systemd_unit(
    program: Path, arguments: Sequence[str], stop_seconds: float, writable: Iterable[Path]
) -> str:
    """A hardened unit that starts `program worker` with these arguments.

    `stop_seconds` is how long a stop may take, `writable` the folders that runs change besides the
    service's own. Homes are out of its sight, unless it is installed in one.
    """
    words = (str(program), "worker", *arguments)
    paths = " ".join(_word(str(path), _QUOTED) for path in writable)
    at_home = any(program.is_relative_to(home) for home in _HOMES)
    return _filled(
        "systemd.service",
        command=" ".join(_word(word, _IN_COMMANDS) for word in words),
        stop_seconds=str(math.ceil(stop_seconds)),
        homes="read-only" if at_home else "yes",
        writable=f"ReadWritePaths={paths}" if paths else "",
    )


def container_recipe(arguments: Sequence[str], stop_seconds: float) -> str:
    """A Dockerfile of a worker that is not root; the arguments are its default ones."""
    return _filled(
        "container.dockerfile",
        arguments=json.dumps(list(arguments), ensure_ascii=False),
        stop_seconds=str(math.ceil(stop_seconds)),
    )


def _filled(name: str, **values: str) -> str:
    text = (_HERE / name).read_text(encoding="utf-8")
    filled = re.sub("@([a-z_]+)@", lambda place: values[place[1]], text)
    return filled.replace("\n\n\n", "\n\n")


def _word(text: str, specials: Mapping[str, str]) -> str:
    """One word as systemd reads it, which is no shell but has specials of its own."""
    return '"' + "".join(specials.get(character, character) for character in text) + '"'
