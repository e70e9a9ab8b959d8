"""Frames of RFC 9113 and field blocks of RFC 7541 as bytes.

Nothing is checked here: a case decides about lengths, flags, ids and octets, so that it can send what is not allowed.
"""

import dataclasses

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
PRIORITY_UPDATE = 0x10  # RFC 9218
UNKNOWN = 0xBA
END_STREAM, ACK, END_HEADERS, PADDED, PRIORITY_FLAG = 0x1, 0x1, 0x4, 0x8, 0x20
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, MAX_HEADER_LIST_SIZE = (
    range(1, 7)
)
ENABLE_CONNECT_PROTOCOL = 8  # RFC 8441
ERRORS = (
    "NO_ERROR PROTOCOL_ERROR INTERNAL_ERROR FLOW_CONTROL_ERROR SETTINGS_TIMEOUT STREAM_CLOSED FRAME_SIZE_ERROR "
    "REFUSED_STREAM CANCEL COMPRESSION_ERROR CONNECT_ERROR ENHANCE_YOUR_CALM INADEQUATE_SECURITY HTTP_1_1_REQUIRED"
).split()
DEFAULT_WINDOW = 65535
DEFAULT_FRAME = 16384
LARGEST = 2**31 - 1  # of stream ids and windows


@dataclasses.dataclass
class Frame:
    kind: int
    flags: int
    stream: int
    payload: bytes

    def number(self, at=0):
        """The 31 bits at an offset, without the reserved bit."""
        return int.from_bytes(self.payload[at : at + 4], "big") & LARGEST

    def content(self):
        """The payload without padding and priority."""
        payload = self.payload
        if self.kind in (DATA, HEADERS) and self.flags & PADDED:
            payload = payload[1 : len(payload) - payload[0]]
        return payload[5:] if self.kind == HEADERS and self.flags & PRIORITY_FLAG else payload


def error_name(code):
    return ERRORS[code] if code < len(ERRORS) else f"error {code:#x}"


def error_code(name):
    return ERRORS.index(name)


def frame(kind, flags=0, stream=0, payload=b"", length=None):
    """A frame; `length` is what its head states, if that is not the length of the payload."""
    stated = len(payload) if length is None else length
    return stated.to_bytes(3, "big") + bytes([kind, flags]) + stream.to_bytes(4, "big") + payload


def headers(stream, block, end_stream=True, end_headers=True, flags=0):
    flags |= END_STREAM if end_stream else 0
    return frame(HEADERS, flags | (END_HEADERS if end_headers else 0), stream, block)


def continuation(stream, block=b"", end_headers=True):
    return frame(CONTINUATION, END_HEADERS if end_headers else 0, stream, block)


def headers_in_frames(stream, octets, end_stream=True):
    """A block in as few frames as the default MAX_FRAME_SIZE allows."""
    pieces = [octets[at : at + DEFAULT_FRAME] for at in range(0, len(octets), DEFAULT_FRAME)]
    frames = [headers(stream, pieces[0], end_stream, end_headers=len(pieces) == 1)]
    frames += [continuation(stream, piece, piece is pieces[-1]) for piece in pieces[1:]]
    return b"".join(frames)


def data(stream, payload=b"", end_stream=True, flags=0):
    return frame(DATA, flags | (END_STREAM if end_stream else 0), stream, payload)


def padded_data(stream, payload, padding, end_stream=True):
    return data(stream, bytes([padding]) + payload + bytes(padding), end_stream, PADDED)


def setting(name, value):
    return name.to_bytes(2, "big") + value.to_bytes(4, "big")


def settings(*pairs, flags=0, stream=0):
    return frame(SETTINGS, flags, stream, b"".join(setting(*pair) for pair in pairs))


def ping(payload=b"conformx", flags=0, stream=0):
    return frame(PING, flags, stream, payload)


def window_update(stream, increment):
    return frame(WINDOW_UPDATE, 0, stream, increment.to_bytes(4, "big"))


def reset(stream, code="CANCEL"):
    return frame(RST_STREAM, 0, stream, (error_code(code) if isinstance(code, str) else code).to_bytes(4, "big"))


def priority(stream, dependency=0, weight=15):
    return frame(PRIORITY, 0, stream, dependency.to_bytes(4, "big") + bytes([weight]))


def goaway(last=0, code="NO_ERROR", text=b"", stream=0):
    number = error_code(code) if isinstance(code, str) else code
    return frame(GOAWAY, 0, stream, last.to_bytes(4, "big") + number.to_bytes(4, "big") + text)


def integer(value, prefix, first=0):
    """An integer of RFC 7541, 5.1, behind the `8 - prefix` high bits of `first`."""
    most = (1 << prefix) - 1
    if value < most:
        return bytes([first | value])
    out, value = [first | most], value - most
    while value >= 128:
        out.append(value % 128 + 128)
        value //= 128
    return bytes([*out, value])


def octets(value):
    return value if isinstance(value, bytes) else value.encode()


def string(value):
    """A string literal without Huffman coding."""
    return integer(len(octets(value)), 7) + octets(value)


def literal(name, value, first=0x00):
    """A literal with a literal name: not indexed (0x00), never indexed (0x10), or with indexing (0x40)."""
    return bytes([first]) + string(name) + string(value)


def indexed(index):
    return integer(index, 7, 0x80)


def table_size(size):
    return integer(size, 5, 0x20)


def block(fields):
    """Literals without indexing: any octet is possible, and the tables stay as they are."""
    return b"".join(literal(name, value) for name, value in fields)
