#!/usr/bin/env python3
"""Measures pass-through in the gateway, nginx, HAProxy and a floor in C, in turn, in one run.

    Tests/Verify/relay_cost.py .build/release/tributary [--repeat 3] [--gib 2] [--only floor,tributary]

Prints the CPU time of each server for a GiB that is downloaded and uploaded with curl, for a small request through
the relay, and the memory of an idle stream; each beside its ratio to the floor. Each server has one thread; the
backend is nginx. Absolute times mean nothing on another machine. Everything runs on loopback, on free ports, and
every process that it starts is ended by its id. Needs curl, nginx, haproxy, wrk, and a C compiler.
"""

import argparse
import pathlib
import re
import socket
import subprocess
import sys
import tempfile

from costs import LOAD, MeasuredServer, Table, compile_floor, cpu_per_request
from harness import accepts, end_processes, free_port, start, wait

GATEWAY = """\
version: 1
workers: 1
log: {{ access: false }}
listen: 127.0.0.1:{port}
limits: {{ connections: 5000, streams: 5000 }}
backends: {{ it: {{ url: "http://127.0.0.1:{backend}", max_concurrent: 5000 }} }}
endpoints: [{{ route: ANY /*, proxy: {{ to: it, path: /* }} }}]
"""
COMMON = """\
daemon off; master_process off; pid {folder}/{name}.pid; error_log {folder}/{name}.log; user root;
events {{ worker_connections 10000; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; keepalive_requests 100000000; keepalive_timeout 600s;
  client_max_body_size 0; {rest}
}}
"""
NGINX = """\
  proxy_http_version 1.1; proxy_buffering off; proxy_request_buffering off; proxy_buffer_size 64k; proxy_buffers 8 64k;
  upstream it {{ server 127.0.0.1:{backend}; keepalive 1024; }}
  server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://it; proxy_set_header Connection ""; }} }}
"""
BACKEND = """\
  sendfile on; dav_methods PUT; client_body_buffer_size 1m;
  server {{ listen 127.0.0.1:{port}; root {folder}/files;
    location = /small {{ default_type application/json; return 200 '{{"id":1,"name":"{text}"}}'; }} }}
"""
HAPROXY = """\
global
  nbthread 1
  maxconn 5000
  tune.bufsize 65536
defaults
  mode http
  http-reuse always
  timeout client 600s
  timeout server 600s
  timeout connect 5s
frontend it
  bind 127.0.0.1:{port}
  default_backend b
backend b
  server s 127.0.0.1:{backend}
"""
# Sends its head and one byte, and then nothing: for the memory of an idle stream.
STREAM = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n"


class ProxyServer(MeasuredServer):
    def __init__(self, name, folder, backend, binary, floor):
        self.port = free_port()
        values = dict(port=self.port, backend=backend, folder=folder, name=f"peer-{name}")
        nginx = COMMON.replace("{rest}", NGINX)
        super().__init__(
            name, folder, binary, [floor, str(self.port), str(backend)],
            dict(tributary=GATEWAY, nginx=nginx, haproxy=HAPROXY), [self.port], values)

    def url(self, path):
        return f"http://127.0.0.1:{self.port}{path}"


class Sink:
    """A process that reads and counts uploads, and holds streams open: `python3 relay_cost.py --sink PORT`."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", port), backlog=1024)

    def run(self):
        import threading

        held = []
        while True:
            connection, _ = self.listener.accept()
            held.append(connection)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    @staticmethod
    def serve(connection):
        buffer = bytearray(1 << 20)
        head = connection.recv(65536)
        if not head.startswith(b"PUT"):
            connection.sendall(STREAM)
            connection.recv(1)
            return
        left = int(re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)[1]) - len(head.split(b"\r\n\r\n", 1)[1])
        while left > 0:
            left -= connection.recv_into(buffer) or left
        connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        connection.close()


def transfer(server, gib, *command):
    """Seconds of CPU for a GiB."""
    before = server.cpu()
    out = subprocess.run(
        [*LOAD, "curl", "-sS", "-o", "/dev/null", "-w", "%{http_code}", *command],
        capture_output=True, text=True, timeout=300)
    if out.stdout not in ("200", "201"):
        sys.exit(f"{server.name}: {out.stdout} {out.stderr}")
    return (server.cpu() - before) / gib


def idle(server, count=500):
    """KiB for one stream of which nothing but the head and one byte has arrived."""
    connections = []

    def open_stream():
        connection = socket.create_connection(("127.0.0.1", server.port), timeout=10)
        connection.sendall(b"GET /stream HTTP/1.1\r\nHost: a\r\n\r\n")
        data = b""
        while b"1\r\nx" not in data:
            data += connection.recv(4096)
        connections.append(connection)

    for _ in range(10):
        open_stream()
    before = server.own_memory()
    for _ in range(count):
        open_stream()
    after = server.own_memory()
    for connection in connections:
        connection.close()
    return (after - before) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--gib", type=int, default=2)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--only", default="floor,tributary,nginx,haproxy")
    parser.add_argument("--sink", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.sink:
        return Sink(options.sink).run()
    names = options.only.split(",")
    table = Table(names)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        floor = compile_floor("relay-floor.c", folder, "-luv")
        (folder / "files").mkdir()
        folder.chmod(0o755)
        with open(folder / "files/big", "wb") as file:
            file.truncate(options.gib << 30)
        sink, port = free_port(), free_port()
        start([*LOAD, sys.executable, __file__, "--sink", str(sink)])
        rest = BACKEND.format(port=port, folder=folder, sink=sink, text="x" * 170)
        (folder / "backend.conf").write_text(COMMON.format(folder=folder, name="backend", rest=rest))
        start([*LOAD, "nginx", "-p", name, "-c", str(folder / "backend.conf")])
        if not wait(lambda: accepts(port) and accepts(sink)):
            sys.exit("the backends did not start")
        for _ in range(options.repeat):
            for name in names:
                server = ProxyServer(name, folder, port, options.binary, floor)
                table.add("download, s per GiB", name, transfer(server, options.gib, server.url("/big")))
                table.add("small request, 64, us", name, cpu_per_request(server, server.url("/small"), 64, options.seconds))
                server.kill()
                server = ProxyServer(name, folder, sink, options.binary, floor)
                table.add("upload, s per GiB", name, transfer(
                    server, options.gib, "-H", "Expect:", "-T", str(folder / "files/big"), server.url("/up")))
                server.kill()
                server = ProxyServer(name, folder, sink, options.binary, floor)
                table.add("idle stream, KiB", name, idle(server))
                server.kill()
        end_processes()
    table.print()


if __name__ == "__main__":
    main()
