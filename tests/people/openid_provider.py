"""A small OpenID Connect provider on loopback: discovery, codes with a challenge, signed tokens, and mischief."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "proofroom", "between the two of us"


@dataclass(slots=True, kw_only=True)
class Provider:
    """Who is signed in there, and what the provider does wrong."""

    issuer: str = ""
    person: dict[str, Any] = field(default_factory=dict)
    mischief: str = ""
    codes: dict[str, dict[str, str]] = field(default_factory=dict)
    key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))
    other_key: rsa.RSAPrivateKey = field(default_factory=lambda: rsa.generate_private_key(65537, 2048))

    def describe(self) -> dict[str, Any]:
        issuer = self.issuer if self.mischief != "described issuer" else "https://elsewhere.example.org"
        return {
            "issuer": issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "userinfo_endpoint": f"{self.issuer}/userinfo",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        public = jwt.algorithms.RSAAlgorithm.to_jwk(self.key.public_key(), as_dict=True)
        return {"keys": [public | {"kid": "first", "use": "sig", "alg": "RS256"}]}

    def authorized(self, asked: dict[str, str]) -> str:
        """Where the browser is sent back to."""
        assert asked["response_type"] == "code"
        assert asked["client_id"] == CLIENT
        assert asked["code_challenge_method"] == "S256"
        assert "openid" in asked["scope"].split()
        answer = {"state": asked["state"]}
        if self.mischief == "cancelled":
            answer["error"] = "access_denied"
        else:
            answer["code"] = secrets.token_urlsafe(16)
            self.codes[answer["code"]] = asked
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def tokens(self, sent: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(sent.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(sent.get("code_verifier", "").encode()).digest())
        if (
            asked is None
            or sent.get("client_secret") != SECRET
            or challenge.rstrip(b"=").decode() != asked["code_challenge"]
        ):
            return None
        answer = {"access_token": "good for user information", "token_type": "Bearer"}
        if self.mischief != "no statement":
            answer["id_token"] = self.statement(asked["nonce"])
        return answer

    def statement(self, nonce: str) -> str:
        now = int(time.time())
        said: dict[str, Any] = {
            "iss": self.issuer,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 300,
            "nonce": nonce,
        }
        said["sub"] = self.person["sub"]
        key: Any = self.key
        algorithm, kid = "RS256", "first"
        match self.mischief:
            case "nonce":
                said["nonce"] = secrets.token_urlsafe(32)
            case "no nonce":
                del said["nonce"]
            case "issuer":
                said["iss"] = "https://elsewhere.example.org"
            case "audience":
                said["aud"] = "another application"
            case "several audiences":
                said["aud"] = [CLIENT, "another application"]
            case "expired":
                said["exp"] = now - 600
            case "signature":
                key = self.other_key
            case "unknown key":
                kid = "second"
            case "unsigned":
                key, algorithm = None, "none"
            case "shared secret":
                key, algorithm = SECRET * 4, "HS256"
        return jwt.encode(said, key, algorithm=algorithm, headers={"kid": kid})

    def information(self) -> dict[str, Any]:
        return self.person | ({"sub": "somebody else"} if self.mischief == "information" else {})


@contextmanager
def serving() -> Iterator[Provider]:
    """Serve a provider on a free port of loopback."""
    provider = Provider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            address = urlsplit(self.path)
            match address.path:
                case "/.well-known/openid-configuration":
                    self._answer(provider.describe())
                case "/keys":
                    self._answer(provider.keys())
                case "/userinfo":
                    assert self.headers["Authorization"] == "Bearer good for user information"
                    self._answer(provider.information())
                case "/authorize":
                    asked = {name: values[0] for name, values in parse_qs(address.query).items()}
                    self.send_response(302)
                    self.send_header("Location", provider.authorized(asked))
                    self.end_headers()
                case _:
                    self.send_error(404)

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            answer = provider.tokens({name: values[0] for name, values in parse_qs(body).items()})
            self._answer(answer or {"error": "invalid_grant"}, status=200 if answer else 400)

        def _answer(self, document: dict[str, Any], *, status: int = 200) -> None:
            content = json.dumps(document).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_request(self, code: Any = "-", size: Any = "-") -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        provider.issuer = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield provider
        finally:
            server.shutdown()
            thread.join()
