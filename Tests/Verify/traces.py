#!/usr/bin/env python3
"""Runs the gateway with a collector of traces and validates what the collector receives.

    Tests/Verify/traces.py .build/debug/tributary [--port 26600]

Every export is parsed strictly with the official Protobuf definitions (the package opentelemetry-proto): an
unknown field, a wrong type or a wrong name is a failure. Then the script checks sampling, parents, repetition after
503 with Retry-After, the export at the end of the process, and that neither a silent nor a dead collector
delays a request or the end. Everything runs on loopback.
"""

import argparse
import base64
import http.server
import json
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

from google.protobuf import json_format
from google.protobuf.unknown_fields import UnknownFieldSet
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 2
log: {{ access: false }}
drain: {{ timeout: 5s }}
traces:
  otlp: http://127.0.0.1:{collector}/v1/traces
  sample: {sample}
  slow: 300ms
  service: verified
  protocol: {protocol}
  headers: {{ X-Token: "${{TOKEN}}" }}
backends:
  a: {{ url: "http://127.0.0.1:{backend}" }}
  gone: {{ url: "http://127.0.0.1:{gone}" }}
endpoints:
  - route: GET /items/{{id}}
    params: {{ kind: {{ type: string, in: query }} }}
    calls:
      item: {{ from: a, get: "/item/{{id}}?kind={{kind?}}" }}
      stock: {{ from: a, get: /stock }}
  - route: GET /partial
    calls:
      good: {{ from: a, get: /stock }}
      bad: {{ from: a, get: /failing, retry: {{ on: [503], attempts: 2 }} }}
  - route: GET /slow
    calls: {{ one: {{ from: a, get: /slow }} }}
  - route: GET /padded
    min_duration: 50ms
    calls: {{ one: {{ from: a, get: /stock }} }}
  - route: GET /wide
    calls:
      {wide}
"""
# Calls of /wide; each has a span and an attempt, which fails at once.
WIDE = 20
TRACE = "4bf92f3577b34da6a3ce929d0e0e47%02x"
PARENT = "00f067aa0ba902b7"
# A request that waited for a collector would take ten seconds.
UNHURRIED = 2

failures = []


def expect(condition, what):
    if not condition:
        failures.append(what)
        print(f"failed: {what}", file=sys.stderr)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("binary")
    arguments.add_argument("--port", type=int, default=26600)
    options = arguments.parse_args()
    backend = Backend(options.port + 3)
    for protocol in ("http/protobuf", "http/json"):
        backend.parents.clear()
        check_spans(options, backend, protocol)
    check_silent_collector(options)
    check_dead_collector(options)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


def check_spans(options, backend, protocol):
    collector = Collector(options.port + 2, protocol)
    collector.replies = [(503, {"Retry-After": "2"}, b""), (200, {}, b"{}")]
    gateway = Gateway(options, sample="0%", protocol=protocol)
    try:
        sampled = TRACE % 1
        gateway.get("/items/7?kind=secret", {
            "traceparent": f"00-{sampled}-{PARENT}-01", "tracestate": "a=1, b@c=2"})
        future = TRACE % 2
        gateway.get("/items/7", {"traceparent": f"cc-{future}-{PARENT}-01-what-comes"})
        unsampled = TRACE % 3
        gateway.get("/items/7", {"traceparent": f"00-{unsampled}-{PARENT}-00"})
        partial = TRACE % 4
        gateway.get("/partial", {"traceparent": f"00-{partial}-{PARENT}-00"})
        slow = TRACE % 5
        gateway.get("/slow", {"traceparent": f"00-{slow}-{PARENT}-00"})
        padded = TRACE % 6
        gateway.get("/padded", {"traceparent": f"00-{padded}-{PARENT}-01"})
        gateway.get("/items/7", {"traceparent": "00-invalid", "tracestate": "a=1"})
        gateway.get("/items/7", {})
        collector.wait_for(5 + 5 + 6 + 3 + 1)
        check_repetition(collector)
        if protocol == "http/json":
            check_validation(collector.exports[1].body)
        traces = collector.accepted_traces()
        expect(unsampled not in traces, "a successful request was exported against the decision")
        expect(len(traces) == 5, f"5 traces were expected, not {len(traces)}")
        for trace in (sampled, future):
            check_tree(traces.get(trace, []), backend.parents.get(trace, []))
        check_partial(traces.get(partial, []))
        expect(len(traces.get(slow, [])) == 3, "a slow request has three spans")
        expect(len(traces.get(padded, [])) == 1, "a padded endpoint has one span")
        expect(all(span.trace_state == "a=1,b@c=2" for span in traces.get(sampled, [])),
               "tracestate is in the spans")
        expect(backend.states.get(sampled) == "a=1,b@c=2", "tracestate reaches the backends")
        expect("secret" not in collector.text, "no export has the values of a query")
        expect(all(token == "t0k3n" for token in collector.tokens), "the header is sent")
        expect(gateway.reaches("tributary_spans_exported_total", 20), "20 spans are counted")
        expect(gateway.dropped() == {"queue_full": 0, "rejected": 0, "undelivered": 0},
               "no span is lost")
        before = len(collector.accepted_traces())
        gateway.reload("100%")
        gateway.get("/items/7", {})
        collector.wait_for(20 + 5)
        expect(len(collector.accepted_traces()) == before + 1, "a reload changes the sampling")
        # Less than a second before the end: the batch is not sent yet.
        last = TRACE % 7
        gateway.get("/items/7", {"traceparent": f"00-{last}-{PARENT}-01"})
        took = gateway.end()
        expect(took < 3, f"the end took {took:.2f} s")
        expect(len(collector.accepted_traces().get(last, [])) == 5, "the end exports what waits")
    finally:
        gateway.kill()
        collector.close()
    print(f"{len(collector.exports)} exports, each valid: {not collector.invalid}")
    for problem in collector.invalid:
        expect(False, problem)


def check_validation(body):
    """The positive control: what is wrong is found."""
    parse(body)
    for name, old, new in (
            ("an unknown field", b'"startTimeUnixNano"', b'"startTime"'),
            ("a misspelt field", b'"scopeSpans"', b'"scope_span"'),
            ("a wrong type", b'"attributes":[', b'"attributes":["a",'),
            ("an id in another form", b'"spanId":"', b'"spanId":"!'),
            ("a kind by its name", b'"kind":2', b'"kind":"SPAN_KIND_SERVER"'),
            ("a value that no attribute has", b'"stringValue"', b'"textValue"')):
        expect(old in body, f"the control has {name}")
        try:
            parse(body.replace(old, new, 1))
        except Exception:  # The validation raises whatever it finds.
            continue
        expect(False, f"{name} is not found")


def check_repetition(collector):
    first, second = collector.exports[0], collector.exports[1]
    expect(first.status == 503 and second.body == first.body, "a 503 is repeated unchanged")
    expect(2 <= second.time - first.time < 4, "Retry-After is respected: "
           f"{second.time - first.time:.2f} s")


def check_tree(spans, parents):
    kinds = [span.kind for span in spans]
    expect(sorted(kinds) == [Span.SPAN_KIND_INTERNAL] * 2 + [Span.SPAN_KIND_SERVER]
           + [Span.SPAN_KIND_CLIENT] * 2, f"kinds {kinds}")
    if len(spans) != 5:
        return
    server = next(span for span in spans if span.kind == Span.SPAN_KIND_SERVER)
    calls = [span for span in spans if span.kind == Span.SPAN_KIND_INTERNAL]
    attempts = [span for span in spans if span.kind == Span.SPAN_KIND_CLIENT]
    expect(server.parent_span_id.hex() == PARENT, "the caller's span is the parent")
    expect(server.flags == 0x301, f"flags {server.flags:#x}")
    expect(server.name == "GET /items/{id}", server.name)
    attributes = {entry.key: entry.value for entry in server.attributes}
    expect(attributes["http.route"].string_value == "/items/{id}", "http.route")
    expect(attributes["url.path"].string_value == "/items/7", "url.path")
    expect(attributes["server.address"].string_value == "localhost", "server.address")
    expect(attributes["client.address"].string_value == "127.0.0.1", "client.address")
    expect(attributes["http.response.status_code"].int_value == 200, "the status is a number")
    expect(all(call.parent_span_id == server.span_id for call in calls), "calls are below")
    expect({attempt.parent_span_id for attempt in attempts} == {call.span_id for call in calls},
           "attempts are below their calls")
    expect(sorted(attempt.span_id.hex() for attempt in attempts) == sorted(parents),
           "the backends received the ids of the attempts")
    for span in calls + attempts:
        expect(server.start_time_unix_nano <= span.start_time_unix_nano
               <= span.end_time_unix_nano <= server.end_time_unix_nano, f"times of {span.name}")
        expect(span.status.code == Status.STATUS_CODE_UNSET, f"status of {span.name}")
    expect(abs(server.start_time_unix_nano / 1e9 - time.time()) < 60, "the time is now")


def check_partial(spans):
    expect(len(spans) == 6, f"a partial request with a retry has 6 spans, not {len(spans)}")
    failed = sorted(span.name for span in spans if span.status.code == Status.STATUS_CODE_ERROR)
    expect(failed == ["GET /failing", "GET /failing", "bad"], f"errors {failed}")


def check_silent_collector(options):
    """Accepts connections and reads nothing."""
    listener = socket.create_server(("127.0.0.1", options.port + 2))
    gateway = Gateway(options, sample="100%")
    try:
        slowest = gateway.load("/items/7", 200)
        expect(slowest < UNHURRIED, f"a request took {slowest:.2f} s beside a silent collector")
        took = gateway.end()
        expect(1 < took < 5, f"with a silent collector the end took {took:.2f} s")
        print(f"silent collector: slowest request {slowest * 1000:.0f} ms, end {took:.2f} s")
    finally:
        gateway.kill()
        listener.close()


def check_dead_collector(options):
    gateway = Gateway(options, sample="100%")
    try:
        count = 600
        slowest = gateway.load("/wide", count)
        expect(slowest < UNHURRIED, f"a request took {slowest:.2f} s beside a dead collector")
        expect(gateway.metric("tributary_spans_exported_total") == 0, "nothing was exported")
        dropped = gateway.dropped()
        expect(dropped["queue_full"] >= (1 + 2 * WIDE) * count - 16_384, f"the queue is bounded: {dropped}")
        took = gateway.end()
        expect(took < 5, f"with a dead collector the end took {took:.2f} s")
        print(f"dead collector: slowest request {slowest * 1000:.0f} ms, end {took:.2f} s, {dropped}")
    finally:
        gateway.kill()


class Export:
    def __init__(self, body, status):
        self.body, self.status, self.time = body, status, time.monotonic()
        self.spans = []


class Server:
    """An HTTP server on a thread of its own; subclasses respond."""

    def __init__(self, port):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                owner.respond(self, b"")

            def do_POST(self):
                owner.respond(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *arguments):
                pass

        self.lock = threading.Lock()
        http.server.ThreadingHTTPServer.request_queue_size = 128
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    @staticmethod
    def send(handler, status, headers, body):
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)


class Collector(Server):
    def __init__(self, port, protocol):
        self.protocol = protocol
        self.exports, self.invalid, self.tokens = [], [], []
        self.replies = [(200, {}, b"{}")]
        super().__init__(port)

    def respond(self, handler, body):
        with self.lock:
            status, headers, text = self.replies[0]
            if len(self.replies) > 1:
                self.replies.pop(0)
            export = Export(body, status)
            self.exports.append(export)
            self.tokens.append(handler.headers["X-Token"])
            try:
                if handler.command != "POST" or handler.path != "/v1/traces":
                    raise ValueError(f"{handler.command} {handler.path}")
                kind = handler.headers["Content-Type"]
                if kind != f"application/{'json' if self.protocol == 'http/json' else 'x-protobuf'}":
                    raise ValueError(f"Content-Type {kind}")
                export.spans = parse(body) if self.protocol == "http/json" else parse_binary(body)
            except Exception as problem:  # Whatever is wrong is the result of this script.
                self.invalid.append(f"invalid export: {problem!r}")
        self.send(handler, status, headers, text)

    @property
    def text(self):
        return "".join(export.body.decode(errors="replace") for export in self.exports)

    def accepted_traces(self):
        traces = {}
        with self.lock:
            for export in self.exports:
                if export.status == 200:
                    for span in export.spans:
                        traces.setdefault(span.trace_id.hex(), []).append(span)
        return traces

    def wait_for(self, count):
        for _ in range(150):
            if sum(map(len, self.accepted_traces().values())) >= count:
                return
            time.sleep(0.1)
        expect(False, f"{count} spans were expected: "
               f"{ {trace: len(spans) for trace, spans in self.accepted_traces().items()} }")


def parse(body):
    """The spans of an export. OTLP's JSON is that of Protobuf, except that ids are hexadecimal and enumerations
    are numbers."""
    document = json.loads(body)
    for resource in document["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for key, size in (("traceId", 16), ("spanId", 8), ("parentSpanId", 8)):
                    if key not in span and key == "parentSpanId":
                        continue
                    if not re.fullmatch(f"[0-9a-f]{{{2 * size}}}", span[key]) or int(span[key], 16) == 0:
                        raise ValueError(f"{key} {span[key]}")
                    span[key] = base64.b64encode(bytes.fromhex(span[key])).decode()
                if not isinstance(span["kind"], int):
                    raise ValueError("kind is no number")
                for key in ("startTimeUnixNano", "endTimeUnixNano"):
                    if not isinstance(span[key], str):
                        raise ValueError(f"{key} is no string")
    request = json_format.Parse(json.dumps(document), ExportTraceServiceRequest(),
                                ignore_unknown_fields=False)
    return check_request(request)


def parse_binary(body):
    """The spans of an export in Protobuf's own format, whose fields must all be known."""
    request = ExportTraceServiceRequest.FromString(body)
    if UnknownFieldSet(request) or request.SerializeToString(deterministic=True) != body:
        raise ValueError("unknown fields, or another order")
    return check_request(request)


def check_request(request):
    if not request.IsInitialized():
        raise ValueError("incomplete")
    resource = {entry.key: entry.value.string_value
                for entry in request.resource_spans[0].resource.attributes}
    if resource.get("service.name") != "verified" or not resource.get("service.instance.id"):
        raise ValueError(f"resource {resource}")
    spans = list(request.resource_spans[0].scope_spans[0].spans)
    if not spans:
        raise ValueError("no spans")
    for span in spans:
        if not span.name or span.kind not in (1, 2, 3):
            raise ValueError(f"span {span}")
        if not 0 < span.start_time_unix_nano <= span.end_time_unix_nano:
            raise ValueError(f"times of {span}")
        keys = [entry.key for entry in span.attributes]
        if len(set(keys)) != len(keys):
            raise ValueError(f"attributes {keys}")
    return spans


class Backend(Server):
    def __init__(self, port):
        self.parents, self.states = {}, {}
        super().__init__(port)

    def respond(self, handler, body):
        _, trace, parent, _ = handler.headers["traceparent"].split("-")
        with self.lock:
            self.parents.setdefault(trace, []).append(parent)
            self.states[trace] = handler.headers["tracestate"]
        if handler.path == "/slow":
            time.sleep(0.4)
        self.send(handler, 503 if handler.path == "/failing" else 200, {}, b'{"ok":true}')


class Gateway:
    def __init__(self, options, sample, protocol="http/protobuf"):
        self.protocol = protocol
        self.listen, self.admin = options.port, options.port + 1
        self.port = options.port
        self.folder = tempfile.TemporaryDirectory()
        self.write(sample)
        self.process = subprocess.Popen(
            [options.binary, "serve", self.file], stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, env={"TOKEN": "t0k3n", "PATH": "/usr/bin:/bin"})
        for _ in range(200):
            if self.process.poll() is not None:
                sys.exit("the gateway ended at its start")
            try:
                if b" 200 " in request(self.admin, "/readyz", {}).split(b"\r\n")[0]:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        sys.exit("the gateway did not become ready")

    @property
    def file(self):
        return f"{self.folder.name}/gateway.yaml"

    def write(self, sample):
        with open(self.file, "w") as file:
            file.write(CONFIG.format(
                listen=self.listen, admin=self.admin, collector=self.port + 2,
                backend=self.port + 3, gone=self.port + 4, sample=sample, protocol=self.protocol,
                wide="\n      ".join(f"c{i}: {{ from: gone, get: /{i} }}" for i in range(WIDE))))

    def reload(self, sample):
        self.write(sample)
        response = request(self.admin, "/-/reload", {}, "POST")
        expect(b" 200 " in response.split(b"\r\n")[0], f"reload: {response[:80]}")
        # The workers install it one after the other; a snapshot of each comes behind that.
        request(self.admin, "/metrics", {})

    def get(self, path, headers):
        response = request(self.listen, path, headers)
        expect(b" 200 " in response.split(b"\r\n")[0], f"{path}: {response[:80]}")

    def load(self, path, count):
        """Requests one after the other on one connection; gives the time of the slowest."""
        slowest = 0.0
        with socket.create_connection(("127.0.0.1", self.listen), timeout=10) as connection:
            for _ in range(count):
                began = time.monotonic()
                connection.sendall(f"GET {path} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
                received = b""
                while not is_complete(received):
                    part = connection.recv(1 << 16)
                    if not part:
                        sys.exit("a connection was closed")
                    received += part
                slowest = max(slowest, time.monotonic() - began)
        return slowest

    def metric(self, name):
        page = request(self.admin, "/metrics", {}).decode()
        match = re.search(rf"^{re.escape(name)} (\d+)$", page, re.MULTILINE)
        return int(match.group(1)) if match else -1

    def reaches(self, name, value):
        """Whether a metric has a value soon: the gateway counts spans when it has read the response."""
        for _ in range(50):
            if self.metric(name) == value:
                return True
            time.sleep(0.05)
        return False

    def dropped(self):
        name = "tributary_spans_dropped_total"
        return {reason: self.metric(f'{name}{{reason="{reason}"}}')
                for reason in ("queue_full", "rejected", "undelivered")}

    def end(self):
        """SIGTERM; gives the time until the end."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(timeout=15)
        except subprocess.TimeoutExpired:
            status = None
        expect(status == 0, f"exit status {status}")
        return time.monotonic() - began

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.folder.cleanup()


def is_complete(response):
    head, _, body = response.partition(b"\r\n\r\n")
    length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
    return length is not None and len(body) == int(length.group(1))


def request(port, path, headers, method="GET"):
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    with socket.create_connection(("127.0.0.1", port), timeout=5) as connection:
        connection.sendall(f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{lines}\r\n"
                           .encode())
        received = b""
        while part := connection.recv(1 << 16):
            received += part
        return received


if __name__ == "__main__":
    main()
