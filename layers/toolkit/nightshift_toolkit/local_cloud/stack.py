"""The whole local cloud: engine, token issuer and the deployed template, as one thing."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from nightshift_toolkit.local_cloud.deployment import Deployment, deploy
from nightshift_toolkit.local_cloud.engine import ACCOUNT, REGION, Engine
from nightshift_toolkit.local_cloud.errors import TickFailedError, UnhealthyError
from nightshift_toolkit.local_cloud.issuer import ALL_SCOPES, AUDIENCE, Issuer, mint_token
from nightshift_toolkit.local_cloud.loopback import listen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from types import TracebackType

CARD = "local.json"
SAM_ENVIRONMENT = "sam-env.json"
"""What points `sam local invoke --env-vars` at this cloud."""
PROJECT = Path(__file__).resolve().parents[4]
_ANSWER_SECONDS = 30.0

# What differs from a deployed stage: nobody waits long to see something, and the machine is the
# user's own, so commands are allowed, and webhooks to it.
LOCAL_PARAMETERS = {
    "Stage": "local",
    "LogRetentionDays": "1",
    "PointInTimeRecovery": "false",
    "DeletionProtection": "false",
    "AllowShellActions": "true",
    "WorkerSilenceSeconds": "30",
    "VerifyAfterSeconds": "30",
    "LaunchLeaseSeconds": "15",
    "LaunchDeadlineSeconds": "345",
    "MinOnceDelaySeconds": "60",
    "WebhookTargets": "loopback",
}
_RULES = ("TickRule", "NoticesRule")

_LIMITS_OF_SAM = {
    "STAGE": "Stage",
    "ALLOW_SHELL_ACTIONS": "AllowShellActions",
    "WORKER_SILENCE_SECONDS": "WorkerSilenceSeconds",
    "VERIFY_AFTER_SECONDS": "VerifyAfterSeconds",
    "LAUNCH_LEASE_SECONDS": "LaunchLeaseSeconds",
    "LAUNCH_DEADLINE_SECONDS": "LaunchDeadlineSeconds",
    "MIN_ONCE_DELAY_SECONDS": "MinOnceDelaySeconds",
}


class LocalCloud:
    """Nightshift as deployed, on loopback; a context manager.

    Args:
        state_dir: where everything is kept; None forgets it at the end.
        port: of the HTTP API; the engine takes the next one, the issuer the one after. 0 takes
            any free ones.
        template_path: the SAM template; this project's by default.
        parameters: of the template, on top of `LOCAL_PARAMETERS`.
        clock: whether the schedule ticks; without it, only `tick_now` does.

    """

    def __init__(
        self,
        state_dir: Path | str | None = None,
        *,
        port: int = 0,
        template_path: Path = PROJECT / "template.yaml",
        parameters: Mapping[str, str] | None = None,
        clock: bool = False,
    ) -> None:
        """Remember what to start; nothing runs before `start`."""
        self._scratch = state_dir is None
        self.state_dir = (
            Path(tempfile.mkdtemp(prefix="nightshift-")) if state_dir is None else Path(state_dir)
        ).resolve()
        self._issuer_port = port + 2 if port else 0
        self._template_path = template_path
        self._parameters = dict(parameters or {})
        self._clock = clock
        self._issuer: Issuer | None = None
        self._deployment: Deployment | None = None
        self._card_written = False
        self.engine = Engine(self.state_dir, port=port + 1 if port else 0, api_port=port)

    @property
    def api_url(self) -> str:
        """The address of the HTTP API."""
        return self.engine.api_url

    @property
    def endpoint_url(self) -> str:
        """The address of every AWS service."""
        return self.engine.endpoint_url

    @property
    def issuer_url(self) -> str:
        """The issuer of the tokens that the API accepts."""
        if self._issuer is None:
            raise RuntimeError("the local cloud is not running")
        return self._issuer.url

    @property
    def deployment(self) -> Deployment:
        """What was deployed."""
        if self._deployment is None:
            raise RuntimeError("the local cloud is not running")
        return self._deployment

    @property
    def outputs(self) -> dict[str, str]:
        """The stack's outputs."""
        return self.deployment.outputs

    def client(self, service: str, **options: Any) -> Any:
        """Return a boto3 client of this cloud."""
        return self.engine.client(service, **options)

    def mint_token(self, user: str, *, scopes: Sequence[str] = ALL_SCOPES, **options: Any) -> str:
        """Return an access token of `user`; `options` as those of `issuer.mint_token`."""
        return mint_token(
            user, state_dir=self.state_dir, issuer=self.issuer_url, scopes=scopes, **options
        )

    def tick_now(self) -> Any:
        """Invoke the clock's function once, wait for it, and return its answer.

        Raises:
            TickFailedError: the function raised.

        """
        return _told(self._call("TickFunctionName"))

    def deliver_now(self) -> Any:
        """Invoke the function that delivers notices once, wait for it, and return its answer.

        Raises:
            TickFailedError: the function raised.

        """
        return _told(self._call("NoticesFunctionName"))

    def _call(self, function: str, **options: str) -> Any:
        event = {"source": "aws.events", "detail-type": "Scheduled Event"}
        return self.client("lambda").invoke(
            FunctionName=self.outputs[function], Payload=json.dumps(event), **options
        )

    def stop_clock(self) -> None:
        """Start nothing any more: no tick begins, and the one that goes on is ended.

        What it had admitted and not yet launched keeps its keys, and is launched after the next
        start.
        """
        for rule in _RULES:
            self.client("events").disable_rule(Name=self.deployment.resources[rule])
        self.engine.end_function(self.outputs["TickFunctionName"])

    def runs_at_work(self) -> list[str]:
        """Return the ids of the runs whose executions go on."""
        answer = self.client("stepfunctions").list_executions(
            stateMachineArn=self.outputs["StateMachineArn"], statusFilter="RUNNING"
        )
        return [execution["name"] for execution in answer["executions"]]

    def start(self) -> LocalCloud:
        """Start everything and return when the API has answered.

        Raises:
            LocalCloudError: with the sentence that says why not.

        """
        try:
            self.engine.start()
            # A killed run leaves its own behind.
            (self.state_dir / CARD).unlink(missing_ok=True)
            self._issuer = Issuer(listen(self._issuer_port), self.state_dir)
            self._issuer.start()
            self._deploy()
            self._ask_for_health()
            if self._clock:
                self._call("TickFunctionName", InvocationType="Event")
            self._write_card()
        except (BotoCoreError, ClientError) as error:
            failure = self.engine.failure(error)
            self.stop()
            raise failure from error
        except BaseException:
            self.stop()
            raise
        return self

    def _deploy(self) -> None:
        parameters = {
            **LOCAL_PARAMETERS,
            **self._parameters,
            "JwtIssuer": self.issuer_url,
            "JwtAudience": AUDIENCE,
            "EndpointUrl": self.endpoint_url,
        }
        self._deployment = deploy(self.engine, self._template_path, parameters)
        events = self.client("events")
        turn = events.enable_rule if self._clock else events.disable_rule
        for rule in _RULES:
            turn(Name=self._deployment.resources[rule])
        if self._deployment.changed:
            self.engine.snapshot()

    def _ask_for_health(self) -> None:
        # The first request starts the function: whoever comes after it does not wait.
        health = f"{self.api_url}/api/health"
        try:
            with urllib.request.urlopen(health, timeout=_ANSWER_SECONDS):  # noqa: S310
                pass
        except urllib.error.HTTPError as error:
            answer = f"{error.code} {error.read(300).decode(errors='replace')}"
            raise UnhealthyError(answer, self.engine.log_path) from error
        except OSError as error:
            raise UnhealthyError(str(error), self.engine.log_path) from error

    def card(self) -> dict[str, Any]:
        """Return what a client of this machine has to know to use this cloud."""
        return {
            "state_dir": str(self.state_dir),
            "api_url": self.api_url,
            "issuer": self.issuer_url,
            "endpoint_url": self.endpoint_url,
            "region": REGION,
            "account": ACCOUNT,
            "table_name": self.outputs["TableName"],
            "queue_url": self.outputs["WorkerQueueUrl"],
            "output_bucket": self.outputs["OutputBucketName"],
            "state_machine_arn": self.outputs["StateMachineArn"],
            "pid": os.getpid(),
            "engine_pid": self.engine.pid,
        }

    def sam_environment(self) -> dict[str, str]:
        """Return the variables with which a function of the template works on this cloud.

        They are those of which only a deployed stack knows the values, or which the local one sets.
        """
        return {
            "AWS_ENDPOINT_URL": self.endpoint_url,
            "TABLE_NAME": self.outputs["TableName"],
            "STATE_MACHINE_ARN": self.outputs["StateMachineArn"],
            **{name: LOCAL_PARAMETERS[parameter] for name, parameter in _LIMITS_OF_SAM.items()},
        }

    def _write_card(self) -> None:
        draft = self.state_dir / f"{CARD}.new"
        draft.write_text(json.dumps(self.card(), indent=2) + "\n")
        draft.replace(self.state_dir / CARD)
        self._card_written = True
        variables = json.dumps({"Parameters": self.sam_environment()}, indent=2)
        (self.state_dir / SAM_ENVIRONMENT).write_text(variables + "\n")

    def stop(self) -> None:
        """Stop everything in order, its state saved."""
        if self._card_written:
            (self.state_dir / CARD).unlink(missing_ok=True)
            (self.state_dir / SAM_ENVIRONMENT).unlink(missing_ok=True)
            self._card_written = False
        self.engine.stop()
        self._stop_issuer()

    def kill(self) -> None:
        """End everything at once, as a power cut would; the state folder can be started again."""
        self.engine.kill()
        self._stop_issuer()

    def _stop_issuer(self) -> None:
        if self._issuer is not None:
            self._issuer.stop()
            self._issuer = None

    def __enter__(self) -> LocalCloud:
        """Start, and hand out the cloud."""
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and forget what was not to be kept."""
        self.stop()
        if self._scratch:
            with contextlib.suppress(OSError):
                shutil.rmtree(self.state_dir)


def _told(answer: Any) -> Any:
    body = json.loads(answer["Payload"].read() or b"null")
    if "FunctionError" in answer:
        raise TickFailedError(json.dumps(body))
    return body
