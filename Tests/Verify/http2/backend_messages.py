"""Cases of the role `backend`: messages that are malformed, and some that only look so."""

from backend_case import *
from backend_server import BODY, head, response
from frames import *


def with_fields(fields):
    return lambda stream: headers_in_frames(stream, block(fields), False) + data(stream, BODY)


STATUS = (":status", "200")
for title, fields in {
    "no :status": [("content-type", "application/json")],
    ":status abc": [(":status", "abc")],
    ":status 20": [(":status", "20")],
    ":status 2000": [(":status", "2000")],
    ":status twice": [STATUS, STATUS],
    ":status behind a regular field": [("x-probe", "1"), STATUS],
    "a pseudo field of requests": [STATUS, (":path", "/")],
    "an unknown pseudo field": [STATUS, (":probe", "1")],
    "a capital letter in a name": [STATUS, ("X-Probe", "1")],
    "a space in a name": [STATUS, ("x probe", "1")],
    "LF in a value": [STATUS, ("x-probe", "1\nx-other: 2")],
    "a zero octet in a value": [STATUS, ("x-probe", "1\0")],
    "the field connection": [STATUS, ("connection", "close")],
    "the field transfer-encoding": [STATUS, ("transfer-encoding", "chunked")],
    "Content-Length above the body": [STATUS, ("content-length", "12")],
    "Content-Length below the body": [STATUS, ("content-length", "10")],
    "Content-Length twice": [STATUS, ("content-length", "11"), ("content-length", "12")],
    "Content-Length: ten": [STATUS, ("content-length", "ten")],
    "status 101": [(":status", "101")],
}.items():
    answers("messages", title, PROTOCOL, with_fields(fields))

answers(
    "messages", "a field block of 80 KB", HEADER_SIZE,
    with_fields([STATUS, *[(f"x-{number}", "a" * 4000) for number in range(20)]]),
)
answers(
    "messages", "400 fields", HEADER_COUNT,
    with_fields([STATUS, *[(f"x-{number}", "1") for number in range(400)]]),
)
answers(
    "messages",
    "Content-Length of 5 without a body",
    PROTOCOL,
    lambda stream: head(stream, ("content-length", "5"), end_stream=True),
)


def after_interim(count, end_stream=False):
    def make(stream):
        early = headers(stream, block([(":status", "103"), ("link", "</a>")]), end_stream)
        return early * count + response(stream)

    return make


answers("messages", "three interim responses", OK, after_interim(3))
answers("messages", "1000 interim responses", PROTOCOL, after_interim(1000))
answers("messages", "an interim response that ends the stream", PROTOCOL, after_interim(1, True))
trailers = ("x-probe", "1")
ends = {"body": BODY, "end_stream": False}
answers("messages", "trailers", OK, lambda stream: response(stream, **ends) + headers(stream, block([trailers])))
answers(
    "messages",
    "trailers without an end",
    PROTOCOL,
    lambda stream: response(stream, **ends) + headers(stream, block([trailers]), False),
)
answers(
    "messages",
    "a pseudo field in trailers",
    PROTOCOL,
    lambda stream: response(stream, **ends) + headers(stream, block([STATUS])),
)
# The message is malformed by its length, which is 0 for 204 (RFC 9110, 15.3.5).
answers("messages", "204 with a body", PROTOCOL, lambda stream: response(stream, code="204"))
answers("messages", "204 without a body", OK, lambda stream: head(stream, code="204", end_stream=True))
answers(
    "messages",
    "a response to HEAD with its length",
    OK,
    lambda stream: head(stream, ("content-length", "11"), end_stream=True),
    method="HEAD",
)
answers("messages", "a response to HEAD with a body", PROTOCOL, response, method="HEAD")
answers("messages", "status 500", UNEXPECTED, lambda stream: response(stream, code="500"))
answers("messages", "a body that is not JSON", INVALID, lambda stream: response(stream, body=b'{"ok":'))
