"""The local token issuer: what Cognito is to a deployed Nightshift, for this machine alone.

The key lives in the state folder, readable by its owner only. Whoever can read it can be anybody
here, which is what `nightshift token --user NAME` is for.
"""

from __future__ import annotations

import json
import os
import threading
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import jwt
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from nightshift_toolkit.local_cloud.errors import DamagedStateError

if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence
    from pathlib import Path

AUDIENCE = "nightshift-local"
ALL_SCOPES = ("nightshift/read", "nightshift/write", "nightshift/admin")
DAY_SECONDS = 86_400
_KEY_FILE = "issuer-key.pem"
_KEY_ID = "local"
_ADVICE = "remove it to have a new key made, with which old tokens end"


def signing_key(state_dir: Path) -> rsa.RSAPrivateKey:
    """Return the key of this state folder, made at the first call.

    Raises:
        DamagedStateError: the file holds no such key.

    """
    path = state_dir / _KEY_FILE
    if not path.exists():
        _write_key(path)
    try:
        key = serialization.load_pem_private_key(path.read_bytes(), password=None)
    except (OSError, TypeError, ValueError) as error:
        raise DamagedStateError(path, _ADVICE) from error
    if not isinstance(key, rsa.RSAPrivateKey):
        raise DamagedStateError(path, _ADVICE)
    return key


def _write_key(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    text = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    draft = path.with_suffix(f".{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(text)
    draft.replace(path)


def mint_token(
    user: str,
    *,
    state_dir: Path,
    issuer: str,
    scopes: Sequence[str] = ALL_SCOPES,
    lifetime_seconds: int = DAY_SECONDS,
    **claims: Any,
) -> str:
    """Return a signed access token that makes its bearer `user`.

    Args:
        user: becomes the claim `sub`.
        state_dir: the folder with the key.
        issuer: the address that the local cloud was started with.
        scopes: what the bearer may do.
        lifetime_seconds: until it expires; negative makes an expired one.
        claims: put on top of, or in place of, the usual ones.

    """
    now = int(time.time())
    body = {
        "sub": user,
        "iss": issuer,
        "aud": AUDIENCE,
        "client_id": AUDIENCE,
        "token_use": "access",
        "scope": " ".join(scopes),
        "iat": now,
        "exp": now + lifetime_seconds,
        **claims,
    }
    return jwt.encode(body, signing_key(state_dir), algorithm="RS256", headers={"kid": _KEY_ID})


def key_set(state_dir: Path) -> dict[str, Any]:
    """Return the JSON Web Key Set that verifies what `mint_token` signs."""
    public = jwt.algorithms.RSAAlgorithm.to_jwk(signing_key(state_dir).public_key(), as_dict=True)
    return {"keys": [{**public, "kid": _KEY_ID, "use": "sig", "alg": "RS256"}]}


class Issuer:
    """Serves the discovery document and the keys on a socket that is already listening.

    Args:
        listener: where to answer.
        state_dir: the folder with the key.

    """

    def __init__(self, listener: socket.socket, state_dir: Path) -> None:
        """Prepare the two documents; nothing is served before `start`."""
        host, port = listener.getsockname()[:2]
        self.url = f"http://{host}:{port}"
        keys_url = f"{self.url}/.well-known/jwks.json"
        discovery = {
            "issuer": self.url,
            "jwks_uri": keys_url,
            "id_token_signing_alg_values_supported": ["RS256"],
            "response_types_supported": ["token"],
            "subject_types_supported": ["public"],
            "scopes_supported": list(ALL_SCOPES),
        }
        documents = {
            "/.well-known/openid-configuration": json.dumps(discovery).encode(),
            "/.well-known/jwks.json": json.dumps(key_set(state_dir)).encode(),
        }
        self._server = _serve_documents(listener, documents)
        self._thread = threading.Thread(
            target=self._server.serve_forever, args=(0.05,), daemon=True, name="issuer"
        )

    def start(self) -> None:
        """Answer from now on."""
        self._thread.start()

    def stop(self) -> None:
        """Stop answering and close the socket."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _serve_documents(listener: socket.socket, documents: dict[str, bytes]) -> ThreadingHTTPServer:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            document = documents.get(self.path)
            self.send_response(HTTPStatus.NOT_FOUND if document is None else HTTPStatus.OK)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(document or b"")))
            self.end_headers()
            self.wfile.write(document or b"")

        def log_message(self, *_: object) -> None:
            """Say nothing: a token check is no news."""

    server = ThreadingHTTPServer(listener.getsockname()[:2], Handler, bind_and_activate=False)
    server.socket.close()
    server.socket = listener
    return server
