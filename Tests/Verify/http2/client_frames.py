"""Cases of RFC 9113, 4 and 6: the format of frames, their sizes and flags, and field blocks."""

from case import *
from client_start import end_of_side
from connection import json_text, request
from frames import *

GET = block(request())
TOO_LARGE = DEFAULT_FRAME + 1


def sends(section, title, accepts, *pieces, stream=None, **options):
    """Bytes on a connection that was started. The first request that they contain is stream 1."""

    def run(connection):
        connection.next_stream = 3 if stream else 1
        connection.send(*pieces)
        return stream

    add(section, title, accepts, run, **options)


def in_upload(section, title, accepts, pieces, observed=True, **options):
    """Bytes behind the head of a POST on stream 1."""

    def run(connection):
        stream = connection.upload()
        connection.send(*pieces)
        return stream if observed else None

    add(section, title, accepts, run, **options)


# 4.1: unknown types and flags, reserved bits
sends("4.1", "an unknown type on the connection", OPEN, frame(UNKNOWN, 0xFF, 0, b"octets"))
sends("4.1", "an unknown type on an idle stream", OPEN, frame(UNKNOWN, 0, 99, b"octets"))
in_upload("4.1", "an unknown type on an open stream", OK, [frame(UNKNOWN, 0xFF, 1, b"octets"), data(1, b"1")])
sends("4.1", "undefined flags of HEADERS", OK, headers(1, GET, flags=0xD2), stream=1)
in_upload("4.1", "undefined flags of DATA", OK, [data(1, b"1", flags=0xF6)])
sends("4.1", "undefined flags of PING", OPEN, ping(flags=0xFE))
sends("4.1", "undefined flags of SETTINGS", OPEN, settings((MAX_FRAME_SIZE, 20000), flags=0xFE))
sends(
    "4.1", "the reserved bit of a stream id", OK, frame(HEADERS, END_STREAM | END_HEADERS, 1 | 1 << 31, GET), stream=1
)
sends("4.1", "the reserved bit of an increment", OPEN, window_update(0, 1 << 31 | 100))


@case("4.1", "a request in segments of one octet", OK)
def single_octets(connection):
    connection.send_singly(headers(connection.new_stream(), GET))
    return 1


@case("4.1", "the client ends its side within a frame", CLOSED | PROTOCOL | connection_error("NO_ERROR"))
def half_frame(connection):
    connection.send(headers(1, GET)[:20])
    return end_of_side(connection)


# 4.2: sizes
in_upload("4.2", "DATA of the largest size", OK, [data(1, json_text(DEFAULT_FRAME))])
in_upload(
    "4.2", "DATA above the largest size", FRAME_SIZE | stream_error("FRAME_SIZE_ERROR"), [data(1, json_text(TOO_LARGE))]
)
sends("4.2", "HEADERS above the largest size", FRAME_SIZE, headers(1, GET + literal("x-long", "a" * TOO_LARGE)))
sends("4.2", "SETTINGS above the largest size", FRAME_SIZE, settings(*[(0xAAAA, 1)] * 2731))
sends("4.2", "an unknown type above the largest size", FRAME_SIZE, frame(UNKNOWN, 0, 0, bytes(TOO_LARGE)))
sends("4.2", "a head that states 16 MiB, without the payload", FRAME_SIZE, frame(HEADERS, 5, 1, length=(1 << 24) - 1))

# 6.1: DATA
sends("6.1", "DATA on stream 0", PROTOCOL, data(0, b"1"))
in_upload("6.1", "DATA with padding", OK, [padded_data(1, json_text(100), 100)])
in_upload("6.1", "DATA with padding only, 255 octets", OK, [padded_data(1, b"", 255, False), data(1, b"1")])
in_upload("6.1", "padding as long as the payload", PROTOCOL, [data(1, b"\x05" + bytes(4), flags=PADDED)], False)
# Without a payload, the padding is also as long as the payload, for which 6.1 has PROTOCOL_ERROR.
in_upload("6.1", "DATA that is padded and empty", FRAME_SIZE | PROTOCOL, [data(1, b"", flags=PADDED)], False)
in_upload("6.1", "empty DATA that ends the body", OK, [data(1, b"1", False), data(1)])

# 6.2: HEADERS
sends("6.2", "HEADERS with padding", OK, headers(1, b"\xc8" + GET + bytes(200), flags=PADDED), stream=1)
sends("6.2", "padding longer than HEADERS", PROTOCOL, headers(1, bytes([len(GET) + 1]) + GET, flags=PADDED))
sends("6.2", "HEADERS with a priority", OK, headers(1, bytes(4) + b"\x10" + GET, flags=PRIORITY_FLAG), stream=1)
# FRAME_SIZE_ERROR by 4.2; the fields are missing as well.
sends("6.2", "HEADERS too short for their priority", FRAME_SIZE | PROTOCOL, headers(1, bytes(4), flags=PRIORITY_FLAG))
sends("6.2", "HEADERS on stream 0", PROTOCOL, headers(0, GET))
sends("6.2", "HEADERS with an empty field block", BAD_REQUEST, headers(1, b""), stream=1)

# 6.3: PRIORITY
sends("6.3", "PRIORITY on stream 0", PROTOCOL, priority(0))
sends("6.3", "PRIORITY on an idle stream, then its request", OK, priority(1), headers(1, GET), stream=1)
for length in (4, 6):
    accepts = FRAME_SIZE | stream_error("FRAME_SIZE_ERROR")
    in_upload("6.3", f"PRIORITY of {length} octets", accepts, [frame(PRIORITY, 0, 1, bytes(length)), data(1, b"1")])
# RFC 9113 deprecates priorities and has no rule left for a stream that depends on itself; RFC 7540 had an error.
sends("6.3", "a stream that depends on itself", OK | MALFORMED | PROTOCOL, priority(1, 1), headers(1, GET), stream=1)
sends("6.3", "PRIORITY_UPDATE of RFC 9218", OPEN, frame(PRIORITY_UPDATE, 0, 0, (1).to_bytes(4, "big") + b"u=1"))

# 6.4: RST_STREAM
sends("6.4", "RST_STREAM on stream 0", PROTOCOL, reset(0))
for length in (3, 5):
    in_upload("6.4", f"RST_STREAM of {length} octets", FRAME_SIZE, [frame(RST_STREAM, 0, 1, bytes(length))], False)
in_upload("6.4", "RST_STREAM with an unknown code", OPEN, [reset(1, 0xBADC0DE)], False)


@case("6.4", "no response behind RST_STREAM", OPEN)
def reset_request(connection):
    stream = connection.request("/slow")
    connection.send(reset(stream))
    if not connection.is_alive():
        return None
    connection.wait(lambda: connection.record(stream).done, 1)
    return "a response to a request that was reset" if connection.record(stream).status else None


# 6.6: PUSH_PROMISE
in_upload(
    "6.6", "PUSH_PROMISE of a client", PROTOCOL, [frame(PUSH_PROMISE, END_HEADERS, 1, bytes([0, 0, 0, 2]) + GET)], False
)

# 6.7: PING
sends("6.7", "an acknowledgement of a PING that was not sent", OPEN, ping(flags=ACK))
sends("6.7", "PING on a stream", PROTOCOL, ping(stream=1))
for length in (7, 9):
    sends("6.7", f"PING of {length} octets", FRAME_SIZE, ping(bytes(length)))


@case("6.7", "acknowledgements have the payloads of the PINGs", OPEN)
def pings(connection):
    payloads = [bytes([number]) * 8 for number in range(1, 6)]
    connection.send(*map(ping, payloads))
    connection.wait(lambda: len(connection.pongs) == 5)
    return None if connection.pongs == payloads else f"acknowledged {connection.pongs}"


# 6.8: GOAWAY
sends("6.8", "GOAWAY on a stream", PROTOCOL, goaway(stream=1))
sends("6.8", "GOAWAY of 7 octets", FRAME_SIZE, frame(GOAWAY, 0, 0, bytes(7)))
sends(
    "6.8",
    "a request is answered in spite of GOAWAY",
    OK,
    headers(1, block(request("/slow"))),
    goaway(),
    stream=1,
    reuse=False,
)
sends(
    "6.8",
    "GOAWAY with an unknown code and text",
    OPEN | CLOSED | connection_error("NO_ERROR"),
    goaway(0, 0xBADC0DE, b"text" * 20),
    reuse=False,
)

# 6.10: CONTINUATION
HALF, REST = GET[:20], GET[20:]
OPENED = headers(1, HALF, end_headers=False)
sends("6.10", "a block in HEADERS and CONTINUATION", OK, OPENED, continuation(1, REST), stream=1)
sends(
    "6.10",
    "a block that begins in CONTINUATION",
    OK,
    headers(1, b"", end_headers=False),
    continuation(1, GET),
    stream=1,
)
sends(
    "6.10",
    "a block in seven frames, some of them empty",
    OK,
    OPENED,
    *[continuation(1, b"", False)] * 3,
    *[continuation(1, REST[at : at + 5], False) for at in (0, 5)],
    continuation(1, REST[10:]),
    stream=1,
)
for title, intruder in {
    "PING": ping(),
    "DATA": data(1, b"1"),
    "HEADERS of another stream": headers(3, GET),
    "CONTINUATION of another stream": continuation(3, REST),
    "an unknown type": frame(UNKNOWN, 0, 1, b"octets"),
    "WINDOW_UPDATE": window_update(0, 1),
    "RST_STREAM of its stream": reset(1),
}.items():
    sends("6.10", f"{title} within a field block", PROTOCOL, OPENED, intruder, continuation(1, REST))
sends("6.10", "CONTINUATION on stream 0", PROTOCOL, continuation(0, GET))
sends("6.10", "CONTINUATION behind the end of a block", PROTOCOL, headers(1, GET, False), continuation(1, REST))
in_upload("6.10", "CONTINUATION behind DATA", PROTOCOL, [data(1, b"1", False), continuation(1, REST)], False)
