#!/usr/bin/env python3
"""Passes real traffic through `proxy` endpoints of a gateway.

    Tests/Verify/relay.py .build/release/tributary [--only transfer|files|events|early] [--gib 4] [--noise 50]

transfer  curl downloads and uploads 4 GiB; slow readers; the memory of the gateway stays within 64 MiB
files     ranges, conditional requests, HEAD and a resumed download, with nginx as the backend
events    server-sent events arrive one by one, with curl and, if Playwright is installed, with EventSource
early     clients that leave, truncated responses, interim responses, Expect, trailers, early responses, limits

Everything runs on loopback, on free ports, and every process that it starts is ended by its id. --noise is what the
machine may add to a time, in milliseconds. Needs curl and nginx.
"""

import argparse
import datetime
import email.utils
import hashlib
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import tempfile
import threading
import time
import zlib

import harness
from harness import expect, finish, free_port, start, wait

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 2
limits: {{ streams: 400 }}
backends:
  raw: {{ url: "http://127.0.0.1:{raw}" }}
  files: {{ url: "http://127.0.0.1:{files}" }}
endpoints:
  - {{ route: ANY /raw/*, proxy: {{ to: raw, path: /*, idle_timeout: 10s, interim: all }} }}
  - {{ route: ANY /small/*, proxy: {{ to: raw, path: /*, max_body: 1KiB, timeout: 500ms }} }}
  - {{ route: ANY /files/*, proxy: {{ to: files, path: /* }} }}
"""
NGINX = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 256; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; sendfile on;
  server {{ listen 127.0.0.1:{port}; root {folder}/files; }}
}}
"""
MIB = 1 << 20


class RawBackend(harness.Listener):
    """A server of byte strings: what it does is in the path of the request."""

    PIECE = hashlib.sha256(b"piece").digest() * 32768  # 1 MiB

    def __init__(self):
        self.ended = {}  # by the query of a request: when its connection ended
        self.begun = {}  # by the query of a request: when its head arrived
        self.heads = {}  # by the query of a request: the head
        self.done = threading.Event()  # never
        super().__init__()

    def serve(self, connection):
        stream = connection.makefile("rb", buffering=MIB)
        try:
            while line := stream.readline():
                head = line
                while (line := stream.readline()) not in (b"\r\n", b""):
                    head += line
                path, _, query = head.split(b" ")[1].decode().partition("?")
                self.begun[query] = time.monotonic()
                self.heads[query] = head
                respond = getattr(self, "do_" + path.strip("/").replace("-", "_"), self.do_nothing)
                if not respond(connection, stream, head, query):
                    return
        except OSError:
            pass
        finally:
            connection.close()

    @staticmethod
    def respond(connection, body, status="200 OK", fields=b""):
        connection.sendall(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n%s\r\n" % (status.encode(), len(body), fields) + body)
        return True

    def do_nothing(self, connection, stream, head, query):
        return self.respond(connection, b"", "404 Not Found")

    def do_download(self, connection, stream, head, query):
        """QUERY bytes, with their length."""
        left = int(query.split("&")[0])
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % left)
        while left:
            connection.sendall(self.PIECE[:left] if left < MIB else self.PIECE)
            left -= min(left, MIB)
        return True

    def do_upload(self, connection, stream, head, query):
        """Responds with the number of bytes and their checksum, however they are framed."""
        count, sum = 0, 1
        for piece in self.body(connection, stream, head):
            count += len(piece)
            sum = zlib.adler32(piece, sum)
        return self.respond(connection, json.dumps({"count": count, "sum": sum}).encode())

    @staticmethod
    def body(connection, stream, head):
        if re.search(rb"\r\nexpect: *100-continue", head, re.I):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if re.search(rb"\r\ntransfer-encoding: *chunked", head, re.I):
            while size := int(stream.readline().split(b";")[0], 16):
                while size:
                    piece = stream.read(min(size, MIB))
                    size -= len(piece)
                    yield piece
                stream.readline()
            while stream.readline() not in (b"\r\n", b""):
                pass
        elif length := re.search(rb"\r\ncontent-length: *(\d+)", head, re.I):
            left = int(length[1])
            while left:
                piece = stream.read(min(left, MIB))
                if not piece:
                    return
                left -= len(piece)
                yield piece

    def do_events(self, connection, stream, head, query):
        """Ten server-sent events, one every 100 ms, in chunks; then the end."""
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nAccess-Control-Allow-Origin: *\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n")
        for number in range(10):
            event = b"id: %d\ndata: %f\n\n" % (number, time.monotonic())
            connection.sendall(b"%x\r\n%s\r\n" % (len(event), event))
            time.sleep(0.1)
        connection.sendall(b"0\r\n\r\n")
        return True

    def do_hold(self, connection, stream, head, query):
        """A head and one byte of an endless response; records when the connection ends."""
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n")
        stream.read(1)
        self.ended[query] = time.monotonic()
        return False

    def do_silent(self, connection, stream, head, query):
        """Never responds; records when the connection ends."""
        stream.read(1)
        self.ended[query] = time.monotonic()
        return False

    def do_unread(self, connection, stream, head, query):
        """Does not read the body."""
        self.done.wait()
        return False

    def do_truncated(self, connection, stream, head, query):
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this")
        return False

    def do_truncated_chunks(self, connection, stream, head, query):
        connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
        return False

    def do_until_close(self, connection, stream, head, query):
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\nuntil the end")
        return False

    def do_hints(self, connection, stream, head, query):
        connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n")
        return self.respond(connection, b"final")

    def do_early(self, connection, stream, head, query):
        """Responds before the body has been read, and then reads it."""
        self.respond(connection, b"early", "403 Forbidden")
        return all(True for _ in self.body(connection, stream, head))

    def do_trailers(self, connection, stream, head, query):
        connection.sendall(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Digest\r\n\r\n"
            b"5\r\nhello\r\n0\r\nX-Digest: abc\r\n\r\n")
        return True

    def do_cookies(self, connection, stream, head, query):
        return self.respond(
            connection, b"ok", fields=b"Set-Cookie: a=1\r\nSet-Cookie: b=2\r\nServer: it\r\nDate: "
            b"Tue, 15 Nov 1994 08:12:31 GMT\r\nConnection: X-Hop\r\nX-Hop: 1\r\nContent-Encoding: br\r\n")

    def do_echo(self, connection, stream, head, query):
        for _ in self.body(connection, stream, head):
            pass
        return self.respond(connection, head)


class Gateway(harness.Gateway):
    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"

    def exchange(self, text, end=False, seconds=5):
        """Sends bytes on a connection of its own and returns what comes back until the end, and whether it ended."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(text)
            if end:
                connection.shutdown(socket.SHUT_WR)
            data = b""
            try:
                while piece := connection.recv(65536):
                    data += piece
                return data, True
            except TimeoutError:
                return data, False
            except OSError:
                return data, True


def curl(*options, seconds=600, **more):
    return subprocess.run(["curl", "-sS", "--max-time", str(seconds), *options], capture_output=True, **more)


def transfer(gateway, folder, gib):
    size = gib << 30
    sparse = folder / "sparse"
    with open(sparse, "wb") as file:
        file.truncate(size)
    for name, command in (
        ("download", ["-o", "/dev/null", "-w", "%{http_code} %{size_download}", gateway.url(f"/raw/download?{size}")]),
        ("upload, length", ["-w", " %{http_code}", "-T", str(sparse), gateway.url("/raw/upload?length")]),
        ("upload, chunks", ["-w", " %{http_code}", "-T", "-", gateway.url("/raw/upload?chunks")]),
    ):
        cpu, begin = gateway.cpu(), time.monotonic()
        if name == "download":
            done = curl(*command)
            expect(done.stdout.decode() == f"200 {size}", f"{name}: {done.stdout} {done.stderr}")
        else:
            with open(sparse, "rb") as source:
                done = curl(*command, stdin=source)
            expect(b'"count": %d' % size in done.stdout and done.stdout.endswith(b" 200"),
                   f"{name}: {done.stdout[-200:]} {done.stderr}")
        took = time.monotonic() - begin
        print(f"{name}: {gib} GiB in {took:.1f} s, {(gateway.cpu() - cpu) / gib:.2f} s of CPU per GiB, "
              f"{gateway.memory('VmHWM') / 1024:.1f} MiB of memory at most")
        expect(gateway.memory("VmHWM") <= 64 << 10, f"{name}: {gateway.memory('VmHWM')} KiB")

    before = gateway.own_memory()
    readers = []
    for number in range(100):
        connection = socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", gateway.port))
        connection.sendall(f"GET /raw/download?{1 << 30}&{number} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
        readers.append(connection)
    time.sleep(2)
    each = (gateway.own_memory() - before) / len(readers)
    print(f"100 responses that no client reads: {each:.0f} KiB each")
    expect(each <= 192, f"memory of a response that is not read: {each:.0f} KiB")
    for connection in readers:
        connection.close()


def files(gateway, folder):
    data = os.urandom(3 * MIB)
    target = folder / "resumed"
    url = gateway.url("/files/data.bin")
    (folder / "files/data.bin").write_bytes(data)
    expect(curl("-r", "100-199", url).stdout == data[100:200], "a range")
    out = curl("-r", "100-199", "-o", "/dev/null", "-w", "%{http_code} %header{content-range}", url).stdout.decode()
    expect(out == f"206 bytes 100-199/{len(data)}", f"206: {out}")
    expect(curl("-r", "0-9,20-29", "-o", "/dev/null", "-w", "%{http_code}", url).stdout == b"206", "several ranges")
    out = curl("-r", "99999999-", "-o", "/dev/null", "-w", "%{http_code}", url).stdout
    expect(out == b"416", f"a range beyond the end: {out}")
    target.write_bytes(data[:1_000_000])
    curl("-C", "-", "-o", str(target), url)
    expect(target.read_bytes() == data, "a resumed download")
    head = curl("-I", url).stdout.decode()
    expect(f"Content-Length: {len(data)}" in head, f"the length in a response to HEAD: {head}")
    etag = re.search(r'ETag: (\S+)', head, re.I)[1]
    for field in (f"If-None-Match: {etag}", f"If-Modified-Since: {email.utils.formatdate(usegmt=True)}"):
        out = curl("-H", field, "-w", "%{http_code}", url).stdout
        expect(out == b"304", f"{field}: {out[:100]}")
    out = curl("-H", 'If-Match: "other"', "-o", "/dev/null", "-w", "%{http_code}", url).stdout
    expect(out == b"412", f"If-Match: {out}")


def events(gateway, noise):
    process = start(["curl", "-sN", gateway.url("/raw/events?curl")], stdout=subprocess.PIPE)
    delays = []
    for line in process.stdout:
        if line.startswith(b"data: "):
            delays.append((time.monotonic() - float(line[6:])) * 1000)
    print(f"server-sent events with curl: {len(delays)}, {max(delays):.1f} ms after they were sent at most")
    expect(len(delays) == 10 and max(delays) < noise, f"events of curl: {delays}")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("EventSource: not tested, Playwright is not installed")
        return
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        page = browser.new_page()
        seen = page.evaluate(
            """url => new Promise(resolve => {
                const seen = [], source = new EventSource(url)
                source.onmessage = event => { seen.push(event.lastEventId); if (seen.length == 10) { source.close(); resolve(seen) } }
                setTimeout(() => resolve(seen), 5000)
            })""", gateway.url("/raw/events?chromium"))
        expect(seen == [str(number) for number in range(10)], f"EventSource: {seen}")
        print(f"EventSource in Chromium: {len(seen)} events")
        browser.close()


def unread_bytes(connection):
    """What the other end has not read of a connection, if it is on this machine."""
    _, port = connection.getsockname()
    end = "%s:%04X" % ("0100007F", port)
    # rem_address st tx_queue:rx_queue
    found = re.search(rf" {end} 01 [0-9A-F]+:([0-9A-F]+) ", pathlib.Path("/proc/net/tcp").read_text())
    return int(found[1], 16) if found else 0


def leave_unread(gateway, backend, query, way):
    """Sends a body that the backend does not read, until the gateway stops to read it; then leaves. Returns the time until
    the request ends, in milliseconds, from the gateway's log: a backend that does not read does not see the end."""
    connection = socket.create_connection(("127.0.0.1", gateway.port))
    connection.sendall(f"POST /raw/unread?{query} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
    stopped = lambda: unread_bytes(connection) > 0
    while not (stopped() and not wait(lambda: not stopped(), 0.1)):
        connection.sendall(b"8000\r\n" + b"x" * 0x8000 + b"\r\n")
    if way == "resets":
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    line = rf'"time":"([^"]+)"[^\n]+"query":"{query}"[^\n]+"status":499'
    logged = lambda: re.search(line, gateway.log_path.read_text())
    expect(query in backend.begun and not logged(), f"{query}: the call is running")
    left = time.time()
    connection.close()
    expect(wait(logged, 3), f"{query}: the request ends when the client leaves")
    ended = datetime.datetime.fromisoformat(logged()[1]).timestamp() if logged() else left + 3
    return (ended - left) * 1000


def early(gateway, backend, noise):
    for path in ("hold", "silent"):
        delays = []
        for number in range(20):
            query = f"{path}-{number}"
            with socket.create_connection(("127.0.0.1", gateway.port)) as connection:
                connection.sendall(f"GET /raw/{path}?{query} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
                expect(wait(lambda: query in backend.begun), f"{query} reaches the backend")
                if path == "hold":
                    connection.recv(65536)
                left = time.monotonic()
            expect(wait(lambda: query in backend.ended, 3), f"{query}: the call ends when the client leaves")
            delays.append((backend.ended.get(query, left + 3) - left) * 1000)
        print(f"a client leaves ({path}): its call ends after {max(delays):.1f} ms at most")
        expect(max(delays) < 50 + noise, f"{path}: {delays}")

    for way in ("closes", "resets"):
        delays = [leave_unread(gateway, backend, f"{way}-{number}", way) for number in range(5)]
        print(f"a client {way} the connection of an upload that waits: its call ends after {max(delays):.1f} ms at most")
        expect(max(delays) < 50 + noise, f"unread, {way}: {delays}")

    get = lambda path, more="": f"GET {path} HTTP/1.1\r\nHost: a\r\n{more}\r\n".encode()
    expect(curl(gateway.url("/raw/truncated")).returncode == 18, "a truncated response must not look complete")
    expect(curl(gateway.url("/raw/truncated-chunks")).returncode == 18, "truncated chunks must not look complete")
    expect(curl(gateway.url("/raw/until-close")).stdout == b"until the end", "a response until the end")
    data, _ = gateway.exchange(get("/raw/hints", "Connection: close\r\n"))
    expect(data.startswith(b"HTTP/1.1 103 ") and b"rel=preload" in data and data.endswith(b"final"), f"103: {data}")
    data, _ = gateway.exchange(b"GET /raw/hints HTTP/1.0\r\nHost: a\r\n\r\n")
    expect(data.startswith(b"HTTP/1.1 200 ") and data.endswith(b"final"), f"no 103 for HTTP/1.0: {data}")
    data, _ = gateway.exchange(get("/raw/trailers", "TE: trailers\r\nConnection: close, TE\r\n"))
    expect(b"X-Digest: abc" in data, f"trailers: {data}")
    data, _ = gateway.exchange(get("/raw/trailers", "Connection: close\r\n"))
    expect(b"hello" in data and b"X-Digest: abc" not in data, f"no trailers without TE: {data}")
    data, _ = gateway.exchange(get("/raw/cookies", "Connection: close\r\n"))
    for line in (b"Set-Cookie: a=1", b"Set-Cookie: b=2", b"Server: it", b"Date: Tue, 15 Nov 1994", b"Content-Encoding: br"):
        expect(line in data, f"{line}: {data}")
    expect(data.count(b"\r\nDate:") == 1 and b"X-Hop" not in data, f"one Date, nothing of the connection: {data}")
    out = curl("-H", "Expect: 100-continue", "--data-binary", "x" * 5000, gateway.url("/raw/upload?expect")).stdout
    expect(b'"count": 5000' in out, f"Expect: {out}")
    data, _ = gateway.exchange(
        b"POST /raw/early?1 HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 1000, seconds=2)
    expect(data.startswith(b"HTTP/1.1 403 "), f"an early response: {data[:200]}")
    out = curl("-o", "/dev/null", "-w", "%{http_code}", "--data-binary", "x" * 5000, gateway.url("/small/upload")).stdout
    expect(out == b"413", f"max_body: {out}")
    out = curl("-o", "/dev/null", "-w", "%{http_code}", gateway.url("/small/silent?late")).stdout
    expect(out == b"504", f"timeout: {out}")
    for path in ("/raw/../secret", "/raw/%2e%2e/secret", "/raw/a/..%2fsecret", "/raw/a%00b", "/raw/a\\b", "/raw/.%2E/x"):
        data, _ = gateway.exchange(get(path, "Connection: close\r\n"))
        expect(data.startswith(b"HTTP/1.1 400 "), f"{path}: {data[:100]}")
    for path in ("/raw/echo?a=%20b&&c", "/raw/echo?", "/raw//echo"[0:4] + "/echo?x=%252e%252e"):
        data, _ = gateway.exchange(get(path, "Connection: close\r\n"))
        expect(b"GET /" + path[5:].encode() + b" HTTP/1.1" in data, f"{path} byte for byte: {data[-400:]}")
    data, _ = gateway.exchange(get(
        "/raw/echo?fields", "Connection: close, X-Secret, Host\r\nX-Secret: 1\r\nProxy-Authorization: x\r\nKeep-Alive: 5\r\n"
        "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\nX-Forwarded-Proto: https\r\nClient-Cert: :eA==:\r\nX-Own: 2\r\n"))
    echo = data.split(b"\r\n\r\n", 1)[1]
    expect(b"X-Own: 2" in echo and re.search(rb"\r\nX-Forwarded-For: 127\.0\.0\.1\r\n", echo, re.I)
           and re.search(rb"\r\nVia: 1\.1 ", echo, re.I) and re.search(rb"\r\nHost: 127", echo, re.I), f"fields: {echo}")
    for name in (b"X-Secret", b"Proxy-Auth", b"Keep-Alive", b"6.6.6.6", b"Client-Cert"):
        expect(name not in echo, f"{name} must not pass: {echo}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--only", choices=["transfer", "files", "events", "early"])
    parser.add_argument("--gib", type=int, default=4)
    parser.add_argument("--noise", type=float, default=50)
    options = parser.parse_args()
    only = options.only
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "files").mkdir()
        folder.chmod(0o755)
        port = free_port()
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, port=port))
        start(["nginx", "-p", name, "-c", str(folder / "nginx.conf"), "-g", "user root;"])
        backend = RawBackend()
        gateway = Gateway(options.binary, folder, CONFIG, raw=backend.port, files=port)
        if only in (None, "early"):
            early(gateway, backend, options.noise)
        if only in (None, "files"):
            files(gateway, folder)
        if only in (None, "events"):
            events(gateway, options.noise)
        if only in (None, "transfer"):
            transfer(gateway, folder, options.gib)
        finish()


if __name__ == "__main__":
    main()
