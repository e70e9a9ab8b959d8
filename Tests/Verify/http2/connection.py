"""A client's connection that sends any bytes, and records what the server does."""

import dataclasses
import itertools
import socket
import ssl
import time

import hpack

from frames import *

AUTHORITY = "gateway.test"


@dataclasses.dataclass
class Target:
    """Where the server listens, and what runs behind it."""

    host: str
    port: int
    tls: bool = False
    recorder: object = None  # the backend behind it, if it belongs to this script

    def connect(self, seconds=5):
        connection = socket.create_connection((self.host, self.port), timeout=seconds)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if not self.tls:
            return connection
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        return context.wrap_socket(connection, server_hostname="localhost")


@dataclasses.dataclass
class Stream:
    status: int = None
    interim: list = dataclasses.field(default_factory=list)
    fields: list = dataclasses.field(default_factory=list)
    trailers: list = None
    data: bytearray = dataclasses.field(default_factory=bytearray)
    ended: bool = False
    reset: str = None

    @property
    def done(self):
        return self.ended or self.reset is not None


def request(path="/ok", method="GET", *more, authority=AUTHORITY, scheme="http"):
    """The fields of a request, in an order that is allowed."""
    pseudo = [(":method", method), (":scheme", scheme), (":path", path)]
    return pseudo + ([(":authority", authority)] if authority is not None else []) + list(more)


def json_text(length):
    """A JSON document of this many octets."""
    return b'"' + b"a" * (length - 2) + b'"'


class Connection:
    """Reads frames only while it waits for something.

    - acknowledge: whether it acknowledges SETTINGS and PING
    - credit: whether it returns the flow-control credit of DATA
    - accepted: a socket that is connected already
    """

    def __init__(self, target, acknowledge=True, credit=True, accepted=None):
        self.target, self.acknowledge, self.credit = target, acknowledge, credit
        self.socket = accepted or target.connect()
        self.buffer = bytearray()
        self.decoder = hpack.Decoder(max_header_list_size=1 << 20)
        self.streams = {}
        self.frames = []  # kinds, flags, streams and lengths, without the payloads
        self.peer_settings = None
        self.acknowledged = 0  # SETTINGS of this side
        self.pongs = []
        self.credits = {}  # by stream, 0 for the connection: the credit that the server returned
        self.goaway = None  # the name of its error
        self.ended = False
        self.next_stream = 1
        self.pings = itertools.count(1)
        self.block = None  # an unfinished field block: stream, flags, octets

    # Sending

    def send(self, *pieces):
        """The server may have closed the connection already: what it sent before is what counts."""
        try:
            self.socket.settimeout(5)
            self.socket.sendall(b"".join(pieces))
        except OSError:
            pass

    def send_singly(self, octets):
        for at in range(len(octets)):
            self.send(octets[at : at + 1])

    def send_while_open(self, pieces, every=50, stream=None):
        """Many pieces, reading between them, until the server ends the connection or the stream."""
        record = self.record(stream) if stream else Stream()
        for number, piece in enumerate(pieces):
            self.send(piece)
            if number % every == 0 and self.wait(lambda: self.failed or record.done, 0.002):
                return

    def start(self, *pairs):
        """The preface, SETTINGS of both sides, and their acknowledgements."""
        self.send(PREFACE, settings(*pairs))
        self.wait(lambda: self.peer_settings is not None and self.acknowledged)
        return self

    def new_stream(self):
        self.next_stream += 2
        return self.next_stream - 2

    def request(self, *arguments, end_stream=True, **options):
        """Sends the head of a request on a new stream, and returns its id."""
        stream = self.new_stream()
        self.send(headers(stream, block(request(*arguments, **options)), end_stream))
        return stream

    def upload(self, *more, end_stream=False, path="/upload"):
        """The head of a POST."""
        return self.request(path, "POST", ("content-type", "application/json"), *more, end_stream=end_stream)

    def change(self, *pairs):
        """Changes settings, and waits for the acknowledgement."""
        before = self.acknowledged
        self.send(settings(*pairs))
        return self.wait(lambda: self.acknowledged > before)

    # Receiving

    @property
    def failed(self):
        return self.ended or self.goaway not in (None, "NO_ERROR")

    def record(self, stream):
        return self.streams.setdefault(stream, Stream())

    def wait(self, condition, seconds=3):
        """Reads until the condition holds, the connection fails, or the time is over; whether it holds."""
        end = time.monotonic() + seconds
        while not condition():
            if self.failed or not self.read_frame(end):
                return condition()
        return True

    def wait_for_end(self, seconds=3):
        end = time.monotonic() + seconds
        while not self.ended and self.read_frame(end):
            pass
        return self.ended

    def fill(self, count, end):
        """Reads until the buffer has so many octets; False at the end of the connection or of the time."""
        while len(self.buffer) < count:
            try:
                self.socket.settimeout(max(end - time.monotonic(), 0.001))
                read = self.socket.recv(65536)
            except (TimeoutError, ssl.SSLWantReadError):
                return False
            except OSError:
                read = b""
            if not read:
                self.ended = True
                return False
            self.buffer += read
        return True

    def read_frame(self, end):
        if not self.fill(9, end):
            return False
        length = int.from_bytes(self.buffer[:3], "big")
        if not self.fill(9 + length, end):
            return False
        head, payload = self.buffer[:9], bytes(self.buffer[9 : 9 + length])
        del self.buffer[: 9 + length]
        frame = Frame(head[3], head[4], int.from_bytes(head[5:9], "big") & LARGEST, payload)
        self.frames.append((frame.kind, frame.flags, frame.stream, length))
        handler = self.HANDLERS.get(frame.kind)
        if handler:
            handler(self, frame)
        return True

    def settings_received(self, frame):
        if frame.flags & ACK:
            self.acknowledged += 1
            return
        payload = frame.payload
        pairs = [payload[at : at + 6] for at in range(0, len(payload), 6)]
        values = {int.from_bytes(pair[:2], "big"): int.from_bytes(pair[2:], "big") for pair in pairs}
        self.peer_settings = {**(self.peer_settings or {}), **values}
        if self.acknowledge:
            self.send(settings(flags=ACK))

    def ping_received(self, frame):
        if frame.flags & ACK:
            self.pongs.append(frame.payload)
        elif self.acknowledge:
            self.send(ping(frame.payload, ACK))

    def goaway_received(self, frame):
        self.goaway = error_name(frame.number(4))

    def reset_received(self, frame):
        record = self.record(frame.stream)
        record.reset = record.reset or error_name(frame.number())  # frames sent meanwhile may cause further ones

    def window_received(self, frame):
        self.credits[frame.stream] = self.credits.get(frame.stream, 0) + frame.number()

    def data_received(self, frame):
        record = self.record(frame.stream)
        record.data += frame.content()
        record.ended = record.ended or bool(frame.flags & END_STREAM)
        if self.credit and frame.payload:
            self.send(window_update(0, len(frame.payload)))
            if not record.ended:
                self.send(window_update(frame.stream, len(frame.payload)))

    def headers_received(self, frame):
        if frame.kind == HEADERS:
            self.block = (frame.stream, frame.flags, frame.content())
        elif self.block:
            self.block = (*self.block[:2], self.block[2] + frame.payload)
        if frame.flags & END_HEADERS and self.block:
            stream, flags, octets = self.block
            self.block = None
            self.fields_received(self.record(stream), self.decoder.decode(octets, raw=True), flags & END_STREAM)

    def fields_received(self, record, fields, ends):
        fields = [(bytes(name).decode("latin-1"), bytes(value).decode("latin-1")) for name, value in fields]
        code = int(dict(fields).get(":status", 0))
        if 100 <= code < 200:
            record.interim.append(code)
        elif record.status is None:
            record.status, record.fields = code, fields
        else:
            record.trailers = fields
        record.ended = record.ended or bool(ends)

    HANDLERS = {
        SETTINGS: settings_received,
        PING: ping_received,
        GOAWAY: goaway_received,
        RST_STREAM: reset_received,
        WINDOW_UPDATE: window_received,
        DATA: data_received,
        HEADERS: headers_received,
        CONTINUATION: headers_received,
    }

    # Outcomes

    def is_alive(self, seconds=2):
        """Whether the server acknowledges a PING."""
        payload = next(self.pings).to_bytes(8, "big")
        self.send(ping(payload))
        return self.wait(lambda: payload in self.pongs, seconds)

    def failure(self):
        """The outcome of a connection that has failed."""
        if self.goaway is None:
            return "closed"
        return f"GOAWAY {self.goaway}" if self.wait_for_end() else f"GOAWAY {self.goaway}, but not closed"

    def outcome(self, seconds=4):
        """Of the connection: what it does with a PING."""
        alive = self.is_alive(seconds)
        if self.failed:
            return self.failure()
        return "open" if alive else "silent"

    def stream_outcome(self, stream, seconds=4):
        record = self.record(stream)
        self.wait(lambda: record.done, seconds)
        if record.done and not self.failed:
            self.is_alive()  # an error of the connection may follow
        if self.failed and (self.goaway not in (None, "NO_ERROR") or not record.done):
            return self.failure()
        if record.ended:
            then = f", RST_STREAM {record.reset}" if record.reset not in (None, "NO_ERROR") else ""
            return f"{record.status}{then}"
        if record.reset is not None:
            return f"RST_STREAM {record.reset}" if record.status is None else f"{record.status} cut by {record.reset}"
        return "silent" if record.status is None else f"{record.status} without an end"

    def close(self):
        self.socket.close()


def fetch(target, path="/ok", seconds=5):
    """The outcome of a healthy request on a connection of its own."""
    try:
        connection = Connection(target).start()
        outcome = connection.stream_outcome(connection.request(path), seconds)
        connection.close()
        return outcome
    except OSError as error:
        return f"no connection: {error}"


def exchange_http1(target, octets, seconds=3):
    """Sends bytes, and returns all bytes of the server until it ends the connection or is silent."""
    connection = target.connect()
    connection.settimeout(seconds)
    received = b""
    try:
        connection.sendall(octets)
        while read := connection.recv(65536):
            received += read
    except OSError:
        pass
    connection.close()
    return received
