"""A real OpenID provider in a process of its own: oidc-provider-mock, which here demands PKCE too.

``python -m tests.service.identity_provider PORT`` serves it.
"""

import base64
import contextlib
import hashlib
import os
import subprocess
import sys
import time
from urllib.parse import parse_qs, urlsplit

import httpx

from tests.service.serving import free_port


class IdentityProvider:
    """The process, and what a person does there."""

    def __init__(self, log):
        self.port = free_port()
        self.url = f"http://localhost:{self.port}"
        self._log = log
        self.process = None

    def __enter__(self):
        with open(self._log, "a") as log:
            words = [sys.executable, "-W", "ignore", "-m", "tests.service.identity_provider", str(self.port)]
            self.process = subprocess.Popen(words, stdout=log, stderr=log)
        end = time.monotonic() + 120.0
        while time.monotonic() < end:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/.well-known/openid-configuration").status_code == 200:
                    return self
            time.sleep(0.05)
        raise AssertionError("the identity provider did not start")

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def registered(self, redirect):
        """The id and the secret of a client that is sent back to one address only."""
        made = httpx.post(f"{self.url}/oauth2/clients", json={"redirect_uris": [redirect]}).json()
        return made["client_id"], made["client_secret"]

    def knows(self, sub, **claims):
        """Let it know a person."""
        assert httpx.put(f"{self.url}/users/{sub}", json=claims).status_code == 204

    def agree(self, address, sub):
        """Sign in there and agree; the address to which the browser is sent back."""
        reply = httpx.post(address, data={"sub": sub})
        assert reply.status_code == 302, reply.text
        return reply.headers["location"]


def _serve(port):
    import flask
    import oidc_provider_mock
    import uvicorn

    app = oidc_provider_mock.app(require_client_registration=True, require_nonce=True)
    challenges = {}

    @app.before_request
    def verify():
        request = flask.request
        if request.path == "/oauth2/authorize" and request.args.get("code_challenge_method") != "S256":
            return "PKCE is required", 400
        if request.path == "/oauth2/token":
            verifier = request.form.get("code_verifier", "").encode()
            made = base64.urlsafe_b64encode(hashlib.sha256(verifier).digest()).rstrip(b"=").decode()
            if challenges.pop(request.form.get("code"), None) != made:
                return flask.jsonify({"error": "invalid_grant"}), 400
        return None

    @app.after_request
    def remember(reply):
        for code in parse_qs(urlsplit(reply.headers.get("Location", "")).query).get("code", ()):
            challenges[code] = flask.request.args.get("code_challenge")
        return reply

    uvicorn.run(app, interface="wsgi", port=port, host="localhost", log_level="warning")


if __name__ == "__main__":
    os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
    _serve(int(sys.argv[1]))
