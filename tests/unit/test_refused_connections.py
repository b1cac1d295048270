"""A server that answers and refuses is not called unreachable: its user looks for the fault elsewhere."""

import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from threading import Thread

import pytest

from tapewise.schema.database import Role, open_warehouse
from tapewise.schema.errors import DatabaseError
from tapewise.schema.settings import Settings

Serve = Callable[..., str]


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", len(body) + 4) + body


def _refuse(level: str, text: str) -> bytes:
    fields = {b"S": level, b"V": "FATAL", b"C": "28P01", b"M": text}
    return _message(b"E", b"".join(key + value.encode() + b"\0" for key, value in fields.items()) + b"\0")


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that starts a server with the given answers, one to each message, and returns its URL."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer(answers: tuple[bytes, ...]) -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                for each in answers:
                    connection.recv(4096)
                    connection.sendall(each)

    def start(*answers: bytes, user: str = "anna:hush") -> str:
        Thread(target=answer, args=(answers,), daemon=True).start()
        port = listener.getsockname()[1]
        return f"postgresql://{user}@127.0.0.1:{port}/lab?sslmode=disable&gssencmode=disable"

    yield start
    listener.close()


ASK = _message(b"R", struct.pack("!i", 3))  # a password in clear text


@pytest.mark.parametrize(
    ("answers", "user"),
    [
        ((ASK, _refuse("FATAL", "password authentication failed")), "anna:hush"),
        ((ASK, _refuse("ВАЖНО", "пользователь не прошёл проверку")), "anna:hush"),
        ((_refuse("FATAL", 'database "lab" does not exist'),), "anna:hush"),
        ((ASK,), "anna"),
    ],
    ids=["password", "in Russian", "database", "no password given"],
)
def test_a_refused_login_is_called_so(serve: Serve, monkeypatch, tmp_path, answers, user):
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "none"))
    monkeypatch.delenv("PGPASSWORD", raising=False)
    settings = Settings(database_url=serve(*answers, user=user))
    refused = pytest.raises(DatabaseError, match=r"^the database refuses the connection: connection to")
    with open_warehouse(settings) as warehouse, refused as raised:
        warehouse.connect(Role.OWNER)
    assert raised.value.hint is not None
    assert "The server is up. Are the user, the password" in raised.value.hint
    assert "hush" not in str(raised.value)


def test_a_port_without_a_server_cannot_be_reached():
    with socket.create_server(("127.0.0.1", 0)) as unused:
        port = unused.getsockname()[1]
    settings = Settings(database_url=f"postgresql://anna@127.0.0.1:{port}/lab")
    with open_warehouse(settings) as warehouse, pytest.raises(DatabaseError, match="cannot be") as raised:
        warehouse.connect(Role.OWNER)
    assert raised.value.hint == "Is the server up, and is the URL in the settings right?"
