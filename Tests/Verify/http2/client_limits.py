"""Cases of the gateway's own limits: field blocks, targets, times, and the abuse budget.

A peer that serves more is not wrong by the RFC, so differences are expected here.
"""

from case import *
from client_frames import OPENED, REST
from connection import request
from frames import *

GET = block(request())


def with_block(title, accepts, *pieces, **options):
    def run(connection):
        connection.next_stream = 3
        connection.send(*pieces)
        return 1

    add("limits", title, accepts, run, **options)


def many(count, size):
    return [(f"x-{number}", "a" * size) for number in range(count)]


with_block("80 fields of 200 octets", OK, headers_in_frames(1, GET + block(many(80, 200))))
with_block(
    "a block above header_bytes: 40 fields of 1000 octets",
    status(431),
    headers_in_frames(1, GET + block(many(40, 1000))),
)
with_block("more fields than header_count: 120", status(431), headers_in_frames(1, GET + block(many(120, 1))))
with_block(
    "a block that is small until it is decoded",
    status(431) | CALM,
    headers(1, GET + literal("x-bomb", "a" * 4000, 0x40) + indexed(62) * 5000),
)
with_block("a target of 9 KiB", status(414), headers(1, block(request("/ok?" + "a" * 9216))))
with_block("eight CONTINUATION frames", OK, OPENED, *[continuation(1, b"", False)] * 7, continuation(1, REST))
too_many = status(431) | CALM | PROTOCOL | connection_error("INTERNAL_ERROR") | CLOSED
with_block("nine CONTINUATION frames", too_many, OPENED, *[continuation(1, b"", False)] * 8, continuation(1, REST))
with_block("2000 CONTINUATION frames without an end", too_many, OPENED, *[continuation(1, b"", False)] * 2000)


def waits(title, accepts, *pieces, stream=None, seconds=10, raw=False, **options):
    """What the gateway does after one of its time limits; the configuration has limits of three seconds."""

    def run(connection):
        connection.next_stream = 3 if stream else 1
        connection.send(*pieces)
        if stream:
            return connection.stream_outcome(stream, seconds)
        connection.wait_for_end(seconds)
        return connection.failure() if connection.ended else "not closed"

    add("limits", title, accepts, run, slow=True, raw=raw, **options)


NO_ERROR = connection_error("NO_ERROR")
waits("a connection without a byte is closed", CLOSED | NO_ERROR, raw=True)
waits(
    "a connection with half of a preface is closed", CLOSED | NO_ERROR | PROTOCOL | http1(408), PREFACE[:10], raw=True
)
waits("an idle connection gets GOAWAY and is closed", NO_ERROR)
waits("a field block without an end closes the connection", CLOSED | NO_ERROR | CALM | PROTOCOL, OPENED)
upload = block(request("/upload", "POST", ("content-type", "application/json")))
waits(
    "a body without an end: 408 or a reset",
    status(408) | stream_error("CANCEL", "NO_ERROR", "INTERNAL_ERROR"),
    headers(1, upload, False),
    stream=1,
)


@case(
    "limits",
    "a response that a window blocks for 30 s is reset",
    stream_error("CANCEL"),
    slow=True,
    options={"credit": False},
)
def blocked(connection):
    connection.change((INITIAL_WINDOW_SIZE, 0))
    stream = connection.request("/large")
    record = connection.record(stream)
    connection.wait(lambda: record.done, 45)
    return f"RST_STREAM {record.reset}" if record.reset else connection.stream_outcome(stream, 0.1)


def abuses(title, accepts, count, make, prepare=lambda connection: None):
    """Sends `count` times what the abuse budget of 1,000 points counts."""

    def run(connection):
        prepare(connection)
        connection.send_while_open(make(connection, number) for number in range(count))

    add("limits", title, accepts, run, seconds=6)


def opens_and_resets(connection, number):
    stream = connection.new_stream()
    return headers(stream, block(request("/slow"))) + reset(stream)


def makes_reset(connection, number):
    stream = connection.new_stream()
    return headers(stream, upload, False) + window_update(stream, 0)


def malformed(connection, number):
    return headers(connection.new_stream(), GET + literal("X-Capital", "1"))


abuses("100 resets are within the abuse budget", OPEN, 100, opens_and_resets)
abuses("400 resets exceed the abuse budget", CALM, 400, opens_and_resets)
# An increment of 0 may also be an error of the connection at once (6.9).
abuses("400 streams that the server has to reset exceed it", CALM | PROTOCOL, 400, makes_reset)
abuses("400 malformed requests exceed it", CALM, 400, malformed)
abuses("3000 PINGs exceed it", CALM, 3000, lambda connection, number: ping())
abuses("3000 SETTINGS exceed it", CALM, 3000, lambda connection, number: settings())
abuses("3000 PRIORITY frames exceed it", CALM, 3000, lambda connection, number: priority(1001))
abuses(
    "3000 empty DATA frames exceed it",
    CALM,
    3000,
    lambda connection, number: data(1, b"", False),
    lambda connection: connection.upload(),
)
abuses(
    "3000 increments of 1 exceed it",
    CALM,
    3000,
    lambda connection, number: window_update(1, 1),
    lambda connection: connection.upload(),
)


@case("limits", "1500 requests that are answered stay within it", OK)
def many_requests(connection):
    for _ in range(30):
        streams = [connection.request() for _ in range(50)]
        outcomes = {connection.stream_outcome(stream) for stream in streams}
        if outcomes != {"200"}:
            return str(outcomes)
    return "200"
