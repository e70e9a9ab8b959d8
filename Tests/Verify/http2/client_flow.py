"""Cases of RFC 9113, 5.2 and 6.9: flow control in both directions."""

from case import *
from connection import json_text
from frames import *

LARGE = 300_000  # octets of /large, without the quotation marks
MANUAL = {"credit": False}  # the case returns credit itself
FLOW_CONTROL = connection_error("FLOW_CONTROL_ERROR")


def in_upload(title, accepts, *pieces, observed=True):
    def run(connection):
        connection.upload()
        connection.send(*pieces)
        return 1 if observed else None

    add("6.9", title, accepts, run)


in_upload("an increment of 0 for a stream", MALFORMED | PROTOCOL, window_update(1, 0))
in_upload("an increment of 0 for the connection", PROTOCOL, window_update(0, 0), observed=False)
for length in (3, 5):
    in_upload(
        f"WINDOW_UPDATE of {length} octets", FRAME_SIZE, frame(WINDOW_UPDATE, 0, 0, bytes(length)), observed=False
    )
in_upload("several increments add up", OK, *[window_update(1, 1)] * 5, data(1, b"1"))


def overflows(title, accepts, stream):
    def run(connection):
        connection.upload()
        connection.send(window_update(stream, LARGEST))
        return 1 if stream else None

    add("6.9.1", title, accepts, run)


overflows("a window of the connection above 2^31 - 1", FLOW_CONTROL, 0)
overflows("a window of a stream above 2^31 - 1", stream_error("FLOW_CONTROL_ERROR") | FLOW_CONTROL, 1)


def receive(connection, stream, count, extra=0.2):
    """Waits for octets of a body, and a moment longer for octets too many; how many there are."""
    record = connection.record(stream)
    connection.wait(lambda: len(record.data) >= count)
    connection.wait(lambda: len(record.data) > count, extra)
    return len(record.data)


def finish(connection, stream, expected, received):
    """Opens the windows if the numbers of octets were right; the outcome."""
    if received != expected:
        return f"received {received} octets instead of {expected}"
    connection.credit = True
    connection.send(window_update(0, 1 << 20), window_update(stream, 1 << 20))
    outcome = connection.stream_outcome(stream)
    length = len(connection.record(stream).data)
    return outcome if length >= LARGE else f"{outcome} with {length} octets"


@case("6.9.1", "a response fits a window of one octet", OK, options=MANUAL)
def one_octet(connection):
    connection.change((INITIAL_WINDOW_SIZE, 1))
    stream = connection.request("/large")
    received = [receive(connection, stream, 1)]
    connection.send(window_update(stream, 3))
    received.append(receive(connection, stream, 4))
    return finish(connection, stream, [1, 4], received)


@case("6.9.1", "responses fit the window of the connection", OK, options=MANUAL)
def connection_window(connection):
    connection.change((INITIAL_WINDOW_SIZE, 1 << 20))
    stream = connection.request("/large")
    received = [receive(connection, stream, DEFAULT_WINDOW)]
    connection.send(window_update(0, 100))
    received.append(receive(connection, stream, DEFAULT_WINDOW + 100))
    return finish(connection, stream, [DEFAULT_WINDOW, DEFAULT_WINDOW + 100], received)


@case("6.9.1", "the closed window of one stream does not stop another", OK, options=MANUAL)
def independent(connection):
    connection.change((INITIAL_WINDOW_SIZE, 0))
    first, second = connection.request("/large"), connection.request()
    connection.send(window_update(second, 1000))
    outcome = connection.stream_outcome(second)
    if outcome != "200":
        return f"the open stream gave {outcome}"
    return finish(connection, first, 0, receive(connection, first, 0))


@case("6.9.1", "fields and an empty body need no window", OK, options=MANUAL)
def head_only(connection):
    connection.change((INITIAL_WINDOW_SIZE, 0))
    return connection.request("/ok", "HEAD")


@case("6.9.2", "a larger INITIAL_WINDOW_SIZE applies to open streams", OK, options=MANUAL)
def larger(connection):
    connection.change((INITIAL_WINDOW_SIZE, 0))
    stream = connection.request("/large")
    received = [receive(connection, stream, 0)]
    connection.change((INITIAL_WINDOW_SIZE, 20))
    received.append(receive(connection, stream, 20))
    return finish(connection, stream, [0, 20], received)


@case("6.9.2", "a smaller INITIAL_WINDOW_SIZE makes windows negative", OK, options=MANUAL)
def negative(connection):
    connection.change((INITIAL_WINDOW_SIZE, 100))
    stream = connection.request("/large")
    received = [receive(connection, stream, 100)]
    connection.change((INITIAL_WINDOW_SIZE, 0))
    connection.send(window_update(stream, 100))  # from -100 to 0
    received.append(receive(connection, stream, 100))
    connection.send(window_update(stream, 1))
    received.append(receive(connection, stream, 101))
    return finish(connection, stream, [100, 100, 101], received)


# The RFC has an error of the connection. An error of the stream prevents the overflow as well, and is what nghttp2 has.
@case("6.9.2", "INITIAL_WINDOW_SIZE that makes a window overflow", FLOW_CONTROL | stream_error("FLOW_CONTROL_ERROR"))
def overflow_by_setting(connection):
    stream = connection.upload()
    connection.send(
        window_update(stream, LARGEST - DEFAULT_WINDOW), settings((INITIAL_WINDOW_SIZE, DEFAULT_WINDOW + 1))
    )
    return stream


def send_within_windows(connection, stream, body, size=DEFAULT_FRAME, padding=0):
    """Sends a body in pieces that fit the credit of the server; padding takes credit, too."""
    initial = connection.peer_settings.get(INITIAL_WINDOW_SIZE, DEFAULT_WINDOW)
    record, credits = connection.record(stream), connection.credits
    overhead = padding + 1 if padding else 0
    at = used = 0

    def room():
        return min(initial + credits.get(stream, 0), DEFAULT_WINDOW + credits.get(0, 0)) - used - overhead

    while at < len(body) and connection.wait(lambda: room() > 0 or record.done) and not record.done:
        piece = body[at : at + min(size, room())]
        at, used = at + len(piece), used + len(piece) + overhead
        last = at == len(body)
        connection.send(padded_data(stream, piece, padding, last) if padding else data(stream, piece, last))


@case("5.2", "credit is returned for an upload of 300 KB", OK)
def upload(connection):
    stream = connection.upload()
    send_within_windows(connection, stream, json_text(LARGE))
    return stream


@case("5.2", "credit is returned for padding", OK)
def padded_upload(connection):
    stream = connection.upload()
    send_within_windows(connection, stream, json_text(600), size=1, padding=254)  # takes 150 KB of credit
    return stream


@case(
    "5.2",
    "DATA beyond a window that stays closed, to a backend that does not read",
    FLOW_CONTROL | stream_error("FLOW_CONTROL_ERROR"),
)
def beyond_window(connection):
    stream = connection.upload(path="/relay/stall")
    connection.send_while_open([data(stream, bytes(DEFAULT_FRAME), False)] * 1000, every=1, stream=stream)
    return stream
