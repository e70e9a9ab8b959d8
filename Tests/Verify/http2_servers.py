#!/usr/bin/env python3
"""Calls real servers over HTTP/2: nghttpd, nginx, h2o, HAProxy, Node and Go, those that are installed.

    python3 Tests/Verify/http2_servers.py .build/release/tributary

Every response must be complete and arrive over HTTP/2: under load, with large bodies in both directions, while nginx
ends connections after a few requests, and while it is reloaded. Then a server with a second host beside it is frozen
(SIGSTOP): calls fail only until its connection is found to be dead. Everything runs on loopback, on free ports, and
every process that it starts is ended by its id. Needs cryptography (PyPI) and wrk.
"""

import argparse
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import threading
import time

from authority import Authority
from harness import Gateway, accepts, expect, finish, free_port, start, wait

CONFIG = """\
version: 1
listen: 127.0.0.1:{listen}
admin: 127.0.0.1:{admin}
workers: 1
log: {{ access: false }}
defaults: {{ timeout: 2s, deadline: 10s }}
backends:
{backends}
endpoints:
{endpoints}
"""
NGINX = """\
daemon off; master_process on; worker_processes 1; user root; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
  uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s; default_type application/json; keepalive_requests 100;
  client_max_body_size 0;
  server {{ listen 127.0.0.1:{port} http2; root {folder};
    location = /small {{ return 200 '{{"protocol":"$server_protocol"}}'; }} }}
}}
"""
HAPROXY = """\
defaults
  mode http
  timeout connect 3s
  timeout client 10s
  timeout server 10s
frontend main
  bind 127.0.0.1:{port} proto h2
  http-request return status 200 content-type application/json string '{{"protocol":"HTTP/2.0"}}'
"""
H2O = """\
user: root
listen: {{ host: 127.0.0.1, port: {port} }}
num-threads: 1
hosts: {{ default: {{ paths: {{ /: {{ file.dir: {folder} }} }} }} }}
"""
NODE = """\
const hash = require("crypto").createHash;
require("http2").createServer((request, response) => {
  const digest = hash("sha256");
  request.on("data", (piece) => digest.update(piece));
  request.on("end", () => {
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ protocol: "HTTP/" + request.httpVersion, digest: digest.digest("hex") }));
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
"""
GO = """\
package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"os"
)

func main() {
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		digest := sha256.New()
		io.Copy(digest, request.Body)
		response.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(response, `{"protocol":"%s","digest":"%x"}`, request.Proto, digest.Sum(nil))
	})
	panic(http.ListenAndServeTLS("127.0.0.1:"+os.Args[1], os.Args[2], os.Args[3], nil))
}
"""
MIB = 1 << 20
LARGE = hashlib.sha256(b"large").digest() * 32768 * 8  # 8 MiB


class Server:
    """A server on a free port, if it is installed."""

    # Whether it returns the digest of a request's body, and has files.
    digests = files = False

    def __init__(self, folder):
        self.folder = folder / self.name
        self.folder.mkdir()
        self.port = free_port()
        (self.folder / "small").write_text('{"protocol":"HTTP/2.0"}')
        (self.folder / "large").write_bytes(LARGE)
        with open(self.folder / "output", "wb") as output:
            self.process = start(self.command(), stdout=output, stderr=output)
        if not wait(lambda: accepts(self.port)):
            raise SystemExit(f"{self.name} did not start: {(self.folder / 'output').read_text()}")

    def configured(self, text, name="config"):
        path = self.folder / name
        path.write_text(text)
        return str(path)

    def backend(self):
        return f'  {self.name}: {{ url: "http://127.0.0.1:{self.port}", protocol: http2 }}'


class Nghttpd(Server):
    name, files = "nghttpd", True

    def command(self):
        return ["nghttpd", "--no-tls", "-n1", "--address=127.0.0.1", "-d", str(self.folder), str(self.port)]


class Nginx(Server):
    name, files = "nginx", True

    def command(self):
        text = NGINX.format(folder=self.folder, port=self.port)
        return ["nginx", "-p", str(self.folder), "-c", self.configured(text)]


class H2o(Server):
    name, files = "h2o", True

    def command(self):
        return ["h2o", "-c", self.configured(H2O.format(folder=self.folder, port=self.port))]


class HAProxy(Server):
    name = "haproxy"

    def command(self):
        return ["haproxy", "-db", "-f", self.configured(HAPROXY.format(port=self.port))]


class Node(Server):
    name, digests = "node", True

    def command(self):
        return ["node", self.configured(NODE, "server.js"), str(self.port)]


class Go(Server):
    """Over TLS, where it chooses the protocol."""

    name, digests = "go", True

    def command(self):
        Authority(self.folder).issue("server", ["localhost"])
        program = self.folder / "server"
        environment = {**os.environ, "GOCACHE": str(self.folder / "cache"), "GO111MODULE": "off"}
        subprocess.run(["go", "build", "-o", program, self.configured(GO, "server.go")], check=True, env=environment)
        return [str(program), str(self.port), str(self.folder / "server.pem"), str(self.folder / "server.key")]

    def backend(self):
        return (f'  go: {{ url: "https://localhost:{self.port}", protocol: auto, '
                f'tls: {{ ca: "{self.folder}/root.pem" }} }}')


def endpoints(name):
    """An endpoint with three calls, and a proxy for large bodies."""
    calls = ", ".join(f"c{number}: {{ from: {name}, get: /small, required: true }}" for number in range(3))
    return (f"  - {{ route: GET /{name}, calls: {{ {calls} }} }}\n"
            f"  - {{ route: ANY /{name}/*, proxy: {{ to: {name}, path: /* }} }}")


def request(gateway, method, path, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", gateway.port, timeout=30)
    connection.request(method, path, body)
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response.status, content


def load(gateway, path, seconds=2):
    """The number of requests, and those that failed."""
    output = subprocess.run(
        ["wrk", "-t1", "-c64", f"-d{seconds}s", "--timeout", "10s", f"http://127.0.0.1:{gateway.port}{path}"],
        capture_output=True, text=True).stdout
    number = lambda pattern: sum(int(count) for count in re.findall(pattern, output))
    return number(r"(\d+) requests in"), number(r"Non-2xx or 3xx responses: (\d+)") + number(r"(?:connect|read|write|timeout) (\d+)")


def check_server(gateway, server):
    name = server.name
    status, content = request(gateway, "GET", f"/{name}")
    protocols = {body.get("protocol") for body in json.loads(content).values()} if status == 200 else content
    expect(protocols == {"HTTP/2.0"}, f"{name}: {status}, {protocols}")
    requests, failed = load(gateway, f"/{name}")
    expect(requests > 100 and failed == 0, f"{name}: {failed} of {requests} requests failed")
    print(f"{name}: {requests} requests with three calls, {failed} failed", flush=True)
    if server.files:
        status, content = request(gateway, "GET", f"/{name}/large")
        expect(status == 200 and content == LARGE, f"{name}: a download of 8 MiB: {status}, {len(content)} bytes")
    if server.digests:
        status, content = request(gateway, "POST", f"/{name}/upload", LARGE)
        digest = json.loads(content).get("digest") if status == 200 else content
        expect(digest == hashlib.sha256(LARGE).hexdigest(), f"{name}: an upload of 8 MiB: {status}, {digest}")


def check_reload(gateway, server):
    """nginx ends its connections with GOAWAY, and processes no later stream."""
    stop = threading.Event()

    def reload():
        while not stop.wait(0.3):
            server.process.send_signal(signal.SIGHUP)

    thread = threading.Thread(target=reload, daemon=True)
    thread.start()
    requests, failed = load(gateway, f"/{server.name}", 3)
    stop.set()
    thread.join()
    expect(requests > 100 and failed == 0, f"reloads: {failed} of {requests} requests failed")
    print(f"reloads of nginx: {requests} requests with three calls, {failed} failed", flush=True)


def check_frozen(binary, folder):
    """Of two hosts one stops: the connection is closed after its PING, and `eject` keeps calls away from the host."""
    first, second = Nghttpd(subfolder(folder, "first")), Nghttpd(subfolder(folder, "second"))
    backends = (
        f'  both: {{ urls: ["http://127.0.0.1:{first.port}", "http://127.0.0.1:{second.port}"], protocol: http2,\n'
        '    http2: { ping_after: 500ms, ping_timeout: 500ms }, eject: { after: 5, for: 60s } }')
    calls = "  - { route: GET /both, calls: { one: { from: both, get: /small, required: true, timeout: 500ms } } }"
    gateway = Gateway(binary, folder, CONFIG, name="frozen", backends=backends, endpoints=calls)
    expect(load(gateway, "/both", 1)[1] == 0, "both hosts work")
    first.process.send_signal(signal.SIGSTOP)
    frozen = time.monotonic()
    late, count, failed = 0, 0, 0
    while (after := time.monotonic() - frozen) < 5:
        status, _ = request(gateway, "GET", "/both")
        count += 1
        failed += status != 200
        # The time limit of a call, and that of the PING which follows it; then a little for those that were waiting.
        late += status != 200 and after > 3
    first.process.send_signal(signal.SIGCONT)
    expect(failed > 0, "calls to the frozen host fail at first")
    expect(late == 0, f"{late} calls failed after the PING")
    print(f"a frozen host: {failed} of {count} calls failed, {late} of them after the PING", flush=True)


def subfolder(folder, name):
    path = folder / name
    path.mkdir()
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o755)
        kinds = [kind for kind in (Nghttpd, Nginx, H2o, HAProxy, Node, Go) if shutil.which(kind.name)]
        servers = [kind(folder) for kind in kinds]
        gateway = Gateway(
            options.binary, folder, CONFIG, backends="\n".join(server.backend() for server in servers),
            endpoints="\n".join(endpoints(server.name) for server in servers))
        for server in servers:
            check_server(gateway, server)
        for server in servers:
            if server.name == "nginx":
                check_reload(gateway, server)
        if shutil.which("nghttpd"):
            check_frozen(options.binary, folder)
        for server in servers:
            # The master process of nginx ends the other one.
            server.process.terminate()
            server.process.wait(10)
        finish()


if __name__ == "__main__":
    main()
