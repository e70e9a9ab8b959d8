"""A proxy from HTTP/2 to HTTP/1.1 that checks nothing: shows that the role `smuggling` finds what it looks for.

It writes fields as they are, decodes escapes in paths, and keeps one connection to the backend.
"""

import socket
import threading
import time
import urllib.parse

from connection import Connection
from frames import *
from harness import Listener


class NaiveProxy(Listener):
    def __init__(self, backend_port):
        self.backend_port = backend_port
        self.backend = None
        self.lock = threading.Lock()
        super().__init__()

    def serve(self, connection):
        NaiveConnection(connection, self).serve()

    def exchange(self, octets):
        """Sends a request to the backend; whether something came back."""
        with self.lock:
            for _ in range(2):  # the second time on a new connection
                self.backend = self.backend or socket.create_connection(("127.0.0.1", self.backend_port))
                self.backend.settimeout(0.2)
                try:
                    self.backend.sendall(octets)
                    if self.backend.recv(65536):
                        return True
                except OSError:
                    pass
                self.backend.close()
                self.backend = None
            return False


class NaiveConnection(Connection):
    def __init__(self, accepted, proxy):
        super().__init__(None, accepted=accepted)
        self.proxy = proxy
        self.answered = set()

    def serve(self):
        if self.fill(len(PREFACE), time.monotonic() + 5):
            del self.buffer[: len(PREFACE)]
            self.send(settings())
        while self.wait(self.complete, 10):
            for stream in self.complete():
                self.answered.add(stream)
                status = "200" if self.proxy.exchange(as_http1(self.record(stream))) else "502"
                self.send(headers(stream, block([(":status", status)]), False), data(stream, b"{}"))
        self.close()

    def complete(self):
        """Requests that have ended and wait for a response."""
        return [stream for stream, record in self.streams.items() if record.ended and stream not in self.answered]

    def fields_received(self, record, fields, ends):
        if record.fields:
            record.trailers = fields
        record.fields = record.fields or fields
        record.ended = bool(ends)


def as_http1(record):
    """What the request is as text, whatever it contains."""
    pseudo = {bytes(name): bytes(value) for name, value in record.fields if name.startswith(b":")}
    regular = [(bytes(name), bytes(value)) for name, value in record.fields if not name.startswith(b":")]
    target = urllib.parse.unquote_to_bytes(pseudo.get(b":path", b"/"))
    head = pseudo.get(b":method", b"GET") + b" " + target + b" HTTP/1.1\r\n"
    if b":authority" in pseudo:
        head += b"host: " + pseudo[b":authority"] + b"\r\n"
    body = bytes(record.data)
    if record.trailers:
        head += b"transfer-encoding: chunked\r\n"
        body = b"%x\r\n%s\r\n0\r\n%s\r\n" % (len(body), body, lines(record.trailers))
    elif body and not any(name in (b"content-length", b"transfer-encoding") for name, _ in regular):
        head += b"content-length: %d\r\n" % len(body)
    return head + lines(regular) + b"\r\n" + body


def lines(fields):
    return b"".join(b"%s: %s\r\n" % (name, value) for name, value in fields)
