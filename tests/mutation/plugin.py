"""A pytest plugin that breaks one module, or one text file, in the process it is loaded into."""

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from mutation.breaks import ROOT, Break, all_breaks

SWITCH = "NIGHTSHIFT_BREAK"


class _Loader(SourceFileLoader):
    """Compiles the broken source, and keeps nothing of it."""

    def __init__(self, fullname: str, path: str, broken: Break) -> None:
        super().__init__(fullname, path)
        self._broken = broken

    def get_code(self, fullname: str) -> CodeType | None:
        """The code of the broken module."""
        path = self.get_filename(fullname)
        source = self._broken.applied(Path(path).read_text("utf-8"))
        return compile(source, path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds the module that is to be broken before anybody else does."""

    def __init__(self, broken: Break) -> None:
        self._broken = broken
        self._path = str(ROOT / broken.path)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of the broken module; None for every other."""
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or spec.origin != self._path:
            return None
        spec.loader = _Loader(fullname, self._path, self._broken)
        return spec


def _break_text(broken: Break) -> None:
    """Let whoever reads the file read it broken."""
    read: Any = Path.read_text
    wanted = ROOT / broken.path

    def read_text(self: Path, *args: Any, **kwargs: Any) -> str:
        text: str = read(self, *args, **kwargs)
        return broken.applied(text) if self.resolve() == wanted else text

    Path.read_text = read_text  # type: ignore[method-assign]


def _apply() -> None:
    name = os.environ.get(SWITCH)
    if name is None:
        return
    broken = all_breaks()[name]
    if not broken.path.endswith(".py"):
        _break_text(broken)
        return
    module = Path(broken.path).stem
    if any(getattr(each, "__file__", None) == str(ROOT / broken.path) for each in _imported()):
        raise RuntimeError(f"{module} was imported before it could be broken")
    sys.meta_path.insert(0, _Finder(broken))


def _imported() -> list[ModuleType]:
    return list(sys.modules.values())


_apply()
