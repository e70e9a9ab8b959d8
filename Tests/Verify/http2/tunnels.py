"""The role `tunnels`: WebSocket on streams of HTTP/2 (RFC 8441), to a backend that switches protocols in HTTP/1.1.

The bytes of a tunnel are not read by the gateway, so these need not be frames of WebSocket.
"""

import base64
import dataclasses
import hashlib
import socket
import struct
import time
import typing

from connection import Connection, fetch, request
from frames import *
from harness import Listener
from recorder import Reader, read_head
from results import Result

GUID = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
SWITCH = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
SMALL = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"


class SwitchingBackend(Listener):
    """Responds by the path:

    /ok, and requests without Upgrade   200
    /bad, /missing                      a wrong Sec-WebSocket-Accept, and none
    /other                              another protocol
    /refused, /plain                    403, 200
    /silent                             nothing
    /drop                               a connection that is reset behind the first bytes
    /end                                a tunnel that sends `bye` and ends
    /rest                               what arrived until the client's end, behind that end
    /echo and others                    an echo
    """

    def __init__(self):
        self.heads = []
        self.ends = []  # how connections ended: `end` or `reset`
        super().__init__()

    def serve(self, connection):
        reader = Reader(connection)
        try:
            while self.respond(connection, reader):
                pass
        except EOFError:
            pass
        except OSError:
            self.ends.append("reset")
        connection.close()

    def respond(self, connection, reader):
        """Whether another request may follow."""
        line, fields = read_head(reader)
        self.heads.append((line, fields))
        path, found = line[2].decode(), dict(fields)
        if found.get("upgrade") != "websocket":
            connection.sendall(SMALL)
            return True
        digest = base64.b64encode(hashlib.sha1(found["sec-websocket-key"].encode() + GUID).digest())
        accept = b"Sec-WebSocket-Accept: " + digest + b"\r\n"
        if path == "/silent":
            return bool(connection.recv(1))
        if path in ("/refused", "/plain"):
            status = b"403 Forbidden" if path == "/refused" else b"200 OK"
            connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 2\r\n\r\nno")
            return True
        if path in ("/bad", "/missing", "/other"):
            wrong = {"/bad": SWITCH + b"Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "/missing": SWITCH}
            wrong["/other"] = (SWITCH + accept).replace(b"websocket", b"other")
            connection.sendall(wrong[path] + b"\r\n")
            return bool(connection.recv(1))
        connection.sendall(SWITCH + accept + b"Sec-WebSocket-Protocol: chat\r\n\r\n")
        self.tunnel(connection, path, bytes(reader.buffer))
        return False

    def tunnel(self, connection, path, early):
        if path == "/end":
            connection.sendall(b"bye")
            connection.shutdown(socket.SHUT_WR)
        if path == "/drop":
            connection.recv(1)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            return
        kept = early
        if early and path == "/echo":
            connection.sendall(early)
        while read := connection.recv(65536):
            kept += read
            if path == "/echo":
                connection.sendall(read)
        self.ends.append("end")
        if path == "/rest":
            connection.sendall(kept)


def opening(path="/live/echo", name="websocket", without=(), fields=(), method="CONNECT"):
    """The fields of an extended CONNECT."""
    extra = [("sec-websocket-version", "13"), ("sec-websocket-protocol", "chat, log"), ("origin", "https://shop.test")]
    pairs = request(path, method)
    pairs.insert(1, (":protocol", name))
    return [pair for pair in [*pairs, *extra, *fields] if pair[0] not in without]


def open_tunnel(connection, end_stream=False, **options):
    stream = connection.new_stream()
    connection.send(headers(stream, block(opening(**options)), end_stream))
    return stream


def opened(connection, path="/live/echo", **options):
    """A stream whose tunnel is open."""
    stream = open_tunnel(connection, path=path, **options)
    record = connection.record(stream)
    connection.wait(lambda: record.status is not None or record.done)
    return stream, record


def outcome(connection, stream, seconds=4):
    return connection.stream_outcome(stream, seconds)


@dataclasses.dataclass
class Case:
    name: str
    title: str
    accepts: str
    run: typing.Callable


cases = []


def case(section, title, accepts):
    """Registers the decorated function. It gets a connection and the backend, and returns an outcome."""

    def register(run):
        number = 1 + sum(one.name.startswith(f"{section}/") for one in cases)
        cases.append(Case(f"{section}/{number}", title, accepts, run))
        return run

    return register


def refused(section, title, accepts, **options):
    case(section, title, accepts)(lambda connection, backend: outcome(connection, open_tunnel(connection, **options)))


@case("8441-3", "extended CONNECT is announced", "1")
def announced(connection, backend):
    return str(connection.peer_settings.get(ENABLE_CONNECT_PROTOCOL))


@case("8441-5", "the handshake in HTTP/1.1", "200 without an end")
def handshake(connection, backend):
    stream, record = opened(connection, fields=[("sec-websocket-key", "forged"), ("cookie", "a=b")])
    line, fields = backend.heads[-1]
    found = dict(fields)
    if line[0] != b"GET /echo HTTP/1.1" or len(base64.b64decode(found["sec-websocket-key"])) != 16:
        return f"{line[0]} {found}"
    expected = {"upgrade": "websocket", "connection": "Upgrade", "sec-websocket-version": "13", "cookie": "a=b"}
    expected |= {"sec-websocket-protocol": "chat, log", "origin": "https://shop.test"}
    if missing := [name for name, value in expected.items() if found.get(name) != value]:
        return f"{missing} differ"
    names = dict(record.fields)
    if names.get("sec-websocket-protocol") != "chat" or {"sec-websocket-accept", "upgrade"} & set(names):
        return f"the response has {names}"
    return outcome(connection, stream, 0.2)


@case("8441-5", "an echo", "200")
def echo(connection, backend):
    stream, record = opened(connection)
    for text in (b"one", b"two", b"x" * 60000):
        record.data.clear()
        connection.send(*(data(stream, text[at : at + 16384], False) for at in range(0, len(text), 16384)))
        if not connection.wait(lambda: record.data == text):
            return f"{len(record.data)} octets instead of {len(text)}"
    connection.send(data(stream))
    return outcome(connection, stream)


@case("8441-5", "DATA before the response", "200")
def early(connection, backend):
    stream = open_tunnel(connection, path="/live/rest")
    connection.send(data(stream, b"early"))
    ended = outcome(connection, stream)
    return ended if connection.record(stream).data == b"early" else bytes(connection.record(stream).data).decode()


@case("8441-5", "END_STREAM of the client is the end of its side", "200")
def half_closed(connection, backend):
    stream, record = opened(connection, "/live/rest")
    connection.send(data(stream, b"to the end"))
    ended = outcome(connection, stream)
    return ended if record.data == b"to the end" else f"{ended} with {bytes(record.data)}"


@case("8441-5", "END_STREAM in the head", "200")
def ended_at_once(connection, backend):
    return outcome(connection, open_tunnel(connection, end_stream=True, path="/live/rest"))


@case("8441-5", "the end of the backend is END_STREAM", "200")
def ended_by_backend(connection, backend):
    stream, record = opened(connection, "/live/end")
    ended = outcome(connection, stream)
    return ended if record.data == b"bye" else f"{ended} with {bytes(record.data)}"


@case("8441-5", "RST_STREAM of the client ends the backend's connection", "ended")
def reset_by_client(connection, backend):
    stream, record = opened(connection)
    backend.ends.clear()
    connection.send(reset(stream))
    end = time.monotonic() + 3
    while not backend.ends and time.monotonic() < end:
        time.sleep(0.01)
    return "ended" if backend.ends else "the backend's connection is open"


@case("8441-5", "a reset of the backend's connection is CANCEL", "200 cut by CANCEL")
def reset_by_backend(connection, backend):
    stream, record = opened(connection, "/live/drop")
    connection.send(data(stream, b"x", False))
    return outcome(connection, stream)


@case("8441-5", "idle_timeout ends a tunnel with CANCEL", "200 cut by CANCEL")
def idle(connection, backend):
    stream, record = opened(connection)
    return outcome(connection, stream, 5)


@case("8441-5", "several tunnels on a connection, with a request beside", "200")
def several(connection, backend):
    streams = [opened(connection)[0] for _ in range(20)]
    for stream in streams:
        connection.send(data(stream, b"%d" % stream, False))
    beside = outcome(connection, connection.request("/ok"))
    if beside != "200":
        return f"the request beside: {beside}"
    if not connection.wait(lambda: all(connection.record(stream).data == b"%d" % stream for stream in streams)):
        return "an echo is missing"
    connection.send(*(data(stream) for stream in streams))
    return " ".join({outcome(connection, stream) for stream in streams})


# Refusals
refused("8441-4", "without :scheme", "RST_STREAM PROTOCOL_ERROR", without=[":scheme"])
refused("8441-4", "without :path", "RST_STREAM PROTOCOL_ERROR", without=[":path"])
refused("8441-4", "without :authority", "RST_STREAM PROTOCOL_ERROR", without=[":authority"])
refused("8441-4", ":protocol with GET", "RST_STREAM PROTOCOL_ERROR", method="GET")
refused("8441-4", ":protocol twice", "RST_STREAM PROTOCOL_ERROR", fields=[(":protocol", "websocket")])
refused("8441-4", "another protocol", "501", name="connect-udp")
refused("8441-4", "an endpoint with calls", "501", path="/ok")
refused("8441-4", "a proxy without upgrade", "501", path="/plain")
refused("8441-4", "no endpoint", "404", path="/none")
refused("8441-4", "a path with dot segments", "400", path="/live/../echo")
refused("8441-4", ":scheme and :path without :protocol", "RST_STREAM PROTOCOL_ERROR", without=[":protocol"])
refused("8441-5", "a wrong Sec-WebSocket-Accept", "502", path="/live/bad")
refused("8441-5", "no Sec-WebSocket-Accept", "502", path="/live/missing")
refused("8441-5", "another protocol of the backend", "502", path="/live/other")
refused("8441-5", "a backend that refuses", "403", path="/live/refused")
refused("8441-5", "a backend that responds 200", "502", path="/live/plain")
refused("8441-5", "a backend that does not respond", "504", path="/live/silent")


def run_case(one, target):
    connection = Connection(target).start()
    try:
        found = one.run(connection, target.recorder)
    except Exception as error:  # of the decoder: a response that cannot be decoded
        found = f"{type(error).__name__}: {error}"
    finally:
        connection.close()
    healthy = fetch(target)
    return Result(
        one.name, one.title, found, frozenset([one.accepts]), None if healthy == "200" else f"then a request: {healthy}"
    )


def run(target, only=None):
    return [run_case(one, target) for one in cases if only is None or only(one.name)]
