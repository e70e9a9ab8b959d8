"""Cases of RFC 9113, 5: states, ids and numbers of streams."""

from case import *
from connection import request
from frames import *

GET = block(request())
SLOW = block(request("/slow"))


def sends(title, accepts, *pieces, section="5.1", stream=None, **options):
    def run(connection):
        connection.next_stream = 3 if stream else 1
        connection.send(*pieces)
        return stream

    add(section, title, accepts, run, **options)


# Idle: anything but HEADERS and PRIORITY is an error of the connection.
sends("DATA on an idle stream", PROTOCOL, data(1, b"1"))
sends("RST_STREAM on an idle stream", PROTOCOL, reset(1))
sends("WINDOW_UPDATE on an idle stream", PROTOCOL, window_update(1, 100))
sends("CONTINUATION on an idle stream", PROTOCOL, continuation(1, GET))

# Half-closed (remote): the client has ended its request, and the response takes half a second.
sends("DATA behind the end of a request", STREAM_CLOSED, headers(1, SLOW), data(1, b"1"), stream=1)
sends("HEADERS behind the end of a request", STREAM_CLOSED, headers(1, SLOW), headers(1, GET), stream=1)
sends("PRIORITY behind the end of a request", OK, headers(1, SLOW), priority(1), stream=1)
sends("WINDOW_UPDATE behind the end of a request", OK, headers(1, SLOW), window_update(1, 100), stream=1)


# Closed: errors are allowed, ignoring a frame is, too (5.1), a second response is not.
CLOSED_STREAM = OPEN | STREAM_CLOSED | PROTOCOL


def behind_response(title, accepts, *pieces):
    def run(connection):
        outcome = connection.stream_outcome(connection.request())
        if outcome != "200":
            return outcome
        before = len(connection.frames)
        connection.send(*pieces)
        connection.is_alive()
        return extra_response(connection, before)

    add("5.1", title, accepts, run)


def extra_response(connection, before):
    answered = any(kind in (HEADERS, DATA) for kind, _, stream, _ in connection.frames[before:] if stream == 1)
    return "a response to a closed stream" if answered else outcome_of_reset(connection, before)


def outcome_of_reset(connection, before):
    resets = any(kind == RST_STREAM for kind, _, stream, _ in connection.frames[before:] if stream == 1)
    return f"RST_STREAM {connection.record(1).reset}" if resets and not connection.failed else None


behind_response("DATA on a stream that both sides have ended", CLOSED_STREAM, data(1, b"1"))
behind_response("HEADERS on a stream that both sides have ended", CLOSED_STREAM, headers(1, GET))
behind_response(
    "PRIORITY, WINDOW_UPDATE and RST_STREAM on a stream that both sides have ended",
    OPEN,
    priority(1),
    window_update(1, 100),
    reset(1),
)


def behind_reset(title, *pieces):
    def run(connection):
        connection.upload()
        connection.send(reset(1), *pieces)
        connection.is_alive()
        return extra_response(connection, 0)

    add("5.1", title, CLOSED_STREAM, run)


behind_reset("DATA on a stream that the client has reset", data(1, b"1"))
behind_reset("HEADERS on a stream that the client has reset", headers(1, GET))

# 5.1.1: ids
sends("an even id", PROTOCOL, headers(2, GET), section="5.1.1")
sends(
    "an id below one that was used",
    PROTOCOL | STREAM_CLOSED,
    headers(5, SLOW),
    headers(3, GET),
    section="5.1.1",
    reuse=False,
)
sends("an id that leaves others out", OK, headers(101, GET), section="5.1.1", stream=101, reuse=False)
sends("the largest id", OK, headers(LARGEST, GET), section="5.1.1", stream=LARGEST, reuse=False)


# 5.1.2: the number of streams
def open_all(connection):
    """Opens as many streams as the server allows; their ids, or what is wrong."""
    most = connection.peer_settings.get(MAX_CONCURRENT_STREAMS)
    if most is None or most > 1000:
        return f"announces {most} streams"
    return [connection.upload() for _ in range(most)]


@case("5.1.2", "a stream above the announced number", stream_error("REFUSED_STREAM"))
def one_too_many(connection):
    streams = open_all(connection)
    if isinstance(streams, str):
        return streams
    outcome = connection.stream_outcome(connection.request())
    connection.send(*[data(stream, b"1") for stream in streams])
    outcomes = {connection.stream_outcome(stream) for stream in streams} if not connection.failed else {"200"}
    return outcome if outcomes == {"200"} else f"{outcome}, and the other streams {outcomes}"


# Such a client has not seen the number yet, so it has broken no rule: its other streams must not suffer.
case(
    "5.1.2",
    "the same before the number is acknowledged",
    stream_error("REFUSED_STREAM"),
    options={"acknowledge": False},
)(one_too_many)


@case("5.1.2", "as many streams as announced, and one more when one has ended", OK)
def exactly(connection):
    streams = open_all(connection)
    if isinstance(streams, str):
        return streams
    connection.send(data(streams[0], b"1"))
    outcome = connection.stream_outcome(streams[0])
    stream = connection.request()
    connection.send(*[data(other, b"1") for other in streams[1:]])
    outcomes = {outcome, *(connection.stream_outcome(other) for other in [*streams[1:], stream])}
    return "200" if outcomes == {"200"} else str(outcomes)


@case("5.1.2", "the field block of a refused stream still changes the table", OK, options={"acknowledge": False})
def refused_block(connection):
    streams = open_all(connection)
    if isinstance(streams, str):
        return streams
    connection.send(headers(connection.new_stream(), GET + literal("x-probe", "refused", 0x40)))
    connection.send(*[data(stream, b"1") for stream in streams])
    for stream in streams:
        connection.stream_outcome(stream)
    stream = connection.new_stream()
    connection.send(headers(stream, GET + indexed(62)))
    return stream
