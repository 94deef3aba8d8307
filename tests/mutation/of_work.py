"""What is written on a run at work, and what leaves the worker, broken one way at a time."""

from typing import Final

from mutation.breaks import (
    ATTEMPTS,
    FENCE,
    MEMORY_WORK,
    PAUSES,
    PICKUPS,
    WORKER,
    WORKFLOW,
    Break,
    Suite,
)

_TABLE: Final = "layers/nightshift/nightshift/adapters/dynamodb"
_MEMORY: Final = "layers/toolkit/nightshift_toolkit/memory"
_WORKER: Final = "layers/toolkit/nightshift_toolkit/worker"
_ASL: Final = "functions/workflow/run.asl.yaml"
_ON_PAUSES: Final[tuple[Suite, ...]] = (PAUSES,)


def _pause(name: str, path: str, before: str, after: str) -> Break:
    return Break(f"pause: {name}", path, before, after, _ON_PAUSES)


def _memory(name: str, before: str, after: str, *, count: int = 1) -> Break:
    return Break(f"memory: {name}", f"{_MEMORY}/work.py", before, after, (MEMORY_WORK,), count)


def _pickup(name: str, before: str, after: str, *, count: int = 1) -> Break:
    return Break(f"pickup: {name}", f"{_WORKER}/aws.py", before, after, (PICKUPS,), count)


def _worker(name: str, file: str, before: str, after: str) -> Break:
    return Break(f"worker: {name}", f"{_WORKER}/{file}.py", before, after, (WORKER,))


def _attempt(name: str, before: str, after: str, *, count: int = 1) -> Break:
    return Break(f"attempt: {name}", _ASL, before, after, (FENCE, ATTEMPTS, WORKFLOW), count)


_PAUSABLE: Final = "return _all(EXISTS, at_work, RunItem.nonce == nonce, RunItem.can_pause == True)"
_WISH: Final = "if row is None or row.run.status is not RunStatus.RUNNING or not row.run.can_pause:"

BREAKS: Final = (
    # -- wishes for a pause --
    _pause(
        "a run that is not at work is asked to pause",
        f"{_TABLE}/conditions.py",
        _PAUSABLE,
        "return _all(EXISTS, RunItem.nonce == nonce, RunItem.can_pause == True)",
    ),
    _pause(
        "a run that was admitted anew is asked to pause",
        f"{_TABLE}/conditions.py",
        _PAUSABLE,
        "return _all(EXISTS, at_work, RunItem.can_pause == True)",
    ),
    _pause(
        "a run whose worker cannot pause it is asked to",
        f"{_TABLE}/conditions.py",
        _PAUSABLE,
        "return _all(EXISTS, at_work, RunItem.nonce == nonce)",
    ),
    _pause(
        "a wish outlives its run",
        f"{_TABLE}/completion.py",
        "        RunItem.pause_requested.remove(),\n",
        "",
    ),
    _pause(
        "a pause outlives its run",
        f"{_TABLE}/completion.py",
        "        RunItem.paused_at.remove(),\n",
        "",
    ),
    _pause(
        "in memory, a run that is not at work is asked to pause",
        f"{_MEMORY}/runs.py",
        _WISH,
        "if row is None or not row.run.can_pause:",
    ),
    _pause(
        "in memory, a run whose worker cannot pause it is asked to",
        f"{_MEMORY}/runs.py",
        _WISH,
        "if row is None or row.run.status is not RunStatus.RUNNING:",
    ),
    _pause(
        "in memory, a run that was admitted anew is asked to pause",
        f"{_MEMORY}/runs.py",
        "        if row.run.nonce != run.nonce:\n            return False\n",
        "",
    ),
    _pause(
        "in memory, a wish outlives its run",
        f"{_MEMORY}/verdicts.py",
        "        pause_requested=False,\n",
        "",
    ),
    _pause(
        "in memory, a pause outlives its run",
        f"{_MEMORY}/verdicts.py",
        "        paused_at=None,\n",
        "",
    ),
    # -- what workers and workflows write in memory --
    _memory(
        "a run that is over is worked on",
        "if row is None or row.run.status is not RunStatus.RUNNING or row.run.nonce != nonce:",
        "if row is None or row.run.nonce != nonce:",
    ),
    _memory(
        "a run under another nonce is worked on",
        "if row is None or row.run.status is not RunStatus.RUNNING or row.run.nonce != nonce:",
        "if row is None or row.run.status is not RunStatus.RUNNING:",
    ),
    _memory(
        "an attempt is won twice",
        "(row.run.picked_up_attempt or 0) >= attempt",
        "(row.run.picked_up_attempt or 0) > attempt",
    ),
    _memory(
        "an attempt that no worker had is recorded",
        "if row is None or row.run.picked_up_attempt != failed.attempt:",
        "if row is None:",
    ),
    _memory(
        "an attempt that is long over is recorded",
        "if row.run.attempt not in (failed.attempt, failed.attempt + 1):",
        "if False:",
    ),
    _memory(
        "an attempt is recorded twice",
        "before = row.run.attempts[: failed.attempt - 1]",
        "before = row.run.attempts",
    ),
    _memory(
        "a run is paused between its attempts",
        "                paused_at=None,\n            )\n            return True",
        "            )\n            return True",
    ),
    _memory(
        "a lost worker notes a pause of the next attempt",
        "if row is None or (row.run.attempt, row.run.picked_up_attempt) != (attempt, attempt):",
        "if row is None:",
    ),
    _memory(
        "a worker takes back a wish that it has not seen",
        "pause_requested=row.run.pause_requested and not spent,",
        "pause_requested=row.run.pause_requested and paused_at is not None,",
    ),
    # -- what a worker writes on the table --
    _pickup(
        "a run that is over is won",
        '"#status = :running AND #nonce = :nonce AND ("',
        '"(#status = :running OR attribute_exists(pk)) AND #nonce = :nonce AND ("',
    ),
    _pickup(
        "a run that was admitted anew is won",
        '"#status = :running AND #nonce = :nonce AND ("',
        '"#status = :running AND (#nonce = :nonce OR attribute_exists(pk)) AND ("',
    ),
    _pickup(
        "an earlier attempt is won again",
        "picked_up_attempt < :attempt",
        "picked_up_attempt <> :attempt",
    ),
    _pickup(
        "the winner may not ask again",
        "picked_up_attempt = :attempt AND picked_up_by = :claim",
        "picked_up_attempt < :attempt AND picked_up_by = :claim",
    ),
    _pickup(
        "an attempt is won by everybody",
        "picked_up_attempt = :attempt AND picked_up_by = :claim",
        "picked_up_attempt = :attempt AND picked_up_by <> :claim",
    ),
    _pickup(
        "a pause of the attempt before is still shown",
        " REMOVE paused_at, paused_seconds",
        "",
    ),
    _pickup(
        "a pause is noted on a run that is over",
        '"#status = :running AND #nonce = :nonce"\n',
        '"(#status = :running OR attribute_exists(pk)) AND #nonce = :nonce"\n',
    ),
    _pickup(
        "a pause is noted on a run that was admitted anew",
        '"#status = :running AND #nonce = :nonce"\n',
        '"#status = :running AND (#nonce = :nonce OR attribute_exists(pk))"\n',
    ),
    _pickup(
        "a lost worker notes a pause while the next attempt waits",
        " AND attempt = :attempt",
        "",
    ),
    _pickup(
        "a worker takes back a wish that it has not seen",
        '["pause_requested"] if spent else []',
        '[] if paused_at else ["pause_requested"]',
    ),
    # -- following pauses --
    _worker(
        "a pause has no end",
        "pausing",
        "allowed = so_far < self._message.max_pause_seconds",
        "allowed = True",
    ),
    _worker(
        "a wish that comes too late is left standing",
        "pausing",
        "if note != self._noted or spent:",
        "if note != self._noted:",
    ),
    _worker(
        "a run is not let go on",
        "pausing",
        "            command.go_on()\n",
        "",
    ),
    # -- secrets --
    _worker(
        "a secret across the end of a part leaves in halves",
        "masking",
        "settled = self._masker.safe_cut(self._pending, len(self._pending) - OVERLAP)",
        "settled = len(self._pending) - OVERLAP",
    ),
    _worker(
        "a line is looked at before it is whole",
        "masking",
        'settled = self._pending.rfind("\\n") + 1',
        "settled = len(self._pending)",
    ),
    _worker(
        "a private key is not hidden",
        "masking",
        "begin = _BLOCK.search(text)",
        "begin = None",
    ),
    _worker(
        "what begins like a key hides the rest",
        "masking",
        "room = LONGEST_BLOCK - self._hidden",
        "room = 2**62",
    ),
    _worker(
        "the operator's own secrets are not masked",
        "masking",
        '(*((("",), shape) for shape in also), *_SHAPES)',
        "_SHAPES",
    ),
    _worker(
        "what is under a secret's name in a result is shown",
        "masking",
        'if plain and value != "" and _SECRET_NAME.fullmatch(name):',
        "if False:",
    ),
    _worker(
        "names in a result are not masked",
        "masking",
        "return {self.masked(key): self._entry(key, entry)",
        "return {key: self._entry(key, entry)",
    ),
    _worker(
        "the name of a pair goes with its secret",
        "masking",
        'return (found.groupdict().get("keep") or "") + MASK',
        "return MASK",
    ),
    _worker(
        "the end of the output is lost",
        "output",
        "        self._hand_on(self._stream.rest())\n",
        "        self._stream.rest()\n",
    ),
    _worker(
        "errors are not masked",
        "attempt",
        "self._masker.masked(verdict.error),",
        "verdict.error,",
    ),
    _worker(
        "a result file is not masked",
        "attempt",
        "data=self._masker.masked_data(result.data)",
        "data=result.data",
    ),
    _worker(
        "output that is kept elsewhere is not masked",
        "attempt",
        "output = MaskedSink(self._masker, collector, *([spool] if spool else []))",
        "output = MaskedSink(self._masker, collector)\n"
        "                if spool:\n"
        "                    add = output.add\n"
        "                    output.add = lambda chunk: (spool.add(chunk), add(chunk))",
    ),
    # -- whole outputs --
    _worker(
        "an output on disk has no limit",
        "spool",
        "self._file.write(chunk[: self._room])",
        "self._file.write(chunk)",
    ),
    _worker(
        "an output that is cut does not say so",
        "spool",
        "                self._file.write(_CUT % self._limit)\n",
        "                pass\n",
    ),
    _worker(
        "half an output is kept as if it were whole",
        "spool",
        "return None if self._broken else self._file",
        "return self._file",
    ),
    _worker(
        "every output is kept elsewhere",
        "attempt",
        "if spool is not None and not fits(collector.collected()):",
        "if spool is not None:",
    ),
    _worker(
        "attempts overwrite each other's outputs",
        "spool",
        'f"/attempt-{message.attempt}.txt"',
        '"/attempt.txt"',
    ),
    # -- which failure another attempt follows --
    _attempt(
        "a reason that the task does not name is followed by another",
        "again.$: States.ArrayContains($.retry.on, $.report.reason)",
        "again: true",
        count=2,
    ),
    _attempt(
        "a silence that the task does not name is followed by another",
        "again.$: States.ArrayContains($.retry.on, 'worker_lost')",
        "again: true",
    ),
    _attempt(
        "a success is followed by another",
        "            StringEquals: failed\n          - Variable: $.report.reason",
        "            IsString: true\n          - Variable: $.report.reason",
        count=2,
    ),
    _attempt(
        "there is no limit to them",
        "            NumericLessThanPath: $.retry.max_attempts\n",
        "            IsPresent: true\n",
        count=2,
    ),
    _attempt(
        "there is no limit to those that fell silent",
        "        NumericLessThanPath: $.retry.max_attempts\n        Next: AttemptFellSilent",
        "        IsPresent: true\n        Next: AttemptFellSilent",
    ),
    _attempt(
        "one that cannot be recorded is followed by another",
        "        ResultPath: $.unrecorded\n        Next: NotAgain\n    Next: NextAttempt",
        "        ResultPath: $.unrecorded\n        Next: NextAttempt\n    Next: NextAttempt",
    ),
    _attempt(
        "a run is paused between two",
        " REMOVE paused_at'",
        "'",
    ),
    _attempt(
        "the next one comes at once",
        "    Next: WaitForNextAttempt\n",
        "    Next: Work\n",
    ),
    _attempt(
        "every wait is the first one's",
        "States.ArrayGetItem($.retry.waits, States.MathAdd($.turn.attempt, -1))",
        "States.ArrayGetItem($.retry.waits, 0)",
    ),
)
