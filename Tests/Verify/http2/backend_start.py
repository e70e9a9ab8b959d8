"""Cases of the role `backend`: how connections begin, and SETTINGS."""

import time

from backend_case import *
from backend_server import BODY, response
from frames import *

HTTP1 = b"HTTP/1.1 200 OK\r\nContent-Length: 11\r\nContent-Type: application/json\r\n\r\n" + BODY


@case("start", "closes connections at once", TERMINATED, raw=True)
def closes(backend):
    backend.end()


@case("start", "resets connections at once", TERMINATED, raw=True)
def resets(backend):
    backend.abort()


@case("start", "accepts connections and is silent", TIMEOUT, raw=True)
def silent(backend):
    backend.wait_for_end(10)


def begins(title, accepts, *pieces, wait=True):
    """Bytes instead of SETTINGS, once the first octets of the client have arrived."""

    def run(backend):
        if wait:
            backend.read_preface()
        backend.send(*pieces)

    case("start", title, accepts, raw=True)(run)


begins("responds in HTTP/1.1", PROTOCOL, HTTP1)
begins("responds in HTTP/1.1 before it has read anything", PROTOCOL, HTTP1, wait=False)
begins("sends octets of no protocol", PROTOCOL, bytes(range(1, 100)))
begins("sends an alert of TLS", PROTOCOL, b"\x15\x03\x01\x00\x02\x02\x46")
begins("sends a client's preface", PROTOCOL, PREFACE, settings())
begins("sends HEADERS before SETTINGS", PROTOCOL, headers(1, block([(":status", "200")])))
begins("sends PING before SETTINGS", PROTOCOL, ping())
begins("acknowledges before its own SETTINGS", PROTOCOL, settings(flags=ACK))
begins("SETTINGS of 5 octets", PROTOCOL, frame(SETTINGS, 0, 0, bytes(5)))
begins("SETTINGS on a stream", PROTOCOL, settings(stream=1))
begins("ENABLE_PUSH of 1", PROTOCOL, settings((ENABLE_PUSH, 1)))  # RFC 9113, 6.5.2
begins("INITIAL_WINDOW_SIZE of 2^31", PROTOCOL, settings((INITIAL_WINDOW_SIZE, 1 << 31)))
begins("MAX_FRAME_SIZE of 100", PROTOCOL, settings((MAX_FRAME_SIZE, 100)))


@case("start", "sends SETTINGS late", OK, raw=True, times=1)
def late(backend):
    backend.read_preface()
    time.sleep(0.3)
    backend.send(settings())
    backend.serve_requests()


def with_settings(title, accepts, *pairs, **options):
    answers("start", title, accepts, response, begins=pairs, **options)


with_settings("unknown settings", OK, (0xBABA, 1), (0, 7))
with_settings("HEADER_TABLE_SIZE of 0", OK, (HEADER_TABLE_SIZE, 0))
with_settings(
    "the largest MAX_FRAME_SIZE and window", OK, (MAX_FRAME_SIZE, (1 << 24) - 1), (INITIAL_WINDOW_SIZE, LARGEST)
)


@case("start", "INITIAL_WINDOW_SIZE of 0, opened octet by octet", OK, method="POST", begins=((INITIAL_WINDOW_SIZE, 0),))
def narrow(backend, stream):
    for _ in range(50):
        backend.send(window_update(stream, 1))
        if backend.wait(lambda: backend.record(stream).ended, 0.02):
            break
    received = bytes(backend.record(stream).data)
    backend.send(response(stream) if received == backend.case.body else reset(stream))
