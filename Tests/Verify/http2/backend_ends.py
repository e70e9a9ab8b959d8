"""Cases of the role `backend`: responses, connections and streams that end early or not at all."""

import time

from backend_case import *
from backend_server import BODY, head, response
from connection import json_text
from frames import *


def closes(title, accepts, make=lambda stream: b"", **options):
    """Sends frames, then closes the connection."""

    def run(backend, stream):
        backend.whole_request(stream)
        backend.send(make(stream))
        backend.end()

    case("ends", title, accepts, **options)(run)


# GOAWAY and streams that were not processed: sent again at once, any method, three times at most.
answers("ends", "REFUSED_STREAM once", OK, lambda stream: reset(stream, "REFUSED_STREAM"), times=1, attempts=TWICE)
refused_post = {"times": 1, "attempts": TWICE, "method": "POST"}
answers("ends", "REFUSED_STREAM once for a POST", OK, lambda stream: reset(stream, "REFUSED_STREAM"), **refused_post)
answers(
    "ends",
    "REFUSED_STREAM always",
    TERMINATED,
    lambda stream: reset(stream, "REFUSED_STREAM"),
    attempts=frozenset({2, 3, 4}),
)
closes("GOAWAY below the stream, once", OK, lambda stream: goaway(max(stream - 2, 0)), times=1, attempts=TWICE)
closes("GOAWAY below the stream, once, for a POST", OK, lambda stream: goaway(max(stream - 2, 0)), **refused_post)
closes(
    "GOAWAY below the stream, always",
    TERMINATED,
    lambda stream: goaway(max(stream - 2, 0)),
    attempts=frozenset({2, 3, 4}),
)
closes(
    "GOAWAY that includes the stream, then the response",
    OK,
    lambda stream: goaway(stream) + response(stream),
    attempts=ONCE,
)
answers(
    "ends",
    "GOAWAY with the largest id, then the response",
    OK,
    lambda stream: goaway(LARGEST) + response(stream),
    attempts=ONCE,
)
closes(
    "GOAWAY that includes the stream, then the end",
    TERMINATED,
    lambda stream: goaway(stream, "INTERNAL_ERROR"),
    method="POST",
    attempts=ONCE,
)
closes(
    "GOAWAY with ENHANCE_YOUR_CALM",
    TERMINATED,
    lambda stream: goaway(stream, "ENHANCE_YOUR_CALM"),
    method="POST",
    pause=1.2,
)

# Connections that end
closes("a reused connection ends without a response, once", OK, warm=True, times=1, attempts=TWICE)
closes("reused connections end without a response, always", TERMINATED, warm=True, attempts=TWICE)
closes("the connection ends without a response to a POST", TERMINATED, warm=True, method="POST", attempts=ONCE)
# Octets of a response have arrived, but no frame of it: both kinds are right.
closes("the connection ends within HEADERS", TERMINATED | INCOMPLETE, lambda stream: head(stream)[:12], method="POST")
closes("the connection ends behind the head", INCOMPLETE, head)
closes(
    "the connection ends within the body", INCOMPLETE, lambda stream: response(stream, body=BODY[:5], end_stream=False)
)
closes("the connection ends within a frame of the body", INCOMPLETE, lambda stream: response(stream)[:-3])


@case("ends", "a reset of TCP within the body", INCOMPLETE | TERMINATED)
def aborts(backend, stream):
    backend.send(response(stream, end_stream=False))
    backend.is_alive(0.3)  # so that it has arrived
    backend.abort()


# Streams that end
for code in ("CANCEL", "INTERNAL_ERROR", "ENHANCE_YOUR_CALM"):
    answers(
        "ends",
        f"RST_STREAM {code} before the response",
        TERMINATED,
        lambda stream, code=code: reset(stream, code),
        method="POST",
        attempts=ONCE,
        pause=1.2 if code == "ENHANCE_YOUR_CALM" else 0,
    )
answers("ends", "HTTP_1_1_REQUIRED", PROTOCOL, lambda stream: reset(stream, "HTTP_1_1_REQUIRED"))
answers("ends", "RST_STREAM behind the head", INCOMPLETE, lambda stream: head(stream) + reset(stream))
answers(
    "ends", "RST_STREAM within the body", INCOMPLETE, lambda stream: response(stream, end_stream=False) + reset(stream)
)
answers(
    "ends", "RST_STREAM NO_ERROR behind the response", OK, lambda stream: response(stream) + reset(stream, "NO_ERROR")
)


@case(
    "ends",
    "a response before the end of the request, then RST_STREAM NO_ERROR",
    OK,
    method="POST",
    body=json_text(500_000),
)
def early(backend, stream):
    backend.send(response(stream) + reset(stream, "NO_ERROR"))


# Responses that do not end
answers("ends", "no response", TIMEOUT, lambda stream: b"")
answers("ends", "a head without a body", TIMEOUT, head)
answers("ends", "a body without an end", TIMEOUT, lambda stream: response(stream, end_stream=False))
answers(
    "ends", "HEADERS without an end", TIMEOUT, lambda stream: headers(stream, block([(":status", "200")]), False, False)
)


@case("ends", "a host that no longer reads or sends, on a reused connection", TIMEOUT, warm=True, times=1)
def frozen(backend, stream):
    time.sleep(8)  # the gateway has to find out by PING


# Sizes
answers(
    "ends", "Content-Length above max_body", TOO_LARGE, lambda stream: head(stream, ("content-length", str(1 << 30)))
)


@case("ends", "a body above max_body", TOO_LARGE)
def large(backend, stream):
    backend.send(head(stream))
    initial = backend.peer_settings.get(INITIAL_WINDOW_SIZE, DEFAULT_WINDOW)
    used = 0

    def room():
        return min(initial + backend.credits.get(stream, 0), DEFAULT_WINDOW + backend.credits.get(0, 0)) - used

    while used < 2 << 20 and not backend.record(stream).reset:
        if room() >= DEFAULT_FRAME:
            backend.send(data(stream, b" " * DEFAULT_FRAME, False))
            used += DEFAULT_FRAME
        elif not backend.wait(lambda: room() >= DEFAULT_FRAME or backend.record(stream).reset, 1):
            break


# After the response
answers(
    "ends",
    "a second response on the stream",
    OK,
    lambda stream: response(stream) + response(stream, body=b'{"second":true}'),
)
answers("ends", "DATA behind the end of the response", OK, lambda stream: response(stream) + data(stream, b"more"))
