"""Cases of RFC 7541: field blocks that cannot be decoded, and the dynamic table."""

import hpack

from case import *
from connection import request
from frames import *

GET = block(request())


def blocks(section, title, accepts, *octets, stream=1):
    """One request for each block. The last is observed, or the connection."""

    def run(connection):
        for number, value in enumerate(octets):
            stream = connection.new_stream()
            connection.send(headers(stream, value))
            if number + 1 < len(octets):
                connection.stream_outcome(stream)
        return stream

    add(f"7541-{section}", title, accepts, run)


def inserted(name="x-probe", value="1"):
    return literal(name, value, 0x40)


# Indices
blocks("2.3.3", "index 0", COMPRESSION, GET + b"\x80")
blocks("2.3.3", "an index behind both tables", COMPRESSION, GET + indexed(62))
blocks("2.3.3", "the index of a name behind both tables", COMPRESSION, GET + integer(100, 6, 0x40) + string("1"))
blocks("2.3.2", "an entry that an earlier request inserted", OK, GET + inserted(), GET + indexed(62))
blocks("2.3.2", "an entry of the same block", OK, GET + inserted() + indexed(62))
blocks(
    "3.2",
    "an entry of a block whose request was malformed",
    OK,
    GET + inserted() + literal("X-Capital", "1"),
    GET + indexed(62),
)

# Sizes of the table
blocks("4.2", "a table above SETTINGS_HEADER_TABLE_SIZE", COMPRESSION, table_size(1 << 20) + GET)
blocks("4.2", "a change of the size behind a field", COMPRESSION, GET + table_size(100))
blocks("4.2", "two changes of the size before the fields", OK, table_size(0) + table_size(4096) + GET)
blocks(
    "4.3",
    "an entry that a change of the size evicted",
    COMPRESSION,
    GET + inserted(),
    table_size(0) + GET + indexed(62),
)
blocks(
    "4.4",
    "an entry that others evicted",
    COMPRESSION,
    GET + inserted() + b"".join(inserted("x-fill", "a" * 1500) for _ in range(3)) + indexed(65),
)
blocks("4.4", "an entry larger than the table empties it", OK, GET + inserted() + inserted("x-large", "a" * 5000))
blocks(
    "4.4",
    "an entry behind one larger than the table",
    COMPRESSION,
    GET + inserted() + inserted("x-large", "a" * 5000) + indexed(62),
)

# Integers and strings
blocks("5.1", "an integer of 70 bits", COMPRESSION, GET + b"\xff" + b"\xff" * 9 + b"\x01")
blocks("5.1", "an integer with 30 octets of zeros", COMPRESSION, GET + b"\xff" + b"\x80" * 30 + b"\x00")
blocks("5.1", "a block that ends within an integer", COMPRESSION, GET + b"\xff\x80")
blocks("5.2", "a block that ends within a string", COMPRESSION, GET + literal("x-probe", "1" * 50)[:-10])
blocks("5.2", "a string of 2^31 octets", COMPRESSION, GET + b"\x00" + string("x-probe") + integer(1 << 31, 7))
blocks("5.2", "Huffman code with 8 bits of padding", COMPRESSION, GET + b"\x00" + string("x-probe") + b"\x82\x1f\xff")
blocks("5.2", "Huffman code with padding of zeros", COMPRESSION, GET + b"\x00" + string("x-probe") + b"\x81\x18")
blocks(
    "5.2",
    "Huffman code with the end of string",
    COMPRESSION,
    GET + b"\x00" + string("x-probe") + b"\x84\xff\xff\xff\xff",
)
blocks("6.2.3", "fields that are never indexed", OK, GET + literal("x-probe", "1", 0x10))
blocks("6.2.1", "an empty name behind index 0", MALFORMED, GET + b"\x40" + string("") + string("1"))


@case("7541-5.2", "a request in Huffman code, with names of the static table", OK)
def huffman(connection):
    stream = connection.new_stream()
    connection.send(headers(stream, hpack.Encoder().encode(request("/ok", "GET", ("user-agent", "conformance")))))
    return stream


@case("7541-2.2", "an error of the field block of trailers", COMPRESSION)
def trailers(connection):
    stream = connection.upload()
    connection.send(data(stream, b"1", False), headers(stream, b"\x80"))


@case("7541-2.2", "an entry of a block of a stream that the client has reset", OK)
def block_behind_reset(connection):
    connection.request("/slow")
    connection.send(reset(1))
    connection.send(headers(connection.new_stream(), GET + inserted()))
    connection.stream_outcome(3)
    stream = connection.new_stream()
    connection.send(headers(stream, GET + indexed(62)))
    return stream
