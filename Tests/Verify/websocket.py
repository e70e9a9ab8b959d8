#!/usr/bin/env python3
"""Runs WebSocket connections through a gateway's tunnel and compares them with direct ones.

    Tests/Verify/websocket.py .build/release/tributary [--only cases|traffic|idle|refusals] [--idle 10000]

cases     every case of RFC 6455 below gives the same bytes with and without the gateway: framing, fragments, control
          frames, reserved bits and opcodes, UTF-8, close codes, masking, permessage-deflate
traffic   messages in both directions, a reader that stops, and the end of either side
idle      10,000 tunnels that transfer nothing, or as many as the descriptors allow, their memory, and idle_timeout
refusals  tokens that the endpoint does not list, and responses that do not fit the handshake

The server is built on the package `wsproto`, the client of `traffic` is `websockets`. Everything runs on loopback, on free ports, and every process that it starts
is ended by its id. Needs websockets and wsproto (PyPI).
"""

import argparse
import asyncio
import os
import re
import resource
import socket
import subprocess
import sys
import tempfile
import threading
import time

import websockets.asyncio.client
import wsproto
import wsproto.events
import wsproto.extensions
import wsproto.utilities

from harness import Gateway, Listener, expect, finish, free_port, start

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: {workers}
limits: {{ streams: 40000, connections: 20000 }}
backends:
  live: {{ url: "http://127.0.0.1:{backend}", max_concurrent: 20000 }}
  odd: {{ url: "http://127.0.0.1:{odd}" }}
endpoints:
  - {{ route: GET /live, proxy: {{ to: live, path: /, upgrade: [websocket], idle_timeout: 1h }} }}
  - {{ route: GET /short, proxy: {{ to: live, path: /, upgrade: [websocket], idle_timeout: 1s }} }}
  - {{ route: GET /none, proxy: {{ to: odd, path: /head }} }}
  - {{ route: GET /odd/*, proxy: {{ to: odd, path: /*, upgrade: [websocket] }} }}
"""
HANDSHAKES = 500  # at once
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
ACCEPT = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="  # RFC 6455, 1.3
MASK = bytes([0x37, 0xFA, 0x21, 0x3D])


class Echo(asyncio.Protocol):
    """Returns every message. The bytes that it sends depend on what it receives, not on how that is cut."""

    def connection_made(self, transport):
        self.transport = transport
        self.protocol = wsproto.WSConnection(wsproto.ConnectionType.SERVER)
        self.message = None

    def data_received(self, data):
        try:
            self.protocol.receive_data(data)
            for event in self.protocol.events():
                if out := self.reply(event):
                    self.transport.write(self.protocol.send(out))
                if isinstance(event, wsproto.events.CloseConnection):
                    self.transport.close()
        except wsproto.utilities.RemoteProtocolError as error:
            if error.event_hint:
                self.transport.write(self.protocol.send(error.event_hint))
            self.transport.close()

    def reply(self, event):
        events = wsproto.events
        if isinstance(event, events.Request):
            return events.AcceptConnection(extensions=[wsproto.extensions.PerMessageDeflate()])
        if isinstance(event, (events.Ping, events.CloseConnection)):
            return event.response()
        if isinstance(event, events.Message):
            self.message = event.data if self.message is None else self.message + event.data
            if event.message_finished:
                data, self.message = self.message, None
                return type(event)(data=data)
        return None

    def pause_writing(self):
        self.transport.pause_reading()

    def resume_writing(self):
        self.transport.resume_reading()

    def eof_received(self):
        return False


class EchoServer:
    """A loop of its own in a thread."""

    def __init__(self):
        self.port = free_port()
        self.ready = threading.Event()
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()
        self.ready.wait()

    async def serve(self):
        loop = asyncio.get_running_loop()
        await loop.create_server(Echo, "127.0.0.1", self.port, backlog=4096)
        self.ready.set()
        await loop.create_future()


class EchoProcess:
    """The server in a process of its own, which has file descriptors of its own."""

    def __init__(self):
        self.process = start([sys.executable, __file__, "--echo"], stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline())


class OddServer(Listener):
    """Responses that do not fit a handshake, by the path."""

    RESPONSES = {
        "/head": b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s",
        "/other": b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n",
        "/bare": b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
        "/refused": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno",
        "/plain": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
    }

    def serve(self, connection):
        head = b""
        while b"\r\n\r\n" not in head:
            piece = connection.recv(65536)
            if not piece:
                return
            head += piece
        response = self.RESPONSES[head.split(b" ")[1].decode()]
        connection.sendall(response % (len(head), head) if b"%s" in response else response)
        connection.close()


def handshake(path="/", more="", token="websocket"):
    return (f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: {token}\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n{more}\r\n").encode()


def frame(opcode, payload=b"", end=True, reserved=0, masked=True):
    """One frame (RFC 6455, 5.2)."""
    head = bytes([(0x80 if end else 0) | reserved << 4 | opcode])
    mask = 0x80 if masked else 0
    if len(payload) < 126:
        head += bytes([mask | len(payload)])
    elif len(payload) < 65536:
        head += bytes([mask | 126]) + len(payload).to_bytes(2, "big")
    else:
        head += bytes([mask | 127]) + len(payload).to_bytes(8, "big")
    if not masked:
        return head + payload
    key = MASK * (len(payload) // 4 + 1)
    return head + MASK + (int.from_bytes(payload, "big") ^ int.from_bytes(key[:len(payload)], "big")).to_bytes(
        len(payload), "big")


CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def close(code=1000, reason=b""):
    return frame(CLOSE, code.to_bytes(2, "big") + reason)


def every_case():
    """Name, what the client sends after the handshake, and the size of its writes (None: one write)."""
    sizes = [0, 1, 2, 124, 125, 126, 127, 128, 65535, 65536, 65537, 131072, 1 << 20]
    for kind, opcode in (("text", TEXT), ("binary", BINARY)):
        for size in sizes:
            for piece in (None, 997):
                yield f"{kind}, {size} bytes, writes of {piece}", frame(opcode, b"*" * size) + close(), piece
    for size in (0, 1, 125):
        for piece in (None, 1):
            yield f"ping of {size}, writes of {piece}", frame(PING, b"p" * size) + close(), piece
    yield "ping of 126", frame(PING, b"p" * 126) + close(), None
    yield "unsolicited pong", frame(PONG, b"x") + frame(PING, b"y") + close(), None
    yield "ten pings", b"".join(frame(PING, b"%d" % number) for number in range(10)) + close(), None
    for reserved in range(1, 8):
        yield f"reserved bits {reserved}", frame(TEXT, b"a", reserved=reserved) + close(), None
        yield f"reserved bits {reserved}, a byte at a time", frame(TEXT, b"a", reserved=reserved) + close(), 1
    for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15):
        yield f"opcode {opcode}", frame(TEXT, b"a") + frame(opcode, b"b") + close(), None
    yield "ping in fragments", frame(PING, b"a", end=False) + frame(CONTINUATION, b"b") + close(), None
    for count in (2, 3, 10, 100):
        middle = b"".join(frame(CONTINUATION, b"%d " % number, end=False) for number in range(count - 2))
        for opcode in (TEXT, BINARY):
            message = frame(opcode, b"first ", end=False) + middle + frame(CONTINUATION, b"last")
            yield f"{count} fragments of {opcode}", message + close(), None
            yield f"{count} fragments of {opcode}, a byte at a time", message + close(), 1
    yield "a ping between fragments", (
        frame(TEXT, b"a", end=False) + frame(PING, b"between") + frame(CONTINUATION, b"b") + close()), None
    yield "a continuation of nothing", frame(CONTINUATION, b"b") + close(), None
    yield "a new message inside another", frame(TEXT, b"a", end=False) + frame(TEXT, b"b") + close(), None
    texts = ["κόσμε", "aé中\U0001f600", "\u0000", "\ufeff", "\U0010ffff", "\ud7ff", "\ue000", "\ufffd"]
    for text in texts:
        data = text.encode()
        yield f"text {text!a}", frame(TEXT, data) + close(), None
        yield f"text {text!a} in fragments of one byte", (
            b"".join(frame(TEXT if not number else CONTINUATION, data[number:number + 1], end=False)
                     for number in range(len(data))) + frame(CONTINUATION) + close()), None
    for data in (b"\x80", b"\xbf", b"\xc0\xaf", b"\xe0\x80\xaf", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xf8\x88\x80\x80\x80",
                 b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited", b"\xff", b"a\xc3"):
        yield f"invalid UTF-8 {data!r}", frame(TEXT, data) + close(), None
        yield f"invalid UTF-8 {data!r} in binary", frame(BINARY, data) + close(), None
    for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
        yield f"close {code}", close(code), None
        yield f"close {code} with a reason", close(code, b"because"), None
    for code in (0, 999, 1004, 1005, 1006, 1012, 1016, 1100, 2000, 2999, 5000, 65535):
        yield f"close {code}, which is not allowed", close(code), None
    yield "close without a code", frame(CLOSE), None
    yield "close of one byte", frame(CLOSE, b"x"), None
    yield "close with 123 bytes of reason", close(1000, b"r" * 123), None
    yield "close with 124 bytes of reason", close(1000, b"r" * 124), None
    yield "close with invalid UTF-8", close(1000, b"\xff"), None
    yield "data after close", close() + frame(TEXT, b"late"), None
    yield "a frame without a mask", frame(TEXT, b"a", masked=False) + close(), None
    yield "many messages in one write", b"".join(frame(TEXT, b"%d" % number) for number in range(200)) + close(), None


def transcript(port, path, sent, piece, more=""):
    """Everything that the server sends after its head, and the parts of the head that a tunnel must keep."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(handshake(path, more))
        data = b""
        while b"\r\n\r\n" not in data:
            received = connection.recv(65536)
            if not received:
                return data, b"", {}
            data += received
        head, _, data = data.partition(b"\r\n\r\n")
        received = threading.Event()

        def write():
            try:
                for start in range(0, len(sent), piece or len(sent)):
                    connection.sendall(sent[start:start + (piece or len(sent))])
            except OSError:
                pass
            received.set()

        threading.Thread(target=write, daemon=True).start()
        try:
            while piece_in := connection.recv(65536):
                data += piece_in
        except OSError:
            pass
        received.wait(10)
        fields = dict(re.findall(r"\r\n(sec-websocket-[a-z]+): ([^\r]*)", head.decode().lower()))
        return head.split(b"\r\n")[0], data, fields


def cases(gateway, server):
    same = count = 0
    for name, sent, piece in every_case():
        for more in ("", "Sec-WebSocket-Extensions: permessage-deflate\r\n"):
            direct = transcript(server.port, "/", sent, piece, more)
            through = transcript(gateway.port, "/live", sent, piece, more)
            count += 1
            same += direct == through
            expect(direct[0].endswith(b" 101 Switching Protocols") and direct[2].get("sec-websocket-accept") == ACCEPT.lower(),
                   f"{name}: the direct connection must work: {direct[0]}")
            expect(direct == through, f"{name}: direct {direct[0]} {direct[1][:60]} {direct[2]}, "
                                      f"through the gateway {through[0]} {through[1][:60]} {through[2]}")
    print(f"cases: {same} of {count} are the same with and without the gateway")


async def traffic(gateway, server):
    uri = f"ws://127.0.0.1:{gateway.port}/live"
    async with websockets.asyncio.client.connect(uri, max_size=64 << 20) as connection:
        for number in range(1000):
            await connection.send(f"message {number}")
            expect(await connection.recv() == f"message {number}", f"message {number}")
        large = os.urandom(16 << 20)
        await connection.send(large)
        expect(await connection.recv() == large, "a message of 16 MiB")
    expect(connection.close_code == 1000, f"closed with {connection.close_code}")

    # 64 MiB to an echo server whose responses the client does not read at first: the gateway must not store them.
    before = gateway.own_memory()
    async with websockets.asyncio.client.connect(uri, max_size=64 << 20, max_queue=1, compression=None) as connection:
        piece = os.urandom(1 << 20)

        async def send():
            for _ in range(64):
                await connection.send(piece)

        sending = asyncio.create_task(send())
        await asyncio.sleep(1)
        grown = gateway.own_memory() - before
        expect(not sending.done(), "the sender waits while the reader does not read")
        expect(grown < 2048, f"a tunnel that is not read took {grown} KiB")
        print(f"a tunnel that is not read: {grown} KiB")
        for _ in range(64):
            expect(await connection.recv() == piece, "a message after the pause")
        await sending


def idle(gateway, count):
    # The gateway needs two descriptors for each tunnel, and keeps 192 for other uses.
    count = min(count, (resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 320) // 2)
    begin = time.monotonic()
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=5) as connection:
        connection.sendall(handshake("/short"))
        connection.recv(4096)
        connection.recv(4096)
    took = time.monotonic() - begin
    expect(0.9 < took < 2.5, f"idle_timeout of one second closed after {took:.1f} s")

    before = gateway.own_memory()
    connections = []
    opened = 0
    # Handshakes count for `requests_in_flight` until the head of the response: 2000 by default.
    for number in range(0, count, HANDSHAKES):
        batch = []
        for _ in range(min(HANDSHAKES, count - number)):
            connection = socket.create_connection(("127.0.0.1", gateway.port), timeout=10)
            connection.sendall(handshake("/live"))
            batch.append(connection)
        opened += sum(connection.recv(4096).startswith(b"HTTP/1.1 101 ") for connection in batch)
        connections += batch
    each = (gateway.own_memory() - before) / count
    print(f"idle: {opened} of {count} tunnels are open, {each:.1f} KiB of the gateway's memory each")
    expect(opened == count, f"{opened} of {count} tunnels")
    metrics = gateway.page("/metrics")[1]
    expect(f'tributary_streams{{endpoint="GET /live",kind="tunnel"}} {count}\n' in metrics, "tributary_streams")
    for connection in connections:
        connection.sendall(frame(TEXT, b"hello"))
    answered = sum(connection.recv(4096) == b"\x81\x05hello" for connection in connections)
    expect(answered == count, f"{answered} of {count} tunnels still work")
    for connection in connections:
        connection.close()


def response(port, text):
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(text)
        data = b""
        try:
            while piece := connection.recv(65536):
                data += piece
        except OSError:
            pass
        return data


def refusals(gateway):
    data = response(gateway.port, handshake("/none").replace(b"Connection: Upgrade", b"Connection: Upgrade, close"))
    expect(data.startswith(b"HTTP/1.1 200 ") and b"\r\nUpgrade: websocket" not in data.split(b"\r\n\r\n", 1)[1],
           f"without `upgrade` the field does not pass: {data}")
    data = response(gateway.port, handshake("/odd/plain", token="other"))
    expect(data.startswith(b"HTTP/1.1 200 "), f"a token that is not listed is an ordinary request: {data}")
    for path in ("/odd/other", "/odd/bare"):
        data = response(gateway.port, handshake(path))
        expect(data.startswith(b"HTTP/1.1 502 "), f"{path}: {data}")
    data = response(gateway.port, handshake("/odd/refused"))
    expect(data.startswith(b"HTTP/1.1 403 ") and data.endswith(b"no"), f"a refusal passes: {data}")
    data = response(gateway.port, handshake("/odd/plain"))
    expect(data.startswith(b"HTTP/1.1 200 ") and data.endswith(b"ok"), f"a response instead of an upgrade passes: {data}")


def raise_descriptor_limit(count):
    """For this process and the gateway; root may raise the hard limit, too."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(count, hard), max(count, hard)))
    except ValueError:
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--echo", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only", choices=["cases", "traffic", "idle", "refusals"])
    parser.add_argument("--idle", type=int, default=10_000)
    options = parser.parse_args()
    raise_descriptor_limit(2 * options.idle + 2000)
    if not options.binary and not options.echo:
        parser.error("the gateway's binary is missing")
    if options.echo:
        print(EchoServer().port, flush=True)
        threading.Event().wait()
    with tempfile.TemporaryDirectory() as folder:
        server = EchoProcess()
        gateway = Gateway(options.binary, folder, CONFIG, workers=2, backend=server.port, odd=OddServer().port)
        if options.only in (None, "refusals"):
            refusals(gateway)
        if options.only in (None, "cases"):
            cases(gateway, server)
        if options.only in (None, "traffic"):
            asyncio.run(traffic(gateway, server))
        if options.only in (None, "idle"):
            # The kernel divides connections among workers by chance, each of which has its share of the descriptors.
            idle(Gateway(options.binary, folder, CONFIG, workers=1, backend=server.port, odd=server.port), options.idle)
        finish()


if __name__ == "__main__":
    main()
