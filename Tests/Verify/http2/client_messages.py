"""Cases of RFC 9113, 8.1: bodies and their lengths, trailers, HEAD, interim responses and Expect."""

from case import *
from connection import json_text
from frames import *

BODY = json_text(10)
MEBIBYTE = 1 << 20


def posts(section, title, accepts, fields, *pieces, end_stream=False, **options):
    """The head of a POST on stream 1 with further fields, then frames."""

    def run(connection):
        connection.upload(*fields, end_stream=end_stream)
        connection.send(*pieces)
        return 1

    add(section, title, accepts, run, **options)


def length(value):
    return ("content-length", str(value))


def trailers(*fields, end_stream=True):
    return headers(1, block(fields), end_stream)


# 8.1.1: Content-Length and DATA
posts("8.1.1", "Content-Length equal to the body", OK, [length(10)], data(1, BODY))
posts(
    "8.1.1",
    "Content-Length equal to a body in pieces with padding",
    OK,
    [length(10)],
    padded_data(1, BODY[:4], 9, False),
    data(1, BODY[4:]),
)
posts("8.1.1", "Content-Length above the body", MALFORMED, [length(11)], data(1, BODY))
posts("8.1.1", "Content-Length below the body", MALFORMED, [length(9)], data(1, BODY))
posts("8.1.1", "Content-Length below the body, which ends later", MALFORMED, [length(9)], data(1, BODY, False))
posts("8.1.1", "Content-Length of 10 without a body", MALFORMED, [length(10)], end_stream=True)
posts(
    "8.1.1",
    "Content-Length above a body that trailers end",
    MALFORMED,
    [length(11)],
    data(1, BODY, False),
    trailers(("x-probe", "1")),
)
posts("8.1.1", "two different values of Content-Length", BAD_REQUEST, [length(10), length(11)], data(1, BODY))
for value in ("-1", "+10", "ten", "10, 11", "18446744073709551626"):
    posts("8.1.1", f"Content-Length: {value}", BAD_REQUEST | status(413), [length(value)], data(1, BODY))

# 8.1: trailers
posts("8.1", "trailers", OK, [], data(1, BODY, False), trailers(("x-probe", "1")))
posts(
    "8.1",
    "trailers without the end of the stream",
    MALFORMED,
    [],
    data(1, BODY, False),
    trailers(("x-probe", "1"), end_stream=False),
)
posts("8.1", "a pseudo field in trailers", MALFORMED, [], data(1, BODY, False), trailers((":path", "/large")))
posts(
    "8.1",
    "a field of the connection in trailers",
    MALFORMED,
    [],
    data(1, BODY, False),
    trailers(("transfer-encoding", "chunked")),
)


@case("8.1", "a response to HEAD has no body", OK)
def head(connection):
    stream = connection.request("/ok", "HEAD")
    outcome = connection.stream_outcome(stream)
    return f"{len(connection.record(stream).data)} octets" if connection.record(stream).data else outcome


@case("8.1", "fields of responses are in small letters and without those of a connection", OK)
def response_fields(connection):
    outcome = connection.stream_outcome(connection.request())
    names = [name for name, _ in connection.record(1).fields]
    wrong = [
        name
        for name in names
        if name != name.lower() or name in ("connection", "keep-alive", "transfer-encoding", "upgrade")
    ]
    regular = [name.startswith(":") for name in names]
    return outcome if not wrong and regular == sorted(regular, reverse=True) else f"fields {names}"


@case("8.1", "responses of several streams end in the order of their backends", OK)
def several(connection):
    slow, fast = connection.request("/slow"), connection.request()
    outcome = connection.stream_outcome(fast)
    if connection.record(slow).done:
        return "the slow response first"
    return connection.stream_outcome(slow) if outcome == "200" else outcome


# Expect
@case("8.1", "Expect: 100-continue, and the body behind the interim response", OK)
def expectation(connection):
    stream = connection.upload(("expect", "100-continue"))
    record = connection.record(stream)
    connection.wait(lambda: record.interim or record.done)
    if not record.interim:
        return f"no interim response: {connection.stream_outcome(stream, 1)}"
    connection.send(data(stream, BODY))
    return stream


posts("8.1", "Expect: 100-continue, and the body at once", OK, [("expect", "100-continue")], data(1, BODY))
posts("8.1", "another expectation", status(417), [("expect", "probe")], data(1, BODY))

# Responses before the end of a request: then RST_STREAM with NO_ERROR asks the client to stop.
posts("8.1", "413 for a length that is stated", status(413), [length(64 * MEBIBYTE)], data(1, BODY, False))


@case("8.1", "413 for a body without a stated length", status(413))
def large_upload(connection):
    stream = connection.upload()
    record = connection.record(stream)
    for number in range(96):  # 1.5 MiB
        piece = (b'"' if number == 0 else b"") + b"a" * (DEFAULT_FRAME - 1)
        used = number * DEFAULT_FRAME
        connection.wait(lambda: record.done or record.status or credit(connection, stream) - used > DEFAULT_FRAME, 2)
        if record.done or record.status:
            break
        connection.send(data(stream, piece, False))
    return stream


def credit(connection, stream):
    initial = connection.peer_settings.get(INITIAL_WINDOW_SIZE, DEFAULT_WINDOW)
    return min(initial + connection.credits.get(stream, 0), DEFAULT_WINDOW + connection.credits.get(0, 0))
