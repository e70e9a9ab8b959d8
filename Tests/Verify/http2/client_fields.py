"""Cases of RFC 9113, 8.2 and 8.3: fields, pseudo fields, and the parts of a request's target."""

from case import *
from connection import AUTHORITY, request
from frames import *

ANY = OK | status(204, 400, 404, 405, 501) | MALFORMED


def with_fields(section, title, accepts, fields):
    """A request with exactly these fields."""

    def run(connection):
        stream = connection.new_stream()
        connection.send(headers(stream, block(fields)))
        return stream

    add(section, title, accepts, run)


def extra(section, title, accepts, *fields):
    with_fields(section, title, accepts, request("/ok", "GET", *fields))


# 8.2.1: names and values
extra("8.2.1", "a name with a capital letter", MALFORMED, ("X-Probe", "1"))
extra("8.2.1", "an empty name", MALFORMED, ("", "1"))
for title, name in {
    "a space": b"x probe",
    "a colon": b"x:probe",
    "a zero octet": b"x\0probe",
    "CR and LF": b"x-a: b\r\nx-probe",
    "an octet above 127": b"x-\xe9",
}.items():
    extra("8.2.1", f"{title} in a name", MALFORMED, (name, "1"))
for title, value in {
    "a zero octet": b"a\0b",
    "CR": b"a\rb",
    "LF": b"a\nb",
}.items():
    extra("8.2.1", f"{title} in a value", MALFORMED, ("x-probe", value))
extra("8.2.1", "a space before a value", MALFORMED, ("x-probe", " a"))
extra("8.2.1", "a tab behind a value", MALFORMED, ("x-probe", "a\t"))
extra("8.2.1", "a control octet in a value", BAD_REQUEST, ("x-probe", b"a\x01b"))  # forbidden by RFC 9110, 5.5
extra("8.2.1", "octets above 127 in a value", OK, ("x-probe", "\u00e4\u00f6".encode()))
extra("8.2.1", "an empty value", OK, ("x-probe", ""))

# 8.2.2: fields of a connection
for name, value in (
    ("connection", "close"),
    ("keep-alive", "timeout=5"),
    ("proxy-connection", "keep-alive"),
    ("transfer-encoding", "chunked"),
    ("upgrade", "websocket"),
    ("te", "gzip"),
    ("te", "trailers, gzip"),
):
    extra("8.2.2", f"the field {name}: {value}", MALFORMED, (name, value))
extra("8.2.2", "the field te: trailers", OK, ("te", "trailers"))


@case("8.2.3", "cookies in several fields are one field of HTTP/1.1", OK)
def cookies(connection):
    recorder = connection.target.recorder
    before = len(recorder.requests) if recorder else 0
    pairs = [("cookie", "a=1"), ("cookie", "b=2; c=3"), ("cookie", "d=4")]
    outcome = connection.stream_outcome(connection.request("/ok", "GET", *pairs))
    sent = (
        [value for head in recorder.requests[before:] for name, value in head.fields if name == "cookie"]
        if recorder
        else []
    )
    # An endpoint may keep cookies from its backends; several fields or another joint are wrong.
    return outcome if sent in ([], ["a=1; b=2; c=3; d=4"]) else f"cookies {sent}"


# 8.3: pseudo fields
GET = request()
extra("8.3", "an unknown pseudo field", MALFORMED, (":probe", "1"))
with_fields("8.3", "a pseudo field of responses", MALFORMED, [*GET, (":status", "200")])
with_fields("8.3", "a pseudo field behind a regular one", MALFORMED, [*GET[:3], ("x-probe", "1"), GET[3]])
for at, (name, value) in enumerate(GET):
    twice = [*GET[: at + 1], (name, value), *GET[at + 1 :]]
    with_fields("8.3.1", f"{name} twice", MALFORMED, twice)
for name in (":method", ":scheme", ":path"):
    with_fields("8.3.1", f"no {name}", MALFORMED, [field for field in GET if field[0] != name])


def with_path(title, accepts, path, method="GET"):
    with_fields("8.3.1", title, accepts, request(path, method))


with_path("an empty :path", BAD_REQUEST, "")
with_path(":path without a slash", BAD_REQUEST, "ok")
with_path(":path in absolute form", BAD_REQUEST, "http://gateway.test/ok")
with_path(":path * with GET", BAD_REQUEST, "*")
with_path(":path * with OPTIONS", ANY, "*", "OPTIONS")
with_path("a space in :path", BAD_REQUEST, "/ok HTTP/1.1")
with_path("CR and LF in :path", BAD_REQUEST, "/ok\r\nx-probe: 1")
with_path("a fragment in :path", BAD_REQUEST, "/ok#fragment")
with_fields("8.3.1", "a space in :method", BAD_REQUEST, request("/ok", "GET /ok"))
with_fields("8.3.1", "an unknown :method", status(400, 404, 405, 501), request("/ok", "PROBE"))
with_fields("8.3.1", "a colon in :scheme", BAD_REQUEST, request(scheme="ht:tp"))
with_fields("8.3.1", "user information in :authority", BAD_REQUEST, request(authority="user@gateway.test"))
with_fields("8.3.1", "a slash in :authority", BAD_REQUEST, request(authority="gateway.test/x"))
with_fields("8.3.1", "an empty :authority", BAD_REQUEST, request(authority=""))
with_fields("8.3.1", "neither :authority nor Host", BAD_REQUEST, request(authority=None))
with_fields("8.3.1", "Host without :authority", OK, [*request(authority=None), ("host", AUTHORITY)])
extra("8.3.1", "Host equal to :authority", OK, ("host", AUTHORITY))
extra("8.3.1", "Host other than :authority", BAD_REQUEST, ("host", "other.test"))
extra("8.3.1", "two different Hosts", BAD_REQUEST, ("host", AUTHORITY), ("host", "other.test"))

# 8.5 and RFC 8441: CONNECT
CONNECT = [(":method", "CONNECT"), (":authority", "gateway.test:443")]
refused = BAD_REQUEST | status(403, 404, 405, 501)
with_fields("8.5", "CONNECT with :scheme and :path", refused, [*CONNECT, (":scheme", "http"), (":path", "/ok")])
with_fields("8.5", "CONNECT is not served", refused, CONNECT)
with_fields("8.5", "CONNECT without :authority", refused, CONNECT[:1])
extended = request("/ok", "CONNECT")
with_fields("8441-4", ":protocol for an endpoint without upgrade", refused, [*extended, (":protocol", "websocket")])
with_fields("8441-4", ":protocol with GET", BAD_REQUEST, [*GET, (":protocol", "websocket")])
