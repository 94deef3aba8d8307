"""One attempt of one run: its command, where it runs, and the report on it."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from nightshift.domain.model.instants import format_instant
from nightshift_toolkit.worker.environment import command_environment
from nightshift_toolkit.worker.folders import THREAD_FOLDER, RunFolder, folder_for
from nightshift_toolkit.worker.lifeline import Lifeline
from nightshift_toolkit.worker.masking import Masker
from nightshift_toolkit.worker.message import RunMessage
from nightshift_toolkit.worker.output import MaskedSink, OutputCollector
from nightshift_toolkit.worker.ports import OutputStore, Unavailable
from nightshift_toolkit.worker.previous_file import PREVIOUS_RESULT_FILE, previous_file
from nightshift_toolkit.worker.report import NO_RESULT, Report, fits
from nightshift_toolkit.worker.result_file import RESULT_FILE, StructuredResult, read_result
from nightshift_toolkit.worker.settings import WorkerSettings
from nightshift_toolkit.worker.spool import Spool, place_of
from nightshift_toolkit.worker.supervision import Ending, Order, SupervisedCommand
from nightshift_toolkit.worker.verdict import refusal, verdict_on

log = logging.getLogger(__name__)

_SHELL = "/bin/sh"


class Attempt:
    """The work that a won message asks for; `stop` may be called from any thread at any time."""

    def __init__(
        self,
        message: RunMessage,
        settings: WorkerSettings,
        now: Callable[[], datetime],
        outputs: OutputStore | None = None,
    ) -> None:
        self._message = message
        self._settings = settings
        self._now = now
        self._outputs = outputs
        self._output_url: str | None = None
        self._masker = Masker(settings.masks)
        self._stopping = threading.Event()
        self._command: SupervisedCommand | None = None

    def stop(self) -> None:
        """Have the command ended and reported as stopped by the worker; returns at once."""
        self._stopping.set()
        if self._command is not None:
            self._command.stop()

    def carry_out(self, lifeline: Lifeline) -> Report:
        """Do the work and return the report on it, whatever happens to the command."""
        started_at = format_instant(self._now())
        collector = OutputCollector()
        structured = NO_RESULT
        verdict = refusal(self._message.action, self._settings)
        if verdict is None:
            ending, structured = self._run(lifeline, collector)
            verdict = verdict_on(ending, self._message, self._settings, collector.collected())
        return Report(
            outcome=verdict.outcome,
            reason=verdict.reason,
            error=None if verdict.error is None else self._masker.masked(verdict.error),
            exit_code=verdict.exit_code,
            output=collector.collected(),
            started_at=started_at,
            finished_at=format_instant(self._now()),
            structured=structured,
            output_url=self._output_url,
        )

    def _run(
        self, lifeline: Lifeline, collector: OutputCollector
    ) -> tuple[Ending, StructuredResult]:
        if self._stopping.is_set() or lifeline.over.is_set():
            return Ending("stop"), NO_RESULT
        try:
            with (
                self._spool() as spool,
                folder_for(self._message, self._settings) as folder,
                self._result_file(folder.path) as result_file,
                previous_file(
                    self._named("previous", folder.path), self._message.previous
                ) as previous,
            ):
                output = MaskedSink(self._masker, collector, *([spool] if spool else []))
                places = {RESULT_FILE: str(result_file), PREVIOUS_RESULT_FILE: previous}
                command = SupervisedCommand.start(self._order(folder, places))
                self._command = command
                lifeline.attach(command)
                if self._stopping.is_set():
                    command.stop()
                ending = command.wait(output)
                output.close()
                if spool is not None and not fits(collector.collected()):
                    self._output_url = self._kept(spool)
                return ending, self._written(result_file)
        except OSError as error:
            error_text = f"the worker has no room for it ({error.strerror})"
            return Ending("refused", error=error_text), NO_RESULT

    def _spool(self) -> AbstractContextManager[Spool | None]:
        return nullcontext() if self._outputs is None else Spool()

    def _kept(self, spool: Spool) -> str | None:
        """Where the whole output is; a store that does not answer costs the run nothing else."""
        content = spool.content()
        if self._outputs is None or content is None:
            return None
        try:
            return self._outputs.keep(place_of(self._message), content)
        except Unavailable as error:
            facts = {"run_id": self._message.run_id, "error": str(error)}
            log.warning("output_not_kept", extra=facts)
            return None

    @contextmanager
    def _result_file(self, folder: Path) -> Iterator[Path]:
        path = self._named("result", folder)
        try:
            yield path
        finally:
            with suppress(OSError):
                path.unlink(missing_ok=True)

    def _named(self, what: str, folder: Path) -> Path:
        """A name of this attempt's own, since a folder may be shared by runs."""
        message = self._message
        return folder / f".nightshift-{what}-{message.run_id}-{message.attempt}.json"

    def _written(self, result_file: Path) -> StructuredResult:
        result = read_result(result_file)
        return replace(result, data=self._masker.masked_data(result.data)).bounded()

    def _order(self, folder: RunFolder, places: dict[str, str]) -> Order:
        message, settings = self._message, self._settings
        if folder.thread is not None:
            places = places | {THREAD_FOLDER: str(folder.thread)}
        # The text is the whole standard input or one whole argument; no shell sees a prompt, and
        # the shell that runs a command sees nothing else.
        shell = message.action.kind == "shell"
        return Order(
            argv=(_SHELL, "-c", message.action.text) if shell else settings.agent_command,
            stdin=b"" if shell else message.action.text.encode("utf-8", "replace"),
            environment=command_environment(
                message, settings.environment, settings.passed_variables, settings.given_variables
            )
            | places,
            folder=folder.path,
            timeout_seconds=message.timeout_seconds,
            silence_seconds=settings.cut_off_seconds,
            grace_seconds=settings.grace_seconds,
        )
