"""HTTP/2 backends, one for each case: hostile during one call, healthy afterwards."""

import dataclasses
import itertools
import socket
import threading
import time
import typing

from connection import Connection
from frames import *

BODY = b'{"ok":true}'
JSON = ("content-type", "application/json")


def response(stream, *more, body=BODY, code="200", end_stream=True):
    """A response with a body in one frame."""
    return head(stream, *more, code=code) + data(stream, body, end_stream)


def head(stream, *more, code="200", end_stream=False):
    return headers(stream, block([(":status", code), JSON, *more]), end_stream)


@dataclasses.dataclass
class BackendCase:
    name: str  # GROUP/NUMBER
    title: str
    run: typing.Callable  # gets the connection, and the stream of a request unless `raw`
    accepts: frozenset  # `200`, or status and kind of the failure
    raw: bool = False  # runs instead of preface and SETTINGS
    begins: tuple = ()  # the settings of the backend
    method: str = "GET"
    warm: bool = False  # a healthy call comes first, so that the connection is a reused one
    times: int = 1000  # how often it is hostile
    attempts: frozenset = None  # how many requests may arrive during the call
    pause: float = 0  # before the control
    body: bytes = b'{"a":1}'  # of a POST

    def __post_init__(self):
        self.key = self.name.replace("/", "")
        self.hostile = False
        self.done = 0
        self.requests = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]

    @property
    def route(self):
        return "GET" if self.method == "HEAD" else self.method

    @property
    def call(self):
        """The call in the configuration of the gateway."""
        return f"{self.method.lower()}: /{self.key}" + (', body: "{request.body}"' if self.method == "POST" else "")

    def is_hostile(self):
        with self.lock:
            hostile = self.hostile and self.done < self.times
            self.done += hostile
            return hostile

    def listen(self):
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            accepted, _ = self.listener.accept()
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self.serve, args=(Backend(accepted, self),), daemon=True).start()

    def serve(self, backend):
        if self.raw and self.is_hostile():
            self.run(backend)
            backend.wait_for_end(10)
        elif backend.read_preface():
            backend.send(settings(*self.begins))
            backend.serve_requests()
        backend.close()


class Backend(Connection):
    """The server's side of a connection."""

    def __init__(self, accepted, case):
        super().__init__(None, accepted=accepted)
        self.case = case
        self.heads = []  # streams whose head has arrived

    def read_preface(self, seconds=5):
        """Whether the client began as it must."""
        if not self.fill(len(PREFACE), time.monotonic() + seconds) or not self.buffer.startswith(PREFACE):
            return False
        del self.buffer[: len(PREFACE)]
        return True

    def fields_received(self, record, fields, ends):
        record.fields = [(bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in fields]
        record.ended = bool(ends)
        self.heads.append(next(stream for stream, known in self.streams.items() if known is record))
        self.case.requests.append(record)

    def serve_requests(self):
        for served in itertools.count():
            if not self.wait(lambda: len(self.heads) > served, 60):
                return
            stream = self.heads[served]
            if self.case.is_hostile():
                if not self.case.raw:
                    self.case.run(self, stream)
            else:
                self.respond(stream)

    def respond(self, stream):
        """Reads a request and answers it, as a healthy backend does."""
        if dict(self.case.begins).get(INITIAL_WINDOW_SIZE) == 0:
            self.send(window_update(stream, DEFAULT_WINDOW))
        self.wait(lambda: self.record(stream).done)
        self.send(head(stream, end_stream=True) if self.case.method == "HEAD" else response(stream))

    def whole_request(self, stream):
        """Reads the request to its end."""
        return self.wait(lambda: self.record(stream).done, 2)

    def abort(self):
        """Closes with a reset of TCP."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.close()
        self.ended = True

    def end(self):
        """Closes both sides without losing what was sent."""
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            pass
        self.wait_for_end(1)
        self.close()
        self.ended = True
