"""Superset's API as a script would use it."""

import json
import urllib.error
import urllib.request
from dataclasses import dataclass
from http.cookiejar import CookieJar
from typing import Any


@dataclass(frozen=True)
class Reply:
    status: int
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


@dataclass(frozen=True)
class Api:
    """A user's access: access token, CSRF token and session."""

    address: str
    headers: dict[str, str]
    opener: urllib.request.OpenerDirector

    @classmethod
    def log_in(cls, address: str, user: str, password: str) -> "Api":
        anonymous = cls.without_login(address)
        reply = anonymous.post(
            "api/v1/security/login",
            {"username": user, "password": password, "provider": "db", "refresh": False},
        )
        assert reply.status == 200, reply
        api = cls(address, {"Authorization": f"Bearer {reply.json['access_token']}"}, anonymous.opener)
        token = api.get("api/v1/security/csrf_token/").json["result"]
        return cls(address, api.headers | {"X-CSRFToken": token, "Referer": address}, api.opener)

    @classmethod
    def without_login(cls, address: str) -> "Api":
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(CookieJar()), _NoRedirect())
        return cls(address, {}, opener)

    def get(self, path: str) -> Reply:
        return self._send(urllib.request.Request(self.address + path, headers=self.headers))

    def post(self, path: str, content: Any, method: str = "POST") -> Reply:
        headers = self.headers | {"Content-Type": "application/json"}
        return self._send(
            urllib.request.Request(self.address + path, json.dumps(content).encode(), headers, method=method)
        )

    def _send(self, request: urllib.request.Request) -> Reply:
        try:
            with self.opener.open(request, timeout=120) as answer:
                return Reply(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Reply(error.code, error.read().decode())


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Treat a redirect to the login page as a refusal."""

    def redirect_request(self, *_: Any) -> None:
        return None
