"""Whether what an engine left on disk is whole; ministack itself begins empty where it is not."""

from __future__ import annotations

import json
from pathlib import Path

from nightshift_toolkit.local_cloud.errors import DamagedStateError

CURRENT = "CURRENT"
_COMPLETE = "COMPLETE"
_ADVICE = "put back a copy of the folder, or move it away to begin with nothing"


def journal_path(folder: Path, generation: int) -> Path:
    """Return where the journal behind a generation is."""
    return folder / f"{generation}.journal"


def mark_complete(folder: Path) -> None:
    """Write down which files a generation has, as the last thing that is written into it."""
    names = sorted(path.name for path in folder.glob("*.json"))
    (folder / _COMPLETE).write_text("".join(f"{name}\n" for name in names))


def sound_generation(folder: Path) -> int:
    """Return the number of the generation in force, after reading all of it; 0 before the first.

    Nothing is written.

    Args:
        folder: of the engine's state.

    Raises:
        DamagedStateError: a file of it is missing, or is not as it was written.

    """
    try:
        generation = _generation(folder)
        if generation is not None:
            _read_files(folder / str(generation))
    except OSError as error:
        raise DamagedStateError(Path(error.filename or folder), _ADVICE) from error
    return generation or 0


def _generation(folder: Path) -> int | None:
    current = folder / CURRENT
    if current.exists():
        text = current.read_text(errors="replace").strip()
        if not text.isdecimal():
            raise DamagedStateError(current, _ADVICE)
        return int(text)
    generations = {path.name for path in folder.iterdir() if path.name.isdecimal()}
    if generations and "0" not in generations:
        raise DamagedStateError(current, _ADVICE)
    return None


def _read_files(folder: Path) -> None:
    # Of the journal every line stands alone, and one that a kill tore apart was never acknowledged.
    if not folder.is_dir():
        raise DamagedStateError(folder, _ADVICE)
    complete = folder / _COMPLETE
    listed = complete.read_text(errors="replace").split() if complete.exists() else []
    names = {*listed, *(path.name for path in folder.glob("*.json"))}
    for name in sorted(names):
        _read_object(folder / name, (folder / name).read_bytes())


def _read_object(path: Path, text: bytes) -> None:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedStateError(path, _ADVICE) from error
    if not isinstance(found, dict):
        raise DamagedStateError(path, _ADVICE)
