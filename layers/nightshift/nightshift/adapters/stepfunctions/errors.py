"""What Step Functions and botocore say went wrong, translated once into the domain's words."""

from botocore.exceptions import BotoCoreError, ClientError, NoCredentialsError

from nightshift.domain.errors import ExecutionsUnavailable, LaunchImpossible, NightshiftError

DENIED = frozenset(
    {
        "AccessDenied",
        "AccessDeniedException",
        "ExpiredTokenException",
        "InvalidArn",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "KmsAccessDeniedException",
        "KmsInvalidStateException",
        "StateMachineDeleting",
        "StateMachineDoesNotExist",
        "UnrecognizedClientException",
    }
)
"""Errors that concern every execution, not this one: permission, credentials, the machine."""


def code_of(error: ClientError | BotoCoreError) -> str:
    """The service's code of an error, or its class name."""
    if isinstance(error, ClientError):
        return str(error.response.get("Error", {}).get("Code", "Unknown"))
    return type(error).__name__


def is_systemic(error: ClientError | BotoCoreError) -> bool:
    """Whether the same call for any other run would fail as well."""
    return isinstance(error, NoCredentialsError) or code_of(error) in DENIED


def translated(error: ClientError | BotoCoreError) -> NightshiftError:
    """The domain's error for a call that gave no usable answer."""
    code = code_of(error)
    if is_systemic(error):
        return LaunchImpossible(f"Step Functions cannot be used: {code}.")
    return ExecutionsUnavailable(f"Step Functions did not answer: {code}.")
