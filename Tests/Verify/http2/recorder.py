"""A backend for HTTP/1.1 that records every byte it receives, and reads requests strictly."""

import dataclasses
import json
import re
import time

from harness import Listener

TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
REQUEST_LINE = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+) ([\x21-\x7e]+) HTTP/1\.1")
LARGE = json.dumps("a" * 300_000).encode()


@dataclasses.dataclass
class Request:
    method: str
    target: str
    fields: list  # names in small letters
    raw: bytes  # with the body
    error: str = None  # why it is not a valid request
    trailers: list = dataclasses.field(default_factory=list)


class Malformed(Exception):
    pass


class Recorder(Listener):
    """Responds by the last segment of the path:

    /ok, /empty and everything else   a small JSON document
    /large                            300 KB
    /slow                             after half a second
    /stall                            never, and without reading the body
    """

    def __init__(self):
        self.requests = []
        super().__init__()

    def serve(self, connection):
        reader = Reader(connection)
        try:
            while request := self.read(reader):
                if request.error:
                    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                    break
                connection.sendall(self.response(request))
        except OSError:
            pass
        connection.close()

    def read(self, reader):
        """The next request, also a malformed one; None at the end of the connection."""
        reader.begin()
        request = Request("", "", [], b"")
        try:
            line, request.fields = read_head(reader)
            request.method, request.target = (part.decode() for part in line.groups())
            if request.target.partition("?")[0].endswith("/stall"):
                time.sleep(15)
                return None
            request.trailers = read_body(reader, request.fields)
        except EOFError:
            if not reader.taken and not reader.buffer:
                return None
            request.error = "incomplete"
        except Malformed as error:
            request.error = str(error)
        request.raw = bytes(reader.taken) + (bytes(reader.buffer) if request.error else b"")
        self.requests.append(request)
        return request

    def response(self, request):
        path = request.target.partition("?")[0]
        if path.endswith("/slow"):
            time.sleep(0.5)
        body = LARGE if path.endswith("/large") else b'{"ok":true}'
        head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + (b"" if request.method == "HEAD" else body)


class Reader:
    """Reads a socket, and keeps what belongs to the current request."""

    def __init__(self, connection):
        self.connection, self.buffer, self.taken = connection, bytearray(), bytearray()

    def begin(self):
        self.taken = bytearray()

    def receive(self):
        read = self.connection.recv(65536)
        if not read:
            raise EOFError
        self.buffer += read

    def take(self, count):
        while len(self.buffer) < count:
            self.receive()
        piece = bytes(self.buffer[:count])
        del self.buffer[:count]
        self.taken += piece
        return piece

    def line(self):
        while b"\r\n" not in self.buffer:
            if len(self.buffer) > 1 << 20:
                raise Malformed("a line of 1 MiB")
            self.receive()
        return self.take(self.buffer.index(b"\r\n") + 2)[:-2]


def read_head(reader):
    line = REQUEST_LINE.fullmatch(reader.line())
    if not line:
        raise Malformed("request line")
    return line, read_fields(reader)


def read_fields(reader):
    fields = []
    while text := reader.line():
        name, colon, value = text.partition(b":")
        if not colon or not TOKEN.fullmatch(name) or b"\r" in value or b"\n" in value or b"\0" in value:
            raise Malformed("field line")
        fields.append((name.decode().lower(), value.strip(b" \t").decode("latin-1")))
    return fields


def read_body(reader, fields):
    """Reads it, and returns the trailers."""
    lengths = [value for name, value in fields if name == "content-length"]
    codings = [value for name, value in fields if name == "transfer-encoding"]
    if len(lengths) > 1 or len(codings) > 1 or lengths and codings:
        raise Malformed("several lengths")
    if lengths:
        if not lengths[0].isdigit():
            raise Malformed("Content-Length")
        reader.take(int(lengths[0]))
    elif codings:
        if codings[0].lower() != "chunked":
            raise Malformed("Transfer-Encoding")
        return read_chunks(reader)
    return []


def read_chunks(reader):
    while True:
        size = reader.line().partition(b";")[0]
        if not re.fullmatch(rb"[0-9a-fA-F]{1,8}", size):
            raise Malformed("chunk size")
        if int(size, 16) == 0:
            break
        if not reader.take(int(size, 16) + 2).endswith(b"\r\n"):
            raise Malformed("chunk")
    return read_fields(reader)
