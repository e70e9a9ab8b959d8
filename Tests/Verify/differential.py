#!/usr/bin/env python3
"""Holds our parsers against others, on mutated inputs: the request head against http-parser (Node's old
parser, Debian's libhttp-parser2.9), JSON against Python's json.

    Tests/Verify/differential.py [request|json|all] [--count N] [--seed S] [-v]

Needs the fuzzer's build (script/fuzz builds it). Every disagreement must belong to a class below; each is
explained in docs/contribute/differential.md. Anything else is printed, and the exit status is 1.
"""
from __future__ import annotations

import argparse
import ctypes
import ctypes.util
import json
import pathlib
import random
import re
import subprocess
import sys
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FUZZ = ROOT / ".build-fuzz/release/fuzz"
CORPORA = ROOT / "Tests/FuzzTests/Corpora"


# ---------------------------------------------------------------------------------------- inputs
def corpus(name):
    return [path.read_bytes() for path in sorted((CORPORA / name).iterdir())]


def mutated(rnd, seeds, tokens):
    data = bytearray(rnd.choice(seeds))
    for _ in range(rnd.randint(1, 4)):
        at = rnd.randint(0, len(data))
        end = min(len(data), at + rnd.randint(1, 6))
        what = rnd.randrange(7)
        if what == 0:
            data[at:at] = rnd.choice(tokens)
        elif what == 1:
            data[at:at] = bytes([rnd.randrange(256)])
        elif what == 2:
            del data[at:end]
        elif what == 3:
            data[at:at] = data[at:end]
        elif what == 4:
            data[at:end] = rnd.choice(tokens)
        elif what == 5 and at < len(data):
            data[at] ^= 1 << rnd.randrange(8)
        else:
            other = rnd.choice(seeds)
            start = rnd.randint(0, len(other))
            data[at:at] = other[start:start + rnd.randint(1, 40)]
    return bytes(data)


def verdicts(target, inputs):
    """What the gateway makes of each input, one line each."""
    text = "".join(data.hex() + "\n" for data in inputs)
    out = subprocess.run([FUZZ, "verdicts", target], input=text, capture_output=True, text=True, check=True).stdout
    lines = out.splitlines()
    assert len(lines) == len(inputs), "the gateway's parser ended early"
    return lines


# ---------------------------------------------------------------------------------------- requests
class Parser(ctypes.Structure):
    _fields_ = [("bits", ctypes.c_uint32), ("nread", ctypes.c_uint32), ("content_length", ctypes.c_uint64),
                ("major", ctypes.c_ushort), ("minor", ctypes.c_ushort), ("more", ctypes.c_uint32), ("data", ctypes.c_void_p)]


CALL = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Parser))
DATA = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(Parser), ctypes.c_void_p, ctypes.c_size_t)


class Settings(ctypes.Structure):
    _fields_ = [("message_begin", CALL), ("url", DATA), ("status", DATA), ("field", DATA), ("value", DATA),
                ("headers_complete", CALL), ("body", DATA), ("message_complete", CALL), ("chunk_header", CALL),
                ("chunk_complete", CALL)]


class HTTPParser:
    """http-parser as a function from bytes to messages and how they ended."""

    def __init__(self):
        try:
            self.lib = ctypes.CDLL("libhttp_parser.so.2.9")
        except OSError:
            sys.exit("libhttp-parser2.9 is missing: apt-get install libhttp-parser2.9")
        self.lib.http_parser_execute.restype = ctypes.c_size_t
        self.lib.http_parser_execute.argtypes = [ctypes.POINTER(Parser), ctypes.POINTER(Settings), ctypes.c_char_p, ctypes.c_size_t]
        self.lib.http_method_str.restype = ctypes.c_char_p
        self.lib.http_errno_name.restype = ctypes.c_char_p
        self.lib.http_should_keep_alive.argtypes = [ctypes.POINTER(Parser)]
        self.settings = Settings(
            CALL(self.begin), DATA(self.url), DATA(lambda *_: 0), DATA(self.field), DATA(self.value), CALL(self.head),
            DATA(self.body), CALL(self.complete), CALL(lambda _: 0), CALL(lambda _: 0))

    def begin(self, _):
        self.now = dict(target=b"", fields=[], body=b"", open=True)
        self.in_value = True
        return 0

    def url(self, _, at, count):
        self.now["target"] += ctypes.string_at(at, count)
        return 0

    def field(self, _, at, count):
        if self.in_value:
            self.now["fields"].append([b"", b""])
        self.in_value = False
        self.now["fields"][-1][0] += ctypes.string_at(at, count)
        return 0

    def value(self, _, at, count):
        self.in_value = True
        if self.now["fields"]:
            self.now["fields"][-1][1] += ctypes.string_at(at, count)
        return 0

    def head(self, p):
        self.trailers_from = len(self.now["fields"])
        self.now["method"] = self.lib.http_method_str(p.contents.more >> 16 & 0xFF)
        self.now["version"] = f"{p.contents.major}.{p.contents.minor}"
        self.now["keep"] = bool(self.lib.http_should_keep_alive(p))
        return 0

    def body(self, _, at, count):
        self.now["body"] += ctypes.string_at(at, count)
        return 0

    def complete(self, p):
        self.now["fields"] = self.now["fields"][:self.trailers_from]
        self.now["open"] = False
        self.messages.append(self.now)
        self.now = dict(open=False)
        return 0

    def read(self, data):
        self.messages, self.now = [], dict(open=False)
        p = Parser()
        self.lib.http_parser_init(ctypes.byref(p), 0)
        self.lib.http_parser_execute(ctypes.byref(p), ctypes.byref(self.settings), data, len(data))
        error = p.more >> 24 & 0x7F
        if error:
            return self.messages, self.lib.http_errno_name(error).decode().removeprefix("HPE_")
        if p.more >> 31:
            return self.messages, "upgrade"
        return self.messages, "waiting" if self.now["open"] else "end"


def ours(line):
    *messages, end = line.split("|")
    out = []
    for message in messages:
        method, target, version, keep, body, *fields = message.split(" ")
        pairs = [[bytes.fromhex(side) for side in field.split("=")] for field in fields]
        out.append(dict(method=bytes.fromhex(method), target=bytes.fromhex(target), version=version, keep=keep == "keep",
                        body=bytes.fromhex(body[1:]), fields=pairs))
    return out, end


# Where ours refuses and http-parser goes on: our word for the mistake, and what must be seen in the bytes.
STRICTER = {
    "lineEnd": rb"(?<!\r)\n|\r(?!\n)",
    "foldedField": rb"\n[ \t]",
    "requestLine": rb"",
    "methodTooLong": rb"[!-~]{33}",
    "connectRefused": rb"CONNECT ",
    "target": rb"",
    "targetTooLong": rb"[!-~]{8000}",
    "version": rb"",
    "versionNotSupported": rb"HTTP/\d",
    "fieldName": rb"",
    "fieldValue": rb"[\x00-\x08\x0b\x0c\x0d\x0e-\x1f\x7f]",
    "fieldsTooLarge": rb"",
    "tooManyFields": rb"",
    "hostMissing": rb"",
    "hostRepeated": rb"(?i)host:",
    "host": rb"(?i)host",
    "contentLength": rb"(?i)content-length",
    "framingConflict": rb"(?i)transfer-encoding",
    "transferCoding": rb"(?i)transfer-encoding",
    "expectation": rb"(?i)expect",
    "chunkSize": rb"(?i)chunked",
    "chunkEnd": rb"(?i)chunked",
    "chunkOverhead": rb"(?i)chunked",
}


def compare_request(data, mine, other):
    """The class of a disagreement; None where there is none; "?..." where it is not known."""
    (our_messages, our_end), (messages, end) = mine, other
    refused = our_end not in ("end", "waiting")
    for number, (a, b) in enumerate(zip(our_messages, messages)):
        known = difference(data, a, b)
        if known:
            return known
    if len(our_messages) > len(messages):
        return more_from_us(data, our_messages[len(messages)], end)
    if len(messages) > len(our_messages) and not refused:
        return f"?they see {len(messages)} messages, we {len(our_messages)} and {our_end}"
    if refused and end not in ("end", "waiting", "upgrade") and len(messages) == len(our_messages):
        return None
    if refused:
        if not re.search(STRICTER.get(our_end, rb"(?!)"), data):
            return f"?we refuse ({our_end}), they {end}"
        return "stricter: " + our_end
    if end == our_end:
        return None
    if end == "upgrade":
        return "upgrade"
    if end in ("end", "waiting"):
        # An empty line between requests begins a message for one of the two.
        return None if our_end == "end" or re.search(rb"[\r\n]\Z", data) else f"?we are at {our_end}, they at {end}"
    return more_lenient(data, end)


def difference(data, a, b):
    """Both read a message; the same one?"""
    if a["method"] != b["method"]:
        return f"?method {a['method']} {b['method']}"
    if a["target"] != b["target"]:
        return f"?target {a['target']} {b['target']}"
    if a["version"] != b["version"]:
        return f"?version {a['version']} {b['version']}"
    if a["fields"] != [[n, v.strip(b" \t")] for n, v in b["fields"]]:
        return f"?fields {a['fields']} {b['fields']}"
    if a["body"] != b["body"]:
        return f"?body {a['body']} {b['body']}"
    if a["keep"] != b["keep"]:
        if any(n.lower() == b"connection" and b"\t" in v for n, v in b["fields"]):
            return "their mistake: a tab behind a connection option"
        return f"?keep {a['keep']} {b['keep']}"
    return None


def more_from_us(data, message, end):
    """We take a message that they refuse."""
    if end == "INVALID_METHOD":
        return "lenient: any token is a method"
    if end == "INVALID_URL" and re.search(rb"[\[\]|^{}`@:;]", message["target"]):
        return "lenient: bytes in a target"
    if end == "upgrade":
        return "upgrade"
    if end == "INVALID_CONSTANT":
        return "lenient: any token is a method"
    if end in ("UNEXPECTED_CONTENT_LENGTH", "INVALID_TRANSFER_ENCODING") and any(
            re.match(rb"(?i)transfer-encoding.", name) for name, _ in message["fields"]):
        return "their mistake: a name that only begins with Transfer-Encoding"
    if end == "INVALID_TRANSFER_ENCODING" and re.search(rb"(?i)chunked[ \t]+\r\n", data):
        return "their mistake: white space behind chunked"
    return f"?we read {message}, they {end}"


def more_lenient(data, end):
    """We wait for more of what they refuse already."""
    if end in ("INVALID_METHOD", "INVALID_CONSTANT"):
        return "lenient: any token is a method"
    if end == "INVALID_URL":
        return "later: decided when the line is complete"
    if end in ("INVALID_VERSION", "INVALID_HEADER_TOKEN", "INVALID_CONTENT_LENGTH", "UNEXPECTED_CONTENT_LENGTH",
               "LF_EXPECTED", "INVALID_TRANSFER_ENCODING", "HEADER_OVERFLOW", "CR_EXPECTED", "STRICT"):
        return "later: decided when the line is complete"
    return f"?we wait, they {end}"


REQUEST_TOKENS = [b"\r\n", b"\r", b"\n", b"\0", b" ", b"\t", b":", b",", b";", b"\x7f", b"\xff", b"%", b"GET ", b"POST ",
                  b"HEAD ", b"Content-Length: 5\r\n", b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
                  b"Connection: keep-alive\r\n", b"Host: a\r\n", b" HTTP/1.0", b" HTTP/1.1", b"0\r\n\r\n", b"5", b"/", b"chunked", b"?"]


def requests(inputs):
    parser = HTTPParser()
    for data, line in zip(inputs, verdicts("request", inputs)):
        yield data, compare_request(data, ours(line), parser.read(data)), (line, parser.messages)


# ---------------------------------------------------------------------------------------- JSON
class Nope(Exception):
    pass


def python_json(data):
    """What Python makes of it, in the format of the gateway's verdicts; None if it refuses."""
    def refuse(_):
        raise Nope

    try:
        text = data.decode("utf-8")
        if text.startswith("\ufeff"):
            raise Nope
        value = json.JSONDecoder(object_pairs_hook=lambda pairs: ("object", pairs), parse_float=lambda t: ("number", t),
                                 parse_int=lambda t: ("number", t), parse_constant=refuse).decode(text)
        return canonical(value)
    except (ValueError, Nope, RecursionError):
        return None


def canonical(value):
    if isinstance(value, tuple):
        if value[0] == "number":
            return "n" + value[1]
        return "{" + ",".join(f"s{hexed(k)}:{canonical(v)}" for k, v in value[1]) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, str):
        return "s" + hexed(value)
    return {True: "true", False: "false", None: "null"}[value]


def hexed(text):
    return text.encode("utf-8", "surrogatepass").hex()


def compare_json(data, line):
    other = python_json(data)
    if line.startswith("ok "):
        if other is None:
            return "?we take it, Python does not"
        return None if line[3:] == other else f"?read differently: {other}"
    if other is None:
        return None
    strings = [bytes.fromhex(digits) for digits in re.findall("(?<![a-z])s([0-9a-f]*)", other)]
    if any(re.search(rb"\xed[\xa0-\xbf]", text) for text in strings):
        return "stricter: half a surrogate pair"
    return f"?we say {line}"


JSON_TOKENS = [b"{", b"}", b"[", b"]", b",", b":", b'"', b'"a":', b"\\u00e9", b"\\ud83d\\ude00", b"\\ud800", b'\\"', b"\\\\",
               b"true", b"false", b"null", b"-0", b"1e400", b"0.1", b" ", b"\n", "é".encode(), b"\x7f", b"\x00", b"\xc0\x80",
               b"\xed\xa0\x80", b"NaN", b"-Infinity", b"\xef\xbb\xbf", b"\x0b", b"\xc2\xa0", b"01", b"1.", b".5", b"+1"]


def documents(inputs):
    for data, line in zip(inputs, verdicts("json", inputs)):
        yield data, compare_json(data, line), line


# ---------------------------------------------------------------------------------------- main
def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("what", nargs="?", default="all", choices=["request", "json", "all"])
    ap.add_argument("--count", type=int, default=100_000)
    ap.add_argument("--seed", type=int, default=1)
    ap.add_argument("--show", help="print the disagreements of the classes whose name contains this")
    ap.add_argument("-v", action="store_true", help="print every unknown disagreement, not only ten")
    a = ap.parse_args()
    if not FUZZ.exists():
        sys.exit(f"{FUZZ} is missing: script/fuzz builds it")
    unknown = 0
    for name, compare, tokens in (("request", requests, REQUEST_TOKENS), ("json", documents, JSON_TOKENS)):
        if a.what not in (name, "all"):
            continue
        rnd, seeds, classes, done = random.Random(a.seed), corpus(name), Counter(), 0
        while done < a.count:
            batch = [mutated(rnd, seeds, tokens) for _ in range(min(20_000, a.count - done))]
            done += len(batch)
            for data, known, detail in compare(batch):
                if known and known.startswith("?"):
                    unknown += 1
                    classes["UNKNOWN"] += 1
                    if a.v or unknown <= 10:
                        print(f"UNKNOWN {known[1:]}\n  input {data!r}\n  ours  {detail}")
                else:
                    classes[known or "agreed"] += 1
                    if known and a.show and a.show in known:
                        print(f"{known}\n  input {data!r}\n  ours  {detail}")
        print(f"{name}: {done} inputs, seed {a.seed}")
        for known, count in classes.most_common():
            print(f"  {count:8}  {known}")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
