"""The engine: ministack as a child process on loopback, alive as long as its parent wants it."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from http import HTTPStatus
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import boto3
from botocore.config import Config

from nightshift_toolkit.local_cloud.claim import claim
from nightshift_toolkit.local_cloud.errors import EngineStoppedError
from nightshift_toolkit.local_cloud.loopback import LOOPBACK, listen
from nightshift_toolkit.local_cloud.obituary import obituary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

REGION = "us-east-1"
ACCOUNT = "000000000000"
_MADE_UP_CREDENTIAL = "local"

# Nothing else of the caller's environment reaches the engine or the functions in it: a real AWS
# profile or a stray setting must not change what runs here.
_PASSED_ON = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT")
_READY_SECONDS = 30.0
_STOP_SECONDS, _GONE_SECONDS = 20.0, 1.0


class Engine:
    """DynamoDB, Step Functions, Lambda and the rest of AWS that Nightshift uses, on loopback.

    A context manager. Without `state_dir` everything is forgotten at the end. With it, what was
    acknowledged survives a stop, and a kill as far as tables go; one engine at a time per folder.

    Args:
        state_dir: where state is kept, or None.
        port: of the AWS endpoint; 0 takes any free one.
        api_port: of the deployed HTTP API; 0 takes any free one.

    """

    def __init__(
        self, state_dir: Path | str | None = None, *, port: int = 0, api_port: int = 0
    ) -> None:
        """Remember what to start; nothing runs before `start`."""
        self._wanted = (port, api_port)
        self._state_dir = Path(state_dir).resolve() if state_dir is not None else None
        self._scratch: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._clients: dict[str, Any] = {}
        self._claim: int | None = None
        self.port = 0
        self.api_port = 0

    @property
    def endpoint_url(self) -> str:
        """The address of every AWS service."""
        return f"http://{LOOPBACK}:{self.port}"

    @property
    def api_url(self) -> str:
        """The address of the HTTP API, once one is deployed."""
        return f"http://{LOOPBACK}:{self.api_port}"

    @property
    def log_path(self) -> Path:
        """Where the engine writes its log."""
        return self._folder / "engine.log"

    @property
    def functions_log_path(self) -> Path:
        """Where what functions log is copied to."""
        return self._folder / "functions.log"

    @property
    def pid(self) -> int:
        """The process id of the running engine."""
        return self._running.pid

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise EngineStoppedError("The engine is not running: start it first.")
        return self._process

    @property
    def _folder(self) -> Path:
        if self._state_dir is not None:
            return self._state_dir
        if self._scratch is None:
            self._scratch = Path(tempfile.mkdtemp(prefix="nightshift-engine-"))
        return self._scratch

    def environment(self) -> dict[str, str]:
        """Return the environment in which any AWS client talks to this engine."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "AWS_ACCESS_KEY_ID": _MADE_UP_CREDENTIAL,
            "AWS_SECRET_ACCESS_KEY": _MADE_UP_CREDENTIAL,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_REGION": REGION,
        }

    def session(self) -> boto3.Session:
        """Return a boto3 session with this engine's made-up credentials."""
        return boto3.Session(
            aws_access_key_id=_MADE_UP_CREDENTIAL,
            aws_secret_access_key=_MADE_UP_CREDENTIAL,
            region_name=REGION,
        )

    def client(self, service: str, **options: Any) -> Any:
        """Return a boto3 client of `service`; the same one each time unless `options` are given."""
        of_its_own = bool(options)
        if service not in self._clients or of_its_own:
            config = options.pop("config", Config(connect_timeout=5, read_timeout=70))
            session = cast("Any", self.session())
            made = session.client(service, endpoint_url=self.endpoint_url, config=config, **options)
            if of_its_own:
                return made
            self._clients[service] = made
        return self._clients[service]

    def start(self) -> Engine:
        """Start the process and return when it answers.

        Raises:
            AlreadyRunningError: another engine uses the state folder.
            PortBusyError: a wanted port is taken.
            EngineStoppedError: the process ended, or does not answer within 30 s.

        """
        if self._state_dir is not None:
            self._claim = claim(self._state_dir)
        try:
            self._open_and_spawn()
            self._wait_until_ready()
        except BaseException:
            self._forget()
            raise
        return self

    def _open_and_spawn(self) -> None:
        with contextlib.ExitStack() as sockets:
            listeners = [
                sockets.enter_context(contextlib.closing(listen(port))) for port in self._wanted
            ]
            self.port, self.api_port = (listener.getsockname()[1] for listener in listeners)
            self._folder.mkdir(parents=True, exist_ok=True)
            with self.log_path.open("wb") as log:
                self._process = self._spawn([listener.fileno() for listener in listeners], log)

    def _spawn(self, descriptors: list[int], log: IO[bytes]) -> subprocess.Popen[bytes]:
        # Its own session: Ctrl-C reaches the parent alone, which stops things in the right order.
        # Its standard input is a pipe that closes when the parent dies, however it dies.
        return subprocess.Popen(
            [
                sys.executable,
                "-m",
                "nightshift_toolkit.local_cloud.process",
                *map(str, descriptors),
            ],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
            env=self._process_environment(),
            pass_fds=[*descriptors, *([] if self._claim is None else [self._claim])],
            start_new_session=True,
        )

    def _process_environment(self) -> dict[str, str]:
        passed_on: Mapping[str, str] = {
            name: os.environ[name] for name in _PASSED_ON if name in os.environ
        }
        persistent = self._state_dir is not None
        return {
            **passed_on,
            "GATEWAY_PORT": str(self.port),
            "MINISTACK_HOST": LOOPBACK,
            "MINISTACK_REGION": REGION,
            "MINISTACK_ACCOUNT_ID": ACCOUNT,
            "PERSIST_STATE": "1" if persistent else "0",
            "STATE_DIR": str(self._folder / "engine"),
            "FUNCTIONS_LOG": str(self.functions_log_path),
            "S3_DATA_DIR": str(self._folder / "s3"),
            "DOCKER_HOST": "unix:///nonexistent",
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "LOG_LEVEL": "INFO",
            "PYTHONUNBUFFERED": "1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def _wait_until_ready(self) -> None:
        # The socket listens before the process does, so one request waits for as long as it takes.
        health = f"{self.endpoint_url}/_ministack/health"
        with (
            contextlib.suppress(OSError),
            urllib.request.urlopen(health, timeout=_READY_SECONDS) as answer,  # noqa: S310
        ):
            if answer.status == HTTPStatus.OK:
                return
        sentence = self._last_sentence()
        self.kill()
        raise EngineStoppedError(sentence)

    def failure(self, error: Exception) -> EngineStoppedError:
        """Return what is to be said when this engine did not answer a call but by `error`."""
        sentence = self._last_sentence()
        if self.is_running():
            sentence = f"The engine does not do what it is asked: {error}; see {self.log_path}."
        return EngineStoppedError(sentence)

    def _last_sentence(self) -> str:
        # Its sockets close a moment before it is gone, and only then its exit code is known.
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._running.wait(_GONE_SECONDS)
        return self.obituary()

    def obituary(self) -> str:
        """Return the sentence for an engine that ended by itself, with its last words."""
        return obituary(self._process.poll() if self._process else None, self.log_path)

    def snapshot(self) -> None:
        """Write the whole state down now; a kill afterwards loses nothing of what stands."""
        self._order("snapshot")

    def end_function(self, name: str) -> None:
        """End the invocations of a Lambda function that go on, as a crash would."""
        self._order(f"end:{name}")

    def _order(self, word: str) -> None:
        request = urllib.request.Request(  # noqa: S310
            f"{self.endpoint_url}/_nightshift/{word}", method="POST"
        )
        with urllib.request.urlopen(request, timeout=_READY_SECONDS):  # noqa: S310
            pass

    def is_running(self) -> bool:
        """Say whether the process lives."""
        return self._process is not None and self._process.poll() is None

    def stop(self) -> None:
        """End the process in order, its state saved; a second call does nothing."""
        if self._process is None:
            return
        process = self._process
        process.terminate()
        try:
            process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
        self._forget()

    def kill(self) -> None:
        """End the process and all that it started at once, as a power cut would."""
        if self._process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._forget()

    def _forget(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.close()
        self._process = None
        if self._claim is not None:
            os.close(self._claim)
            self._claim = None

    def __enter__(self) -> Engine:
        """Start, and hand out the engine."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and forget what was not to be kept."""
        self.stop()
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)
            self._scratch = None
