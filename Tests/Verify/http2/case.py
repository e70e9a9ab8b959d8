"""Cases, the outcomes that they accept, and their registry.

An outcome is a text:
- `200`                        a complete response with this status
- `RST_STREAM CODE`            a stream error; the connection stays usable
- `GOAWAY CODE`                a connection error, and the connection is closed
- `closed`                     the connection is closed without GOAWAY
- `open`                       nothing but the acknowledgement of a PING
- `silent`                     no acknowledgement either
- `HTTP/1.1 200`               a response in HTTP/1.1
- anything else                what a check of a case found
"""

import collections
import dataclasses
import typing

OPEN = frozenset({"open"})
CLOSED = frozenset({"closed"})


def status(*codes):
    return frozenset(str(code) for code in codes)


def http1(*codes):
    return frozenset(f"HTTP/1.1 {code}" for code in codes)


def stream_error(*names):
    return frozenset(f"RST_STREAM {name}" for name in names)


def connection_error(*names):
    return frozenset(f"GOAWAY {name}" for name in names)


OK = status(200)
MALFORMED = stream_error("PROTOCOL_ERROR")  # RFC 9113, 8.1.1
BAD_REQUEST = MALFORMED | status(400)  # where the gateway may respond as it does over HTTP/1.1
PROTOCOL = connection_error("PROTOCOL_ERROR")
FRAME_SIZE = connection_error("FRAME_SIZE_ERROR")
COMPRESSION = connection_error("COMPRESSION_ERROR")
CALM = connection_error("ENHANCE_YOUR_CALM")
STREAM_CLOSED = stream_error("STREAM_CLOSED") | connection_error("STREAM_CLOSED")


@dataclasses.dataclass
class Case:
    name: str  # SECTION/NUMBER
    title: str
    run: typing.Callable
    accepts: frozenset
    raw: bool = False  # begins without preface and SETTINGS
    cleartext: bool = False  # has no meaning over TLS
    reuse: bool = (
        True  # whether a further request on the connection must work, if its outcome leaves the connection open
    )
    slow: bool = False  # waits for a time limit: runs beside the others
    seconds: float = 4  # how long an outcome may take
    options: dict = dataclasses.field(default_factory=dict)  # of the connection


cases = []
numbers = collections.Counter()


def add(section, title, accepts, run, **options):
    numbers[section] += 1
    cases.append(Case(f"{section}/{numbers[section]}", title, run, accepts, **options))


def case(section, title, accepts, **options):
    """Registers the decorated function. It gets a connection and returns the stream to observe, an outcome, or None."""

    def register(run):
        add(section, title, accepts, run, **options)
        return run

    return register
