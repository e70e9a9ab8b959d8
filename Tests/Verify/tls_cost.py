#!/usr/bin/env python3
"""Measures what TLS costs in the gateway, nginx, HAProxy and a floor in C, in turn, in one run.

    Tests/Verify/tls_cost.py .build/release/tributary [--connections 3000] [--repeat 3] [--only floor,tributary]

Prints the CPU time of each server for a connection with one request, full and resumed, and for a request on a kept
connection with and without TLS, and the memory of an idle connection; each beside its ratio to the floor. Each server
has one thread and responds without a backend. Absolute times mean nothing on another machine. Everything runs on
loopback, on free ports, and every process that it starts is ended by its id. Needs cryptography (PyPI), nginx,
haproxy, wrk, and a C compiler.
"""

import argparse
import os
import pathlib
import socket
import ssl
import sys
import tempfile

from authority import Authority
from costs import MeasuredServer, Table, compile_floor, cpu_per_request
from harness import free_port
from tls import VERSIONS

GATEWAY = """\
version: 1
workers: 1
log: {{ access: false }}
listen:
  - {{ address: "127.0.0.1:{plain}" }}
  - {{ address: "127.0.0.1:{secure}", tls: {{ cert: {cert}, key: {key} }} }}
limits: {{ connections: 5000 }}
backends: {{ none: {{ url: "http://127.0.0.1:1" }} }}
endpoints: [{{ route: GET /other, calls: {{ it: {{ from: none, get: / }} }} }}]
"""
NGINX = """\
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 5000; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; keepalive_requests 100000000; keepalive_timeout 600s;
  ssl_ecdh_curve X25519:P-256:P-384; ssl_protocols TLSv1.2 TLSv1.3; ssl_session_tickets on;
  server {{ listen 127.0.0.1:{plain}; listen 127.0.0.1:{secure} ssl; ssl_certificate {cert}; ssl_certificate_key {key};
    location / {{ default_type text/plain; return 200 ok; }} }}
}}
"""
HAPROXY = """\
global
  nbthread 1
  maxconn 5000
defaults
  mode http
  timeout client 600s
  timeout http-request 600s
  timeout http-keep-alive 600s
frontend it
  bind 127.0.0.1:{plain}
  bind 127.0.0.1:{secure} ssl crt {both} ssl-min-ver TLSv1.2 curves X25519:P-256:P-384
  http-request return status 200 content-type text/plain string ok
"""


class TLSServer(MeasuredServer):
    def __init__(self, name, folder, cert, key, binary, floor):
        self.plain, self.secure = free_port(), free_port()
        both = folder / "both.pem"
        both.write_bytes(pathlib.Path(cert).read_bytes() + pathlib.Path(key).read_bytes())
        values = dict(plain=self.plain, secure=self.secure, cert=cert, key=key, folder=folder, both=both)
        super().__init__(
            name, folder, binary, [floor, str(self.plain), str(self.secure), cert, key],
            dict(tributary=GATEWAY, nginx=NGINX, haproxy=HAPROXY), [self.secure, self.plain], values)


def connect(server, context, session=None):
    plain = socket.create_connection(("127.0.0.1", server.secure), timeout=10)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return context.wrap_socket(plain, server_hostname="a.test", session=session)


def request(connection):
    connection.sendall(b"GET /x HTTP/1.1\r\nHost: a.test\r\n\r\n")
    if not connection.recv(65536).startswith(b"HTTP/1.1 "):
        raise OSError("no response")


def context_for(authority, version):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.load_verify_locations(authority.path)
    context.minimum_version = context.maximum_version = VERSIONS[version]
    return context


def handshakes(server, authority, version, resumed, count):
    """Microseconds of CPU for one connection with one request."""
    context = context_for(authority, version)
    session = None
    if resumed:
        with connect(server, context) as connection:
            request(connection)
            session = connection.session
    before, reused = server.cpu(), 0
    for _ in range(count):
        with connect(server, context, session) as connection:
            request(connection)
            reused += connection.session_reused
            session = connection.session if resumed else None
    if resumed and reused < count * 0.99:
        sys.exit(f"{server.name}: {reused} of {count} connections were resumed")
    return (server.cpu() - before) / count * 1e6


def idle(server, authority, count=1000):
    """KiB for one connection that has served one request."""
    context = context_for(authority, "1.3")
    connections = [connect(server, context) for _ in range(10)]
    before = server.own_memory()
    for _ in range(count):
        connection = connect(server, context)
        request(connection)
        connections.append(connection)
    after = server.own_memory()
    for connection in connections:
        connection.close()
    return (after - before) / count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--connections", type=int, default=3000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--only", default="floor,tributary,nginx,haproxy")
    options = parser.parse_args()
    names = options.only.split(",")
    table = Table(names)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        floor = compile_floor("tls-floor.c", folder, "-luv", "-lssl", "-lcrypto")
        authority = Authority(folder)
        pairs = {kind: authority.issue(kind, ["a.test"], kind=kind) for kind in ("ec", "rsa")}
        os.sched_setaffinity(0, {0})
        for _ in range(options.repeat):
            for name in names:
                add = lambda row, value: table.add(row, name, value)
                server = TLSServer(name, folder, *pairs["ec"], options.binary, floor)
                add("idle connection, KiB", idle(server, authority))
                add("full, ECDSA, TLS 1.3, us", handshakes(server, authority, "1.3", False, options.connections))
                add("resumed, TLS 1.3, us", handshakes(server, authority, "1.3", True, options.connections))
                add("resumed, TLS 1.2, us", handshakes(server, authority, "1.2", True, options.connections))
                # The gateway has no endpoint without a backend, so it responds with 404.
                plain, secure = (
                    cpu_per_request(server, url, 16, options.seconds, any_status=True)
                    for url in (f"http://127.0.0.1:{server.plain}/x", f"https://127.0.0.1:{server.secure}/x"))
                add("added per request, us", secure - plain)
                server.kill()
                server = TLSServer(name, folder, *pairs["rsa"], options.binary, floor)
                add("full, RSA-2048, TLS 1.3, us", handshakes(server, authority, "1.3", False, options.connections))
                server.kill()
    table.print()


if __name__ == "__main__":
    main()
