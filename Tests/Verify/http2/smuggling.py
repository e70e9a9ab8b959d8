"""The role `smuggling`: requests whose form in HTTP/1.1 would be two requests, or have a field that was not sent.

Behind the gateway is a backend that records every octet. For each request, the recorder must have at most one, which
is valid HTTP/1.1, without a field that has the marker's name and without the target of an injected request. A healthy
request behind it must reach the backend unchanged.
"""

import itertools
import time

from connection import AUTHORITY, Connection, request
from frames import *
from results import Result

MARKER = "x-smuggled"
SECOND = f"GET /relay/smuggled HTTP/1.1\r\nHost: {AUTHORITY}\r\n{MARKER}: 1\r\n\r\n"
LINE = f"\r\n{MARKER}: 1"
FRAMING = ("content-length", "transfer-encoding", "host")
NEXT = "/relay/next"
SETTLING = 0.02  # seconds until the recorder has read what has arrived
CHUNK_END = "0\r\n\r\n"
ACCEPTED = frozenset({"one request", "no request"})


def field(name, value):
    return request("/relay/probe", "GET", (name, value)), b""


def with_body(body, *fields, path="/relay/probe", method="POST"):
    return request(path, method, *fields), body.encode() if isinstance(body, str) else body


def pseudo(**values):
    """A request with other pseudo fields."""
    values = {":" + name: value for name, value in values.items()}
    fields = [(name, values.pop(name, value)) for name, value in request("/relay/probe")]
    return fields + list(values.items()), b""


def in_query(text):
    return request(f"/ok?probe={text}"), b""


def in_segment(text):
    return request(f"/values/{text}"), b""


REQUESTS = {
    # Line ends in values
    "CR LF and a field in a value": field("x-probe", "a" + LINE),
    "LF and a field in a value": field("x-probe", f"a\n{MARKER}: 1"),
    "CR and a field in a value": field("x-probe", f"a\r{MARKER}: 1"),
    "a request in a value": field("x-probe", "a\r\n\r\n" + SECOND),
    "a request behind LF in a value": field("x-probe", "a\n\n" + SECOND),
    "a zero octet and a field in a value": field("x-probe", f"a\0\r\n{MARKER}: 1"),
    "a continuation line in a value": field("x-probe", f"a\r\n {MARKER}: 1"),
    "CR LF at the end of a value": field("x-probe", "a\r\n"),
    "CR LF CR LF at the end of a value": field("x-probe", "a\r\n\r\n"),
    "a line in user-agent": field("user-agent", "a" + LINE),
    "a line in cookie": field("cookie", "a=1" + LINE),
    "a line in the second cookie": (request("/relay/probe", "GET", ("cookie", "a=1"), ("cookie", "b=2" + LINE)), b""),
    "a line in content-type": with_body("a", ("content-type", "text/plain" + LINE)),
    "a line in traceparent": field("traceparent", "00-" + "1" * 32 + "-" + "2" * 16 + "-01" + LINE),
    "a line in x-request-id": field("x-request-id", "id" + LINE),
    "a line in x-forwarded-for": field("x-forwarded-for", "1.1.1.1" + LINE),
    "a line in authorization": field("authorization", "Bearer a" + LINE),
    "a line in a value that is forwarded by name": (request("/ok", "GET", ("x-probe", "a" + LINE)), b""),
    # Names
    "a line in a name": field(f"x-a: 1\r\n{MARKER}", "1"),
    "LF in a name": field(f"x-a\n{MARKER}", "1"),
    "a colon and a value in a name": field(f"transfer-encoding: chunked\r\n{MARKER}", "1"),
    "a space in a name": field("transfer-encoding ", "chunked"),
    "a tab in a name": field("content-length\t", "0"),
    "an empty name": field("", f"\r\n{MARKER}: 1"),
    "a request in a name": field("x-a: 1\r\n\r\n" + SECOND + "x", "1"),
    # Pseudo fields
    "a line in :path": pseudo(path="/relay/probe HTTP/1.1" + LINE),
    "a request in :path": pseudo(path=f"/relay/probe HTTP/1.1\r\nHost: {AUTHORITY}\r\n\r\n{SECOND}"),
    "a space in :path": pseudo(path="/relay/probe HTTP/1.1 x"),
    "LF in :path": pseudo(path=f"/relay/probe\n{MARKER}: 1"),
    "a tab in :path": pseudo(path="/relay/probe\tHTTP/1.1"),
    "a line in :method": pseudo(method="GET /relay/other HTTP/1.1\r\nx: 1\r\n\r\nGET"),
    "a target in :method": pseudo(method="GET /relay/other"),
    "a line in :authority": pseudo(authority=AUTHORITY + LINE),
    "a request in :authority": pseudo(authority=f"{AUTHORITY}\r\n\r\n{SECOND}"),
    "a line in :scheme": pseudo(scheme="http" + LINE),
    "a URL in :scheme": pseudo(scheme="http://other.test/relay/other?"),
    "a line in host": ([*request("/relay/probe", authority=None), ("host", AUTHORITY + LINE)], b""),
    ":authority and another host": field("host", "other.test"),
    "a line in :protocol": pseudo(method="CONNECT", protocol="websocket" + LINE),
    # Decoded parts of the target
    "%0d%0a in a path that is passed on": pseudo(path=f"/relay/a%0d%0a{MARKER}:%201"),
    "%0d%0a in a parameter of the path": in_segment(f"a%0d%0a{MARKER}:%201"),
    "%0d%0a in a query": in_query(f"a%0d%0a{MARKER}:%201"),
    "%20HTTP/1.1%0d%0a in a parameter": in_segment(f"a%20HTTP%2f1.1%0d%0a{MARKER}:%201"),
    "LF in a query": in_query(f"a\n{MARKER}: 1"),
    # Two lengths
    "transfer-encoding with a request in the body": with_body(CHUNK_END + SECOND, ("transfer-encoding", "chunked")),
    "content-length 0 with a request in the body": with_body(SECOND, ("content-length", "0")),
    "content-length below a body with a request": with_body("abc" + SECOND, ("content-length", "3")),
    "content-length above the body": with_body("abc", ("content-length", "100")),
    "two lengths": with_body("abc" + SECOND, ("content-length", "3"), ("content-length", str(3 + len(SECOND)))),
    "a list of lengths": with_body("abc" + SECOND, ("content-length", f"3, {3 + len(SECOND)}")),
    "both lengths": with_body(CHUNK_END + SECOND, ("content-length", "5"), ("transfer-encoding", "chunked")),
    "transfer-encoding in capital letters": with_body(CHUNK_END + SECOND, ("Transfer-Encoding", "chunked")),
    "an unknown transfer-encoding": with_body(CHUNK_END + SECOND, ("transfer-encoding", "identity, chunked")),
    "a request in the body of GET": with_body(SECOND, method="GET"),
    "chunks in a body": with_body(CHUNK_END + SECOND),
    "transfer-encoding in a line of a value": with_body(
        CHUNK_END + SECOND, ("x-probe", "a\r\ntransfer-encoding: chunked")
    ),
    "a sign in content-length": with_body("abc" + SECOND, ("content-length", "+3")),
    # Fields of the connection
    "connection names content-length": with_body("abc", ("connection", "content-length")),
    "upgrade and a request in the body": with_body(SECOND, ("connection", "upgrade"), ("upgrade", "websocket")),
    "expect with a request in the body": with_body(SECOND, ("expect", "100-continue")),
    "te and trailer name a length": with_body("abc", ("te", "trailers"), ("trailer", "content-length")),
}
TRAILERS = {
    "a line in a trailer": [("x-probe", "a" + LINE)],
    "content-length in trailers": [("content-length", "0")],
    "transfer-encoding in trailers": [("transfer-encoding", "chunked")],
}


def send(connection, fields, body, trailers=None):
    stream = connection.new_stream()
    octets = block(fields)
    connection.send(headers(stream, octets, not body and not trailers))
    if body:
        connection.send(data(stream, body, not trailers))
    if trailers:
        connection.send(headers(stream, block(trailers)))
    connection.stream_outcome(stream, 3)


def problem(arrived):
    """What is wrong with the requests that arrived; None if nothing is."""
    if len(arrived) > 1:
        return f"{len(arrived)} requests: {[one.raw for one in arrived]}"
    for one in arrived:
        if one.error and one.error != "incomplete":  # incomplete: the gateway has ended it, as it must
            return f"a malformed request ({one.error}): {one.raw}"
        if any(name == MARKER for name, _ in one.fields + one.trailers):
            return f"a field that was not sent: {one.raw}"
        if one.fields and [name for name, _ in one.fields].count("host") != 1:
            return f"not one Host: {one.raw}"
        if any(name in FRAMING for name, _ in one.trailers):
            return f"a field of the framing in trailers: {one.raw}"
        if any(
            name == "connection" and value.lower() not in ("close", "keep-alive", "te", "")
            for name, value in one.fields
        ):
            return f"a field of the client's connection: {one.raw}"
        if one.target.startswith(("/relay/smuggled", "/relay/other")):
            return f"another target: {one.raw}"
    return None


def run_request(number, title, fields, body, target, trailers=None):
    recorder = target.recorder
    before = len(recorder.requests)
    connection = Connection(target).start()
    send(connection, fields, body, trailers)
    connection.close()
    # Octets that were left on the connection to the backend become part of the next request.
    answer = next_request(target)
    time.sleep(SETTLING)
    recorded = recorder.requests[before:]
    arrived = [one for one in recorded if one.target != NEXT]
    unchanged = [one for one in recorded if one.target == NEXT and not one.error]
    control = (
        None if answer == "200" and len(unchanged) == 1 else f"the next request gave {answer}; arrived: {recorded}"
    )
    outcome = problem(arrived) or ("one request" if arrived else "no request")
    return Result(f"smuggling/{number}", title, outcome, ACCEPTED, control)


def next_request(target):
    """The outcome of a healthy request on a connection of its own."""
    connection = Connection(target).start()
    outcome = connection.stream_outcome(connection.request(NEXT))
    connection.close()
    return outcome


def run(target, only=None):
    rows = [(title, fields, body, None) for title, (fields, body) in REQUESTS.items()]
    rows += [(title, request("/relay/probe", "POST"), b"abc", trailers) for title, trailers in TRAILERS.items()]
    numbered = zip(itertools.count(1), rows)
    return [
        run_request(number, title, fields, body, target, trailers)
        for number, (title, fields, body, trailers) in numbered
        if only is None or only(f"smuggling/{number}")
    ]
