"""How agents are run, where, and what with, broken one piece at a time."""

from typing import Final

from mutation.breaks import Break, Suite

_TOOLKIT: Final = "layers/toolkit/nightshift_toolkit"
_ANSWERS: Final[Suite] = ("tests/unit/presets/test_answers.py",)
_FOLDERS: Final[Suite] = ("tests/unit/worker/test_folders.py",)
_PRINTED: Final[Suite] = ("tests/unit/cli/test_worker_printed.py",)
_ENVIRONMENT: Final[Suite] = ("tests/unit/worker/test_environment.py",)
_DRAIN: Final[Suite] = ("tests/unit/worker/test_service.py", "-k", "drain or stopping")


def _answer(name: str, before: str, after: str) -> Break:
    return Break(f"preset: {name}", f"{_TOOLKIT}/presets/answers.py", before, after, (_ANSWERS,))


def _folder(name: str, before: str, after: str) -> Break:
    return Break(f"folder: {name}", f"{_TOOLKIT}/worker/folders.py", before, after, (_FOLDERS,))


def _print(name: str, before: str, after: str) -> Break:
    return Break(f"printed: {name}", f"{_TOOLKIT}/presets/printed.py", before, after, (_PRINTED,))


BREAKS: Final = (
    _answer(
        "what could be an option is a session",
        "if isinstance(value, str) and _SESSION.fullmatch(value) else None",
        "if isinstance(value, str) else None",
    ),
    _answer(
        "an error that the tool reports is a success",
        'failed=bool(result.get("is_error"))',
        "failed=False",
    ),
    _answer(
        "a turn that failed is a success",
        "failed=bool(problem)",
        "failed=False",
    ),
    _answer(
        "cached input costs nothing",
        "sum(_count(written.get(name)) or 0 for name in _CACHED)",
        "0",
    ),
    _answer(
        "what is no amount is a cost",
        "return value if math.isfinite(value) and value >= 0 else None",
        "return value",
    ),
    _folder(
        "the thread of another user is the same",
        'f"{message.user_id}\\0{message.thread_id}".encode()',
        "message.thread_id.encode()",
    ),
    _folder(
        "user and thread run into each other",
        'f"{message.user_id}\\0{message.thread_id}".encode()',
        'f"{message.user_id}{message.thread_id}".encode()',
    ),
    _folder(
        "a thread of one run is kept",
        "if threads is None or message.thread_id == fresh_thread_id(message.run_id):",
        "if threads is None:",
    ),
    _folder(
        "the name of a run leads out of the folder",
        'return _IN_NAMES.sub("_", run_id)[:_LONGEST_NAME]',
        "return run_id",
    ),
    _folder("a folder is left behind", "if settings.keep_folders:", "if True:"),
    _print(
        "a dollar is expanded", '_IN_COMMANDS = _QUOTED | {"$": "$$"}', "_IN_COMMANDS = _QUOTED"
    ),
    _print(
        "a unit cannot write where its runs work",
        'f"ReadWritePaths={paths}" if paths else ""',
        '""',
    ),
    Break(
        "printed: a stop does not wait for the drain",
        f"{_TOOLKIT}/cli/worker.py",
        "        settings.drain_seconds\n        + settings.poll_seconds\n",
        "        settings.poll_seconds\n",
        (_PRINTED,),
    ),
    Break(
        "environment: a given variable replaces a fact of the run",
        f"{_TOOLKIT}/worker/environment.py",
        "return passed | dict(given or {}) | _facts(message)",
        "return passed | _facts(message) | dict(given or {})",
        (_ENVIRONMENT,),
    ),
    Break(
        "environment: all of the worker's variables are passed on",
        f"{_TOOLKIT}/worker/environment.py",
        'if name in allowed or name.startswith("LC_")',
        "if name",
        (_ENVIRONMENT,),
    ),
    Break(
        "drain: a message that was not begun waits for its visibility",
        f"{_TOOLKIT}/worker/service.py",
        "                work.hand_back()\n                continue\n",
        "                continue\n",
        (_DRAIN,),
    ),
    Break(
        "drain: runs go on for as long as they like",
        f"{_TOOLKIT}/worker/service.py",
        "                if remaining <= 0:\n                    break\n",
        "",
        (_DRAIN,),
    ),
)
