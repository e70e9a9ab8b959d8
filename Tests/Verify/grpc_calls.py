#!/usr/bin/env python3
"""Sends calls of gRPC through a gateway to a server of gRPC, both by the package grpcio.

    Tests/Verify/grpc_calls.py .build/release/tributary [--go .build/verify-grpc/grpc_echo]

The client uses HTTP/2 without TLS (prior knowledge) and with TLS; the backend has `protocol: http2`. Unary calls, streams
in each direction and in both, metadata and trailers, errors, deadlines, cancellation, messages of 4 MiB, 1,000 calls,
long streams of small messages, and what a client makes of failures of the gateway itself. With --go, streams between the
client and the server of grpc_echo.go, too. Methods and messages are bytes: nothing is generated from .proto files.
Everything runs on loopback, on free ports. Needs grpcio (PyPI) and openssl.
"""

import argparse
import concurrent.futures
import contextlib
import pathlib
import queue
import subprocess
import tempfile
import threading
import time

import grpc

from harness import Gateway, certificate, expect, finish, free_port, wait

CONFIG = """\
version: 1
admin: 127.0.0.1:{admin}
workers: 1
log: {{ level: error }}
listen:
  - {{ address: "127.0.0.1:{listen}", protocols: [http2, http1] }}
  - {{ address: "127.0.0.1:{secure}", tls: {{ cert: "{certificates}/cert.pem", key: "{certificates}/key.pem" }} }}
backends:
  calls: {{ url: "http://127.0.0.1:{backend}", protocol: http2 }}
  go: {{ url: "http://127.0.0.1:{go}", protocol: http2 }}
  none: {{ url: "http://127.0.0.1:{nothing}", protocol: http2 }}
endpoints:
  - {{ route: POST /test.Calls/*, proxy: {{ to: calls, timeout: 20s, idle_timeout: 5s }} }}
  - {{ route: POST /test.Short/*, proxy: {{ to: calls, path: /test.Calls/*, timeout: 300ms, idle_timeout: 1s }} }}
  - {{ route: POST /test.Echo/*, proxy: {{ to: go, timeout: 20s, idle_timeout: 5s }} }}
  - {{ route: POST /test.None/*, proxy: {{ to: none }} }}
"""
MESSAGE_BYTES = 4 << 20
OPTIONS = [
    ("grpc.max_receive_message_length", 2 * MESSAGE_BYTES),
    ("grpc.max_send_message_length", 2 * MESSAGE_BYTES),
    ("grpc.enable_http_proxy", 0),
]
CALLS, AT_ONCE = 1000, 64
SMALL_MESSAGES = 5000


class Calls:
    """The methods of the server. `events` has what it observed."""

    def __init__(self):
        self.events = queue.Queue()
        self.left = None  # seconds, of the last call with a deadline

    def handlers(self):
        return {
            "Echo": grpc.unary_unary_rpc_method_handler(lambda request, context: request),
            "Metadata": grpc.unary_unary_rpc_method_handler(self.metadata),
            "Count": grpc.unary_stream_rpc_method_handler(self.count),
            "Sum": grpc.stream_unary_rpc_method_handler(lambda requests, context: str(sum(map(int, requests))).encode()),
            "Pong": grpc.stream_stream_rpc_method_handler(self.pong),
            "Fail": grpc.unary_unary_rpc_method_handler(self.fail),
            "FailLater": grpc.stream_stream_rpc_method_handler(self.fail_later),
            "Wait": grpc.unary_unary_rpc_method_handler(self.wait),
            "Endless": grpc.unary_stream_rpc_method_handler(self.endless),
        }

    def metadata(self, request, context):
        context.send_initial_metadata((("x-initial", "1"), ("x-initial-bin", b"\x00\xff")))
        context.set_trailing_metadata((("x-trailing", "2"), ("x-trailing-bin", b"\xff\x00")))
        sent = [f"{name}={value}" for name, value in context.invocation_metadata() if name.startswith("x-m")]
        return ",".join(sorted(sent)).encode()

    def count(self, request, context):
        yield from (str(number).encode() for number in range(int(request)))

    def pong(self, requests, context):
        for request in requests:
            yield b"pong " + request

    def fail(self, request, context):
        context.abort(grpc.StatusCode.NOT_FOUND, "no such thing: ä %")

    def fail_later(self, requests, context):
        yield next(requests)
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "enough")

    def wait(self, request, context):
        self.left = context.time_remaining()
        context.add_callback(lambda: self.events.put("ended"))
        while context.is_active():
            time.sleep(0.01)
        return b""

    def endless(self, request, context):
        ended = threading.Event()
        context.add_callback(lambda: (self.events.put("ended"), ended.set()))
        yield b"first"
        ended.wait(15)

    def has_ended(self, seconds):
        """Whether the server saw the end of a call in time."""
        try:
            return self.events.get(timeout=seconds) == "ended"
        except queue.Empty:
            return False


@contextlib.contextmanager
def serving(calls, port):
    pool = concurrent.futures.ThreadPoolExecutor(2 * AT_ONCE)
    server = grpc.server(pool, options=OPTIONS)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("test.Calls", calls.handlers()),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    yield
    server.stop(0).wait()
    pool.shutdown()


def outcome(run):
    """The status of a call that fails, and its details; `OK` and nothing for one that succeeds."""
    try:
        run()
        return "OK", ""
    except grpc.RpcError as error:
        return error.code().name, error.details()


def unary(channel, calls, name):
    echo = channel.unary_unary("/test.Calls/Echo")
    expect(echo(b"hello", timeout=10) == b"hello", f"{name}: a unary call")
    expect(echo(b"", timeout=10) == b"", f"{name}: an empty message")
    sent = (("x-m", "1"), ("x-m", "2"), ("x-m-bin", b"\x01\xff"))
    response, call = channel.unary_unary("/test.Calls/Metadata").with_call(b"", metadata=sent, timeout=10)
    expect(response == b"x-m-bin=b'\\x01\\xff',x-m=1,x-m=2", f"{name}: metadata of the client: {response}")
    initial, trailing = dict(call.initial_metadata()), dict(call.trailing_metadata())
    expect(initial.get("x-initial") == "1" and initial.get("x-initial-bin") == b"\x00\xff", f"{name}: {initial}")
    expect(trailing.get("x-trailing") == "2" and trailing.get("x-trailing-bin") == b"\xff\x00", f"{name}: {trailing}")
    large = bytes(range(256)) * (MESSAGE_BYTES // 256)
    expect(echo(large, timeout=30) == large, f"{name}: a message of 4 MiB")


def streams(channel, calls, name):
    received = list(channel.unary_stream("/test.Calls/Count")(b"500", timeout=20))
    expect(received == [str(number).encode() for number in range(500)], f"{name}: a stream of the server")
    numbers = (str(number).encode() for number in range(500))
    expect(channel.stream_unary("/test.Calls/Sum")(numbers, timeout=20) == b"124750", f"{name}: a stream of the client")
    expect(ping_pong(channel, 100, b"x" * 100) == 100, f"{name}: each message is answered before the next")
    large = bytes(MESSAGE_BYTES)
    expect(ping_pong(channel, 3, large) == 3, f"{name}: messages of 4 MiB in both directions")
    expect(
        ping_pong(channel, SMALL_MESSAGES, b"x") == SMALL_MESSAGES,
        f"{name}: {SMALL_MESSAGES} small messages on one stream",
    )


def ping_pong(channel, count, message):
    """The number of answered messages. The next one is sent when the answer has arrived."""
    requests = queue.SimpleQueue()
    responses = channel.stream_stream("/test.Calls/Pong")(iter(requests.get, None), timeout=60)
    answered = 0
    try:
        for _ in range(count):
            requests.put(message)
            answered += next(responses) == b"pong " + message
        requests.put(None)
        answered += len(list(responses))  # none
    except grpc.RpcError as error:
        print(error)
    requests.put(None)
    return answered


def errors(channel, calls, name):
    failed = outcome(lambda: channel.unary_unary("/test.Calls/Fail")(b"", timeout=10))
    expect(failed == ("NOT_FOUND", "no such thing: ä %"), f"{name}: an error with details: {failed}")
    missing = outcome(lambda: channel.unary_unary("/test.Calls/Missing")(b"", timeout=10))
    expect(missing[0] == "UNIMPLEMENTED", f"{name}: a method that the server does not have: {missing}")
    requests = queue.SimpleQueue()
    requests.put(b"one")
    responses = channel.stream_stream("/test.Calls/FailLater")(iter(requests.get, None), timeout=10)
    expect(next(responses) == b"one", f"{name}: the message before an error")
    later = outcome(lambda: next(responses))
    expect(later == ("RESOURCE_EXHAUSTED", "enough"), f"{name}: an error while the client sends: {later}")
    requests.put(None)


def ends(channel, calls, name):
    begin = time.monotonic()
    late = outcome(lambda: channel.unary_unary("/test.Calls/Wait")(b"", timeout=1))
    took = time.monotonic() - begin
    expect(late[0] == "DEADLINE_EXCEEDED" and took < 3, f"{name}: a deadline: {late}, {took:.1f} s")
    expect(calls.left is not None and 0.5 < calls.left < 1.1, f"{name}: the server knows the deadline: {calls.left}")
    expect(calls.has_ended(2), f"{name}: the server sees the end of a call whose deadline has passed")
    responses = channel.unary_stream("/test.Calls/Endless")(b"", timeout=20)
    expect(next(responses) == b"first", f"{name}: the first message of a call that is cancelled")
    responses.cancel()
    expect(calls.has_ended(2), f"{name}: the server sees a cancellation")
    waiting = channel.unary_unary("/test.Calls/Wait").future(b"", timeout=20)
    time.sleep(0.3)
    waiting.cancel()
    expect(calls.has_ended(2), f"{name}: the server sees a cancellation before the head")


def failures(channel, calls, name):
    """Failures of the gateway have a status of HTTP, which clients map to one of gRPC."""

    def status(path):
        return outcome(lambda: channel.unary_unary(path)(b"", timeout=10))

    found = {path: status(path)[0] for path in ("/test.None/Echo", "/test.Other/Echo", "/test.Short/Wait")}
    expect(found["/test.None/Echo"] == "UNAVAILABLE", f"{name}: no connection to the backend: {found}")
    expect(found["/test.Other/Echo"] == "UNIMPLEMENTED", f"{name}: no endpoint: {found}")
    expect(found["/test.Short/Wait"] == "UNAVAILABLE", f"{name}: no head within `timeout`: {found}")
    expect(calls.has_ended(2), f"{name}: the server sees that the gateway has given up")
    idle = outcome(lambda: list(channel.unary_stream("/test.Short/Endless")(b"", timeout=10)))
    expect(idle[0] == "INTERNAL", f"{name}: a stream that is idle for longer than idle_timeout: {idle}")
    expect(calls.has_ended(2), f"{name}: the server sees the end of an idle stream")


def many(channel, calls, name):
    echo = channel.unary_unary("/test.Calls/Echo")
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        texts = [f"call {number}".encode() for number in range(CALLS)]
        answers = list(pool.map(lambda text: echo(text, timeout=30), texts))
    expect(answers == texts, f"{name}: {CALLS} calls, {AT_ONCE} at once")


def run(channel, calls, name):
    for check in (unary, streams, errors, ends, failures, many):
        begin = time.monotonic()
        check(channel, calls, name)
        print(f"{name}: {check.__name__} took {time.monotonic() - begin:.1f} s", flush=True)
    channel.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--go", metavar="BINARY", help="grpc_echo.go, compiled")
    arguments = parser.parse_args()
    calls, port = Calls(), free_port()
    with tempfile.TemporaryDirectory() as folder, serving(calls, port):
        certificate(folder)
        values = {"certificates": folder, "backend": port, "nothing": free_port(), "go": free_port()}
        gateway = Gateway(arguments.binary, folder, CONFIG, ports=["secure"], **values)
        run(grpc.insecure_channel(f"127.0.0.1:{gateway.port}", OPTIONS), calls, "h2c")
        trusted = grpc.ssl_channel_credentials(pathlib.Path(folder, "cert.pem").read_bytes())
        run(grpc.secure_channel(f"localhost:{gateway.ports['secure']}", trusted, OPTIONS), calls, "TLS")
        if arguments.go:
            begin = time.monotonic()
            command = [arguments.go, str(values["go"]), str(gateway.port)]
            ended = subprocess.run(command, capture_output=True, text=True, timeout=200)
            expect(ended.returncode == 0, f"Go: {ended.stdout}{ended.stderr}")
            print(f"Go: streams took {time.monotonic() - begin:.1f} s", flush=True)
        quiet = wait(lambda: sum(gateway.series("tributary_streams").values()) == 0)
        expect(quiet, f"streams are left: {gateway.series('tributary_streams')}")
        shed = {labels: value for labels, value in gateway.series("tributary_connections_shed_total").items() if value}
        expect(not shed, f"connections were ended: {shed}")
        gateway.stop()
    finish()


if __name__ == "__main__":
    main()
