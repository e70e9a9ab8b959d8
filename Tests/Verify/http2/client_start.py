"""Cases of RFC 9113, 3: how a connection begins, and HTTP/1.1 on the same port."""

import socket

from case import *
from connection import exchange_http1, request
from frames import *

GET = headers(1, block(request()))
SETTINGS_ACK = settings(flags=ACK)
NO_SETTINGS = PROTOCOL | CLOSED  # an endpoint may leave GOAWAY out (3.4)


def begins(title, accepts, *pieces, stream=None, **options):
    """The client's first bytes."""

    def run(connection):
        connection.next_stream = 3
        connection.send(*pieces)
        return stream

    add("3.4", title, accepts, run, raw=True, **options)


begins("preface, SETTINGS and a request in one segment", OK, PREFACE, settings(), GET, stream=1)
begins("a wrong last octet of the preface", PROTOCOL | CLOSED | http1(400, 505), PREFACE[:-1] + b"X", settings(), GET)
begins("a wrong method in the preface", PROTOCOL | CLOSED | http1(400, 405, 505), b"PRX" + PREFACE[3:], settings(), GET)
begins("HEADERS instead of SETTINGS behind the preface", NO_SETTINGS, PREFACE, GET)
begins("PING instead of SETTINGS behind the preface", NO_SETTINGS, PREFACE, ping())
begins("an acknowledgement instead of SETTINGS behind the preface", NO_SETTINGS, PREFACE, SETTINGS_ACK)
begins("the preface twice", NO_SETTINGS | FRAME_SIZE, PREFACE, PREFACE, settings())
begins("SETTINGS without a preface", PROTOCOL | CLOSED | http1(400, 505), settings(), GET)


@case("3.4", "the preface and a request in segments of one octet", OK, raw=True)
def single_octets(connection):
    connection.next_stream = 3
    connection.send_singly(PREFACE + settings() + GET)
    return 1


@case("3.4", "the server's first frame is SETTINGS", OPEN)
def server_settings(connection):
    kind, flags, stream, _ = connection.frames[0]
    return None if (kind, flags & ACK, stream) == (SETTINGS, 0, 0) else f"first frame {connection.frames[0]}"


@case("3.4", "the preface again behind a request", PROTOCOL | FRAME_SIZE)
def second_preface(connection):
    connection.stream_outcome(connection.request())
    connection.send(PREFACE, settings())


@case("3.4", "the client ends its side within the preface", CLOSED | PROTOCOL | http1(400, 408), raw=True)
def half_preface(connection):
    connection.send(PREFACE[:12])
    return end_of_side(connection)


def end_of_side(connection):
    """Shuts the sending side down; what the server does is the outcome."""
    try:
        connection.socket.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    connection.wait_for_end()
    return connection.failure() if connection.ended else "silent"


def status_line(received):
    return received[:12].decode("latin-1") if received.startswith(b"HTTP/1.") else "closed"


def responds_http1(section, title, accepts, octets):
    def run(connection):
        received = exchange_http1(connection.target, octets)
        return "switched" if b"101 Switching" in received else status_line(received)

    add(section, title, accepts, run, raw=True, reuse=False, cleartext=True)


HEAD = b"GET /ok HTTP/1.1\r\nHost: gateway.test\r\n"
UPGRADE = b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n"
# Needs HTTP/1.1 on the port; where a port is for HTTP/2 only, the connection is closed. Over TLS the connection has agreed
# on HTTP/2 (ALPN): text in HTTP/1.1 would be a wrong preface, which 3.4 tests.
responds_http1("3.1", "a request in HTTP/1.1", http1(200), HEAD + b"Connection: close\r\n\r\n")
responds_http1("3.1", "Upgrade: h2c is not answered with 101", http1(200), HEAD + UPGRADE + b"\r\n")
responds_http1(
    "3.1",
    "Upgrade: h2c behind other tokens",
    http1(200),
    HEAD + UPGRADE.replace(b"Upgrade: h2c", b"Upgrade: x, h2c") + b"\r\n",
)
responds_http1(
    "3.1",
    "Upgrade: h2c with a body",
    http1(200),
    b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
    + UPGRADE
    + b'\r\n""',
)


@case("3.1", "the preface behind a request in HTTP/1.1", http1(200), raw=True, reuse=False, cleartext=True)
def preface_after_http1(connection):
    received = exchange_http1(connection.target, HEAD + b"\r\n" + PREFACE + settings() + GET)
    # A frame of SETTINGS would follow the response.
    if b"\x00\x04\x00\x00\x00\x00\x00" in received:
        return "changed to HTTP/2"
    return status_line(received)
