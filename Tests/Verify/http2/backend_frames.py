"""Cases of the role `backend`: frames and field blocks."""

from backend_case import *
from backend_server import BODY, head, response
from connection import json_text
from frames import *

for title, make in {
    "DATA before HEADERS": lambda stream: data(stream, BODY),
    "DATA on stream 0": lambda stream: head(stream) + data(0, BODY),
    "HEADERS on stream 0": lambda stream: head(0),
    "a frame of 1 MiB": lambda stream: head(stream) + data(stream, json_text(1 << 20)),
    "padding as long as the payload": lambda stream: head(stream) + data(stream, b"\x05abcd", flags=PADDED),
    "CONTINUATION without HEADERS": lambda stream: continuation(stream, b""),
    "PING within a field block": lambda stream: headers(stream, block([(":status", "200")]), False, False) + ping(),
    "an index behind both tables": lambda stream: headers(stream, block([(":status", "200")]) + indexed(100)),
    "a table above the client's": lambda stream: headers(stream, table_size(1 << 20) + block([(":status", "200")])),
    "Huffman code with the end of string": lambda stream: headers(
        stream, b"\x88\x00" + string("a") + b"\x84\xff\xff\xff\xff"
    ),
    "PUSH_PROMISE": lambda stream: frame(
        PUSH_PROMISE, END_HEADERS, stream, bytes([0, 0, 0, 2]) + block([(":method", "GET")])
    ),
    "PING of 7 octets": lambda stream: frame(PING, 0, 0, bytes(7)),
    "GOAWAY of 7 octets": lambda stream: frame(GOAWAY, 0, 0, bytes(7)),
    "RST_STREAM of 3 octets": lambda stream: frame(RST_STREAM, 0, stream, bytes(3)),
    "an increment of 0 for the connection": lambda stream: window_update(0, 0),
    "a window of the connection above 2^31 - 1": lambda stream: window_update(0, LARGEST),
    "a window of the stream above 2^31 - 1": lambda stream: window_update(stream, LARGEST),
    "DATA on an idle stream": lambda stream: data(stream + 100, BODY),
    "HEADERS on a stream of its own": lambda stream: head(2),
    "20 CONTINUATION frames": lambda stream: headers(stream, block([(":status", "200")]), False, False)
    + continuation(stream, b"", False) * 19
    + continuation(stream)
    + data(stream, BODY),
}.items():
    answers("frames", title, PROTOCOL, make)
answers(
    "frames",
    "unknown types and flags",
    OK,
    lambda stream: frame(UNKNOWN, 0xFF, stream, b"octets") + ping(flags=0xFE) + response(stream) + frame(UNKNOWN, 0, 0),
)
answers("frames", "a field block in four frames", OK, lambda stream: in_four(stream) + data(stream, BODY))
answers("frames", "DATA with padding", OK, lambda stream: head(stream) + padded_data(stream, BODY, 200))
answers(
    "frames",
    "a body octet by octet, and empty frames",
    OK,
    lambda stream: head(stream)
    + b"".join(data(stream, bytes([octet]), False) + data(stream, b"", False) for octet in BODY)
    + data(stream),
)


def in_four(stream):
    octets = block([(":status", "200"), ("content-type", "application/json")])
    between = [continuation(stream, octets[at : at + 10], False) for at in (10, 20)]
    return headers(stream, octets[:10], False, False) + b"".join(between) + continuation(stream, octets[30:])


@case("frames", "PINGs are acknowledged before the response", OK)
def pings(backend, stream):
    backend.send(*[ping(bytes([number]) * 8) for number in range(5)])
    acknowledged = backend.wait(lambda: len(backend.pongs) == 5, 1)
    backend.send(response(stream) if acknowledged else reset(stream))
