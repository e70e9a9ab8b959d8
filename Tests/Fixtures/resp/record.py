#!/usr/bin/env python3
"""Records how hiredis and redis-py read generated replies of RESP2: replies.txt, for RecordedReplyTests.

    python3 -m venv /tmp/resp && /tmp/resp/bin/pip install hiredis redis
    /tmp/resp/bin/python Tests/Fixtures/resp/record.py > Tests/Fixtures/resp/replies.txt

One input a line: its bytes in hexadecimal digits, the values, and how the input ends: `read`, completely or
as far as it goes, or `error`. The first half is valid, and the two readers must agree about it; the second half is
mutated, and the verdict is that of hiredis.
"""
import io
import random
import sys

import hiredis
from redis._parsers.resp2 import _RESP2Parser
from redis.exceptions import RedisError

COUNT = 1500
RND = random.Random(7)
TOKENS = [b"\r\n", b"\r", b"\n", b"\0", b"+", b"-", b":", b"$", b"*", b"-1", b"0", b"01", b"_\r\n", b"%1\r\n", b"$-2\r\n"]


def reply(depth=0):
    what = RND.randrange(7 if depth < 8 else 5)
    if what == 0:
        return b"+" + text(b" abcOK") + b"\r\n"
    if what == 1:
        return b"-ERR " + text(b" abcOK") + b"\r\n"
    if what == 2:
        return b":%d\r\n" % RND.choice([0, 1, -1, 57, 2**63 - 1, -2**63, RND.getrandbits(62), -RND.getrandbits(40)])
    if what == 3:
        data = bytes(RND.randrange(256) for _ in range(RND.choice([0, 1, 2, 5, 40])))
        return b"$%d\r\n%s\r\n" % (len(data), data)
    if what == 4:
        # A ninth array is beyond the limit, though it is empty.
        return RND.choice([b"$-1\r\n", b"*-1\r\n", b"*0\r\n"][:3 if depth < 8 else 2])
    items = [reply(depth + 1) for _ in range(RND.choice([1, 1, 2, 3]))]
    return b"*%d\r\n" % len(items) + b"".join(items)


def text(letters):
    return bytes(RND.choice(letters) for _ in range(RND.randrange(12)))


def mutated(data):
    data = bytearray(data)
    for _ in range(RND.randint(1, 3)):
        at = RND.randint(0, len(data))
        end = min(len(data), at + RND.randint(1, 4))
        what = RND.randrange(5)
        if what == 0:
            data[at:at] = RND.choice(TOKENS)
        elif what == 1:
            del data[at:end]
        elif what == 2:
            data[at:end] = RND.choice(TOKENS)
        elif what == 3 and at < len(data):
            data[at] ^= 1 << RND.randrange(8)
        else:
            data[at:at] = data[at:end]
    return bytes(data)


def canonical(value):
    if isinstance(value, (RedisError, hiredis.ReplyError)):
        return "e"
    if value is None:
        return "n"
    if isinstance(value, int):
        return f"i{value}"
    if isinstance(value, bytes):
        return "s" + value.hex()
    return "[" + ",".join(map(canonical, value)) + "]"


def by_hiredis(data):
    reader = hiredis.Reader(notEnoughData=Ellipsis)
    reader.feed(data)
    values = []
    try:
        while (value := reader.gets()) is not Ellipsis:
            values.append(canonical(value))
    except (hiredis.ProtocolError, TypeError):  # TypeError: a map of RESP3 with an array as a key
        return values, "error"
    return values, "read"


class Buffer(io.BytesIO):
    """What the parser of redis-py reads from, with the bytes of one input."""

    def readline(self, timeout=None):
        line = super().readline()
        assert line.endswith(b"\r\n") or not line
        return line[:-2]

    def read(self, length=-1, timeout=None):
        return super().read(length + 2)[:-2] if length >= 0 else super().read()

    def get_pos(self):
        return self.tell()

    def rewind(self, pos):
        self.seek(pos)

    def purge(self):
        pass


def by_redis_py(data):
    parser = _RESP2Parser(65536)
    parser._buffer = Buffer(data)
    values = []
    while parser._buffer.tell() < len(data):
        values.append(canonical(parser.read_response(disable_decoding=True)))
    return values


def main():
    for _ in range(COUNT):
        data = b"".join(reply() for _ in range(RND.randint(1, 3)))
        values, end = by_hiredis(data)
        assert end == "read" and values == by_redis_py(data), data
        print(data.hex(), "|".join(values), end)
    for _ in range(COUNT):
        data = mutated(b"".join(reply() for _ in range(RND.randint(1, 2))))
        values, end = by_hiredis(data)
        print(data.hex() or "-", "|".join(values) or "-", end)


if __name__ == "__main__":
    sys.exit(main())
