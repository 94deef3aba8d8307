"""The hand-over of results, broken one piece at a time."""

from typing import Final

from mutation.breaks import (
    CRASH,
    EXPLORER,
    MEMORY_CONTRACT,
    RULES,
    SIMULATION,
    TABLE_CONTRACT,
    Break,
)

_DOMAIN: Final = "layers/nightshift/nightshift/domain"
_TABLE: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_MEMORY: Final = "layers/toolkit/nightshift_toolkit/memory"
_WORKER: Final = "layers/toolkit/nightshift_toolkit/worker"
_FILES: Final = ("tests/unit/worker/test_previous_file.py",)
_LAUNCHES: Final = ("tests/contract/test_executions.py",)

BREAKS: Final = (
    Break(
        "rule: results are handed to runs that did not ask",
        f"{_DOMAIN}/model/previous.py",
        "    if not task.definition.include_previous_result:\n        return None\n",
        "",
        (RULES, EXPLORER, SIMULATION),
    ),
    Break(
        "rule: a record that cannot be read keeps its task from running",
        f"{_DOMAIN}/services/handing_on.py",
        "except CorruptRecord as error",
        "except ZeroDivisionError as error",
        (RULES,),
    ),
    Break(
        "rule: a launch tells no result",
        f"{_DOMAIN}/services/lifecycle.py",
        "LaunchOrder(slot=slot, payload=payload, previous=previous)",
        "LaunchOrder(slot=slot, payload=payload)",
        (RULES, EXPLORER),
    ),
    Break(
        "table: a run is admitted on an old success",
        f"{_TABLE}/runs.py",
        "        condition &= conditions.succeeded_as_seen(seen)\n",
        "        pass\n",
        (TABLE_CONTRACT, CRASH),
    ),
    Break(
        "table: every end of a run is a last success",
        f"{_TABLE}/completion.py",
        '    if verdict.outcome is Outcome.SUCCESS:\n        attributes["last_success',
        '    if verdict.outcome:\n        attributes["last_success',
        (TABLE_CONTRACT, CRASH),
    ),
    Break(
        "memory: a run is admitted on an old success",
        f"{_MEMORY}/runs.py",
        " and _succeeded_as_seen(task, admission)",
        "",
        (MEMORY_CONTRACT, EXPLORER),
    ),
    Break(
        "memory: a success is not the last one",
        f"{_MEMORY}/verdicts.py",
        "last_success_run_id=run_id",
        "last_success_run_id=before.last_success_run_id",
        (MEMORY_CONTRACT, EXPLORER),
    ),
    Break(
        "launches: the input of an execution has no result",
        "layers/nightshift/nightshift/adapters/stepfunctions/launcher.py",
        "None if order.previous is None else _previous(order.previous)",
        "None",
        (_LAUNCHES, CRASH),
    ),
    Break(
        "worker: a previous result is written over what lies there",
        f"{_WORKER}/previous_file.py",
        "        path.unlink(missing_ok=True)\n        handle = os.open("
        "path, os.O_WRONLY | os.O_CREAT | os.O_EXCL",
        "        handle = os.open(path, os.O_WRONLY | os.O_CREAT",
        (_FILES,),
    ),
    Break(
        "worker: everybody may read a previous result",
        f"{_WORKER}/previous_file.py",
        "0o600",
        "0o644",
        (_FILES,),
    ),
    Break(
        "worker: a previous result stays behind",
        f"{_WORKER}/previous_file.py",
        "    finally:\n        with suppress(OSError):\n            path.unlink(missing_ok=True)\n",
        "    finally:\n        pass\n",
        (_FILES,),
    ),
)
