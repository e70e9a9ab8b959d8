"""Cases of RFC 9113, 6.5: SETTINGS."""

from case import *
from connection import json_text, request
from frames import *

GET = block(request())


def sends(title, accepts, *pieces, stream=None, section="6.5", **options):
    def run(connection):
        connection.next_stream = 3 if stream else 1
        connection.send(*pieces)
        return stream

    add(section, title, accepts, run, **options)


def changes(title, accepts, *pairs, section="6.5.2"):
    """The settings are acknowledged, and a request is served with them."""

    def run(connection):
        if not connection.change(*pairs):
            return connection.outcome()
        return connection.request()

    add(section, title, accepts, run)


sends("SETTINGS on a stream", PROTOCOL, settings(stream=1))
sends("an acknowledgement with a payload", FRAME_SIZE, settings((MAX_FRAME_SIZE, 20000), flags=ACK))
sends("SETTINGS of 5 octets", FRAME_SIZE, frame(SETTINGS, 0, 0, bytes(5)))
# The RFC has no rule for it.
sends("an acknowledgement too many", OPEN | PROTOCOL, settings(flags=ACK), section="6.5.3")

sends("ENABLE_PUSH of 2", PROTOCOL, settings((ENABLE_PUSH, 2)), section="6.5.2")
window_too_large = connection_error("FLOW_CONTROL_ERROR")
sends("INITIAL_WINDOW_SIZE of 2^31", window_too_large, settings((INITIAL_WINDOW_SIZE, 1 << 31)), section="6.5.2")
sends("MAX_FRAME_SIZE of 16383", PROTOCOL, settings((MAX_FRAME_SIZE, 16383)), section="6.5.2")
sends("MAX_FRAME_SIZE of 2^24", PROTOCOL, settings((MAX_FRAME_SIZE, 1 << 24)), section="6.5.2")
changes("unknown settings", OK, (0xBABA, 1), (0, 2), (0xFFFF, LARGEST))
changes("no settings", OK)
changes("MAX_CONCURRENT_STREAMS of 0 does not limit requests", OK, (MAX_CONCURRENT_STREAMS, 0))
changes("MAX_HEADER_LIST_SIZE of 1 is only advice", OK | stream_error(*ERRORS), (MAX_HEADER_LIST_SIZE, 1))
changes("HEADER_TABLE_SIZE of 2^32 - 1", OK, (HEADER_TABLE_SIZE, (1 << 32) - 1))


@case("6.5.2", "the server's own settings are valid", OPEN)
def server_values(connection):
    values = connection.peer_settings
    wrong = [
        values.get(ENABLE_PUSH, 0) != 0,
        values.get(INITIAL_WINDOW_SIZE, DEFAULT_WINDOW) > LARGEST,
        not DEFAULT_FRAME <= values.get(MAX_FRAME_SIZE, DEFAULT_FRAME) < 1 << 24,
        values.get(ENABLE_CONNECT_PROTOCOL, 0) > 1,
        MAX_CONCURRENT_STREAMS not in values,
    ]
    return f"settings {values}" if any(wrong) else None


@case("6.5.2", "HEADER_TABLE_SIZE of 0: responses do without the table", OK)
def no_table(connection):
    connection.change((HEADER_TABLE_SIZE, 0))
    connection.decoder.max_allowed_table_size = (
        0  # an error of the decoder, if the block does not begin with the change
    )
    for _ in range(3):
        outcome = connection.stream_outcome(connection.request())
    return outcome if connection.decoder.header_table_size == 0 else "the table was not reduced"


@case("6.5.2", "frames of responses stay within the default MAX_FRAME_SIZE", OK)
def frame_sizes(connection):
    connection.change((INITIAL_WINDOW_SIZE, 1 << 20))
    connection.send(window_update(0, 1 << 20))
    outcome = connection.stream_outcome(connection.request("/large"))
    largest = max(length for _, _, _, length in connection.frames)
    return outcome if largest <= DEFAULT_FRAME else f"a frame of {largest} octets"


@case("6.5.3", "of a setting that occurs twice, the last value counts", OK, options={"credit": False})
def twice(connection):
    connection.change((INITIAL_WINDOW_SIZE, 1000), (INITIAL_WINDOW_SIZE, 10))
    stream = connection.request("/large")
    connection.wait(lambda: len(connection.record(stream).data) > 10, 0.5)
    connection.is_alive()
    received = len(connection.record(stream).data)
    connection.send(reset(stream))
    connection.change((INITIAL_WINDOW_SIZE, DEFAULT_WINDOW))
    return connection.stream_outcome(connection.request()) if received == 10 else f"{received} octets"


@case("6.5.3", "each SETTINGS is acknowledged", OPEN)
def acknowledgements(connection):
    before = connection.acknowledged
    connection.send(*[settings((INITIAL_WINDOW_SIZE, 1000 + number)) for number in range(5)])
    connection.wait(lambda: connection.acknowledged == before + 5)
    return None if connection.acknowledged == before + 5 else f"{connection.acknowledged - before} of 5 acknowledged"


@case("6.5.3", "a client that acknowledges no SETTINGS is served", OK, options={"acknowledge": False})
def no_acknowledgement(connection):
    stream = connection.upload()
    connection.send(data(stream, json_text(1000)))
    return stream
